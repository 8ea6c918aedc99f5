//! Private folders: owned by this user, writable by nobody else, and no link to anywhere.

use std::fs::{DirBuilder, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{
    DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
};
use std::path::Path;

use rustix::fs::OFlags;

use super::PathError;

/// Makes `path` (and what it lies in) with mode 0700 when it is missing, then checks it.
/// `tighten` also takes away what group and others may do there.
///
/// # Errors
/// [`PathError`]: it can't be made, is no folder, or is not private.
pub fn make_private_dir(path: &Path, tighten: bool) -> Result<(), PathError> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .or_else(|error| if exists(path) { Ok(()) } else { Err(error) })
        .map_err(|source| failed("make the folder", path, source))?;
    // Opened without following a link, so that what is checked is what is changed.
    let mut options = OpenOptions::new();
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW;
    options.read(true).custom_flags(flags.bits().cast_signed());
    let folder = match options.open(path) {
        Ok(folder) => folder,
        Err(source) => {
            check_private_dir(path)?;
            return Err(failed("open the folder", path, source));
        }
    };
    let metadata = folder.metadata().map_err(|source| failed("look at", path, source))?;
    let uid = rustix::process::geteuid().as_raw();
    let open_to_others = metadata.mode() & 0o077 != 0;
    if tighten && open_to_others && metadata.uid() == uid && metadata.mode() & 0o022 == 0 {
        folder
            .set_permissions(Permissions::from_mode(0o700))
            .map_err(|source| failed("tighten", path, source))?;
    }
    check(path, &metadata, uid)
}

/// Checks that `path` is private. A missing folder is an [`PathError::Io`] of kind `NotFound`.
///
/// # Errors
/// [`PathError`].
pub fn check_private_dir(path: &Path) -> Result<(), PathError> {
    let metadata = path.symlink_metadata().map_err(|source| failed("look at", path, source))?;
    check(path, &metadata, rustix::process::geteuid().as_raw())
}

fn check(path: &Path, metadata: &Metadata, uid: u32) -> Result<(), PathError> {
    let path = || path.to_owned();
    if !metadata.is_dir() {
        let what = if metadata.is_symlink() { "a symbolic link" } else { "a file" };
        return Err(PathError::NotADirectory { path: path(), what });
    }
    if metadata.uid() != uid {
        return Err(PathError::ForeignOwner { path: path(), owner: metadata.uid(), uid });
    }
    let mode = metadata.mode() & 0o7777;
    if mode & 0o022 != 0 {
        return Err(PathError::Writable { path: path(), mode });
    }
    Ok(())
}

fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

fn failed(action: &'static str, path: &Path, source: io::Error) -> PathError {
    PathError::Io { action, path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn mode(path: &Path) -> u32 {
        path.metadata().unwrap().mode() & 0o7777
    }

    #[test]
    fn missing_folders_are_made_private() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("a/b");
        make_private_dir(&path, false).unwrap();
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o700, 0o700));
    }

    #[test]
    fn readable_folders_are_tightened_only_when_ours() {
        let home = tempfile::tempdir().unwrap();
        fs::set_permissions(home.path(), Permissions::from_mode(0o755)).unwrap();
        make_private_dir(home.path(), false).unwrap();
        assert_eq!(mode(home.path()), 0o755);
        make_private_dir(home.path(), true).unwrap();
        assert_eq!(mode(home.path()), 0o700);
    }

    #[test]
    fn what_others_can_write_or_redirect_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let refusal = |name: &str| {
            let error = make_private_dir(&home.path().join(name), true).unwrap_err().to_string();
            error.replace(home.path().to_str().unwrap(), "HOME")
        };
        let open = home.path().join("open");
        fs::create_dir(&open).unwrap();
        fs::set_permissions(&open, Permissions::from_mode(0o770)).unwrap();
        assert_eq!(
            refusal("open"),
            "others can write `HOME/open` (mode 0770); run `chmod go-w HOME/open`"
        );
        std::os::unix::fs::symlink("/tmp", home.path().join("link")).unwrap();
        assert!(refusal("link").contains("`HOME/link` is a symbolic link"), "{}", refusal("link"));
        fs::write(home.path().join("file"), "").unwrap();
        assert!(refusal("file").contains("is a file"), "{}", refusal("file"));
    }

    #[test]
    fn another_users_folder_is_refused() {
        let metadata = Path::new("/").metadata().unwrap();
        let other = metadata.uid() + 1;
        let error = check(Path::new("/"), &metadata, other).unwrap_err();
        assert!(matches!(error, PathError::ForeignOwner { uid, .. } if uid == other));
    }
}
