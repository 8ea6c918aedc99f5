//! `read`: any source as bounded text.

use std::borrow::Cow;
use std::sync::Arc;

use anchors::anchor::Context;
use anchors::{AnchorError, Salt, Selection, Snapshot, SourceId};
use protocol::mcp::ToolAnnotations;
use resolvers::read::window::{self, Budget};
use resolvers::read::{Page, ReadContext, ReadError, ReadOutput, ReadRequest, Shown, View};
use resolvers::source;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::arguments;
use crate::call::{Call, stale};
use crate::config::Rebase;
use crate::engine::Engine;
use crate::failure::Failure;
use crate::tool::{CallContext, Tool, ToolOutput};

/// The tool.
pub(super) struct ReadTool(pub(super) Arc<Engine>);

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// File, folder, path#anchor, result id, SEARCH# reference, raw:FILE, docs:
    path: Option<String>,
    /// First line from 1; negative from the end.
    offset: Option<i64>,
    /// How many lines.
    limit: Option<u64>,
    /// ["anchors"] shows 12#A4F0│ before each line, ["lines"] numbers.
    views: Option<Vec<String>>,
}

impl Tool for ReadTool {
    fn name(&self) -> &'static str {
        "read"
    }

    fn title(&self) -> &'static str {
        "Read"
    }

    fn description(&self) -> Cow<'static, str> {
        "Read a file, folder or any other source. With views [\"anchors\"] every line starts with an anchor such \
         as 12#A4F0│; edit by that anchor (without the bar). The answer's first line names the result; its id \
         stands for the text shown and is accepted as a path everywhere. `docs:` lists guides."
            .into()
    }

    fn annotations(&self) -> ToolAnnotations {
        ToolAnnotations {
            read_only_hint: true,
            idempotent_hint: true,
            ..ToolAnnotations::default()
        }
    }

    fn input_schema(&self) -> Value {
        arguments::schema::<Arguments>()
    }

    fn output_schema(&self) -> Option<Value> {
        Some(json!({"type": "object", "properties": {
            "source": {"type": "string"},
            "firstLine": {"type": "integer"},
            "lastLine": {"type": "integer"},
            "totalLines": {"type": "integer"},
            "encoding": {"type": "string"},
            "text": {"type": "string"},
            "notices": {"type": "array", "items": {"type": "string"}},
        }}))
    }

    fn call(&self, context: &CallContext, arguments: &RawValue) -> ToolOutput {
        run(&self.0, context, arguments).unwrap_or_else(Into::into)
    }
}

fn run(
    engine: &Engine,
    context: &CallContext,
    arguments: &RawValue,
) -> Result<ToolOutput, Failure> {
    let call = Call::new(engine, context, "tool.read")?;
    let Arguments { path, offset, limit, views } = arguments::parse(arguments)?;
    let path = path.unwrap_or_default();
    if path.is_empty() {
        return Err(Failure::invalid("`path` is missing; name a file, a folder or a result"));
    }
    let request = ReadRequest { offset, limit, views: views.unwrap_or_default() };
    let output = match call.selection(&path) {
        Some(selection) => selected(&call, &selection?, &request)?,
        None => source_of(&call, &path, &request)?,
    };
    Ok(answer(&call, output))
}

/// A source that is no reference.
fn source_of(call: &Call<'_>, path: &str, request: &ReadRequest) -> Result<ReadOutput, Failure> {
    let find = |path: &std::path::Path, snapshot: &Arc<Snapshot>, anchor: &str| {
        lines_of(call, path, snapshot, anchor)
    };
    let root = match call.root() {
        Ok(root) => root,
        // Guides and continuations need no workspace.
        Err(_) if source::scheme(path).is_some() => std::path::Path::new("/"),
        Err(failure) => return Err(failure),
    };
    let context = ReadContext {
        host: &call.engine.host,
        root,
        cache: &call.engine.cache,
        temp: &call.context.session.state.temp,
        salt_of: &|source: &SourceId, snapshot: &Arc<Snapshot>| {
            call.memory().ledger.salt(source, snapshot)
        },
        find_anchor: &find,
        cancel: &call.context.cancel,
    };
    let is_on = |id: &str| call.modules.has(id);
    call.engine
        .sources
        .read(path, request, &context, &is_on)
        .map_err(|error| failure(call, path, &error))
}

/// The lines that an anchor behind a path names.
fn lines_of(
    call: &Call<'_>,
    path: &std::path::Path,
    snapshot: &Arc<Snapshot>,
    anchor: &str,
) -> Result<(usize, usize), AnchorError> {
    let source = source::id_of(path);
    let memory = call.memory();
    let context = Context {
        source: &source,
        snapshot,
        ledger: &memory.ledger,
        references: &|_| None,
        rebase: call.config.editor.rebase == Rebase::Proven,
    };
    let resolved = Engine::anchors(&call.modules).resolve(anchor, None, &context)?;
    let spans = resolved.ranges.iter().map(|range| range.span);
    let span = spans.reduce(anchors::Span::cover);
    let lines = span.and_then(|span| snapshot.lines_of(span));
    lines.ok_or_else(|| AnchorError::EmptyFile(anchor.to_owned()))
}

/// Every range of a selection as a chunk of whole lines; the selection itself stays what it was.
fn selected(
    call: &Call<'_>,
    selection: &Selection,
    request: &ReadRequest,
) -> Result<ReadOutput, Failure> {
    let (view, notices) = View::parse(&request.views);
    let mut output = ReadOutput { notices, ..ReadOutput::default() };
    let mut budget = Budget::default();
    let several = selection.parts.len() > 1;
    for part in &selection.parts {
        let name = call.name(&part.source);
        let loaded = call.load_source(&part.source)?;
        if loaded.original.hash() != Some(part.content) {
            return Err(stale(&name));
        }
        let snapshot = loaded.text()?;
        if several {
            output.text.push_str(&format!("{name}\n"));
        }
        let salt = match view {
            View::Anchors => call.memory().ledger.salt(&part.source, snapshot),
            View::Plain | View::Lines => Salt::default(),
        };
        let page = Page { snapshot, view, salt, cancel: &call.context.cancel };
        let mut last_shown = 0;
        for range in &part.ranges {
            let Some((first, last)) = snapshot.lines_of(range.span) else { continue };
            let lines = chunk(request, (first, last), snapshot.line_count())
                .map_err(|error| Failure::new(error.code(), error.to_string()).at(&name))?;
            // Ranges of one line are shown once.
            let lines = (lines.0.max(last_shown + 1), lines.1);
            let written = window::write(&mut output.text, page, lines, &mut budget)?;
            last_shown = last_shown.max(written.last);
            if view == View::Anchors && written.last >= lines.0 {
                let mut memory = call.memory();
                memory.ledger.show(&part.source, snapshot, lines.0, written.last);
            }
            if written.last < lines.1 {
                output
                    .notices
                    .push("cut to the bound of a result; read the files for the rest".to_owned());
                output.selection = Some(selection.clone());
                return Ok(output);
            }
        }
        call.memory().ledger.see(&part.source, part.content);
    }
    output.selection = Some(selection.clone());
    Ok(output)
}

/// The lines of one range: all of it, or what offset and limit say, counted from its first line.
fn chunk(
    request: &ReadRequest,
    (first, last): (usize, usize),
    count: usize,
) -> Result<(usize, usize), ReadError> {
    if request.offset.is_none() && request.limit.is_none() {
        return Ok((first, last));
    }
    let lines = window::asked_from(request, first, count)?;
    Ok(if request.limit.is_none() { (lines.0, lines.1.min(last.max(lines.0))) } else { lines })
}

fn failure(call: &Call<'_>, path: &str, error: &ReadError) -> Failure {
    match error {
        ReadError::Anchor { error, source_id, snapshot } => {
            call.anchor_failure(error, source_id, snapshot)
        }
        error => {
            let failure = Failure::new(error.code(), error.to_string()).at(path);
            match error.code() {
                anchors::ErrorCode::LimitExceeded => {
                    failure.with_help(format!("Read its bytes: raw:{path} with offset and limit."))
                }
                _ => failure,
            }
        }
    }
}

fn answer(call: &Call<'_>, output: ReadOutput) -> ToolOutput {
    let ReadOutput { mut text, notices, selection, shown } = output;
    let data = if call.context.structured {
        data(call, &text, &notices, shown.as_ref())
    } else {
        Value::Null
    };
    if let Some(shown) = &shown {
        let mut memory = call.memory();
        let (first, last) = shown.lines;
        if shown.anchored {
            memory.ledger.show(&shown.source, &shown.snapshot, first, last);
        } else {
            memory.ledger.see(&shown.source, shown.snapshot.hash());
        }
        memory.last = Some(shown.source.clone());
    }
    if !notices.is_empty() {
        text.push_str(&format!("[{}]\n", notices.join("; ")));
    }
    Answer::new(text).selecting(selection).with_data(data).register(call)
}

fn data(call: &Call<'_>, text: &str, notices: &[String], shown: Option<&Shown>) -> Value {
    let mut data = json!({"text": text, "notices": notices});
    if let Some(shown) = shown {
        data["source"] = json!(call.name(&shown.source));
        data["firstLine"] = json!(shown.lines.0);
        data["lastLine"] = json!(shown.lines.1);
        data["totalLines"] = json!(shown.snapshot.line_count());
        data["encoding"] = json!(shown.snapshot.format().name());
    }
    data
}
