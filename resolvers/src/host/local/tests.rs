use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, symlink};

use super::*;
use crate::host::is_link_loop;

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn read(path: &Path) -> Result<FileBytes, ReadError> {
    LocalHost.read(path, 1 << 30, &Cancel::new())
}

#[test]
fn stat_agrees_with_the_standard_library() {
    let dir = folder();
    let path = dir.path().join("a");
    fs::write(&path, "four").unwrap();
    let (ours, theirs) = (LocalHost.stat(&path).unwrap(), fs::metadata(&path).unwrap());
    assert_eq!((ours.dev, ours.ino, ours.size), (theirs.dev(), theirs.ino(), 4));
    assert_eq!(ours.mtime_ns, theirs.mtime() * 1_000_000_000 + theirs.mtime_nsec());
    assert_eq!((ours.mode, ours.kind, ours.nlink), (theirs.mode() & 0o7777, Kind::File, 1));
    assert_eq!(LocalHost.lstat(dir.path()).unwrap().kind, Kind::Dir);
}

#[test]
fn reads_whole_files_and_ranges() {
    let dir = folder();
    let path = dir.path().join("big");
    let content: Vec<u8> = (0..9_000_001u32).map(|i| (i % 251) as u8).collect();
    fs::write(&path, &content).unwrap();
    assert_eq!(read(&path).unwrap().bytes, content);
    let range = |start, len| LocalHost.read_range(&path, start, len, &Cancel::new()).unwrap().bytes;
    assert_eq!(range(5, 10), content[5..15]);
    assert_eq!(range(8_999_990, 100), content[8_999_990..]);
    assert_eq!(range(10_000_000, 5), b"");
    let mut buffer = b"old".to_vec();
    LocalHost.read_into(&path, &mut buffer, 1 << 30, &Cancel::new()).unwrap();
    assert_eq!(buffer, content);
    let mut text = Vec::new();
    LocalHost.open(&path).unwrap().reader.read_to_end(&mut text).unwrap();
    assert_eq!(text, content);
}

#[test]
fn a_file_over_the_bound_is_refused_even_if_its_size_lies() {
    let dir = folder();
    let path = dir.path().join("a");
    fs::write(&path, "12345").unwrap();
    let bounded = |path: &Path, max| LocalHost.read(path, max, &Cancel::new());
    assert_eq!(bounded(&path, 5).unwrap().bytes, b"12345");
    assert!(matches!(bounded(&path, 4), Err(ReadError::TooLarge { size: 5, .. })));
    if cfg!(target_os = "linux") {
        let status = Path::new("/proc/self/status");
        assert!(bounded(status, 1 << 20).unwrap().bytes.starts_with(b"Name:"));
        assert!(matches!(bounded(status, 3), Err(ReadError::TooLarge { .. })));
    }
}

#[test]
fn what_is_not_a_file_never_hangs_a_read() {
    let dir = folder();
    let fifo = dir.path().join("fifo");
    rustix::fs::mknodat(CWD, &fifo, rustix::fs::FileType::Fifo, Mode::RWXU, 0).unwrap();
    let socket = dir.path().join("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let link = dir.path().join("link");
    symlink(&fifo, &link).unwrap();
    let cases = [
        (fifo.as_path(), Kind::Fifo),
        (&link, Kind::Fifo),
        (&socket, Kind::Socket),
        (dir.path(), Kind::Dir),
        (Path::new("/dev/null"), Kind::CharDevice),
    ];
    for (path, expected) in cases {
        let refused = |result: Result<(), ReadError>| match result {
            Err(ReadError::NotAFile { kind, .. }) => assert_eq!(kind, expected),
            other => panic!("{}: {other:?}", path.display()),
        };
        refused(read(path).map(drop));
        refused(LocalHost.open(path).map(drop));
        refused(LocalHost.read_into(path, &mut Vec::new(), 9, &Cancel::new()).map(drop));
        refused(LocalHost.read_range(path, 0, 9, &Cancel::new()).map(drop));
    }
}

#[test]
fn failures_have_codes() {
    use anchors::ErrorCode;
    let dir = folder();
    let looped = dir.path().join("loop");
    symlink(&looped, &looped).unwrap();
    assert_eq!(read(&looped).unwrap_err().code(), ErrorCode::LinkLoop);
    assert!(is_link_loop(&LocalHost.realpath(&looped).unwrap_err()));
    assert_eq!(read(&dir.path().join("none")).unwrap_err().code(), ErrorCode::NotFound);
    let cancel = Cancel::new();
    cancel.cancel();
    let path = dir.path().join("a");
    fs::write(&path, "a").unwrap();
    let error = LocalHost.read(&path, 9, &cancel).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Cancelled);
}

#[test]
fn fresh_content_is_not_settled() {
    let dir = folder();
    let path = dir.path().join("a");
    let mut file = File::create(&path).unwrap();
    file.write_all(b"a").unwrap();
    assert!(!read(&path).unwrap().settled);
    file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
    drop(file);
    std::thread::sleep(std::time::Duration::from_millis(60));
    assert!(read(&path).unwrap().settled);
}

#[test]
fn listings_are_bounded() {
    let dir = folder();
    for name in ["a", "b", "c"] {
        fs::write(dir.path().join(name), "").unwrap();
    }
    symlink("nowhere", dir.path().join("d")).unwrap();
    let list = |max| LocalHost.read_dir(dir.path(), max, &Cancel::new()).unwrap();
    let all = list(4);
    assert!(all.complete && all.entries.len() == 4);
    assert!(all.entries.contains(&DirEntry { name: "d".into(), kind: Kind::Symlink }));
    assert!(!list(3).complete && list(3).entries.len() == 3);
}

#[test]
fn this_machine_has_a_home_a_user_and_a_boot() {
    assert!(LocalHost.home_dir().is_some());
    assert_eq!(LocalHost.uid(), fs::metadata("/proc/self").map_or(LocalHost.uid(), |m| m.uid()));
    assert_eq!(LocalHost.boot_id(), LocalHost.boot_id());
    assert_eq!(LocalHost.boot_id().is_some(), cfg!(target_os = "linux"));
}

mod writing {
    use super::*;
    use crate::host::HostWrite as _;

    #[test]
    fn nothing_is_opened_through_a_link() {
        let dir = folder();
        let root = fs::canonicalize(dir.path()).unwrap();
        fs::create_dir(root.join("real")).unwrap();
        fs::write(root.join("real/file"), "x").unwrap();
        symlink("real", root.join("dirlink")).unwrap();
        symlink("file", root.join("real/filelink")).unwrap();
        assert!(LocalHost.open_dir(&root.join("dirlink")).is_err());
        let real = LocalHost.open_dir(&root.join("real")).unwrap();
        assert!(LocalHost.open_in(&real, "filelink".as_ref(), true).is_err());
        assert!(LocalHost.create_new(&real, "filelink".as_ref(), 0o600).is_err());
        assert!(LocalHost.open_in(&real, "file".as_ref(), true).is_ok());
    }

    #[test]
    fn renames_keep_their_promise() {
        let dir = folder();
        let open = LocalHost.open_dir(&fs::canonicalize(dir.path()).unwrap()).unwrap();
        let put = |name: &str| fs::write(dir.path().join(name), name).unwrap();
        let get = |name: &str| fs::read_to_string(dir.path().join(name)).unwrap();
        put("a");
        put("b");
        LocalHost.exchange(&open, "a".as_ref(), "b".as_ref()).unwrap();
        assert_eq!((get("a"), get("b")), ("b".to_owned(), "a".to_owned()));
        let error = LocalHost.rename_new(&open, "a".as_ref(), "b".as_ref()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        LocalHost.rename_new(&open, "a".as_ref(), "c".as_ref()).unwrap();
        assert_eq!(get("c"), "b");
    }

    #[test]
    fn attributes_travel() {
        let dir = folder();
        let path = dir.path().join("a");
        let file = File::create(&path).unwrap();
        let value = vec![7; 1_000];
        if LocalHost.set_xattr(&file, b"user.test", &value).is_err() {
            return; // the file system knows no attributes
        }
        assert!(LocalHost.xattrs(&path).unwrap().contains(&(b"user.test".to_vec(), value)));
    }

    #[test]
    fn a_lock_excludes_other_handles() {
        let dir = folder();
        let path = dir.path().join("lock");
        let (one, two) = (File::create(&path).unwrap(), File::open(&path).unwrap());
        LocalHost.try_lock(&one).unwrap();
        assert_eq!(LocalHost.try_lock(&two).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        drop(one);
        LocalHost.try_lock(&two).unwrap();
    }
}
