//! Whether the daemon is the program that this client is.

use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixStream;
use std::path::Path;

/// The version of this client.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What to tell people of a daemon that says it has `version`, over `stream`; nothing when it is
/// the same program.
pub fn difference(version: Option<&str>, stream: &UnixStream) -> Option<String> {
    let restart = "run `capstan restart` to replace it";
    match version {
        Some(other) if other != VERSION => Some(format!(
            "the running daemon is version {other}, this client is {VERSION}; {restart}"
        )),
        _ if is_other_file(stream) == Some(true) => {
            Some(format!("the running daemon is another build than this client; {restart}"))
        }
        _ => None,
    }
}

/// Whether the daemon runs from another executable file. A file that was replaced is another one.
/// `None` where the system does not tell.
fn is_other_file(stream: &UnixStream) -> Option<bool> {
    let pid = daemon_pid(stream)?;
    let theirs = Path::new("/proc").join(pid.to_string()).join("exe").metadata().ok()?;
    let ours = Path::new("/proc/self/exe").metadata().ok()?;
    Some((theirs.dev(), theirs.ino()) != (ours.dev(), ours.ino()))
}

/// The process that listens behind `stream`.
pub fn daemon_pid(stream: &UnixStream) -> Option<i32> {
    let credentials = rustix::net::sockopt::socket_peercred(stream).ok()?;
    Some(credentials.pid.as_raw_nonzero().get())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_another_program_is_reported() {
        let (_ours, theirs) = UnixStream::pair().unwrap();
        assert_eq!(difference(Some(VERSION), &theirs), None);
        assert_eq!(difference(None, &theirs), None);
        let note = difference(Some("9.9.9"), &theirs).unwrap();
        assert!(note.starts_with("the running daemon is version 9.9.9"), "{note}");
    }
}
