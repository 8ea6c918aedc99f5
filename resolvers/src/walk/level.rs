//! The chain of folders with ignore rules above a path, and the precedence among them.
//!
//! As in ripgrep: `.rgignore` beats `.ignore` beats `.gitignore` beats `info/exclude` beats the
//! global excludes, each with the deepest folder first; git's kinds hold inside repositories only
//! and stop at the root of the innermost one.

use std::ffi::CStr;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;
use std::sync::Arc;

use super::git::{self, RepositoryRules};
use super::os::{self, GitHome, Links};
use super::rules::{Rules, Subject, Verdict};
use crate::limits::IGNORE_FILE_BYTES;

/// One folder that has rules of its own or is the root of a repository.
#[derive(Debug, Default)]
pub(crate) struct Level {
    parent: Option<Arc<Level>>,
    rgignore: Option<Rules>,
    ignore: Option<Rules>,
    gitignore: Option<Rules>,
    repository: Option<Arc<RepositoryRules>>,
    /// Whether the folder is the root of a repository.
    is_root: bool,
    /// Whether the folder lies in a repository.
    in_git: bool,
    /// Whether this or any level above has `.rgignore` or `.ignore` rules.
    plain: bool,
}

/// The ignore files that a folder's listing shows.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Found {
    pub(crate) rgignore: bool,
    pub(crate) ignore: bool,
    pub(crate) gitignore: bool,
    /// A `.git` or `.jj` of any kind.
    pub(crate) repository: bool,
}

impl Found {
    /// Notes `name` if it is one of ours.
    pub(crate) fn note(&mut self, name: &[u8]) {
        match name {
            b".rgignore" => self.rgignore = true,
            b".ignore" => self.ignore = true,
            b".gitignore" => self.gitignore = true,
            b".git" | b".jj" => self.repository = true,
            _ => {}
        }
    }

    fn any(self) -> bool {
        self.rgignore || self.ignore || self.gitignore || self.repository
    }
}

impl Level {
    /// The level of a folder whose listing shows `found`: `parent` itself when that adds nothing.
    pub(crate) fn below(
        parent: Option<&Arc<Self>>,
        dir: &OwnedFd,
        path: &[u8],
        found: Found,
        home: &GitHome,
    ) -> Option<Arc<Self>> {
        if !found.any() {
            return parent.cloned();
        }
        let base = path.len() + usize::from(!path.ends_with(b"/"));
        let load = |wanted: bool, name: &CStr, links: Links| {
            wanted
                .then(|| os::read_small_at(dir.as_fd(), name, links, IGNORE_FILE_BYTES))
                .flatten()
                .and_then(|content| Rules::parse(&content, base))
        };
        let in_git = found.repository || parent.is_some_and(|parent| parent.in_git);
        let level = Self {
            rgignore: load(found.rgignore, c".rgignore", Links::Follow),
            ignore: load(found.ignore, c".ignore", Links::Follow),
            // A `.gitignore` that is a symbolic link counts for nothing, as in git.
            gitignore: load(found.gitignore && in_git, c".gitignore", Links::Refuse),
            repository: found
                .repository
                .then(|| git::repository_rules(os::path_of(path), home))
                .flatten(),
            is_root: found.repository,
            in_git,
            ..Self::default()
        };
        level.linked(parent)
    }

    /// The levels above the folder `root` (absolute, without links) that hold inside it. A rule
    /// that would hide the root itself, or a folder above it, was overruled by naming the root:
    /// it and all rules beside and above it are off.
    pub(crate) fn above(root: &Path, home: &GitHome) -> Option<Arc<Self>> {
        let mut ancestors: Vec<&Path> = root.ancestors().collect();
        ancestors.reverse();
        let mut level: Option<Arc<Self>> = None;
        for pair in ancestors.windows(2) {
            let [dir, child] = pair else { continue };
            level = Self::of_ancestor(level.as_ref(), dir, home);
            let name = child.file_name().unwrap_or_default().as_encoded_bytes();
            let subject =
                Subject { path: child.as_os_str().as_encoded_bytes(), name, is_dir: true };
            let hidden = Self::verdict(level.as_ref(), subject) == Some(Verdict::Ignore);
            if name == b".git" {
                level = None;
            } else if hidden {
                let in_git = level.is_some_and(|level| level.in_git);
                level = in_git.then(|| Arc::new(Self { in_git, ..Self::default() }));
            }
        }
        level
    }

    /// The level of a folder above the root, which is probed instead of listed.
    fn of_ancestor(parent: Option<&Arc<Self>>, dir: &Path, home: &GitHome) -> Option<Arc<Self>> {
        let base = git::base_of(dir);
        let load = |name: &str, links: Links| {
            os::read_small(&dir.join(name), links, IGNORE_FILE_BYTES)
                .and_then(|content| Rules::parse(&content, base))
        };
        let is_root = os::exists(&dir.join(".git")) || os::exists(&dir.join(".jj"));
        let in_git = is_root || parent.is_some_and(|parent| parent.in_git);
        let level = Self {
            rgignore: load(".rgignore", Links::Follow),
            ignore: load(".ignore", Links::Follow),
            gitignore: in_git.then(|| load(".gitignore", Links::Refuse)).flatten(),
            repository: is_root.then(|| git::repository_rules(dir, home)).flatten(),
            is_root,
            in_git,
            ..Self::default()
        };
        level.linked(parent)
    }

    fn linked(mut self, parent: Option<&Arc<Self>>) -> Option<Arc<Self>> {
        let adds = self.is_root
            || self.rgignore.is_some()
            || self.ignore.is_some()
            || self.gitignore.is_some();
        if !adds {
            return parent.cloned();
        }
        self.plain = self.rgignore.is_some()
            || self.ignore.is_some()
            || parent.is_some_and(|parent| parent.plain);
        self.parent = parent.cloned();
        Some(Arc::new(self))
    }

    /// What the chain that starts at `level` says about `subject`.
    pub(crate) fn verdict(level: Option<&Arc<Self>>, subject: Subject<'_>) -> Option<Verdict> {
        let (mut by_ignore, mut by_git, mut by_repository) = (None, None, None);
        let mut left_repository = false;
        let mut next = level;
        while let Some(level) = next {
            let ask = |rules: &Option<Rules>| rules.as_ref().and_then(|r| r.verdict(subject));
            if let Some(verdict) = ask(&level.rgignore) {
                return Some(verdict);
            }
            by_ignore = by_ignore.or_else(|| ask(&level.ignore));
            if !left_repository {
                by_git = by_git.or_else(|| ask(&level.gitignore));
                if level.is_root {
                    let rules = level.repository.as_ref();
                    by_repository =
                        rules.and_then(|rules| ask(&rules.exclude).or_else(|| ask(&rules.global)));
                    left_repository = true;
                }
            }
            let parent = level.parent.as_ref();
            let plain = parent.is_some_and(|parent| parent.plain);
            if !plain && (left_repository || by_git.is_some() || by_ignore.is_some()) {
                break;
            }
            next = parent;
        }
        by_ignore.or(by_git).or(by_repository)
    }
}
