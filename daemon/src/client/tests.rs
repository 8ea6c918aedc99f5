//! The client against a server that is a few lines of test.

use std::io::{BufRead as _, BufReader};
use std::thread::{self, JoinHandle};

use serde_json::Value;

use super::*;

/// A client whose peer reads one line and writes `answers`.
fn against(answers: &'static str) -> (Client, JoinHandle<Value>) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let server = thread::spawn(move || {
        let mut line = String::new();
        BufReader::new(&theirs).read_line(&mut line).unwrap();
        (&theirs).write_all(answers.as_bytes()).unwrap();
        serde_json::from_str(&line).unwrap()
    });
    (Client::over(ours), server)
}

#[test]
fn the_answer_is_found_among_other_messages() {
    let (mut client, server) = against(concat!(
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{}}\n",
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":1}\n",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":2}}\n",
    ));
    let result: Value = client.request("m", json!({"p": 1})).unwrap();
    assert_eq!(result, json!({"a": 2}));
    let sent = server.join().unwrap();
    assert_eq!(sent, json!({"jsonrpc": "2.0", "id": 1, "method": "m", "params": {"p": 1}}));
}

#[test]
fn failures_keep_their_word() {
    let (mut client, _server) = against(
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32000,\"message\":\"stopping\",\"data\":{\"code\":\"SHUTTING_DOWN\"}}}\n",
    );
    let error = client.request::<Value>("m", json!({})).unwrap_err();
    assert!(error.is_shutting_down(), "{error}");
    assert_eq!(error.to_string(), "stopping");
}

#[test]
fn a_vanished_or_babbling_daemon_is_an_error() {
    let (mut client, _server) = against("{\"jsonrpc\":\"2.0\",\"id\":");
    assert!(matches!(client.request::<Value>("m", json!({})), Err(ClientError::Lost(_))));
    let (mut client, _server) = against("hello\n");
    assert!(matches!(client.request::<Value>("m", json!({})), Err(ClientError::Garbled(_))));
}

#[test]
fn a_call_is_one_message() {
    let (mut client, server) = against(concat!(
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"hi\"}],",
        "\"isError\":false,\"_meta\":{\"io.modelcontextprotocol/serverInfo\":{\"name\":\"c\",\"version\":\"9\"}}}}\n",
    ));
    let request = ToolRequest {
        root: Some("/r"),
        session: "cli",
        tool: "read",
        arguments: &json!({"path": "x"}),
        structured: false,
    };
    let answer = client.call(&request).unwrap();
    assert_eq!((answer.result.text().as_str(), answer.version.as_deref()), ("hi", Some("9")));
    let meta = &server.join().unwrap()["params"]["_meta"];
    assert_eq!((&meta["capstan/root"], &meta["capstan/session"]), (&json!("/r"), &json!("cli")));
}
