//! What is shown of the text around matches: whole lines, or windows of very long ones.

use memchr::{memchr, memrchr};

use super::hits::Match;
use crate::limits::{PREVIEW_LEAD_BYTES, PREVIEW_LINE_BYTES};

/// Lines of one text, each once, in order. A line that is too long to show whole appears as one
/// window per group of matches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preview {
    text: String,
    shown: Vec<Shown>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shown {
    number: usize,
    /// Offset of the shown part in the decoded text.
    start: usize,
    /// Where the shown part ends in `Preview::text`; it starts where the one before ends.
    end: usize,
    cut_before: bool,
    cut_after: bool,
}

/// A line, or a window of it, without terminator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PreviewLine<'a> {
    /// 1-based number of the line.
    pub number: usize,
    /// Byte offset of `text` in the decoded text.
    pub start: usize,
    /// The text, at most [`PREVIEW_LINE_BYTES`] long.
    pub text: &'a str,
    /// Whether the line has more text before.
    pub cut_before: bool,
    /// Whether the line has more text behind.
    pub cut_after: bool,
}

impl Preview {
    /// The shown lines, matched and context, in order.
    pub fn lines(&self) -> impl Iterator<Item = PreviewLine<'_>> {
        (0..self.shown.len()).map(|index| self.line(index))
    }

    /// The shown part of a match's line that holds the start of the match. `None` for a match
    /// beyond those that previews are made for.
    pub fn line_of(&self, found: &Match) -> Option<PreviewLine<'_>> {
        let key = (found.line, found.span.start);
        let index = self.shown.partition_point(|shown| (shown.number, shown.start) <= key);
        let line = self.line(index.checked_sub(1)?);
        let holds = line.number == found.line && found.span.start <= line.start + line.text.len();
        holds.then_some(line)
    }

    /// Memory that it holds, in bytes.
    pub fn bytes(&self) -> usize {
        self.text.capacity() + self.shown.capacity() * size_of::<Shown>()
    }

    fn line(&self, index: usize) -> PreviewLine<'_> {
        let shown = self.shown[index];
        let from = index.checked_sub(1).map_or(0, |before| self.shown[before].end);
        PreviewLine {
            number: shown.number,
            start: shown.start,
            text: &self.text[from..shown.end],
            cut_before: shown.cut_before,
            cut_after: shown.cut_after,
        }
    }
}

/// Builds the preview of one text, match by match.
#[derive(Debug)]
pub(super) struct Builder {
    preview: Preview,
    context: usize,
    /// Context that the last match still wants behind it, once it is known what comes next.
    pending: Option<Pending>,
}

#[derive(Clone, Copy, Debug)]
struct Pending {
    /// Next line to show, and where it starts in the whole text.
    number: usize,
    start: usize,
    /// Last line to show.
    last: usize,
}

/// A stretch of the decoded text that begins and ends at line ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stretch<'a> {
    pub(super) text: &'a str,
    /// Its offset in the whole text.
    pub(super) base: usize,
}

impl Builder {
    pub(super) fn new(context: usize) -> Self {
        Self { preview: Preview::default(), context, pending: None }
    }

    /// Adds the line of `found` with its context. `stretch` holds both as far as they exist.
    pub(super) fn add(&mut self, stretch: Stretch<'_>, found: &Match) {
        self.flush(stretch, found.line);
        let shown_to = self.preview.shown.last().map_or(0, |shown| shown.number);
        if shown_to < found.line {
            self.context_before(stretch, found, shown_to);
            self.window(stretch, found);
        } else if self.preview.line_of(found).is_none() {
            self.window(stretch, found);
        }
        if self.context > 0 {
            self.pending = Some(Pending {
                number: found.line + 1,
                start: found.line_span.end,
                last: found.line + self.context,
            });
        }
    }

    /// The preview; `stretch` is the last one that matches were added from.
    pub(super) fn finish(mut self, stretch: Stretch<'_>) -> Preview {
        self.flush(stretch, usize::MAX);
        self.preview
    }

    /// Shows what is pending of the lines before line `before`.
    pub(super) fn flush(&mut self, stretch: Stretch<'_>, before: usize) {
        let Some(mut next) = self.pending.take() else { return };
        let end = stretch.base + stretch.text.len();
        while next.number <= next.last && next.number < before && next.start < end {
            let line_end = self.whole_line(stretch, next.number, next.start);
            next.number += 1;
            next.start = line_end;
        }
    }

    fn context_before(&mut self, stretch: Stretch<'_>, found: &Match, shown_to: usize) {
        let bytes = stretch.text.as_bytes();
        let mut start = found.line_span.start - stretch.base;
        let mut number = found.line;
        while number > shown_to + 1 && found.line - number < self.context && start > 0 {
            start = memrchr(b'\n', &bytes[..start - 1]).map_or(0, |lf| lf + 1);
            number -= 1;
        }
        while number < found.line {
            start = self.whole_line(stretch, number, stretch.base + start) - stretch.base;
            number += 1;
        }
    }

    /// Shows the line at `start` (in the whole text) from its beginning; returns where it ends.
    fn whole_line(&mut self, stretch: Stretch<'_>, number: usize, start: usize) -> usize {
        let local = start - stretch.base;
        let line = line_at(stretch.text, local);
        let shown = cut(line, 0, PREVIEW_LINE_BYTES);
        self.push(number, start, &line[..shown], (false, shown < line.len()));
        let end = memchr(b'\n', &stretch.text.as_bytes()[local..]);
        end.map_or(stretch.base + stretch.text.len(), |lf| start + lf + 1)
    }

    /// Shows the part of a match's line around the match.
    fn window(&mut self, stretch: Stretch<'_>, found: &Match) {
        let line_start = found.line_span.start;
        let line = line_at(stretch.text, line_start - stretch.base);
        let (mut from, mut to) = (0, line.len());
        if line.len() > PREVIEW_LINE_BYTES {
            from = (found.span.start - line_start).saturating_sub(PREVIEW_LEAD_BYTES);
            from = line.floor_char_boundary(from);
            to = cut(line, from, PREVIEW_LINE_BYTES);
        }
        let shown = &line[from..to];
        self.push(found.line, line_start + from, shown, (from > 0, to < line.len()));
    }

    fn push(&mut self, number: usize, start: usize, text: &str, cut: (bool, bool)) {
        self.preview.text.push_str(text);
        let end = self.preview.text.len();
        let (cut_before, cut_after) = cut;
        self.preview.shown.push(Shown { number, start, end, cut_before, cut_after });
    }
}

/// The end of the longest piece of `line` from `from` that is at most `bytes` long.
fn cut(line: &str, from: usize, bytes: usize) -> usize {
    line.floor_char_boundary((from + bytes).min(line.len()))
}

/// The content of the line that starts at `start`.
fn line_at(text: &str, start: usize) -> &str {
    let rest = &text[start..];
    match memchr(b'\n', rest.as_bytes()) {
        None => rest,
        Some(lf) => rest[..lf].strip_suffix('\r').unwrap_or(&rest[..lf]),
    }
}

#[cfg(test)]
mod tests {
    use super::super::hits::Lines;
    use super::*;

    fn build(text: &str, needle: &str, context: usize) -> (Preview, Vec<Match>) {
        let mut lines = Lines::new(text.as_bytes(), 0, 1);
        let matches: Vec<Match> =
            text.match_indices(needle).map(|(at, m)| lines.locate(at, at + m.len())).collect();
        let stretch = Stretch { text, base: 0 };
        let mut builder = Builder::new(context);
        for found in &matches {
            builder.add(stretch, found);
        }
        (builder.finish(stretch), matches)
    }

    /// Checks which lines are shown for the matches of `x`.
    fn check(text: &str, context: usize, expected: &[(usize, &str)]) {
        let (preview, matches) = build(text, "x", context);
        let shown: Vec<_> = preview.lines().map(|line| (line.number, line.text)).collect();
        assert_eq!(shown, expected);
        for line in preview.lines() {
            assert_eq!(&text[line.start..line.start + line.text.len()], line.text);
        }
        assert!(matches.iter().all(|m| preview.line_of(m).unwrap().text.contains('x')));
    }

    #[test]
    fn every_line_is_shown_once() {
        check("a\nx\r\nb\nc\nx x", 0, &[(2, "x"), (5, "x x")]);
        check("a\nx\nb\nc\nx\n", 1, &[(1, "a"), (2, "x"), (3, "b"), (4, "c"), (5, "x")]);
        check("a\nx\nb\nx\nc\nd", 2, &[(1, "a"), (2, "x"), (3, "b"), (4, "x"), (5, "c"), (6, "d")]);
        check("x\n\n\n\nx", 1, &[(1, "x"), (2, ""), (4, ""), (5, "x")]);
    }

    #[test]
    fn long_lines_are_windowed_around_each_match() {
        let gap = "é".repeat(2_000);
        let text = format!("{gap}x y x{gap}x{gap}");
        let (preview, matches) = build(&text, "x", 1);
        let lines: Vec<_> = preview.lines().collect();
        assert_eq!((lines.len(), matches.len()), (2, 3));
        assert!(lines.iter().all(|line| line.cut_before && line.cut_after));
        assert!(lines.iter().all(|line| line.text.len() <= PREVIEW_LINE_BYTES));
        assert_eq!(preview.line_of(&matches[0]), preview.line_of(&matches[1]));
        assert_eq!(preview.line_of(&matches[2]), Some(lines[1]));
    }
}
