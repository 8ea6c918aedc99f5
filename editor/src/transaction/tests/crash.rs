//! Stops and failures at every operation.

use proptest::prelude::*;
use rustix::io::Errno;

use super::*;
use crate::transaction::fault::{Chance, Flavor};

/// Runs one commit on a host that fails, closes the journal, and hands all to `check`.
fn run(host: FaultHost, kind: Size, check: impl FnOnce(&Tree, bool, Option<CommitError>)) {
    let tree = Tree::quick();
    let opened = Journal::open_with(Arc::new(host), &tree.journal_folder(), kind.inline_bytes());
    let Ok((journal, _)) = opened else { return }; // the fault came while opening
    let host = journal.host();
    let result = journal.commit(&tree.changes("new"), &Cancel::new());
    // Nobody hears the answer of a process that is dead.
    let acknowledged = result.is_ok() && !host.crashed();
    drop(journal);
    check(&tree, acknowledged, result.err());
}

/// All old or all new, nothing stray, and a second recovery finds nothing to do.
fn check_recovered(tree: &Tree, acknowledged: bool, host: impl HostWrite, context: &str) {
    let (old, new) = expected_once();
    let reports = tree.recover(host);
    let found = tree.nodes();
    if acknowledged || found == *new {
        assert_same(&found, new, context);
    } else {
        assert_same(&found, old, context);
    }
    for report in &reports {
        let wanted = match report.outcome {
            Outcome::Completed => FileOutcome::New,
            Outcome::RolledBack => FileOutcome::Old,
            other => panic!("{context}: {other:?}"),
        };
        assert!(report.files.iter().all(|(_, file)| *file == wanted), "{context}: {report:?}");
        assert_eq!(report.outcome == Outcome::Completed, found == *new, "{context}");
    }
    assert!(tree.records().is_empty(), "{context}: {:?}", tree.records());
    assert!(tree.recover(LocalHost).is_empty(), "{context}: recovery is not idempotent");
}

fn expected_once() -> &'static (Nodes, Nodes) {
    static EXPECTED: std::sync::OnceLock<(Nodes, Nodes)> = std::sync::OnceLock::new();
    EXPECTED.get_or_init(|| expected("new"))
}

const FLAVORS: [Flavor; 3] = [
    Flavor { no_exchange: false, no_links: false, restarted: false },
    Flavor { no_exchange: true, no_links: false, restarted: false },
    Flavor { no_exchange: true, no_links: true, restarted: false },
];

fn restarted() -> FaultHost {
    FaultHost::default().of(Flavor { restarted: true, ..Flavor::default() })
}

#[test]
fn a_crash_anywhere_leaves_all_old_or_all_new() {
    for flavor in FLAVORS {
        for kind in Size::ALL {
            for at in 0..=operations(FaultHost::default().of(flavor), kind) {
                run(
                    FaultHost::at(at, Fault::Crash).of(flavor),
                    kind,
                    |tree, acknowledged, error| {
                        let context = format!("{kind:?}, crash at {at}");
                        let same_boot = FaultHost::default().of(flavor);
                        check_recovered(tree, acknowledged, same_boot, &context);
                        // Had it been a disk that fails for good, the answer would have been heard.
                        let effects = error.map(|error| error.effects).unwrap_or_default();
                        if effects.iter().any(|(_, effect)| *effect == Effect::NotApplied) {
                            assert_same(&tree.nodes(), &expected_once().0, &context);
                        }
                    },
                );
            }
        }
    }
}

#[test]
fn a_crash_during_recovery_is_recovered_too() {
    for kind in Size::ALL {
        for at in (0..=operations(FaultHost::default(), kind)).step_by(5) {
            let mut again = 0;
            loop {
                let mut crashed = false;
                run(FaultHost::at(at, Fault::Crash), kind, |tree, acknowledged, _| {
                    let second = Arc::new(FaultHost::at(again, Fault::Crash));
                    drop(Journal::open(Arc::clone(&second), &tree.journal_folder()));
                    crashed = second.crashed();
                    let context = format!("{kind:?}, crash at {at}, then at {again}");
                    // The interrupted recovery has decided already; only the outcome counts.
                    tree.recover(FaultHost::default());
                    let (old, new) = expected_once();
                    let found = tree.nodes();
                    let wanted = if acknowledged || found == *new { new } else { old };
                    assert_same(&found, wanted, &context);
                });
                if !crashed {
                    break;
                }
                again += 2;
            }
        }
    }
}

#[test]
fn power_loss_anywhere_loses_nothing_that_was_acknowledged() {
    for kind in Size::ALL {
        for at in 0..=operations(FaultHost::default(), kind) {
            for seed in 0..4 {
                let tree = Tree::quick();
                let host = FaultHost::at(at, Fault::Crash).with_disk(&tree.shadow());
                let opened =
                    Journal::open_with(Arc::new(host), &tree.journal_folder(), kind.inline_bytes());
                let Ok((journal, _)) = opened else { continue };
                let host = journal.host();
                let result = journal.commit(&tree.changes("new"), &Cancel::new());
                let acknowledged = result.is_ok() && !host.crashed();
                drop(journal);
                let mut chance = Chance(seed * 1_000 + at as u64);
                let journal_folder = tree.journal_folder();
                host.lose_power(&[&tree.root(), &journal_folder], &mut chance);
                let context = format!("{kind:?}, power lost at {at}, seed {seed}");
                check_recovered(&tree, acknowledged, restarted(), &context);
            }
        }
    }
}

#[test]
fn power_loss_after_several_edits_of_the_same_files() {
    let (_, one) = expected("one");
    let two = {
        let tree = Tree::quick();
        let (journal, _) = tree.open(LocalHost, Size::Small);
        journal.commit(&tree.changes("one"), &Cancel::new()).unwrap();
        journal.commit(&tree.changes("two"), &Cancel::new()).unwrap();
        drop(journal);
        tree.nodes()
    };
    let total = 2 * operations(FaultHost::default(), Size::Small);
    for at in (20..total).step_by(3) {
        for seed in 0..4 {
            let tree = Tree::quick();
            let host = FaultHost::at(at, Fault::Crash).with_disk(&tree.shadow());
            let (journal, _) = tree.open(host, Size::Small);
            let host = journal.host();
            let commit = |text| {
                let result = journal.commit(&tree.changes(text), &Cancel::new());
                result.is_ok() && !host.crashed()
            };
            let (first, second) = (commit("one"), commit("two"));
            drop(journal);
            let journal_folder = tree.journal_folder();
            host.lose_power(&[&tree.root(), &journal_folder], &mut Chance(seed + at as u64 * 7));
            let reports = tree.recover(restarted());
            let found = tree.nodes();
            let context = format!("power lost at {at}, seed {seed}: {reports:#?}");
            if second || found == two {
                assert_same(&found, &two, &context);
            } else if first || found == one {
                assert_same(&found, &one, &context);
            } else {
                assert_same(&found, &expected_once().0, &context);
            }
        }
    }
}

#[test]
fn an_error_anywhere_changes_nothing_or_is_without_effect() {
    let [usual, others @ ..] = FLAVORS;
    let usual = [Errno::NOSPC, Errno::IO, Errno::ACCESS].map(|errno| (errno, usual));
    for (errno, flavor) in usual.into_iter().chain(others.map(|flavor| (Errno::IO, flavor))) {
        for kind in Size::ALL {
            for at in 0..operations(FaultHost::default().of(flavor), kind) {
                let host = FaultHost::at(at, Fault::Error(errno)).of(flavor);
                run(host, kind, |tree, acknowledged, error| {
                    let context = format!("{kind:?}, {errno:?} at {at}");
                    check_failed(tree, acknowledged, error, errno, &context);
                });
            }
        }
    }
}

fn check_failed(
    tree: &Tree,
    acknowledged: bool,
    error: Option<CommitError>,
    errno: Errno,
    context: &str,
) {
    let (old, new) = expected_once();
    if let Some(error) = error {
        assert!(all(&error.effects, Effect::NotApplied), "{context}: {error}: {:?}", error.effects);
        assert_same(&tree.nodes(), old, context);
        let space = matches!(error.cause, Cause::NoSpace { .. });
        assert!(space || errno != Errno::NOSPC, "{context}: {error}");
    }
    // The checkpoint may have left the record, with or without a staged file.
    tree.recover(FaultHost::default());
    assert_same(&tree.nodes(), if acknowledged { new } else { old }, context);
    assert!(tree.records().is_empty(), "{context}");
}

#[test]
fn recovery_leaves_alone_what_somebody_else_wrote_since() {
    for kind in Size::ALL {
        for at in 0..=operations(FaultHost::default(), kind) {
            run(FaultHost::at(at, Fault::Crash), kind, |tree, acknowledged, _| {
                let context = format!("{kind:?}, crash at {at}");
                fs::write(tree.at("plain"), "theirs").unwrap();
                tree.recover(FaultHost::default());
                assert_eq!(tree.text("plain"), "theirs", "{context}");
                let (old, new) = expected_once();
                let mut found = tree.nodes();
                found.remove(Path::new("plain"));
                let without = |nodes: &Nodes| {
                    let mut nodes = nodes.clone();
                    nodes.remove(Path::new("plain"));
                    nodes
                };
                let new = without(new);
                if acknowledged || found == new {
                    assert_same(&found, &new, &context);
                } else {
                    assert_same(&found, &without(old), &context);
                }
            });
        }
    }
}

#[test]
fn a_file_that_was_put_back_by_hand_stays_so() {
    let tree = Tree::quick();
    let host = FaultHost::default();
    let (journal, _) = tree.open(host, Size::Small);
    let old = tree.text("plain");
    journal.commit(&tree.changes("new"), &Cancel::new()).unwrap();
    std::mem::forget(journal); // as if killed before the checkpoint
    fs::write(tree.at("plain"), &old).unwrap();
    fs::remove_file(tree.at("exec")).unwrap();
    // The forgotten journal still holds its lock, so recovery runs on a copy.
    let copy = tree.temp.path().join("copy");
    fs::create_dir(&copy).unwrap();
    for name in tree.records() {
        fs::copy(tree.journal_folder().join(&name), copy.join(&name)).unwrap();
    }
    let (_journal, reports) = Journal::open(Arc::new(FaultHost::default()), &copy).unwrap();
    assert_eq!(reports.len(), 1);
    assert_eq!(tree.text("plain"), old);
    assert!(!tree.at("exec").exists());
}

/// An operation while files are being staged and exchanged.
fn midway() -> usize {
    operations(FaultHost::default(), Size::Small) / 2
}

#[test]
fn a_record_of_a_folder_that_is_not_there_waits() {
    run(FaultHost::at(midway(), Fault::Crash), Size::Small, |tree, _, _| {
        let (root, away) = (tree.root(), tree.temp.path().join("unmounted"));
        fs::rename(&root, &away).unwrap();
        assert_eq!(tree.recover(FaultHost::default())[0].outcome, Outcome::Postponed);
        assert_eq!(tree.records().len(), 1);
        assert!(!root.exists(), "nothing is made anew");
        fs::rename(&away, &root).unwrap();
        check_recovered(tree, false, FaultHost::default(), "back again");
    });
}

/// The bytes of a real record in the midst of a commit, and its name.
fn record_in_flight(tree: &Tree) -> (PathBuf, Vec<u8>) {
    let name = tree.records().pop().unwrap();
    let path = tree.journal_folder().join(name);
    let bytes = fs::read(&path).unwrap();
    (path, bytes)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn damaged_records_never_touch_a_file(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in proptest::option::of(any::<prop::sample::Index>()),
        noise in proptest::option::of(proptest::collection::vec(any::<u8>(), 0..300)),
    ) {
        run(FaultHost::at(midway(), Fault::Crash), Size::Small, |tree, _, _| {
            let (path, whole) = record_in_flight(tree);
            let mut bytes = noise.clone().unwrap_or_else(|| whole.clone());
            if noise.is_none() {
                for (at, byte) in &changes {
                    let at = at.index(bytes.len());
                    bytes[at] ^= byte | 1;
                }
            }
            if let Some(cut) = &cut {
                bytes.truncate(cut.index(bytes.len() + 1));
            }
            fs::write(&path, &bytes).unwrap();
            let before = tree.nodes();
            let reports = tree.recover(FaultHost::default());
            if bytes != whole {
                assert_same(&tree.nodes(), &before, "damaged");
                assert!(reports.iter().all(|report| report.outcome == Outcome::Damaged));
            }
        });
    }
}
