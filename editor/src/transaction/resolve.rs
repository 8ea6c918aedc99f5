//! From the path that was asked for to the file that it means.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use resolvers::host::{Host, Kind, Stat, is_link_loop};

use super::error::Cause;
use crate::limits;

/// Where a write to `path` ends up: symbolic links resolved, also those that point to nothing yet.
///
/// # Errors
/// [`Cause::LinkLoop`] for links that never end, [`Cause::NotAFolder`], [`Cause::PermissionDenied`].
pub fn resolve(host: &impl Host, path: &Path) -> Result<PathBuf, Cause> {
    Ok(Resolver { host, folders: HashMap::new() }.target(path)?.path)
}

/// Resolves many paths; each folder once.
pub(super) struct Resolver<'a, H> {
    host: &'a H,
    folders: HashMap<PathBuf, PathBuf>,
}

/// A resolved path.
pub(super) struct Target {
    /// Absolute, without symbolic links.
    pub(super) path: PathBuf,
    /// What is there now, if anything.
    pub(super) stat: Option<Stat>,
}

impl<'a, H: Host> Resolver<'a, H> {
    pub(super) fn new(host: &'a H) -> Self {
        Self { host, folders: HashMap::new() }
    }

    pub(super) fn target(&mut self, path: &Path) -> Result<Target, Cause> {
        self.follow(path, path, &mut { limits::PATH_LINKS })
    }

    /// `asked` is the path of the caller, for messages.
    fn follow(&mut self, asked: &Path, path: &Path, left: &mut u32) -> Result<Target, Cause> {
        let Some(name) = path.file_name() else {
            // `/` or `x/..`: a folder for sure, if anything.
            let path = self.host.realpath(path).map_err(|e| Cause::io("resolving", asked, e))?;
            let stat = self.host.lstat(&path).map_err(|e| Cause::io("resolving", asked, e))?;
            return Ok(Target { path, stat: Some(stat) });
        };
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let folder = self.folder(asked, parent.unwrap_or(Path::new(".")), left)?;
        let path = folder.join(name);
        match self.host.lstat(&path) {
            Ok(stat) if stat.kind == Kind::Symlink => {
                *left = left.checked_sub(1).ok_or(Cause::LinkLoop { path: asked.to_owned() })?;
                let text =
                    self.host.read_link(&path).map_err(|e| Cause::io("resolving", asked, e))?;
                self.follow(asked, &folder.join(text), left)
            }
            Ok(stat) => Ok(Target { path, stat: Some(stat) }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Ok(Target { path, stat: None })
            }
            Err(error) => Err(Cause::io("resolving", asked, error)),
        }
    }

    /// The real path of a folder that may not exist yet.
    fn folder(&mut self, asked: &Path, path: &Path, left: &mut u32) -> Result<PathBuf, Cause> {
        if let Some(real) = self.folders.get(path) {
            return Ok(real.clone());
        }
        let real = match self.host.realpath(path) {
            Ok(real) => real,
            Err(error) if is_link_loop(&error) => {
                return Err(Cause::LinkLoop { path: asked.to_owned() });
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound && path.file_name().is_some() => {
                self.follow(asked, path, left)?.path
            }
            Err(error) => return Err(Cause::io("resolving", asked, error)),
        };
        self.folders.insert(path.to_owned(), real.clone());
        Ok(real)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use resolvers::LocalHost;

    use super::*;

    #[test]
    fn links_lead_to_their_targets() {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        let at = |name: &str| root.join(name);
        fs::create_dir(at("real")).unwrap();
        fs::write(at("real/file"), "").unwrap();
        symlink("real", at("folder")).unwrap();
        symlink("folder/file", at("one")).unwrap();
        symlink(at("one"), at("two")).unwrap();
        symlink("real/new/deep", at("dangling")).unwrap();
        symlink("loop", at("loop")).unwrap();
        symlink("b", at("a")).unwrap();
        symlink("a", at("b")).unwrap();
        let check = |name: &str, expected: &str| {
            assert_eq!(resolve(&LocalHost, &at(name)).unwrap(), at(expected), "{name}");
        };
        check("real/file", "real/file");
        check("two", "real/file");
        check("folder/none", "real/none");
        check("dangling", "real/new/deep");
        check("dangling/x/y", "real/new/deep/x/y");
        check("folder/../real/./file", "real/file");
        check("real/..", "");
        for name in ["loop", "a", "b/x", "loop/x/y"] {
            let error = resolve(&LocalHost, &at(name)).unwrap_err();
            assert!(matches!(error, Cause::LinkLoop { .. }), "{name}: {error}");
        }
        let error = resolve(&LocalHost, &at("real/file/x")).unwrap_err();
        assert!(matches!(error, Cause::NotAFolder { .. }), "{error}");
    }
}
