//! `capstan/status`, `capstan/shutdown` and `capstan/events.subscribe`.

use std::sync::Arc;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use protocol::ErrorObject;
use protocol::capstan::{ShutdownResult, StatusResult, SubscribeResult};
use protocol::names::{code, method};

use super::Server;
use super::drain::Phase;
use super::outlet::Outlet as _;
use super::peer::notification;
use super::request::Reply;
use crate::session::root;

impl Server {
    /// What `capstan/status` answers.
    pub fn status(&self) -> StatusResult {
        let mut workspaces: Vec<String> =
            self.sessions.roots().keys().map(|path| root::to_wire(path)).collect();
        workspaces.sort_unstable();
        StatusResult {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
            uptime_ms: u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX),
            memory_bytes: resident_bytes(),
            connections: self.connections.load(Ordering::Relaxed),
            running_calls: self.drain.running(),
            draining: self.drain.phase() != Phase::Running,
            sessions: self.session_list().sessions,
            workspaces,
            http: self.http.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }

    /// Answers `capstan/shutdown`, then drains.
    pub(super) fn stop(&self, reply: &Reply) {
        reply
            .finish(super::methods::value(&ShutdownResult { running_calls: self.drain.running() }));
        self.shutdown();
    }

    /// Answers `capstan/events.subscribe`, then sends events until the client is gone.
    pub(super) fn subscribe(&self, reply: &Reply) {
        let invalid = |reason: &str| reply.fail(&ErrorObject::new(code::INVALID_REQUEST, reason));
        let output = match &reply.peer.output {
            Some(output) if !reply.batched => Arc::clone(output),
            _ => return invalid("events are streamed to a socket connection, outside a batch"),
        };
        if !reply.peer.subscribe_once() {
            return invalid("this connection is subscribed already");
        }
        let mut subscription = self.events.subscribe();
        reply.finish(super::methods::value(&SubscribeResult { subscribed: true }));
        tokio::spawn(async move {
            loop {
                // Waiting for the reader is what makes it lag, and be told so, instead of losing
                // events in silence.
                output.calm().await;
                let event = tokio::select! {
                    event = subscription.next() => event,
                    () = output.closed() => None,
                };
                let Some(event) = event else { return };
                if let Ok(params) = serde_json::to_value(event) {
                    output.notify(notification(method::EVENT, &params));
                }
            }
        });
    }
}

/// The resident memory of this process; 0 where the system does not tell.
fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}
