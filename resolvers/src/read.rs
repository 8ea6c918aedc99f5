//! The read core: from a source to bounded, readable text and the selection behind it.
//!
//! What is shown may be cut to the bound of a result; what is selected is not: a shortened read
//! still stands for the whole range that was asked for. Reads never hang and never guess: devices
//! and pipes are refused, binary files are described.

use std::path::Path;
use std::sync::Arc;

use anchors::{
    AnchorError, Cancel, Cancelled, ErrorCode, Range, Salt, Selection, Snapshot, SourceId,
};

use crate::cache::SnapshotCache;
use crate::host::{self, Host};
use crate::source::SourceError;
use crate::temp::TempStore;

pub mod window;

pub use window::{Page, View};

/// What to read.
#[derive(Clone, Debug, Default)]
pub struct ReadRequest {
    /// The first line, 1-based; 0 is the first as well; negative from the end. Bytes for `raw:`.
    pub offset: Option<i64>,
    /// How many lines (bytes for `raw:`).
    pub limit: Option<u64>,
    /// Names of views.
    pub views: Vec<String>,
}

/// What a read gives.
#[derive(Clone, Debug, Default)]
pub struct ReadOutput {
    /// The useful text; ends in a line break unless it is empty.
    pub text: String,
    /// What the reader must know, to be shown in brackets after the text.
    pub notices: Vec<String>,
    /// What the result stands for, when that can be read again or edited.
    pub selection: Option<Selection>,
    /// Lines that were shown, for the ledger.
    pub shown: Option<Shown>,
}

/// Lines of a snapshot that a read showed.
#[derive(Clone, Debug)]
pub struct Shown {
    /// The source.
    pub source: SourceId,
    /// Its text.
    pub snapshot: Arc<Snapshot>,
    /// First and last line, 1-based, inclusive; first > last when none.
    pub lines: (usize, usize),
    /// Whether the lines were shown with their anchors.
    pub anchored: bool,
}

/// Finds the lines (first and last, 1-based) that an anchor names in a file's current text.
pub type FindAnchor<'a> =
    dyn Fn(&Path, &Arc<Snapshot>, &str) -> Result<(usize, usize), AnchorError> + 'a;

/// What a read may use.
pub struct ReadContext<'a, H> {
    /// The machine.
    pub host: &'a H,
    /// The workspace root; relative sources start here.
    pub root: &'a Path,
    /// Decoded files.
    pub cache: &'a SnapshotCache,
    /// Texts that were cut.
    pub temp: &'a TempStore,
    /// The salt for the anchors of a text, as the session counts its revisions.
    pub salt_of: &'a dyn Fn(&SourceId, &Arc<Snapshot>) -> Salt,
    /// Resolves `path#anchor`.
    pub find_anchor: &'a FindAnchor<'a>,
    /// Stops the read.
    pub cancel: &'a Cancel,
}

/// Recognises sources and reads them.
pub trait ReadResolver<H: Host>: Send + Sync {
    /// Stable id, for switching it off.
    fn id(&self) -> &'static str;

    /// Reads `source`; `None` when it is not of this kind.
    ///
    /// # Errors
    /// [`ReadError`]: it is of this kind, and could not be read. Nobody else is asked.
    fn read(
        &self,
        source: &str,
        request: &ReadRequest,
        context: &ReadContext<'_, H>,
    ) -> Option<Result<ReadOutput, ReadError>>;
}

/// The read resolvers, in the order in which they are asked.
pub struct ReadRegistry<H> {
    resolvers: Vec<Box<dyn ReadResolver<H>>>,
}

impl<H: Host> ReadRegistry<H> {
    /// A registry of these.
    pub fn new(resolvers: Vec<Box<dyn ReadResolver<H>>>) -> Self {
        Self { resolvers }
    }

    /// Reads a source with the first resolver that knows it. One that is off, by `is_on`, still
    /// owns its sources.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn read(
        &self,
        source: &str,
        request: &ReadRequest,
        context: &ReadContext<'_, H>,
        is_on: &dyn Fn(&str) -> bool,
    ) -> Result<ReadOutput, ReadError> {
        for resolver in &self.resolvers {
            if let Some(result) = resolver.read(source, request, context) {
                return if is_on(resolver.id()) {
                    result
                } else {
                    Err(ReadError::Disabled { id: resolver.id() })
                };
            }
        }
        Err(SourceError::NotFound { near: Vec::new() }.into())
    }
}

/// Why a read gave nothing.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The source names nothing.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The host failed.
    #[error(transparent)]
    Host(host::ReadError),
    /// The anchor behind `#` selects nothing.
    #[error("{error}")]
    Anchor {
        /// Why.
        error: AnchorError,
        /// The source.
        source_id: SourceId,
        /// Its text.
        snapshot: Arc<Snapshot>,
    },
    /// The offset lies behind the end.
    #[error("offset {offset} is beyond the end: there are {count} {unit}")]
    BeyondEnd {
        /// What was asked for.
        offset: i64,
        /// How many there are.
        count: u64,
        /// Of what.
        unit: &'static str,
    },
    /// A view that does not apply to the source.
    #[error("{what} takes no views")]
    NoViews {
        /// The kind of source.
        what: &'static str,
    },
    /// A range on something that has no lines.
    #[error("{what} has no lines; leave out offset and limit")]
    NoRange {
        /// The kind of source.
        what: &'static str,
    },
    /// The resolver's module is off.
    #[error("`{id}` is switched off; see [modules] in the configuration")]
    Disabled {
        /// The module.
        id: &'static str,
    },
    /// A continuation that is not there any more.
    #[error("`temp:{0}` has expired or never was; read the source again")]
    NoTemp(String),
    /// A guide that does not exist.
    #[error("there is no guide `{0}`; read `docs:` for the list")]
    NoGuide(String),
    /// The call was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

impl From<host::ReadError> for ReadError {
    fn from(error: host::ReadError) -> Self {
        match error {
            host::ReadError::Cancelled(cancelled) => Self::Cancelled(cancelled),
            error => Self::Host(error),
        }
    }
}

impl ReadError {
    /// The stable code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Source(error) => error.code(),
            Self::Host(error) => error.code(),
            Self::Anchor { error, .. } => error.code(),
            Self::BeyondEnd { .. } | Self::NoRange { .. } => ErrorCode::UnsupportedRange,
            Self::NoViews { .. } => ErrorCode::UnsupportedView,
            Self::Disabled { .. } => ErrorCode::ModuleDisabled,
            Self::NoTemp(_) => ErrorCode::ExpiredReference,
            Self::NoGuide(_) => ErrorCode::NotFound,
            Self::Cancelled(_) => ErrorCode::Cancelled,
        }
    }
}

impl<H> ReadContext<'_, H> {
    /// How the lines of `snapshot` are shown in `view`.
    pub(crate) fn page<'a>(
        &'a self,
        source: &SourceId,
        snapshot: &'a Arc<Snapshot>,
        view: View,
    ) -> Page<'a> {
        let salt = match view {
            View::Anchors => (self.salt_of)(source, snapshot),
            View::Plain | View::Lines => Salt::default(),
        };
        Page { snapshot, view, salt, cancel: self.cancel }
    }
}

/// The selection of lines `first..=last`; a point when there are none.
pub(crate) fn select_lines(
    source: &SourceId,
    snapshot: &Snapshot,
    first: usize,
    last: usize,
) -> Selection {
    let range = match snapshot.line_span(first, last) {
        Some(span) if first <= last => Range::lines(span),
        _ => Range::exact(snapshot.line(first).map_or_else(
            || anchors::Span::point(snapshot.text().len()),
            |line| anchors::Span::point(line.full.start),
        )),
    };
    Selection::one(source.clone(), snapshot.hash(), vec![range])
}
