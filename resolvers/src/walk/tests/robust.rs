//! What must never hang, loop or crash the walk.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::time::{Duration, Instant};

use anchors::Cancel;

use super::fixture::Tree;
use crate::walk::{Stop, Stopped, WalkError, WalkOptions, Walker};

#[test]
fn links_fifos_and_sockets_are_passed_over() {
    let tree = Tree::new(&["a", "loop -> .", "l -> a", "gone -> nowhere"]);
    let fifo = tree.root().join("fifo");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &fifo,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(tree.root().join("socket")).unwrap();
    let walked = tree.check(&["a"]);
    assert_eq!((walked.passed.links, walked.passed.special), (3, 2));
    let walker = Walker::new(tree.home.clone());
    let stop = Stop::new(Cancel::new(), None);
    let error = walker.paths(&[fifo], &WalkOptions::default(), &stop).unwrap_err();
    assert!(matches!(error, WalkError::Special { .. }));
}

#[test]
fn a_root_may_be_a_link_but_must_exist() {
    let tree = Tree::new(&["d/a", "l -> d"]);
    tree.check_from("l", &["l/a"]);
    let walker = Walker::new(tree.home.clone());
    let stop = Stop::new(Cancel::new(), None);
    let error =
        walker.paths(&[tree.root().join("no")], &WalkOptions::default(), &stop).unwrap_err();
    assert_eq!(error.code(), anchors::ErrorCode::NotFound);
    assert!(error.to_string().ends_with("no such file or directory"), "{error}");
}

#[test]
fn names_need_not_be_utf8() {
    let tree = Tree::new(&[".ignore: b*"]);
    for name in [&b"a\xFF"[..], b"b\xFF"] {
        std::fs::write(tree.root().join(OsStr::from_bytes(name)), "x").unwrap();
    }
    let (paths, walked) = tree.walk(&[""], &WalkOptions::default());
    assert_eq!(paths, ["a\u{FFFD}"]);
    assert_eq!(walked.passed.ignored_files, 1);
}

#[test]
fn deep_and_wide_trees() {
    let deep = "d/".repeat(200);
    let tree = Tree::new(&[&format!("{deep}a")]);
    for number in 0..1000 {
        tree.add(&format!("wide/{number}"));
    }
    let (paths, walked) = tree.walk(&[""], &WalkOptions::default());
    assert_eq!((paths.len(), walked.files, walked.folders), (1001, 1001, 202));
}

#[test]
fn cancel_and_timeout_stop_at_once() {
    let tree = Tree::new(&["a"]);
    let walker = Walker::new(tree.home.clone());
    let cancel = Cancel::new();
    let stop = Stop::new(cancel.clone(), None);
    cancel.cancel();
    let roots = ["/usr".into(), tree.root()];
    let started = Instant::now();
    let (paths, walked) = walker.paths(&roots, &WalkOptions::default(), &stop).unwrap();
    assert_eq!((paths.len(), walked.stopped), (0, Some(Stopped::Cancelled)));
    let stop = Stop::new(Cancel::new(), Some(Duration::ZERO));
    let (_, walked) = walker.paths(&roots, &WalkOptions::default(), &stop).unwrap();
    assert_eq!(walked.stopped, Some(Stopped::TimedOut));
    assert!(started.elapsed() < Duration::from_millis(50));
}
