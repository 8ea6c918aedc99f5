use super::*;

fn check(line: &str, expected: &str) {
    let incoming = Incoming::parse(line).expect("test lines are objects");
    assert_eq!(format!("{:?}", incoming.kind()), expected, "{line}");
}

#[test]
fn messages_are_told_apart() {
    check(
        r#"{"jsonrpc":"2.0","id":1,"method":"a\u0062"}"#,
        r#"Request { id: Number(1), method: "ab", params: None }"#,
    );
    check(
        r#"{"jsonrpc":"2.0","method":"m","params":[ 1 ]}"#,
        r#"Notification { method: "m", params: Some(RawValue([ 1 ])) }"#,
    );
    check(
        r#"{"jsonrpc":"2.0","id":"x","result":null}"#,
        r#"Response { id: Some(Text("x")), outcome: Ok(RawValue(null)) }"#,
    );
    check(
        r#"{"jsonrpc":"2.0","id":null,"error":{}}"#,
        r#"Response { id: None, outcome: Err(RawValue({})) }"#,
    );
}

#[test]
fn what_is_none_of_them_keeps_its_id() {
    for (line, id) in [
        (r#"{"id":7,"method":"m"}"#, Some(Id::from(7))),
        (r#"{"jsonrpc":"1.0","id":"s","method":"m"}"#, Some(Id::from("s"))),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"m"}"#, None),
        (r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#, None),
        (r#"{"jsonrpc":"2.0","id":[],"method":"m"}"#, None),
        (r#"{"jsonrpc":"2.0","id":3}"#, Some(Id::from(3))),
        (r#"{"jsonrpc":"2.0","id":3,"result":1,"error":{}}"#, Some(Id::from(3))),
        ("{}", None),
    ] {
        let incoming = Incoming::parse(line).expect("test lines are objects");
        let Kind::Invalid { id: found, .. } = incoming.kind() else { panic!("{line}") };
        assert_eq!(found, id, "{line}");
    }
}

#[test]
fn deep_nesting_is_skipped_without_recursion() {
    let deep = "[".repeat(200_000) + &"]".repeat(200_000);
    let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{deep}}}"#);
    let incoming = Incoming::parse(&line).expect("raw values are scanned without recursion");
    assert!(matches!(incoming.kind(), Kind::Request { .. }));
}

#[test]
fn messages_are_written_as_the_standard_says() {
    let id = Id::from(1);
    let error = ErrorObject::new(-32600, "no");
    let lines = [
        serde_json::to_string(&Message::request(&id, "m", 1)),
        serde_json::to_string(&Message::notification("m", 1)),
        serde_json::to_string(&Message::answer(&id, 1)),
        serde_json::to_string(&Message::failure(None, &error)),
    ];
    let lines: Vec<_> = lines.into_iter().map(|line| line.expect("plain data")).collect();
    assert_eq!(
        lines,
        [
            r#"{"jsonrpc":"2.0","id":1,"method":"m","params":1}"#,
            r#"{"jsonrpc":"2.0","method":"m","params":1}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":1}"#,
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}}"#,
        ]
    );
}
