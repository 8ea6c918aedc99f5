//! What reading returns, and how it fails.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use anchors::{Cancelled, ErrorCode};

use super::stat::{Kind, Stat};

/// Bytes of a file together with the revision that they belong to.
#[derive(Clone, Debug)]
pub struct FileBytes {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The file, taken before the bytes were read.
    pub stat: Stat,
    /// Whether an unchanged `stat` later proves unchanged content. When false the file changed
    /// while it was read, or so recently that its next change might not show: compare content.
    pub settled: bool,
}

/// A regular file that is open for reading.
pub struct OpenFile {
    /// The file as it was when it was opened.
    pub stat: Stat,
    /// Its bytes.
    pub reader: Box<dyn ReadSeek>,
}

impl fmt::Debug for OpenFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenFile").field("stat", &self.stat).finish_non_exhaustive()
    }
}

/// A reader that can move.
pub trait ReadSeek: io::Read + io::Seek + Send {}

impl<T: io::Read + io::Seek + Send> ReadSeek for T {}

/// Why nothing was read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// There is an object, but it has no content that could be read without side effects.
    #[error("`{}` is a {kind}, not a regular file", path.display())]
    NotAFile {
        /// The path that was asked for.
        path: PathBuf,
        /// What is there.
        kind: Kind,
    },
    /// The file is larger than the caller's bound.
    #[error("`{}` has {size} bytes, more than the {max} that are read at once", path.display())]
    TooLarge {
        /// The path that was asked for.
        path: PathBuf,
        /// Its size in bytes, at least.
        size: u64,
        /// The bound in bytes.
        max: u64,
    },
    /// The call was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// The operating system refused or failed.
    #[error("`{}` cannot be read: {error}", path.display())]
    Io {
        /// The path that was asked for.
        path: PathBuf,
        /// What the operating system said.
        #[source]
        error: io::Error,
    },
}

impl ReadError {
    /// The operating system's `error` while reading `path`.
    pub fn io(path: &Path, error: impl Into<io::Error>) -> Self {
        Self::Io { path: path.to_owned(), error: error.into() }
    }

    /// The stable code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::NotAFile { .. } => ErrorCode::NotAFile,
            Self::TooLarge { .. } => ErrorCode::LimitExceeded,
            Self::Cancelled(_) => ErrorCode::Cancelled,
            Self::Io { error, .. } => match error.kind() {
                _ if super::is_link_loop(error) => ErrorCode::LinkLoop,
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => ErrorCode::NotFound,
                io::ErrorKind::PermissionDenied => ErrorCode::PermissionDenied,
                _ => ErrorCode::ReadFailed,
            },
        }
    }
}
