//! What an edit did, file by file, in the fewest words that leave no question.
//!
//! A receipt shows each change as removed lines (`-text`) and as the lines that stand there now
//! with fresh anchors (`12#A4F0│text`), a line of context on each side, so that the next edit
//! needs no read. Long changes, long lines and long lists are cut, and say by how much; the
//! selection behind the result never is. The receipt of a `write` never shows text.

use std::sync::Arc;

use anchors::{Part, Rebased, Salt, Selection, Snapshot, SourceId};

use crate::mutation::Original;
use crate::plan::{Plan, Planned, PlannedPart};
use crate::transaction;

mod diff;
mod render;

use diff::{Budget, Diff};

/// What is known about one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// It is as it was.
    NotApplied,
    /// The edit is accepted and will be written with others.
    Pending,
    /// It has its new content.
    Applied,
    /// It could be either.
    Unknown,
}

impl From<transaction::Effect> for Effect {
    fn from(effect: transaction::Effect) -> Self {
        match effect {
            transaction::Effect::Applied => Self::Applied,
            transaction::Effect::NotApplied => Self::NotApplied,
            transaction::Effect::Unknown => Self::Unknown,
        }
    }
}

/// What became of a file that was planned to change.
#[derive(Clone, Copy, Debug)]
pub struct Fate {
    /// Whether it was written.
    pub effect: Effect,
    /// For the anchors of its new text.
    pub salt: Salt,
}

impl Default for Fate {
    fn default() -> Self {
        Self { effect: Effect::Applied, salt: Salt::default() }
    }
}

/// What one mutation did.
#[derive(Clone, Debug)]
pub struct Receipt {
    /// One a file, in the order in which the mutation names them.
    pub files: Vec<FileReceipt>,
    /// The new text, or the points where text was removed; complete unless a file was not written.
    pub selection: Selection,
}

/// What one mutation did to one file.
#[derive(Clone, Debug)]
pub struct FileReceipt {
    /// The file's identity.
    pub source: SourceId,
    /// What is known about it. A file that the mutation does not change is `Applied`.
    pub effect: Effect,
    /// In which way it changes.
    pub change: Change,
    /// How many ranges changed.
    pub replacements: usize,
    /// Lines that came.
    pub added: usize,
    /// Lines that went.
    pub removed: usize,
    /// Lines of the new text.
    pub lines: usize,
    /// Bytes of the new content.
    pub bytes: usize,
    /// The last line got (`true`) or lost its terminator.
    pub final_newline: Option<bool>,
    /// Set when the anchored lines had moved since they were shown.
    pub rebased: Option<Rebased>,
    /// Lines (1-based, inclusive) of the new text that the receipt shows with anchors.
    pub shown: Vec<(usize, usize)>,
    diff: Diff,
}

/// In which way a file changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Not at all: it is already as it was to be.
    None,
    /// Parts of its text.
    Edited,
    /// It is new.
    Created,
    /// All of it.
    Replaced,
}

impl Receipt {
    /// The receipt of one planned mutation of `plan`; `fate_of` says what became of each file that
    /// the plan changes.
    pub fn new(plan: &Plan, planned: &Planned, fate_of: impl Fn(&SourceId) -> Fate) -> Self {
        let mut selection = Selection { parts: Vec::new(), complete: true };
        let mut budget = Budget::new(planned.parts.iter().map(|part| part.edits.len()).sum());
        let mut files = Vec::with_capacity(planned.parts.len());
        for part in &planned.parts {
            let fate = if part.file.is_some() { fate_of(&part.source) } else { Fate::default() };
            if matches!(fate.effect, Effect::NotApplied | Effect::Unknown) {
                selection.complete = false;
            } else if let Some(snapshot) = current(plan, part) {
                let (source, content) = (part.source.clone(), snapshot.hash());
                selection.parts.push(Part { source, content, ranges: part.ranges.clone() });
            }
            files.push(FileReceipt::new(plan, part, fate, &mut budget));
        }
        Self { files, selection }
    }

    /// The one word for all files: unknown if any is, else applied if any is.
    pub fn effect(&self) -> Effect {
        let changed = self.files.iter().filter(|file| file.change != Change::None);
        changed.map(|file| file.effect).max().unwrap_or(Effect::Applied)
    }

    /// Whether nothing had to change.
    pub fn is_no_change(&self) -> bool {
        self.files.iter().all(|file| file.change == Change::None)
    }
}

/// The text of the file after the plan.
fn current<'a>(plan: &'a Plan, part: &'a PlannedPart) -> Option<&'a Arc<Snapshot>> {
    match part.file {
        Some(at) => Some(plan.files[at].after.snapshot()),
        None => part.before.snapshot(),
    }
}

impl FileReceipt {
    fn new(plan: &Plan, part: &PlannedPart, fate: Fate, budget: &mut Budget) -> Self {
        let Fate { effect, salt } = fate;
        let change = match (&part.before, part.changes(), part.whole) {
            (_, false, _) => Change::None,
            (_, true, false) => Change::Edited,
            (Original::Missing, true, true) => Change::Created,
            (_, true, true) => Change::Replaced,
        };
        let mut receipt = Self {
            source: part.source.clone(),
            effect,
            change,
            replacements: part.edits.len(),
            added: 0,
            removed: 0,
            lines: current(plan, part).map_or(0, |snapshot| snapshot.line_count()),
            bytes: part.file.map_or(0, |at| plan.files[at].after.bytes().len()),
            final_newline: None,
            rebased: part.rebased,
            shown: Vec::new(),
            diff: Diff::default(),
        };
        let Some(file) = part.file.map(|at| &plan.files[at]).filter(|_| part.changes()) else {
            return receipt;
        };
        let own = |edits: &std::ops::Range<usize>| {
            let at = part.edits.partition_point(|edit| *edit < edits.start);
            part.edits.get(at).is_some_and(|edit| edits.contains(edit))
        };
        let mut changes = file.line_changes();
        changes.retain(|change| own(&change.edits) || part.whole);
        receipt.added = changes.iter().map(|change| change.new.len()).sum();
        receipt.removed = changes.iter().map(|change| change.old.len()).sum();
        let (old, new) = (file.before.text(), file.after.snapshot().text());
        if !old.is_empty() && !new.is_empty() && old.ends_with('\n') != new.ends_with('\n') {
            receipt.final_newline = Some(new.ends_with('\n'));
        }
        if !part.whole && effect != Effect::NotApplied && effect != Effect::Unknown {
            receipt.diff = Diff::new(file, &changes, salt, budget);
            receipt.shown = receipt.diff.shown();
        }
        receipt
    }
}

#[cfg(test)]
mod tests;
