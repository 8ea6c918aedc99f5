//! How the server ends: first nothing new, then the running calls, then the connections.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{Notify, watch};
use tokio::time::timeout;

use super::Server;
use crate::limits::{CANCEL_GRACE, DRAIN_TIMEOUT, FLUSH_TIMEOUT};

/// How far the server is with its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// It takes connections and calls.
    #[default]
    Running,
    /// It takes neither, and waits for running calls.
    Draining,
    /// Connections hand over their last answers and close.
    Closing,
}

/// The phase and the number of calls that it waits for.
#[derive(Debug)]
pub struct Drain {
    phase: watch::Sender<Phase>,
    running: AtomicUsize,
    quiet: Notify,
}

impl Default for Drain {
    fn default() -> Self {
        Self {
            phase: watch::Sender::new(Phase::Running),
            running: AtomicUsize::new(0),
            quiet: Notify::new(),
        }
    }
}

impl Drain {
    /// The phase now.
    pub fn phase(&self) -> Phase {
        *self.phase.borrow()
    }

    /// Waits until that phase, or a later one, is reached.
    pub async fn reached(&self, phase: Phase) {
        let mut phases = self.phase.subscribe();
        // The sender lives as long as `self`, so this cannot fail.
        let _ = phases.wait_for(|now| *now >= phase).await;
    }

    /// Calls that run now.
    pub fn running(&self) -> usize {
        self.running.load(Ordering::Relaxed)
    }

    /// Leaves [`Phase::Running`]; false when that was done before.
    pub(super) fn start(&self) -> bool {
        self.phase.send_if_modified(|phase| {
            let first = *phase == Phase::Running;
            if first {
                *phase = Phase::Draining;
            }
            first
        })
    }

    fn close(&self) {
        self.phase.send_replace(Phase::Closing);
    }

    async fn quiet(&self) {
        loop {
            let quiet = self.quiet.notified();
            if self.running() == 0 {
                return;
            }
            quiet.await;
        }
    }
}

impl Server {
    /// Waits for running calls, cancels those that are too slow, and closes what is connected.
    pub(super) async fn finish(&self) {
        for peer in self.peers() {
            peer.end_listens();
        }
        if timeout(DRAIN_TIMEOUT, self.drain.quiet()).await.is_err() {
            tracing::warn!(calls = self.drain.running(), "cancelling calls that outlast the drain");
            for peer in self.peers() {
                peer.cancel_all();
            }
            let _ = timeout(CANCEL_GRACE, self.drain.quiet()).await;
        }
        self.drain.close();
        let gone = async {
            while self.connections.load(Ordering::Relaxed) > 0 || self.has_http() {
                tokio::time::sleep(std::time::Duration::from_millis(2)).await;
            }
        };
        // Each connection and the HTTP door bound their own flush, so this is only a net.
        let _ = timeout(2 * FLUSH_TIMEOUT, gone).await;
    }

    /// Counts a running call until the guard is dropped.
    pub(crate) fn run_call(self: &Arc<Self>) -> CallGuard {
        self.drain.running.fetch_add(1, Ordering::Relaxed);
        CallGuard(Arc::clone(self))
    }

    /// Counts a connection until the guard is dropped.
    pub(crate) fn connect(self: &Arc<Self>) -> ConnectionGuard {
        self.connections.fetch_add(1, Ordering::Relaxed);
        ConnectionGuard(Arc::clone(self))
    }
}

/// Counts one running call.
#[derive(Debug)]
pub(crate) struct CallGuard(Arc<Server>);

impl Drop for CallGuard {
    fn drop(&mut self) {
        if self.0.drain.running.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.0.touch();
            self.0.drain.quiet.notify_waiters();
        }
    }
}

/// Counts one connection.
#[derive(Debug)]
pub(crate) struct ConnectionGuard(Arc<Server>);

impl Drop for ConnectionGuard {
    fn drop(&mut self) {
        self.0.touch();
        self.0.connections.fetch_sub(1, Ordering::Relaxed);
    }
}
