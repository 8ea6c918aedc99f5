//! `.ignore`, `.rgignore`, hidden names, globs, and the switches.

use super::fixture::Tree;
use crate::walk::{Globs, WalkOptions};

#[test]
fn plain_ignore_files_need_no_repository() {
    let tree = Tree::new(&[".ignore: *.log|!keep.log", "a.log", "keep.log", "d/b.log"]);
    tree.check(&["keep.log"]);
}

#[test]
fn rgignore_beats_ignore_beats_gitignore() {
    let tree = Tree::new(&[
        ".rgignore: !a.log",
        ".ignore: a.log|!b.log",
        "d/.gitignore: *.log",
        "d/a.log",
        "d/b.log",
        "d/c.log",
    ]);
    tree.git_init("");
    tree.check(&["d/a.log", "d/b.log"]);
}

#[test]
fn a_rule_can_ask_for_a_hidden_file() {
    let tree = Tree::new(&[".ignore: !.shown", ".shown", ".hidden"]);
    tree.check(&[".shown"]);
}

#[test]
fn hidden_and_ignored_on_request() {
    let tree = Tree::new(&[".ignore: *.log", "a.log", ".b", ".c/d"]);
    let with = |hidden, ignored| {
        tree.walk(&[""], &WalkOptions { hidden, ignored, ..WalkOptions::default() }).0
    };
    assert_eq!(with(true, false), [".b", ".c/d", ".ignore"]);
    assert_eq!(with(false, true), ["a.log"]);
    assert_eq!(with(true, true), [".b", ".c/d", ".ignore", "a.log"]);
}

#[test]
fn globs_choose_files_below_each_root() {
    let tree = Tree::new(&[".ignore: gen.rs", "a.rs", "gen.rs", "src/b.rs", "src/b.c", ".h.rs"]);
    let with = |include, exclude| {
        let globs = Globs::parse(include, exclude).unwrap();
        tree.walk(&[""], &WalkOptions { globs, ..WalkOptions::default() })
    };
    assert_eq!(with("*.rs", "").0, [".h.rs", "a.rs", "gen.rs", "src/b.rs"]);
    assert_eq!(with("/*.rs", "a*").0, [".h.rs", "gen.rs"]);
    let (paths, walked) = with("", "src");
    assert_eq!(paths, ["a.rs"]);
    assert_eq!(walked.passed.excluded, 1);
}

#[test]
fn several_roots_and_files_as_roots() {
    let tree = Tree::new(&["a/x", "b/y", ".c", "b/.z"]);
    let (paths, walked) = tree.walk(&["a", ".c", "b/.z"], &WalkOptions::default());
    assert_eq!(paths, [".c", "a/x", "b/.z"]);
    assert_eq!((walked.files, walked.folders), (3, 1));
}
