//! What a tool is: the contract between the server and `tools`.
//!
//! A tool is synchronous: it is called on a blocking thread with a [`CallContext`] and gives a
//! [`ToolOutput`]. It knows no JSON-RPC. Each tool lives in one file under `tools/` and is listed
//! by `builtins`.

use std::borrow::Cow;
use std::sync::Arc;

use anchors::{Cancel, ErrorCode};
use protocol::mcp::{Status, ToolAnnotations, ToolError};
use serde_json::Value;
use serde_json::value::RawValue;
use uuid::Uuid;

use crate::session::Session;

pub mod batch;
pub mod progress;
pub mod registry;

pub use progress::Progress;
pub use registry::{BatchPlanner, ToolCall, ToolRegistry};

/// One tool.
pub trait Tool: Send + Sync {
    /// The name that clients call it by.
    fn name(&self) -> &'static str;

    /// The name for people.
    fn title(&self) -> &'static str;

    /// One paragraph for the model, under 400 characters.
    fn description(&self) -> Cow<'static, str>;

    /// Hints on what it does.
    fn annotations(&self) -> ToolAnnotations;

    /// JSON Schema of the arguments: an object schema. Asked once, when the registry is built.
    fn input_schema(&self) -> Value;

    /// JSON Schema of [`ToolOutput::data`]. Asked once, when the registry is built.
    fn output_schema(&self) -> Option<Value> {
        None
    }

    /// Whether calls of this tool in one batch must be handed to the [`BatchPlanner`] together,
    /// because they are to see the same snapshots. Others in a batch run side by side before them.
    fn planned_together(&self) -> bool {
        false
    }

    /// Does the work. `arguments` is the raw JSON object (`{}` when the client gave none).
    ///
    /// It must return soon after `context.cancel` is set. A panic is caught and answered as an
    /// `INTERNAL` error.
    fn call(&self, context: &CallContext, arguments: &RawValue) -> ToolOutput;
}

/// What a call may know of its caller.
#[derive(Clone)]
pub struct CallContext {
    /// The session that the call belongs to.
    pub session: Arc<Session>,
    /// Set when the client cancelled, went away, or the daemon stops.
    pub cancel: Cancel,
    /// Tells the client how far the work has got; free when nobody listens.
    pub progress: Progress,
    /// Whether [`ToolOutput::data`] will be sent; building it is wasted work otherwise.
    pub structured: bool,
}

/// What a tool answers.
#[derive(Clone, Debug)]
pub struct ToolOutput {
    /// The readable text, its envelope line first.
    pub text: String,
    /// Whether the call failed as a whole; MCP's `isError`.
    pub is_error: bool,
    /// Whether the answer is whole.
    pub status: Status,
    /// For clients that asked for structured results; `null` otherwise.
    pub data: Value,
    /// What went wrong; may be non-empty in a partial success.
    pub errors: Vec<ToolError>,
    /// The id of the registered result, sent as `_meta["capstan/result"]`.
    pub result_id: Option<Uuid>,
}

impl ToolOutput {
    /// A whole answer without data or result id.
    pub fn success(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            is_error: false,
            status: Status::Success,
            data: Value::Null,
            errors: Vec::new(),
            result_id: None,
        }
    }

    /// A failure: the text is `CODE: message`, so that a model sees the stable word too.
    pub fn failure(code: ErrorCode, message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            text: format!("{code}: {message}"),
            is_error: true,
            status: Status::Error,
            data: Value::Null,
            errors: vec![ToolError { code: code.as_str().to_owned(), message, source: None }],
            result_id: None,
        }
    }

    /// Sets the data.
    #[must_use]
    pub fn with_data(mut self, data: Value) -> Self {
        self.data = data;
        self
    }

    /// Sets the result id.
    #[must_use]
    pub fn with_result(mut self, id: Uuid) -> Self {
        self.result_id = Some(id);
        self
    }
}
