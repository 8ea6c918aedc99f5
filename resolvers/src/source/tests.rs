use std::ffi::OsStr;

use super::*;
use crate::host::LocalHost;

struct Tree(tempfile::TempDir);

impl Tree {
    fn new(files: &[&str]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for file in files {
            let path = dir.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "x").unwrap();
        }
        Self(dir)
    }

    fn locate(&self, source: &str) -> Result<(String, Option<String>, bool), SourceError> {
        let root = std::fs::canonicalize(self.0.path()).unwrap();
        let base = Base { host: &LocalHost, root: &root };
        base.locate(source, &Cancel::new()).map(|located| {
            let name = located.path.strip_prefix(&root).unwrap_or(&located.path);
            (name.to_string_lossy().into_owned(), located.anchor, located.notice.is_some())
        })
    }

    fn check(&self, source: &str, path: &str, anchor: Option<&str>, reported: bool) {
        let expected = (path.to_owned(), anchor.map(str::to_owned), reported);
        assert_eq!(self.locate(source), Ok(expected), "{source}");
    }
}

#[test]
fn the_literal_name_comes_first() {
    let tree = Tree::new(&["a", "@b", "c%20d", "e#f", "notes.txt", "x:y"]);
    for name in ["a", "@b", "c%20d", "e#f", "x:y"] {
        tree.check(name, name, None, false);
    }
    tree.check("./a", "a", None, false);
}

#[test]
fn anchors_are_split_off_where_a_name_ends() {
    let tree = Tree::new(&["notes.txt", "e#f"]);
    tree.check("notes.txt#12#A4F0", "notes.txt", Some("12#A4F0"), false);
    tree.check("e#f#begin", "e#f", Some("begin"), false);
    tree.check("notes.txt#fn a() {", "notes.txt", Some("fn a() {"), false);
    assert!(matches!(tree.locate("nope#begin"), Err(SourceError::NotFound { .. })));
}

#[test]
fn other_readings_are_reported() {
    let tree = Tree::new(&["b.txt", "c d", "it\u{2019}s", "9\u{202F}AM", "cafe\u{301}"]);
    tree.check("@b.txt", "b.txt", None, true);
    tree.check("c%20d", "c d", None, true);
    tree.check("it's", "it\u{2019}s", None, true);
    tree.check("9 AM", "9\u{202F}AM", None, true);
    tree.check("caf\u{e9}", "cafe\u{301}", None, true);
}

#[test]
fn names_that_are_not_utf8_are_percent_encoded() {
    let tree = Tree::new(&[]);
    let path = tree.0.path().join(OsStr::from_bytes(b"a\xFFb"));
    std::fs::write(&path, "x").unwrap();
    let real = std::fs::canonicalize(&path).unwrap();
    let id = id_of(&real);
    assert!(id.as_str().starts_with("file:///") && id.as_str().ends_with("a%FFb"));
    assert_eq!(path_of(&id), Some(real));
    assert!(tree.locate(id.as_str()).is_ok());
    assert!(tree.locate("a%FFb").is_ok());
}

#[test]
fn what_is_not_there_is_said_with_help() {
    let tree = Tree::new(&["src/server.rs", "other/server.rs", "README.md"]);
    let near = |source: &str| match tree.locate(source) {
        Err(SourceError::NotFound { near }) => near,
        other => panic!("{other:?}"),
    };
    assert_eq!(near("src/sever.rs"), ["src/server.rs", "other/server.rs"]);
    assert!(near("zzz").is_empty());
    assert!(matches!(tree.locate("gopher:x"), Err(SourceError::NoResolver { .. })));
    assert_eq!(tree.locate(""), Err(SourceError::Empty));
    assert!(matches!(tree.locate("a\0b"), Err(SourceError::NotFound { .. })));
}

#[test]
fn loops_of_links_are_named() {
    let tree = Tree::new(&[]);
    std::os::unix::fs::symlink("b", tree.0.path().join("a")).unwrap();
    std::os::unix::fs::symlink("a", tree.0.path().join("b")).unwrap();
    assert_eq!(tree.locate("a"), Err(SourceError::LinkLoop));
}
