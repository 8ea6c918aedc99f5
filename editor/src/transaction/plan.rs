//! Looks at every file before anything is written, so that most failures change nothing at all.

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::path::{Path, PathBuf};

use anchors::{Cancel, ContentHash};
use resolvers::host::{Host, Kind, ReadError, Stat};
use xxhash_rust::xxh3::Xxh3;

use super::error::Cause;
use super::record::{Digest, Entry, Method, Old};
use super::{Before, Content, FileChange};
use crate::limits;

/// One change that passed all checks.
pub(super) struct Planned<'a> {
    /// Its place among the caller's changes.
    pub(super) index: usize,
    /// The real path.
    pub(super) path: PathBuf,
    pub(super) method: Method,
    /// What is there now, with its hash.
    pub(super) old: Option<(Stat, ContentHash)>,
    /// Whether an equal stat still proves equal content.
    pub(super) settled: bool,
    /// The old content, for [`Method::InPlace`] only.
    pub(super) old_bytes: Vec<u8>,
    pub(super) after: &'a Content,
}

impl Planned<'_> {
    pub(super) fn entry(&self) -> Entry {
        let old = self.old.map(|(stat, hash)| Old {
            content: Digest { len: stat.size, hash },
            ino: stat.ino,
            mode: stat.mode,
            uid: stat.uid,
            gid: stat.gid,
        });
        let new = Digest { len: self.after.len(), hash: self.after.hash() };
        Entry { path: self.path.clone(), method: self.method, old, new }
    }
}

/// Checks the files of one transaction; folders once each.
pub(super) struct Planner<'a, H> {
    host: &'a H,
    cancel: &'a Cancel,
    /// Existing folders that may be written.
    folders: HashMap<PathBuf, Stat>,
    /// Folders that have to be made, parents first.
    pub(super) missing: BTreeSet<PathBuf>,
}

impl<'a, H: Host> Planner<'a, H> {
    pub(super) fn new(host: &'a H, cancel: &'a Cancel) -> Self {
        Self { host, cancel, folders: HashMap::new(), missing: BTreeSet::new() }
    }

    /// `path` is the real path of the change.
    pub(super) fn plan<'c>(
        &mut self,
        index: usize,
        path: PathBuf,
        change: &'c FileChange,
    ) -> Result<Planned<'c>, Cause> {
        self.cancel.check()?;
        let after = &change.after;
        let now = self.host.now();
        let found = match self.host.lstat(&path) {
            Ok(stat) if stat.kind == Kind::File => Some(stat),
            // A link now was none when the path was resolved.
            Ok(stat) if stat.kind == Kind::Symlink => return Err(Cause::FileChanged { path }),
            Ok(stat) => return Err(Cause::NotAFile { path, kind: stat.kind }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(Cause::known("looking at", &path, error)),
        };
        let (stat, before) = match (found, &change.before) {
            (None, Before::Absent) => {
                self.check_parent(&path)?;
                let method = Method::Create;
                let (old, settled, old_bytes) = (None, true, Vec::new());
                return Ok(Planned { index, path, method, old, settled, old_bytes, after });
            }
            (Some(stat), Before::Present { stat: planned, hash, settled }) => {
                (stat, (planned, *hash, *settled))
            }
            _ => return Err(Cause::FileChanged { path }),
        };
        let folder = self.check_parent(&path)?;
        self.check_file_writable(&path, &stat)?;
        let (planned, hash, settled) = before;
        let same = settled && stat.same_revision(planned);
        let mut old_bytes = Vec::new();
        let mut method = Method::Swap;
        if self.must_stay(&path, &stat, folder) {
            method = Method::InPlace;
            old_bytes = self.content(&path, &stat, hash)?;
        } else if !same && !self.has_content(&path, &stat, hash)? {
            return Err(Cause::FileChanged { path });
        }
        let settled = stat.settled_at(now);
        Ok(Planned { index, path, method, old: Some((stat, hash)), settled, old_bytes, after })
    }

    /// Whether a new file could not take the place of this one without loss.
    fn must_stay(&self, path: &Path, stat: &Stat, folder: Option<Stat>) -> bool {
        let uid = self.host.uid();
        let other = folder.is_some_and(|folder| folder.dev != stat.dev);
        let mount = other || self.host.is_mount_point(path);
        stat.nlink > 1 || mount || (stat.uid != uid && uid != 0)
    }

    fn content(&self, path: &Path, stat: &Stat, hash: ContentHash) -> Result<Vec<u8>, Cause> {
        let changed = || Cause::FileChanged { path: path.to_owned() };
        let read = match self.host.read(path, limits::RECORD_BYTES, self.cancel) {
            Ok(read) => read,
            Err(error) => return Err(read_failed(path, error)),
        };
        let same = read.stat.same_revision(stat) && ContentHash::of(&read.bytes) == hash;
        if same { Ok(read.bytes) } else { Err(changed()) }
    }

    fn has_content(&self, path: &Path, stat: &Stat, hash: ContentHash) -> Result<bool, Cause> {
        let mut open = self.host.open(path).map_err(|error| read_failed(path, error))?;
        let mut hasher = Xxh3::new();
        let mut buffer = vec![0; limits::CHUNK_BYTES.min(stat.size as usize + 1)];
        loop {
            self.cancel.check()?;
            match open.reader.read(&mut buffer) {
                Ok(0) => break,
                Ok(len) => hasher.update(&buffer[..len]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Cause::io("reading", path, error)),
            }
        }
        Ok(open.stat.same_revision(stat) && ContentHash(hasher.digest128()) == hash)
    }

    /// A rename would succeed on a read-only file, but whoever made it so meant it. The superuser
    /// passes access(2) always, so the bits count too.
    fn check_file_writable(&self, path: &Path, stat: &Stat) -> Result<(), Cause> {
        let read_only = || Cause::ReadOnly { path: path.to_owned() };
        if stat.mode & 0o222 == 0 {
            return Err(read_only());
        }
        match self.host.check_writable(path) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::ReadOnlyFilesystem => Err(read_only()),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                let own = stat.uid == self.host.uid();
                Err(if own { read_only() } else { Cause::io("writing to", path, error) })
            }
            Err(error) => Err(Cause::known("writing to", path, error)),
        }
    }

    /// The stat of the folder that holds `path`; `None` if it has to be made.
    fn check_parent(&mut self, path: &Path) -> Result<Option<Stat>, Cause> {
        let mut above = path.parent();
        let mut missing = Vec::new();
        while let Some(folder) = above {
            if self.missing.contains(folder) {
                break; // and so its parents have been looked at
            }
            if let Some(stat) = self.folders.get(folder) {
                let found = missing.is_empty().then_some(*stat);
                self.missing.extend(missing);
                return Ok(found);
            }
            match self.host.lstat(folder) {
                Ok(stat) => {
                    self.check_folder(folder, &stat, path)?;
                    self.folders.insert(folder.to_owned(), stat);
                    continue;
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    missing.push(folder.to_owned());
                    above = folder.parent();
                }
                Err(error) => return Err(Cause::io("looking at", folder, error)),
            }
        }
        self.missing.extend(missing);
        Ok(None)
    }

    fn check_folder(&self, folder: &Path, stat: &Stat, path: &Path) -> Result<(), Cause> {
        if stat.kind != Kind::Dir {
            return Err(Cause::NotAFolder { path: path.to_owned() });
        }
        let read_only = || Cause::ReadOnlyFolder { path: folder.to_owned() };
        if stat.mode & 0o222 == 0 {
            return Err(read_only());
        }
        match self.host.check_writable(folder) {
            Ok(()) => Ok(()),
            Err(error)
                if error.kind() == io::ErrorKind::PermissionDenied
                    && stat.uid == self.host.uid() =>
            {
                Err(read_only())
            }
            Err(error) => Err(Cause::io("writing to", folder, error)),
        }
    }
}

fn read_failed(path: &Path, error: ReadError) -> Cause {
    match error {
        ReadError::Cancelled(cancelled) => cancelled.into(),
        ReadError::Io { error, .. } => Cause::known("reading", path, error),
        ReadError::NotAFile { .. } => Cause::FileChanged { path: path.to_owned() },
        ReadError::TooLarge { size, max, .. } => Cause::TooLarge { got: size, max, unit: "bytes" },
    }
}
