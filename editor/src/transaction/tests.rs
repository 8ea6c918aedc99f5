//! Commits of every kind of file, stopped in every way at every step.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anchors::{Cancel, ContentHash};
use resolvers::LocalHost;
use resolvers::host::{Host as _, HostWrite};

use super::fault::{Fault, FaultHost};
use super::*;
use crate::limits;

mod crash;
mod fidelity;
mod races;
mod refusals;

/// A folder of files of all kinds, and a journal beside it.
struct Tree {
    temp: tempfile::TempDir,
}

/// Everything about a file but its inode.
#[derive(Clone, PartialEq, Eq)]
struct Node {
    content: Vec<u8>,
    mode: u32,
    owner: (u32, u32),
    links: u64,
    target: Option<PathBuf>,
    xattrs: Vec<(Vec<u8>, Vec<u8>)>,
}

impl std::fmt::Debug for Node {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = String::from_utf8_lossy(&self.content);
        let start: String = text.chars().take(20).collect();
        write!(f, "{start:?} ({} bytes, {:o}, {} links)", self.content.len(), self.mode, self.links)
    }
}

type Nodes = BTreeMap<PathBuf, Node>;

/// Paths that [`Tree::changes`] changes, as they are asked for.
const CHANGED: [&str; 8] =
    ["plain", "private", "sub/attr", "exec", "link", "linked", "new/deep/one", "new/two"];

impl Tree {
    fn new() -> Self {
        Self::make(tempfile::tempdir().unwrap())
    }

    /// In memory where there is such a place: hundreds are made.
    fn quick() -> Self {
        let memory = tempfile::tempdir_in("/dev/shm").ok().filter(|temp| {
            let file = fs::File::create(temp.path().join("try")).unwrap();
            LocalHost.set_xattr(&file, b"user.note", b"").is_ok()
        });
        memory.map_or_else(Self::new, Self::make)
    }

    fn make(temp: tempfile::TempDir) -> Self {
        let tree = Self { temp };
        for folder in ["root/sub", "root/other", "shadow"] {
            fs::create_dir_all(tree.temp.path().join(folder)).unwrap();
        }
        let put = |name: &str, mode: u32| {
            let content = format!("{name} as it was\n").repeat(40);
            fs::write(tree.at(name), content).unwrap();
            fs::set_permissions(tree.at(name), fs::Permissions::from_mode(mode)).unwrap();
        };
        put("plain", 0o644);
        put("private", 0o600);
        put("exec", 0o755);
        put("sub/attr", 0o640);
        put("sub/target", 0o664);
        put("other/linked", 0o644);
        put("untouched", 0o444);
        let file = fs::File::open(tree.at("sub/attr")).unwrap();
        LocalHost.set_xattr(&file, b"user.note", b"kept").unwrap();
        fs::hard_link(tree.at("other/linked"), tree.at("linked")).unwrap();
        symlink("sub/target", tree.at("link")).unwrap();
        tree
    }

    fn root(&self) -> PathBuf {
        fs::canonicalize(self.temp.path()).unwrap().join("root")
    }

    fn at(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    fn journal_folder(&self) -> PathBuf {
        self.temp.path().join("state/journal")
    }

    fn shadow(&self) -> PathBuf {
        self.temp.path().join("shadow")
    }

    /// One change of every kind; `text` tells versions apart.
    fn changes(&self, text: &str) -> Vec<FileChange> {
        CHANGED
            .iter()
            .map(|name| self.change(name, &format!("{name} {text}\n").repeat(50)))
            .collect()
    }

    fn change(&self, name: &str, content: &str) -> FileChange {
        change(&self.at(name), content.as_bytes())
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.at(name)).unwrap()
    }

    fn nodes(&self) -> Nodes {
        let mut nodes = Nodes::new();
        collect(&self.root(), &self.root(), &mut nodes);
        nodes
    }

    fn open<H: HostWrite>(&self, host: H, kind: Size) -> (Journal<H>, Vec<Recovered>) {
        Journal::open_with(Arc::new(host), &self.journal_folder(), kind.inline_bytes()).unwrap()
    }

    /// Opens and closes the journal as after a crash; what it reports.
    fn recover(&self, host: impl HostWrite) -> Vec<Recovered> {
        self.open(host, Size::Small).1
    }

    /// Names in the journal's folder but the lock.
    fn records(&self) -> Vec<String> {
        let names = fs::read_dir(self.journal_folder()).into_iter().flatten();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name != "lock").collect()
    }
}

/// Whether contents go into the record.
#[derive(Clone, Copy, Debug)]
enum Size {
    Small,
    Large,
}

impl Size {
    const ALL: [Self; 2] = [Self::Small, Self::Large];

    fn inline_bytes(self) -> u64 {
        match self {
            Self::Small => limits::INLINE_BYTES,
            Self::Large => 0,
        }
    }
}

fn change(path: &Path, content: &[u8]) -> FileChange {
    let before = match LocalHost.read(path, u64::MAX - 1, &Cancel::new()) {
        Ok(read) => Before::of(&read, ContentHash::of(&read.bytes)),
        Err(_) => Before::Absent,
    };
    FileChange { path: path.to_owned(), before, after: Content::new(content.to_vec()) }
}

fn collect(root: &Path, folder: &Path, nodes: &mut Nodes) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let meta = fs::symlink_metadata(&path).unwrap();
        let node = Node {
            content: if meta.is_file() { fs::read(&path).unwrap() } else { Vec::new() },
            mode: meta.mode(),
            owner: (meta.uid(), meta.gid()),
            links: if meta.is_file() { meta.nlink() } else { 1 },
            target: fs::read_link(&path).ok(),
            xattrs: LocalHost.xattrs(&path).unwrap(),
        };
        nodes.insert(path.strip_prefix(root).unwrap().to_owned(), node);
        if meta.is_dir() {
            collect(root, &path, nodes);
        }
    }
}

/// The tree before and after a commit, from one that nothing disturbed.
fn expected(text: &str) -> (Nodes, Nodes) {
    let tree = Tree::quick();
    let old = tree.nodes();
    let (journal, _) = tree.open(LocalHost, Size::Small);
    journal.commit(&tree.changes(text), &Cancel::new()).unwrap();
    drop(journal);
    (old, tree.nodes())
}

/// How many operations an undisturbed commit with its checkpoint takes.
fn operations(host: FaultHost, kind: Size) -> usize {
    let tree = Tree::quick();
    let (journal, _) = tree.open(host, kind);
    let host = journal.host();
    journal.commit(&tree.changes("new"), &Cancel::new()).unwrap();
    drop(journal);
    host.count()
}

fn all(effects: &[(PathBuf, Effect)], effect: Effect) -> bool {
    effects.iter().all(|(_, found)| *found == effect)
}

#[track_caller]
fn assert_same(found: &Nodes, expected: &Nodes, context: &str) {
    for path in found.keys().chain(expected.keys()) {
        let (found, expected) = (found.get(path), expected.get(path));
        assert!(found == expected, "{context}: {}: {found:?} is not {expected:?}", path.display());
    }
}

#[test]
fn a_commit_changes_everything_and_leaves_nothing_behind() {
    for kind in Size::ALL {
        let tree = Tree::new();
        let (old, new) = expected("new");
        assert_same(&tree.nodes(), &old, "before");
        let (journal, recovered) = tree.open(LocalHost, kind);
        assert!(recovered.is_empty());
        let done = journal.commit(&tree.changes("new"), &Cancel::new()).unwrap();
        assert_same(&tree.nodes(), &new, "after");
        let paths: Vec<_> = done.files.iter().map(|file| file.path.clone()).collect();
        assert_eq!(paths[0], tree.at("plain"));
        assert_eq!(paths[4], tree.at("sub/target"), "the link's target");
        for file in &done.files {
            assert_eq!(file.stat, LocalHost.lstat(&file.path).ok());
            assert_eq!(file.created, file.path.starts_with(tree.at("new")));
        }
        assert_eq!(tree.records().len(), 1, "the record waits for the checkpoint");
        journal.sync();
        assert!(tree.records().is_empty());
        journal.close();
        let error = journal.commit(&tree.changes("x"), &Cancel::new()).unwrap_err();
        assert!(matches!(error.cause, Cause::Closed));
    }
}
