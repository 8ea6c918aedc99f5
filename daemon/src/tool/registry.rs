//! The tools that are switched on, by name, with their `tools/list` entries ready-made.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use anchors::ErrorCode;
use protocol::mcp::ToolInfo;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{CallContext, Tool, ToolOutput};

/// One call that is ready to run.
pub struct ToolCall {
    /// The tool.
    pub tool: Arc<dyn Tool>,
    /// Its raw arguments, an object.
    pub arguments: Box<RawValue>,
    /// Who calls.
    pub context: CallContext,
}

impl ToolCall {
    /// Runs the call, unless it was cancelled while it waited; a panic in it becomes an `INTERNAL`
    /// error.
    pub fn run(&self) -> ToolOutput {
        if self.context.cancel.is_cancelled() {
            return ToolOutput::failure(
                ErrorCode::Cancelled,
                "the call was cancelled before it started",
            );
        }
        caught(self.tool.name(), || self.tool.call(&self.context, &self.arguments))
    }
}

/// Runs the calls of one batch whose tools ask to be planned together, in their order; gives one
/// output for each.
pub type BatchPlanner = dyn Fn(&[ToolCall]) -> Vec<ToolOutput> + Send + Sync;

/// An immutable set of tools. Switching a module makes a new registry.
pub struct ToolRegistry {
    tools: Vec<Arc<dyn Tool>>,
    by_name: HashMap<&'static str, usize>,
    planner: Option<Box<BatchPlanner>>,
    /// The `tools` array of `tools/list` as JSON text: without and with output schemas.
    lists: [Box<RawValue>; 2],
}

impl ToolRegistry {
    /// A registry of `tools`, listed in this order. Of two tools with one name the first counts.
    pub fn new(tools: Vec<Arc<dyn Tool>>) -> Self {
        let mut kept: Vec<Arc<dyn Tool>> = Vec::with_capacity(tools.len());
        let mut by_name = HashMap::new();
        for tool in tools {
            if let Entry::Vacant(free) = by_name.entry(tool.name()) {
                free.insert(kept.len());
                kept.push(tool);
            }
        }
        let mut infos: Vec<ToolInfo> = kept.iter().map(|tool| info(tool.as_ref())).collect();
        let full = raw(&infos);
        for info in &mut infos {
            info.output_schema = None;
        }
        Self { tools: kept, by_name, planner: None, lists: [raw(&infos), full] }
    }

    /// Sets what runs the calls of a batch that are to see the same snapshots. Without it they run
    /// one after the other.
    #[must_use]
    pub fn with_planner(mut self, planner: Box<BatchPlanner>) -> Self {
        self.planner = Some(planner);
        self
    }

    /// The tool of that name.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.by_name.get(name).map(|&at| &self.tools[at])
    }

    /// All tools, in their order.
    pub fn tools(&self) -> &[Arc<dyn Tool>] {
        &self.tools
    }

    /// The `tools` array of `tools/list`, as JSON text.
    pub fn list_json(&self, structured: bool) -> &RawValue {
        &self.lists[usize::from(structured)]
    }

    /// Runs the calls of one batch; gives one output for each, in order.
    ///
    /// Calls that need not be planned together run first, side by side, so that whatever the
    /// others change, they too see what was there before.
    pub fn call_batch(&self, calls: Vec<ToolCall>) -> Vec<ToolOutput> {
        super::batch::run(self.planner.as_deref(), calls)
    }
}

/// The entries as JSON text.
fn raw(infos: &[ToolInfo]) -> Box<RawValue> {
    serde_json::value::to_raw_value(infos).expect("tool entries are plain data with string keys")
}

/// The `tools/list` entry of a tool.
fn info(tool: &dyn Tool) -> ToolInfo {
    ToolInfo {
        name: tool.name().to_owned(),
        title: Some(tool.title().to_owned()),
        description: tool.description().into_owned(),
        input_schema: tool.input_schema(),
        output_schema: tool.output_schema().map(structured_schema),
        annotations: tool.annotations(),
    }
}

/// Wraps the schema of a tool's data in that of `structuredContent`.
fn structured_schema(mut data: Value) -> Value {
    // Definitions are referred to from the root, so they move there.
    let definitions = data.as_object_mut().and_then(|data| {
        data.remove("$schema");
        data.remove("$defs")
    });
    let mut schema = json!({
        "type": "object",
        "properties": {
            "status": {"enum": ["success", "partial", "error"]},
            "data": {"anyOf": [data, {"type": "null"}]},
            "errors": {"type": "array", "items": {
                "type": "object",
                "properties": {
                    "code": {"type": "string"},
                    "message": {"type": "string"},
                    "source": {"type": "string"},
                },
                "required": ["code", "message"],
            }},
        },
        "required": ["status", "data", "errors"],
    });
    if let Some(definitions) = definitions {
        schema["$defs"] = definitions;
    }
    schema
}

/// Runs `work`; a panic becomes an `INTERNAL` error, logged by place and without content.
pub(super) fn caught(tool: &str, work: impl FnOnce() -> ToolOutput) -> ToolOutput {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        // The payload may quote file content, so only the tool's name is logged.
        tracing::error!(tool, "a tool call panicked");
        ToolOutput::failure(
            ErrorCode::Internal,
            format!("`{tool}` failed inside Capstan; this is a bug, the daemon goes on"),
        )
    })
}
