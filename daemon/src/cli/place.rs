//! Where a command runs: the workspace root, and what the sources on the command line mean there.
//!
//! People write paths relative to the folder they stand in; tools take them relative to the root.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use crate::session::root;

/// Prefixes of sources that are followed by a path.
const PATH_SCHEMES: &[&str] = &["raw:", "ast:", "symbol:", "graph:", "diagnostics:"];

/// Prefixes of sources that stand for themselves.
const OTHER_SCHEMES: &[&str] = &[
    "file:", "temp:", "docs:", "http:", "https:", "web:", "ssh:", "shell:", "debug:", "process:",
    "window:", "display:",
];

/// Beginnings of references.
const REFERENCES: &[&str] = &["SEARCH#", "RESULT#", "CHANGE#", "[result "];

/// The workspace and the current folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The absolute root.
    pub root: PathBuf,
    /// The absolute current folder.
    pub folder: PathBuf,
    /// Whether the root was named, or marked by a `.git`, and is not just the current folder.
    pub certain: bool,
}

impl Place {
    /// The place of this process, with the root that `--root` names.
    ///
    /// # Errors
    /// When the folder does not exist (any more), in words.
    pub fn find(named: Option<&Path>) -> Result<Self, String> {
        let folder = std::env::current_dir();
        if let Some(named) = named {
            let root = std::fs::canonicalize(named).and_then(directory);
            let root = root.map_err(|error| {
                format!("the root `{}` can't be used: {error}", named.display())
            })?;
            return Ok(Self {
                folder: folder.unwrap_or_else(|_| root.clone()),
                root,
                certain: true,
            });
        }
        let folder = folder
            .map_err(|error| format!("the current folder can't be used: {error}; name a --root"))?;
        let marked =
            folder.ancestors().find(|ancestor| ancestor.join(".git").symlink_metadata().is_ok());
        Ok(Self { root: marked.unwrap_or(&folder).to_owned(), certain: marked.is_some(), folder })
    }

    /// The root as it goes over the wire.
    pub fn wire_root(&self) -> String {
        root::to_wire(&self.root)
    }

    /// The current folder relative to the root; absolute when it lies outside.
    pub fn here(&self) -> &Path {
        self.folder.strip_prefix(&self.root).unwrap_or(&self.folder)
    }

    /// A source of the command line as a tool takes it.
    pub fn source(&self, source: &OsStr) -> String {
        let Some(text) = source.to_str() else {
            // Percent-encoded, as only a URL can say it.
            return root::to_wire(&self.folder.join(source));
        };
        if is_reference(text) || OTHER_SCHEMES.iter().any(|scheme| text.starts_with(scheme)) {
            return text.to_owned();
        }
        for scheme in PATH_SCHEMES {
            if let Some(path) = text.strip_prefix(scheme) {
                return format!("{scheme}{}", self.path(path));
            }
        }
        self.path(text)
    }

    fn path(&self, text: &str) -> String {
        let path = Path::new(text);
        let here = self.here();
        let stands = path.is_absolute() || text.starts_with('~') || text.is_empty();
        if stands || here.as_os_str().is_empty() || is_unknown_scheme(text, &self.folder) {
            return text.to_owned();
        }
        let joined = tidy(here, text);
        joined.to_str().map_or_else(|| root::to_wire(&self.folder.join(text)), ToOwned::to_owned)
    }
}

/// Joins without leading `./`, and with `..` taken out where it only undoes the folder we are in.
fn tidy(here: &Path, text: &str) -> PathBuf {
    let mut joined = here.to_owned();
    let mut rest = Path::new(text).components().peekable();
    while let Some(component) = rest.peek() {
        match component {
            Component::CurDir => {}
            // The current folder has no links in its path: the system has resolved them.
            Component::ParentDir if joined.file_name().is_some() => {
                joined.pop();
            }
            _ => break,
        }
        rest.next();
    }
    let rest: PathBuf = rest.collect();
    let joined = if rest.as_os_str().is_empty() { joined } else { joined.join(rest) };
    if joined.as_os_str().is_empty() { PathBuf::from(".") } else { joined }
}

fn is_reference(text: &str) -> bool {
    let is_id = text.get(..36).is_some_and(|id| uuid::Uuid::try_parse(id).is_ok())
        && matches!(text.as_bytes().get(36), None | Some(b':'));
    is_id || text.contains('\n') || REFERENCES.iter().any(|start| text.starts_with(start))
}

/// Whether `text` looks like `scheme:rest` of a kind that a plugin may serve, and is no file here.
fn is_unknown_scheme(text: &str, folder: &Path) -> bool {
    let Some((scheme, _)) = text.split_once(':') else { return false };
    let bytes = scheme.as_bytes();
    let looks = bytes.len() > 1
        && bytes[0].is_ascii_lowercase()
        && bytes.iter().all(|byte| {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"+-.".contains(byte)
        });
    looks && folder.join(text).symlink_metadata().is_err()
}

fn directory(path: PathBuf) -> io::Result<PathBuf> {
    if path.metadata()?.is_dir() { Ok(path) } else { Err(io::ErrorKind::NotADirectory.into()) }
}

/// Whether a folder says nothing about what somebody works on: the root folder or the home folder.
pub fn is_nowhere(folder: &Path) -> bool {
    let home = std::env::var_os("HOME").filter(|home| !home.as_bytes().is_empty());
    folder == Path::new("/") || home.is_some_and(|home| folder == Path::new(&home))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt as _;

    use super::*;

    fn place(root: &str, folder: &str) -> Place {
        Place { root: root.into(), folder: folder.into(), certain: true }
    }

    #[test]
    fn sources_are_taken_from_the_current_folder() {
        let sub = place("/w", "/w/a/b");
        for (source, wire) in [
            ("x.rs", "a/b/x.rs"),
            ("./x.rs", "a/b/x.rs"),
            (".", "a/b"),
            ("..", "a"),
            ("../..", "."),
            ("../../y#12#A4F0", "y#12#A4F0"),
            ("../../../z", "../z"),
            ("c/../d", "a/b/c/../d"),
            ("/abs", "/abs"),
            ("~/x", "~/x"),
            ("raw:x.bin", "raw:a/b/x.bin"),
            ("symbol:x.rs#f", "symbol:a/b/x.rs#f"),
            ("docs:", "docs:"),
            ("file:///x", "file:///x"),
            ("jira:ABC-1", "jira:ABC-1"),
            ("SEARCH#19AF:3:match", "SEARCH#19AF:3:match"),
            ("6f0c1e9a-3b1f-4c55-9d6e-0a1b2c3d4e5f:2", "6f0c1e9a-3b1f-4c55-9d6e-0a1b2c3d4e5f:2"),
            ("[result x]\ntext", "[result x]\ntext"),
        ] {
            assert_eq!(sub.source(OsStr::new(source)), wire, "{source}");
        }
    }

    #[test]
    fn at_the_root_and_outside_of_it() {
        assert_eq!(place("/w", "/w").source(OsStr::new("./x")), "./x");
        assert_eq!(place("/w", "/other").source(OsStr::new("x")), "/other/x");
    }

    #[test]
    fn names_that_are_not_utf8_become_urls() {
        let name = OsString::from_vec(b"x\xff".to_vec());
        assert_eq!(place("/w", "/w/a").source(&name), "file:///w/a/x%FF");
    }

    #[test]
    fn an_existing_file_is_no_scheme() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("sub");
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("note:x"), "").unwrap();
        let place = Place { root: home.path().to_owned(), folder, certain: true };
        assert_eq!(place.source(OsStr::new("note:x")), "sub/note:x");
        assert_eq!(place.source(OsStr::new("note:y")), "note:y");
    }
}
