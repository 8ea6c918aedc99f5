//! The commands that are tool calls: arguments to JSON one to one, the answer to text or JSON.

use std::ffi::OsString;

use protocol::mcp::{CallToolResult, Content};
use protocol::names::meta;
use serde_json::{Map, Value, json};

use super::args::{Call, Command, Delete, Global, Insert, Read, Replace, Search, Write};
use super::output::Output;
use super::place::Place;
use super::{CliError, Exit, note_difference, start, text};
use crate::client::{ClientError, ToolRequest};

/// The session of command-line calls that name none: one per root, so that the anchors of one call
/// hold in the next.
const DEFAULT_SESSION: &str = "cli";

/// The environment variable that names the session instead.
const SESSION_VARIABLE: &str = "CAPSTAN_SESSION";

/// A tool call that a command stands for.
#[derive(Debug, PartialEq)]
struct Wanted {
    tool: String,
    arguments: Value,
}

/// Runs a command that is one or several tool calls.
pub(super) fn run(command: &Command, global: &Global, output: &Output) -> Result<Exit, CliError> {
    let place = Place::find(global.root.as_deref()).map_err(CliError::Usage)?;
    let wanted = wanted(command, &place)?;
    let root = place.wire_root();
    let variable = std::env::var(SESSION_VARIABLE).ok().filter(|name| !name.is_empty());
    let session = global.session.clone().or(variable);
    let session = session.as_deref().unwrap_or(DEFAULT_SESSION);
    let mut client = start()?.interruptible();
    let mut exit = Exit::Done;
    for (index, call) in wanted.iter().enumerate() {
        let request = ToolRequest {
            // A session that its id names brings its own root.
            root: uuid::Uuid::try_parse(session).is_err().then_some(root.as_str()),
            session,
            tool: &call.tool,
            arguments: &call.arguments,
            structured: output.json,
        };
        let answer = match client.call(&request) {
            // It had no effect, and the next daemon is about to start.
            Err(error) if error.is_shutting_down() => {
                client = start()?.interruptible();
                client.call(&request)?
            }
            Err(error @ ClientError::Refused(_)) => {
                note_difference(output, None, &client);
                return Err(error.into());
            }
            answer => answer?,
        };
        if index == 0 {
            note_difference(output, answer.version.as_deref(), &client);
        }
        print(&answer.result, output)?;
        if answer.result.is_error {
            exit = Exit::ToolFailed;
        }
    }
    Ok(exit)
}

fn wanted(command: &Command, place: &Place) -> Result<Vec<Wanted>, CliError> {
    let one = |tool: &str, arguments| {
        Ok(vec![Wanted { tool: tool.to_owned(), arguments: Value::Object(arguments) }])
    };
    match command {
        Command::Read(args) => Ok(read(args, place)),
        Command::Search(args) => one("search", search(args, place)),
        Command::Write(args) => one("write", write(args, place)?),
        Command::Replace(args) => one("replace", replace(args, place)?),
        Command::Insert(args) => one("insert", insert(args, place)?),
        Command::Delete(args) => one("delete", delete(args, place)?),
        Command::Call(args) => one(&args.tool, call(args)?),
        _ => Err(CliError::Usage("this command is no tool call".to_owned())),
    }
}

/// One call for each source: a read shows one.
fn read(args: &Read, place: &Place) -> Vec<Wanted> {
    let calls = args.sources.iter().map(|source| {
        let path = place.source(source);
        let mut arguments = Map::new();
        if let Some(views) = views(args, &path) {
            arguments.insert("views".to_owned(), json!(views));
        }
        arguments.insert("path".to_owned(), json!(path));
        put(&mut arguments, "offset", args.offset);
        put(&mut arguments, "limit", args.limit);
        Wanted { tool: "read".to_owned(), arguments: Value::Object(arguments) }
    });
    calls.collect()
}

/// Anchors are what people at a command line want, where the source can have them.
fn views<'a>(args: &'a Read, path: &str) -> Option<Vec<&'a str>> {
    const WITHOUT_LINES: &[&str] = &["raw:", "temp:", "docs:"];
    if !args.views.is_empty() {
        return Some(args.views.iter().map(String::as_str).collect());
    }
    if args.plain || WITHOUT_LINES.iter().any(|scheme| path.starts_with(scheme)) {
        return None;
    }
    Some(vec![if args.lines { "lines" } else { "anchors" }])
}

fn search(args: &Search, place: &Place) -> Map<String, Value> {
    let mut arguments = Map::new();
    arguments.insert("query".to_owned(), json!(args.query));
    // Like every search tool, it looks where one stands.
    let here = place.here();
    let here = if here.as_os_str().is_empty() { vec![] } else { vec![OsString::from(".")] };
    put_sources(&mut arguments, if args.sources.is_empty() { &here } else { &args.sources }, place);
    put(&mut arguments, "include", (!args.include.is_empty()).then(|| args.include.join(",")));
    put(&mut arguments, "exclude", (!args.exclude.is_empty()).then(|| args.exclude.join(",")));
    let case = args.case_sensitive.then_some(true).or(args.ignore_case.then_some(false));
    put(&mut arguments, "caseSensitive", case);
    put(&mut arguments, "wholeWord", args.whole_word.then_some(true));
    put(&mut arguments, "context", args.context);
    put(&mut arguments, "limit", args.limit);
    put(&mut arguments, "hidden", args.hidden.then_some(true));
    put(&mut arguments, "ignored", args.ignored.then_some(true));
    arguments
}

fn write(args: &Write, place: &Place) -> Result<Map<String, Value>, CliError> {
    let mut sources = args.sources.clone();
    let content = text::take(&args.text, &mut sources)?;
    let [source] = &sources[..] else {
        return Err(CliError::Usage("`write` takes one file".to_owned()));
    };
    let mut arguments = Map::new();
    arguments.insert("path".to_owned(), json!(place.source(source)));
    arguments.insert("content".to_owned(), json!(content));
    Ok(arguments)
}

fn replace(args: &Replace, place: &Place) -> Result<Map<String, Value>, CliError> {
    let mut sources = args.sources.clone();
    let text = text::take(&args.text, &mut sources)?;
    let mut arguments = span(&sources, args.start.as_deref(), args.end.as_deref(), place)?;
    arguments.insert("text".to_owned(), json!(text));
    Ok(arguments)
}

fn insert(args: &Insert, place: &Place) -> Result<Map<String, Value>, CliError> {
    let mut sources = args.sources.clone();
    let text = text::take(&args.text, &mut sources)?;
    let mut arguments = span(&sources, None, None, place)?;
    put(&mut arguments, "anchor", args.anchor.as_deref());
    put(&mut arguments, "before", args.before.then_some(true));
    put(&mut arguments, "separation", args.separation.as_deref());
    arguments.insert("text".to_owned(), json!(text));
    Ok(arguments)
}

fn delete(args: &Delete, place: &Place) -> Result<Map<String, Value>, CliError> {
    if args.sources.is_empty() && args.start.is_none() {
        return Err(CliError::Usage("name what to delete: a source, or `--start`".to_owned()));
    }
    span(&args.sources, args.start.as_deref(), args.end.as_deref(), place)
}

fn call(args: &Call) -> Result<Map<String, Value>, CliError> {
    let text = if args.arguments == "-" { text::standard_input()? } else { args.arguments.clone() };
    serde_json::from_str(&text)
        .map_err(|error| CliError::Usage(format!("the arguments are no JSON object: {error}")))
}

/// Sources and the anchors in them.
fn span(
    sources: &[OsString],
    start: Option<&str>,
    end: Option<&str>,
    place: &Place,
) -> Result<Map<String, Value>, CliError> {
    if end.is_some() && start.is_none() {
        return Err(CliError::Usage("`--end` needs a `--start`".to_owned()));
    }
    let mut arguments = Map::new();
    put_sources(&mut arguments, sources, place);
    put(&mut arguments, "start", start);
    put(&mut arguments, "end", end);
    Ok(arguments)
}

fn put_sources(arguments: &mut Map<String, Value>, sources: &[OsString], place: &Place) {
    let sources: Vec<String> = sources.iter().map(|source| place.source(source)).collect();
    match &sources[..] {
        [] => {}
        [one] => put(arguments, "path", Some(one)),
        many => put(arguments, "path", Some(many)),
    }
}

fn put(arguments: &mut Map<String, Value>, key: &str, value: Option<impl serde::Serialize>) {
    if let Some(value) = value {
        arguments.insert(key.to_owned(), json!(value));
    }
}

fn print(result: &CallToolResult, output: &Output) -> Result<(), CliError> {
    if output.json {
        return Ok(output.value(&structured(result))?);
    }
    let text = readable(result);
    if result.is_error {
        output.failure(&text);
        return Ok(());
    }
    Ok(output.text(&text)?)
}

/// The text parts; a picture is named.
fn readable(result: &CallToolResult) -> String {
    let parts = result.content.iter().map(|part| match part {
        Content::Text { text } => text.clone(),
        Content::Image { data, mime_type } => {
            format!("[{mime_type}, {} bytes; `--json` has them]", data.len() / 4 * 3)
        }
    });
    parts.collect::<Vec<_>>().join("\n")
}

/// The answer for programs: status, data, errors, the result's id, and the text where there is no
/// data to say the same.
fn structured(result: &CallToolResult) -> Value {
    let status = if result.is_error { "error" } else { "success" };
    let mut value = result
        .structured_content
        .clone()
        .filter(Value::is_object)
        .unwrap_or_else(|| json!({"status": status, "data": null, "errors": []}));
    let id = result.meta.as_ref().and_then(|all| all.get(meta::RESULT));
    if let Some(id) = id {
        value["result"] = id.clone();
    }
    if value["data"].is_null() {
        value["text"] = json!(readable(result));
    }
    let images: Vec<_> =
        result.content.iter().filter(|part| matches!(part, Content::Image { .. })).collect();
    if !images.is_empty() {
        value["images"] = json!(images);
    }
    value
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::args::Cli;

    /// The calls that a command line in `/w/sub` of the workspace `/w` stands for.
    fn calls(line: &[&str]) -> String {
        let place = Place { root: "/w".into(), folder: "/w/sub".into(), certain: true };
        let cli = Cli::try_parse_from([&["capstan"], line].concat()).unwrap();
        match wanted(&cli.command, &place) {
            Ok(calls) => calls
                .iter()
                .map(|call| format!("{} {}", call.tool, call.arguments))
                .collect::<Vec<_>>()
                .join("\n"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn commands_are_tool_calls() {
        for (line, call) in [
            (&["read", "x"][..], r#"read {"path":"sub/x","views":["anchors"]}"#),
            (&["read", "-p", "x", "-o", "-5"], r#"read {"offset":-5,"path":"sub/x"}"#),
            (
                &["read", "-n", "x", "-l", "0"],
                r#"read {"limit":0,"path":"sub/x","views":["lines"]}"#,
            ),
            (&["read", "docs:"], r#"read {"path":"docs:"}"#),
            (
                &["read", "a", "/b"],
                "read {\"path\":\"sub/a\",\"views\":[\"anchors\"]}\nread {\"path\":\"/b\",\"views\":[\"anchors\"]}",
            ),
            (&["search", "-x"], r#"search {"path":"sub","query":"-x"}"#),
            (
                &[
                    "search", "q", "a", "b", "-i", "*.rs", "-i", "*.c", "-s", "-w", "-C", "2",
                    "-l", "9", "-.", "-u",
                ],
                r#"search {"caseSensitive":true,"context":2,"hidden":true,"ignored":true,"include":"*.rs,*.c","limit":9,"path":["sub/a","sub/b"],"query":"q","wholeWord":true}"#,
            ),
            (&["write", "x", "-t", "-"], r#"write {"content":"-","path":"sub/x"}"#),
            (
                &["replace", "x", "-s", "1#AAAA", "-e", "end", "-t", ""],
                r#"replace {"end":"end","path":"sub/x","start":"1#AAAA","text":""}"#,
            ),
            (
                &["replace", "SEARCH#19AF:all:match", "-t", "y"],
                r#"replace {"path":"SEARCH#19AF:all:match","text":"y"}"#,
            ),
            (
                &["insert", "x", "-a", "begin", "-b", "--separation", "blank-line", "-t", "y"],
                r#"insert {"anchor":"begin","before":true,"path":"sub/x","separation":"blank-line","text":"y"}"#,
            ),
            (&["delete", "x", "y"], r#"delete {"path":["sub/x","sub/y"]}"#),
            (&["call", "read", r#"{"path": "x"}"#], r#"read {"path":"x"}"#),
            (&["call", "ping"], "ping {}"),
        ] {
            assert_eq!(calls(line), call, "{line:?}");
        }
    }

    #[test]
    fn mistakes_are_told_before_the_daemon_is_asked() {
        assert!(calls(&["replace", "x", "-s", "1#AAAA"]).starts_with("name the text once"));
        assert_eq!(calls(&["delete", "x", "-e", "1#AAAA"]), "`--end` needs a `--start`");
        assert!(calls(&["delete"]).starts_with("name what to delete"));
        assert!(calls(&["call", "read", "[]"]).starts_with("the arguments are no JSON object"));
    }

    #[test]
    fn programs_get_status_data_errors_and_the_id() {
        let result: CallToolResult = serde_json::from_value(json!({
            "content": [{"type": "text", "text": "hello"}],
            "structuredContent": {"status": "success", "data": {"lines": 1}, "errors": []},
            "_meta": {"capstan/result": "6f0c"},
        }))
        .unwrap();
        assert_eq!(
            structured(&result).to_string(),
            r#"{"data":{"lines":1},"errors":[],"result":"6f0c","status":"success"}"#
        );
        let bare =
            CallToolResult { structured_content: None, meta: None, is_error: true, ..result };
        assert_eq!(
            structured(&bare).to_string(),
            r#"{"data":null,"errors":[],"status":"error","text":"hello"}"#
        );
    }
}
