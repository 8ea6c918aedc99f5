//! Calling a tool: one message that names root, session and tool, so one round trip.

use protocol::mcp::{CallToolResult, Object};
use protocol::names::{MODERN_VERSION, STRUCTURED_CAPABILITY, meta, method};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{Client, ClientError};

/// A tool call.
#[derive(Clone, Debug)]
pub struct ToolRequest<'a> {
    /// The workspace root, as it goes over the wire.
    pub root: Option<&'a str>,
    /// The id or name of the session.
    pub session: &'a str,
    /// The tool.
    pub tool: &'a str,
    /// Its arguments, an object.
    pub arguments: &'a Value,
    /// Whether `structuredContent` is wanted.
    pub structured: bool,
}

/// What came back.
#[derive(Debug)]
pub struct ToolAnswer {
    /// The answer as MCP defines it.
    pub result: CallToolResult,
    /// The version of the daemon that answered.
    pub version: Option<String>,
}

impl Client {
    /// Calls a tool and waits for its answer.
    ///
    /// # Errors
    /// [`ClientError`]; a tool that failed is an answer, not an error.
    pub fn call(&mut self, call: &ToolRequest<'_>) -> Result<ToolAnswer, ClientError> {
        let params = json!({
            "name": call.tool,
            "arguments": call.arguments,
            "_meta": envelope(call.root, Some(call.session), call.structured),
        });
        let id = self.send(method::TOOLS_CALL, params)?;
        let raw = self.answer(&id)?;
        answer(&raw).map_err(|error| ClientError::Garbled(Some(error)))
    }
}

/// The `_meta` of a stateless request.
pub fn envelope(root: Option<&str>, session: Option<&str>, structured: bool) -> Object {
    let mut envelope = Object::new();
    let mut put = |key: &str, value: Value| envelope.insert(key.to_owned(), value);
    put(meta::PROTOCOL_VERSION, json!(MODERN_VERSION));
    put(meta::CLIENT_INFO, json!({"name": "capstan", "version": super::build::VERSION}));
    let capabilities =
        if structured { json!({"experimental": {STRUCTURED_CAPABILITY: {}}}) } else { json!({}) };
    put(meta::CLIENT_CAPABILITIES, capabilities);
    if let Some(root) = root {
        put(meta::ROOT, json!(root));
    }
    if let Some(session) = session {
        put(meta::SESSION, json!(session));
    }
    envelope
}

fn answer(raw: &RawValue) -> Result<ToolAnswer, serde_json::Error> {
    let result: CallToolResult = serde_json::from_str(raw.get())?;
    let version = result
        .meta
        .as_ref()
        .and_then(|all| all.get(meta::SERVER_INFO)?.get("version")?.as_str())
        .map(ToOwned::to_owned);
    Ok(ToolAnswer { result, version })
}
