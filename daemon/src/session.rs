//! Sessions: what belongs to one client over all its connections.
//!
//! A session has a workspace root, the references it was given ([`SessionState`]) and a name by
//! which successive command-line calls find it again. Connections come and go; a session stays
//! until it is closed, or is the longest idle one when [`MAX_SESSIONS`] are open.
//!
//! [`MAX_SESSIONS`]: crate::limits::MAX_SESSIONS

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use protocol::capstan::SessionInfo;
use uuid::Uuid;

pub mod registry;
pub mod root;
pub mod state;

pub use registry::{OpenRequest, SessionError, SessionRegistry};
pub use state::SessionState;

/// One session. Shared: several connections and calls may hold it at once.
#[derive(Debug)]
pub struct Session {
    id: Uuid,
    root: Option<PathBuf>,
    name: Option<String>,
    opened: Instant,
    /// Milliseconds from `opened` to the end of the last use.
    last_used_ms: AtomicU64,
    running: AtomicUsize,
    connections: AtomicUsize,
    /// References, shown snapshots, inherited paths.
    pub state: SessionState,
}

impl Session {
    /// A session outside any registry, for tests and benches.
    pub fn new(root: Option<PathBuf>, name: Option<String>, state: SessionState) -> Self {
        Self {
            id: Uuid::new_v4(),
            root,
            name,
            opened: Instant::now(),
            last_used_ms: AtomicU64::new(0),
            running: AtomicUsize::new(0),
            connections: AtomicUsize::new(0),
            state,
        }
    }

    /// Its id, random and so unguessable.
    pub fn id(&self) -> Uuid {
        self.id
    }

    /// The absolute workspace root; `None` when the client named none.
    pub fn root(&self) -> Option<&Path> {
        self.root.as_deref()
    }

    /// Its name, unique per root; `None` for a session that only its id finds again.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// How long no call has run in it; zero while one runs.
    pub fn idle(&self) -> Duration {
        if self.running.load(Ordering::Relaxed) > 0 {
            return Duration::ZERO;
        }
        self.opened
            .elapsed()
            .saturating_sub(Duration::from_millis(self.last_used_ms.load(Ordering::Relaxed)))
    }

    /// Calls that run in it.
    pub fn running(&self) -> usize {
        self.running.load(Ordering::Relaxed)
    }

    /// Connections that are bound to it.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }

    /// Counts a call until the guard is dropped.
    pub fn enter(self: &Arc<Self>) -> RunningGuard {
        self.running.fetch_add(1, Ordering::Relaxed);
        RunningGuard(Arc::clone(self))
    }

    /// Counts a connection until the guard is dropped.
    pub fn bind(self: &Arc<Self>) -> BoundGuard {
        self.connections.fetch_add(1, Ordering::Relaxed);
        BoundGuard(Arc::clone(self))
    }

    /// What clients are told of it.
    pub fn info(&self) -> SessionInfo {
        SessionInfo {
            id: self.id,
            root: self.root().map(root::to_wire),
            name: self.name.clone(),
            age_ms: millis(self.opened.elapsed()),
            idle_ms: millis(self.idle()),
            connections: self.connections(),
            running: self.running(),
        }
    }

    fn touch(&self) {
        self.last_used_ms.store(millis(self.opened.elapsed()), Ordering::Relaxed);
    }
}

/// Counts one running call of a session.
#[derive(Debug)]
pub struct RunningGuard(Arc<Session>);

impl Drop for RunningGuard {
    fn drop(&mut self) {
        self.0.touch();
        self.0.running.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Counts one bound connection of a session.
#[derive(Debug)]
pub struct BoundGuard(Arc<Session>);

impl BoundGuard {
    /// The session.
    pub fn session(&self) -> &Arc<Session> {
        &self.0
    }
}

impl Drop for BoundGuard {
    fn drop(&mut self) {
        self.0.touch();
        self.0.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
