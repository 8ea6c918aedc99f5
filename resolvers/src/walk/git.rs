//! What git's configuration adds to the ignore files of a tree.
//!
//! Only two settings matter: the repository's `info/exclude` and `core.excludesFile`. Includes
//! (`[include]`) are not followed.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::os::{self, GitHome, Links};
use super::rules::Rules;
use crate::limits::IGNORE_FILE_BYTES;

/// Rules that hold for a whole repository, weaker than any ignore file in it.
#[derive(Debug, Default)]
pub(crate) struct RepositoryRules {
    /// `info/exclude`.
    pub(crate) exclude: Option<Rules>,
    /// `core.excludesFile`.
    pub(crate) global: Option<Rules>,
}

/// The rules of the repository whose work tree is `root` (an absolute path).
pub(crate) fn repository_rules(root: &Path, home: &GitHome) -> Option<Arc<RepositoryRules>> {
    let base = base_of(root);
    let common = common_dir(root);
    let load = |path: &Path| {
        os::read_small(path, Links::Follow, IGNORE_FILE_BYTES)
            .and_then(|content| Rules::parse(&content, base))
    };
    let exclude = common.as_ref().and_then(|common| load(&common.join("info/exclude")));
    let global = excludes_file(common.as_deref(), home).and_then(|path| load(&path));
    (exclude.is_some() || global.is_some()).then(|| Arc::new(RepositoryRules { exclude, global }))
}

/// Length of `dir` with its trailing slash.
pub(crate) fn base_of(dir: &Path) -> usize {
    let bytes = dir.as_os_str().as_encoded_bytes();
    bytes.len() + usize::from(!bytes.ends_with(b"/"))
}

/// The folder that all work trees of the repository share.
fn common_dir(root: &Path) -> Option<PathBuf> {
    let dot_git = root.join(".git");
    // A work tree or submodule has a file here that names the real folder.
    let git_dir = match os::read_small(&dot_git, Links::Follow, 4096) {
        None => dot_git,
        Some(content) => {
            let target = content.strip_prefix(b"gitdir:")?.trim_ascii();
            root.join(os::path_of(target))
        }
    };
    match os::read_small(&git_dir.join("commondir"), Links::Follow, 4096) {
        None => Some(git_dir),
        Some(content) => Some(git_dir.join(os::path_of(content.trim_ascii()))),
    }
}

/// The file that `core.excludesFile` names, or git's default for it.
fn excludes_file(common: Option<&Path>, home: &GitHome) -> Option<PathBuf> {
    let xdg = home
        .xdg_config_home
        .clone()
        .or_else(|| home.home.as_ref().map(|home| home.join(".config")));
    let mut configs: Vec<PathBuf> = home.config_system.iter().cloned().collect();
    match &home.config_global {
        Some(global) => configs.push(global.clone()),
        None => {
            configs.extend(xdg.as_ref().map(|xdg| xdg.join("git/config")));
            configs.extend(home.home.as_ref().map(|home| home.join(".gitconfig")));
        }
    }
    configs.extend(common.map(|common| common.join("config")));
    let mut named = None;
    for config in configs {
        if let Some(content) = os::read_small(&config, Links::Follow, IGNORE_FILE_BYTES) {
            named = excludes_setting(&content).or(named);
        }
    }
    match named {
        None => xdg.map(|xdg| xdg.join("git/ignore")),
        Some(value) if value.is_empty() => None,
        Some(value) => match value.strip_prefix(b"~/") {
            Some(rest) => home.home.as_ref().map(|home| home.join(os::path_of(rest))),
            None => Some(os::path_of(&value).to_owned()),
        },
    }
}

/// The last `excludesFile` in a `[core]` section of a git configuration file.
fn excludes_setting(content: &[u8]) -> Option<Vec<u8>> {
    let (mut in_core, mut found) = (false, None);
    for line in content.split(|b| *b == b'\n') {
        let mut line = line.trim_ascii();
        if let Some(section) = line.strip_prefix(b"[") {
            let close = section.iter().position(|b| *b == b']').unwrap_or(section.len());
            in_core = section[..close].trim_ascii().eq_ignore_ascii_case(b"core");
            line = section.get(close + 1..).unwrap_or_default().trim_ascii();
        }
        let Some(equals) = line.iter().position(|b| *b == b'=') else { continue };
        if in_core && line[..equals].trim_ascii().eq_ignore_ascii_case(b"excludesfile") {
            found = Some(setting_value(&line[equals + 1..]));
        }
    }
    found
}

/// A value without its quotes, escapes and comment.
fn setting_value(raw: &[u8]) -> Vec<u8> {
    let (mut value, mut quoted, mut keep) = (Vec::new(), false, 0);
    let mut bytes = raw.trim_ascii().iter().copied();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => {
                quoted = !quoted;
                keep = value.len();
            }
            b'#' | b';' if !quoted => break,
            b'\\' => {
                value.push(match bytes.next() {
                    Some(b'n') => b'\n',
                    Some(b't') => b'\t',
                    Some(other) => other,
                    None => break,
                });
                keep = value.len();
            }
            other => {
                value.push(other);
                if quoted || !other.is_ascii_whitespace() {
                    keep = value.len();
                }
            }
        }
    }
    value.truncate(keep);
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(config: &str, expected: Option<&str>) {
        let found = excludes_setting(config.as_bytes());
        assert_eq!(found.as_deref(), expected.map(str::as_bytes), "{config:?}");
    }

    #[test]
    fn finds_the_setting_as_git_does() {
        check("[core]\n\texcludesFile = ~/x\n", Some("~/x"));
        check("[Core] ExcludesFile=\"a b\" # c\n", Some("a b"));
        check("[user]\nexcludesfile = x\n", None);
        check("[core]\nexcludesfile = a\n[core]\nexcludesfile = b ; c\n", Some("b"));
        check("# excludesfile = x\n[core \"sub\"]\nexcludesfile = x\n", None);
    }
}
