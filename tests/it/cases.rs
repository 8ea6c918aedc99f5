//! Runs the Markdown specs under `tests/cases/`: each is documentation and test at once.
//!
//! A spec is a list of cases (`## heading`); a case has its own workspace and session. Fenced
//! blocks drive it, in order, by their info string:
//!
//! - `file PATH [FLAGS]` writes a file before or between calls (as another process would);
//! - `shell` runs a script in the workspace;
//! - `call TOOL` calls a tool with the block's JSON as arguments;
//! - `result` is the whole text that the call before it must answer;
//! - `after PATH [FLAGS]` is what the file must hold now.
//!
//! FLAGS say what the block can't show: `crlf`, `no-newline`, `bom`, `utf16le`, `latin1`. In calls
//! and results `$1`, `$2`, … stand for the ids of the case's results, `$S` for the last
//! `SEARCH#HASH`. `UPDATE_EXPECT=1` rewrites
//! the `result` and `after` blocks.

mod parse;

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{Daemon, Session};
use parse::{Block, Kind, Spec};

#[test]
fn specs() {
    let mut failures = Vec::new();
    for path in spec_files() {
        let daemon = Daemon::start();
        let text = std::fs::read_to_string(&path).expect("a spec is readable");
        let mut spec =
            Spec::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for case in &mut spec.cases {
            if let Err(failure) = run(&daemon, case) {
                failures.push(format!("{}: {failure}", path.display()));
            }
        }
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            std::fs::write(&path, spec.render()).expect("a spec is writable");
        }
    }
    assert!(
        failures.is_empty(),
        "{} of the specs fail\n\n{}",
        failures.len(),
        failures.join("\n\n")
    );
}

fn spec_files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases");
    let mut folders = vec![root];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("the specs are there").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// Runs the blocks of one case; with `UPDATE_EXPECT` differences are taken over.
fn run(daemon: &Daemon, case: &mut parse::Case) -> Result<(), String> {
    let update = std::env::var_os("UPDATE_EXPECT").is_some();
    let workspace = daemon.workspace();
    let mut session = daemon.session(&workspace);
    let mut ids: Vec<String> = Vec::new();
    let mut answer = String::new();
    for block in &mut case.blocks {
        let name = |what: &str| format!("case `{}`, line {}: {what}", case.title, block.line);
        let (got, expected) = match &block.kind {
            Kind::File(file) => {
                file.write(&workspace, &block.body);
                continue;
            }
            Kind::Shell => {
                shell(&workspace, &block.body).map_err(|error| name(&error))?;
                continue;
            }
            Kind::Call(tool) => {
                let search = answer.clone();
                answer = call(&mut session, tool, (block, &search, &workspace), &mut ids)
                    .map_err(|e| name(&e))?;
                continue;
            }
            Kind::Result => (tidy(&answer, &ids, &workspace), block.body.clone()),
            Kind::After(file) => (file.read(&workspace), block.body.clone()),
        };
        if got.trim_end_matches('\n') != expected.trim_end_matches('\n') {
            if !update {
                return Err(name(&format!("expected\n{expected}\ngot\n{got}")));
            }
            block.body = format!("{}\n", got.trim_end_matches('\n'));
        }
    }
    Ok(())
}

fn shell(workspace: &Path, script: &str) -> Result<(), String> {
    let mut command = std::process::Command::new("sh");
    let status = command.arg("-ec").arg(script).current_dir(workspace).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        other => Err(format!("the script failed: {other:?}")),
    }
}

fn call(
    session: &mut Session,
    tool: &str,
    (block, before, workspace): (&Block, &str, &Path),
    ids: &mut Vec<String>,
) -> Result<String, String> {
    let search = search_id(before).unwrap_or_default();
    let mut arguments =
        block.body.replace("$S", &search).replace("$ROOT", &workspace.display().to_string());
    for (at, id) in ids.iter().enumerate().rev() {
        arguments = arguments.replace(&format!("${}", at + 1), id);
    }
    let arguments: Value =
        serde_json::from_str(&arguments).map_err(|error| format!("the arguments: {error}"))?;
    let text = session.call(tool, &arguments).text;
    let id = text.lines().next().and_then(|line| line.strip_prefix("[result ")?.strip_suffix(']'));
    ids.extend(id.map(str::to_owned));
    Ok(text)
}

/// The first `SEARCH#HASH` in the text.
fn search_id(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("SEARCH#")?;
    Some(format!("SEARCH#{}", rest.split_once(':')?.0))
}

/// Takes out what differs from run to run.
fn tidy(text: &str, ids: &[String], workspace: &Path) -> String {
    let mut text = text.replace(&workspace.display().to_string(), "$ROOT");
    for (at, id) in ids.iter().enumerate() {
        text = text.replace(id, &format!("${}", at + 1));
    }
    while let Some(search) = search_id(&text) {
        text = text.replace(&search, "$S");
    }
    text
}
