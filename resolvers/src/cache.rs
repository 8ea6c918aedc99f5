//! Decoded files, shared by all sessions and never stale.
//!
//! Every look-up asks the file system; the cache saves reading, decoding and indexing, not asking.
//! An entry counts only while identity, size and time stamps are those it was read with. A file
//! that was read within a tick of its last change could change again without a trace; until its
//! stamps are old enough it is read again and compared by content, as git does with its index. A
//! small file is compared always: that costs microseconds, and shows even stores through a shared
//! mapping, which the kernel stamps late.
//!
//! Bounded by bytes, least recently used goes first. One file larger than the bound may stay alone.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anchors::{Cancel, ContentHash, Snapshot};

use crate::host::{Host, ReadError, Stat};
use crate::limits::COMPARED_BYTES;

/// What a file holds.
#[derive(Clone, Debug)]
pub enum Content {
    /// Text.
    Text(Arc<Snapshot>),
    /// Anything else.
    Binary {
        /// Identity of the bytes.
        hash: ContentHash,
        /// Why it is not text, as part of a sentence.
        reason: &'static str,
    },
}

impl Content {
    /// Identity of the bytes.
    pub fn hash(&self) -> ContentHash {
        match self {
            Self::Text(snapshot) => snapshot.hash(),
            Self::Binary { hash, .. } => *hash,
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Text(snapshot) => snapshot.bytes(),
            Self::Binary { .. } => size_of::<Self>(),
        }
    }
}

/// A file as it is now.
#[derive(Clone, Debug)]
pub struct CachedFile {
    /// Its content.
    pub content: Content,
    /// What it was when the content was read.
    pub stat: Stat,
    /// Whether an equal `stat` later proves equal content.
    pub settled: bool,
}

/// The cache. One per daemon.
#[derive(Debug)]
pub struct SnapshotCache {
    files: Mutex<Files>,
    bound: usize,
}

#[derive(Debug, Default)]
struct Files {
    entries: HashMap<PathBuf, Entry>,
    /// One lock a path that is being loaded, so that many readers load a file once.
    loading: HashMap<PathBuf, Arc<Mutex<()>>>,
    bytes: usize,
    clock: u64,
}

#[derive(Debug)]
struct Entry {
    file: CachedFile,
    bytes: usize,
    used: u64,
    at: Instant,
}

impl SnapshotCache {
    /// A cache of at most `bound` bytes.
    pub fn new(bound: usize) -> Self {
        Self { files: Mutex::default(), bound }
    }

    /// The file at `path` (real, without links) as it is now; at most `max_bytes` are read.
    ///
    /// # Errors
    /// What the host says.
    pub fn get(
        &self,
        host: &impl Host,
        path: &Path,
        max_bytes: u64,
        cancel: &Cancel,
    ) -> Result<CachedFile, ReadError> {
        if let Some(file) = self.fresh(host, path)? {
            return Ok(file);
        }
        let lock = Arc::clone(self.lock().loading.entry(path.to_owned()).or_default());
        let held = lock.lock().unwrap_or_else(PoisonError::into_inner);
        // Another reader may have loaded it while this one waited.
        let file = match self.fresh(host, path) {
            Ok(None) => self.load(host, path, max_bytes, cancel),
            found => found.map(|file| file.expect("the other arm has none")),
        };
        drop(held);
        let mut files = self.lock();
        // The map and this call hold the last two handles: nobody else waits.
        if Arc::strong_count(&lock) <= 2 {
            files.loading.remove(path);
        }
        file
    }

    /// Takes in what was just written to `path`, so that its text is shared with the writer. It is
    /// compared with the file at its next use all the same.
    pub fn put(&self, path: &Path, snapshot: Arc<Snapshot>, stat: Stat) {
        let content = Content::Text(snapshot);
        self.insert(path, CachedFile { content, stat, settled: false });
    }

    /// Drops what nobody asked for during `idle`.
    pub fn evict_idle(&self, idle: Duration) {
        let mut files = self.lock();
        let Files { entries, bytes, .. } = &mut *files;
        entries.retain(|_, entry| {
            let keep = entry.at.elapsed() < idle;
            if !keep {
                *bytes -= entry.bytes;
            }
            keep
        });
    }

    /// Bytes that are held.
    pub fn bytes(&self) -> usize {
        self.lock().bytes
    }

    /// The cached file, if the file system says that it is still that.
    fn fresh(&self, host: &impl Host, path: &Path) -> Result<Option<CachedFile>, ReadError> {
        let now = host.stat(path).map_err(|error| ReadError::io(path, error))?;
        let mut files = self.lock();
        files.clock += 1;
        let clock = files.clock;
        let Some(entry) = files.entries.get_mut(path) else { return Ok(None) };
        let proven = entry.file.settled && now.size > COMPARED_BYTES;
        if !proven || !entry.file.stat.same_revision(&now) {
            return Ok(None);
        }
        (entry.used, entry.at) = (clock, Instant::now());
        Ok(Some(entry.file.clone()))
    }

    fn load(
        &self,
        host: &impl Host,
        path: &Path,
        max_bytes: u64,
        cancel: &Cancel,
    ) -> Result<CachedFile, ReadError> {
        let read = host.read(path, max_bytes, cancel)?;
        let hash = ContentHash::of(&read.bytes);
        let known = self.lock().entries.get(path).map(|entry| entry.file.content.clone());
        let content = match known {
            // Read again only because its stamps were too young: the same snapshot stays in use.
            Some(content) if content.hash() == hash => content,
            _ => match Snapshot::decode(read.bytes) {
                Ok(snapshot) => {
                    snapshot.line_count();
                    Content::Text(Arc::new(snapshot))
                }
                Err(error) => Content::Binary { hash, reason: error.reason },
            },
        };
        let settled = read.settled && read.stat.size > COMPARED_BYTES;
        let file = CachedFile { content, stat: read.stat, settled };
        self.insert(path, file.clone());
        Ok(file)
    }

    fn insert(&self, path: &Path, file: CachedFile) {
        let mut files = self.lock();
        files.clock += 1;
        let bytes = file.content.bytes() + path.as_os_str().len() + size_of::<Entry>();
        let entry = Entry { file, bytes, used: files.clock, at: Instant::now() };
        files.bytes += bytes;
        if let Some(old) = files.entries.insert(path.to_owned(), entry) {
            files.bytes -= old.bytes;
        }
        while files.bytes > self.bound && files.entries.len() > 1 {
            let oldest = files.entries.iter().min_by_key(|(_, entry)| entry.used);
            let Some(oldest) = oldest.map(|(path, _)| path.clone()) else { return };
            if let Some(entry) = files.entries.remove(&oldest) {
                files.bytes -= entry.bytes;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Files> {
        // Every change of the maps is whole before anything in it could panic.
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::LocalHost;

    fn text(cache: &SnapshotCache, path: &Path) -> String {
        let file = cache.get(&LocalHost, path, 1 << 20, &Cancel::new()).unwrap();
        match file.content {
            Content::Text(snapshot) => snapshot.text().to_owned(),
            Content::Binary { reason, .. } => reason.to_owned(),
        }
    }

    #[test]
    fn a_changed_file_is_read_again_however_fast_it_changes() {
        let dir = tempfile::tempdir().unwrap();
        let (cache, path) = (SnapshotCache::new(1 << 20), dir.path().join("f"));
        for round in 0..2_000 {
            let content = format!("{:04}", round % 10);
            std::fs::write(&path, &content).unwrap();
            assert_eq!(text(&cache, &path), content, "round {round}");
        }
    }

    #[test]
    fn an_unchanged_file_is_shared() {
        let dir = tempfile::tempdir().unwrap();
        let (cache, path) = (SnapshotCache::new(1 << 20), dir.path().join("f"));
        std::fs::write(&path, "x").unwrap();
        let get = || match cache.get(&LocalHost, &path, 1 << 20, &Cancel::new()).unwrap().content {
            Content::Text(snapshot) => snapshot,
            Content::Binary { .. } => unreachable!("it is text"),
        };
        assert!(Arc::ptr_eq(&get(), &get()));
    }

    #[test]
    fn the_bound_holds_and_idle_entries_go() {
        let dir = tempfile::tempdir().unwrap();
        let cache = SnapshotCache::new(10_000);
        for n in 0..20 {
            let path = dir.path().join(n.to_string());
            std::fs::write(&path, "x".repeat(1_000)).unwrap();
            text(&cache, &path);
        }
        assert!(cache.bytes() <= 10_000);
        cache.evict_idle(Duration::ZERO);
        assert_eq!(cache.bytes(), 0);
    }

    #[test]
    fn many_readers_load_once_and_leave_no_locks() {
        let dir = tempfile::tempdir().unwrap();
        let (cache, path) = (SnapshotCache::new(1 << 20), dir.path().join("f"));
        std::fs::write(&path, "x".repeat(100_000)).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..16 {
                scope.spawn(|| text(&cache, &path));
            }
        });
        assert!(cache.lock().loading.is_empty());
    }
}
