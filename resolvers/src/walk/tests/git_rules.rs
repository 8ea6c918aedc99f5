//! `.gitignore` and its kin.

use super::fixture::Tree;
use crate::walk::{Passed, WalkOptions};

#[test]
fn gitignore_counts_inside_repositories_only() {
    let tree = Tree::new(&[".gitignore: *.log", "a.log", "a.txt"]);
    tree.check(&["a.log", "a.txt"]);
    tree.git_init("");
    let walked = tree.check(&["a.txt"]);
    let expected = Passed { hidden: 1, ignored_files: 1, ..Passed::default() };
    assert_eq!(walked.passed, expected);
}

#[test]
fn a_jujutsu_repository_is_one_too() {
    Tree::new(&[".jj/", ".gitignore: *.log", "a.log", "a.txt"]).check(&["a.txt"]);
}

#[test]
fn deeper_rules_win_and_negation_takes_back() {
    let tree = Tree::new(&[
        ".gitignore: *.log|/top|build/",
        "a.log",
        "top",
        "d/top",
        "d/.gitignore: !keep.log",
        "d/keep.log",
        "d/other.log",
        "d/build/x",
        "build/x",
    ]);
    tree.git_init("");
    let walked = tree.check(&["d/keep.log", "d/top"]);
    assert_eq!((walked.passed.ignored_folders, walked.passed.ignored_files), (2, 3));
}

#[test]
fn nothing_below_an_ignored_folder_comes_back() {
    let tree = Tree::new(&[".gitignore: build/|!build/keep", "build/keep", "a"]);
    tree.git_init("");
    tree.check(&["a"]);
}

#[test]
fn a_nested_repository_starts_afresh() {
    let tree = Tree::new(&[".gitignore: *.log", "sub/a.log", "sub/.gitignore: *.tmp", "sub/a.tmp"]);
    tree.git_init("");
    tree.git_init("sub");
    tree.check(&["sub/a.log"]);
}

#[test]
fn exclude_file_and_global_excludes() {
    let tree = Tree::new(&["a.one", "a.two", "a.three", "d/.gitignore: !*.one", "d/a.one"]);
    tree.git_init("");
    tree.add(".git/info/exclude: *.one");
    tree.add("../home/.gitconfig: [core]|excludesFile = ~/ex");
    tree.add("../home/ex: *.two|!a.one");
    tree.check(&["a.three", "d/a.one"]);
    std::fs::remove_file(tree.root().join("../home/.gitconfig")).unwrap();
    tree.add("../home/.config/git/ignore: *.three");
    tree.check(&["a.two", "d/a.one"]);
}

#[test]
fn a_linked_work_tree_shares_the_exclude_file() {
    let tree = Tree::new(&["main/a: x"]);
    tree.git_init("main");
    let main = tree.root().join("main");
    let who = ["-c", "user.name=a", "-c", "user.email=a@b"];
    tree.git(&main, &[&who[..], &["commit", "-q", "--allow-empty", "-m", "x"]].concat());
    tree.git(&main, &["worktree", "add", "-q", "../other"]);
    tree.add("main/.git/info/exclude: *.log");
    tree.add("other/a.log");
    tree.add("other/a.txt");
    tree.check_from("other", &["other/a.txt"]);
}

#[test]
fn a_linked_gitignore_counts_for_nothing() {
    let tree = Tree::new(&["rules: *.log", ".gitignore -> rules", "a.log"]);
    tree.git_init("");
    tree.check(&["a.log", "rules"]);
}

#[test]
fn rules_above_the_root_hold_inside_it() {
    let tree = Tree::new(&[".gitignore: *.log|/d/x", "d/a.log", "d/x", "d/e/a"]);
    tree.git_init("");
    tree.check_from("d", &["d/e/a"]);
}

#[test]
fn a_named_root_is_walked_whatever_rules_say() {
    let tree = Tree::new(&[
        ".gitignore: target/|*.log|.venv",
        "target/.gitignore: *.o",
        "target/d/a.log",
        "target/d/a.o",
        ".venv/a.log",
        "x.log",
    ]);
    tree.git_init("");
    tree.check_from("target", &["target/d/a.log"]);
    tree.check_from("target/d", &["target/d/a.log"]);
    tree.check_from(".venv", &[".venv/a.log"]);
    tree.check_from("x.log", &["x.log"]);
}

#[test]
fn hidden_names_above_the_root_do_not_matter() {
    let tree = Tree::new(&[".a/.b/c", ".a/.b/.d"]);
    tree.check_from(".a/.b", &[".a/.b/c"]);
}

#[test]
fn git_folders_are_entered_only_by_name() {
    let tree = Tree::new(&["a", ".gitignore: hooks"]);
    tree.git_init("");
    std::fs::remove_dir_all(tree.root().join(".git/hooks")).unwrap();
    tree.add(".git/hooks/x");
    let hidden = WalkOptions { hidden: true, ..WalkOptions::default() };
    let (paths, walked) = tree.walk(&[""], &hidden);
    assert_eq!(paths, [".gitignore", "a"]);
    assert_eq!(walked.passed, Passed::default());
    tree.check_from(".git/hooks", &[".git/hooks/x"]);
}
