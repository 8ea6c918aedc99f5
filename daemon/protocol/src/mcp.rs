//! The part of the Model Context Protocol that Capstan speaks, both eras.
//!
//! Fields that only the stateless revision (2026-07-28) has are optional here and filled by the
//! server when the request spoke that revision.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A JSON object.
pub type Object = Map<String, Value>;

/// A name and a version of a program.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Implementation {
    /// The name for programs.
    pub name: String,
    /// The name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The version.
    pub version: String,
}

/// What a client can do.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ClientCapabilities {
    /// Present when `roots/list` is answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub roots: Option<Value>,
    /// Non-standard capabilities; see [`crate::names::STRUCTURED_CAPABILITY`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub experimental: Option<Object>,
    /// The rest, kept as it is.
    #[serde(flatten)]
    pub other: Object,
}

impl ClientCapabilities {
    /// Whether the client asked for `structuredContent` and `outputSchema`.
    pub fn structured(&self) -> bool {
        self.experimental.as_ref().is_some_and(|all| {
            match all.get(crate::names::STRUCTURED_CAPABILITY) {
                None | Some(Value::Null | Value::Bool(false)) => false,
                Some(_) => true,
            }
        })
    }
}

/// Parameters of `initialize`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InitializeParams {
    /// The revision that the client would like.
    pub protocol_version: String,
    /// What the client can do.
    #[serde(default)]
    pub capabilities: ClientCapabilities,
    /// Who the client is.
    pub client_info: Implementation,
    /// `capstan/root` and `capstan/session` among others.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Object>,
}

/// What `initialize` answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InitializeResult {
    /// The revision that both will speak.
    pub protocol_version: String,
    /// What the server can do.
    pub capabilities: Value,
    /// Who the server is.
    pub server_info: Implementation,
    /// Advice for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
}

/// Hints on what a tool does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolAnnotations {
    /// Changes nothing.
    pub read_only_hint: bool,
    /// May destroy something; meaningful when not read-only.
    pub destructive_hint: bool,
    /// A second identical call changes nothing more; meaningful when not read-only.
    pub idempotent_hint: bool,
    /// Reaches beyond this machine and workspace.
    pub open_world_hint: bool,
}

/// One entry of `tools/list`, as a client reads it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolInfo {
    /// The name to call it by.
    pub name: String,
    /// The name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it does, for the model.
    pub description: String,
    /// JSON Schema of the arguments.
    pub input_schema: Value,
    /// JSON Schema of `structuredContent`, for clients that asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// Hints.
    #[serde(default)]
    pub annotations: ToolAnnotations,
}

/// What `tools/list` answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ListToolsResult {
    /// The tools, in their fixed order.
    pub tools: Vec<ToolInfo>,
}

/// Parameters of `tools/call`, for clients.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CallToolParams {
    /// The tool.
    pub name: String,
    /// Its arguments.
    #[serde(default)]
    pub arguments: Value,
    /// Session, progress token and, in the stateless era, revision and capabilities.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Object>,
}

/// One piece of a tool's answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum Content {
    /// Text for the model.
    Text {
        /// The text.
        text: String,
    },
    /// An image.
    #[serde(rename_all = "camelCase")]
    Image {
        /// Base64.
        data: String,
        /// Its media type.
        mime_type: String,
    },
}

/// What `tools/call` answers, as a client reads it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallToolResult {
    /// The readable answer.
    pub content: Vec<Content>,
    /// Whether the tool failed.
    #[serde(default)]
    pub is_error: bool,
    /// The answer for programs, for clients that asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured_content: Option<Value>,
    /// `capstan/result` among others.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Object>,
}

impl CallToolResult {
    /// All text parts, joined by newlines.
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self
            .content
            .iter()
            .filter_map(|part| match part {
                Content::Text { text } => Some(text.as_str()),
                Content::Image { .. } => None,
            })
            .collect();
        texts.join("\n")
    }
}

/// Whether a structured result is whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Everything that was asked for.
    Success,
    /// A part; `errors` says what is missing.
    Partial,
    /// Nothing.
    Error,
}

/// One error of a structured result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolError {
    /// A stable word of the error table.
    pub code: String,
    /// What went wrong, for people.
    pub message: String,
    /// The source that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// `structuredContent` of every tool.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Structured {
    /// Whether the result is whole.
    pub status: Status,
    /// What the tool's `outputSchema` describes; `null` when it failed.
    pub data: Value,
    /// What went wrong.
    pub errors: Vec<ToolError>,
}

/// One entry of `resources/list`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Resource {
    /// What `resources/read` takes.
    pub uri: String,
    /// The name for programs.
    pub name: String,
    /// The name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its media type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
}

/// Parameters of `notifications/cancelled`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CancelledParams {
    /// The request to stop.
    pub request_id: crate::Id,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Parameters of `notifications/progress`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProgressParams {
    /// The token of the request, as it was given.
    pub progress_token: crate::Id,
    /// How much is done; it only grows.
    pub progress: f64,
    /// How much there is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<f64>,
    /// What is happening.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}
