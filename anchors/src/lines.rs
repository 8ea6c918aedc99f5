//! Where lines start and end.
//!
//! A line ends at LF; a CR right before it belongs to the terminator, any other CR is data. Text
//! that ends in a terminator has no further, virtual line; empty text has no line at all.
//!
//! The index remembers every 64th line only, so that it stays small beside the text, and finds
//! the rest with `memchr`: any line of any file costs the same few hundred bytes of scanning.

use memchr::{memchr, memchr_iter};

use crate::Span;

/// One remembered line start in this many lines.
const STRIDE: usize = 64;

/// The lines of one text.
#[derive(Debug)]
pub struct LineIndex {
    /// Byte offset of lines 1, 65, 129, …
    checkpoints: Vec<usize>,
    count: usize,
    crlf: bool,
}

/// One line of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// 1-based number.
    pub number: usize,
    /// Content without the terminator.
    pub content: Span,
    /// Content and terminator. Ends where the next line starts.
    pub full: Span,
}

impl LineIndex {
    /// Indexes `text`.
    pub fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let (mut checkpoints, mut count, mut crlf) = (Vec::new(), 0, false);
        let mut start = 0;
        for lf in memchr_iter(b'\n', bytes) {
            if count % STRIDE == 0 {
                checkpoints.push(start);
            }
            count += 1;
            crlf |= lf > 0 && bytes[lf - 1] == b'\r';
            start = lf + 1;
        }
        if start < bytes.len() {
            if count % STRIDE == 0 {
                checkpoints.push(start);
            }
            count += 1;
        }
        checkpoints.shrink_to_fit();
        Self { checkpoints, count, crlf }
    }

    /// How many lines there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Whether any line ends in CRLF.
    pub fn has_crlf(&self) -> bool {
        self.crlf
    }

    /// Bytes that the index itself takes.
    pub fn bytes(&self) -> usize {
        self.checkpoints.capacity() * size_of::<usize>()
    }

    /// Line `number` (1-based) of `text`, which must be the indexed text.
    pub fn line(&self, text: &str, number: usize) -> Option<Line> {
        if number == 0 || number > self.count {
            return None;
        }
        let mut start = self.checkpoints[(number - 1) / STRIDE];
        for _ in 0..(number - 1) % STRIDE {
            start += memchr(b'\n', &text.as_bytes()[start..])? + 1;
        }
        Some(line_from(text, number, start))
    }

    /// The number (1-based) of the line that holds byte `offset` of `text`. The end of the text
    /// belongs to the last line; `None` only for empty text.
    pub fn line_at(&self, text: &str, offset: usize) -> Option<usize> {
        if self.count == 0 {
            return None;
        }
        let checkpoint = self.checkpoints.partition_point(|start| *start <= offset) - 1;
        let before = &text.as_bytes()[self.checkpoints[checkpoint]..offset.min(text.len())];
        let number = checkpoint * STRIDE + 1 + memchr_iter(b'\n', before).count();
        Some(number.min(self.count))
    }
}

/// The line that starts at byte `start`.
fn line_from(text: &str, number: usize, start: usize) -> Line {
    let bytes = text.as_bytes();
    let (mut end, full) = match memchr(b'\n', &bytes[start..]) {
        Some(lf) => (start + lf, Span::new(start, start + lf + 1)),
        None => (bytes.len(), Span::new(start, bytes.len())),
    };
    if end < full.end && end > start && bytes[end - 1] == b'\r' {
        end -= 1;
    }
    Line { number, content: Span::new(start, end), full }
}

/// Iterates lines of `text` from `line` on.
pub(crate) fn lines_from(text: &str, line: Option<Line>) -> impl Iterator<Item = Line> + '_ {
    std::iter::successors(line, |line| {
        (line.full.end < text.len()).then(|| line_from(text, line.number + 1, line.full.end))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let index = LineIndex::new(text);
        let lines: Vec<&str> = (1..=index.count())
            .map(|n| &text[index.line(text, n).unwrap().content.range()])
            .collect();
        assert_eq!(lines, expected, "{text:?}");
        assert_eq!(index.line(text, 0), None);
        assert_eq!(index.line(text, index.count() + 1), None);
    }

    #[test]
    fn terminators_end_lines_and_bare_cr_is_data() {
        check("", &[]);
        check("\n", &[""]);
        check("a", &["a"]);
        check("a\n", &["a"]);
        check("a\r\nb\rc\n\nd", &["a", "b\rc", "", "d"]);
        check("a\r", &["a\r"]);
        check("\r\n\r\n", &["", ""]);
    }

    #[test]
    fn every_offset_finds_its_line() {
        let text: String = (0..500).map(|n| format!("{}\n", "x".repeat(n % 7))).collect();
        let index = LineIndex::new(&text);
        for number in 1..=index.count() {
            let line = index.line(&text, number).unwrap();
            for offset in line.full.range() {
                assert_eq!(index.line_at(&text, offset), Some(number));
            }
        }
        assert_eq!(index.line_at(&text, text.len()), Some(500));
        assert_eq!(LineIndex::new("").line_at("", 0), None);
    }
}
