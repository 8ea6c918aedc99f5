//! From one JSON text to requests, notifications and answers.
//!
//! Everything that is malformed is answered here, with the error that JSON-RPC has for it, and
//! costs nothing but itself.

use std::sync::Arc;

use protocol::jsonrpc::{Incoming, Kind};
use protocol::mcp::CancelledParams;
use protocol::names::{code, method};
use protocol::{ErrorObject, Id};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::OwnedSemaphorePermit;

use super::Server;
use super::methods::calls::{self, Prepared};
use super::outlet::{Batch, Outlet};
use super::peer::Peer;
use super::request::{Era, Reply, failure};
use crate::limits::MAX_BATCH;

/// Who sent a text, and where its answers go.
pub(crate) struct Sender<'a> {
    pub peer: &'a Arc<Peer>,
    pub outlet: &'a Arc<dyn Outlet>,
    /// The share of the connection's bound that the text takes until all of it is answered.
    pub permit: Option<Arc<OwnedSemaphorePermit>>,
}

impl Server {
    /// Handles one message, or one array of them. What is cheap is answered before this returns;
    /// tool calls run on. Must be called inside the runtime.
    pub(crate) fn handle(self: &Arc<Self>, sender: &Sender<'_>, text: &[u8]) {
        let text = match std::str::from_utf8(text) {
            Ok(text) => text.trim_ascii(),
            Err(error) => {
                let reason = format!("the line is not UTF-8 after {} bytes", error.valid_up_to());
                return sender
                    .outlet
                    .answer(failure(None, &ErrorObject::new(code::PARSE_ERROR, reason)));
            }
        };
        if text.starts_with('[') {
            return self.handle_batch(sender, text);
        }
        let mut calls = Vec::new();
        self.handle_one(sender, text, false, &mut calls);
        for call in calls {
            calls::start(call);
        }
    }

    fn handle_batch(self: &Arc<Self>, sender: &Sender<'_>, text: &str) {
        let messages: Vec<&RawValue> = match serde_json::from_str(text) {
            Ok(messages) => messages,
            Err(error) => return sender.outlet.answer(failure(None, &unreadable(&error))),
        };
        if messages.is_empty() || messages.len() > MAX_BATCH {
            let reason =
                format!("a batch has 1 to {MAX_BATCH} messages, this one has {}", messages.len());
            return sender
                .outlet
                .answer(failure(None, &ErrorObject::new(code::INVALID_REQUEST, reason)));
        }
        let batch = Batch::new(Arc::clone(sender.outlet), messages.len());
        let mut calls = Vec::new();
        for (index, message) in messages.into_iter().enumerate() {
            let slot = batch.slot(index);
            let sender = Sender { outlet: &slot, permit: sender.permit.clone(), ..*sender };
            self.handle_one(&sender, message.get(), true, &mut calls);
        }
        drop(batch);
        calls::start_batch(self, calls);
    }

    fn handle_one(
        self: &Arc<Self>,
        sender: &Sender<'_>,
        text: &str,
        batched: bool,
        calls: &mut Vec<Prepared>,
    ) {
        let incoming = match Incoming::parse(text) {
            Ok(incoming) => incoming,
            Err(error) => {
                return sender.outlet.answer(failure(id_of(text).as_ref(), &unreadable(&error)));
            }
        };
        match incoming.kind() {
            Kind::Request { id, method, params } => {
                let reply = Reply {
                    id,
                    era: Era::Handshake,
                    peer: Arc::clone(sender.peer),
                    outlet: Arc::clone(sender.outlet),
                    batched,
                    _permit: sender.permit.clone(),
                };
                self.request(reply, method, params, calls);
            }
            Kind::Notification { method, params } => self.notification(sender.peer, method, params),
            Kind::Response { id, outcome } => self.response(sender.peer, id.as_ref(), outcome.ok()),
            Kind::Invalid { id, reason } => {
                let error =
                    ErrorObject::new(code::INVALID_REQUEST, format!("invalid request: {reason}"));
                sender.outlet.answer(failure(id.as_ref(), &error));
            }
        }
    }

    fn notification(self: &Arc<Self>, peer: &Arc<Peer>, name: &str, params: Option<&RawValue>) {
        match name {
            method::CANCELLED => {
                let params =
                    params.and_then(|raw| serde_json::from_str::<CancelledParams>(raw.get()).ok());
                if let Some(params) = params {
                    peer.cancel(&params.request_id);
                }
            }
            method::INITIALIZED => super::methods::roots::ask(peer),
            // Unknown notifications are ignored, as JSON-RPC wants.
            _ => {}
        }
    }

    fn response(&self, peer: &Peer, id: Option<&Id>, result: Option<&RawValue>) {
        if id.is_some_and(super::methods::roots::is_answer) {
            super::methods::roots::answered(peer, result);
        }
    }
}

/// The error for a text that is no message: not JSON, or JSON of another shape.
fn unreadable(error: &serde_json::Error) -> ErrorObject {
    if error.is_data() {
        ErrorObject::new(code::INVALID_REQUEST, format!("invalid request: {error}"))
    } else {
        ErrorObject::new(code::PARSE_ERROR, format!("parse error: {error}"))
    }
}

/// The id of a message whose other members have wrong types.
fn id_of(text: &str) -> Option<Id> {
    #[derive(Deserialize)]
    struct OnlyId {
        id: Id,
    }
    serde_json::from_str::<OnlyId>(text).ok().map(|only| only.id)
}

/// Whether a text may be an answer of the client, which must not wait for other answers.
pub(crate) fn may_be_response(text: &[u8]) -> bool {
    let text = std::str::from_utf8(text).unwrap_or_default();
    Incoming::parse(text).is_ok_and(|message| message.method.is_none())
}
