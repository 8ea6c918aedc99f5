//! The lock that makes the daemon the only one of its user.
//!
//! It is the kernel's lock on an open file, so it ends with its holder however that dies. The file
//! itself stays: removing it would let two daemons hold locks on two files of one name.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

/// A lock that was taken; dropping it lets it go.
#[derive(Debug)]
pub struct Lock {
    file: File,
    path: PathBuf,
}

impl Lock {
    /// Takes the lock on the file at `path`, which is made when it is missing. `None` when somebody
    /// else holds it.
    ///
    /// # Errors
    /// When the file can't be opened or locked.
    pub fn try_take(path: &Path) -> io::Result<Option<Self>> {
        // Somebody may have removed the file between our opening and locking it.
        for _ in 0..10 {
            let file = open(path)?;
            match file.try_lock() {
                Ok(()) if is_at(&file, path) => {
                    return Ok(Some(Self { file, path: path.to_owned() }));
                }
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
        Err(io::Error::other("the lock file is being replaced all the time"))
    }

    /// Writes the id of this process into the file, for messages only.
    ///
    /// # Errors
    /// What the system says.
    pub fn sign(&mut self) -> io::Result<()> {
        self.file.set_len(0)?;
        self.file.rewind()?;
        writeln!(self.file, "{}", std::process::id())
    }

    /// Whether the lock still counts: its file is still the one that others find.
    pub fn is_in_place(&self) -> bool {
        is_at(&self.file, &self.path)
    }
}

/// The process that signed the lock file last, alive or not.
pub fn holder(path: &Path) -> Option<u32> {
    let mut text = String::new();
    open(path).ok()?.take(32).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).mode(0o600);
    // Neither a link nor a pipe that somebody left there may lead us astray.
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    options.custom_flags(flags.bits().cast_signed()).open(path)
}

fn is_at(file: &File, path: &Path) -> bool {
    let (Ok(ours), Ok(theirs)) = (file.metadata(), path.symlink_metadata()) else { return false };
    (ours.dev(), ours.ino()) == (theirs.dev(), theirs.ino())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_holds_it() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("lock");
        let mut lock = Lock::try_take(&path).unwrap().unwrap();
        lock.sign().unwrap();
        assert!(Lock::try_take(&path).unwrap().is_none());
        assert_eq!(holder(&path), Some(std::process::id()));
        drop(lock);
        assert!(Lock::try_take(&path).unwrap().is_some());
    }

    #[test]
    fn a_replaced_file_is_noticed() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("lock");
        let lock = Lock::try_take(&path).unwrap().unwrap();
        assert!(lock.is_in_place());
        std::fs::remove_file(&path).unwrap();
        assert!(!lock.is_in_place());
    }

    #[test]
    fn links_are_not_followed() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("lock");
        std::os::unix::fs::symlink(home.path().join("victim"), &path).unwrap();
        assert!(Lock::try_take(&path).is_err());
    }
}
