//! Who may refuse an edit before anything is written.
//!
//! Guards are asked after every range and text is worked out and before the first byte is written,
//! in the order of their registration. The first that refuses ends the matter: nothing of that
//! mutation happens.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use anchors::{ContentHash, ErrorCode, SourceId};

use crate::mutation::Mutation;
use crate::plan::{Plan, Planned, PlannedFile, PlannedPart};

mod overwrite;

pub use overwrite::OverwriteGuard;

/// How many held calls a session remembers. A client repeats one at once or never.
const HELD_CALLS: usize = 64;

/// What a guard says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing against it.
    Allow,
    /// The edit must not happen.
    Deny {
        /// Id of the guard.
        guard: &'static str,
        /// The code that the caller gets.
        code: ErrorCode,
        /// Why, in one sentence.
        message: String,
        /// What to do instead.
        hint: Option<String>,
    },
}

/// A condition on edits.
pub trait Guard: Send + Sync {
    /// Stable id, unique among guards, for switching it off.
    fn id(&self) -> &'static str;

    /// Whether the edit may happen. Asked once a call.
    fn check(&self, edit: &PlannedEdit<'_>) -> Verdict;
}

/// What guards may know and remember of the session that edits.
pub trait GuardSession {
    /// Whether the session has seen the source with exactly this content.
    fn has_seen(&self, source: &SourceId, content: ContentHash) -> bool;

    /// Remembers a call that is held back. True when this very call was held back before: then it
    /// is forgotten again.
    fn is_repeat(&self, call: u128) -> bool;
}

/// One mutation with everything that it does.
pub struct PlannedEdit<'a> {
    /// What was asked for.
    pub mutation: &'a Mutation,
    /// The session that asks.
    pub session: &'a dyn GuardSession,
    planned: &'a Planned,
    plan: &'a Plan,
}

impl<'a> PlannedEdit<'a> {
    pub(crate) fn new(
        mutation: &'a Mutation,
        planned: &'a Planned,
        plan: &'a Plan,
        session: &'a dyn GuardSession,
    ) -> Self {
        Self { mutation, session, planned, plan }
    }

    /// What the mutation does to each file that it changes. The file's new text includes what other
    /// mutations of the batch do to it.
    pub fn files(&self) -> impl Iterator<Item = (&'a PlannedPart, &'a PlannedFile)> {
        let changed = self.planned.parts.iter().filter(|part| part.changes());
        changed.filter_map(|part| Some((part, self.plan.files.get(part.file?)?)))
    }
}

/// The guards that are switched on, in the order of their registration.
#[derive(Default)]
pub struct Guards {
    guards: Vec<Box<dyn Guard>>,
}

impl Guards {
    /// These guards, in this order.
    pub fn new(guards: Vec<Box<dyn Guard>>) -> Self {
        Self { guards }
    }

    /// The first refusal, or none.
    pub fn check(&self, edit: &PlannedEdit<'_>) -> Verdict {
        let verdicts = self.guards.iter().map(|guard| guard.check(edit));
        verdicts.into_iter().find(|verdict| *verdict != Verdict::Allow).unwrap_or(Verdict::Allow)
    }
}

/// The calls of one session that were held back, newest last; bounded.
#[derive(Debug, Default)]
pub struct HeldCalls(Mutex<VecDeque<u128>>);

impl HeldCalls {
    /// See [`GuardSession::is_repeat`].
    pub fn is_repeat(&self, call: u128) -> bool {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = held.iter().position(|known| *known == call) {
            held.remove(at);
            return true;
        }
        if held.len() == HELD_CALLS {
            held.pop_front();
        }
        held.push_back(call);
        false
    }
}

#[cfg(test)]
mod tests;
