//! `insert`: text beside what an anchor or a result names.

use std::borrow::Cow;
use std::sync::Arc;

use editor::mutation::{Separation, Side};
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
pub(super) struct InsertTool(pub(super) Arc<Engine>);

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    text: String,
    /// File, or result ids / SEARCH# references.
    path: Option<Sources>,
    /// Anchor or exact unique text; begin and end too.
    anchor: Option<String>,
    /// Before it, not after.
    before: Option<bool>,
    /// blank-line puts one blank line on each side.
    separation: Option<SeparationArgument>,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
enum SeparationArgument {
    Line,
    BlankLine,
}

impl Tool for InsertTool {
    fn name(&self) -> &'static str {
        "insert"
    }

    fn title(&self) -> &'static str {
        "Insert text"
    }

    fn description(&self) -> Cow<'static, str> {
        "Insert text after (or before) an anchor. Beside whole lines (12#A4F0, begin, end) it gets \
         lines of its own; beside exact text inside a line it goes right there. A result id or \
         SEARCH#…:all:line as `path` inserts at each. The answer shows fresh anchors."
            .into()
    }

    fn annotations(&self) -> ToolAnnotations {
        ToolAnnotations::default()
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
        super::edit_one(&self.0, context, "tool.insert", request(arguments))
    }
}

/// What the arguments ask for.
pub(super) fn request(arguments: &RawValue) -> Result<Request, Failure> {
    let Arguments { text, path, anchor, before, separation } = arguments::parse(arguments)?;
    let side = if before == Some(true) { Side::Before } else { Side::After };
    let separation = match separation {
        Some(SeparationArgument::BlankLine) => Separation::BlankLine,
        Some(SeparationArgument::Line) | None => Separation::Line,
    };
    Ok(Request::Text {
        place: Place { path, start: anchor, end: None },
        action: Action::Insert { text, side, separation },
    })
}
