//! The new content of a file, in the bytes that a file of its format holds.

use std::sync::Arc;

use anchors::{Encoding, Format, Snapshot, SourceId};

use super::PlanError;
use super::change::ChangeSet;

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
) -> Result<After, PlanError> {
    let unreadable = || PlanError::Unreadable { file: file.clone(), encoding: format.name() };
    if format.encoding == Encoding::Utf8 {
        return utf8(format, before, changes).ok_or_else(unreadable);
    }
    let text = changes.apply(before);
    let (snapshot, bytes) = Snapshot::encode(text, format).map_err(|_| unreadable())?;
    // Which legacy encoding bytes are in is found out anew at every read; it must not lead to
    // other text than was planned.
    let snapshot = match format.encoding {
        Encoding::Legacy(_) => {
            let read = Snapshot::decode(bytes.clone()).map_err(|_| unreadable())?;
            if read.text() != snapshot.text() {
                return Err(unreadable());
            }
            read
        }
        _ => snapshot,
    };
    Ok(After { snapshot: Arc::new(snapshot), encoded: Some(bytes.into()) })
}

/// One copy of the text, into a buffer of the final size that then becomes the snapshot. `None`
/// when the text would be taken for a byte order mark and less.
fn utf8(format: Format, before: &str, changes: &ChangeSet) -> Option<After> {
    let mark = if format.bom { UTF8_BOM } else { "" };
    let mut bytes = Vec::with_capacity(mark.len() + changes.len_after());
    bytes.extend_from_slice(mark.as_bytes());
    changes.pieces(before).for_each(|piece| bytes.extend_from_slice(piece.as_bytes()));
    if !format.bom && bytes.starts_with(UTF8_BOM.as_bytes()) {
        return None;
    }
    let encoded = format.bom.then(|| Arc::from(&bytes[..]));
    let snapshot = match Snapshot::decode(bytes) {
        Ok(snapshot) => snapshot,
        // Text full of control characters would be called binary by a reader; writing it is fine.
        Err(_) => Snapshot::encode(changes.apply(before), format).ok()?.0,
    };
    Some(After { snapshot: Arc::new(snapshot), encoded })
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
