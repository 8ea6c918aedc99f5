//! The parallel walk over a tree: every file that counts, no file that does not, and a tally of
//! what was passed over.
//!
//! Searching, finding names and (later) indexing all stand on this one walk, so that they agree
//! on what is "in" a tree. It promises:
//!
//! - `.gitignore` and its kin count as git counts them, `.ignore` and `.rgignore` as ripgrep does;
//! - what is named explicitly is walked, hidden or ignored as it may be, and no rule or name above
//!   it can veto that;
//! - links are not followed, devices, FIFOs and sockets are not opened, nothing in a `.git` folder
//!   is touched (unless the root lies in one);
//! - what is passed over is counted, so that "not looked at" never reads as "does not exist".
//!
//! One `openat` and one listing per folder, no status call per file. The walk is a type parameter
//! away from its use ([`Visit`]), so a file is handled right where its folder was listed.

mod entry;
mod git;
mod glob;
mod globs;
mod job;
mod level;
mod os;
mod pool;
mod rules;
mod stop;
#[cfg(test)]
pub(crate) mod tests;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anchors::ErrorCode;

pub use entry::FileEntry;
pub use globs::{GlobError, Globs};
pub use os::GitHome;
pub use stop::{Stop, Stopped};

pub(crate) use os::{open as open_named, path_of as as_path, stat as stat_file};

/// What to walk.
#[derive(Clone, Debug, Default)]
pub struct WalkOptions {
    /// Include names that start with a dot. `.git` stays out.
    pub hidden: bool,
    /// Include what ignore files hide.
    pub ignored: bool,
    /// Which files are wanted at all, relative to each root.
    pub globs: Globs,
}

/// What a walk passed over. Folders count as one each; what is in them is not known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Passed {
    /// Files and folders whose name starts with a dot.
    pub hidden: u64,
    /// Files that an ignore file hides.
    pub ignored_files: u64,
    /// Folders that an ignore file hides.
    pub ignored_folders: u64,
    /// Files and folders that `include` or `exclude` leave out.
    pub excluded: u64,
    /// Symbolic links.
    pub links: u64,
    /// Devices, FIFOs and sockets.
    pub special: u64,
    /// Files and folders that could not be read.
    pub unreadable: u64,
    /// The first few of the unreadable, with the reason, sorted by path.
    pub unreadable_named: Vec<Unreadable>,
}

/// A file or folder that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unreadable {
    /// Its path, below the root as the root was named.
    pub path: PathBuf,
    /// The operating system's reason.
    pub reason: String,
}

impl Passed {
    /// How many unreadable entries are named.
    const NAMED: usize = 5;

    /// Notes that `path` could not be read.
    pub fn unreadable(&mut self, path: PathBuf, error: &io::Error) {
        self.unreadable += 1;
        if self.unreadable_named.len() < Self::NAMED {
            self.unreadable_named.push(Unreadable { path, reason: reason(error) });
        }
    }

    /// Adds the tally of another part of the walk.
    pub fn add(&mut self, other: Self) {
        self.hidden += other.hidden;
        self.ignored_files += other.ignored_files;
        self.ignored_folders += other.ignored_folders;
        self.excluded += other.excluded;
        self.links += other.links;
        self.special += other.special;
        self.unreadable += other.unreadable;
        self.unreadable_named.extend(other.unreadable_named);
        self.unreadable_named.sort();
        self.unreadable_named.truncate(Self::NAMED);
    }
}

/// The reason in an error of the operating system, without its number.
fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_lowercase()
}

/// What a walk did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Walked {
    /// Files that were visited.
    pub files: u64,
    /// Folders that were listed.
    pub folders: u64,
    /// What was passed over.
    pub passed: Passed,
    /// Set when the walk ended early; the numbers then say how far it came.
    pub stopped: Option<Stopped>,
}

/// What to do with the files of a walk. Called from several threads at once.
pub trait Visit: Send + Sync + 'static {
    /// What one thread gathers.
    type Local: Send;

    /// A thread joins the walk.
    fn enter(&self) -> Self::Local;
    /// A file that counts. Errors are the visitor's to report.
    fn file(&self, local: &mut Self::Local, file: &FileEntry<'_>);
    /// A thread leaves the walk (it may join again): merge what it gathered.
    fn leave(&self, local: Self::Local);
}

/// Why a walk could not start.
#[derive(Debug, thiserror::Error)]
pub enum WalkError {
    /// A root does not exist or can't be opened.
    #[error("cannot open `{}`: {}", path.display(), reason(source))]
    Root {
        /// The root as it was named.
        path: PathBuf,
        /// The operating system's reason.
        source: io::Error,
    },
    /// A root is neither a file nor a folder.
    #[error("`{}` is a device, FIFO or socket, which can't be searched", path.display())]
    Special {
        /// The root as it was named.
        path: PathBuf,
    },
}

impl WalkError {
    /// The stable code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Root { source, .. } => match source.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => ErrorCode::NotFound,
                io::ErrorKind::PermissionDenied => ErrorCode::PermissionDenied,
                _ => ErrorCode::ReadFailed,
            },
            Self::Special { .. } => ErrorCode::NotAFile,
        }
    }
}

/// The walker: a pool of threads that lives as long as this, and git's settings.
///
/// ```no_run
/// # use resolvers::walk::*;
/// # struct Names;
/// # impl Visit for Names {
/// #     type Local = Vec<std::path::PathBuf>;
/// #     fn enter(&self) -> Self::Local { Vec::new() }
/// #     fn file(&self, local: &mut Self::Local, file: &FileEntry<'_>) { local.push(file.path()); }
/// #     fn leave(&self, _: Self::Local) {}
/// # }
/// let walker = Walker::new(GitHome::of_process());
/// let roots = ["/srv/project".into()];
/// let stop = Stop::new(anchors::Cancel::new(), None);
/// let walked = walker.walk(&roots, &WalkOptions::default(), &stop, &std::sync::Arc::new(Names))?;
/// assert!(walked.stopped.is_none());
/// # Ok::<(), WalkError>(())
/// ```
#[derive(Debug)]
pub struct Walker {
    pool: pool::Pool,
    home: Arc<GitHome>,
}

impl Walker {
    /// A walker that uses as many threads as the machine has processors. They start with the first
    /// walk and then stay.
    pub fn new(home: GitHome) -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Self::with_threads(home, threads)
    }

    /// A walker with `threads` threads per walk, the caller's included.
    pub fn with_threads(home: GitHome, threads: usize) -> Self {
        Self { pool: pool::Pool::new(threads), home: Arc::new(home) }
    }

    /// Walks `roots` (absolute paths of files or folders) and visits every file that counts,
    /// in no particular order. A root that is named twice is walked twice.
    ///
    /// # Errors
    /// [`WalkError`] when a root can't be opened; nothing was visited then.
    pub fn walk<V: Visit>(
        &self,
        roots: &[PathBuf],
        options: &WalkOptions,
        stop: &Stop,
        visit: &Arc<V>,
    ) -> Result<Walked, WalkError> {
        job::walk(&self.pool, &self.home, &job::Plan { roots, options, stop }, visit)
    }

    /// A walk that only counts and collects paths: what `files:` and the tests use.
    ///
    /// # Errors
    /// [`WalkError`] when a root can't be opened.
    pub fn paths(
        &self,
        roots: &[PathBuf],
        options: &WalkOptions,
        stop: &Stop,
    ) -> Result<(Vec<PathBuf>, Walked), WalkError> {
        let visit = Arc::new(entry::Paths::default());
        let walked = self.walk(roots, options, stop, &visit)?;
        Ok((visit.take(), walked))
    }
}

/// `root` joined with the bytes of a path below it.
fn below(root: &Path, relative: &[u8]) -> PathBuf {
    if relative.is_empty() { root.to_owned() } else { root.join(os::path_of(relative)) }
}
