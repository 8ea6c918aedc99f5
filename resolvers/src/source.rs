//! From what an agent writes in `path` to the file that it means.
//!
//! - Relative paths start at the workspace root; absolute ones, `..`, `~/` and `file:` URLs work.
//! - The literal name comes first. Only when nothing has it are other readings tried, and reported:
//!   a leading `@`, percent-encoding, and what macOS and word processors make of names.
//! - `path#anchor` is a file whose name has a `#`, if there is one; else it is split at the first
//!   `#` before which a file's name stands.
//! - A name that starts like a scheme (`raw:`, `docs:`) is never a file.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use anchors::{Cancel, ErrorCode, SourceId};
use unicode_normalization::UnicodeNormalization as _;

use crate::host::{Host, is_link_loop};

mod near;

/// A file or folder that exists, and the anchor that was named with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    /// Its real path, symbolic links resolved.
    pub path: PathBuf,
    /// What follows the number sign, when the whole is no file's name.
    pub anchor: Option<String>,
    /// What the reader must know when the name was not taken literally.
    pub notice: Option<String>,
}

/// Why a source names nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// The field is empty.
    #[error("the path is empty; name a file, a folder or a result")]
    Empty,
    /// Nothing has that name.
    #[error("nothing is there{}", close_names(near))]
    NotFound {
        /// The closest existing names, best first, relative to the root.
        near: Vec<String>,
    },
    /// A scheme that is not installed.
    #[error("no source is called `{scheme}:`; there are file paths, file: URLs and {known}")]
    NoResolver {
        /// The scheme without its colon.
        scheme: String,
        /// The installed ones.
        known: String,
    },
    /// A symbolic link whose target is missing.
    #[error("it is a symbolic link to `{target}`, which does not exist")]
    Dangling {
        /// The text of the link.
        target: String,
    },
    /// Symbolic links that lead in a circle.
    #[error("it runs in a loop of symbolic links")]
    LinkLoop,
    /// A `file:` URL that does not parse or is of another host.
    #[error("the file: URL does not parse; write file:///absolute/path with % escapes")]
    BadUrl,
    /// The operating system refused or failed.
    #[error("the system says: {reason}")]
    Io {
        /// What it says.
        reason: String,
        /// The code for it.
        code: ErrorCode,
    },
    /// The call was cancelled.
    #[error(transparent)]
    Cancelled(#[from] anchors::Cancelled),
}

fn close_names(names: &[String]) -> String {
    match names {
        [] => String::new(),
        names => format!("; close names: {}", names.join(", ")),
    }
}

impl SourceError {
    /// The stable code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Empty | Self::BadUrl => ErrorCode::InvalidRequest,
            Self::NotFound { .. } | Self::Dangling { .. } => ErrorCode::NotFound,
            Self::NoResolver { .. } => ErrorCode::NoResolver,
            Self::LinkLoop => ErrorCode::LinkLoop,
            Self::Io { code, .. } => *code,
            Self::Cancelled(_) => ErrorCode::Cancelled,
        }
    }

    pub(crate) fn io(error: &io::Error) -> Self {
        let code = match error.kind() {
            _ if is_link_loop(error) => return Self::LinkLoop,
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
                return Self::NotFound { near: Vec::new() };
            }
            io::ErrorKind::PermissionDenied => ErrorCode::PermissionDenied,
            _ => ErrorCode::ReadFailed,
        };
        let reason =
            error.to_string().split(" (os error").next().unwrap_or_default().to_lowercase();
        Self::Io { reason, code }
    }
}

/// Where relative sources start.
#[derive(Clone, Copy, Debug)]
pub struct Base<'a, H> {
    /// The machine.
    pub host: &'a H,
    /// The workspace root, absolute.
    pub root: &'a Path,
}

/// The schemes that are no files, without their colons.
pub const SCHEMES: &[&str] = &["raw", "temp", "docs"];

/// The scheme of a source and what follows it; `None` for a path or a `file:` URL.
pub fn scheme(source: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = source.split_once(':')?;
    SCHEMES.contains(&scheme).then_some((scheme, rest))
}

impl<H: Host> Base<'_, H> {
    /// The existing file or folder that `source` names, with its anchor.
    ///
    /// # Errors
    /// [`SourceError`], with what helps to find the right name.
    pub fn locate(&self, source: &str, cancel: &Cancel) -> Result<Located, SourceError> {
        match self.find(source) {
            Err(SourceError::NotFound { .. }) => {}
            other => return other,
        }
        cancel.check()?;
        if let Ok(target) = self.host.read_link(&self.literal(source)?) {
            return Err(SourceError::Dangling { target: target.display().to_string() });
        }
        if let Some(scheme) = foreign_scheme(source) {
            let known = SCHEMES.iter().map(|scheme| format!("{scheme}:")).collect::<Vec<_>>();
            return Err(SourceError::NoResolver { scheme, known: known.join(", ") });
        }
        Err(SourceError::NotFound { near: near::names(self, source, cancel) })
    }

    /// As [`Base::locate`], without looking for help when nothing is there.
    ///
    /// # Errors
    /// [`SourceError`]; of several readings that fail, the error of the literal one.
    pub fn find(&self, source: &str) -> Result<Located, SourceError> {
        if source.is_empty() {
            return Err(SourceError::Empty);
        }
        let missing = match self.whole(source) {
            Err(error @ SourceError::NotFound { .. }) => error,
            other => return other,
        };
        for (at, _) in source.match_indices('#') {
            if let Ok(mut located) = self.whole(&source[..at]) {
                located.anchor = Some(source[at + 1..].to_owned());
                return Ok(located);
            }
        }
        Err(missing)
    }

    /// The path of something that may not exist yet, links not resolved.
    ///
    /// # Errors
    /// [`SourceError::Empty`], [`SourceError::BadUrl`].
    pub fn literal(&self, source: &str) -> Result<PathBuf, SourceError> {
        if source.is_empty() {
            return Err(SourceError::Empty);
        }
        if source.starts_with("file:") {
            return url_path(source).ok_or(SourceError::BadUrl);
        }
        if let (Some(rest), Some(home)) = (source.strip_prefix("~/"), self.host.home_dir()) {
            return Ok(home.join(rest));
        }
        if source == "~"
            && let Some(home) = self.host.home_dir()
        {
            return Ok(home);
        }
        Ok(self.root.join(source))
    }

    fn whole(&self, source: &str) -> Result<Located, SourceError> {
        let found = |path, notice| Ok(Located { path, anchor: None, notice });
        match self.real(&self.literal(source)?) {
            Err(SourceError::NotFound { .. }) => {}
            result => return found(result?, None),
        }
        for reading in readings(source) {
            if let Ok(path) = self.real(&self.root.join(&reading)) {
                // A name that is not UTF-8 can't be written in another way: that is no guess.
                let notice = reading
                    .to_str()
                    .map(|name| format!("nothing is called `{source}`; this is `{name}`"));
                return found(path, notice);
            }
        }
        Err(SourceError::NotFound { near: Vec::new() })
    }

    fn real(&self, path: &Path) -> Result<PathBuf, SourceError> {
        if path.as_os_str().as_bytes().contains(&0) {
            return Err(SourceError::NotFound { near: Vec::new() });
        }
        self.host.realpath(path).map_err(|error| SourceError::io(&error))
    }
}

/// `word:` at the front of a source that is no file: somebody meant a scheme.
fn foreign_scheme(source: &str) -> Option<String> {
    let (scheme, _) = source.split_once(':')?;
    let word = scheme.len() > 1 && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    word.then(|| scheme.to_owned())
}

/// Other ways to read a name that nothing has literally.
fn readings(source: &str) -> Vec<OsString> {
    let mut readings: Vec<OsString> = Vec::new();
    if let Some(rest) = source.strip_prefix('@') {
        readings.push(rest.into());
    }
    if source.contains('%') {
        readings.extend(percent_decode(source).map(OsString::from_vec));
    }
    let narrow = source.replace(" AM", "\u{202F}AM").replace(" PM", "\u{202F}PM");
    let plain = source.replace(['\u{202F}', '\u{A0}'], " ");
    let curly = source.replace('\'', "\u{2019}");
    let straight =
        source.replace(['\u{2018}', '\u{2019}'], "'").replace(['\u{201C}', '\u{201D}'], "\"");
    let decomposed: String = source.nfd().collect();
    let composed: String = source.nfc().collect();
    let curly_decomposed: String = curly.nfd().collect();
    let variants = [narrow, plain, curly, straight, decomposed, composed, curly_decomposed];
    readings.extend(variants.into_iter().filter(|variant| variant != source).map(OsString::from));
    readings
}

/// The path of a `file:` URL of this machine; `None` when it is none or does not parse.
pub fn url_path(url: &str) -> Option<PathBuf> {
    let rest = url.strip_prefix("file:")?;
    let rest = match rest.strip_prefix("//") {
        Some(rest) => rest.strip_prefix("localhost").unwrap_or(rest),
        None => rest,
    };
    let bytes = percent_decode(rest)?;
    (bytes.starts_with(b"/")).then(|| PathBuf::from(OsString::from_vec(bytes)))
}

/// The bytes of percent-encoded text; `None` when an escape is broken.
fn percent_decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let mut digit = || char::from(rest.next()?).to_digit(16);
            let value = digit()? * 16 + digit()?;
            bytes.push(u8::try_from(value).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    Some(bytes)
}

/// The identity of the file at a path without links: the path, or a `file:` URL when the path is
/// not UTF-8. Either is accepted as a source.
pub fn id_of(path: &Path) -> SourceId {
    if let Some(text) = path.to_str() {
        return SourceId::new(text);
    }
    let mut url = String::from("file://");
    for &byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            url.push(char::from(byte));
        } else {
            url.push_str(&format!("%{byte:02X}"));
        }
    }
    SourceId::new(url.as_str())
}

/// The path of a file's identity; `None` for a source that is no file.
pub fn path_of(id: &SourceId) -> Option<PathBuf> {
    let text = id.as_str();
    if text.starts_with("file:") {
        return url_path(text);
    }
    text.starts_with('/').then(|| PathBuf::from(text))
}

#[cfg(test)]
mod tests;
