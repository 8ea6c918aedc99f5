//! Why a commit did not happen, and what state each file is in.

use std::io;
use std::path::{Path, PathBuf};

use anchors::{Cancelled, ErrorCode};
use resolvers::host::{Kind, is_link_loop};
use rustix::io::Errno;

/// What happened to one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It has its new content.
    Applied,
    /// It is as it was.
    NotApplied,
    /// It could be neither; the next [`super::Journal::open`] tries again to put it back.
    Unknown,
}

/// A commit that failed.
#[derive(Debug, thiserror::Error)]
#[error("{cause}")]
pub struct CommitError {
    /// The first thing that went wrong.
    #[source]
    pub cause: Cause,
    /// The state of every file, in the order of the changes.
    pub effects: Vec<(PathBuf, Effect)>,
}

impl CommitError {
    /// The stable code.
    pub fn code(&self) -> ErrorCode {
        let unknown = self.effects.iter().any(|(_, effect)| *effect == Effect::Unknown);
        if unknown { ErrorCode::WriteFailed } else { self.cause.code() }
    }
}

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum Cause {
    /// The file is read-only.
    #[error("`{}` is read-only; make it writable first", path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// The folder or its file system is read-only.
    #[error("the folder `{}` is read-only; make it writable first", path.display())]
    ReadOnlyFolder {
        /// The folder.
        path: PathBuf,
    },
    /// The file is not what the plan was made from.
    #[error("`{}` was changed by somebody else since it was read; read it again", path.display())]
    FileChanged {
        /// The file.
        path: PathBuf,
    },
    /// The disk or a quota is full.
    #[error("there is no space left on the disk or in the quota for `{}`", path.display())]
    NoSpace {
        /// The file that did not fit.
        path: PathBuf,
    },
    /// The path names something without content that could be replaced.
    #[error("`{}` is a {kind}, not a regular file", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
        /// What is there.
        kind: Kind,
    },
    /// A part of the path is no folder.
    #[error("`{}` cannot be created: a part of its path is not a folder", path.display())]
    NotAFolder {
        /// The path.
        path: PathBuf,
    },
    /// The path's symbolic links lead nowhere.
    #[error("`{}` runs in a loop of symbolic links", path.display())]
    LinkLoop {
        /// The path.
        path: PathBuf,
    },
    /// The operating system refused.
    #[error("{action} `{}` is not permitted: {error}", path.display())]
    PermissionDenied {
        /// The file or folder.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// What the operating system said.
        #[source]
        error: io::Error,
    },
    /// Two changes of one transaction are for the same file.
    #[error("`{}` and `{}` are one file under two names; leave one out", first.display(), second.display())]
    SameFile {
        /// One name.
        first: PathBuf,
        /// The other name.
        second: PathBuf,
    },
    /// The transaction exceeds a bound.
    #[error("the transaction has {got} {unit}, more than the {max} that are committed at once")]
    TooLarge {
        /// How many there are.
        got: u64,
        /// How many are allowed.
        max: u64,
        /// Of what.
        unit: &'static str,
    },
    /// The call was cancelled before any file was changed.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// The journal was closed.
    #[error("the journal is closed; no file was changed")]
    Closed,
    /// The operating system failed.
    #[error("{action} `{}` failed: {error}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// What the operating system said.
        #[source]
        error: io::Error,
    },
}

impl Cause {
    /// The stable code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::ReadOnly { .. } | Self::ReadOnlyFolder { .. } => ErrorCode::ReadOnly,
            Self::FileChanged { .. } => ErrorCode::FileChanged,
            Self::NoSpace { .. } => ErrorCode::NoSpace,
            Self::NotAFile { .. } | Self::NotAFolder { .. } => ErrorCode::NotAFile,
            Self::LinkLoop { .. } => ErrorCode::LinkLoop,
            Self::PermissionDenied { .. } => ErrorCode::PermissionDenied,
            Self::SameFile { .. } => ErrorCode::OverlappingEdits,
            Self::TooLarge { .. } => ErrorCode::LimitExceeded,
            Self::Cancelled(_) => ErrorCode::Cancelled,
            Self::Closed => ErrorCode::ShuttingDown,
            Self::Io { .. } => ErrorCode::WriteFailed,
        }
    }

    /// Sorts the operating system's `error` while doing `action` to `path`.
    pub(super) fn io(action: &'static str, path: &Path, error: io::Error) -> Self {
        let path = path.to_owned();
        match error.kind() {
            _ if is_link_loop(&error) => Self::LinkLoop { path },
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::NoSpace { path },
            io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnlyFolder { path },
            io::ErrorKind::NotADirectory => Self::NotAFolder { path },
            io::ErrorKind::PermissionDenied => Self::PermissionDenied { path, action, error },
            _ => Self::Io { path, action, error },
        }
    }

    /// As [`Cause::io`], for a path that was there a moment ago: its absence is a change.
    pub(super) fn known(action: &'static str, path: &Path, error: io::Error) -> Self {
        let gone = [Errno::NOENT, Errno::NOTDIR, Errno::LOOP, Errno::EXIST];
        if gone.iter().any(|gone| error.raw_os_error() == Some(gone.raw_os_error())) {
            return Self::FileChanged { path: path.to_owned() };
        }
        Self::io(action, path, error)
    }
}

/// Why a journal can't be used.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process (or another journal of this one) uses the folder.
    #[error("the journal in `{}` is in use by another daemon", path.display())]
    InUse {
        /// The journal's folder.
        path: PathBuf,
    },
    /// The operating system refused or failed.
    #[error("{action} the journal in `{}` failed: {error}", path.display())]
    Io {
        /// The journal's folder.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// What the operating system said.
        #[source]
        error: io::Error,
    },
}

impl OpenError {
    /// The stable code.
    pub fn code(&self) -> ErrorCode {
        ErrorCode::WriteFailed
    }
}
