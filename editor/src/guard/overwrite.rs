//! Holds a `write` over a file that the session does not know.

use anchors::ErrorCode;
use xxhash_rust::xxh3::Xxh3Default;

use super::{Guard, PlannedEdit, Verdict};
use crate::mutation::{Mutation, Write};

/// A `write` over an existing file whose current content this session has not seen is held back
/// once: whoever repeats the identical call means it.
pub struct OverwriteGuard;

impl Guard for OverwriteGuard {
    fn id(&self) -> &'static str {
        "guard.overwrite"
    }

    fn check(&self, edit: &PlannedEdit<'_>) -> Verdict {
        let Mutation::Write(write) = edit.mutation else { return Verdict::Allow };
        let Some(content) = write.before.hash() else { return Verdict::Allow };
        let seen = edit.session.has_seen(&write.source, content);
        if seen || edit.session.is_repeat(fingerprint(write, content.0)) {
            return Verdict::Allow;
        }
        Verdict::Deny {
            guard: self.id(),
            code: ErrorCode::UnseenOverwrite,
            message: format!(
                "`{}` exists and this session has not seen its current text",
                write.source
            ),
            hint: Some("repeat the identical call to overwrite it, or read it first".to_owned()),
        }
    }
}

/// Equal for identical calls on an unchanged file only.
fn fingerprint(write: &Write, content: u128) -> u128 {
    let mut hasher = Xxh3Default::new();
    hasher.update(&content.to_le_bytes());
    hasher.update(&write.source.as_str().len().to_le_bytes());
    hasher.update(write.source.as_str().as_bytes());
    hasher.update(write.text.as_bytes());
    hasher.digest128()
}
