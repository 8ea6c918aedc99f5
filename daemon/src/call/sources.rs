//! From what an agent writes in `path` to the file that it means.

use std::path::{Path, PathBuf};

use anchors::ErrorCode;
use editor::transaction;
use resolvers::host::Host as _;

use super::Call;
use crate::failure::Failure;

/// A file that exists, and the anchor that was named with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    /// Its path, links resolved.
    pub path: PathBuf,
    /// What follows the number sign, when the whole is no file's name.
    pub anchor: Option<String>,
}

impl Call<'_> {
    /// The real path of something that exists.
    ///
    /// # Errors
    /// What the host says.
    pub fn real_path(&self, path: &Path) -> Result<PathBuf, Failure> {
        self.engine.host.realpath(path).map_err(|error| {
            let error = resolvers::host::ReadError::io(path, error);
            Failure::new(error.code(), error.to_string()).at(self.path_name(path))
        })
    }

    /// The file that a source names, with its anchor.
    ///
    /// # Errors
    /// `NOT_FOUND` and others.
    pub fn locate(&self, source: &str) -> Result<Located, Failure> {
        let path = self.root()?.join(source);
        Ok(Located { path: self.real_path(&path)?, anchor: None })
    }

    /// The file or folder that a search is to look in.
    ///
    /// # Errors
    /// As [`Call::locate`].
    pub fn locate_searchable(&self, source: &str) -> Result<PathBuf, Failure> {
        Ok(self.locate(source)?.path)
    }

    /// The file that a `write` is to create or replace.
    ///
    /// # Errors
    /// `LINK_LOOP` and others.
    pub fn locate_new(&self, source: &str) -> Result<PathBuf, Failure> {
        let path = self.root()?.join(source);
        transaction::resolve(&self.engine.host, &path)
            .map_err(|cause| Failure::new(cause.code(), cause.to_string()))
    }
}

#[expect(dead_code, reason = "used once sources are wired")]
fn not_found(message: String) -> Failure {
    Failure::new(ErrorCode::NotFound, message)
}
