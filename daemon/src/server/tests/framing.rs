use std::io::Write as _;
use std::time::Duration;

use protocol::names::MAX_LINE_BYTES;
use serde_json::{Value, json};

use super::harness::Fixture;

/// Sends one bad line, expects that error with that id, and that the connection lives.
fn check(line: &[u8], code: i64, id: &Value) {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    client.to.write_all(line).unwrap();
    client.to.write_all(b"\n").unwrap();
    let answer = client.receive();
    let shown = String::from_utf8_lossy(&line[..line.len().min(80)]).into_owned();
    assert_eq!(
        (answer["error"]["code"].as_i64(), &answer["id"]),
        (Some(code), id),
        "{shown}: {answer}"
    );
    client.lives();
}

#[test]
fn what_is_no_json_is_a_parse_error() {
    for line in [
        &b"hello"[..],
        b"{\"jsonrpc\":\"2.0\",",
        b"{\"id\":1,}",
        b"\"\xff\xfe\"",
        b"[1,2",
        b"\0\0\0",
    ] {
        check(line, -32700, &Value::Null);
    }
}

#[test]
fn what_is_no_request_is_invalid() {
    check(b"42", -32600, &Value::Null);
    check(b"null", -32600, &Value::Null);
    check(b"[]", -32600, &Value::Null);
    check(br#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32600, &Value::Null);
    check(br#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600, &Value::Null);
    check(br#"{"jsonrpc":"1.0","id":"a","method":"ping"}"#, -32600, &json!("a"));
    check(br#"{"jsonrpc":"2.0","id":7,"method":5}"#, -32600, &json!(7));
}

#[test]
fn unknown_methods_and_wrong_parameters_are_told_apart() {
    check(br#"{"jsonrpc":"2.0","id":1,"method":"no/such"}"#, -32601, &json!(1));
    check(br#"{"jsonrpc":"2.0","id":1,"method":"capstan/no.such"}"#, -32601, &json!(1));
    check(br#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#, -32602, &json!(1));
    check(br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[1]}"#, -32602, &json!(1));
    check(
        br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"no"}}"#,
        -32602,
        &json!(1),
    );
    check(br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":[]}}"#, -32602, &json!(1));
    check(
        br#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}}"#,
        -32602,
        &json!(1),
    );
    check(br#"{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{}}"#, -32602, &json!(1));
    check(
        br#"{"jsonrpc":"2.0","id":1,"method":"capstan/session.close","params":{"session":"x"}}"#,
        -32602,
        &json!(1),
    );
}

#[test]
fn a_json_bomb_is_only_an_error() {
    let bomb = |depth: usize| {
        let nested = "[".repeat(depth) + &"]".repeat(depth);
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"capstan/session.close","params":{{"session":{nested}}}}}"#
        )
    };
    check(bomb(200_000).as_bytes(), -32602, &json!(1));
    check("[".repeat(1_000_000).as_bytes(), -32700, &Value::Null);
}

#[test]
fn an_oversized_line_is_skipped_without_being_kept() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    let before = fixture.server.status().memory_bytes;
    let mut writer = client.to.try_clone().unwrap();
    let sender = std::thread::spawn(move || {
        let piece = vec![b'x'; 1 << 20];
        for _ in 0..MAX_LINE_BYTES / piece.len() * 4 {
            writer.write_all(&piece).unwrap();
        }
        writer.write_all(b"\n").unwrap();
    });
    let answer = client.receive();
    sender.join().unwrap();
    assert_eq!(answer["error"]["data"]["code"], "LIMIT_EXCEEDED");
    client.lives();
    let grown = fixture.server.status().memory_bytes.saturating_sub(before);
    // The test process holds the buffer of one line and the client's piece, doubled by growth.
    assert!(grown < 48 << 20, "{grown}");
}

#[test]
fn the_largest_line_is_taken() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    let frame = |text: &str| {
        let params = json!({"name": "echo", "arguments": {"text": "", "rest": text}});
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string()
    };
    let text = "x".repeat(MAX_LINE_BYTES - frame("").len());
    client.send(&frame(&text));
    assert_eq!(client.receive()["result"]["isError"], false);
    client.send(&frame(&(text + "x")));
    assert_eq!(client.receive()["error"]["code"], -32600);
    client.lives();
}

#[test]
fn a_line_may_arrive_byte_by_byte_and_many_at_once() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    for byte in b"{\"jsonrpc\":\"2.0\",\"id\":\"slow\",\"method\":\"ping\"}\r\n" {
        client.to.write_all(&[*byte]).unwrap();
        std::thread::sleep(Duration::from_micros(200));
    }
    assert_eq!(client.receive()["id"], "slow");
    let many: String = (0..500)
        .map(|id| format!("\n  {{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n\n"))
        .collect();
    client.to.write_all(many.as_bytes()).unwrap();
    for id in 0..500 {
        assert_eq!(client.receive()["id"], id);
    }
}

#[test]
fn what_was_asked_before_the_end_of_input_is_still_answered() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    client.start("tools/call", json!({"name": "sleep", "arguments": {"ms": 100}}));
    client.to.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(client.receive()["result"]["content"][0]["text"], "slept");
    assert_eq!(client.receive(), Value::Null);
}
