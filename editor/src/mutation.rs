//! What a tool asks for: text edits whose targets are resolved to ranges already.
//!
//! A mutation holds no rule. What its text becomes in a document (line endings, lines of its own,
//! the last line) is worked out by [`crate::Plan`].

use std::path::PathBuf;
use std::sync::Arc;

use anchors::{ContentHash, Range, Rebased, Snapshot, SourceId};

/// One edit of one or more files: one tool call.
#[derive(Clone, Debug)]
pub enum Mutation {
    /// The whole content of one file, new or existing.
    Write(Write),
    /// Other text in place of every range.
    Replace(Replace),
    /// Text before or after every range.
    Insert(Insert),
    /// Nothing in place of every range; the file stays, even when it ends up empty.
    Delete(Delete),
}

/// A file as whole.
#[derive(Clone, Debug)]
pub struct Write {
    /// Identity of the file, existing or to be.
    pub source: SourceId,
    /// Where it is.
    pub path: PathBuf,
    /// What is there now.
    pub before: Original,
    /// What shall be there; kept as it is, line endings included.
    pub text: String,
}

/// Replacement of ranges.
#[derive(Clone, Debug)]
pub struct Replace {
    /// The files and ranges.
    pub targets: Vec<Target>,
    /// What takes the place of each range. Empty text deletes.
    pub text: String,
}

/// Insertion beside ranges.
#[derive(Clone, Debug)]
pub struct Insert {
    /// The files and ranges.
    pub targets: Vec<Target>,
    /// What is inserted at each range.
    pub text: String,
    /// On which side of each range.
    pub side: Side,
    /// What stands between the text and its neighbours. Matters for whole lines only.
    pub separation: Separation,
}

/// Deletion of ranges.
#[derive(Clone, Debug)]
pub struct Delete {
    /// The files and ranges.
    pub targets: Vec<Target>,
}

/// Where an insertion goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Side {
    /// Before the range.
    Before,
    /// After the range.
    #[default]
    After,
}

/// What an insertion at whole lines guarantees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Separation {
    /// The text has lines of its own.
    #[default]
    Line,
    /// And a blank line on each side where there is neighbouring text.
    BlankLine,
}

/// The ranges of one file that a mutation is about.
#[derive(Clone, Debug)]
pub struct Target {
    /// Identity of the file; two spellings of one file have the same.
    pub source: SourceId,
    /// Where it is.
    pub path: PathBuf,
    /// The text that `ranges` are offsets into.
    pub snapshot: Arc<Snapshot>,
    /// The ranges; order and duplicates do not matter.
    pub ranges: Vec<Range>,
    /// Set when the anchored lines had moved since they were shown.
    pub rebased: Option<Rebased>,
}

/// What is at a path before an edit.
#[derive(Clone, Debug)]
pub enum Original {
    /// Nothing.
    Missing,
    /// A text file.
    Text(Arc<Snapshot>),
    /// A file that is not text: it can be overwritten whole, not edited.
    Binary {
        /// Identity of its bytes.
        hash: ContentHash,
        /// Its size in bytes.
        bytes: u64,
    },
}

impl Original {
    /// The text, if there is any.
    pub fn snapshot(&self) -> Option<&Arc<Snapshot>> {
        match self {
            Self::Text(snapshot) => Some(snapshot),
            Self::Missing | Self::Binary { .. } => None,
        }
    }

    /// Identity of the bytes; `None` when there is no file.
    pub fn hash(&self) -> Option<ContentHash> {
        match self {
            Self::Missing => None,
            Self::Text(snapshot) => Some(snapshot.hash()),
            Self::Binary { hash, .. } => Some(*hash),
        }
    }

    /// The text, empty when there is none.
    pub(crate) fn text(&self) -> &str {
        self.snapshot().map_or("", |snapshot| snapshot.text())
    }
}

impl Mutation {
    /// The tool's name.
    pub fn verb(&self) -> &'static str {
        match self {
            Self::Write(_) => "write",
            Self::Replace(_) => "replace",
            Self::Insert(_) => "insert",
            Self::Delete(_) => "delete",
        }
    }

    /// The text that comes from the caller; `None` for a deletion.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Write(Write { text, .. })
            | Self::Replace(Replace { text, .. })
            | Self::Insert(Insert { text, .. }) => Some(text),
            Self::Delete(_) => None,
        }
    }

    /// The ranges that are edited; empty for a write.
    pub fn targets(&self) -> &[Target] {
        match self {
            Self::Write(_) => &[],
            Self::Replace(Replace { targets, .. })
            | Self::Insert(Insert { targets, .. })
            | Self::Delete(Delete { targets }) => targets,
        }
    }
}
