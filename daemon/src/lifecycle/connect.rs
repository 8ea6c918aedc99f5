//! Connecting to the daemon, with a bound, and only to one that is surely ours.

use std::io;
use std::os::unix::net::UnixStream;

use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_timeout, socket_peercred};
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect as connect_to, socket_with,
};

use super::StartError;
use crate::limits::CONNECT_TIMEOUT;
use crate::paths::{PathError, Paths, check_private_dir};

/// Connects to the daemon; `None` when none is up.
///
/// # Errors
/// The folder or the daemon belongs to somebody else, or nothing takes the connection in time.
pub fn connect(paths: &Paths) -> Result<Option<UnixStream>, StartError> {
    match check_private_dir(paths.socket_dir()) {
        Ok(()) => {}
        Err(PathError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            return Ok(None);
        }
        Err(error) => return Err(error.into()),
    }
    let failed = |error: Errno| StartError::Socket {
        action: "connect to",
        path: paths.socket.clone(),
        source: error.into(),
    };
    let address = SocketAddrUnix::new(&paths.socket).map_err(failed)?;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)
        .map_err(failed)?;
    // A connection waits while the queue of the listener is full.
    set_socket_timeout(&socket, Timeout::Send, Some(CONNECT_TIMEOUT)).map_err(failed)?;
    match connect_to(&socket, &address) {
        Ok(()) => {}
        Err(Errno::NOENT | Errno::CONNREFUSED) => return Ok(None),
        Err(Errno::AGAIN) => return Err(StartError::Stuck { path: paths.socket.clone() }),
        Err(error) => return Err(failed(error)),
    }
    set_socket_timeout(&socket, Timeout::Send, None).map_err(failed)?;
    let owner = socket_peercred(&socket).map_err(failed)?.uid;
    if owner != rustix::process::geteuid() {
        return Err(StartError::Foreign { path: paths.socket.clone(), owner: owner.as_raw() });
    }
    Ok(Some(UnixStream::from(socket)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_folder_no_socket_and_a_dead_socket_mean_no_daemon() {
        let home = tempfile::tempdir().unwrap();
        let place = home.path().join("d/s");
        let find = |name: &str| (name == "CAPSTAN_SOCKET").then(|| place.clone().into_os_string());
        let paths = Paths::resolve(&find, 0).unwrap();
        assert!(connect(&paths).unwrap().is_none());
        crate::paths::make_private_dir(paths.socket_dir(), true).unwrap();
        assert!(connect(&paths).unwrap().is_none());
        let listener = std::os::unix::net::UnixListener::bind(&paths.socket).unwrap();
        assert!(connect(&paths).unwrap().is_some());
        drop(listener);
        assert!(connect(&paths).unwrap().is_none());
    }
}
