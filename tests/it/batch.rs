//! Several edits on one line of JSON: planned against the text before all of them.

use std::io::{BufRead as _, BufReader, Write as _};

use serde_json::{Value, json};

use crate::support::Daemon;

#[test]
fn a_batch_is_planned_against_the_original_text_and_one_refusal_stops_nobody_else() {
    let daemon = Daemon::start();
    let workspace = daemon.workspace();
    std::fs::write(workspace.join("a.txt"), "one\ntwo\nthree\nfour\n").expect("a file");
    std::fs::write(workspace.join("b.txt"), "other\n").expect("a file");
    let call = |id: u32, tool: &str, arguments: Value| {
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
               "params": {"name": tool, "arguments": arguments}})
    };
    let batch = json!([
        call(1, "replace", json!({"path": "a.txt", "start": "one", "text": "two\nuno"})),
        call(2, "replace", json!({"path": "a.txt", "start": "two", "text": "dos"})),
        call(3, "replace", json!({"path": "a.txt", "start": "two", "end": "three", "text": "x"})),
        call(4, "replace", json!({"path": "a.txt", "start": "nowhere", "text": "x"})),
        call(5, "delete", json!({"path": "./a.txt", "start": "four"})),
        call(6, "insert", json!({"path": "b.txt", "anchor": "end", "text": "more"})),
        call(7, "read", json!({"path": "a.txt", "limit": 1})),
    ]);
    let mut socket = daemon.connect();
    let mut reader = BufReader::new(socket.try_clone().expect("a second handle"));
    let open = json!({"jsonrpc": "2.0", "id": 0, "method": "capstan/session.open",
                      "params": {"root": workspace}});
    let mut answer = |message: &Value| -> Value {
        writeln!(socket, "{message}").expect("the daemon reads");
        let mut line = String::new();
        reader.read_line(&mut line).expect("an answer");
        serde_json::from_str(&line).expect("a line is JSON")
    };
    answer(&open);
    let answers = answer(&batch);
    let text = |at: usize| answers[at]["result"]["content"][0]["text"].as_str().expect("a text");
    let failed: Vec<bool> = (0..7).map(|at| answers[at]["result"]["isError"] == true).collect();
    assert_eq!(failed, [false, false, true, true, false, false, false], "{answers:#}");
    assert!(text(2).starts_with("OVERLAPPING_EDITS: "), "{}", text(2));
    assert!(text(3).starts_with("MISSING_TEXT: "), "{}", text(3));
    assert!(text(6).contains("one"), "reads of a batch see what was there before: {}", text(6));
    let content = |name| std::fs::read_to_string(workspace.join(name)).expect("the file");
    assert_eq!(content("a.txt"), "two\nuno\ndos\nthree\n");
    assert_eq!(content("b.txt"), "other\nmore\n");
}

#[test]
fn sessions_do_not_share_references() {
    let daemon = Daemon::start();
    let workspace = daemon.workspace();
    std::fs::write(workspace.join("a.txt"), "one\n").expect("a file");
    let (mut mine, mut theirs) = (daemon.session(&workspace), daemon.session(&workspace));
    let read = mine.call("read", &json!({"path": "a.txt", "views": ["anchors"]}));
    let id = read.text.lines().next().expect("an envelope").trim_start_matches("[result ");
    let id = id.trim_end_matches(']');
    let stolen = theirs.call("replace", &json!({"path": id, "text": "x"}));
    assert!(stolen.text.starts_with("UNKNOWN_REFERENCE: "), "{}", stolen.text);
    let anchor = read.anchor_of("one");
    let guessed = theirs.call("replace", &json!({"path": "a.txt", "start": anchor, "text": "x"}));
    assert!(guessed.text.starts_with("STALE_ANCHOR: "), "{}", guessed.text);
    assert!(!mine.call("replace", &json!({"path": id, "text": "x"})).is_error);
}
