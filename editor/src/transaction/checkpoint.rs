//! Moves durability from the journal to the files, in the background.
//!
//! A small transaction is durable once its record is. Some time later this thread syncs the files
//! and folders and removes the record, so that the journal stays small and a restart has little
//! to do.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use anchors::{Cancel, Cancelled};
use resolvers::host::HostWrite;

use super::apply::{Folder, remove};
use crate::limits;

/// An applied transaction whose record is still needed.
#[derive(Debug, Default)]
pub(super) struct Pending {
    /// Name of the record in the journal's folder.
    pub(super) record: OsString,
    /// Its size.
    pub(super) bytes: u64,
    /// Files to sync.
    pub(super) files: Vec<PathBuf>,
    /// Folders to sync.
    pub(super) folders: BTreeSet<PathBuf>,
    /// Staged names that could not be removed: folder and name.
    pub(super) leftovers: Vec<(PathBuf, OsString)>,
}

/// The transactions that wait for their checkpoint. `F` is an open file.
pub(super) struct Queue<F> {
    state: Mutex<Waiting<F>>,
    changed: Condvar,
}

impl<F> Default for Queue<F> {
    fn default() -> Self {
        let state = Waiting {
            pending: Vec::new(),
            unfreed: Vec::new(),
            in_work: 0,
            bytes: 0,
            closing: false,
        };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }
}

struct Waiting<F> {
    pending: Vec<Pending>,
    /// Replaced files without a name; closing one frees its blocks.
    unfreed: Vec<F>,
    /// Taken out by the thread, not yet done.
    in_work: usize,
    bytes: u64,
    closing: bool,
}

impl<F> Queue<F> {
    fn lock(&self) -> MutexGuard<'_, Waiting<F>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many more replaced files may stay open.
    pub(super) fn room_for_unfreed(&self) -> usize {
        limits::UNFREED_FILES.saturating_sub(self.lock().unfreed.len())
    }

    /// Adds an applied transaction and the files that it replaced.
    pub(super) fn push(&self, pending: Pending, unfreed: Vec<F>) {
        let mut state = self.lock();
        state.unfreed.extend(unfreed);
        state.bytes += pending.bytes;
        state.pending.push(pending);
        drop(state);
        self.changed.notify_all();
    }

    pub(super) fn close(&self) {
        self.lock().closing = true;
        self.changed.notify_all();
    }

    /// Waits until the journal has room for another record.
    pub(super) fn wait_for_room(&self, cancel: &Cancel) -> Result<(), Cancelled> {
        let mut state = self.lock();
        while state.full() && !state.closing {
            cancel.check()?;
            let waited = self.changed.wait_timeout(state, limits::LOCK_POLL);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        Ok(())
    }

    /// Waits until everything that was pushed has been synced, or failed to.
    pub(super) fn wait_until_idle(&self) {
        let mut state = self.lock();
        while !state.pending.is_empty() || state.in_work > 0 {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The next batch, after a rest; nothing once the journal closes and all is done.
    fn next(&self) -> Option<Vec<Pending>> {
        let mut due = None;
        let mut state = self.lock();
        loop {
            if !state.unfreed.is_empty() {
                let unfreed = std::mem::take(&mut state.unfreed);
                drop(state);
                drop(unfreed); // takes its time, so nobody may wait for the lock
                state = self.lock();
                continue;
            }
            let now = Instant::now();
            let rest = match due {
                None if state.pending.is_empty() => {
                    if state.closing {
                        return None;
                    }
                    state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                    continue;
                }
                None => limits::CHECKPOINT_DELAY,
                Some(due) => Instant::saturating_duration_since(&due, now),
            };
            due = Some(due.unwrap_or(now + rest));
            if rest.is_zero() || state.closing || state.full() {
                state.in_work = state.pending.len();
                return Some(std::mem::take(&mut state.pending));
            }
            let waited = self.changed.wait_timeout(state, rest);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn done(&self, bytes: u64) {
        let mut state = self.lock();
        state.bytes -= bytes;
        state.in_work = 0;
        drop(state);
        self.changed.notify_all();
    }
}

impl<F> Waiting<F> {
    fn full(&self) -> bool {
        self.bytes > limits::PENDING_BYTES
            || self.pending.len() + self.in_work > limits::PENDING_RECORDS
    }
}

/// The body of the checkpoint thread. A record whose files can't be synced stays for the next
/// [`super::Journal::open`].
pub(super) fn run<H: HostWrite>(host: &H, journal: &H::Dir, queue: &Queue<H::File>) {
    while let Some(batch) = queue.next() {
        let mut synced = Synced::default();
        for pending in &batch {
            // Errors leave the record in place, which is all that can be done about them.
            let _ = checkpoint(host, journal, pending, &mut synced);
        }
        let _ = host.sync_dir(journal);
        queue.done(batch.iter().map(|pending| pending.bytes).sum());
    }
}

/// What this batch has synced already: several edits of one file cost one sync.
#[derive(Default)]
struct Synced {
    files: BTreeSet<PathBuf>,
    folders: BTreeSet<PathBuf>,
}

fn checkpoint<H: HostWrite>(
    host: &H,
    journal: &H::Dir,
    pending: &Pending,
    synced: &mut Synced,
) -> io::Result<()> {
    let mut folder = Folder::new(host);
    for (path, name) in &pending.leftovers {
        remove(host, folder.at(path)?, name)?;
    }
    for path in &pending.files {
        if !synced.files.contains(path) {
            sync_file(host, &mut folder, path)?;
            synced.files.insert(path.clone());
        }
    }
    for path in &pending.folders {
        if !synced.folders.contains(path) {
            sync_folder(host, &mut folder, path)?;
            synced.folders.insert(path.clone());
        }
    }
    remove(host, journal, &pending.record)
}

/// Syncs whatever has the name now; gone is fine.
pub(super) fn sync_file<H: HostWrite>(
    host: &H,
    folder: &mut Folder<'_, H>,
    path: &Path,
) -> io::Result<()> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Ok(()) };
    match folder.at(parent).and_then(|dir| host.open_in(dir, name, false)) {
        Ok(file) => host.sync_file(&file),
        Err(error) if is_other(&error) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Syncs a folder; gone is fine.
pub(super) fn sync_folder<H: HostWrite>(
    host: &H,
    folder: &mut Folder<'_, H>,
    path: &Path,
) -> io::Result<()> {
    match folder.at(path) {
        Ok(dir) => host.sync_dir(dir),
        Err(error) if is_other(&error) => Ok(()),
        Err(error) => Err(error),
    }
}

/// The name means something else by now: there is nothing of ours to sync.
fn is_other(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::InvalidInput
    ) || resolvers::host::is_link_loop(error)
}
