//! What a file holds: encodings, whole writes, refused text.

use anchors::{ErrorCode, Span};

use super::*;
use crate::testing::target;

fn of_bytes(bytes: &[u8], at: &[At], text: &str) -> Plan {
    let snapshot = Arc::new(Snapshot::decode(bytes.to_vec()).unwrap());
    let targets = vec![target("/f", &snapshot, at)];
    plan(&[Mutation::Replace(Replace { targets, text: text.to_owned() })])
}

#[track_caller]
fn check_bytes(before: &[u8], line: usize, text: &str, after: &[u8]) {
    let plan = of_bytes(before, &[At::Lines(line, line)], text);
    let file = &plan.files[0];
    assert_eq!(file.after.bytes(), after);
    let read = Snapshot::decode(after.to_vec()).unwrap();
    assert_eq!(read.text(), file.after.snapshot().text());
    assert_eq!(read.hash(), file.after.snapshot().hash());
}

#[track_caller]
fn check_refused(mutation: Mutation, code: ErrorCode, message: &str) {
    let plan = plan(&[mutation]);
    let error = plan.outcomes[0].as_ref().unwrap_err();
    assert_eq!(error.code(), code);
    assert!(error.to_string().contains(message), "{error}");
    assert!(plan.files.is_empty());
}

#[test]
fn the_format_of_the_file_stays() {
    check_bytes(b"\xEF\xBB\xBFa\nb\n", 1, "x", b"\xEF\xBB\xBFx\nb\n");
    check_bytes(b"\xFF\xFEa\0\n\0b\0", 2, "\u{e9}", b"\xFF\xFEa\0\n\0\xE9\0");
    check_bytes(b"\xFE\xFF\0a\0\n\0b", 1, "x", b"\xFE\xFF\0x\0\n\0b");
    check_bytes(b"caf\xE9\nx\n", 2, "cr\u{e8}me", b"caf\xE9\ncr\xE8me\n");
    check_bytes(b"caf\xE9\nx\n", 1, "plain", b"plain\nx\n");
}

#[test]
fn text_that_looks_binary_is_written_all_the_same() {
    let plan = of_bytes(b"a\nb\n", &[At::Lines(1, 1)], "\u{1}\u{1}\u{1}\u{1}\u{1}x");
    assert_eq!(plan.files[0].after.bytes(), b"\x01\x01\x01\x01\x01x\nb\n");
}

#[test]
fn what_the_encoding_cannot_hold_is_named() {
    let plan = of_bytes(b"caf\xE9\nx\n", &[At::Lines(2, 2)], "ok\nnot \u{2192} ok");
    let error = plan.outcomes[0].as_ref().unwrap_err();
    assert_eq!(error.code(), ErrorCode::UnencodableText);
    let PlanError::Unencodable { character, line, column, encoding, .. } = error else {
        panic!("{error:?}")
    };
    assert_eq!((*character, *line, *column, *encoding), ('\u{2192}', 2, 5, "windows-1252"));
}

#[test]
fn bytes_that_would_read_as_other_text_are_refused() {
    // The edit leaves two characters whose bytes are a UTF-8 sequence.
    let plan = of_bytes(b"caf\xE9\nx\n", &[At::Lines(1, 1)], "\u{c3}\u{a9}");
    assert_eq!(plan.outcomes[0].as_ref().unwrap_err().code(), ErrorCode::UnencodableText);
    // A mark at the front of the file is not text.
    let mark = replace("a\n", &[At::Lines(1, 1)], "\u{feff}a");
    check_refused(mark, ErrorCode::UnencodableText, "UTF-8");
}

#[test]
fn a_failing_file_takes_only_its_own_mutations_along() {
    let legacy = Arc::new(Snapshot::decode(b"caf\xE9\nx\n".to_vec()).unwrap());
    let other = snapshot("1\n2\n");
    let bad = Mutation::Replace(Replace {
        targets: vec![
            target("/f", &other, &[At::Lines(1, 1)]),
            target("/legacy", &legacy, &[At::Lines(1, 1)]),
        ],
        text: "\u{c3}\u{a9}".to_owned(),
    });
    let plan = plan(&[bad, delete("1\n2\n", &[At::Lines(2, 2)])]);
    assert!(plan.outcomes[0].is_err() && plan.outcomes[1].is_ok());
    assert_eq!(plan.files.len(), 1);
    assert_eq!(plan.files[0].after.bytes(), b"1\n");
}

#[test]
fn a_write_is_taken_as_it_is() {
    let of = |before: Option<&str>, text: &str| {
        let plan = plan(&[write(before, text)]);
        let file = &plan.files[0];
        assert_eq!(file.changes.apply(before.unwrap_or_default()), text);
        file.after.bytes().to_vec()
    };
    assert_eq!(of(None, "a\r\nb\n"), b"a\r\nb\n");
    assert_eq!(of(None, ""), b"");
    assert_eq!(of(Some("a\r\n"), "x\ny\n"), b"x\ny\n");
    assert_eq!(of(Some("a\n"), ""), b"");
    let marked = plan(&[write(None, "\u{feff}a\n")]);
    assert_eq!(marked.files[0].after.bytes(), b"\xEF\xBB\xBFa\n");
    assert_eq!(marked.files[0].after.snapshot().text(), "a\n");
}

#[test]
fn a_write_keeps_the_format() {
    let before = Snapshot::decode(b"\xFF\xFEa\0".to_vec()).unwrap();
    let mutation = Mutation::Write(Write {
        source: SourceId::new("/f"),
        path: PathBuf::from("/f"),
        before: Original::Text(Arc::new(before)),
        text: "b".to_owned(),
    });
    assert_eq!(plan(&[mutation]).files[0].after.bytes(), b"\xFF\xFEb\0");
    let utf8 = Format { encoding: Encoding::Utf8, bom: true };
    let (before, _) = Snapshot::encode("a\n".to_owned(), utf8).unwrap();
    let mutation = Mutation::Write(Write {
        source: SourceId::new("/f"),
        path: PathBuf::from("/f"),
        before: Original::Text(Arc::new(before)),
        text: "\u{feff}a\n".to_owned(),
    });
    assert!(plan(&[mutation]).outcomes[0].as_ref().unwrap().is_no_change());
}

#[test]
fn a_write_over_a_binary_file_replaces_it() {
    let hash = anchors::ContentHash::of(b"\0\xFF");
    let mutation = Mutation::Write(Write {
        source: SourceId::new("/f"),
        path: PathBuf::from("/f"),
        before: Original::Binary { hash, bytes: 2 },
        text: "text\n".to_owned(),
    });
    let plan = plan(&[mutation]);
    assert_eq!(plan.files[0].after.bytes(), b"text\n");
    assert_eq!(plan.files[0].before.hash(), Some(hash));
}

#[test]
fn displayed_text_is_not_file_content() {
    let of = |text: &str| replace("a\nb\n", &[At::Lines(1, 1)], text);
    let prefixed = ErrorCode::PrefixedText;
    check_refused(of("12#A4F0│let x;"), prefixed, "line 1 of the new text starts with `12#A4F0│`");
    check_refused(of("x\r\n3#00FF│"), prefixed, "line 2");
    check_refused(write(None, "ok\n1#ABCD│x"), prefixed, "line 2");
    let live = format!("[result {}]\nx", Uuid::from_u128(7));
    check_refused(of(&live), prefixed, "envelope");
    let dead = format!("[result {}]", Uuid::from_u128(8));
    for fine in [&*dead, " 12#A4F0│x", "12#a4f0│x", "12#A4F│x", "#A4F0│x", "12#A4F0 x", "│", "1#é│"]
    {
        let plan = plan(&[of(fine)]);
        assert!(plan.outcomes[0].is_ok(), "{fine}");
    }
}

#[test]
fn odd_requests_are_refused() {
    let empty = insert("a\n", &[At::Lines(1, 1)], "", Side::After, Separation::Line);
    check_refused(empty, ErrorCode::InvalidRequest, "empty");
    let inside = insert("a b\n", &[At::Text("b")], "X", Side::After, Separation::BlankLine);
    check_refused(inside, ErrorCode::InvalidRequest, "inside line 1");
    let mut split = target("/f", &snapshot("ñ"), &[]);
    split.ranges.push(Range::exact(Span::new(1, 2)));
    let mutation = Mutation::Delete(Delete { targets: vec![split] });
    check_refused(mutation, ErrorCode::Internal, "1..2");
}

#[test]
fn cancelling_stops() {
    let cancel = Cancel::new();
    cancel.cancel();
    let guards = Guards::default();
    let context = PlanContext {
        is_live: &|_| false,
        guards: &guards,
        session: &crate::testing::Seen,
        cancel: &cancel,
    };
    assert_eq!(Plan::batch(&[write(None, "x")], &context).err(), Some(Cancelled));
}
