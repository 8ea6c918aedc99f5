//! Reading a configuration file, whatever lies at its path: never hanging, never without bound.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustix::fs::OFlags;

use super::problem::{ConfigProblem, Origin, Position};
use crate::limits::{CONFIG_SETTLE, MAX_CONFIG_BYTES};

/// A path with a configuration file, or without.
#[derive(Clone, Debug)]
pub struct Source {
    /// The path.
    pub path: PathBuf,
    /// Whether a symbolic link there is followed. A project's file is not: it could point at
    /// anything that the user can read, and messages quote keys.
    pub follow: bool,
}

/// What tells one state of a file from the next. Equal stamps mean equal content.
#[derive(Clone, Copy, Debug)]
pub enum Stamp {
    /// There is no file.
    Absent,
    /// There is one with this device, inode, size, and times of content and inode in nanoseconds.
    Present([i128; 5]),
    /// It was written so recently that another write may not show. Equals nothing.
    Unsettled,
}

impl PartialEq for Stamp {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Absent, Self::Absent) => true,
            (Self::Present(one), Self::Present(two)) => one == two,
            _ => false,
        }
    }
}

impl Source {
    /// The state of the file now. One system call.
    pub fn stamp(&self) -> Stamp {
        let metadata =
            if self.follow { self.path.metadata() } else { self.path.symlink_metadata() };
        metadata.map_or(Stamp::Absent, |metadata| stamp_of(&metadata))
    }

    /// The text of the file and the state it was read in; `None` when there is no file.
    ///
    /// # Errors
    /// What keeps it from being read, as a problem.
    pub fn read(&self) -> (Stamp, Result<Option<String>, Box<ConfigProblem>>) {
        // Looked at first: a change during the reading must not go unseen.
        let stamp = self.settled(self.stamp());
        let text = match self.open() {
            Ok(file) => self.read_open(file).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.problem(format!("could not be read: {error}"), "")),
        };
        (stamp, text)
    }

    fn open(&self) -> io::Result<File> {
        let mut flags = OFlags::NONBLOCK | OFlags::NOCTTY;
        if !self.follow {
            if self.path.symlink_metadata()?.is_symlink() {
                return Err(io::Error::other("it is a symbolic link"));
            }
            flags |= OFlags::NOFOLLOW;
        }
        OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(&self.path)
    }

    fn read_open(&self, file: File) -> Result<String, Box<ConfigProblem>> {
        let unreadable = |error: io::Error| self.problem(format!("could not be read: {error}"), "");
        let metadata = file.metadata().map_err(unreadable)?;
        if !metadata.is_file() {
            return Err(self.problem("is not a regular file".to_owned(), "a TOML file"));
        }
        let mut bytes = Vec::new();
        file.take(MAX_CONFIG_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
        if bytes.len() as u64 > MAX_CONFIG_BYTES {
            let message = format!("is larger than {} KiB", MAX_CONFIG_BYTES / 1024);
            return Err(self.problem(message, "a smaller file"));
        }
        String::from_utf8(bytes).map_err(|error| {
            let valid = error.utf8_error().valid_up_to();
            let text = String::from_utf8_lossy(&error.as_bytes()[..valid]);
            let mut problem = self.problem("is not UTF-8".to_owned(), "UTF-8 text");
            problem.position = Some(Position::of(&text, valid));
            problem
        })
    }

    /// Makes a stamp useless when the file was touched just now.
    fn settled(&self, stamp: Stamp) -> Stamp {
        let Stamp::Present([.., changed]) = stamp else { return stamp };
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let age = i128::try_from(now.as_nanos()).unwrap_or(i128::MAX) - changed;
        let settle = i128::try_from(CONFIG_SETTLE.as_nanos()).unwrap_or(i128::MAX);
        if age < settle { Stamp::Unsettled } else { stamp }
    }

    fn problem(&self, message: String, expected: &str) -> Box<ConfigProblem> {
        Box::new(ConfigProblem {
            origin: Origin::File(self.path.clone()),
            position: None,
            key: String::new(),
            message,
            expected: expected.to_owned(),
        })
    }
}

fn stamp_of(metadata: &Metadata) -> Stamp {
    let nanoseconds =
        |seconds: i64, rest: i64| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
    Stamp::Present([
        i128::from(metadata.dev()),
        i128::from(metadata.ino()),
        i128::from(metadata.size()),
        nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
        nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
    ])
}

/// The file of the user.
pub fn user(path: &Path) -> Source {
    Source { path: path.to_owned(), follow: true }
}

/// The file of a project.
pub fn project(root: &Path) -> Source {
    Source { path: root.join(".capstan/config.toml"), follow: false }
}
