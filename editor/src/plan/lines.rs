//! A change in lines: which lines went, which came, and which merely moved.

use anchors::{LineEdit, Snapshot, Span};

use super::change::{ChangeSet, Edit};

/// The largest table, in cells, for finding equal lines inside a replaced block; 256 lines on
/// 256. A larger block counts as wholly replaced but for its equal ends.
const TABLE_CELLS: usize = 1 << 16;

/// Lines that stand in place of others. Line endings do not count as a difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineChange {
    /// The lines that went, as numbers (1-based, half-open) in the old text; may be empty.
    pub old: std::ops::Range<usize>,
    /// The lines that came, as numbers (1-based, half-open) in the new text; may be empty.
    pub new: std::ops::Range<usize>,
    /// The edits (0-based, half-open) among which the cause is.
    pub edits: std::ops::Range<usize>,
}

/// What `changes` does to the lines of `old`, in order; `new` is the text after it.
pub fn line_changes(old: &Snapshot, new: &Snapshot, changes: &ChangeSet) -> Vec<LineChange> {
    let mut lines = Vec::new();
    let mut at = 0;
    while at < changes.edits().len() {
        let block = Block::at(at, old.text(), new.text(), changes);
        at = block.edits.end;
        block.refine(old, new, &mut lines);
    }
    lines
}

/// The lines that `changes` really touches, in order, whether or not their text ends up the same: a
/// line that is replaced by an equal one is another line.
pub fn touched_lines(old: &Snapshot, new: &Snapshot, changes: &ChangeSet) -> Vec<LineEdit> {
    let mut lines = Vec::new();
    let mut at = 0;
    while at < changes.edits().len() {
        let block = Block::at(at, old.text(), new.text(), changes);
        lines.push(block.touched(old, new, &changes.edits()[at]));
        at = block.edits.end;
    }
    lines
}

/// Whole lines around edits that share lines.
struct Block {
    old: Span,
    new: Span,
    edits: std::ops::Range<usize>,
}

impl Block {
    /// The block of edit number `first` and those after it that touch its lines.
    fn at(first: usize, old: &str, new: &str, changes: &ChangeSet) -> Self {
        let edits = changes.edits();
        let start = old[..edits[first].span.start].rfind('\n').map_or(0, |lf| lf + 1);
        let mut last = first;
        let mut end = line_end(old, edits[first].span.end);
        loop {
            while edits.get(last + 1).is_some_and(|next| in_lines(next, old, end)) {
                last += 1;
                end = end.max(line_end(old, edits[last].span.end));
            }
            let new_end = changes.new_span(last).end + (end - edits[last].span.end);
            if new_end == 0 || new_end == new.len() || new[..new_end].ends_with('\n') {
                let new_start = changes.new_span(first).start - (edits[first].span.start - start);
                let (old, new) = (Span::new(start, end), Span::new(new_start, new_end));
                return Self { old, new, edits: first..last + 1 };
            }
            // The new text runs on: into the next edit, or else into the next line.
            if edits.get(last + 1).is_some_and(|next| next.span.start == end) {
                last += 1;
                end = end.max(line_end(old, edits[last].span.end));
            } else {
                end = old[end..].find('\n').map_or(old.len(), |lf| end + lf + 1);
            }
        }
    }

    /// The lines of the block, but for a first one that `edit`, the first, only follows: what comes
    /// after an unterminated last line starts with its terminator.
    fn touched(&self, old: &Snapshot, new: &Snapshot, edit: &Edit) -> LineEdit {
        let (old_first, new_first) = (number(old, self.old.start), number(new, self.new.start));
        let a = contents(&old.text()[self.old.range()]);
        let b = contents(&new.text()[self.new.range()]);
        let follows = |line: &&str| edit.span.start - self.old.start >= line.len();
        let kept = usize::from(a.first().is_some_and(follows) && a.first() == b.first());
        LineEdit {
            old: old_first + kept..old_first + a.len(),
            new: new_first + kept..new_first + b.len(),
        }
    }

    /// Adds the lines of the block that differ.
    fn refine(&self, old: &Snapshot, new: &Snapshot, to: &mut Vec<LineChange>) {
        let (old_first, new_first) = (number(old, self.old.start), number(new, self.new.start));
        let a = contents(&old.text()[self.old.range()]);
        let b = contents(&new.text()[self.new.range()]);
        let head = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
        let rest = a.iter().rev().zip(b.iter().rev());
        let tail = rest.take(a.len().min(b.len()) - head).take_while(|(a, b)| a == b).count();
        for (x, y) in differences(&a[head..a.len() - tail], &b[head..b.len() - tail]) {
            let shift = |range: std::ops::Range<usize>, first: usize| {
                range.start + first + head..range.end + first + head
            };
            let (old, new) = (shift(x, old_first), shift(y, new_first));
            to.push(LineChange { old, new, edits: self.edits.clone() });
        }
    }
}

/// The end, terminator included, of the line that `at` is inside of; `at` itself between lines.
fn line_end(text: &str, at: usize) -> usize {
    if at == 0 || text[..at].ends_with('\n') {
        return at;
    }
    text[at..].find('\n').map_or(text.len(), |lf| at + lf + 1)
}

/// Whether the edit touches the lines that end at `end`.
fn in_lines(edit: &Edit, text: &str, end: usize) -> bool {
    let open = end == text.len() && !text.ends_with('\n');
    edit.span.start < end || (edit.span.start == end && open)
}

/// Number (1-based) of the line that starts at `at`; one past the last at the end of the text.
fn number(snapshot: &Snapshot, at: usize) -> usize {
    let past = snapshot.line_count() + 1;
    if at == snapshot.text().len() { past } else { snapshot.line_at(at).unwrap_or(past) }
}

fn contents(text: &str) -> Vec<&str> {
    let line = |line: &'_ str| line.len() - super::text::terminator(line).len();
    text.split_inclusive('\n').map(|full| &full[..line(full)]).collect()
}

type Pair = (std::ops::Range<usize>, std::ops::Range<usize>);

/// The runs in which `a` and `b` differ, by a longest common subsequence when that is affordable.
fn differences(a: &[&str], b: &[&str]) -> Vec<Pair> {
    if a.is_empty() && b.is_empty() {
        return Vec::new();
    }
    if a.is_empty() || b.is_empty() || a.len() * b.len() > TABLE_CELLS {
        return vec![(0..a.len(), 0..b.len())];
    }
    let common = common_lengths(a, b);
    let width = b.len() + 1;
    let (mut runs, mut i, mut j): (Vec<Pair>, _, _) = (Vec::new(), 0, 0);
    while i < a.len() || j < b.len() {
        if i < a.len() && j < b.len() && a[i] == b[j] {
            (i, j) = (i + 1, j + 1);
            continue;
        }
        let down = j == b.len()
            || (i < a.len() && common[(i + 1) * width + j] >= common[i * width + j + 1]);
        let (next_i, next_j) = if down { (i + 1, j) } else { (i, j + 1) };
        match runs.last_mut().filter(|(x, y)| x.end == i && y.end == j) {
            Some(run) => *run = (run.0.start..next_i, run.1.start..next_j),
            None => runs.push((i..next_i, j..next_j)),
        }
        (i, j) = (next_i, next_j);
    }
    runs
}

/// For all `i`, `j`, at `i * (b.len() + 1) + j`: how many lines `a[i..]` and `b[j..]` have in
/// common, in order.
fn common_lengths(a: &[&str], b: &[&str]) -> Vec<u32> {
    let width = b.len() + 1;
    let mut table = vec![0u32; (a.len() + 1) * width];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            table[i * width + j] = if a[i] == b[j] {
                table[(i + 1) * width + j + 1] + 1
            } else {
                table[(i + 1) * width + j].max(table[i * width + j + 1])
            };
        }
    }
    table
}

#[cfg(test)]
mod tests;
