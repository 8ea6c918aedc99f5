//! Clients that others wrote: the Python SDK over stdio, the conformance suite over HTTP.

use std::path::PathBuf;
use std::process::Command;

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
