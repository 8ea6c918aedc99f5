//! Files as edits and searches inside results see them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anchors::{ErrorCode, Snapshot, SourceId};
use editor::mutation::Original;
use editor::transaction::Before;
use resolvers::cache::Content;
use resolvers::limits::TEXT_BYTES;

use super::{Call, path_of, source_of};
use crate::failure::Failure;

/// A file, or the absence of one, at one moment.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// Its identity.
    pub source: SourceId,
    /// Where it is, links resolved.
    pub path: PathBuf,
    /// What is there.
    pub original: Original,
    /// The same, for the transaction to check against.
    pub before: Before,
}

impl Loaded {
    /// Its text.
    ///
    /// # Errors
    /// `UNSUPPORTED_CONTENT` when it is binary, `NOT_FOUND` when it is not there.
    pub fn text(&self) -> Result<&Arc<Snapshot>, Failure> {
        match &self.original {
            Original::Text(snapshot) => Ok(snapshot),
            Original::Missing => Err(Failure::new(ErrorCode::NotFound, "the file does not exist")),
            Original::Binary { bytes, .. } => Err(Failure::new(
                ErrorCode::UnsupportedContent,
                format!("the file is binary ({bytes} bytes) and can't be edited as text"),
            )),
        }
    }
}

impl Call<'_> {
    /// The file at a path without links.
    ///
    /// # Errors
    /// What the host says, in a tool's words.
    pub fn load(&self, path: &Path) -> Result<Loaded, Failure> {
        let source = source_of(path);
        let engine = self.engine;
        let cancel = &self.context.cancel;
        let file = match engine.cache.get(&engine.host, path, TEXT_BYTES, cancel) {
            Err(error) if error.code() == ErrorCode::NotFound => {
                let (original, before) = (Original::Missing, Before::Absent);
                return Ok(Loaded { source, path: path.to_owned(), original, before });
            }
            result => result.map_err(|error| {
                Failure::new(error.code(), error.to_string()).at(self.path_name(path))
            })?,
        };
        let hash = file.content.hash();
        let before = Before::Present { stat: file.stat, hash, settled: file.settled };
        let original = match file.content {
            Content::Text(snapshot) => Original::Text(snapshot),
            Content::Binary { hash, .. } => Original::Binary { hash, bytes: file.stat.size },
        };
        Ok(Loaded { source, path: path.to_owned(), original, before })
    }

    /// The file of an identity.
    ///
    /// # Errors
    /// As [`Call::load`]; `UNSUPPORTED` for a source that is no file.
    pub fn load_source(&self, source: &SourceId) -> Result<Loaded, Failure> {
        let path = path_of(source).ok_or_else(|| {
            Failure::new(ErrorCode::Unsupported, "it is no file and can't be edited")
                .at(source.as_str())
        })?;
        self.load(&path)
    }
}
