//! Every edit of a batch, worked out in memory before anything is written.
//!
//! All mutations of a batch are planned against the text that their ranges were resolved in, never
//! against each other's outcome. What they do to one file is merged into one change. A mutation
//! that shares text with an earlier one is refused, whole; independent ones survive. Touching is
//! allowed. Two insertions at one point are refused unless their order is plain: one comes after
//! the line before the point, the other before the line after it.
//!
//! # Rules of text
//! - New text gets the document's line endings: CRLF if it has any, else LF. A bare CR is data.
//! - Text for whole lines that lacks a final terminator inherits that of the last replaced line.
//!   No text for whole lines deletes them. An unterminated last line stays unterminated, unless
//!   the new text ends in a terminator, also when the lines at the end are deleted.
//! - Insertions beside whole lines get lines of their own; beside characters they are characters.
//! - `write` takes its text as it is.
//!
//! Planning is pure: the same input gives the same plan, and only guards see a session.

use std::collections::HashMap;
use std::path::PathBuf;

use anchors::{Cancel, Cancelled, LineEdit, Range, Rebased, SourceId};
use uuid::Uuid;

use crate::guard::{GuardSession, Guards, PlannedEdit, Verdict};
use crate::mutation::{Mutation, Original};

mod change;
mod draft;
mod encode;
mod error;
mod lines;
mod lower;
mod op;
mod text;

pub use change::{Bias, ChangeSet, Edit};
pub use encode::After;
pub use error::{Place, PlanError};
pub use lines::{LineChange, line_changes, touched_lines};

use draft::Draft;

/// What planning needs to know beside the mutations.
pub struct PlanContext<'a> {
    /// Whether a result id is one that the session could use right now.
    pub is_live: &'a dyn Fn(Uuid) -> bool,
    /// Who may refuse an edit.
    pub guards: &'a Guards,
    /// What guards know of the session.
    pub session: &'a dyn GuardSession,
    /// Stops planning.
    pub cancel: &'a Cancel,
}

/// The outcome of planning a batch.
#[derive(Debug)]
pub struct Plan {
    /// One a mutation, in their order.
    pub outcomes: Vec<Result<Planned, PlanError>>,
    /// Every file that gets new bytes, once.
    pub files: Vec<PlannedFile>,
}

/// A file and what it is to become.
#[derive(Clone, Debug)]
pub struct PlannedFile {
    /// Its identity.
    pub source: SourceId,
    /// Where it is.
    pub path: PathBuf,
    /// What it must be for the plan to make sense.
    pub before: Original,
    /// What it becomes.
    pub after: After,
    /// The difference between the two texts; a file without text counts as empty.
    pub changes: ChangeSet,
}

impl PlannedFile {
    /// The change in lines. A file without text counts as empty.
    pub fn line_changes(&self) -> Vec<LineChange> {
        match self.before.snapshot() {
            Some(before) => line_changes(before, self.after.snapshot(), &self.changes),
            None => vec![LineChange {
                old: 1..1,
                new: 1..self.after.snapshot().line_count() + 1,
                edits: 0..self.changes.edits().len(),
            }],
        }
    }

    /// The touched lines, for the session's ledger; none for a file that was not text.
    pub fn line_edits(&self) -> Vec<LineEdit> {
        let before = self.before.snapshot();
        before.map_or_else(Vec::new, |before| {
            touched_lines(before, self.after.snapshot(), &self.changes)
        })
    }
}

/// What one mutation comes to.
#[derive(Clone, Debug, Default)]
pub struct Planned {
    /// One a file that the mutation names, in their order.
    pub parts: Vec<PlannedPart>,
}

/// What one mutation does to one file.
#[derive(Clone, Debug)]
pub struct PlannedPart {
    /// The file's identity.
    pub source: SourceId,
    /// What the file was before.
    pub before: Original,
    /// Its place in [`Plan::files`]; `None` when no mutation of the batch changes the file.
    pub file: Option<usize>,
    /// The mutation's own changes among the edits of the file, in order.
    pub edits: Vec<usize>,
    /// The outcome of every range: the new text, or the point where text was removed. In the text
    /// after the plan.
    pub ranges: Vec<Range>,
    /// Whether the file is written as a whole.
    pub whole: bool,
    /// Set when the anchored lines had moved since they were shown.
    pub rebased: Option<Rebased>,
}

impl PlannedPart {
    /// Whether this mutation changes this file.
    pub fn changes(&self) -> bool {
        !self.edits.is_empty() || (self.whole && self.file.is_some())
    }
}

impl Planned {
    /// Whether the mutation changes nothing: everything is as it asks for already.
    pub fn is_no_change(&self) -> bool {
        !self.parts.iter().any(PlannedPart::changes)
    }
}

impl Plan {
    /// Plans a batch; a single call is a batch of one.
    ///
    /// # Errors
    /// [`Cancelled`] only; what is wrong with a mutation is its outcome.
    pub fn batch(mutations: &[Mutation], context: &PlanContext<'_>) -> Result<Self, Cancelled> {
        let mut refused: HashMap<usize, PlanError> = HashMap::new();
        let plan = Self::without(mutations, &mut refused, context)?;
        // Guards are asked once, even if the plan is made again without what they refuse.
        let before = refused.len();
        for (at, mutation) in mutations.iter().enumerate() {
            let Ok(planned) = &plan.outcomes[at] else { continue };
            if planned.is_no_change() {
                continue;
            }
            let edit = PlannedEdit::new(mutation, planned, &plan, context.session);
            if let Verdict::Deny { guard, code, message, hint } = context.guards.check(&edit) {
                refused.insert(at, PlanError::Denied { guard, code, message, hint });
            }
        }
        if refused.len() == before {
            return Ok(plan);
        }
        Self::without(mutations, &mut refused, context)
    }

    /// The plan of the mutations that are not refused. One whose file turns out impossible joins
    /// the refused, and everything is planned again without it.
    fn without(
        mutations: &[Mutation],
        refused: &mut HashMap<usize, PlanError>,
        context: &PlanContext<'_>,
    ) -> Result<Self, Cancelled> {
        loop {
            let mut draft = Draft::default();
            for (at, mutation) in mutations.iter().enumerate() {
                context.cancel.check()?;
                if refused.contains_key(&at) {
                    continue;
                }
                if let Err(error) = draft.add(at, mutation, context.is_live) {
                    refused.insert(at, error);
                }
            }
            match draft.finish(mutations.len(), context.cancel)? {
                Ok((planned, files)) => {
                    let outcome = |(at, planned)| match refused.get(&at) {
                        Some(error) => Err(PlanError::clone(error)),
                        None => Ok(planned),
                    };
                    let outcomes = planned.into_iter().enumerate().map(outcome).collect();
                    return Ok(Self { outcomes, files });
                }
                Err((culprits, error)) => {
                    refused.extend(culprits.into_iter().map(|at| (at, error.clone())));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
