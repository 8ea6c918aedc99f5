//! The shown part of a receipt: removed lines, the lines that stand there now, and what is around.

use std::fmt::Write as _;
use std::ops::Range;

use anchors::anchor::BAR;
use anchors::{LineHash, Salt, Snapshot, Span};

use crate::limits;
use crate::plan::{ChangeSet, LineChange, PlannedFile};

/// What one receipt may still show, over all of its files.
#[derive(Debug)]
pub(super) struct Budget {
    lines: usize,
    bytes: usize,
    /// Lines of context on each side of a change.
    context: usize,
}

impl Budget {
    /// The budget of a receipt with so many changes: where there are many, nobody needs context.
    pub(super) fn new(changes: usize) -> Self {
        let context = usize::from(changes <= limits::RECEIPT_CONTEXT_CHANGES);
        Self { lines: limits::RECEIPT_LINES, bytes: limits::RECEIPT_BYTES, context }
    }

    fn is_spent(&self) -> bool {
        self.lines == 0 || self.bytes == 0
    }

    fn spend(&mut self, text: &str) {
        self.lines = self.lines.saturating_sub(text.matches('\n').count());
        self.bytes = self.bytes.saturating_sub(text.len());
    }
}

/// The diff of one file, as text.
#[derive(Clone, Debug, Default)]
pub(super) struct Diff {
    text: String,
    shown: Vec<(usize, usize)>,
}

impl Diff {
    /// Shows `changes` of `file`, as far as the budget goes.
    pub(super) fn new(
        file: &PlannedFile,
        changes: &[LineChange],
        salt: Salt,
        budget: &mut Budget,
    ) -> Self {
        let Some(old) = file.before.snapshot() else { return Self::default() };
        let mut view = View {
            old,
            new: file.after.snapshot(),
            changes: &file.changes,
            salt,
            diff: Self::default(),
            last: 0,
        };
        for (at, change) in changes.iter().enumerate() {
            if budget.is_spent() {
                let more = changes.len() - at;
                let _ = writeln!(view.diff.text, "… {more} more {}", plural(more, "change"));
                break;
            }
            let start = view.diff.text.len();
            let limit = changes.get(at + 1).map_or(usize::MAX, |next| next.new.start);
            view.show(change, budget.context, limit);
            budget.spend(&view.diff.text[start..]);
        }
        view.diff
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The lines (1-based, inclusive) that are shown with anchors.
    pub(super) fn shown(&self) -> Vec<(usize, usize)> {
        self.shown.clone()
    }
}

/// `word`, in the plural unless there is one.
pub(super) fn plural(count: usize, word: &str) -> String {
    if count == 1 { word.to_owned() } else { format!("{word}s") }
}

struct View<'a> {
    old: &'a Snapshot,
    new: &'a Snapshot,
    changes: &'a ChangeSet,
    /// For the anchors of the new text.
    salt: Salt,
    diff: Diff,
    /// The last line of the new text that was written; 0 for none.
    last: usize,
}

impl View<'_> {
    /// Shows one change; `limit` is where the next one begins in the new text.
    fn show(&mut self, change: &LineChange, context: usize, limit: usize) {
        // A removal leaves nothing of its own to anchor at.
        let context = if change.new.is_empty() { context.max(1) } else { context };
        let mut first = change.new.start.saturating_sub(context).max(self.last + 1);
        if self.last > 0 && first == self.last + 2 {
            first -= 1; // that line costs no more than saying that it is left out
        }
        if self.last > 0 && first > self.last + 1 {
            self.diff.text.push_str("…\n");
        }
        for line in first..change.new.start {
            self.present(line, None);
        }
        let (mut head, mut tail) = (limits::RECEIPT_HEAD_LINES, limits::RECEIPT_TAIL_LINES);
        while self.size(change, head, tail) > limits::RECEIPT_CHANGE_BYTES && head > 1 {
            (head, tail) = (head / 2, tail / 2);
        }
        self.run(&change.old, head / 3, tail / 3, |view, line| view.gone(line, change));
        self.run(&change.new, head, tail, |view, line| view.present(line, Some(change)));
        let last = (change.new.end + context).min(limit).min(self.new.line_count() + 1);
        for line in change.new.end..last {
            self.present(line, None);
        }
    }

    /// Bytes that the change takes when runs are cut to `head` and `tail` lines.
    fn size(&self, change: &LineChange, head: usize, tail: usize) -> usize {
        let bytes = |snapshot: &Snapshot, range: &Range<usize>, head, tail| -> usize {
            let (front, back) = cut(range, head, tail);
            let line = |line| snapshot.line(line).map_or(0, |line| line.content.len());
            front.chain(back).map(|number| line(number).min(limits::RECEIPT_LINE_BYTES)).sum()
        };
        bytes(self.old, &change.old, head / 3, tail / 3) + bytes(self.new, &change.new, head, tail)
    }

    /// Shows the first and the last lines of a run, and how many there are between.
    fn run(
        &mut self,
        range: &Range<usize>,
        head: usize,
        tail: usize,
        show: impl Fn(&mut Self, usize),
    ) {
        let (front, back) = cut(range, head, tail);
        let more = range.len() - front.len() - back.len();
        front.for_each(|line| show(self, line));
        if more > 0 {
            let _ = writeln!(self.diff.text, "… {more} more {}", plural(more, "line"));
        }
        back.for_each(|line| show(self, line));
    }

    /// A line that went.
    fn gone(&mut self, number: usize, change: &LineChange) {
        let old = self.old;
        let Some(line) = old.line(number) else { return };
        let edits = &self.changes.edits()[change.edits.clone()];
        let focus = edits.iter().find(|edit| edit.span.end >= line.full.start);
        let focus = focus.map_or(0, |edit| edit.span.start.saturating_sub(line.full.start));
        self.diff.text.push('-');
        self.push(&old.text()[line.content.range()], focus);
    }

    /// A line of the new text, with its anchor.
    fn present(&mut self, number: usize, change: Option<&LineChange>) {
        let Some(line) = self.new.line(number) else { return };
        let spans = change.into_iter().flat_map(|change| change.edits.clone());
        let mut spans = spans.map(|edit| self.changes.new_span(edit));
        let focus = spans.find(|span| span.end >= line.full.start);
        let focus = focus.map_or(0, |span| span.start.saturating_sub(line.full.start));
        let content = &self.new.text()[line.content.range()];
        let _ = write!(self.diff.text, "{number}#{}{BAR}", LineHash::of(content, self.salt));
        self.push(content, focus);
        self.last = number;
        match self.diff.shown.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => self.diff.shown.push((number, number)),
        }
    }

    /// The line, or what is around byte `focus` of it with the number of bytes left out.
    fn push(&mut self, line: &str, focus: usize) {
        let window = window(line, focus);
        let (left, right) = (window.start, line.len() - window.end);
        let text = &mut self.diff.text;
        if left > 0 {
            let _ = write!(text, "…[{left} bytes]");
        }
        text.push_str(&line[window.range()]);
        if right > 0 {
            let _ = write!(text, "[{right} bytes]…");
        }
        text.push('\n');
    }
}

/// The lines of a run that are shown: from its front and from its back. One left-out line is not
/// worth a mark.
fn cut(range: &Range<usize>, head: usize, tail: usize) -> (Range<usize>, Range<usize>) {
    if range.len() <= head + tail + 1 {
        return (range.clone(), range.end..range.end);
    }
    (range.start..range.start + head, range.end - tail..range.end)
}

/// The part of a long line that is shown.
fn window(line: &str, focus: usize) -> Span {
    if line.len() <= limits::RECEIPT_LINE_BYTES {
        return Span::new(0, line.len());
    }
    let start = focus.saturating_sub(limits::RECEIPT_LINE_BYTES / 4);
    let start = start.min(line.len() - limits::RECEIPT_LINE_BYTES);
    let start = line.floor_char_boundary(start);
    Span::new(start, line.floor_char_boundary(start + limits::RECEIPT_LINE_BYTES))
}
