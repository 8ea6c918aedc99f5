//! A host that fails where a test says: with an error, a crash, a power loss, or another process
//! that changes a file in between.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::SystemTime;

use anchors::Cancel;
use resolvers::host::{FileBytes, Host, HostWrite, Listing, LocalHost, OpenFile, ReadError, Stat};
use rustix::io::Errno;

/// What happens at the chosen operation.
pub(super) enum Fault {
    /// It fails once.
    Error(Errno),
    /// It and every later one fails; a write leaves half of its bytes.
    Crash,
    /// Something else happens first.
    Hook(Box<dyn FnOnce() + Send>),
}

/// Counts the operations that change something, from 0.
#[derive(Default)]
pub(super) struct FaultHost {
    state: Mutex<State>,
    flavor: Flavor,
}

/// What kind of machine it is.
#[derive(Clone, Copy, Default)]
pub(super) struct Flavor {
    /// Two names can't be exchanged in one step.
    pub(super) no_exchange: bool,
    /// Files have one name only.
    pub(super) no_links: bool,
    /// It has been started anew.
    pub(super) restarted: bool,
}

#[derive(Default)]
struct State {
    count: usize,
    fault: Option<(usize, Fault)>,
    crashed: bool,
    disk: Disk,
}

/// What the disk has not been told yet.
#[derive(Default)]
struct Disk {
    /// Unlinked files go here, so that a power loss can bring them back.
    shadow: Option<PathBuf>,
    names: Vec<Unsynced>,
    /// Content at the last sync, by inode; nothing for a new file.
    contents: HashMap<u64, Option<Vec<u8>>>,
}

struct Unsynced {
    dir: PathBuf,
    undo: Box<dyn FnOnce() + Send>,
}

pub(super) struct Dir {
    fd: OwnedFd,
    path: PathBuf,
}

impl FaultHost {
    pub(super) fn at(operation: usize, fault: Fault) -> Self {
        let state = State { fault: Some((operation, fault)), ..State::default() };
        Self { state: Mutex::new(state), ..Self::default() }
    }

    pub(super) fn of(self, flavor: Flavor) -> Self {
        Self { flavor, ..self }
    }

    /// Remembers what is not synced; `shadow` is a folder outside the tree.
    pub(super) fn with_disk(self, shadow: &Path) -> Self {
        self.state.lock().unwrap().disk.shadow = Some(shadow.to_owned());
        self
    }

    pub(super) fn count(&self) -> usize {
        self.state.lock().unwrap().count
    }

    pub(super) fn crashed(&self) -> bool {
        self.state.lock().unwrap().crashed
    }

    fn step(&self) -> io::Result<()> {
        let fault = {
            let mut state = self.state.lock().unwrap();
            let count = state.count;
            state.count += 1;
            if state.crashed {
                return Err(io::Error::other("crashed"));
            }
            match state.fault.take() {
                Some((at, fault)) if at == count => fault,
                other => {
                    state.fault = other;
                    return Ok(());
                }
            }
        };
        match fault {
            Fault::Error(errno) => Err(errno.into()),
            Fault::Crash => {
                self.state.lock().unwrap().crashed = true;
                Err(io::Error::other("crashed"))
            }
            Fault::Hook(hook) => {
                hook();
                Ok(())
            }
        }
    }

    fn log(&self, dir: &Dir, undo: impl FnOnce() + Send + 'static) {
        let mut state = self.state.lock().unwrap();
        if state.disk.shadow.is_some() {
            state.disk.names.push(Unsynced { dir: dir.path.clone(), undo: Box::new(undo) });
        }
    }

    fn log_rename(&self, dir: &Dir, from: &OsStr, to: &OsStr) {
        let (from, to) = (dir.path.join(from), dir.path.join(to));
        self.log(dir, move || drop(fs::rename(to, from)));
    }

    /// Loses what was never synced: names of each folder from some moment on, content of files in
    /// part. `chance` picks.
    pub(super) fn lose_power(&self, roots: &[&Path], chance: &mut Chance) {
        let mut state = self.state.lock().unwrap();
        let mut cuts: HashMap<PathBuf, usize> = HashMap::new();
        for op in &state.disk.names {
            *cuts.entry(op.dir.clone()).or_default() += 1;
        }
        for total in cuts.values_mut() {
            *total = chance.below(*total + 1); // how many of the folder's last ones are lost
        }
        for op in state.disk.names.drain(..).rev() {
            let left = cuts.get_mut(&op.dir).unwrap();
            if *left > 0 {
                *left -= 1;
                (op.undo)();
            }
        }
        let dirty = std::mem::take(&mut state.disk.contents);
        for root in roots {
            for path in files_below(root) {
                if let Some(synced) = dirty.get(&fs::metadata(&path).unwrap().ino()) {
                    tear(&path, synced.as_deref(), chance);
                }
            }
        }
    }
}

/// Leaves old, new or zeros in each block of a file.
fn tear(path: &Path, synced: Option<&[u8]>, chance: &mut Chance) {
    let new = fs::read(path).unwrap();
    let mut left = new.clone();
    for (at, block) in left.chunks_mut(512).enumerate() {
        let old = synced.unwrap_or_default().get(at * 512..).unwrap_or_default();
        if chance.below(2) == 0 {
            for (at, byte) in block.iter_mut().enumerate() {
                *byte = old.get(at).copied().unwrap_or(0);
            }
        }
    }
    if synced.is_none() {
        left.truncate(chance.below(3) * left.len() / 2);
    }
    // Through the inode, as the disk would: times and names stay.
    let times = fs::metadata(path).unwrap().modified().unwrap();
    let file = fs::OpenOptions::new().write(true).open(path).unwrap();
    file.set_len(left.len() as u64).unwrap();
    file.write_all_at(&left, 0).unwrap();
    file.set_modified(times).unwrap();
}

pub(super) fn files_below(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(root).into_iter().flatten() {
        let path = entry.unwrap().path();
        match fs::symlink_metadata(&path).unwrap() {
            meta if meta.is_dir() => found.extend(files_below(&path)),
            meta if meta.is_file() => found.push(path),
            _ => {}
        }
    }
    found
}

/// Repeatable chance.
pub(super) struct Chance(pub(super) u64);

impl Chance {
    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        ((self.0 >> 33) as usize) % bound
    }
}

impl Host for FaultHost {
    fn stat(&self, path: &Path) -> io::Result<Stat> {
        LocalHost.stat(path)
    }
    fn lstat(&self, path: &Path) -> io::Result<Stat> {
        LocalHost.lstat(path)
    }
    fn realpath(&self, path: &Path) -> io::Result<PathBuf> {
        LocalHost.realpath(path)
    }
    fn open(&self, path: &Path) -> Result<OpenFile, ReadError> {
        LocalHost.open(path)
    }
    fn read_into(
        &self,
        path: &Path,
        buffer: &mut Vec<u8>,
        max_bytes: u64,
        cancel: &Cancel,
    ) -> Result<Stat, ReadError> {
        LocalHost.read_into(path, buffer, max_bytes, cancel)
    }
    fn read(&self, path: &Path, max_bytes: u64, cancel: &Cancel) -> Result<FileBytes, ReadError> {
        LocalHost.read(path, max_bytes, cancel)
    }
    fn read_range(
        &self,
        path: &Path,
        start: u64,
        len: u64,
        cancel: &Cancel,
    ) -> Result<FileBytes, ReadError> {
        LocalHost.read_range(path, start, len, cancel)
    }
    fn read_dir(&self, path: &Path, max: usize, cancel: &Cancel) -> Result<Listing, ReadError> {
        LocalHost.read_dir(path, max, cancel)
    }
    fn read_link(&self, path: &Path) -> io::Result<PathBuf> {
        LocalHost.read_link(path)
    }
    fn check_writable(&self, path: &Path) -> io::Result<()> {
        LocalHost.check_writable(path)
    }
    fn is_mount_point(&self, path: &Path) -> bool {
        LocalHost.is_mount_point(path)
    }
    fn env(&self, name: &OsStr) -> Option<OsString> {
        LocalHost.env(name)
    }
    fn home_dir(&self) -> Option<PathBuf> {
        LocalHost.home_dir()
    }
    fn now(&self) -> SystemTime {
        LocalHost.now()
    }
    fn uid(&self) -> u32 {
        LocalHost.uid()
    }
    fn boot_id(&self) -> Option<u128> {
        Some(if self.flavor.restarted { 2 } else { 1 })
    }
}

impl HostWrite for FaultHost {
    type Dir = Dir;
    type File = File;

    fn open_dir(&self, path: &Path) -> io::Result<Dir> {
        Ok(Dir { fd: LocalHost.open_dir(path)?, path: path.to_owned() })
    }
    fn stat_in(&self, dir: &Dir, name: &OsStr) -> io::Result<Stat> {
        LocalHost.stat_in(&dir.fd, name)
    }
    fn stat_file(&self, file: &File) -> io::Result<Stat> {
        LocalHost.stat_file(file)
    }
    fn create_new(&self, dir: &Dir, name: &OsStr, mode: u32) -> io::Result<File> {
        self.step()?;
        let file = LocalHost.create_new(&dir.fd, name, mode)?;
        let path = dir.path.join(name);
        self.log(dir, move || drop(fs::remove_file(path)));
        self.state.lock().unwrap().disk.contents.insert(file.metadata()?.ino(), None);
        Ok(file)
    }
    fn open_in(&self, dir: &Dir, name: &OsStr, write: bool) -> io::Result<File> {
        if write {
            self.step()?;
        }
        LocalHost.open_in(&dir.fd, name, write)
    }
    fn write_at(&self, file: &File, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.keep_synced(file);
        let crashed = self.crashed();
        let result = self.step();
        if result.is_err() && !crashed {
            LocalHost.write_at(file, offset, &bytes[..bytes.len() / 2])?;
        }
        result?;
        LocalHost.write_at(file, offset, bytes)
    }
    fn append_in(&self, dir: &Self::Dir, name: &OsStr, bytes: &[u8]) -> io::Result<()> {
        self.step()?;
        LocalHost.append_in(&dir.fd, name, bytes)
    }
    fn read_at(&self, file: &File, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        LocalHost.read_at(file, offset, buffer)
    }
    fn truncate(&self, file: &File, len: u64) -> io::Result<()> {
        self.keep_synced(file);
        self.step()?;
        LocalHost.truncate(file, len)
    }
    fn reserve(&self, file: &File, len: u64) -> io::Result<()> {
        self.keep_synced(file);
        self.step()?;
        LocalHost.reserve(file, len)
    }
    /// Only remembered: the tests are about order, not about this disk.
    fn sync_file(&self, file: &File) -> io::Result<()> {
        self.step()?;
        self.state.lock().unwrap().disk.contents.remove(&file.metadata()?.ino());
        Ok(())
    }
    fn sync_dir(&self, dir: &Dir) -> io::Result<()> {
        self.step()?;
        self.state.lock().unwrap().disk.names.retain(|op| op.dir != dir.path);
        Ok(())
    }
    fn set_mode(&self, file: &File, mode: u32) -> io::Result<()> {
        self.step()?;
        LocalHost.set_mode(file, mode)
    }
    fn set_owner(&self, file: &File, uid: Option<u32>, gid: Option<u32>) -> io::Result<()> {
        self.step()?;
        LocalHost.set_owner(file, uid, gid)
    }
    fn xattrs(&self, path: &Path) -> io::Result<Vec<(Vec<u8>, Vec<u8>)>> {
        LocalHost.xattrs(path)
    }
    fn set_xattr(&self, file: &File, name: &[u8], value: &[u8]) -> io::Result<()> {
        self.step()?;
        LocalHost.set_xattr(file, name, value)
    }
    fn xattr_names(&self, file: &File) -> io::Result<Vec<Vec<u8>>> {
        LocalHost.xattr_names(file)
    }
    fn remove_xattr(&self, file: &File, name: &[u8]) -> io::Result<()> {
        self.step()?;
        LocalHost.remove_xattr(file, name)
    }
    fn rename(&self, dir: &Dir, from: &OsStr, to: &OsStr) -> io::Result<()> {
        self.step()?;
        LocalHost.rename(&dir.fd, from, to)?;
        self.log_rename(dir, from, to);
        Ok(())
    }
    fn rename_new(&self, dir: &Dir, from: &OsStr, to: &OsStr) -> io::Result<()> {
        self.step()?;
        if self.flavor.no_exchange {
            return Err(io::ErrorKind::Unsupported.into());
        }
        LocalHost.rename_new(&dir.fd, from, to)?;
        self.log_rename(dir, from, to);
        Ok(())
    }
    fn exchange(&self, dir: &Dir, a: &OsStr, b: &OsStr) -> io::Result<()> {
        self.step()?;
        if self.flavor.no_exchange {
            return Err(io::ErrorKind::Unsupported.into());
        }
        LocalHost.exchange(&dir.fd, a, b)?;
        let (path, a, b) = (dir.path.clone(), a.to_owned(), b.to_owned());
        self.log(dir, move || {
            if let Ok(dir) = LocalHost.open_dir(&path) {
                let _ = LocalHost.exchange(&dir, &a, &b);
            }
        });
        Ok(())
    }
    fn hard_link(&self, dir: &Dir, name: &OsStr, new: &OsStr) -> io::Result<()> {
        self.step()?;
        if self.flavor.no_links {
            return Err(Errno::PERM.into());
        }
        LocalHost.hard_link(&dir.fd, name, new)?;
        let path = dir.path.join(new);
        self.log(dir, move || drop(fs::remove_file(path)));
        Ok(())
    }
    fn unlink(&self, dir: &Dir, name: &OsStr) -> io::Result<()> {
        self.step()?;
        let shadow = self.state.lock().unwrap().disk.shadow.clone();
        let Some(shadow) = shadow else { return LocalHost.unlink(&dir.fd, name) };
        let (path, kept) = (dir.path.join(name), shadow.join(self.count().to_string()));
        fs::rename(&path, &kept)?;
        self.log(dir, move || drop(fs::rename(kept, path)));
        Ok(())
    }
    fn make_dir(&self, dir: &Dir, name: &OsStr, mode: u32) -> io::Result<()> {
        self.step()?;
        LocalHost.make_dir(&dir.fd, name, mode)?;
        let path = dir.path.join(name);
        self.log(dir, move || drop(fs::remove_dir_all(path)));
        Ok(())
    }
    fn remove_dir(&self, dir: &Dir, name: &OsStr) -> io::Result<()> {
        self.step()?;
        LocalHost.remove_dir(&dir.fd, name)?;
        let path = dir.path.join(name);
        self.log(dir, move || drop(fs::create_dir(path)));
        Ok(())
    }
    fn try_lock(&self, file: &File) -> io::Result<()> {
        LocalHost.try_lock(file)
    }
}

impl FaultHost {
    /// Remembers what the disk has of a file before it is written for the first time.
    fn keep_synced(&self, file: &File) {
        let meta = file.metadata().unwrap();
        let mut content = vec![0; meta.len() as usize];
        file.read_exact_at(&mut content, 0).unwrap();
        let mut state = self.state.lock().unwrap();
        state.disk.contents.entry(meta.ino()).or_insert(Some(content));
    }
}
