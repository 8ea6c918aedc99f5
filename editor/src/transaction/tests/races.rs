//! Other programs, and other threads of ours, that want the same files.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::*;

type Action = fn(&Path);

const THEIRS: &str = "theirs";

/// Ways in which another program changes a file.
const ACTIONS: [(&str, Action); 4] = [
    ("replaces", |path| {
        let staged = path.with_extension("theirs");
        fs::write(&staged, THEIRS).unwrap();
        fs::rename(&staged, path).unwrap();
    }),
    ("writes", |path| fs::write(path, THEIRS).unwrap()),
    ("removes and creates", |path| {
        let _ = fs::remove_file(path);
        fs::write(path, THEIRS).unwrap();
    }),
    ("links to another", |path| {
        let _ = fs::remove_file(path);
        let other = path.with_extension("elsewhere");
        fs::write(&other, THEIRS).unwrap();
        symlink(&other, path).unwrap();
    }),
];

/// Lets another program change `name` before each operation of a commit in turn: what it wrote
/// must survive, whatever the commit says.
fn check(name: &str, kind: Size) {
    let (old, new) = expected("new");
    let total = operations(FaultHost::default(), kind);
    for (what, action) in ACTIONS {
        for at in 0..total {
            let tree = Tree::quick();
            let path = tree.at(name);
            let changes = tree.changes("new");
            let hook = Fault::Hook(Box::new(move || {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                action(&path);
            }));
            let opened = Journal::open_with(
                Arc::new(FaultHost::at(at, hook)),
                &tree.journal_folder(),
                kind.inline_bytes(),
            );
            let (journal, _) = opened.unwrap();
            let result = journal.commit(&changes, &Cancel::new());
            drop(journal);
            tree.recover(FaultHost::default());
            let context = format!("{kind:?}: somebody {what} `{name}` at {at}: {result:?}");
            assert_eq!(tree.text(name), THEIRS, "{context}");
            let theirs = |path: &Path| {
                tree.at(name).with_extension("") == tree.root().join(path).with_extension("")
                    || (result.is_err() && tree.at(name).starts_with(tree.root().join(path)))
            };
            let others = |nodes: &Nodes| -> Nodes {
                nodes
                    .iter()
                    .filter(|(path, _)| !theirs(path))
                    .map(|(p, n)| (p.clone(), n.clone()))
                    .collect()
            };
            let expected = if result.is_ok() { &new } else { &old };
            assert_same(&others(&tree.nodes()), &others(expected), &context);
        }
    }
}

#[test]
fn what_others_write_to_a_replaced_file_survives() {
    for kind in Size::ALL {
        check("plain", kind);
    }
}

#[test]
fn what_others_write_to_a_new_file_survives() {
    for kind in Size::ALL {
        check("new/two", kind);
    }
}

#[test]
fn a_change_that_leaves_size_and_times_is_noticed() {
    let tree = Tree::quick();
    let path = tree.at("plain");
    let theirs = tree.text("plain").to_uppercase();
    let (seen, written) = (path.clone(), theirs.clone());
    // Before the exchange: same size, and the time stamp set back.
    let hook = Fault::Hook(Box::new(move || {
        let time = fs::metadata(&seen).unwrap().modified().unwrap();
        fs::write(&seen, &written).unwrap();
        fs::File::options().write(true).open(&seen).unwrap().set_modified(time).unwrap();
    }));
    let changes = [tree.change("plain", "x")];
    let (journal, _) = tree.open(FaultHost::at(8, hook), Size::Small);
    let error = journal.commit(&changes, &Cancel::new()).unwrap_err();
    assert!(matches!(error.cause, Cause::FileChanged { .. }), "{error}");
    assert_eq!(tree.text("plain"), theirs);
}

#[test]
fn commits_to_the_same_files_follow_each_other() {
    const THREADS: usize = 8;
    const ROUNDS: usize = 25;
    let tree = Tree::quick();
    fs::write(tree.at("plain"), "0").unwrap();
    fs::write(tree.at("linked"), "0").unwrap();
    let (journal, _) = tree.open(LocalHost, Size::Small);
    let conflicts = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for _ in 0..ROUNDS {
                    loop {
                        let number: usize = tree.text("plain").parse().unwrap_or(usize::MAX);
                        if number == usize::MAX {
                            continue;
                        }
                        let next = (number + 1).to_string();
                        // The two names of the linked file are the same resource.
                        let changes = [
                            tree.change("plain", &next),
                            tree.change(
                                if number.is_multiple_of(2) { "linked" } else { "other/linked" },
                                &next,
                            ),
                        ];
                        let planned = match &changes[0].before {
                            Before::Present { hash, .. } => *hash,
                            Before::Absent => panic!("the file never vanishes"),
                        };
                        if planned != ContentHash::of(number.to_string().as_bytes()) {
                            continue;
                        }
                        match journal.commit(&changes, &Cancel::new()) {
                            Ok(_) => break,
                            Err(error) => {
                                assert!(
                                    matches!(error.cause, Cause::FileChanged { .. }),
                                    "{error}"
                                );
                                assert!(all(&error.effects, Effect::NotApplied));
                                conflicts.fetch_add(1, Ordering::Relaxed);
                            }
                        }
                    }
                }
            });
        }
    });
    let total = (THREADS * ROUNDS).to_string();
    assert_eq!((tree.text("plain"), tree.text("linked")), (total.clone(), total));
    drop(journal);
    assert!(tree.records().is_empty());
}

#[test]
fn commits_to_different_files_all_succeed() {
    let tree = Tree::quick();
    let (journal, _) = tree.open(LocalHost, Size::Small);
    thread::scope(|scope| {
        for thread in 0..8 {
            let (tree, journal) = (&tree, &journal);
            scope.spawn(move || {
                for round in 0..20 {
                    let name = format!("many/{thread}/file");
                    let changes = [tree.change(&name, &round.to_string())];
                    journal.commit(&changes, &Cancel::new()).unwrap();
                }
            });
        }
    });
    for thread in 0..8 {
        assert_eq!(tree.text(&format!("many/{thread}/file")), "19");
    }
}
