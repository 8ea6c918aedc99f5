//! The few doors through which the walker and the search engine reach the file system.
//!
//! The rest of the package goes through the host seam; this is the local host's fast path, kept
//! in one file so that the seam stays checkable. Everything here opens without following a link
//! in the last component (unless it says so) and without blocking on a FIFO.

use std::ffi::{CStr, OsStr};
use std::fs::File;
use std::io::{self, Read as _};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RawDir, Stat};

/// What a directory entry is. Links are never followed to find out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Dir,
    /// A symbolic link.
    Link,
    /// A device, FIFO or socket.
    Special,
    /// The file system does not say; ask [`kind_at`].
    Unknown,
}

impl From<FileType> for Kind {
    fn from(kind: FileType) -> Self {
        match kind {
            FileType::RegularFile => Self::File,
            FileType::Directory => Self::Dir,
            FileType::Symlink => Self::Link,
            FileType::Unknown => Self::Unknown,
            _ => Self::Special,
        }
    }
}

/// Opens the folder at `path`, following a link.
pub(crate) fn open_dir(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?)
}

/// Opens the folder `name` inside `dir`; a link is refused.
pub(crate) fn open_dir_at(dir: BorrowedFd<'_>, name: &CStr) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    Ok(rustix::fs::openat(dir, name, flags, Mode::empty())?)
}

/// Opens the file `name` inside `dir` for reading; a link is refused.
pub(crate) fn open_at(dir: BorrowedFd<'_>, name: &CStr) -> io::Result<File> {
    let flags =
        OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    Ok(rustix::fs::openat(dir, name, flags, Mode::empty())?.into())
}

/// Opens the file at `path` for reading, following links. The caller has seen it to be regular.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
}

/// Calls `each` with every name in `dir` but `.` and `..`, in the order of the file system.
pub(crate) fn list(
    dir: &OwnedFd,
    buffer: &mut [MaybeUninit<u8>],
    mut each: impl FnMut(&CStr, Kind),
) -> io::Result<()> {
    let mut entries = RawDir::new(dir.as_fd(), buffer);
    while let Some(entry) = entries.next() {
        let entry = entry?;
        let name = entry.file_name();
        if name != c"." && name != c".." {
            each(name, entry.file_type().into());
        }
    }
    Ok(())
}

/// What `name` in `dir` is, for file systems that do not say so in the listing.
pub(crate) fn kind_at(dir: BorrowedFd<'_>, name: &CStr) -> io::Result<Kind> {
    let stat = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(FileType::from_raw_mode(stat.st_mode).into())
}

/// Status of an open file.
pub(crate) fn stat(file: &File) -> io::Result<Stat> {
    Ok(rustix::fs::fstat(file)?)
}

/// Status of what `path` names, following links.
pub(crate) fn stat_path(path: &Path) -> io::Result<(Kind, Stat)> {
    let stat = rustix::fs::statat(CWD, path, AtFlags::empty())?;
    Ok((FileType::from_raw_mode(stat.st_mode).into(), stat))
}

/// Whether anything exists at `path`, a dangling link included.
pub(crate) fn exists(path: &Path) -> bool {
    rustix::fs::statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW).is_ok()
}

/// The path without links, `.` and `..`.
pub(crate) fn canonical(path: &Path) -> io::Result<PathBuf> {
    path.canonicalize()
}

/// Whether to follow a link in the last component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Links {
    /// Follow it.
    Follow,
    /// Refuse it.
    Refuse,
}

/// The whole content of a small configuration file, `None` when it is absent, not a regular file
/// or unreadable: all of these mean "no rules" to git as well.
pub(crate) fn read_small(path: &Path, links: Links, max_bytes: u64) -> Option<Vec<u8>> {
    let mut flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    if links == Links::Refuse {
        flags |= OFlags::NOFOLLOW;
    }
    read_opened(rustix::fs::open(path, flags, Mode::empty()).ok()?, max_bytes)
}

/// [`read_small`] for `name` inside `dir`.
pub(crate) fn read_small_at(
    dir: BorrowedFd<'_>,
    name: &CStr,
    links: Links,
    max_bytes: u64,
) -> Option<Vec<u8>> {
    let mut flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    if links == Links::Refuse {
        flags |= OFlags::NOFOLLOW;
    }
    read_opened(rustix::fs::openat(dir, name, flags, Mode::empty()).ok()?, max_bytes)
}

fn read_opened(fd: OwnedFd, max_bytes: u64) -> Option<Vec<u8>> {
    let stat = rustix::fs::fstat(&fd).ok()?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return None;
    }
    let mut bytes = Vec::with_capacity(stat.st_size.clamp(0, 1 << 20) as usize + 1);
    File::from(fd).take(max_bytes).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Where git keeps a person's settings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitHome {
    /// `$HOME`.
    pub home: Option<PathBuf>,
    /// `$XDG_CONFIG_HOME`, when set and not empty.
    pub xdg_config_home: Option<PathBuf>,
    /// `$GIT_CONFIG_GLOBAL`: replaces `~/.gitconfig` and its kin.
    pub config_global: Option<PathBuf>,
    /// The machine-wide configuration; `None` for none.
    pub config_system: Option<PathBuf>,
}

impl GitHome {
    /// The environment of this process.
    pub fn of_process() -> Self {
        let path = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        Self {
            home: path("HOME"),
            xdg_config_home: path("XDG_CONFIG_HOME"),
            config_global: path("GIT_CONFIG_GLOBAL"),
            config_system: match std::env::var_os("GIT_CONFIG_NOSYSTEM") {
                Some(_) => None,
                None => Some(
                    path("GIT_CONFIG_SYSTEM").unwrap_or_else(|| PathBuf::from("/etc/gitconfig")),
                ),
            },
        }
    }
}

/// `bytes` as a path.
pub(crate) fn path_of(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}
