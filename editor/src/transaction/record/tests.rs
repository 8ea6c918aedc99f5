use super::*;

fn digest(content: &[u8]) -> Digest {
    Digest { len: content.len() as u64, hash: ContentHash::of(content) }
}

fn old(content: &[u8]) -> Option<Old> {
    Some(Old { content: digest(content), ino: 7, mode: 0o4755, uid: 1, gid: 2 })
}

fn entry(path: &str, method: Method, before: Option<Old>, after: &[u8]) -> Entry {
    Entry { path: path.into(), method, old: before, new: digest(after) }
}

fn sample(inline: bool) -> Record {
    Record {
        id: 0x1234,
        boot: 99,
        inline,
        folders: vec!["/x/new".into()],
        entries: vec![
            entry("/x/new/a", Method::Create, None, b"created"),
            entry("/x/b", Method::Swap, old(b"was"), b"is"),
            entry("/x/c", Method::InPlace, old(b"linked before"), b""),
        ],
    }
}

fn bytes(record: &Record, contents: &[&[u8]]) -> Vec<u8> {
    let mut bytes = record.encode();
    bytes.extend(contents.concat());
    bytes
}

#[test]
fn comes_back_with_its_contents() {
    let record = sample(true);
    let encoded = bytes(&record, &[b"created", b"is", b"", b"linked before"]);
    let stored = Stored::decode(encoded).unwrap();
    assert_eq!(stored.record, record);
    assert_eq!(stored.new_content(0), Some(&b"created"[..]));
    assert_eq!((stored.new_content(1), stored.old_content(1)), (Some(&b"is"[..]), None));
    assert_eq!(stored.new_content(2), Some(&b""[..]));
    assert_eq!(stored.old_content(2), Some(&b"linked before"[..]));

    let record = sample(false);
    let stored = Stored::decode(bytes(&record, &[b"", b"linked before"])).unwrap();
    assert_eq!((stored.new_content(0), stored.new_content(2)), (None, Some(&b""[..])));
}

#[test]
fn every_cut_is_unfinished_and_every_flipped_bit_is_damage() {
    let whole = bytes(&sample(true), &[b"created", b"is", b"", b"linked before"]);
    for len in 0..whole.len() {
        assert_eq!(Stored::decode(whole[..len].to_vec()).unwrap_err(), Unreadable::Unfinished);
    }
    for bit in 0..whole.len() * 8 {
        let mut flipped = whole.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        assert!(Stored::decode(flipped).is_err(), "bit {bit}");
    }
    let zeros = vec![0; whole.len()];
    assert_eq!(Stored::decode(zeros).unwrap_err(), Unreadable::Unfinished);
}

#[test]
fn paths_that_could_lead_elsewhere_are_refused() {
    for path in ["relative", "/x/../y", "/", "/x/\0y", ""] {
        let mut record = sample(false);
        record.entries = vec![entry(path, Method::Create, None, b"")];
        assert_eq!(Stored::decode(record.encode()).unwrap_err(), Unreadable::Damaged, "{path:?}");
    }
}
