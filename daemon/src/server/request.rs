//! One request on its way through the server: what its envelope says, and how it is answered.

use std::borrow::Cow;
use std::sync::Arc;

use anchors::ErrorCode;
use protocol::jsonrpc::Message;
use protocol::mcp::{ClientCapabilities, Implementation};
use protocol::names::{MODERN_VERSIONS, code};
use protocol::{ErrorObject, Id};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::OwnedSemaphorePermit;

use super::outlet::Outlet;
use super::peer::Peer;

/// The parameters that the server itself looks at, of any method, in one scan.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Params<'a> {
    #[serde(borrow, default, rename = "_meta")]
    pub meta: Option<Meta<'a>>,
    #[serde(borrow, default)]
    pub name: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub uri: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub arguments: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub cursor: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub notifications: Option<&'a RawValue>,
}

/// The part of `_meta` that the server knows.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Meta<'a> {
    #[serde(borrow, default, rename = "io.modelcontextprotocol/protocolVersion")]
    pub version: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "io.modelcontextprotocol/clientCapabilities")]
    pub capabilities: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "progressToken")]
    pub progress_token: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "capstan/root")]
    pub root: Option<Cow<'a, str>>,
    #[serde(borrow, default, rename = "capstan/session")]
    pub session: Option<Cow<'a, str>>,
}

impl<'a> Params<'a> {
    /// Reads raw parameters; absent ones are empty.
    pub(crate) fn read(raw: Option<&'a RawValue>) -> Result<Self, ErrorObject> {
        let Some(raw) = raw else { return Ok(Self::default()) };
        serde_json::from_str(raw.get()).map_err(invalid_params)
    }
}

/// Which protocol a request speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Era {
    /// 2024-11-05 to 2025-11-25.
    Handshake,
    /// 2026-07-28: results carry `resultType`, lists say how long they last.
    Modern,
}

/// What the envelope of a request says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Envelope {
    pub era: Era,
    /// Whether the client wants structured results.
    pub structured: bool,
}

impl Envelope {
    /// Reads `_meta`; a request that names a revision there must be a whole stateless request.
    /// `must` is set where only such requests are served.
    pub(super) fn read(
        meta: Option<&Meta<'_>>,
        peer: &Peer,
        must: bool,
    ) -> Result<Self, ErrorObject> {
        let version = meta.and_then(|meta| meta.version);
        if version.is_none() && !must {
            return Ok(Self { era: Era::Handshake, structured: peer.structured() });
        }
        let missing = |key| invalid_params(format!("`_meta` lacks `{key}`"));
        let version = version.ok_or_else(|| missing(protocol::names::meta::PROTOCOL_VERSION))?;
        let version: String = serde_json::from_str(version.get()).map_err(invalid_params)?;
        let capabilities = meta
            .and_then(|meta| meta.capabilities)
            .ok_or_else(|| missing(protocol::names::meta::CLIENT_CAPABILITIES))?;
        let capabilities: ClientCapabilities =
            serde_json::from_str(capabilities.get()).map_err(invalid_params)?;
        if !MODERN_VERSIONS.contains(&version.as_str()) {
            return Err(unsupported_version(&version));
        }
        Ok(Self { era: Era::Modern, structured: capabilities.structured() })
    }
}

/// The error for a revision that may not travel in `_meta`.
pub(crate) fn unsupported_version(requested: &str) -> ErrorObject {
    ErrorObject::new(
        code::UNSUPPORTED_VERSION,
        format!("unsupported protocol version `{requested}`"),
    )
    .with_data(json!({"supported": MODERN_VERSIONS, "requested": requested}))
}

/// The error for parameters that do not fit.
pub(crate) fn invalid_params(reason: impl std::fmt::Display) -> ErrorObject {
    ErrorObject::new(code::INVALID_PARAMS, format!("invalid params: {reason}"))
}

/// An error with one of Capstan's stable words.
pub(crate) fn capstan_error(word: ErrorCode, message: impl Into<String>) -> ErrorObject {
    ErrorObject::new(code::SERVER_ERROR, message).with_data(json!({"code": word.as_str()}))
}

/// Who this server is.
pub(super) fn server_info() -> Implementation {
    Implementation {
        name: "capstan".to_owned(),
        title: Some("Capstan".to_owned()),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    }
}

/// Where and how one request is answered.
pub(super) struct Reply {
    pub id: Id,
    pub era: Era,
    pub peer: Arc<Peer>,
    pub outlet: Arc<dyn Outlet>,
    /// Whether the request is part of an array.
    pub batched: bool,
    /// The share of the connection's bound that the request takes until it is answered.
    pub _permit: Option<Arc<OwnedSemaphorePermit>>,
}

impl Reply {
    /// Answers with `result`, which must hold whatever the era wants.
    pub(super) fn send(&self, result: &impl Serialize) {
        match serde_json::to_vec(&Message::answer(&self.id, result)) {
            Ok(message) => self.outlet.answer(message),
            Err(error) => self.fail(&ErrorObject::new(code::INTERNAL_ERROR, error.to_string())),
        }
    }

    /// Answers with the object `result`, adding what the era wants.
    pub(super) fn object(&self, mut result: Value) {
        if self.era == Era::Modern {
            result["resultType"] = json!("complete");
            result["_meta"][protocol::names::meta::SERVER_INFO] = json!(server_info());
        }
        self.send(&result);
    }

    /// Answers with a list that may be cached for a while.
    pub(super) fn cacheable(&self, mut result: Value) {
        if self.era == Era::Modern {
            result["ttlMs"] = json!(crate::limits::LIST_TTL_MS);
            result["cacheScope"] = json!("private");
        }
        self.object(result);
    }

    /// Answers with an error.
    pub(super) fn fail(&self, error: &ErrorObject) {
        self.outlet.answer(failure(Some(&self.id), error));
    }

    /// Answers with either.
    pub(super) fn finish(&self, outcome: Result<Value, ErrorObject>) {
        match outcome {
            Ok(result) => self.object(result),
            Err(error) => self.fail(&error),
        }
    }
}

/// The text of a failure.
pub(crate) fn failure(id: Option<&Id>, error: &ErrorObject) -> Vec<u8> {
    // An error object is plain data, so this always works; an empty line would be skipped.
    serde_json::to_vec(&Message::failure(id, error)).unwrap_or_default()
}
