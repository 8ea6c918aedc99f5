//! The writing half of the seam, for the editor alone.
//!
//! Names are always relative to an open folder, so that a folder that somebody swaps for a
//! symbolic link after it was checked can't redirect a write.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use super::{Host, Stat};

/// What the editor needs to change files. Every method is one step that can fail on its own; the
/// editor's journal makes whole changes of them.
pub trait HostWrite: Host {
    /// An open folder. Closed when dropped.
    type Dir: Send + Sync;
    /// An open regular file. Closed when dropped; a lock on it goes with it.
    type File: Send + Sync;

    /// Opens a folder; no part of `path` may be a symbolic link.
    ///
    /// # Errors
    /// `ELOOP` or `ENOTDIR` when a part of the path is a link.
    fn open_dir(&self, path: &Path) -> io::Result<Self::Dir>;

    /// What `name` in the folder is, not followed.
    ///
    /// # Errors
    /// What the operating system says.
    fn stat_in(&self, dir: &Self::Dir, name: &OsStr) -> io::Result<Stat>;

    /// What the open file is.
    ///
    /// # Errors
    /// What the operating system says.
    fn stat_file(&self, file: &Self::File) -> io::Result<Stat>;

    /// Creates a regular file that did not exist; `mode` is subject to the umask.
    ///
    /// # Errors
    /// `EEXIST` when there is anything of that name, a dangling link included.
    fn create_new(&self, dir: &Self::Dir, name: &OsStr, mode: u32) -> io::Result<Self::File>;

    /// Opens a regular file for reading, and writing if asked; never follows a link, never blocks.
    ///
    /// # Errors
    /// `ELOOP` for a link, `EINVAL` for anything else that is not a regular file.
    fn open_in(&self, dir: &Self::Dir, name: &OsStr, write: bool) -> io::Result<Self::File>;

    /// Writes all of `bytes` at byte `offset`.
    ///
    /// # Errors
    /// What the operating system says; a part may have been written.
    fn write_at(&self, file: &Self::File, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Adds `bytes` at the end of the regular file `name`, wherever that is by then: what others
    /// add at the same moment is not overwritten.
    ///
    /// # Errors
    /// As [`HostWrite::open_in`] and [`HostWrite::write_at`].
    fn append_in(&self, dir: &Self::Dir, name: &OsStr, bytes: &[u8]) -> io::Result<()>;

    /// Reads up to `buffer.len()` bytes at byte `offset`; 0 only at the end.
    ///
    /// # Errors
    /// What the operating system says.
    fn read_at(&self, file: &Self::File, offset: u64, buffer: &mut [u8]) -> io::Result<usize>;

    /// Sets the length in bytes.
    ///
    /// # Errors
    /// What the operating system says.
    fn truncate(&self, file: &Self::File, len: u64) -> io::Result<()>;

    /// Reserves disk space for the first `len` bytes, so that writing them can't run out of it.
    /// Grows the file to `len` if it is shorter. Where the file system has no such call, nothing
    /// happens.
    ///
    /// # Errors
    /// `ENOSPC`, `EDQUOT`.
    fn reserve(&self, file: &Self::File, len: u64) -> io::Result<()>;

    /// Makes content and metadata of the file survive power loss.
    ///
    /// # Errors
    /// What the operating system says.
    fn sync_file(&self, file: &Self::File) -> io::Result<()>;

    /// Makes the names in the folder survive power loss.
    ///
    /// # Errors
    /// What the operating system says.
    fn sync_dir(&self, dir: &Self::Dir) -> io::Result<()>;

    /// Sets the permission bits (`0o7777`), the umask notwithstanding.
    ///
    /// # Errors
    /// What the operating system says.
    fn set_mode(&self, file: &Self::File, mode: u32) -> io::Result<()>;

    /// Sets owner, group or both.
    ///
    /// # Errors
    /// `EPERM` mostly.
    fn set_owner(&self, file: &Self::File, uid: Option<u32>, gid: Option<u32>) -> io::Result<()>;

    /// All extended attributes (access control lists among them) of the object at `path`, not
    /// followed. Empty where there are none or the file system knows none.
    ///
    /// # Errors
    /// What the operating system says.
    fn xattrs(&self, path: &Path) -> io::Result<Vec<(Vec<u8>, Vec<u8>)>>;

    /// Sets one extended attribute.
    ///
    /// # Errors
    /// What the operating system says.
    fn set_xattr(&self, file: &Self::File, name: &[u8], value: &[u8]) -> io::Result<()>;

    /// Names of the extended attributes of an open file.
    ///
    /// # Errors
    /// What the operating system says.
    fn xattr_names(&self, file: &Self::File) -> io::Result<Vec<Vec<u8>>>;

    /// Removes one extended attribute.
    ///
    /// # Errors
    /// What the operating system says.
    fn remove_xattr(&self, file: &Self::File, name: &[u8]) -> io::Result<()>;

    /// Renames within the folder, replacing what `to` names.
    ///
    /// # Errors
    /// What the operating system says.
    fn rename(&self, dir: &Self::Dir, from: &OsStr, to: &OsStr) -> io::Result<()>;

    /// Renames within the folder unless `to` exists.
    ///
    /// # Errors
    /// `EEXIST`; [`io::ErrorKind::Unsupported`] where the system can't do it in one step.
    fn rename_new(&self, dir: &Self::Dir, from: &OsStr, to: &OsStr) -> io::Result<()>;

    /// Swaps what two names of the folder mean, in one step.
    ///
    /// # Errors
    /// [`io::ErrorKind::Unsupported`] where the system can't.
    fn exchange(&self, dir: &Self::Dir, a: &OsStr, b: &OsStr) -> io::Result<()>;

    /// Gives the file `name` a second name.
    ///
    /// # Errors
    /// `EEXIST`; `EPERM` and others where there are no hard links.
    fn hard_link(&self, dir: &Self::Dir, name: &OsStr, new: &OsStr) -> io::Result<()>;

    /// Removes a name that is not a folder's.
    ///
    /// # Errors
    /// What the operating system says.
    fn unlink(&self, dir: &Self::Dir, name: &OsStr) -> io::Result<()>;

    /// Makes a folder with `mode`, subject to the umask.
    ///
    /// # Errors
    /// `EEXIST` and others.
    fn make_dir(&self, dir: &Self::Dir, name: &OsStr, mode: u32) -> io::Result<()>;

    /// Removes an empty folder.
    ///
    /// # Errors
    /// `ENOTEMPTY` and others.
    fn remove_dir(&self, dir: &Self::Dir, name: &OsStr) -> io::Result<()>;

    /// Takes an exclusive lock on an open file without waiting; it ends with the handle or the
    /// process.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] while another handle holds it.
    fn try_lock(&self, file: &Self::File) -> io::Result<()>;
}
