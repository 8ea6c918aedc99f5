//! The method table: which request goes where, in which era.

use std::sync::Arc;

use protocol::ErrorObject;
use protocol::names::{code, method};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::Server;
use super::peer::PeerKind;
use super::request::{Envelope, Era, Params, Reply, invalid_params};
use calls::Prepared;

pub mod calls;
pub mod hello;
pub mod listen;
pub mod read;
pub mod roots;

pub use hello::INSTRUCTIONS;

impl Server {
    /// Answers a request, or prepares the call that will.
    pub(super) fn request(
        self: &Arc<Self>,
        mut reply: Reply,
        name: &str,
        raw: Option<&RawValue>,
        calls: &mut Vec<Prepared>,
    ) {
        let outcome = Params::read(raw).and_then(|params| {
            let envelope = self.envelope(&reply, name, &params)?;
            reply.era = envelope.era;
            Ok((params, envelope))
        });
        let (params, envelope) = match outcome {
            Ok(read) => read,
            Err(error) => return reply.fail(&error),
        };
        match (name, envelope.era) {
            (method::TOOLS_CALL, _) => calls.extend(self.prepare(reply, &params, envelope)),
            (method::PING, Era::Handshake) => reply.send(&json!({})),
            (method::TOOLS_LIST, _) => self.list_tools(&reply, &params, envelope),
            (method::INITIALIZE, Era::Handshake) => {
                reply.finish(self.initialize(&reply.peer, raw, &params));
            }
            (method::DISCOVER, Era::Modern) => reply.cacheable(self.discover()),
            (method::SUBSCRIPTIONS_LISTEN, Era::Modern) => listen::open(&reply, &params),
            (method::RESOURCES_LIST | method::RESOURCES_TEMPLATES | method::RESOURCES_READ, _)
                if self.resources.is_some() =>
            {
                self.resources(&reply, name, &params);
            }
            (method::SESSION_OPEN, _) => reply.finish(self.open_session(&reply, raw)),
            (method::SESSION_LIST, _) => reply.finish(value(&self.session_list())),
            (method::SESSION_CLOSE, _) => reply.finish(self.close_session(raw)),
            (method::STATUS, _) => reply.finish(value(&self.status())),
            (method::SHUTDOWN, _) => self.stop(&reply),
            (method::EVENTS_SUBSCRIBE, _) => self.subscribe(&reply),
            _ => reply.fail(&method_not_found(name)),
        }
    }

    /// Decides the era of a request.
    fn envelope(
        &self,
        reply: &Reply,
        name: &str,
        params: &Params<'_>,
    ) -> Result<Envelope, ErrorObject> {
        let peer = &reply.peer;
        // `initialize` opens the handshake era whatever its `_meta` says, where there is one.
        let handshake = name == method::INITIALIZE && peer.kind != PeerKind::HttpStateless;
        if handshake || peer.kind == PeerKind::HttpSession {
            return Ok(Envelope { era: Era::Handshake, structured: peer.structured() });
        }
        let own = name.starts_with("capstan/") || name == method::PING;
        let must = match peer.kind {
            PeerKind::HttpStateless => true,
            _ => name == method::DISCOVER || !(own || peer.is_open()),
        };
        Envelope::read(params.meta.as_ref(), peer, must)
    }

    fn list_tools(&self, reply: &Reply, params: &Params<'_>, envelope: Envelope) {
        if let Some(cursor) = params.cursor.filter(|cursor| cursor.get() != "null") {
            // The list has one page, so no cursor of ours exists.
            return reply.fail(&invalid_params(format!("unknown cursor `{}`", cursor.get())));
        }
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct List<'a> {
            tools: &'a RawValue,
            #[serde(flatten)]
            rest: Option<Value>,
        }
        let rest = (envelope.era == Era::Modern).then(|| {
            json!({
                "resultType": "complete",
                "ttlMs": crate::limits::LIST_TTL_MS,
                "cacheScope": "private",
                "_meta": {protocol::names::meta::SERVER_INFO: super::request::server_info()},
            })
        });
        reply.send(&List { tools: self.tools().list_json(envelope.structured), rest });
    }
}

/// The error for a method that is not served.
pub(crate) fn method_not_found(name: &str) -> ErrorObject {
    ErrorObject::new(code::METHOD_NOT_FOUND, format!("method `{name}` not found"))
}

/// A result as a JSON value.
pub(super) fn value(result: &impl Serialize) -> Result<Value, ErrorObject> {
    serde_json::to_value(result)
        .map_err(|error| ErrorObject::new(code::INTERNAL_ERROR, error.to_string()))
}
