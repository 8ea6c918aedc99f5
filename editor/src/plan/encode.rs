//! The new content of a file, in the bytes that a file of its format holds.

use std::sync::Arc;

use anchors::{Cancel, Cancelled, Encoding, Format, Snapshot, SourceId};

use super::PlanError;
use super::change::ChangeSet;
use crate::limits;

const UTF8_BOM: &str = "\u{FEFF}";

/// The content of a file after the plan. Cheap to clone.
#[derive(Clone, Debug)]
pub struct After {
    snapshot: Arc<Snapshot>,
    /// The bytes, unless they are those of the text.
    encoded: Option<Arc<[u8]>>,
}

impl After {
    /// The new text, just as a reader of the bytes sees it.
    pub fn snapshot(&self) -> &Arc<Snapshot> {
        &self.snapshot
    }

    /// The new bytes of the file. Those of plain UTF-8 are the text itself: no second copy exists.
    pub fn bytes(&self) -> &[u8] {
        self.encoded.as_deref().unwrap_or(self.snapshot.text().as_bytes())
    }
}

impl AsRef<[u8]> for After {
    fn as_ref(&self) -> &[u8] {
        self.bytes()
    }
}

/// Applies `changes` to `before` in `format`.
pub(super) fn after(
    file: &SourceId,
    format: Format,
    before: &str,
    changes: &ChangeSet,
    cancel: &Cancel,
) -> Result<Result<After, PlanError>, Cancelled> {
    let after = match format.encoding {
        Encoding::Utf8 => utf8(format, before, changes, cancel)?,
        _ => other(format, changes.apply(before)),
    };
    let unreadable = || PlanError::Unreadable { file: file.clone(), encoding: format.name() };
    Ok(after.ok_or_else(unreadable))
}

/// One copy of the text, into a buffer of the final size that then becomes the snapshot. `None`
/// when a reader would take the front of the text for a byte order mark.
fn utf8(
    format: Format,
    before: &str,
    changes: &ChangeSet,
    cancel: &Cancel,
) -> Result<Option<After>, Cancelled> {
    let mark = if format.bom { UTF8_BOM } else { "" };
    let mut bytes = Vec::with_capacity(mark.len() + changes.len_after());
    bytes.extend_from_slice(mark.as_bytes());
    for chunk in
        changes.pieces(before).flat_map(|piece| piece.as_bytes().chunks(limits::CHUNK_BYTES))
    {
        cancel.check()?;
        bytes.extend_from_slice(chunk);
    }
    if !format.bom && bytes.starts_with(UTF8_BOM.as_bytes()) {
        return Ok(None);
    }
    let encoded = format.bom.then(|| Arc::from(&bytes[..]));
    let snapshot = match Snapshot::decode(bytes) {
        Ok(snapshot) => Some(snapshot),
        // Text full of control characters would be called binary by a reader; writing it is fine.
        Err(_) => {
            Snapshot::encode(changes.apply(before), format).ok().map(|(snapshot, _)| snapshot)
        }
    };
    Ok(snapshot.map(|snapshot| After { snapshot: Arc::new(snapshot), encoded }))
}

/// UTF-16 and legacy encodings. Which legacy encoding bytes are in is found out anew at every
/// read: `None` when that would lead to other text than was planned.
fn other(format: Format, text: String) -> Option<After> {
    let (mut snapshot, bytes) = Snapshot::encode(text, format).ok()?;
    if let Encoding::Legacy(_) = format.encoding {
        let read = Snapshot::decode(bytes.clone()).ok()?;
        if read.text() != snapshot.text() {
            return None;
        }
        snapshot = read;
    }
    Some(After { snapshot: Arc::new(snapshot), encoded: Some(bytes.into()) })
}

/// The text to write and the format to write it in: a byte order mark that the caller's text starts
/// with is the file's, not the text's.
pub(super) fn split_mark(text: &str, format: Format) -> (&str, Format) {
    let unicode = !matches!(format.encoding, Encoding::Legacy(_));
    match text.strip_prefix(UTF8_BOM) {
        Some(rest) if unicode => (rest, Format { bom: true, ..format }),
        _ => (text, format),
    }
}
