//! One socket connection: reading lines, and giving up cleanly.
//!
//! The task that reads also answers what is cheap. It stops reading when too many bytes of
//! requests are unanswered or too many bytes of answers are unread, so a client stalls itself only.

use std::io;
use std::sync::Arc;

use anchors::ErrorCode;
use protocol::ErrorObject;
use protocol::names::{MAX_LINE_BYTES, code};
use serde_json::json;
use tokio::io::Interest;
use tokio::net::UnixStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};

use super::Server;
use super::dispatch::{Sender, may_be_response};
use super::drain::Phase;
use super::frame::{Line, Lines};
use super::outlet::Outlet;
use super::output::Output;
use super::peer::Peer;
use super::request::{capstan_error, failure};
use crate::limits::{
    FLUSH_TIMEOUT, HANG_UP_POLL, MAX_CONNECTIONS, MAX_REQUEST_BYTES, MIN_REQUEST_BYTES,
};

/// Serves one connection until either side closes it.
pub(super) async fn run(server: Arc<Server>, stream: UnixStream) {
    let _counted = server.connect();
    let stream = Arc::new(stream);
    let output = Output::new(Arc::clone(&stream));
    let peer = Peer::socket(&output);
    server.admit(&peer);
    let writer = tokio::spawn({
        let output = Arc::clone(&output);
        async move { output.run().await }
    });
    let mut connection = Connection {
        outlet: Arc::<Output>::clone(&output),
        shares: Arc::new(Semaphore::new(MAX_REQUEST_BYTES)),
        server,
        stream,
        output,
        peer,
    };
    connection.read().await;
    connection.end().await;
    // The output is closed, so its task ends by itself; a panic in it was ours and is logged.
    let _ = writer.await;
}

/// Tells a client beyond the bound why it is not served.
pub(super) fn refuse(stream: &UnixStream) {
    let reason = format!("{MAX_CONNECTIONS} connections are open; close one first");
    let mut line = failure(None, &capstan_error(ErrorCode::LimitExceeded, reason));
    line.push(b'\n');
    // The socket's buffer is empty, so this takes the whole line.
    let _ = stream.try_write(&line);
    tracing::warn!("refused a connection beyond the bound");
}

struct Connection {
    server: Arc<Server>,
    stream: Arc<UnixStream>,
    output: Arc<Output>,
    outlet: Arc<dyn Outlet>,
    peer: Arc<Peer>,
    /// Bytes of unanswered requests that the connection may still take.
    shares: Arc<Semaphore>,
}

impl Connection {
    /// Reads and handles lines until the client stops sending, is given up, or the server closes.
    async fn read(&mut self) {
        let mut lines = Lines::default();
        let (server, output) = (Arc::clone(&self.server), Arc::clone(&self.output));
        let ending = async {
            tokio::select! {
                () = server.drain().reached(Phase::Closing) => {}
                () = output.closed() => {}
            }
        };
        tokio::pin!(ending);
        loop {
            while let Some(line) = lines.next_line() {
                match line {
                    Line::TooLong => self.output.answer(failure(None, &too_long())),
                    Line::Whole(text) if text.trim_ascii().is_empty() => {}
                    Line::Whole(text) => {
                        let Some(permit) = self.admit(text.len()).await else { return };
                        self.line(permit, text);
                    }
                }
            }
            tokio::select! {
                biased;
                ready = self.stream.readable() => if ready.is_err() { return },
                () = &mut ending => return,
            }
            match self.stream.try_read(lines.room()) {
                Ok(0) => return,
                Ok(count) => lines.filled(count),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => return,
            }
        }
    }

    /// Handles one line, or has it wait for the client's roots.
    fn line(&self, permit: OwnedSemaphorePermit, text: &[u8]) {
        let permit = Some(Arc::new(permit));
        if self.peer.roots_pending() && !may_be_response(text) {
            let (server, peer, outlet) =
                (Arc::clone(&self.server), Arc::clone(&self.peer), Arc::clone(&self.outlet));
            let text = text.to_vec();
            tokio::spawn(async move {
                peer.roots_known().await;
                server.handle(&Sender { peer: &peer, outlet: &outlet, permit }, &text);
            });
            return;
        }
        self.server.handle(&Sender { peer: &self.peer, outlet: &self.outlet, permit }, text);
    }

    /// Waits until a line of that size may be handled; `None` when the connection is over.
    async fn admit(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        let share = bytes.clamp(MIN_REQUEST_BYTES, MAX_REQUEST_BYTES);
        // It fits: the bound is far below `u32::MAX`.
        let share = u32::try_from(share).unwrap_or(u32::MAX);
        if self.output.has_room()
            && let Ok(permit) = Arc::clone(&self.shares).try_acquire_many_owned(share)
        {
            return Some(permit);
        }
        let admitted = async {
            self.output.room().await;
            Arc::clone(&self.shares).acquire_many_owned(share).await.ok()
        };
        tokio::select! {
            permit = admitted => permit.filter(|_| !self.output.is_closed()),
            () = self.hung_up() => None,
            () = self.server.drain().reached(Phase::Closing) => None,
        }
    }

    /// Lets what runs come to its end: cancelled when the client is gone, answered when it only
    /// stopped sending.
    async fn end(&self) {
        if self.server.drain().phase() != Phase::Closing && !self.output.is_closed() {
            let answered = async {
                while self.peer.running() > 0
                    || self.peer.listens() > 0
                    || !self.output.is_flushed()
                {
                    sleep(HANG_UP_POLL).await;
                }
            };
            tokio::select! {
                () = answered => {}
                () = self.hung_up() => {}
                () = self.output.closed() => {}
                () = self.server.drain().reached(Phase::Closing) => {}
            }
        }
        self.peer.leave();
        if !self.is_hung_up().await {
            let _ = timeout(FLUSH_TIMEOUT, self.output.flushed()).await;
        }
        self.output.close();
    }

    /// Waits until the client has closed its socket.
    async fn hung_up(&self) {
        while !self.is_hung_up().await {
            sleep(HANG_UP_POLL).await;
        }
    }

    /// Whether the client has closed its socket, and not only stopped sending.
    async fn is_hung_up(&self) -> bool {
        tokio::select! {
            biased;
            ready = self.stream.ready(Interest::WRITABLE) => {
                ready.map_or(true, |ready| ready.is_write_closed())
            }
            // Not writable and not closed: it only reads slowly.
            () = std::future::ready(()) => false,
        }
    }
}

fn too_long() -> ErrorObject {
    ErrorObject::new(
        code::INVALID_REQUEST,
        format!("the line is longer than {MAX_LINE_BYTES} bytes and was skipped"),
    )
    .with_data(json!({"code": ErrorCode::LimitExceeded.as_str()}))
}
