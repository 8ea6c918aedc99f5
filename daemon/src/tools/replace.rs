//! `replace`: other text in place of what an anchor or a result names.

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
pub(super) struct ReplaceTool(pub(super) Arc<Engine>);

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// The new text; empty deletes.
    text: String,
    /// File, or result ids / SEARCH# references.
    path: Option<Sources>,
    /// Anchor, or exact unique text.
    start: Option<String>,
    /// Last line of the span: anchor or exact text.
    end: Option<String>,
}

impl Tool for ReplaceTool {
    fn name(&self) -> &'static str {
        "replace"
    }

    fn title(&self) -> &'static str {
        "Replace text"
    }

    fn description(&self) -> Cow<'static, str> {
        "Replace what `start` names: an anchor (12#A4F0 = that whole line), exact unique text, \
         begin, end; or whole lines `start`..`end`. Or pass a result id or SEARCH#…:all:match as `path` to \
         replace all it selects, in any number of files, all or nothing. The answer shows the change with \
         fresh anchors."
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
        super::edit_one(&self.0, context, "tool.replace", request(arguments))
    }
}

/// What the arguments ask for.
pub(super) fn request(arguments: &RawValue) -> Result<Request, Failure> {
    let Arguments { text, path, start, end } = arguments::parse(arguments)?;
    Ok(Request::Text { place: Place { path, start, end }, action: Action::Replace { text } })
}
