//! From operations to edits of the text: where lines of their own begin and end.
//!
//! The operations of all mutations of a batch come together here, in document order, so that two
//! that touch agree on the line ending between them.

use anchors::{Range, Span};

use super::change::{ChangeSet, Edit};
use super::op::{Action, Op};
use super::text::{ends_blank, starts_blank, terminator};

/// The edits of one file, and what became of each operation.
pub(super) struct Lowered {
    pub(super) changes: ChangeSet,
    /// One an operation, in their order.
    pub(super) results: Vec<OpResult>,
}

/// Where the outcome of one operation is.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpResult {
    /// The new text, in the document after the change.
    pub(super) range: Range,
    /// Its edit; `None` when it changes nothing.
    pub(super) edit: Option<usize>,
}

/// Lowers the sorted, conflict-free `ops` on `text`, whose lines end in `newline`.
pub(super) fn lower(text: &str, newline: &str, ops: &[Op]) -> Lowered {
    let mut out = Output { text, newline, edits: Vec::with_capacity(ops.len()), made: Vec::new() };
    for op in ops {
        match &op.action {
            Action::Text { text, end } => {
                out.push(op.claim, text.clone(), Made { kept: (0, text.len()), end: *end });
            }
            Action::Lines { text, blank } => out.push_lines(op.claim.start, text, *blank),
            Action::RemoveLines => out.remove_lines(op.claim),
        }
    }
    out.finish(ops)
}

/// What matters of a line that new lines follow.
#[derive(Clone, Copy)]
struct LastLine {
    /// It has no terminator.
    open: bool,
    blank: bool,
}

/// What an edit's text is made of.
#[derive(Clone, Copy)]
struct Made {
    /// The part that is the caller's; the rest separates lines.
    kept: (usize, usize),
    /// Length of the terminator at its end.
    end: usize,
}

/// The edits so far. The document after them, up to the last one's end, is what a reader would
/// see before the next operation.
struct Output<'a> {
    text: &'a str,
    newline: &'a str,
    edits: Vec<Edit>,
    /// What each edit's text is made of.
    made: Vec<Made>,
}

impl Output<'_> {
    fn push(&mut self, span: Span, text: String, made: Made) {
        self.edits.push(Edit { span, text });
        self.made.push(made);
    }

    /// Inserts `lines` at `at` so that they share no line with other text.
    fn push_lines(&mut self, at: usize, lines: &str, blank: bool) {
        let last = self.last_line(at);
        let follows = &self.text[at..];
        let mut text = String::with_capacity(lines.len() + 2 * self.newline.len());
        let open = last.is_some_and(|line| line.open);
        if open {
            text.push_str(self.newline);
        }
        if blank && last.is_some_and(|line| !line.blank) && !starts_blank(lines) {
            text.push_str(self.newline);
        }
        let start = text.len();
        text.push_str(lines);
        // At the end of the file the lines end as the last one did.
        let ends = if follows.is_empty() { !open && self.text.ends_with('\n') } else { true };
        if ends && !lines.ends_with('\n') {
            text.push_str(self.newline);
        }
        let kept = (start, text.len());
        if blank && !follows.is_empty() && !starts_blank(follows) && !ends_blank(lines) {
            text.push_str(self.newline);
        }
        let end = if text.ends_with('\n') { self.newline.len() } else { 0 };
        self.push(Span::point(at), text, Made { kept, end });
    }

    /// Removes whole lines. The last line of the file may have no terminator; then the one before
    /// it goes as well, so that the file still ends without.
    fn remove_lines(&mut self, span: Span) {
        self.push(span, String::new(), Made { kept: (0, 0), end: 0 });
        let unterminated = span.end == self.text.len() && !self.text.ends_with('\n');
        if !unterminated || span.is_empty() {
            return;
        }
        for at in (0..self.edits.len()).rev() {
            let from = at.checked_sub(1).map_or(0, |before| self.edits[before].span.end);
            let start = self.edits[at].span.start;
            if from < start {
                self.edits[at].span.start -= terminator(&self.text[from..start]).len();
                return;
            }
            let Some(before) = at.checked_sub(1).map(|before| &mut self.edits[before]) else {
                return;
            };
            if !before.text.is_empty() {
                let cut = before.text.len() - self.made[at - 1].end;
                before.text.truncate(cut);
                return;
            }
        }
    }

    /// The last line of the new document up to `at`, a position behind all edits; `None` when
    /// that is empty.
    fn last_line(&self, at: usize) -> Option<LastLine> {
        let mut line: Option<LastLine> = None;
        let mut end = at;
        for edit in self.edits.iter().map(Some).rev().chain([None]) {
            let (start, new) = edit.map_or((0, ""), |edit| (edit.span.end, &edit.text));
            for piece in [&self.text[start..end], new].into_iter().filter(|piece| !piece.is_empty())
            {
                // The first LF from the right is the line's own; the next one ends the line before.
                let own = if line.is_none() { piece.strip_suffix('\n') } else { None };
                let known = line.get_or_insert(LastLine { open: own.is_none(), blank: true });
                let tail = own.unwrap_or(piece);
                let cut = tail.rfind('\n').map(|lf| lf + 1);
                known.blank &= tail[cut.unwrap_or(0)..].trim().is_empty();
                if cut.is_some() {
                    return line;
                }
            }
            end = edit.map_or(0, |edit| edit.span.start);
        }
        line
    }

    /// Drops edits that change nothing and says where everything is.
    fn finish(self, ops: &[Op]) -> Lowered {
        let (mut edits, mut results) =
            (Vec::with_capacity(ops.len()), Vec::with_capacity(ops.len()));
        let (mut old, mut new) = (0, 0);
        for ((edit, made), op) in self.edits.into_iter().zip(self.made).zip(ops) {
            let start = new + (edit.span.start - old);
            (old, new) = (edit.span.end, start + edit.text.len());
            let range = Range {
                span: Span::new(
                    start + made.kept.0.min(edit.text.len()),
                    start + made.kept.1.min(edit.text.len()),
                ),
                linewise: op.linewise,
            };
            let changes = edit.text != self.text[edit.span.range()];
            results.push(OpResult { range, edit: changes.then_some(edits.len()) });
            if changes {
                edits.push(edit);
            }
        }
        Lowered { changes: ChangeSet::new(self.text.len(), edits), results }
    }
}
