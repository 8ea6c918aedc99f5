//! What a path names: identity, size, times, permissions.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The kind of an object in a file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Dir,
    /// A symbolic link.
    Symlink,
    /// A named pipe.
    Fifo,
    /// A socket.
    Socket,
    /// A character device, such as a terminal.
    CharDevice,
    /// A block device, such as a disk.
    BlockDevice,
    /// Something that this operating system has and we have no word for.
    Other,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::File => "regular file",
            Self::Dir => "directory",
            Self::Symlink => "symbolic link",
            Self::Fifo => "named pipe",
            Self::Socket => "socket",
            Self::CharDevice => "character device",
            Self::BlockDevice => "block device",
            Self::Other => "special file",
        })
    }
}

impl From<rustix::fs::FileType> for Kind {
    fn from(kind: rustix::fs::FileType) -> Self {
        use rustix::fs::FileType;
        match kind {
            FileType::RegularFile => Self::File,
            FileType::Directory => Self::Dir,
            FileType::Symlink => Self::Symlink,
            FileType::Fifo => Self::Fifo,
            FileType::Socket => Self::Socket,
            FileType::CharacterDevice => Self::CharDevice,
            FileType::BlockDevice => Self::BlockDevice,
            FileType::Unknown => Self::Other,
        }
    }
}

impl From<std::fs::FileType> for Kind {
    fn from(kind: std::fs::FileType) -> Self {
        use std::os::unix::fs::FileTypeExt as _;
        match kind {
            k if k.is_file() => Self::File,
            k if k.is_dir() => Self::Dir,
            k if k.is_symlink() => Self::Symlink,
            k if k.is_fifo() => Self::Fifo,
            k if k.is_socket() => Self::Socket,
            k if k.is_char_device() => Self::CharDevice,
            k if k.is_block_device() => Self::BlockDevice,
            _ => Self::Other,
        }
    }
}

/// What stat(2) says about one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stat {
    /// Device that holds it.
    pub dev: u64,
    /// Inode number on that device.
    pub ino: u64,
    /// Size in bytes; 0 for many files of `/proc` that do have content.
    pub size: u64,
    /// Last change of the content, nanoseconds since 1970.
    pub mtime_ns: i64,
    /// Last change of content or metadata, nanoseconds since 1970.
    pub ctime_ns: i64,
    /// Permission bits with set-id and sticky bits (`0o7777`), without the kind.
    pub mode: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Names that it has.
    pub nlink: u64,
    /// What it is.
    pub kind: Kind,
}

/// Time stamps come from the kernel's tick, at worst 100 Hz; three ticks leave no doubt.
const TICK: Duration = Duration::from_millis(30);
/// Some file systems keep whole seconds (or even ones, as FAT does).
const COARSE_TICK: Duration = Duration::from_secs(3);
const SECOND_NS: i64 = 1_000_000_000;

impl Stat {
    /// Whether both describe the same content of the same object: identity, size and time stamps.
    pub fn same_revision(&self, other: &Self) -> bool {
        self.same_object(other)
            && self.size == other.size
            && self.mtime_ns == other.mtime_ns
            && self.ctime_ns == other.ctime_ns
    }

    /// Whether both are the same inode.
    pub fn same_object(&self, other: &Self) -> bool {
        self.dev == other.dev && self.ino == other.ino
    }

    /// Whether every change after the moment `now` is sure to alter this stat. A file changed
    /// within the last tick of the clock could change again without a trace, so that content that
    /// was read from it must be compared, not its time stamps.
    pub fn settled_at(&self, now: SystemTime) -> bool {
        let latest = self.mtime_ns.max(self.ctime_ns);
        let coarse = self.mtime_ns % SECOND_NS == 0 && self.ctime_ns % SECOND_NS == 0;
        let tick = if coarse { COARSE_TICK } else { TICK };
        let Ok(latest) = u64::try_from(latest) else { return true };
        match now.duration_since(UNIX_EPOCH + Duration::from_nanos(latest)) {
            Ok(age) => age > tick,
            Err(_) => false, // stamped in the future: nothing follows from it
        }
    }
}

impl From<rustix::fs::Stat> for Stat {
    fn from(stat: rustix::fs::Stat) -> Self {
        let mode = stat.st_mode;
        Self {
            dev: unsigned(stat.st_dev),
            ino: unsigned(stat.st_ino),
            size: unsigned(stat.st_size),
            mtime_ns: nanos(signed(stat.st_mtime), signed(stat.st_mtime_nsec)),
            ctime_ns: nanos(signed(stat.st_ctime), signed(stat.st_ctime_nsec)),
            mode: widen(mode) & 0o7777,
            uid: stat.st_uid,
            gid: stat.st_gid,
            nlink: unsigned(stat.st_nlink),
            kind: rustix::fs::FileType::from_raw_mode(mode).into(),
        }
    }
}

/// Wraps after the year 2262: distinct times stay distinct, which is all that identity needs.
fn nanos(seconds: i64, nanos: i64) -> i64 {
    seconds.wrapping_mul(SECOND_NS).wrapping_add(nanos)
}

// The integer types of `struct stat` differ between platforms.
fn unsigned<T: TryInto<u64>>(value: T) -> u64 {
    value.try_into().unwrap_or(u64::MAX)
}

fn widen<T: Into<u32>>(mode: T) -> u32 {
    mode.into()
}

fn signed<T: TryInto<i64>>(value: T) -> i64 {
    value.try_into().unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamped(mtime_ns: i64) -> Stat {
        Stat {
            dev: 1,
            ino: 2,
            size: 3,
            mtime_ns,
            ctime_ns: mtime_ns,
            mode: 0o644,
            uid: 0,
            gid: 0,
            nlink: 1,
            kind: Kind::File,
        }
    }

    #[test]
    fn a_fresh_stamp_proves_nothing() {
        let now = UNIX_EPOCH + Duration::from_secs(1_000);
        assert!(stamped(900 * SECOND_NS + 5).settled_at(now));
        assert!(stamped(999 * SECOND_NS + 5).settled_at(now));
        assert!(!stamped(999 * SECOND_NS).settled_at(now), "whole seconds are coarse stamps");
        assert!(!stamped(1_000 * SECOND_NS - 5_000_000).settled_at(now));
        assert!(!stamped(1_001 * SECOND_NS + 5).settled_at(now), "from the future");
        assert!(stamped(-7).settled_at(now));
    }
}
