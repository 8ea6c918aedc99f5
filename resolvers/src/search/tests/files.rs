//! Which files are searched, how they are decoded, and what is said about the others.

use anchors::{ContentHash, Snapshot, Span};

use super::*;
use crate::walk::Globs;

fn put(tree: &Tree, name: &str, bytes: &[u8]) {
    std::fs::write(tree.root().join(name), bytes).unwrap();
}

/// Checks that `needle` is found once in `bytes`, at the same span as in the snapshot's text.
fn check_decoded(bytes: &[u8], needle: &str) {
    let tree = Tree::new(&[]);
    put(&tree, "f", bytes);
    let hits = text(&tree, needle, &[""], &SearchOptions::default());
    let snapshot = Snapshot::decode(bytes.to_vec()).unwrap();
    let at = snapshot.text().find(needle).unwrap();
    let [file] = &hits.files[..] else { panic!("{needle} in {bytes:?}: {hits:?}") };
    assert_eq!(file.content, ContentHash::of(bytes));
    assert_eq!(file.matches[0].span, Span::new(at, at + needle.len()));
    assert_eq!(file.count, 1);
}

#[test]
fn encodings() {
    let utf16 = |text: &str| -> Vec<u8> {
        [0xFEFF].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
    };
    check_decoded("\u{FEFF}abc\nneedle".as_bytes(), "needle");
    check_decoded(&utf16("x\r\né needle\r\n"), "é needle");
    check_decoded(b"caf\xE9 needle\n", "needle");
    check_decoded(b"na\xEFve caf\xE9 cr\xE8me\n", "café");
    check_decoded(
        b"na\xEFve caf\xE9 cr\xE8me br\xFBl\xE9e\n",
        "regex:c.{2}é cr".trim_start_matches("regex:c.{2}é "),
    );
}

#[test]
fn patterns_see_legacy_text_decoded() {
    let tree = Tree::new(&[]);
    put(&tree, "f", b"na\xEFve caf\xE9 cr\xE8me\n");
    check(&tree, "regex:caf. c", &["f:1:6"]);
    check(&tree, "regex:^na.ve$", &[]);
}

#[test]
fn binary_files_are_counted_and_named_when_named() {
    let tree = Tree::new(&["t: needle"]);
    put(&tree, "early", b"\0needle");
    put(&tree, "late", &[&b"needle\n".repeat(20_000)[..], b"\0"].concat());
    let hits = check(&tree, "needle", &["t:1:0"]);
    assert_eq!((hits.totals.binary, hits.totals.binary_named.len()), (2, 0));
    let hits = text(&tree, "needle", &["early", "t"], &SearchOptions::default());
    assert_eq!(hits.totals.binary_named, [tree.root().join("early")]);
    assert_eq!(hits.totals.files_searched, 1);
}

#[test]
fn what_was_not_looked_at_is_counted() {
    let tree = Tree::new(&[".ignore: i*", "ignored", ".hidden", "in/a", "a", "l -> a"]);
    let hits = check(&tree, "needle", &[]);
    let passed = &hits.totals.walked.passed;
    assert_eq!((passed.hidden, passed.links), (2, 1));
    assert_eq!((passed.ignored_files, passed.ignored_folders), (1, 1));
    assert_eq!(hits.totals.files_searched, 1);
    let all = SearchOptions { hidden: true, ignored: true, ..SearchOptions::default() };
    assert_eq!(text(&tree, "x", &[""], &all).files.len(), 4);
}

#[test]
fn named_files_are_searched_whatever_rules_say() {
    let tree = Tree::new(&[".ignore: *.log", "a.log: needle", ".h: needle"]);
    let hits = text(&tree, "needle", &["a.log", ".h"], &SearchOptions::default());
    assert_eq!(places(&tree, &hits), [".h:1:0", "a.log:1:0"]);
}

#[test]
fn overlapping_roots_give_each_match_once() {
    let tree = Tree::new(&["d/a: needle", "b: needle"]);
    let hits = text(&tree, "needle", &["", "d", "d/a"], &SearchOptions::default());
    assert_eq!(places(&tree, &hits), ["b:1:0", "d/a:1:0"]);
    assert_eq!((hits.totals.matches, hits.totals.files_matched), (2, 2));
}

#[test]
fn globs_choose_files() {
    let tree = Tree::new(&["a.rs: x", "a.c: x", "t/b.rs: x"]);
    let globs = Globs::parse("*.rs", "t/**").unwrap();
    let hits = text(&tree, "x", &[""], &SearchOptions { globs, ..SearchOptions::default() });
    assert_eq!(places(&tree, &hits), ["a.rs:1:0"]);
}

#[test]
fn unreadable_files_are_counted_and_named() {
    use std::os::unix::fs::PermissionsExt as _;
    let tree = Tree::new(&["a: needle"]);
    let path = tree.root().join("a");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::File::open(&path).is_ok() {
        println!("skipped: this user may read everything");
        return;
    }
    let hits = check(&tree, "needle", &[]);
    let passed = &hits.totals.walked.passed;
    assert_eq!(passed.unreadable, 1);
    assert_eq!(passed.unreadable_named[0].reason, "permission denied");
}

#[test]
fn matches_carry_lines_and_context() {
    let tree = Tree::new(&["f: one|two needle|three|four|needle"]);
    let options = SearchOptions { context: 1, ..SearchOptions::default() };
    let hits = text(&tree, "needle", &[""], &options);
    let file = &hits.files[0];
    let preview = file.preview.as_ref().unwrap();
    let shown: Vec<_> = preview.lines().map(|line| (line.number, line.text)).collect();
    assert_eq!(shown, [(1, "one"), (2, "two needle"), (3, "three"), (4, "four"), (5, "needle")]);
    let found = &file.matches[0];
    assert_eq!((found.line, found.line_span, found.end_column), (2, Span::new(4, 15), 10));
    assert!(file.stat.is_some());
}
