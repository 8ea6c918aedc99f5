//! Commits that must not happen.

use anchors::ErrorCode;

use super::*;

#[track_caller]
fn refused(tree: &Tree, changes: &[FileChange], code: ErrorCode) -> CommitError {
    let before = tree.nodes();
    let (journal, _) = tree.open(LocalHost, Size::Small);
    let error = journal.commit(changes, &Cancel::new()).unwrap_err();
    drop(journal);
    assert_eq!(error.code(), code, "{error}");
    assert!(all(&error.effects, Effect::NotApplied));
    assert_eq!(error.effects.len(), changes.len());
    assert_same(&tree.nodes(), &before, "refused");
    assert!(tree.records().is_empty());
    error
}

#[test]
fn read_only_files_and_folders() {
    let tree = Tree::new();
    let other = tree.change("plain", "x");
    refused(&tree, &[other.clone(), tree.change("untouched", "x")], ErrorCode::ReadOnly);
    fs::set_permissions(tree.at("sub"), fs::Permissions::from_mode(0o555)).unwrap();
    for name in ["sub/attr", "link", "sub/new", "sub/new/deep"] {
        let error = refused(&tree, &[other.clone(), tree.change(name, "x")], ErrorCode::ReadOnly);
        assert!(matches!(error.cause, Cause::ReadOnlyFolder { .. }), "{name}: {error}");
    }
    fs::set_permissions(tree.at("sub"), fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn what_is_not_a_file() {
    let tree = Tree::new();
    symlink("circle", tree.at("circle")).unwrap();
    let fifo = rustix::fs::FileType::Fifo;
    let mode = rustix::fs::Mode::RWXU;
    rustix::fs::mknodat(rustix::fs::CWD, tree.at("fifo"), fifo, mode, 0).unwrap();
    for name in ["sub", "fifo", "plain/below"] {
        refused(&tree, &[tree.change(name, "x")], ErrorCode::NotAFile);
    }
    refused(&tree, &[tree.change("circle", "x")], ErrorCode::LinkLoop);
}

#[test]
fn files_that_are_not_what_was_planned() {
    let tree = Tree::new();
    let plan = |name: &str| [tree.change("exec", "x"), tree.change(name, "x")];
    let (changed, removed, created) = (plan("plain"), plan("private"), plan("later"));
    fs::write(tree.at("plain"), tree.text("plain").to_uppercase()).unwrap();
    fs::remove_file(tree.at("private")).unwrap();
    fs::write(tree.at("later"), "").unwrap();
    for changes in [changed, removed, created] {
        refused(&tree, &changes, ErrorCode::FileChanged);
    }
}

#[test]
fn the_same_content_in_a_new_file_is_not_a_change() {
    let tree = Tree::new();
    let changes = [tree.change("plain", "x")];
    fs::copy(tree.at("plain"), tree.at("copy")).unwrap();
    fs::rename(tree.at("copy"), tree.at("plain")).unwrap();
    let (journal, _) = tree.open(LocalHost, Size::Small);
    journal.commit(&changes, &Cancel::new()).unwrap();
    assert_eq!(tree.text("plain"), "x");
}

#[test]
fn two_names_of_one_file() {
    let tree = Tree::new();
    for (first, second) in [("plain", "sub/../plain"), ("link", "sub/target")] {
        let changes = [tree.change(first, "x"), tree.change(second, "y")];
        refused(&tree, &changes, ErrorCode::OverlappingEdits);
    }
    let linked = [tree.change("linked", "x"), tree.change("other/linked", "y")];
    refused(&tree, &linked, ErrorCode::OverlappingEdits);
}

#[test]
fn a_cancelled_commit() {
    let tree = Tree::new();
    let (journal, _) = tree.open(LocalHost, Size::Small);
    let cancel = Cancel::new();
    cancel.cancel();
    let before = tree.nodes();
    let error = journal.commit(&tree.changes("x"), &cancel).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Cancelled);
    assert_same(&tree.nodes(), &before, "cancelled");
}

#[test]
fn cancelled_while_it_is_staged() {
    let tree = Tree::new();
    let before = tree.nodes();
    for at in 3..60 {
        let cancel = Cancel::new();
        let signal = cancel.clone();
        let hook = Fault::Hook(Box::new(move || signal.cancel()));
        let (journal, _) = tree.open(FaultHost::at(at, hook), Size::Small);
        match journal.commit(&tree.changes("x"), &cancel) {
            Err(error) => assert_same(&tree.nodes(), &before, &error.to_string()),
            Ok(_) => return, // past the point of no return
        }
    }
}

#[test]
fn a_journal_that_is_in_use() {
    let tree = Tree::new();
    let (journal, _) = tree.open(LocalHost, Size::Small);
    let second = Journal::open(Arc::new(LocalHost), &tree.journal_folder());
    assert!(matches!(second.unwrap_err(), OpenError::InUse { .. }));
    drop(journal);
    drop(tree.open(LocalHost, Size::Small));
}
