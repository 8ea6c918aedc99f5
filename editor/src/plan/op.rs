//! One range of one mutation, with what it claims of the document.

use anchors::{Range, Snapshot, Span};

use super::PlanError;
use super::text::{terminator, with_newlines};
use crate::mutation::{Mutation, Separation, Side, Target};

/// What happens at one range.
#[derive(Clone, Debug)]
pub(super) struct Op {
    /// Place of the mutation in the batch, 0-based.
    pub(super) mutation: usize,
    /// The text of the original that nobody else may touch.
    pub(super) claim: Span,
    /// For claims without width: what they cling to.
    pub(super) cling: Cling,
    /// Whether the resulting range stands for whole lines.
    pub(super) linewise: bool,
    pub(super) action: Action,
}

/// What an insertion belongs to. Two insertions at one point can be told apart only when one comes
/// after the text before the point, and the other before the text after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cling {
    /// To the text before the point.
    Left,
    /// To the point alone.
    Point,
    /// To the text after the point.
    Right,
}

/// What takes the place of the claim.
#[derive(Clone, Debug)]
pub(super) enum Action {
    /// This text, as it is. `end` is the length in bytes of the terminator that it ends with: a
    /// bare CR before an LF of its own is data.
    Text { text: String, end: usize },
    /// This text on lines of its own; `blank` asks for blank lines around it.
    Lines { text: String, blank: bool },
    /// Nothing: whole lines go.
    RemoveLines,
}

impl Op {
    /// Sorts operations as their results stand in the new document.
    pub(super) fn key(&self) -> (usize, usize, Cling) {
        (self.claim.start, self.claim.end, self.cling)
    }

    /// Whether the two cannot both be done. Touching is allowed.
    pub(super) fn conflicts(&self, other: &Self) -> bool {
        let (a, b) = (self.claim, other.claim);
        match (a.is_empty(), b.is_empty()) {
            (true, true) => {
                let sides = (self.cling.min(other.cling), self.cling.max(other.cling));
                a == b && sides != (Cling::Left, Cling::Right)
            }
            _ => a.start < b.end && b.start < a.end,
        }
    }
}

/// The operations of mutation number `index` on one of its targets, sorted.
pub(super) fn ops(
    index: usize,
    mutation: &Mutation,
    target: &Target,
) -> Result<Vec<Op>, PlanError> {
    let mut ranges = target.ranges.clone();
    ranges.sort_unstable();
    ranges.dedup();
    let op = |range: &Range| op(index, mutation, target, *range);
    let mut ops: Vec<Op> = ranges.iter().map(op).collect::<Result<_, _>>()?;
    ops.sort_by_key(Op::key);
    Ok(ops)
}

fn op(index: usize, mutation: &Mutation, target: &Target, range: Range) -> Result<Op, PlanError> {
    let snapshot = &*target.snapshot;
    let Some(old) = snapshot.text().get(range.span.range()) else {
        return Err(PlanError::OutOfRange { file: target.source.clone(), span: range.span });
    };
    let new = |text| with_newlines(text, snapshot.newline()).into_owned();
    let linewise = range.linewise && (!range.span.is_empty() || is_edge(snapshot, range.span));
    let (claim, cling, action) = match mutation {
        Mutation::Insert(insert) => {
            let blank = insert.separation == Separation::BlankLine;
            if blank && !linewise {
                let line = snapshot.line_at(range.span.start).unwrap_or(1);
                return Err(PlanError::InsideLine { file: target.source.clone(), line });
            }
            let text = new(&insert.text);
            let action = match linewise {
                true => Action::Lines { text, blank },
                false => exactly(text, snapshot.newline()),
            };
            let (at, cling) = match insert.side {
                Side::Before => (range.span.start, Cling::Right),
                Side::After => (range.span.end, Cling::Left),
            };
            (Span::point(at), if range.span.is_empty() { Cling::Point } else { cling }, action)
        }
        _ => {
            let text = new(mutation.text().unwrap_or_default());
            (range.span, Cling::Point, replacement(text, old, snapshot.newline(), linewise))
        }
    };
    Ok(Op { mutation: index, claim, cling, linewise, action })
}

/// What takes the place of `old`.
fn replacement(mut text: String, old: &str, newline: &str, linewise: bool) -> Action {
    match (linewise, text.is_empty(), old.is_empty()) {
        (true, true, false) => Action::RemoveLines,
        (true, false, true) => Action::Lines { text, blank: false },
        (true, false, false) if !text.ends_with('\n') => {
            let inherited = terminator(old);
            text.push_str(inherited);
            Action::Text { text, end: inherited.len() }
        }
        _ => exactly(text, newline),
    }
}

fn exactly(text: String, newline: &str) -> Action {
    let end = if text.ends_with('\n') { newline.len() } else { 0 };
    Action::Text { text, end }
}

/// Whether a range without width stands between lines, not inside one.
fn is_edge(snapshot: &Snapshot, span: Span) -> bool {
    let before = &snapshot.text()[..span.start];
    before.is_empty() || before.ends_with('\n') || span.start == snapshot.text().len()
}
