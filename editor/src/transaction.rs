//! All-or-nothing changes of whole files: the only code that writes user files.
//!
//! [`Journal::commit`] takes what each file must be before and what it shall be after. Either every
//! file changes or none does, whatever happens: a full disk, another program that writes the same
//! file, `kill -9`, power loss. [`Journal::open`] finishes or undoes what a crash interrupted.
//!
//! # How
//! An ordinary file is never written. Its new content is staged beside it under a hidden name
//! (`.capstan-<transaction>-<n>.tmp`) with its mode, owner and attributes; then the two names are
//! exchanged in one step, and what came out is compared with what should have been there. If
//! somebody else was faster, the exchange is taken back: nothing is lost. A file with several hard
//! links, or whose owner could not be kept, is written in place, with its old and new content in
//! the journal.
//!
//! The record of a transaction reaches the disk before any file is touched. Small transactions put
//! the new contents into it: one fsync makes them durable, a background checkpoint syncs the files
//! later. Large ones sync each staged file and record only hashes. See `journal` for the steps
//! and `recovery` for what a restart does.
//!
//! # What it cannot do
//! A program that holds the old file open and writes to it after the exchange writes to a file that
//! has no name any more, as with every editor that replaces files.

use std::path::PathBuf;
use std::sync::Arc;

use anchors::ContentHash;
use resolvers::host::{FileBytes, Stat};

mod apply;
mod attributes;
mod checkpoint;
mod error;
mod journal;
mod locks;
mod plan;
mod record;
mod recovery;
mod resolve;

pub use error::{Cause, CommitError, Effect, OpenError};
pub use journal::Journal;
pub use recovery::{FileOutcome, Outcome, Recovered};
pub use resolve::resolve;

/// What a file is to be, whole.
#[derive(Clone, Debug)]
pub struct FileChange {
    /// The file. Symbolic links are followed: the target changes, the link stays.
    pub path: PathBuf,
    /// What the file must be for the change to make sense.
    pub before: Before,
    /// What it shall be.
    pub after: Content,
}

/// The state of a file that a plan was made from.
#[derive(Clone, Debug)]
pub enum Before {
    /// There is nothing of that name.
    Absent,
    /// A regular file with this content.
    Present {
        /// The file when it was read.
        stat: Stat,
        /// Its content.
        hash: ContentHash,
        /// Whether an equal stat proves equal content; see [`FileBytes::settled`].
        settled: bool,
    },
}

impl Before {
    /// The state that `read` was taken from; `hash` is that of its bytes.
    pub fn of(read: &FileBytes, hash: ContentHash) -> Self {
        Self::Present { stat: read.stat, hash, settled: read.settled }
    }
}

/// The raw bytes of a file with their hash. Cheap to clone: the bytes are shared, with the planned
/// text as a rule.
#[derive(Clone)]
pub struct Content {
    bytes: Arc<dyn AsRef<[u8]> + Send + Sync>,
    hash: ContentHash,
}

impl Content {
    /// Hashes the bytes.
    pub fn new(bytes: impl AsRef<[u8]> + Send + Sync + 'static) -> Self {
        let hash = ContentHash::of(bytes.as_ref());
        Self { bytes: Arc::new(bytes), hash }
    }

    /// Bytes whose hash is known already, as that of a planned file.
    pub fn hashed(bytes: impl AsRef<[u8]> + Send + Sync + 'static, hash: ContentHash) -> Self {
        debug_assert_eq!(
            hash,
            ContentHash::of(bytes.as_ref()),
            "the hash must be that of the bytes"
        );
        Self { bytes: Arc::new(bytes), hash }
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        (*self.bytes).as_ref()
    }

    /// Their hash.
    pub fn hash(&self) -> ContentHash {
        self.hash
    }

    fn len(&self) -> u64 {
        self.bytes().len() as u64
    }
}

impl std::fmt::Debug for Content {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Content({} bytes)", self.bytes().len()) // never file content in logs
    }
}

/// A transaction that was applied and survives power loss.
#[derive(Clone, Debug)]
pub struct Committed {
    /// The files, in the order of the changes.
    pub files: Vec<Written>,
}

/// One file that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// Where it really is, links resolved.
    pub path: PathBuf,
    /// What it is now; `None` if it could not be looked at any more.
    pub stat: Option<Stat>,
    /// Whether there was no such file before.
    pub created: bool,
}

#[cfg(test)]
mod fault;
#[cfg(test)]
mod tests;
