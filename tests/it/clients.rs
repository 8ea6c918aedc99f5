//! Clients that others wrote: the Python SDK over stdio, the conformance suite over HTTP.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::json;

use crate::support::Daemon;

/// Where `tests/run` installs the peers.
fn tools() -> PathBuf {
    std::env::var_os("CAPSTAN_TEST_TOOLS").map_or_else(
        || {
            let cache = std::env::var_os("XDG_CACHE_HOME").map_or_else(
                || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cache"),
                PathBuf::from,
            );
            cache.join("capstan-tests")
        },
        PathBuf::from,
    )
}

#[test]
fn the_python_sdk_reads_searches_and_replaces() {
    let python = tools().join("python/bin/python");
    assert!(python.is_file(), "the Python SDK is not installed; `tests/run` installs it");
    let daemon = Daemon::start();
    let workspace = daemon.workspace();
    std::fs::write(workspace.join("poem.txt"), "one\ntwo\nthree\n").expect("a file");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/it/clients/read_search_replace.py");
    let output = daemon
        .command_in(Command::new(python), &workspace)
        .arg(script)
        .arg(daemon.binary())
        .arg(&workspace)
        .output()
        .expect("python runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let text = std::fs::read_to_string(workspace.join("poem.txt")).expect("the file");
    assert_eq!(text, "one\n2\nthree\n", "{errors}");
}

/// The revisions of MCP that the suite is run for.
const REVISIONS: [&str; 4] = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"];

#[test]
fn the_conformance_suite_passes_over_http() {
    let bin = tools().join("npm/node_modules/.bin");
    let (node, suite) = (bin.join("node"), bin.join("conformance"));
    for program in [&node, &suite] {
        assert!(
            program.exists(),
            "{} is not installed; `tests/run` installs it",
            program.display()
        );
    }
    let daemon = Daemon::start_with(&["--http", "127.0.0.1:0"]);
    let workspace = daemon.workspace();
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance");
    let mut proxy = Peer::start(
        daemon
            .command_in(Command::new(&node), &workspace)
            .arg(here.join("bearer-proxy.mjs"))
            .arg(daemon.http_address())
            .arg(daemon.state_dir().join("http-token")),
    );
    let url = format!("{}/mcp", proxy.first_line());
    let mut failures = Vec::new();
    for revision in REVISIONS {
        let output = daemon
            .command_in(Command::new(&node), &workspace)
            .arg(&suite)
            .args(["server", "--url", &url, "--suite", "all", "--spec-version", revision])
            .arg("--expected-failures")
            .arg(here.join("expected-failures.yml"))
            .output()
            .expect("the suite runs");
        let text = String::from_utf8_lossy(&output.stdout);
        println!("== {revision}\n{text}");
        if !output.status.success() {
            let errors = String::from_utf8_lossy(&output.stderr);
            failures.push(format!("{revision}:\n{text}\n{errors}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

/// A process that is ended when the test is over.
struct Peer(Child);

impl Peer {
    fn start(command: &mut Command) -> Self {
        Self(command.stdout(Stdio::piped()).spawn().expect("the peer starts"))
    }

    fn first_line(&mut self) -> String {
        let output = self.0.stdout.take().expect("its output is a pipe");
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line).expect("it says where it is");
        line.trim_end().to_owned()
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn switching_a_module_changes_the_tool_list_while_the_daemon_runs() {
    let daemon = Daemon::start();
    let workspace = daemon.workspace();
    let mut session = daemon.session(&workspace);
    let names = |session: &mut crate::support::Session| -> Vec<String> {
        let list = session.request("tools/list", &json!({}));
        let tools = list["tools"].as_array().cloned().unwrap_or_default();
        tools.iter().filter_map(|tool| tool["name"].as_str().map(str::to_owned)).collect()
    };
    assert!(names(&mut session).contains(&"write".to_owned()));
    let file = daemon.config_file();
    std::fs::create_dir_all(file.parent().expect("it has a folder")).expect("a folder");
    std::fs::write(&file, "[modules]\n\"source.raw\" = false\n\"tool.write\" = false\n")
        .expect("a file");
    let refused = session.call("write", &json!({"path": "a", "content": "x"}));
    assert!(refused.text.starts_with("MODULE_DISABLED: "), "{}", refused.text);
    let raw = session.call("read", &json!({"path": "raw:/etc/hostname"}));
    assert!(raw.text.starts_with("MODULE_DISABLED: "), "{}", raw.text);
    assert!(!names(&mut session).contains(&"write".to_owned()));
    std::fs::remove_file(&file).expect("it was there");
    session.call("read", &json!({"path": "."}));
    assert!(!session.call("write", &json!({"path": "a", "content": "x"})).is_error);
    assert!(names(&mut session).contains(&"write".to_owned()));
}
