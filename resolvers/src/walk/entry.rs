//! A file as the walk hands it out.

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::level::Level;
use super::{Visit, below, os};

/// A root of the walk.
#[derive(Debug)]
pub(crate) struct Root {
    /// Its place in the list of roots.
    pub(crate) index: usize,
    /// As it was named.
    pub(crate) given: PathBuf,
    /// Length of its real path, trailing slash included.
    pub(crate) prefix: usize,
}

/// An open folder.
#[derive(Debug)]
pub(crate) struct Dir {
    pub(crate) fd: OwnedFd,
    /// Absolute path without links, no trailing slash (but for `/` itself).
    pub(crate) path: Vec<u8>,
    pub(crate) level: Option<Arc<Level>>,
    pub(crate) root: Arc<Root>,
}

impl Dir {
    /// Path below the root of `name` in this folder.
    pub(crate) fn path_of(&self, name: &[u8]) -> PathBuf {
        let mut relative = self.path.get(self.root.prefix..).unwrap_or_default().to_vec();
        if !relative.is_empty() && !name.is_empty() {
            relative.push(b'/');
        }
        relative.extend_from_slice(name);
        below(&self.root.given, &relative)
    }
}

/// A file that the walk came upon, or that was named as a root.
#[derive(Clone, Copy, Debug)]
pub struct FileEntry<'a>(pub(crate) Place<'a>);

#[derive(Clone, Copy, Debug)]
pub(crate) enum Place<'a> {
    Found { dir: &'a Dir, name: &'a CStr, path: &'a [u8] },
    Named { index: usize, path: &'a Path },
}

impl FileEntry<'_> {
    /// The path: the root as it was named, joined with what is below it.
    pub fn path(&self) -> PathBuf {
        match self.0 {
            Place::Found { dir, name, .. } => dir.path_of(name.to_bytes()),
            Place::Named { path, .. } => path.to_owned(),
        }
    }

    /// The path below the root, as bytes; the file's name when it is itself a root.
    pub fn relative(&self) -> &[u8] {
        match self.0 {
            Place::Found { dir, path, .. } => path.get(dir.root.prefix..).unwrap_or_default(),
            Place::Named { path, .. } => path.file_name().unwrap_or_default().as_encoded_bytes(),
        }
    }

    /// Which root it belongs to, counted from 0.
    pub fn root(&self) -> usize {
        match self.0 {
            Place::Found { dir, .. } => dir.root.index,
            Place::Named { index, .. } => index,
        }
    }

    /// Whether the file itself was named as a root.
    pub fn is_named(&self) -> bool {
        matches!(self.0, Place::Named { .. })
    }

    /// Opens it for reading, never blocking on a FIFO that took its place.
    ///
    /// # Errors
    /// The operating system's reason.
    pub fn open(&self) -> io::Result<File> {
        match self.0 {
            Place::Found { dir, name, .. } => os::open_at(dir.fd.as_fd(), name),
            Place::Named { path, .. } => os::open(path),
        }
    }
}

/// Collects paths.
#[derive(Debug, Default)]
pub(crate) struct Paths(Mutex<Vec<PathBuf>>);

impl Paths {
    /// The paths so far, sorted.
    pub(crate) fn take(&self) -> Vec<PathBuf> {
        let mut paths = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        paths.sort_by(|a, b| a.as_os_str().cmp(b.as_os_str()));
        paths
    }
}

impl Visit for Paths {
    type Local = Vec<PathBuf>;

    fn enter(&self) -> Self::Local {
        Vec::new()
    }

    fn file(&self, local: &mut Self::Local, file: &FileEntry<'_>) {
        local.push(file.path());
    }

    fn leave(&self, local: Self::Local) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(local);
    }
}
