//! Anchor tokens and what they select in the current text of a source.
//!
//! Each form (`12#A4F0`, `SEARCH#…`, `begin`, exact text, …) is owned by one [`AnchorForm`] in a
//! registry; nobody else parses tokens. A form *locates* a token, either in the current text or in
//! a snapshot that it was issued for; the registry then proves where the issued lines are now, or
//! refuses. An anchor never selects text that its holder may not have meant.

mod exact;
mod forms;
mod span;

use std::sync::Arc;

pub use forms::{BAR, BeginEnd, ExactText, LineAnchor, References, parse_line_anchor};

use crate::reference::ReferenceError;
use crate::{ErrorCode, Issued, Ledger, Range, Selection, Snapshot, SourceId, Span};

/// What an anchor is resolved against.
pub struct Context<'a> {
    /// The source that is to be edited or read.
    pub source: &'a SourceId,
    /// Its current text.
    pub snapshot: &'a Arc<Snapshot>,
    /// What the session has been shown.
    pub ledger: &'a Ledger,
    /// The selection behind a reference token: `None` when the token is no reference.
    pub references: &'a dyn Fn(&str) -> Option<Result<Selection, ReferenceError>>,
    /// Whether a line anchor may follow its block when a diff proves where it went.
    pub rebase: bool,
}

/// Where a form found a token.
#[derive(Clone, Debug)]
pub enum Located {
    /// In the current text.
    Current(Vec<Range>),
    /// It was shown as this line (1-based); the texts that have it, newest first.
    Issued {
        /// The line as it was shown.
        line: usize,
        /// Where it is in each text; never empty.
        places: Vec<Issued>,
    },
}

/// One form of anchor.
pub trait AnchorForm: Send + Sync {
    /// Stable id, for switching the form off.
    fn id(&self) -> &'static str;

    /// Locates `token`, or `None` when it is not of this form.
    ///
    /// # Errors
    /// [`AnchorError`] when it is of this form and selects nothing: no other form is asked.
    fn locate(&self, token: &str, context: &Context<'_>) -> Option<Result<Located, AnchorError>>;
}

/// What a start, or a start and an end, select.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The ranges in the current text, in order.
    pub ranges: Vec<Range>,
    /// Set when the lines were not where they had been shown.
    pub rebased: Option<Rebased>,
}

/// Lines that moved since they were shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rebased {
    /// First line (1-based) as it was shown.
    pub from: usize,
    /// First line (1-based) now.
    pub to: usize,
}

/// Why an anchor selects nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnchorError {
    /// The lines were shown, and have changed or can't be placed with certainty.
    #[error("`{anchor}` is stale: {reason}")]
    Stale {
        /// The token.
        anchor: String,
        /// What happened, as part of a sentence.
        reason: &'static str,
        /// The line (1-based) of the current text to look at.
        near: usize,
    },
    /// Exact text that is not there.
    #[error("the text `{}` does not occur", shorten(text))]
    Missing {
        /// The text.
        text: String,
    },
    /// Exact text that is there more than once.
    #[error("the text `{}` occurs {}{total} times; use an anchor or more text", shorten(text), at_least(*total))]
    Ambiguous {
        /// The text.
        text: String,
        /// The first occurrences.
        at: Vec<Span>,
        /// How many there are.
        total: usize,
    },
    /// `begin` or `end` of a file without lines.
    #[error("`{0}` selects nothing: the file is empty; `write` fills it")]
    EmptyFile(String),
    /// An anchor that is empty.
    #[error("an anchor must not be empty")]
    Empty,
    /// The end lies before the start.
    #[error("the start (line {start}) must not come after the end (line {end})")]
    Reversed {
        /// Line (1-based) of the start.
        start: usize,
        /// Line (1-based) of the end.
        end: usize,
    },
    /// An endpoint of a span selects more or less than one range.
    #[error("`{anchor}` selects {count} ranges; a start or end must select exactly one")]
    NotOne {
        /// The token.
        anchor: String,
        /// How many ranges it selects in this source.
        count: usize,
    },
    /// A reference that selects text of other sources only.
    #[error("`{0}` selects nothing in this source")]
    OtherSource(String),
    /// The source changed since the reference was made.
    #[error("the source behind `{0}` has changed since; read or search again")]
    StaleReference(String),
    /// The reference itself is no good.
    #[error(transparent)]
    Reference(#[from] ReferenceError),
}

impl AnchorError {
    /// The stable code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Stale { .. } => ErrorCode::StaleAnchor,
            Self::Missing { .. } => ErrorCode::MissingText,
            Self::Ambiguous { .. } => ErrorCode::AmbiguousText,
            Self::EmptyFile(_) | Self::OtherSource(_) => ErrorCode::UnknownAnchor,
            Self::Empty | Self::Reversed { .. } | Self::NotOne { .. } => ErrorCode::InvalidRequest,
            Self::StaleReference(_) => ErrorCode::StaleReference,
            Self::Reference(error) => error.code(),
        }
    }
}

/// Counting stops at a bound.
fn at_least(total: usize) -> &'static str {
    if total >= exact::COUNTED { "at least " } else { "" }
}

/// The first line of a text, short enough for an error.
fn shorten(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let cut = line.floor_char_boundary(80);
    if cut < text.len() { format!("{}…", &line[..cut]) } else { line.to_owned() }
}

/// The forms that are switched on, in the order in which they are asked.
pub struct AnchorRegistry {
    forms: Vec<Box<dyn AnchorForm>>,
}

impl AnchorRegistry {
    /// A registry of these forms; the first that recognises a token owns it.
    pub fn new(forms: Vec<Box<dyn AnchorForm>>) -> Self {
        Self { forms }
    }

    /// The ranges that `start` alone selects, or the whole lines from `start` to `end`.
    ///
    /// # Errors
    /// [`AnchorError`] when the target is stale, missing, ambiguous or malformed.
    pub fn resolve(
        &self,
        start: &str,
        end: Option<&str>,
        context: &Context<'_>,
    ) -> Result<Resolved, AnchorError> {
        let first = self.locate(start, context)?;
        match end {
            None => span::alone(start, &first, context),
            Some(end) => {
                let last = self.locate(end, context)?;
                span::between((start, &first), (end, &last), context)
            }
        }
    }

    fn locate(&self, token: &str, context: &Context<'_>) -> Result<Located, AnchorError> {
        if token.is_empty() {
            return Err(AnchorError::Empty);
        }
        self.forms
            .iter()
            .find_map(|form| form.locate(token, context))
            .unwrap_or_else(|| Err(AnchorError::Missing { text: token.to_owned() }))
    }
}

#[cfg(test)]
mod tests;
