//! `search`: text by literal, regex or words; files by name.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anchors::{Part, Range, Selection};
use protocol::mcp::{ToolAnnotations, ToolError};
use resolvers::limits::RESULT_BYTES;
use resolvers::search::{
    FileHits, Incomplete, NameHits, Outcome, Query, Region, Scope, SearchError, SearchOptions,
    TextHits,
};
use resolvers::walk::Globs;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::arguments::{self, Sources};
use crate::call::{Call, found, is_complete, path_of, source_of, stale};
use crate::engine::Engine;
use crate::failure::Failure;
use crate::session::state::SearchRecipe;
use crate::tool::{CallContext, Tool, ToolOutput};

mod render;

use render::Frame;

/// The tool.
pub(super) struct SearchTool(pub(super) Arc<Engine>);

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Arguments {
    /// Text; "quoted" = literal only; regex:…; files:GLOB or files:name.
    query: String,
    /// Files, folders, result ids or SEARCH# references; default all.
    path: Option<Sources>,
    /// Globs, comma separated.
    include: Option<String>,
    exclude: Option<String>,
    /// Default: only if the query has capitals.
    case_sensitive: Option<bool>,
    whole_word: Option<bool>,
    /// Lines around each match, to 10.
    context: Option<usize>,
    /// Also dotfiles.
    hidden: Option<bool>,
    /// Also ignored files.
    ignored: Option<bool>,
    /// Matches to show (all are found); files: to list.
    limit: Option<usize>,
}

impl Tool for SearchTool {
    fn name(&self) -> &'static str {
        "search"
    }

    fn title(&self) -> &'static str {
        "Search"
    }

    fn description(&self) -> Cow<'static, str> {
        "Find text in the workspace (literal, then as a regex, then by words; says which), or files by name. \
         Matches come with SEARCH# references that `read`, `replace`, `insert` and `delete` accept as `path`: \
         edit one match, its line, or every match at once. Skips hidden, ignored and binary files and says so."
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
            "search": {"type": "string"},
            "complete": {"type": "boolean"},
            "matches": {"type": "integer"},
            "files": {"type": "array", "items": {"type": "object"}},
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
    let call = Call::new(engine, context, "tool.search")?;
    let arguments: Arguments = arguments::parse(arguments)?;
    let query = Query::parse(&arguments.query)
        .map_err(|error| Failure::new(error.code(), error.to_string()))?;
    call.require(match query {
        Query::Text(_) => "search.text",
        Query::Names(_) => "search.files",
    })?;
    let options = options(&call, &arguments)?;
    let scope = scope(&call, arguments.path.as_ref())?;
    let outcome = engine.search.search(&query, &scope, &options, &context.cancel);
    match outcome.map_err(|error| search_failure(&error))? {
        Outcome::Text(hits) => Ok(text_answer(&call, &arguments, scope, options, &hits)),
        Outcome::Names(hits) => Ok(names_answer(&call, &options, &hits)),
    }
}

fn options(call: &Call<'_>, arguments: &Arguments) -> Result<SearchOptions, Failure> {
    let (include, exclude) = (arguments.include.as_deref(), arguments.exclude.as_deref());
    let globs = Globs::parse(include.unwrap_or_default(), exclude.unwrap_or_default())
        .map_err(|error| Failure::new(error.code(), error.to_string()))?;
    Ok(SearchOptions {
        globs,
        case_sensitive: arguments.case_sensitive,
        whole_word: arguments.whole_word.unwrap_or(false),
        context: arguments.context.unwrap_or(0),
        limit: arguments.limit.unwrap_or(call.config.search.limit),
        hidden: arguments.hidden.unwrap_or(false),
        ignored: arguments.ignored.unwrap_or(false),
        timeout: Some(call.config.search.timeout),
    })
}

/// Where to look: folders and files, or the texts that results select.
fn scope(call: &Call<'_>, paths: Option<&Sources>) -> Result<Scope, Failure> {
    let Some(paths) = paths else { return Ok(Scope::Paths(vec![real(call, call.root()?)?])) };
    let (mut roots, mut regions) = (Vec::new(), Vec::new());
    for path in paths.as_slice() {
        match call.selection(path) {
            Some(selection) => regions.extend(selected(call, &selection?)?),
            None => roots.push(call.locate_searchable(path)?),
        }
    }
    match (roots.is_empty(), regions.is_empty()) {
        (false, true) => Ok(Scope::Paths(roots)),
        (true, false) => Ok(Scope::Regions(regions)),
        (true, true) => Err(Failure::invalid("`path` selects nothing to search in")),
        (false, false) => {
            Err(Failure::invalid("`path` mixes results with files; search them apart"))
        }
    }
}

/// The root without links, so that what is found below it has its real path.
fn real(call: &Call<'_>, root: &Path) -> Result<PathBuf, Failure> {
    call.real_path(root)
}

fn selected(call: &Call<'_>, selection: &Selection) -> Result<Vec<Region>, Failure> {
    let region = |part: &Part| {
        let loaded = call.load_source(&part.source)?;
        if loaded.original.hash() != Some(part.content) {
            return Err(stale(&call.name(&part.source)));
        }
        let spans = part.ranges.iter().map(|range| range.span).collect();
        let path = path_of(&part.source).unwrap_or(loaded.path.clone());
        Ok(Region { path, snapshot: loaded.text()?.clone(), spans })
    };
    selection.parts.iter().map(region).collect()
}

fn search_failure(error: &SearchError) -> Failure {
    Failure::new(error.code(), error.to_string())
}

fn text_answer(
    call: &Call<'_>,
    arguments: &Arguments,
    scope: Scope,
    options: SearchOptions,
    hits: &TextHits,
) -> ToolOutput {
    let (limit, around, context) = (options.limit, options.context, call.context);
    let identity = format!("{arguments:?}");
    let id = (hits.totals.matches > 0).then(|| {
        let recipe = match scope {
            Scope::Paths(roots) => Some(SearchRecipe { form: hits.form.clone(), roots, options }),
            Scope::Regions(_) => None,
        };
        call.memory().references.add_search(&identity, recipe, found(hits))
    });
    let name = |path: &Path| call.path_name(path);
    let frame =
        Frame { id: id.as_deref(), name: &name, limit, context: around, bytes: RESULT_BYTES };
    let data = if context.structured { data(hits, &frame) } else { Value::Null };
    let timed_out = hits.incomplete.contains(&Incomplete::TimedOut);
    let errors = timed_out.then(|| ToolError {
        code: anchors::ErrorCode::TimedOut.as_str().to_owned(),
        message: "the search ran out of time; narrow the path".to_owned(),
        source: None,
    });
    Answer::new(render::text(hits, &frame))
        .selecting(Some(selection(hits)))
        .with_data(data)
        .with_errors(errors.into_iter().collect())
        .register(call)
}

/// The matched characters.
fn selection(hits: &TextHits) -> Selection {
    let part = |file: &FileHits| Part {
        source: source_of(&file.path),
        content: file.content,
        ranges: file.matches.iter().map(|hit| Range::exact(hit.span)).collect(),
    };
    let kept = hits.files.iter().filter(|file| !file.matches.is_empty());
    Selection { parts: kept.map(part).collect(), complete: is_complete(hits) }
}

fn data(hits: &TextHits, frame: &Frame<'_>) -> Value {
    let mut number = 0;
    let mut files = Vec::new();
    for file in &hits.files {
        let room = frame.limit.saturating_sub(number);
        let matches: Vec<Value> = file
            .matches
            .iter()
            .take(room)
            .map(|hit| {
                number += 1;
                let line = file.preview.as_ref().and_then(|preview| preview.line_of(hit));
                json!({
                    "number": number, "line": hit.line, "column": hit.column, "endColumn": hit.end_column,
                    "text": line.map(|line| line.text),
                })
            })
            .collect();
        files.push(
            json!({"path": (frame.name)(&file.path), "count": file.count, "matches": matches}),
        );
    }
    json!({
        "search": frame.id, "complete": is_complete(hits), "matches": hits.totals.matches,
        "filesSearched": hits.totals.files_searched, "files": files,
    })
}

fn names_answer(call: &Call<'_>, options: &SearchOptions, hits: &NameHits) -> ToolOutput {
    let name = |path: &Path| call.path_name(path);
    let frame =
        Frame { id: None, name: &name, limit: options.limit, context: 0, bytes: RESULT_BYTES };
    let data = json!({
        "complete": hits.incomplete.is_empty() && hits.count == hits.paths.len() as u64,
        "matches": hits.count,
        "files": hits.paths.iter().map(|path| json!({"path": name(path)})).collect::<Vec<_>>(),
    });
    Answer::new(render::names(hits, &frame)).with_data(data).register(call)
}
