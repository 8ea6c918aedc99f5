//! Files as edits and searches inside results see them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anchors::{ContentHash, ErrorCode, Snapshot, SourceId};
use editor::mutation::Original;
use editor::transaction::Before;
use resolvers::host::{Host as _, ReadError};

use super::{Call, path_of, source_of};
use crate::failure::Failure;
use crate::limits::MAX_TEXT_BYTES;

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
        let failed = |error: ReadError| {
            Failure::new(error.code(), error.to_string()).at(self.path_name(path))
        };
        let read = match self.engine.host.read(path, MAX_TEXT_BYTES, &self.context.cancel) {
            Err(error) if error.code() == ErrorCode::NotFound => {
                let (original, before) = (Original::Missing, Before::Absent);
                return Ok(Loaded { source, path: path.to_owned(), original, before });
            }
            result => result.map_err(failed)?,
        };
        let hash = ContentHash::of(&read.bytes);
        let before = Before::of(&read, hash);
        let size = read.stat.size;
        let original = match Snapshot::decode(read.bytes) {
            Ok(snapshot) => Original::Text(Arc::new(snapshot)),
            Err(_) => Original::Binary { hash, bytes: size },
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
