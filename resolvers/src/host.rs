//! The host seam: the one door to files, the clock and the environment.
//!
//! Everything above reads through [`Host`] and only the editor writes through [`HostWrite`], so
//! that policy, remote targets and tests replace one trait. [`LocalHost`] is this machine: a
//! zero-sized type, monomorphic on hot paths. What is Linux-only stays behind this seam, each with
//! a portable fallback.
//!
//! Reads never hang: whatever is not a regular file is refused before a byte is read.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anchors::Cancel;

mod local;
mod read;
mod stat;
mod write;

pub use local::LocalHost;
pub use read::{FileBytes, OpenFile, ReadError, ReadSeek};
pub use stat::{Kind, Stat};
pub use write::HostWrite;

/// What reads, searches and plans need of a machine. Synchronous and object-safe.
///
/// Paths are absolute or relative to the daemon's working folder; the callers above always pass
/// absolute ones.
pub trait Host: Send + Sync + 'static {
    /// What `path` is, symbolic links followed.
    ///
    /// # Errors
    /// What the operating system says; a loop of links is `ELOOP` ([`is_link_loop`]).
    fn stat(&self, path: &Path) -> io::Result<Stat>;

    /// What `path` itself is, a final symbolic link not followed.
    ///
    /// # Errors
    /// What the operating system says.
    fn lstat(&self, path: &Path) -> io::Result<Stat>;

    /// The absolute path of an existing object without symbolic links, `.` and `..`.
    ///
    /// # Errors
    /// What the operating system says.
    fn realpath(&self, path: &Path) -> io::Result<PathBuf>;

    /// Opens a regular file for reading, links followed. Checks before opening, so that a device
    /// is not even opened.
    ///
    /// # Errors
    /// [`ReadError::NotAFile`] for anything but a regular file.
    fn open(&self, path: &Path) -> Result<OpenFile, ReadError>;

    /// Replaces the content of `buffer` with that of the file: the hot path of searches, for
    /// callers that know from a directory entry that `path` is a regular file. Still refuses
    /// others, but only after opening them (without blocking).
    ///
    /// # Errors
    /// As [`Host::read`]. The buffer's content is unspecified after an error.
    fn read_into(
        &self,
        path: &Path,
        buffer: &mut Vec<u8>,
        max_bytes: u64,
        cancel: &Cancel,
    ) -> Result<Stat, ReadError>;

    /// The whole content of a regular file of at most `max_bytes`, links followed. A file that
    /// keeps changing while it is read comes back unsettled ([`FileBytes::settled`]).
    ///
    /// # Errors
    /// [`ReadError`]; nothing partial is returned.
    fn read(&self, path: &Path, max_bytes: u64, cancel: &Cancel) -> Result<FileBytes, ReadError>;

    /// At most `len` bytes from byte `start` (0-based) on; fewer only at the end of the file.
    /// Callers bound `len`.
    ///
    /// # Errors
    /// [`ReadError`], but never `TooLarge`.
    fn read_range(
        &self,
        path: &Path,
        start: u64,
        len: u64,
        cancel: &Cancel,
    ) -> Result<FileBytes, ReadError>;

    /// The entries of a directory in the operating system's order, without `.` and `..`; stops
    /// after `max_entries` and says so.
    ///
    /// # Errors
    /// [`ReadError::Io`], [`ReadError::Cancelled`].
    fn read_dir(
        &self,
        path: &Path,
        max_entries: usize,
        cancel: &Cancel,
    ) -> Result<Listing, ReadError>;

    /// The text of a symbolic link.
    ///
    /// # Errors
    /// What the operating system says.
    fn read_link(&self, path: &Path) -> io::Result<PathBuf>;

    /// Whether this process may write to `path`, by access(2) with its effective ids.
    ///
    /// # Errors
    /// `EACCES`, `EROFS` and the like when it may not.
    fn check_writable(&self, path: &Path) -> io::Result<()>;

    /// Whether something is mounted on `path` itself, as on a single file that a container binds.
    /// Nothing can be renamed over it. False where the system does not tell.
    fn is_mount_point(&self, path: &Path) -> bool;

    /// An environment variable of this process.
    fn env(&self, name: &OsStr) -> Option<OsString>;

    /// The user's home folder, absolute.
    fn home_dir(&self) -> Option<PathBuf>;

    /// The wall clock, comparable to time stamps of files.
    fn now(&self) -> SystemTime;

    /// The effective user id.
    fn uid(&self) -> u32;

    /// A value that changes whenever the machine restarts; `None` where there is no such thing.
    /// Equal values prove that no power loss lay between.
    fn boot_id(&self) -> Option<u128>;
}

/// The entries of one directory.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// The entries, unsorted.
    pub entries: Vec<DirEntry>,
    /// Whether these are all of them.
    pub complete: bool,
}

/// One entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirEntry {
    /// Its name, any bytes but `/` and NUL.
    pub name: OsString,
    /// What it is; a symbolic link is not followed.
    pub kind: Kind,
}

/// Whether the error says that a path runs in a loop of symbolic links.
pub fn is_link_loop(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}
