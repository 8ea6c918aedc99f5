//! Clients of the handshake era, known by their `Mcp-Session-Id`.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use uuid::Uuid;

use super::headers::{SESSION_ID, accepts};
use super::stream::{self, Channel};
use crate::limits::{MAX_HTTP_SESSIONS, SESSION_LINGER};
use crate::server::Server;
use crate::server::outlet::Outlet;
use crate::server::peer::{Peer, PeerKind};

/// The open sessions.
#[derive(Default)]
pub(crate) struct Sessions(Mutex<HashMap<String, Open>>);

struct Open {
    peer: Arc<Peer>,
    standing: Arc<Standing>,
    last_used: Instant,
}

/// The `GET` stream of a session, for what answers no request; without one it is dropped.
#[derive(Default)]
struct Standing(Mutex<Option<Arc<Channel>>>);

impl Standing {
    fn current(&self) -> MutexGuard<'_, Option<Arc<Channel>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Outlet for Standing {
    fn answer(&self, message: Vec<u8>) {
        self.notify(message);
    }

    fn notify(&self, message: Vec<u8>) {
        if let Some(channel) = self.current().as_ref() {
            channel.notify(message);
        }
    }
}

impl Sessions {
    /// A client that is about to send `initialize`. It is not open until [`Self::keep`].
    pub(super) fn begin(server: &Server) -> Begun {
        let standing = Arc::new(Standing::default());
        let outlet: Arc<dyn Outlet> = Arc::<Standing>::clone(&standing);
        let peer = Peer::http(PeerKind::HttpSession, outlet);
        server.admit(&peer);
        Begun { peer, standing }
    }

    /// Opens the session of a client whose `initialize` succeeded; gives its id. The longest
    /// unused session makes room.
    pub(super) fn keep(&self, begun: Begun) -> String {
        let mut open = self.lock();
        open.retain(|_, session| {
            session.last_used.elapsed() < SESSION_LINGER || !session.peer.is_idle()
        });
        if open.len() >= MAX_HTTP_SESSIONS {
            let oldest =
                open.iter().min_by_key(|(_, session)| session.last_used).map(|(id, _)| id.clone());
            if let Some(oldest) = oldest.and_then(|id| open.remove(&id)) {
                oldest.peer.leave();
                *oldest.standing.current() = None;
            }
        }
        let id = Uuid::new_v4().to_string();
        let Begun { peer, standing } = begun;
        open.insert(id.clone(), Open { peer, standing, last_used: Instant::now() });
        id
    }

    /// The client with that id.
    pub(super) fn get(&self, id: &str) -> Option<Arc<Peer>> {
        self.lock().get_mut(id).map(|session| {
            session.last_used = Instant::now();
            Arc::clone(&session.peer)
        })
    }

    /// Answers `GET`: a stream of what answers no request. A second one replaces the first.
    pub(super) fn stream(&self, headers: &HeaderMap) -> Response {
        if !accepts(headers, "text/event-stream") {
            return (StatusCode::NOT_ACCEPTABLE, "accept `text/event-stream`\n").into_response();
        }
        let id = match session_id(headers) {
            Ok(id) => id,
            Err(unnamed) => return unnamed.into_response(),
        };
        let standing = match self.lock().get_mut(id) {
            Some(session) => {
                session.last_used = Instant::now();
                Arc::clone(&session.standing)
            }
            None => return unknown(),
        };
        let (channel, messages) = Channel::open();
        *standing.current() = Some(channel);
        stream::events(None, messages, ())
    }

    /// Answers `DELETE`: ends the session and what runs in it.
    pub(super) fn end(&self, headers: &HeaderMap) -> Response {
        let id = match session_id(headers) {
            Ok(id) => id,
            Err(unnamed) => return unnamed.into_response(),
        };
        match self.lock().remove(id) {
            Some(session) => {
                session.peer.leave();
                *session.standing.current() = None;
                StatusCode::NO_CONTENT.into_response()
            }
            None => unknown(),
        }
    }

    /// Ends all sessions, their streams included.
    pub(super) fn leave(&self) {
        for (_, session) in self.lock().drain() {
            session.peer.leave();
            *session.standing.current() = None;
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Open>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A client whose `initialize` is being answered.
pub(super) struct Begun {
    pub peer: Arc<Peer>,
    standing: Arc<Standing>,
}

/// The request names neither a session nor a revision that needs none.
#[derive(Debug)]
pub(super) struct Unnamed;

impl IntoResponse for Unnamed {
    fn into_response(self) -> Response {
        let reason =
            "name the session in `Mcp-Session-Id`, or a revision in `MCP-Protocol-Version`\n";
        (StatusCode::BAD_REQUEST, reason).into_response()
    }
}

/// The session id in the headers.
pub(super) fn session_id(headers: &HeaderMap) -> Result<&str, Unnamed> {
    headers.get(SESSION_ID).and_then(|value| value.to_str().ok()).ok_or(Unnamed)
}

/// The answer for a session that is not open; a client then starts over.
pub(super) fn unknown() -> Response {
    (StatusCode::NOT_FOUND, "no such session; initialize again\n").into_response()
}
