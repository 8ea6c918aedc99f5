//! Workspace roots on the wire: an absolute path, or a `file:` URL.

use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use resolvers::source;

/// Reads a root. `None` unless it is an absolute path or a `file:` URL of this machine.
pub fn from_wire(text: &str) -> Option<PathBuf> {
    let path = match text.starts_with("file:") {
        true => source::url_path(text)?,
        false => PathBuf::from(text),
    };
    (path.is_absolute() && !path.as_os_str().as_bytes().contains(&0)).then(|| tidy(&path))
}

/// Writes a root: plain when it is UTF-8, else as a percent-encoded `file:` URL.
pub fn to_wire(path: &Path) -> String {
    source::id_of(path).as_str().to_owned()
}

/// Drops `.` components and trailing slashes, so that one folder is one root. `..` and links stay:
/// what they mean is the file system's affair.
fn tidy(path: &Path) -> PathBuf {
    path.components().collect()
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt as _;

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
