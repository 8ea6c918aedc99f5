//! The tools themselves, one file each; the contract they fulfil is [`crate::tool`].
//!
//! A tool converts its arguments, calls one core, and renders. What the edits share is in
//! [`crate::editing`].

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::value::RawValue;

use crate::call::Call;
use crate::editing::{self, Request};
use crate::engine::Engine;
use crate::failure::Failure;
use crate::tool::{BatchPlanner, Tool, ToolCall};

pub use crate::tool::{CallContext, Progress, ToolOutput, ToolRegistry};

mod delete;
mod insert;
mod read;
mod replace;
mod search;
mod write;

/// A tool's arguments as an edit.
type ToRequest = fn(&RawValue) -> Result<Request, Failure>;

/// The tools in the order of their listing.
pub fn all(engine: &Arc<Engine>) -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(read::ReadTool(engine.clone())),
        Arc::new(search::SearchTool(engine.clone())),
        Arc::new(replace::ReplaceTool(engine.clone())),
        Arc::new(insert::InsertTool(engine.clone())),
        Arc::new(delete::DeleteTool(engine.clone())),
        Arc::new(write::WriteTool(engine.clone())),
    ]
}

/// Plans the edits of a batch together.
pub fn planner(engine: &Arc<Engine>) -> Box<BatchPlanner> {
    let engine = engine.clone();
    let edits: HashMap<&str, (&'static str, ToRequest)> = HashMap::from([
        ("write", ("tool.write", write::request as ToRequest)),
        ("replace", ("tool.replace", replace::request)),
        ("insert", ("tool.insert", insert::request)),
        ("delete", ("tool.delete", delete::request)),
    ]);
    Box::new(move |calls: &[ToolCall]| {
        let Some(first) = calls.first() else { return Vec::new() };
        // A batch comes from one client; its calls may still name different sessions.
        if calls.iter().any(|call| call.context.session.id() != first.context.session.id()) {
            return calls.iter().map(ToolCall::run).collect();
        }
        let call = match Call::new(&engine, &first.context, "source.file") {
            Ok(call) => call,
            Err(failure) => return calls.iter().map(|_| failure.clone().into()).collect(),
        };
        let request = |each: &ToolCall| {
            let Some((module, parse)) = edits.get(each.tool.name()) else {
                return Err(Failure::invalid("this tool does not edit"));
            };
            call.require(module)?;
            parse(&each.arguments)
        };
        editing::run(&call, calls.iter().map(request).collect())
    })
}

/// Runs one edit by itself.
fn edit_one(
    engine: &Engine,
    context: &CallContext,
    module: &str,
    request: Result<Request, Failure>,
) -> ToolOutput {
    let call = match Call::new(engine, context, module) {
        Ok(call) => call,
        Err(failure) => return failure.into(),
    };
    let mut outputs = editing::run(&call, vec![request]);
    outputs.pop().unwrap_or_else(|| Failure::invalid("there was no edit").into())
}
