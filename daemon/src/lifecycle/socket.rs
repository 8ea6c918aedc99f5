//! The daemon's socket file: made while the lock is held, removed at the end if it is still ours.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use super::StartError;
use super::lock::Lock;
use crate::paths::Paths;

/// The socket file of this daemon.
#[derive(Debug)]
pub struct SocketFile {
    path: PathBuf,
    /// Device and inode.
    identity: (u64, u64),
}

impl SocketFile {
    /// Listens at the user's socket path. A socket that a dead daemon left there is replaced;
    /// holding the lock proves that it is dead.
    ///
    /// # Errors
    /// [`StartError::Socket`], [`StartError::NotASocket`].
    pub fn bind(paths: &Paths, _held: &Lock) -> Result<(UnixListener, Self), StartError> {
        let path = &paths.socket;
        let failed =
            |action| move |source| StartError::Socket { action, path: path.clone(), source };
        remove_stale(path)?;
        let listener = UnixListener::bind(path).map_err(failed("listen at"))?;
        fs::set_permissions(path, Permissions::from_mode(0o600))
            .map_err(failed("set the mode of"))?;
        listener.set_nonblocking(true).map_err(failed("configure"))?;
        let identity = identity(path).map_err(failed("look at"))?;
        Ok((listener, Self { path: path.clone(), identity }))
    }

    /// Whether the file at the path is still this socket, so that clients can find us.
    pub fn is_in_place(&self) -> bool {
        identity(&self.path).is_ok_and(|found| found == self.identity)
    }

    /// Takes the socket out of sight: whoever is connected stays so, others find no daemon. False
    /// when it was not there.
    pub fn hide(&self) -> bool {
        self.is_in_place() && fs::rename(&self.path, self.hidden()).is_ok()
    }

    /// Undoes [`Self::hide`].
    pub fn show(&self) {
        // Holding the lock, nobody else can have put a socket there.
        let _ = fs::rename(self.hidden(), &self.path);
    }

    fn hidden(&self) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(".hidden");
        PathBuf::from(name)
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        // A socket that stays is removed by the next daemon.
        if self.is_in_place() {
            let _ = fs::remove_file(&self.path);
        }
        let _ = fs::remove_file(self.hidden());
    }
}

fn remove_stale(path: &Path) -> Result<(), StartError> {
    match path.symlink_metadata() {
        Ok(metadata) if !metadata.file_type().is_socket() => {
            return Err(StartError::NotASocket { path: path.to_owned() });
        }
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(source) => {
            return Err(StartError::Socket { action: "look at", path: path.to_owned(), source });
        }
    }
    fs::remove_file(path).map_err(|source| StartError::Socket {
        action: "remove the stale socket",
        path: path.to_owned(),
        source,
    })
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    path.symlink_metadata().map(|metadata| (metadata.dev(), metadata.ino()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(home: &Path) -> Paths {
        let home = home.to_owned();
        let find =
            move |name: &str| (name == "CAPSTAN_SOCKET").then(|| home.join("s").into_os_string());
        Paths::resolve(&find, 0).unwrap()
    }

    #[test]
    fn a_stale_socket_is_replaced_and_ours_removed() {
        let home = tempfile::tempdir().unwrap();
        let paths = paths(home.path());
        drop(UnixListener::bind(&paths.socket).unwrap());
        let lock = Lock::try_take(&paths.lock_file()).unwrap().unwrap();
        let (_listener, socket) = SocketFile::bind(&paths, &lock).unwrap();
        assert_eq!(paths.socket.metadata().unwrap().mode() & 0o777, 0o600);
        assert!(socket.is_in_place());
        assert!(socket.hide() && !socket.is_in_place());
        socket.show();
        assert!(socket.is_in_place());
        drop(socket);
        assert!(!paths.socket.exists());
    }

    #[test]
    fn what_is_not_ours_stays() {
        let home = tempfile::tempdir().unwrap();
        let paths = paths(home.path());
        let lock = Lock::try_take(&paths.lock_file()).unwrap().unwrap();
        fs::write(&paths.socket, "data").unwrap();
        let refused = SocketFile::bind(&paths, &lock).unwrap_err();
        assert!(matches!(refused, StartError::NotASocket { .. }), "{refused}");
        fs::remove_file(&paths.socket).unwrap();

        let (_listener, socket) = SocketFile::bind(&paths, &lock).unwrap();
        fs::remove_file(&paths.socket).unwrap();
        fs::write(&paths.socket, "another's").unwrap();
        drop(socket);
        assert!(paths.socket.exists());
    }
}
