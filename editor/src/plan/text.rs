//! The caller's text: what is refused in it, and its line endings.

use std::borrow::Cow;

use anchors::LineHash;
use anchors::anchor::BAR;
use anchors::reference::envelope_id;
use uuid::Uuid;

use super::PlanError;

/// Refuses text that was copied together with what only the display adds: a result's envelope, or
/// a `12#A4F0│` before a line.
pub(super) fn refuse_display(text: &str, is_live: &dyn Fn(Uuid) -> bool) -> Result<(), PlanError> {
    if let Some(id) = envelope_id(text).filter(|id| is_live(*id)) {
        return Err(PlanError::Envelope(id));
    }
    for (at, line) in text.split('\n').enumerate() {
        if let Some(prefix) = display_prefix(line) {
            return Err(PlanError::Prefixed { line: at + 1, prefix: prefix.to_owned() });
        }
    }
    Ok(())
}

/// The `12#A4F0│` that `line` starts with.
fn display_prefix(line: &str) -> Option<&str> {
    let number = line.bytes().take_while(u8::is_ascii_digit).count();
    let hash = line[number..].strip_prefix('#')?.get(..4)?;
    let text = line[number + 5..].strip_prefix(BAR)?;
    let shown = number > 0 && hash.parse::<LineHash>().is_ok();
    shown.then(|| &line[..line.len() - text.len()])
}

/// `text` with every LF and CRLF turned into `newline`. A bare CR is data and stays.
pub(super) fn with_newlines<'a>(text: &'a str, newline: &str) -> Cow<'a, str> {
    let crlf = newline == "\r\n";
    let foreign = match crlf {
        true => text.match_indices('\n').any(|(at, _)| !text[..at].ends_with('\r')),
        false => text.contains("\r\n"),
    };
    if !foreign {
        return Cow::Borrowed(text);
    }
    let unix = text.replace("\r\n", "\n");
    Cow::Owned(if crlf { unix.replace('\n', "\r\n") } else { unix })
}

/// The line ending that `text` ends with, or `""`.
pub(super) fn terminator(text: &str) -> &str {
    let content =
        text.strip_suffix('\n').map_or(text, |rest| rest.strip_suffix('\r').unwrap_or(rest));
    &text[content.len()..]
}

/// Whether the first line of `text` is blank; text without lines is not.
pub(super) fn starts_blank(text: &str) -> bool {
    !text.is_empty() && text.split('\n').next().is_some_and(|line| line.trim().is_empty())
}

/// Whether the last line of `text` is blank, a final terminator left aside.
pub(super) fn ends_blank(text: &str) -> bool {
    let body = text.strip_suffix('\n').unwrap_or(text);
    !text.is_empty() && body.rsplit('\n').next().is_some_and(|line| line.trim().is_empty())
}

/// Line and column (in characters), both 1-based, of byte `offset`.
pub(super) fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(offset)];
    let line = before.rfind('\n').map_or(0, |lf| lf + 1);
    (before.matches('\n').count() + 1, before[line..].chars().count() + 1)
}
