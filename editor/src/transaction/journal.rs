//! The journal: commits transactions and remembers what is under way.
//!
//! Its folder holds a lock and one record a transaction, named `<order>-<id>.<state>`:
//! `rec` while it runs, `done` once every file is applied, `undo` while it is taken back.
//!
//! A commit, in order; after a crash at any point [`super::recovery`] can tell where it was:
//! 1. Join the queue of every file; check every file. Nothing has been written yet.
//! 2. Write the record and sync it. A small transaction, whose record is *inline* (holds all new
//!    contents), is decided from here on.
//! 3. Make missing folders; stage every new file. A large transaction syncs them now.
//! 4. Exchange each with its old file, check what came out; then write in place what must stay.
//! 5. A large transaction syncs the folders. Remove the old files (their names; the background frees
//!    their blocks, which takes longer than all the rest); mark the record done.
//! 6. The checkpoint syncs what is not synced yet and removes the record.
//!
//! A failure in 3 to 5 marks the record as to be undone and puts every file back.

use std::collections::{BTreeSet, HashMap};
use std::ffi::{OsStr, OsString};
use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use anchors::Cancel;
use resolvers::host::HostWrite;

use super::apply::{Folder, Item, make_folder, remove};
use super::checkpoint::{self, Queue};
use super::error::{Cause, CommitError, Effect, OpenError};
use super::locks::{Key, Locks};
use super::plan::{Planned, Planner};
use super::record::Record;
use super::recovery::{self, Recovered};
use super::resolve::{Resolver, Target};
use super::{Committed, FileChange};
use crate::limits;

mod run;

/// The journal of one daemon. Commits may run on many threads; they wait for each other only when
/// they touch the same file.
pub struct Journal<H: HostWrite> {
    inner: Arc<Inner<H>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

pub(super) struct Inner<H: HostWrite> {
    pub(super) host: Arc<H>,
    dir: H::Dir,
    folder: PathBuf,
    /// Held as long as the journal lives.
    _lock: H::File,
    boot: u128,
    inline_bytes: u64,
    order: AtomicU64,
    closed: AtomicBool,
    locks: Locks,
    queue: Queue<H::File>,
}

/// State of a record, as the end of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Running,
    Done,
    Undo,
}

impl Phase {
    pub(super) const ALL: [Self; 3] = [Self::Running, Self::Done, Self::Undo];

    pub(super) const fn suffix(self) -> &'static str {
        match self {
            Self::Running => "rec",
            Self::Done => "done",
            Self::Undo => "undo",
        }
    }
}

const LOCK: &str = "lock";
/// Records hold content of files that only their owner may read.
const RECORD_MODE: u32 = 0o600;

impl<H: HostWrite> Journal<H> {
    /// Opens the journal in `folder` (made if missing) and first finishes or undoes whatever a
    /// crash interrupted; says what it found, oldest first.
    ///
    /// # Errors
    /// [`OpenError::InUse`] while another journal uses the folder.
    pub fn open(host: Arc<H>, folder: &Path) -> Result<(Self, Vec<Recovered>), OpenError> {
        Self::open_with(host, folder, limits::INLINE_BYTES)
    }

    /// As [`Journal::open`], with another bound for inline records.
    pub(super) fn open_with(
        host: Arc<H>,
        folder: &Path,
        inline_bytes: u64,
    ) -> Result<(Self, Vec<Recovered>), OpenError> {
        let failed = |action| move |error| OpenError::Io { path: folder.to_owned(), action, error };
        make_all(&*host, folder).map_err(failed("making"))?;
        let folder = host.realpath(folder).map_err(failed("finding"))?;
        let dir = host.open_dir(&folder).map_err(failed("opening"))?;
        let lock = match host.create_new(&dir, LOCK.as_ref(), RECORD_MODE) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                host.open_in(&dir, LOCK.as_ref(), true)
            }
            result => result,
        }
        .map_err(failed("locking"))?;
        host.try_lock(&lock).map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock => OpenError::InUse { path: folder.clone() },
            _ => failed("locking")(error),
        })?;
        let (recovered, order) =
            recovery::run(&*host, &dir, &folder).map_err(failed("recovering"))?;
        let boot = host.boot_id().unwrap_or(0);
        let inner = Arc::new(Inner {
            host,
            dir,
            folder,
            _lock: lock,
            boot,
            inline_bytes,
            order: AtomicU64::new(order),
            closed: AtomicBool::new(false),
            locks: Locks::default(),
            queue: Queue::default(),
        });
        let worker = Arc::clone(&inner);
        let thread = thread::Builder::new()
            .name("checkpoint".to_owned())
            .spawn(move || checkpoint::run(&*worker.host, &worker.dir, &worker.queue))
            .map_err(|error| OpenError::Io {
                path: inner.folder.clone(),
                action: "starting the checkpoint of",
                error,
            })?;
        Ok((Self { inner, thread: Mutex::new(Some(thread)) }, recovered))
    }

    /// Changes all files or none. When it returns `Ok`, every change survives power loss.
    ///
    /// `cancel` counts until the first file is exchanged; after that the commit runs to its end.
    ///
    /// # Errors
    /// [`CommitError`] with the state of every file. Unless an effect says `Unknown`, no file was
    /// changed.
    pub fn commit(
        &self,
        changes: &[FileChange],
        cancel: &Cancel,
    ) -> Result<Committed, CommitError> {
        if changes.is_empty() {
            return Ok(Committed { files: Vec::new() });
        }
        let refuse = |cause| CommitError {
            cause,
            effects: changes.iter().map(|c| (c.path.clone(), Effect::NotApplied)).collect(),
        };
        let inner = &*self.inner;
        let targets = inner.targets(changes).map_err(refuse)?;
        let keys = keys(&targets);
        let _held = inner.locks.acquire(keys, cancel).map_err(|c| refuse(c.into()))?;
        inner.queue.wait_for_room(cancel).map_err(|c| refuse(c.into()))?;
        let (plans, missing) = inner.plan(changes, targets, cancel).map_err(refuse)?;
        let begun = inner.begin(plans, missing).map_err(|(cause, effect)| {
            let effects = changes.iter().map(|change| (change.path.clone(), effect));
            CommitError { cause, effects: effects.collect() }
        });
        begun?.run(cancel)
    }

    #[cfg(test)]
    pub(super) fn host(&self) -> Arc<H> {
        Arc::clone(&self.inner.host)
    }

    /// Waits until everything that was committed has been moved from the journal to the files.
    pub fn sync(&self) {
        self.inner.queue.wait_until_idle();
    }

    /// Finishes all checkpoints and stops. Later commits are refused. Called on drop, too.
    pub fn close(&self) {
        self.inner.closed.store(true, Ordering::SeqCst);
        self.inner.queue.close();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            let _ = thread.join(); // a panic there has been reported by the panic hook
        }
    }
}

impl<H: HostWrite> Drop for Journal<H> {
    fn drop(&mut self) {
        self.close();
    }
}

impl<H: HostWrite> std::fmt::Debug for Journal<H> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Journal").field("folder", &self.inner.folder).finish_non_exhaustive()
    }
}

impl<H: HostWrite> Inner<H> {
    fn targets(&self, changes: &[FileChange]) -> Result<Vec<Target>, Cause> {
        let too_large = |got: u64, max: u64, unit| Err(Cause::TooLarge { got, max, unit });
        if self.closed.load(Ordering::SeqCst) {
            return Err(Cause::Closed);
        }
        if changes.len() > limits::TRANSACTION_FILES {
            return too_large(changes.len() as u64, limits::TRANSACTION_FILES as u64, "files");
        }
        let mut resolver = Resolver::new(&*self.host);
        let mut seen: HashMap<Key, &Path> = HashMap::new();
        let mut targets = Vec::with_capacity(changes.len());
        for change in changes {
            let target = resolver.target(&change.path)?;
            for key in key(&target) {
                if let Some(first) = seen.insert(key, &change.path) {
                    let (first, second) = (first.to_owned(), change.path.clone());
                    return Err(Cause::SameFile { first, second });
                }
            }
            targets.push(target);
        }
        Ok(targets)
    }

    /// The checked changes, sorted so that files of one folder follow each other, and the folders
    /// to make.
    fn plan<'c>(
        &self,
        changes: &'c [FileChange],
        targets: Vec<Target>,
        cancel: &Cancel,
    ) -> Result<(Vec<Planned<'c>>, Vec<PathBuf>), Cause> {
        let mut planner = Planner::new(&*self.host, cancel);
        let mut plans = Vec::with_capacity(changes.len());
        for (index, (change, target)) in changes.iter().zip(targets).enumerate() {
            plans.push(planner.plan(index, target.path, change)?);
        }
        plans.sort_by(|a, b| (a.path.parent(), &a.path).cmp(&(b.path.parent(), &b.path)));
        Ok((plans, planner.missing.into_iter().collect()))
    }

    /// Writes the record: the transaction exists from here on.
    fn begin<'a>(
        &'a self,
        plans: Vec<Planned<'a>>,
        missing: Vec<PathBuf>,
    ) -> Result<run::Transaction<'a, H>, (Cause, Effect)> {
        let id = RandomState::new().hash_one(self.order.load(Ordering::Relaxed));
        let total = plans.iter().fold(0, |sum: u64, plan| sum.saturating_add(plan.after.len()));
        let record = Record {
            id,
            boot: self.boot,
            inline: total <= self.inline_bytes,
            folders: missing,
            entries: plans.iter().map(Planned::entry).collect(),
        };
        let bytes = record.contents_len();
        if bytes > limits::RECORD_BYTES {
            let (got, max, unit) = (bytes, limits::RECORD_BYTES, "bytes in hard-linked files");
            return Err((Cause::TooLarge { got, max, unit }, Effect::NotApplied));
        }
        let order = self.order.fetch_add(1, Ordering::SeqCst);
        let stem = format!("{order:016x}-{id:016x}");
        let name = record_name(&stem, Phase::Running);
        let bytes = match self.write_record(&name, &record, &plans) {
            Ok(bytes) => bytes,
            Err(error) => {
                // No file has been touched; but a record that can't even be removed may come true at
                // the next start.
                let removed = self.discard(&name) || self.revoke(&stem);
                let effect = if removed { Effect::NotApplied } else { Effect::Unknown };
                let path = self.folder.join(&name);
                return Err((Cause::io("writing the journal record", &path, error), effect));
            }
        };
        let items = plans.into_iter().enumerate().map(|(at, plan)| Item::new(plan, id, at));
        Ok(run::Transaction {
            inner: self,
            items: items.collect(),
            folders: record.folders,
            sync: !record.inline,
            stem,
            bytes,
        })
    }

    /// Writes the record and makes it durable; its size in bytes.
    fn write_record(
        &self,
        name: &OsStr,
        record: &Record,
        plans: &[Planned<'_>],
    ) -> io::Result<u64> {
        /// Content below this is gathered so that one call writes much of it.
        const GATHER_BYTES: usize = 64 * 1024;
        let host = &*self.host;
        let file = host.create_new(&self.dir, name, RECORD_MODE)?;
        let mut offset = 0;
        let mut write = |bytes: &[u8]| {
            host.write_at(&file, offset, bytes)?;
            offset += bytes.len() as u64;
            io::Result::Ok(())
        };
        let mut gathered = record.encode();
        for (at, new) in record.contents() {
            let plan = &plans[at];
            let content = if new { plan.after.bytes() } else { &plan.old_bytes };
            if content.len() >= GATHER_BYTES || gathered.len() >= limits::CHUNK_BYTES {
                write(&gathered)?;
                gathered.clear();
            }
            if content.len() >= GATHER_BYTES {
                write(content)?;
            } else {
                gathered.extend_from_slice(content);
            }
        }
        write(&gathered)?;
        host.sync_file(&file)?;
        host.sync_dir(&self.dir)?;
        Ok(offset)
    }

    /// Makes sure that a running transaction never comes true.
    fn revoke(&self, stem: &str) -> bool {
        let (running, undo) = (record_name(stem, Phase::Running), record_name(stem, Phase::Undo));
        let renamed = self.host.rename(&self.dir, &running, &undo);
        renamed.and_then(|()| self.host.sync_dir(&self.dir)).is_ok()
    }

    /// Removes a record for good.
    fn discard(&self, name: &OsStr) -> bool {
        remove(&*self.host, &self.dir, name).and_then(|()| self.host.sync_dir(&self.dir)).is_ok()
    }
}

fn record_name(stem: &str, phase: Phase) -> OsString {
    format!("{stem}.{}", phase.suffix()).into()
}

fn key(target: &Target) -> impl Iterator<Item = Key> + use<> {
    let inode = target.stat.map(|stat| Key::Inode(stat.dev, stat.ino));
    std::iter::once(Key::Path(target.path.clone())).chain(inode)
}

fn keys(targets: &[Target]) -> Vec<Key> {
    targets.iter().flat_map(key).collect()
}

/// Folders whose entries a transaction changes.
fn touched<'a>(items: &[Item<'_>], made: &'a [PathBuf]) -> BTreeSet<PathBuf> {
    let parents = made.iter().filter_map(|path: &'a PathBuf| path.parent().map(Path::to_owned));
    items.iter().map(|item| item.place.folder.clone()).chain(parents).collect()
}

/// Makes a folder of our own with its parents; only the owner may enter it.
fn make_all<H: HostWrite>(host: &H, path: &Path) -> io::Result<()> {
    match host.stat(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        result => return result.map(drop),
    }
    let parent = path.parent().ok_or(io::ErrorKind::NotFound)?;
    make_all(host, parent)?;
    let real = host.realpath(parent)?.join(path.file_name().ok_or(io::ErrorKind::InvalidInput)?);
    let folder = &mut Folder::new(host);
    make_folder(host, folder, &real, 0o700)?;
    // A record is only as durable as the way to it.
    host.sync_dir(folder.at(real.parent().unwrap_or(&real))?)
}
