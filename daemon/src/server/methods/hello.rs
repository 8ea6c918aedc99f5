//! `initialize` and `server/discover`: what the server is and can do.

use std::sync::Arc;

use protocol::ErrorObject;
use protocol::mcp::InitializeParams;
use protocol::names::{
    HANDSHAKE_VERSIONS, LATEST_HANDSHAKE_VERSION, MODERN_VERSIONS, STRUCTURED_CAPABILITY, meta,
};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::super::Server;
use super::super::peer::Peer;
use super::super::request::{Params, invalid_params, server_info};

/// The advice to models, once per conversation.
pub const INSTRUCTIONS: &str = "Capstan reads, searches and edits files through anchors. Read or search once, \
keep the anchors you are shown (`12#A4F0`, `SEARCH#…`, a result id) and edit against them; receipts carry \
fresh anchors, so no second read is needed. An edit whose target has changed is refused with current anchors \
and changes nothing. A result's id or its unchanged text stands for everything behind it, also where its \
text was cut. Send independent edits as one batch: they are all worked out against the same snapshots.";

impl Server {
    /// Answers `initialize`: settles the revision, and opens the session that its `_meta` names.
    pub(super) fn initialize(
        &self,
        peer: &Arc<Peer>,
        raw: Option<&RawValue>,
        params: &Params<'_>,
    ) -> Result<Value, ErrorObject> {
        let raw = raw.ok_or_else(|| invalid_params("`initialize` needs parameters"))?;
        let hello: InitializeParams = serde_json::from_str(raw.get()).map_err(invalid_params)?;
        let version = negotiate(&hello.protocol_version);
        let named =
            params.meta.as_ref().is_some_and(|meta| meta.root.is_some() || meta.session.is_some());
        if named {
            let session = self.session_of(peer, params.meta.as_ref())?;
            peer.bind(&session);
        }
        peer.initialized(version, hello.capabilities);
        let mut result = json!({
            "protocolVersion": version,
            "capabilities": self.capabilities(),
            "serverInfo": server_info(),
            "instructions": self.instructions,
        });
        if let Some(session) = peer.bound() {
            result["_meta"] = json!({meta::SESSION: session.id()});
        }
        Ok(result)
    }

    /// Answers `server/discover`.
    pub(super) fn discover(&self) -> Value {
        json!({
            "supportedVersions": MODERN_VERSIONS,
            "capabilities": self.capabilities(),
            "instructions": self.instructions,
        })
    }

    fn capabilities(&self) -> Value {
        let mut capabilities = json!({
            "tools": {"listChanged": true},
            "experimental": {STRUCTURED_CAPABILITY: {}},
        });
        if self.resources.is_some() {
            capabilities["resources"] = json!({});
        }
        capabilities
    }
}

/// The revision to speak with a client that asks for `wanted`.
fn negotiate(wanted: &str) -> &'static str {
    HANDSHAKE_VERSIONS.iter().find(|known| **known == wanted).unwrap_or(&LATEST_HANDSHAKE_VERSION)
}
