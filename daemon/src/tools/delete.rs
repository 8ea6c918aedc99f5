//! `delete`: takes out what an anchor or a result names; the file stays.

use std::borrow::Cow;
use std::sync::Arc;

use protocol::mcp::ToolAnnotations;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::arguments::{self, Sources};
use crate::editing::{Action, Place, Request};
use crate::engine::Engine;
use crate::failure::Failure;
use crate::tool::{CallContext, Tool, ToolOutput};

/// The tool.
pub(super) struct DeleteTool(pub(super) Arc<Engine>);

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// File, or result ids / SEARCH# references.
    path: Option<Sources>,
    /// Anchor, or exact unique text.
    start: Option<String>,
    /// Last line of the span: anchor or exact text.
    end: Option<String>,
}

impl Tool for DeleteTool {
    fn name(&self) -> &'static str {
        "delete"
    }

    fn title(&self) -> &'static str {
        "Delete text"
    }

    fn description(&self) -> Cow<'static, str> {
        "Delete text: the line of an anchor, exact unique text, the whole lines `start`..`end`, or all \
         that a result id or SEARCH# reference as `path` selects. Whole lines leave no blank line; the \
         file itself stays."
            .into()
    }

    fn annotations(&self) -> ToolAnnotations {
        ToolAnnotations { destructive_hint: true, ..ToolAnnotations::default() }
    }

    fn input_schema(&self) -> Value {
        arguments::schema::<Arguments>()
    }

    fn output_schema(&self) -> Option<Value> {
        Some(crate::editing::schema())
    }

    fn planned_together(&self) -> bool {
        true
    }

    fn call(&self, context: &CallContext, arguments: &RawValue) -> ToolOutput {
        super::edit_one(&self.0, context, "tool.delete", request(arguments))
    }
}

/// What the arguments ask for.
pub(super) fn request(arguments: &RawValue) -> Result<Request, Failure> {
    let Arguments { path, start, end } = arguments::parse(arguments)?;
    Ok(Request::Text { place: Place { path, start, end }, action: Action::Delete })
}
