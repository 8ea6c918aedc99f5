//! What a file keeps while its content changes.

use super::*;

fn commit(tree: &Tree, changes: &[FileChange]) {
    let (journal, _) = tree.open(LocalHost, Size::Small);
    journal.commit(changes, &Cancel::new()).unwrap();
}

#[test]
fn hard_links_stay_one_file() {
    for kind in Size::ALL {
        let tree = Tree::new();
        let ino = fs::metadata(tree.at("linked")).unwrap().ino();
        for text in ["a much longer text\n".repeat(100), "short".to_owned(), String::new()] {
            let (journal, _) = tree.open(LocalHost, kind);
            journal.commit(&[tree.change("linked", &text)], &Cancel::new()).unwrap();
            assert_eq!(tree.text("other/linked"), text);
            assert_eq!(fs::metadata(tree.at("linked")).unwrap().ino(), ino);
        }
    }
}

#[test]
fn owner_and_set_id_bits_are_kept() {
    if LocalHost.uid() != 0 {
        return; // only the superuser can give files away
    }
    let tree = Tree::new();
    for (name, mode) in [("plain", 0o4755), ("linked", 0o2711)] {
        std::os::unix::fs::chown(tree.at(name), Some(1234), Some(4321)).unwrap();
        fs::set_permissions(tree.at(name), fs::Permissions::from_mode(mode)).unwrap();
    }
    commit(&tree, &[tree.change("plain", "x"), tree.change("linked", "y")]);
    for (name, mode) in [("plain", 0o4755), ("linked", 0o2711)] {
        let meta = fs::metadata(tree.at(name)).unwrap();
        assert_eq!((meta.uid(), meta.gid(), meta.mode() & 0o7777), (1234, 4321, mode), "{name}");
    }
}

#[test]
fn an_access_control_list_is_kept_and_none_is_added() {
    let tree = Tree::new();
    // version 2: user::rw-, user:7:r--, group::r--, mask::r--, other::---
    let entry = |tag: u16, perm: u16, id: u32| {
        [&tag.to_le_bytes()[..], &perm.to_le_bytes(), &id.to_le_bytes()].concat()
    };
    let none = u32::MAX;
    let list = [
        2u32.to_le_bytes().to_vec(),
        entry(1, 6, none),
        entry(2, 4, 7),
        entry(4, 4, none),
        entry(0x10, 4, none),
        entry(0x20, 0, none),
    ]
    .concat();
    let set = |name: &str, attribute: &str| {
        let file = fs::File::open(tree.at(name)).unwrap();
        LocalHost.set_xattr(&file, attribute.as_bytes(), &list).is_ok()
    };
    if !set("plain", "system.posix_acl_access") {
        return; // the file system knows no lists
    }
    assert!(set("", "system.posix_acl_default"), "new files of the folder get a list");
    let before = tree.nodes();
    commit(&tree, &[tree.change("plain", "x"), tree.change("exec", "y")]);
    let after = tree.nodes();
    for name in ["plain", "exec"] {
        let (before, after) = (&before[Path::new(name)], &after[Path::new(name)]);
        assert_eq!((before.mode, &before.xattrs), (after.mode, &after.xattrs), "{name}");
    }
}

#[test]
fn a_dangling_link_gets_its_target() {
    let tree = Tree::new();
    symlink("made/here", tree.at("dangling")).unwrap();
    commit(&tree, &[tree.change("dangling", "x")]);
    assert_eq!(tree.text("made/here"), "x");
    assert_eq!(fs::read_link(tree.at("dangling")).unwrap(), Path::new("made/here"));
}

#[test]
fn empty_files_and_strange_names() {
    use std::os::unix::ffi::OsStrExt as _;
    let tree = Tree::new();
    let strange = tree.root().join(std::ffi::OsStr::from_bytes(b"not \xff utf-8\n"));
    commit(&tree, &[change(&strange, b""), tree.change("plain", "")]);
    assert_eq!(fs::read(&strange).unwrap(), b"");
    commit(&tree, &[change(&strange, b"x"), tree.change("plain", "y")]);
    assert_eq!((fs::read(&strange).unwrap(), tree.text("plain")), (b"x".to_vec(), "y".into()));
}

#[test]
fn content_larger_than_a_piece() {
    let tree = Tree::new();
    let big: Vec<u8> = (0..limits::CHUNK_BYTES * 2 + 77).map(|i| (i / 7) as u8).collect();
    for name in ["plain", "linked"] {
        commit(&tree, &[change(&tree.at(name), &big)]);
        assert!(fs::read(tree.at(name)).unwrap() == big);
    }
}
