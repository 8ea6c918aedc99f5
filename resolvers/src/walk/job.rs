//! The walk as a job of the pool: one task per folder, and per batch of files of a large one.

use std::ffi::{CStr, CString};
use std::mem::MaybeUninit;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::entry::{Dir, FileEntry, Place, Root};
use super::level::{Found, Level};
use super::os::{self, GitHome, Kind};
use super::pool::{Job, Pool, Tasks};
use super::rules::{Subject, Verdict};
use super::{Passed, Stop, Visit, WalkError, WalkOptions, Walked};
use crate::limits::{LISTING_BYTES, WALK_BATCH_FILES, WALK_PATH_BYTES};

/// What to walk and when to stop.
pub(crate) struct Plan<'a> {
    pub(crate) roots: &'a [PathBuf],
    pub(crate) options: &'a WalkOptions,
    pub(crate) stop: &'a Stop,
}

/// Runs the walk of `plan` on `pool`.
pub(crate) fn walk<V: Visit>(
    pool: &Pool,
    home: &Arc<GitHome>,
    plan: &Plan<'_>,
    visit: &Arc<V>,
) -> Result<Walked, WalkError> {
    let job = Arc::new(WalkJob {
        visit: Arc::clone(visit),
        options: plan.options.clone(),
        stop: plan.stop.clone(),
        home: Arc::clone(home),
        walked: Mutex::default(),
    });
    let tasks = plan
        .roots
        .iter()
        .enumerate()
        .map(|(index, root)| job.root(index, root))
        .collect::<Result<Vec<_>, _>>()?;
    pool.run(&job, tasks);
    let mut walked =
        std::mem::take(&mut *job.walked.lock().unwrap_or_else(PoisonError::into_inner));
    walked.stopped = plan.stop.stopped();
    Ok(walked)
}

struct WalkJob<V> {
    visit: Arc<V>,
    options: WalkOptions,
    stop: Stop,
    home: Arc<GitHome>,
    walked: Mutex<Walked>,
}

/// A piece of the walk.
enum Task {
    /// A root that is a file.
    Named { index: usize, path: PathBuf },
    /// A root that is a folder, already open.
    Root(Box<Dir>),
    /// A folder in `parent`, not yet open.
    Folder { parent: Arc<Dir>, name: CString },
    /// Files of `dir`, which all count: their names, each with its NUL.
    Files { dir: Arc<Dir>, names: Box<[u8]> },
}

/// Why an entry does not count.
#[derive(Clone, Copy)]
enum Tally {
    /// Git's own folder: not even counted, for no option includes it.
    Git,
    Link,
    Special,
    Excluded,
    IgnoredFolder,
    IgnoredFile,
    Hidden,
}

impl Tally {
    fn count(self, passed: &mut Passed) {
        match self {
            Self::Git => {}
            Self::Link => passed.links += 1,
            Self::Special => passed.special += 1,
            Self::Excluded => passed.excluded += 1,
            Self::IgnoredFolder => passed.ignored_folders += 1,
            Self::IgnoredFile => passed.ignored_files += 1,
            Self::Hidden => passed.hidden += 1,
        }
    }
}

/// What one thread holds.
struct Local<L> {
    visit: L,
    walked: Walked,
    listing: Listing,
    /// The absolute path of the entry under consideration.
    path: Vec<u8>,
}

/// The content of one folder, in buffers that are used again and again.
struct Listing {
    buffer: Box<[MaybeUninit<u8>]>,
    /// Names, each with its NUL.
    names: Vec<u8>,
    /// Where each name starts, and what it is.
    entries: Vec<(usize, Kind)>,
    found: Found,
}

impl Listing {
    fn new() -> Self {
        Self {
            buffer: Box::new_uninit_slice(LISTING_BYTES),
            names: Vec::new(),
            entries: Vec::new(),
            found: Found::default(),
        }
    }

    fn read(&mut self, dir: &std::os::fd::OwnedFd) -> std::io::Result<()> {
        let Self { buffer, names, entries, found } = self;
        names.clear();
        entries.clear();
        *found = Found::default();
        os::list(dir, buffer, |name, kind| {
            entries.push((names.len(), kind));
            names.extend_from_slice(name.to_bytes_with_nul());
            if name.to_bytes()[0] == b'.' {
                found.note(name.to_bytes());
            }
        })
    }
}

/// The name at the front of `names`.
fn first_name(names: &[u8]) -> &CStr {
    CStr::from_bytes_until_nul(names).unwrap_or_default()
}

impl<V: Visit> WalkJob<V> {
    fn root(&self, index: usize, path: &Path) -> Result<Task, WalkError> {
        let fail = |source| WalkError::Root { path: path.to_owned(), source };
        let (kind, _) = os::stat_path(path).map_err(fail)?;
        match kind {
            Kind::File => Ok(Task::Named { index, path: path.to_owned() }),
            Kind::Dir => {
                let fd = os::open_dir(path).map_err(fail)?;
                let real = os::canonical(path).map_err(fail)?;
                let level =
                    if self.options.ignored { None } else { Level::above(&real, &self.home) };
                let root =
                    Root { index, given: path.to_owned(), prefix: super::git::base_of(&real) };
                let path = real.into_os_string().into_encoded_bytes();
                Ok(Task::Root(Box::new(Dir { fd, path, level, root: Arc::new(root) })))
            }
            _ => Err(WalkError::Special { path: path.to_owned() }),
        }
    }

    fn folder(
        &self,
        parent: &Arc<Dir>,
        name: &CStr,
        local: &mut Local<V::Local>,
        tasks: &mut Tasks<'_, Self>,
    ) {
        let name_bytes = name.to_bytes();
        let mut path = Vec::with_capacity(parent.path.len() + 1 + name_bytes.len());
        join(&mut path, &parent.path, name_bytes);
        let opened = if path.len() > WALK_PATH_BYTES {
            Err(rustix::io::Errno::NAMETOOLONG.into())
        } else {
            os::open_dir_at(parent.fd.as_fd(), name)
        };
        match opened {
            Ok(fd) => {
                let level = parent.level.clone();
                let root = Arc::clone(&parent.root);
                self.list(Dir { fd, path, level, root }, local, tasks);
            }
            Err(error) => local.walked.passed.unreadable(parent.path_of(name_bytes), &error),
        }
    }

    /// Lists `dir`, queues its folders and visits its files.
    fn list(&self, mut dir: Dir, local: &mut Local<V::Local>, tasks: &mut Tasks<'_, Self>) {
        local.walked.folders += 1;
        if let Err(error) = local.listing.read(&dir.fd) {
            local.walked.passed.unreadable(dir.path_of(b""), &error);
        }
        if !self.options.ignored {
            let found = local.listing.found;
            dir.level = Level::below(dir.level.as_ref(), &dir.fd, &dir.path, found, &self.home);
        }
        let dir = Arc::new(dir);
        self.sift(&dir, local, tasks);
        tasks.share();
        self.visit_files(&dir, local, tasks);
    }

    /// Queues the folders of the listing and keeps only the files that count.
    fn sift(&self, dir: &Arc<Dir>, local: &mut Local<V::Local>, tasks: &mut Tasks<'_, Self>) {
        let Local { listing: Listing { names, entries, .. }, path, walked, .. } = local;
        join(path, &dir.path, b"");
        let prefix = path.len();
        entries.retain_mut(|(start, kind)| {
            let name = first_name(&names[*start..]);
            if *kind == Kind::Unknown {
                match os::kind_at(dir.fd.as_fd(), name) {
                    Ok(known) => *kind = known,
                    Err(error) => {
                        walked.passed.unreadable(dir.path_of(name.to_bytes()), &error);
                        return false;
                    }
                }
            }
            path.truncate(prefix);
            path.extend_from_slice(name.to_bytes());
            if let Some(tally) = self.pass_over(dir, name.to_bytes(), path, *kind) {
                tally.count(&mut walked.passed);
                return false;
            }
            if *kind == Kind::Dir {
                tasks.push(Task::Folder { parent: Arc::clone(dir), name: name.to_owned() });
            }
            *kind == Kind::File
        });
    }

    /// Why an entry does not count; `None` when it does.
    fn pass_over(&self, dir: &Dir, name: &[u8], path: &[u8], kind: Kind) -> Option<Tally> {
        if name == b".git" {
            return Some(Tally::Git);
        }
        let is_dir = match kind {
            Kind::File => false,
            Kind::Dir => true,
            Kind::Link => return Some(Tally::Link),
            Kind::Special | Kind::Unknown => return Some(Tally::Special),
        };
        if !self.options.globs.is_empty() {
            let relative = path.get(dir.root.prefix..).unwrap_or_default();
            match self.options.globs.verdict(relative, is_dir) {
                Some(Verdict::Keep) => return None,
                Some(Verdict::Ignore) => return Some(Tally::Excluded),
                None => {}
            }
        }
        match Level::verdict(dir.level.as_ref(), Subject { path, name, is_dir }) {
            Some(Verdict::Keep) => None,
            Some(Verdict::Ignore) if is_dir => Some(Tally::IgnoredFolder),
            Some(Verdict::Ignore) => Some(Tally::IgnoredFile),
            None if name[0] == b'.' && !self.options.hidden => Some(Tally::Hidden),
            None => None,
        }
    }

    /// Visits the files of the listing; those of a large folder go into batches that other threads
    /// can take.
    fn visit_files(
        &self,
        dir: &Arc<Dir>,
        local: &mut Local<V::Local>,
        tasks: &mut Tasks<'_, Self>,
    ) {
        let entries = std::mem::take(&mut local.listing.entries);
        let names = std::mem::take(&mut local.listing.names);
        let (now, later) = entries.split_at(entries.len().min(WALK_BATCH_FILES));
        for batch in later.chunks(WALK_BATCH_FILES) {
            let mut batch_names = Vec::new();
            for (start, _) in batch {
                batch_names.extend_from_slice(first_name(&names[*start..]).to_bytes_with_nul());
            }
            tasks.push(Task::Files { dir: Arc::clone(dir), names: batch_names.into() });
        }
        for (start, _) in now {
            if self.stop.is_set() {
                break;
            }
            tasks.share();
            self.visit_file(dir, first_name(&names[*start..]), local);
        }
        local.listing.entries = entries;
        local.listing.names = names;
    }

    fn visit_file(&self, dir: &Dir, name: &CStr, local: &mut Local<V::Local>) {
        join(&mut local.path, &dir.path, name.to_bytes());
        local.walked.files += 1;
        let place = Place::Found { dir, name, path: &local.path };
        self.visit.file(&mut local.visit, &FileEntry(place));
    }
}

/// Sets `path` to `dir`, a slash, `name`.
fn join(path: &mut Vec<u8>, dir: &[u8], name: &[u8]) {
    path.clear();
    path.extend_from_slice(dir);
    if !dir.ends_with(b"/") {
        path.push(b'/');
    }
    path.extend_from_slice(name);
}

impl<V: Visit> Job for WalkJob<V> {
    type Task = Task;
    type Local = Local<V::Local>;

    fn enter(&self) -> Self::Local {
        Local {
            visit: self.visit.enter(),
            walked: Walked::default(),
            listing: Listing::new(),
            path: Vec::new(),
        }
    }

    fn run(&self, task: Task, local: &mut Self::Local, tasks: &mut Tasks<'_, Self>) {
        if self.stop.is_set() {
            return;
        }
        match task {
            Task::Named { index, path } => {
                local.walked.files += 1;
                let place = Place::Named { index, path: &path };
                self.visit.file(&mut local.visit, &FileEntry(place));
            }
            Task::Root(dir) => self.list(*dir, local, tasks),
            Task::Folder { parent, name } => self.folder(&parent, &name, local, tasks),
            Task::Files { dir, names } => {
                let mut rest = &names[..];
                while !rest.is_empty() && !self.stop.is_set() {
                    let name = first_name(rest);
                    rest = &rest[name.count_bytes() + 1..];
                    self.visit_file(&dir, name, local);
                }
            }
        }
    }

    fn leave(&self, local: Self::Local) {
        self.visit.leave(local.visit);
        let mut walked = self.walked.lock().unwrap_or_else(PoisonError::into_inner);
        walked.files += local.walked.files;
        walked.folders += local.walked.folders;
        walked.passed.add(local.walked.passed);
    }
}
