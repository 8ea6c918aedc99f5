//! Workspace roots on the wire: an absolute path, or a `file:` URL.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

/// Reads a root. `None` unless it is an absolute path or a `file:` URL of this machine.
pub fn from_wire(text: &str) -> Option<PathBuf> {
    let path = match text.strip_prefix("file://") {
        Some(rest) => {
            let rest = rest.strip_prefix("localhost").unwrap_or(rest);
            PathBuf::from(OsString::from_vec(percent_decode(rest)?))
        }
        None => PathBuf::from(text),
    };
    (path.is_absolute() && !path.as_os_str().as_bytes().contains(&0)).then(|| tidy(&path))
}

/// Writes a root: plain when it is UTF-8, else as a percent-encoded `file:` URL.
pub fn to_wire(path: &Path) -> String {
    if let Some(text) = path.to_str() {
        return text.to_owned();
    }
    let mut url = String::from("file://");
    for &byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            url.push(char::from(byte));
        } else {
            url.push_str(&format!("%{byte:02X}"));
        }
    }
    url
}

/// Drops `.` components and trailing slashes, so that one folder is one root. `..` and links stay:
/// what they mean is the file system's affair.
fn tidy(path: &Path) -> PathBuf {
    path.components().collect()
}

fn percent_decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let (high, low) = (hex(rest.next()?)?, hex(rest.next()?)?);
            bytes.push(high << 4 | low);
        } else {
            bytes.push(byte);
        }
    }
    Some(bytes)
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_urls_are_read() {
        for (wire, path) in [
            ("/a/b", Some("/a/b")),
            ("/a/./b/", Some("/a/b")),
            ("file:///a%20b/%C3%A9", Some("/a b/é")),
            ("file://localhost/a", Some("/a")),
            ("file://host/a", None),
            ("file:///a%2", None),
            ("file:///a%00", None),
            ("a/b", None),
            ("", None),
        ] {
            assert_eq!(from_wire(wire), path.map(PathBuf::from), "{wire}");
        }
    }

    #[test]
    fn what_is_not_utf8_survives_the_wire() {
        let path = PathBuf::from(OsString::from_vec(b"/a/\xff b".to_vec()));
        assert_eq!(to_wire(&path), "file:///a/%FF%20b");
        assert_eq!(from_wire(&to_wire(&path)), Some(path));
    }
}
