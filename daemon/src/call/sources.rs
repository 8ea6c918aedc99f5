//! From what an agent writes in `path` to the file that it means, for searches and edits.

use std::path::{Path, PathBuf};

use anchors::ErrorCode;
use editor::transaction;
use resolvers::host::Host as _;
use resolvers::source::{self, Base, Located, SourceError};

use super::Call;
use crate::failure::Failure;

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
    /// `NOT_FOUND` and others; `UNSUPPORTED` for a source that is only for reading.
    pub fn locate(&self, source: &str) -> Result<Located, Failure> {
        if let Some((scheme, _)) = source::scheme(source) {
            let message = format!("`{scheme}:` can be read, but is no file");
            return Err(Failure::new(ErrorCode::Unsupported, message).at(source));
        }
        self.base()?
            .locate(source, &self.context.cancel)
            .map_err(|error| source_failure(&error, source))
    }

    /// The file that an edit is for: named literally, since an edit follows no reading of a name
    /// that its caller may not have meant.
    ///
    /// # Errors
    /// As [`Call::locate`].
    pub fn locate_editable(&self, source: &str) -> Result<Located, Failure> {
        let located = self.locate(source)?;
        match located.notice {
            Some(notice) => {
                let message = format!("{notice}; edits take the exact name");
                Err(Failure::new(ErrorCode::NotFound, message).at(source))
            }
            None => Ok(located),
        }
    }

    /// The file or folder that a search is to look in.
    ///
    /// # Errors
    /// As [`Call::locate`].
    pub fn locate_searchable(&self, source: &str) -> Result<PathBuf, Failure> {
        let located = self.locate(source)?;
        if located.anchor.is_some() {
            return Err(Failure::invalid(
                "a search takes files, folders and results, not single anchors; read it first",
            )
            .at(source));
        }
        Ok(located.path)
    }

    /// The file that a `write` is to create or replace.
    ///
    /// # Errors
    /// `LINK_LOOP` and others.
    pub fn locate_new(&self, source: &str) -> Result<PathBuf, Failure> {
        if let Some((scheme, _)) = source::scheme(source) {
            let message = format!("`{scheme}:` can be read, but is no file");
            return Err(Failure::new(ErrorCode::Unsupported, message).at(source));
        }
        if source.ends_with('/') {
            let message = "a name that ends in `/` is a folder's; name the file";
            return Err(Failure::new(ErrorCode::NotAFile, message).at(source));
        }
        let base = self.base()?;
        if base.find(source).is_ok_and(|located| located.anchor.is_some()) {
            return Err(Failure::invalid(
                "`write` replaces whole files; to change the text at an anchor use `replace`",
            )
            .at(source));
        }
        let path = base.literal(source).map_err(|error| source_failure(&error, source))?;
        transaction::resolve(&self.engine.host, &path)
            .map_err(|cause| Failure::new(cause.code(), cause.to_string()))
    }

    fn base(&self) -> Result<Base<'_, resolvers::LocalHost>, Failure> {
        Ok(Base { host: &self.engine.host, root: self.root()? })
    }
}

fn source_failure(error: &SourceError, source: &str) -> Failure {
    Failure::new(error.code(), error.to_string()).at(source)
}
