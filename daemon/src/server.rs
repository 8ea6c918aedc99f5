//! The server: one dispatcher behind the Unix socket and the HTTP door.
//!
//! It owns framing, JSON-RPC, both eras of MCP, the `capstan/*` methods, cancellation and the
//! drain. What a fault, a slow reader or a vanished client does is bounded to that call or that
//! client. It never opens a socket itself: listeners are handed in.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, Weak};
use std::time::{Duration, Instant};

use protocol::capstan::Event;
use protocol::names::method;
use tokio::net::UnixListener;

use crate::limits::MAX_CONNECTIONS;
use crate::session::SessionRegistry;
use crate::tool::ToolRegistry;

pub mod connection;
pub mod dispatch;
pub mod drain;
pub mod events;
pub mod frame;
pub mod methods;
pub mod outlet;
pub mod output;
pub mod peer;
pub mod request;
pub mod resources;
pub mod sessions;
pub mod status;

pub use drain::Phase;
pub use events::{Events, Subscription};
pub use resources::{ResourceContent, Resources};

use drain::Drain;
use peer::Peer;

/// What the server needs from the rest of the daemon.
pub struct Parts {
    /// The tools that are switched on.
    pub tools: ToolRegistry,
    /// The sessions.
    pub sessions: SessionRegistry,
    /// What `resources/*` serves; without it the capability is not advertised.
    pub resources: Option<Box<dyn Resources>>,
    /// The advice to models in `initialize` and `server/discover`; see [`methods::INSTRUCTIONS`].
    pub instructions: String,
}

/// The server. Shared by every connection.
pub struct Server {
    tools: RwLock<Arc<ToolRegistry>>,
    sessions: SessionRegistry,
    resources: Option<Box<dyn Resources>>,
    instructions: String,
    events: Events,
    drain: Drain,
    started: Instant,
    /// Every peer that lives, for announcements and the drain.
    peers: Mutex<Vec<Weak<Peer>>>,
    connections: AtomicUsize,
    /// When the last connection or call ended.
    last_active: Mutex<Instant>,
    http: Mutex<Option<String>>,
}

impl Server {
    /// A server that nothing is connected to yet.
    pub fn new(parts: Parts) -> Arc<Self> {
        let Parts { tools, sessions, resources, instructions } = parts;
        Arc::new(Self {
            tools: RwLock::new(Arc::new(tools)),
            sessions,
            resources,
            instructions,
            events: Events::default(),
            drain: Drain::default(),
            started: Instant::now(),
            peers: Mutex::default(),
            connections: AtomicUsize::new(0),
            last_active: Mutex::new(Instant::now()),
            http: Mutex::default(),
        })
    }

    /// Accepts connections until [`Self::shutdown`], then drains: running calls finish within
    /// [`DRAIN_TIMEOUT`], or are cancelled. Returns when every connection is closed.
    ///
    /// # Errors
    /// When the listener breaks for good.
    ///
    /// [`DRAIN_TIMEOUT`]: crate::limits::DRAIN_TIMEOUT
    pub async fn serve(self: &Arc<Self>, listener: UnixListener) -> io::Result<()> {
        let uid = rustix::process::geteuid().as_raw();
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                () = self.drain.reached(Phase::Draining) => break,
            };
            let stream = match accepted {
                Ok((stream, _)) => stream,
                Err(error) if is_passing(&error) => {
                    tracing::warn!(%error, "accepting a connection failed");
                    // Out of descriptors: give closing connections time to return some.
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
                Err(error) => return Err(error),
            };
            match stream.peer_cred() {
                Ok(credentials) if credentials.uid() == uid => {}
                _ => {
                    tracing::warn!("refused a connection of another user");
                    continue;
                }
            }
            if self.connections.load(Ordering::Relaxed) >= MAX_CONNECTIONS {
                connection::refuse(&stream);
                continue;
            }
            tokio::spawn(connection::run(Arc::clone(self), stream));
        }
        drop(listener);
        self.finish().await;
        Ok(())
    }

    /// Starts the drain, from any thread; later calls do nothing.
    pub fn shutdown(&self) {
        if self.drain.start() {
            self.events.publish(|| Event::ShuttingDown);
        }
    }

    /// Replaces the tools and announces the change to clients that listen.
    pub fn set_tools(&self, tools: ToolRegistry) {
        *self.tools.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(tools);
        self.events.publish(|| Event::ToolsChanged);
        for peer in self.peers() {
            peer.announce(method::TOOLS_CHANGED);
        }
    }

    /// The tools that are switched on.
    pub fn tools(&self) -> Arc<ToolRegistry> {
        Arc::clone(&self.tools.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The sessions.
    pub fn sessions(&self) -> &SessionRegistry {
        &self.sessions
    }

    /// The event stream.
    pub fn events(&self) -> &Events {
        &self.events
    }

    /// How far the server is with its end.
    pub fn drain(&self) -> &Drain {
        &self.drain
    }

    /// How long nobody has been connected and no call has run; zero while somebody is.
    pub fn idle(&self) -> Duration {
        if self.connections.load(Ordering::Relaxed) > 0 || self.drain.running() > 0 {
            return Duration::ZERO;
        }
        self.last_active.lock().unwrap_or_else(PoisonError::into_inner).elapsed()
    }

    /// Records the address of the HTTP door: `capstan/status` tells it, and the end of the server
    /// waits until it is taken back.
    pub fn set_http(&self, address: Option<String>) {
        *self.http.lock().unwrap_or_else(PoisonError::into_inner) = address;
    }

    /// Whether the HTTP door is open.
    fn has_http(&self) -> bool {
        self.http.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Lets announcements and the drain reach a peer.
    pub(crate) fn admit(&self, peer: &Arc<Peer>) {
        let mut peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        peers.retain(|peer| peer.strong_count() > 0);
        peers.push(Arc::downgrade(peer));
    }

    pub(crate) fn touch(&self) {
        *self.last_active.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    fn peers(&self) -> Vec<Arc<Peer>> {
        let peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        peers.iter().filter_map(Weak::upgrade).collect()
    }
}

/// Whether accepting can be tried again.
fn is_passing(error: &io::Error) -> bool {
    const ENFILE: i32 = 23;
    const EMFILE: i32 = 24;
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted | io::ErrorKind::Interrupted | io::ErrorKind::OutOfMemory
    ) || matches!(error.raw_os_error(), Some(ENFILE | EMFILE))
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("sessions", &self.sessions).finish_non_exhaustive()
    }
}

#[cfg(test)]
pub(crate) mod tests;
