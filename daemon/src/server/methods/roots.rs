//! Asking a handshake client for its workspace root, when it named none.
//!
//! While the answer is awaited the connection holds back other requests, so that the first call
//! already finds the root.

use std::sync::Arc;

use protocol::Id;
use protocol::jsonrpc::Message;
use protocol::names::method;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::super::peer::{Peer, PeerKind};
use crate::limits::ROOTS_TIMEOUT;
use crate::session::root;

/// The id of our only request.
const REQUEST_ID: &str = "capstan-roots";

/// Sends `roots/list` to a client that can answer it and has named no root.
pub(in super::super) fn ask(peer: &Arc<Peer>) {
    if peer.kind != PeerKind::Socket
        || !peer.has_roots()
        || peer.bound().is_some()
        || peer.roots_pending()
    {
        return;
    }
    peer.await_roots();
    let id = Id::from(REQUEST_ID);
    let message = serde_json::to_vec(&Message::request(&id, method::ROOTS_LIST, json!({})));
    peer.outlet.notify(message.unwrap_or_default());
    let peer = Arc::clone(peer);
    tokio::spawn(async move {
        if tokio::time::timeout(ROOTS_TIMEOUT, peer.roots_known()).await.is_err() {
            peer.roots_answered(None);
        }
    });
}

/// Whether a response with this id answers our request.
pub(in super::super) fn is_answer(id: &Id) -> bool {
    matches!(id, Id::Text(text) if text == REQUEST_ID)
}

/// Takes the answer; the first root of this machine counts.
pub(in super::super) fn answered(peer: &Peer, result: Option<&RawValue>) {
    #[derive(Deserialize)]
    struct Roots {
        roots: Vec<Root>,
    }
    #[derive(Deserialize)]
    struct Root {
        uri: String,
    }
    let roots = result.and_then(|raw| serde_json::from_str::<Roots>(raw.get()).ok());
    let first =
        roots.and_then(|roots| roots.roots.iter().find_map(|root| root::from_wire(&root.uri)));
    peer.roots_answered(first);
}
