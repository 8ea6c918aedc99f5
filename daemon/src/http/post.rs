//! `POST /mcp`: finding out which era a body belongs to, and answering it.

use std::sync::Arc;

use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use protocol::jsonrpc::{Incoming, Kind};
use protocol::names::{HANDSHAKE_VERSIONS, MODERN_VERSIONS, code, method};
use protocol::{ErrorObject, Id};
use serde::Deserialize;
use tokio::time::timeout;

use super::Door;
use super::headers::{self, Said, check_repeated};
use super::sessions::{self, Sessions};
use super::stream::{self, Channel, OnDrop, Outgoing};
use crate::limits::HTTP_KEEP_ALIVE;
use crate::server::dispatch::Sender;
use crate::server::outlet::Outlet;
use crate::server::peer::{Peer, PeerKind};
use crate::server::request::{Params, failure, unsupported_version};

/// Answers one `POST`.
pub(super) async fn route(door: &Arc<Door>, headers: &HeaderMap, body: &[u8]) -> Response {
    let Ok(text) = std::str::from_utf8(body) else {
        return refuse(None, &ErrorObject::new(code::PARSE_ERROR, "the body is not UTF-8"));
    };
    let incoming = Incoming::parse(text).ok();
    let kind = incoming.as_ref().map(Incoming::kind);
    let says_modern = match &kind {
        Some(Kind::Request { method, params, .. }) => {
            *method != method::INITIALIZE && modern_version(*params).is_some()
        }
        _ => false,
    };
    if headers::is_modern(headers) || says_modern {
        return stateless(door, headers, text, kind).await;
    }
    let initialize = matches!(&kind, Some(Kind::Request { method: method::INITIALIZE, .. }));
    if initialize { begin(door, text).await } else { in_session(door, headers, text).await }
}

/// The revision that a body names in `_meta`, if it names one.
fn modern_version(params: Option<&serde_json::value::RawValue>) -> Option<String> {
    let params = Params::read(params).ok()?;
    let version: String = serde_json::from_str(params.meta?.version?.get()).ok()?;
    (!HANDSHAKE_VERSIONS.contains(&version.as_str())).then_some(version)
}

/// A request of 2026-07-28: complete in itself.
async fn stateless(
    door: &Arc<Door>,
    headers: &HeaderMap,
    text: &str,
    kind: Option<Kind<'_>>,
) -> Response {
    let (id, name, params) = match kind {
        Some(Kind::Request { id, method, params }) => (id, method, params),
        Some(Kind::Notification { .. }) => {
            return match headers::version(headers)
                .filter(|version| !MODERN_VERSIONS.contains(version))
            {
                Some(version) => refuse(None, &unsupported_version(version)),
                None => StatusCode::ACCEPTED.into_response(),
            };
        }
        Some(Kind::Response { .. }) => {
            return refuse(
                None,
                &ErrorObject::new(code::INVALID_REQUEST, "this revision has no client responses"),
            );
        }
        _ if text.trim_ascii_start().starts_with('[') => {
            return refuse(
                None,
                &ErrorObject::new(code::INVALID_REQUEST, "this revision has no batches over HTTP"),
            );
        }
        // The dispatcher knows what is wrong with it.
        _ => return answer(door, &stateless_peer(door), text, ErrorStatus::Mapped).await,
    };
    if let Ok(read) = Params::read(params)
        && let Some(version) = read.meta.as_ref().and_then(|meta| meta.version)
        && let Ok(version) = serde_json::from_str::<String>(version.get())
        && read.meta.as_ref().is_some_and(|meta| meta.capabilities.is_some())
    {
        let said = Said {
            method: name,
            version: &version,
            name: read.name.as_deref().or(read.uri.as_deref()),
        };
        if let Err(error) = check_repeated(headers, &said) {
            return refuse(Some(&id), &error);
        }
    }
    answer(door, &stateless_peer(door), text, ErrorStatus::Mapped).await
}

fn stateless_peer(door: &Door) -> Arc<Peer> {
    let peer = Peer::http(PeerKind::HttpStateless, Arc::new(Nowhere));
    door.server.admit(&peer);
    peer
}

/// `initialize`: opens a session when it succeeds.
async fn begin(door: &Arc<Door>, text: &str) -> Response {
    let begun = Sessions::begin(&door.server);
    let mut response = answer(door, &begun.peer, text, ErrorStatus::Ok).await;
    if begun.peer.version().is_some() {
        let id = door.sessions.keep(begun);
        // A UUID is a valid header value.
        if let Ok(value) = id.parse() {
            response.headers_mut().insert(headers::SESSION_ID, value);
        }
    }
    response
}

/// A message, or a batch, in an open session.
async fn in_session(door: &Arc<Door>, headers: &HeaderMap, text: &str) -> Response {
    let id = match sessions::session_id(headers) {
        Ok(id) => id,
        Err(unnamed) => return unnamed.into_response(),
    };
    match door.sessions.get(id) {
        Some(peer) => answer(door, &peer, text, ErrorStatus::Ok).await,
        None => sessions::unknown(),
    }
}

/// Which status an error answer has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ErrorStatus {
    /// 200: the error is the body's affair.
    Ok,
    /// What 2026-07-28 has for the error's code.
    Mapped,
}

/// Hands the text to the dispatcher and turns what comes back into a response.
async fn answer(door: &Arc<Door>, peer: &Arc<Peer>, text: &str, status: ErrorStatus) -> Response {
    let (channel, mut messages) = Channel::open();
    let outlet: Arc<dyn Outlet> = channel;
    let ids = request_ids(text);
    // Dropped with the response: then nobody waits for these requests any more.
    let left = {
        let (peer, stateless) = (Arc::clone(peer), peer.kind == PeerKind::HttpStateless);
        OnDrop(move || {
            if stateless {
                peer.leave();
            } else {
                for id in &ids {
                    peer.cancel(id);
                }
            }
        })
    };
    door.server.handle(&Sender { peer, outlet: &outlet, permit: None }, text.as_bytes());
    drop(outlet);
    match timeout(HTTP_KEEP_ALIVE, messages.recv()).await {
        Ok(None) => StatusCode::ACCEPTED.into_response(),
        Ok(Some(Outgoing::Answer(message))) => stream::json(status.of(&message), message),
        Ok(first @ Some(Outgoing::Notice(_))) => stream::events(first, messages, left),
        Err(_) => stream::events(None, messages, left),
    }
}

impl ErrorStatus {
    fn of(self, message: &[u8]) -> StatusCode {
        #[derive(Deserialize)]
        struct OnlyError {
            error: ErrorObject,
        }
        match serde_json::from_slice::<OnlyError>(message) {
            Ok(failed) if self == Self::Mapped => status_of(failed.error.code),
            // Without a readable request there is nothing that a 200 could belong to.
            Ok(failed)
                if matches!(failed.error.code, code::PARSE_ERROR | code::INVALID_REQUEST) =>
            {
                StatusCode::BAD_REQUEST
            }
            _ => StatusCode::OK,
        }
    }
}

fn status_of(error: i64) -> StatusCode {
    match error {
        code::METHOD_NOT_FOUND => StatusCode::NOT_FOUND,
        code::PARSE_ERROR
        | code::INVALID_REQUEST
        | code::INVALID_PARAMS
        | code::HEADER_MISMATCH
        | code::MISSING_CLIENT_CAPABILITY
        | code::UNSUPPORTED_VERSION => StatusCode::BAD_REQUEST,
        _ => StatusCode::OK,
    }
}

/// The ids of the requests in a body, one or an array.
fn request_ids(text: &str) -> Vec<Id> {
    let one = |text: &str| match Incoming::parse(text).ok()?.kind() {
        Kind::Request { id, .. } => Some(id),
        _ => None,
    };
    match serde_json::from_str::<Vec<&serde_json::value::RawValue>>(text) {
        Ok(messages) => messages.iter().filter_map(|message| one(message.get())).collect(),
        Err(_) => one(text).into_iter().collect(),
    }
}

/// An error without the dispatcher.
fn refuse(id: Option<&Id>, error: &ErrorObject) -> Response {
    stream::json(status_of(error.code), failure(id, error))
}

/// Where messages go that answer no request, for clients without any such way.
struct Nowhere;

impl Outlet for Nowhere {
    fn answer(&self, _: Vec<u8>) {}

    fn notify(&self, _: Vec<u8>) {}
}
