//! `capstan mcp`: a pump between a client's pipes and the daemon's socket.
//!
//! The connection is bound to its workspace by one `capstan/session.open` before the first byte of
//! the client is passed on; its answer is swallowed. The stateless revision of MCP has no
//! `initialize` that could carry the root, and so the client's bytes are never looked at, let alone
//! rewritten. Standard output carries protocol only.

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use protocol::capstan::{SessionOpenParams, SessionOpenResult};
use protocol::names::method;

use crate::client::{Client, ClientError};
use crate::paths::Paths;

/// Bytes that are moved at once.
const CHUNK_BYTES: usize = 64 * 1024;

/// Pumps until the client closes its end and every answer is delivered.
///
/// # Errors
/// [`ClientError`]: the daemon can't be reached, refuses the session, or goes away meanwhile.
pub fn run(paths: &Paths, open: &SessionOpenParams) -> Result<(), ClientError> {
    let mut client = Client::start(paths)?;
    // Without a root the client is asked for its roots by the server.
    if open.root.is_some() || open.session.is_some() {
        let _: SessionOpenResult = client.request(method::SESSION_OPEN, open)?;
    }
    let (socket, arrived) = client.into_parts();
    let broken = |error| ClientError::Lost(Some(error));
    // Bare descriptors: the buffers of the standard streams would only delay.
    let input = File::from(io::stdin().as_fd().try_clone_to_owned().map_err(broken)?);
    let mut output = File::from(io::stdout().as_fd().try_clone_to_owned().map_err(broken)?);
    if output.write_all(&arrived).is_err() {
        return Ok(());
    }
    let finished = feed(input, socket.try_clone().map_err(broken)?);
    match pass(&socket, &mut output) {
        // The client has gone; nobody is left to tell anything.
        Err(End::Output) => Ok(()),
        Ok(()) if finished.load(Ordering::Acquire) => Ok(()),
        Ok(()) => Err(ClientError::Lost(None)),
        Err(End::Input(error)) => Err(ClientError::Lost(Some(error))),
    }
}

/// Passes the client's bytes on in a thread of its own; the flag is set once it has closed its end.
fn feed(input: File, socket: UnixStream) -> Arc<AtomicBool> {
    let finished = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&finished);
    std::thread::spawn(move || {
        // If the daemon takes no more, the other direction finds out why.
        if !matches!(pass(input, &socket), Err(End::Output)) {
            flag.store(true, Ordering::Release);
            let _ = socket.shutdown(Shutdown::Write);
        }
    });
    finished
}

/// Which end broke.
enum End {
    Input(io::Error),
    Output,
}

fn pass(mut from: impl Read, mut to: impl Write) -> Result<(), End> {
    let mut buffer = vec![0; CHUNK_BYTES];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => to.write_all(&buffer[..count]).map_err(|_| End::Output)?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(End::Input(error)),
        }
    }
}
