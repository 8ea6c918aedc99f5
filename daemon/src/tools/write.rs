//! `write`: a whole file.

use std::borrow::Cow;
use std::sync::Arc;

use protocol::mcp::ToolAnnotations;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::arguments;
use crate::editing::Request;
use crate::engine::Engine;
use crate::failure::Failure;
use crate::tool::{CallContext, Tool, ToolOutput};

/// The tool.
pub(super) struct WriteTool(pub(super) Arc<Engine>);

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path: String,
    content: String,
}

impl Tool for WriteTool {
    fn name(&self) -> &'static str {
        "write"
    }

    fn title(&self) -> &'static str {
        "Write a file"
    }

    fn description(&self) -> Cow<'static, str> {
        "Create a file with its folders, or replace its whole content. An existing file that this session \
         has not seen is held once: read it first, or repeat the identical call. To change a part, use \
         `replace` or `insert`."
            .into()
    }

    fn annotations(&self) -> ToolAnnotations {
        ToolAnnotations {
            destructive_hint: true,
            idempotent_hint: true,
            ..ToolAnnotations::default()
        }
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
        super::edit_one(&self.0, context, "tool.write", request(arguments))
    }
}

/// What the arguments ask for.
pub(super) fn request(arguments: &RawValue) -> Result<Request, Failure> {
    let Arguments { path, content } = arguments::parse(arguments)?;
    Ok(Request::Write { path, content })
}
