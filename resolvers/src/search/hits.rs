//! The matches of one text, with everything that an anchor needs.

use std::path::PathBuf;

use anchors::{ContentHash, Span};
use memchr::{memchr, memchr_iter, memrchr};

use super::columns::utf16_len;
use super::preview::Preview;
use crate::host::Stat;

/// One match. It lies within one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Match {
    /// 1-based number of the line.
    pub line: usize,
    /// The matched bytes of the decoded text (without byte order mark).
    pub span: Span,
    /// The whole line in the decoded text, terminator included.
    pub line_span: Span,
    /// 0-based column of the first matched character, in UTF-16 units.
    pub column: usize,
    /// 0-based column behind the last matched character, in UTF-16 units.
    pub end_column: usize,
}

/// The matches in one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileHits {
    /// The file: the root as it was named, joined with what is below it.
    pub path: PathBuf,
    /// Which root of the scope it belongs to, counted from 0. For regions, which region.
    pub root: usize,
    /// Hash of the raw bytes that were searched.
    pub content: ContentHash,
    /// The file's status when it was searched; `None` for a region.
    pub stat: Option<Stat>,
    /// The matches in order. Empty when they are beyond what a search keeps.
    pub matches: Vec<Match>,
    /// How many matches there are, kept or not.
    pub count: u64,
    /// The text around the first matches ([`crate::limits::RESULT_LINES`] of them); `None` when it
    /// was not kept and the file could not be read again unchanged.
    pub preview: Option<Preview>,
}

impl FileHits {
    /// Order of files in an outcome: by the bytes of the path.
    pub(super) fn sort_key(&self) -> (&[u8], usize) {
        (self.path.as_os_str().as_encoded_bytes(), self.root)
    }
}

/// Turns offsets into [`Match`]es. Offsets must come in rising order.
#[derive(Debug)]
pub(super) struct Lines<'a> {
    text: &'a [u8],
    /// Offset of `text` in the whole text.
    base: usize,
    /// Number and start of the current line, within `text`.
    number: usize,
    line: Span,
    /// An offset in the current line and its column.
    at: usize,
    column: usize,
}

impl<'a> Lines<'a> {
    /// For `text`, which starts with line `number` (1-based) at offset `base` of the whole.
    pub(super) fn new(text: &'a [u8], base: usize, number: usize) -> Self {
        let line = Span::new(0, line_end(text, 0));
        Self { text, base, number, line, at: 0, column: 0 }
    }

    /// The match `start..end` of `text`.
    pub(super) fn locate(&mut self, start: usize, end: usize) -> Match {
        if start >= self.line.end && self.line.end < self.text.len() {
            let skipped = &self.text[self.line.start..start];
            self.number += memchr_iter(b'\n', skipped).count();
            let begin =
                memrchr(b'\n', skipped).map_or(self.line.start, |lf| self.line.start + lf + 1);
            self.line = Span::new(begin, line_end(self.text, start));
            (self.at, self.column) = (begin, 0);
        }
        let column = self.column + utf16_len(&self.text[self.at..start]);
        let end_column = column + utf16_len(&self.text[start..end]);
        (self.at, self.column) = (start, column);
        Match {
            line: self.number,
            span: Span::new(self.base + start, self.base + end),
            line_span: Span::new(self.base + self.line.start, self.base + self.line.end),
            column,
            end_column,
        }
    }
}

/// Where the line that holds `at` ends, terminator included.
fn line_end(text: &[u8], at: usize) -> usize {
    memchr(b'\n', &text[at..]).map_or(text.len(), |lf| at + lf + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns() {
        let text = "ab\r\n\né😀x x\nlast";
        let mut lines = Lines::new(text.as_bytes(), 10, 5);
        let mut locate = |needle: &str, from: usize| {
            let start = from + text[from..].find(needle).unwrap();
            let m = lines.locate(start, start + needle.len());
            assert_eq!(m.span.start, 10 + start);
            (m.line, m.column, m.end_column, &text[m.line_span.start - 10..m.line_span.end - 10])
        };
        assert_eq!(locate("b", 0), (5, 1, 2, "ab\r\n"));
        assert_eq!(locate("x", 5), (7, 3, 4, "é😀x x\n"));
        assert_eq!(locate("x", 13), (7, 5, 6, "é😀x x\n"));
        assert_eq!(locate("t", 13), (8, 3, 4, "last"));
    }
}
