//! Small trees on disk and the walk over them.

use std::path::{Path, PathBuf};
use std::process::Command;

use anchors::Cancel;

use crate::walk::{GitHome, Stop, WalkOptions, Walked, Walker};

/// A tree in a temporary folder, with a home of its own.
pub(crate) struct Tree {
    dir: tempfile::TempDir,
    pub(crate) home: GitHome,
}

impl Tree {
    /// Files given as `path` or `path: content`; `\n` in content is written as `|`.
    /// A path that ends in a slash is an empty folder, `a -> b` a link.
    pub(crate) fn new(entries: &[&str]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let home = GitHome { home: Some(dir.path().join("home")), ..GitHome::default() };
        let tree = Self { dir, home };
        std::fs::create_dir_all(tree.root()).unwrap();
        for entry in entries {
            tree.add(entry);
        }
        tree
    }

    pub(crate) fn add(&self, entry: &str) {
        if let Some((link, target)) = entry.split_once(" -> ") {
            std::os::unix::fs::symlink(target, self.root().join(link)).unwrap();
            return;
        }
        let (path, content) = entry.split_once(": ").unwrap_or((entry, "x"));
        let is_folder = path.ends_with('/');
        let path = self.root().join(path);
        if is_folder {
            std::fs::create_dir_all(path).unwrap();
            return;
        }
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content.replace('|', "\n")).unwrap();
    }

    /// The tree itself; the home lies beside it.
    pub(crate) fn root(&self) -> PathBuf {
        self.dir.path().join("tree")
    }

    pub(crate) fn git_init(&self, below: &str) {
        self.git(&self.root().join(below), &["init", "-q"]);
    }

    pub(crate) fn git(&self, dir: &Path, args: &[&str]) -> Vec<u8> {
        let output = Command::new("git")
            .args(args)
            .current_dir(dir)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.home.home.as_ref().unwrap())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .unwrap();
        assert!(output.status.success(), "git {args:?}: {output:?}");
        output.stdout
    }

    /// Walks `roots` (relative to the tree); paths come back relative to the tree.
    pub(crate) fn walk(&self, roots: &[&str], options: &WalkOptions) -> (Vec<String>, Walked) {
        let root = self.root();
        let roots: Vec<PathBuf> = roots.iter().map(|below| root.join(below)).collect();
        let walker = Walker::with_threads(self.home.clone(), 3);
        let stop = Stop::new(Cancel::new(), None);
        let (paths, walked) = walker.paths(&roots, options, &stop).unwrap();
        let relative =
            |path: &PathBuf| path.strip_prefix(&root).unwrap().to_string_lossy().into_owned();
        (paths.iter().map(relative).collect(), walked)
    }

    /// Checks which files a walk of the whole tree finds.
    pub(crate) fn check(&self, expected: &[&str]) -> Walked {
        self.check_from("", expected)
    }

    /// Checks which files a walk from `root` finds.
    pub(crate) fn check_from(&self, root: &str, expected: &[&str]) -> Walked {
        let (paths, walked) = self.walk(&[root], &WalkOptions::default());
        assert_eq!(paths, expected);
        walked
    }
}
