//! The search core: from a query and a scope to matches, names, and an account of both.
//!
//! Synchronous and free of JSON; the daemon words the outcome. What it promises:
//!
//! - **complete or said so**: every file that counts is searched to its end, or
//!   [`TextHits::incomplete`] says what is missing; what was passed over is in [`Totals`];
//! - **exact**: spans are bytes of the decoded text that a [`anchors::Snapshot`] of the same bytes
//!   has, and [`FileHits::content`] is that snapshot's hash, so a hit is an anchor;
//! - **deterministic**: the same tree gives the same outcome, sorted by path, whatever the threads do
//!   (when there are more matches than are kept, *which* files kept theirs is chance; counts are not);
//! - **bounded**: see [`crate::limits`];
//! - **stops** within milliseconds of a cancel, and at the time limit with what it has.
//!
//! ```no_run
//! use resolvers::search::{Engine, Query, Scope, SearchOptions};
//! let engine = Engine::new(resolvers::walk::GitHome::of_process());
//! let query = Query::parse("fn main")?;
//! let scope = Scope::Paths(vec!["/srv/project".into()]);
//! let outcome = engine.search(&query, &scope, &SearchOptions::default(), &anchors::Cancel::new())?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Neighbours: [`crate::walk`] says which files there are; the daemon turns [`FileHits`] into
//! `SEARCH#` references. A Boolean grammar becomes another [`Form`], an index another way to run
//! one [`Form`] over a [`Scope`] (`run::Pass`).

mod columns;
mod content;
mod file;
mod hits;
mod large;
mod matcher;
mod names;
mod preview;
mod query;
mod regex_form;
mod region;
mod run;
mod scan;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anchors::{Cancel, ErrorCode, Snapshot, Span};

use crate::walk::{GitHome, Globs, Stop, Stopped, WalkError, Walked, Walker};

pub use hits::{FileHits, Match};
pub use names::{NameHits, NameQuery};
pub use preview::{Preview, PreviewLine};
pub use query::{Form, Query, QueryError, TextQuery};

/// How to search. All fields have the documented defaults.
#[derive(Clone, Debug)]
pub struct SearchOptions {
    /// Which files are wanted (text and names alike).
    pub globs: Globs,
    /// `None` is smart: case counts only when the query has an upper-case letter.
    pub case_sensitive: Option<bool>,
    /// Matches must not touch word characters on either side.
    pub whole_word: bool,
    /// Lines of context on each side of a match, 0 to [`crate::limits::SEARCH_CONTEXT_LINES`].
    pub context: usize,
    /// Matches to show in detail, or names to list: 1 to [`crate::limits::SEARCH_LIMIT`]. Bounds
    /// what is listed by `files:`; a text search always finds everything.
    pub limit: usize,
    /// Include names that start with a dot. Always so for `files:`.
    pub hidden: bool,
    /// Include what ignore files hide.
    pub ignored: bool,
    /// How long the whole search may take; `None` for no limit.
    pub timeout: Option<Duration>,
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self {
            globs: Globs::default(),
            case_sensitive: None,
            whole_word: false,
            context: 0,
            limit: crate::limits::SEARCH_LIMIT_DEFAULT,
            hidden: false,
            ignored: false,
            timeout: Some(crate::limits::SEARCH_TIMEOUT),
        }
    }
}

/// Where to search.
#[derive(Clone, Debug)]
pub enum Scope {
    /// Files and folders, by absolute path. All of them must exist.
    Paths(Vec<PathBuf>),
    /// Parts of texts that are at hand: "search inside a result".
    Regions(Vec<Region>),
}

/// Parts of one text. Each span is searched on its own: no match crosses a gap, even an empty one,
/// and `^` and `$` match at the ends of a span.
#[derive(Clone, Debug)]
pub struct Region {
    /// What the hits are filed under.
    pub path: PathBuf,
    /// The text.
    pub snapshot: Arc<Snapshot>,
    /// The parts, in any order.
    pub spans: Vec<Span>,
}

/// What a search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Of a text query.
    Text(TextHits),
    /// Of a `files:` query.
    Names(NameHits),
}

/// The outcome of a text search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextHits {
    /// Files with matches, sorted by path.
    pub files: Vec<FileHits>,
    /// The form of the query that these are the matches of (the last one tried when none matched).
    /// [`Engine::search_form`] with it repeats the search without fallbacks.
    pub form: Form,
    /// What was counted during the pass that gave this outcome.
    pub totals: Totals,
    /// What the reader must know about how the query was understood, in order.
    pub notices: Vec<Notice>,
    /// Why matches may be missing; empty when nothing is.
    pub incomplete: Vec<Incomplete>,
}

impl TextHits {
    /// Whether every match in scope was found and kept.
    pub fn is_complete(&self) -> bool {
        self.incomplete.is_empty()
    }
}

/// Counts of one pass over the scope.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Matches found, also those beyond the bounds of what is kept.
    pub matches: u64,
    /// Files with at least one match.
    pub files_matched: u64,
    /// Files that were searched to their end (binary files are not).
    pub files_searched: u64,
    /// Files passed over because they are binary: a NUL byte, or no encoding fits.
    pub binary: u64,
    /// Binary files that were named explicitly, sorted.
    pub binary_named: Vec<PathBuf>,
    /// What the walk did and passed over (hidden, ignored, unreadable, …).
    pub walked: Walked,
}

/// How a query was understood, where that is not plain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The query starts like a search of a kind that is not installed (`unknown:needle`); it was
    /// searched as text, prefix included.
    UnknownPrefix {
        /// The prefix without its colon.
        prefix: String,
    },
    /// Nothing matched literally; the query was tried as a regular expression.
    TriedRegex,
    /// Nothing matched literally; as a regular expression the query is not valid, so that was
    /// not tried.
    SkippedRegex {
        /// What is wrong with it.
        reason: String,
        /// Where, as a 1-based column of the query.
        column: usize,
    },
    /// Nothing matched; lines with any of the words were searched. Hints, not edit targets.
    TriedWords {
        /// The words.
        words: Vec<String>,
    },
}

/// Why matches may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Incomplete {
    /// The time limit was reached; [`Totals`] says how far the search came.
    TimedOut,
    /// More matches than are kept ([`crate::limits::SEARCH_MATCHES`]); all are counted.
    TooManyMatches,
}

/// Why a search gave no outcome.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// The query does not parse.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// A root can't be opened.
    #[error(transparent)]
    Walk(#[from] WalkError),
    /// The caller cancelled.
    #[error(transparent)]
    Cancelled(#[from] anchors::Cancelled),
    /// The scope can't be searched in this way.
    #[error("`{kind}` searches folders and files, not the inside of a result; search text instead")]
    NotInRegions {
        /// The kind of query, with its colon.
        kind: &'static str,
    },
    /// An option is out of its range.
    #[error("`{field}` is {value}, which is not between {least} and {most}")]
    OutOfRange {
        /// The field as clients write it.
        field: &'static str,
        /// What was asked for.
        value: usize,
        /// Smallest value.
        least: usize,
        /// Largest value.
        most: usize,
    },
}

impl SearchError {
    /// The stable code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Query(error) => error.code(),
            Self::Walk(error) => error.code(),
            Self::Cancelled(_) => ErrorCode::Cancelled,
            Self::NotInRegions { .. } => ErrorCode::Unsupported,
            Self::OutOfRange { .. } => ErrorCode::InvalidRequest,
        }
    }
}

/// The engine: one per daemon. Owns the threads and buffers that searches share.
#[derive(Debug)]
pub struct Engine {
    walker: Walker,
    buffers: Arc<content::Buffers>,
}

impl Engine {
    /// An engine that uses all processors, with git's settings from `home`.
    pub fn new(home: GitHome) -> Self {
        Self { walker: Walker::new(home), buffers: Arc::default() }
    }

    /// The walker, for those who need the same idea of what is in a tree.
    pub fn walker(&self) -> &Walker {
        &self.walker
    }

    /// Searches `scope` for `query`, with the fallbacks that the query allows.
    ///
    /// # Errors
    /// [`SearchError`]; reaching the time limit is not one.
    pub fn search(
        &self,
        query: &Query,
        scope: &Scope,
        options: &SearchOptions,
        cancel: &Cancel,
    ) -> Result<Outcome, SearchError> {
        options.check()?;
        let stop = Stop::new(cancel.clone(), options.timeout);
        match query {
            Query::Names(query) => {
                let Scope::Paths(roots) = scope else {
                    return Err(SearchError::NotInRegions { kind: "files:" });
                };
                names::search(&self.walker, query, roots, options, &stop).map(Outcome::Names)
            }
            Query::Text(query) => {
                run::with_fallbacks(self, query, scope, options, &stop).map(Outcome::Text)
            }
        }
    }

    /// Searches `scope` for one form of a query, without fallbacks: how `SEARCH#…:all` repeats a
    /// search.
    ///
    /// # Errors
    /// [`SearchError`]; reaching the time limit is not one.
    pub fn search_form(
        &self,
        form: &Form,
        scope: &Scope,
        options: &SearchOptions,
        cancel: &Cancel,
    ) -> Result<TextHits, SearchError> {
        options.check()?;
        let stop = Stop::new(cancel.clone(), options.timeout);
        run::one_form(self, form, scope, options, &stop)
    }
}

impl SearchOptions {
    fn check(&self) -> Result<(), SearchError> {
        let fields = [
            ("context", self.context, 0, crate::limits::SEARCH_CONTEXT_LINES),
            ("limit", self.limit, 1, crate::limits::SEARCH_LIMIT),
        ];
        for (field, value, least, most) in fields {
            if value < least || value > most {
                return Err(SearchError::OutOfRange { field, value, least, most });
            }
        }
        Ok(())
    }
}

/// `Err` when the caller cancelled; a time-out is part of the outcome instead.
fn check_cancelled(stop: &Stop) -> Result<(), SearchError> {
    match stop.stopped() {
        Some(Stopped::Cancelled) => Err(anchors::Cancelled.into()),
        _ => Ok(()),
    }
}
