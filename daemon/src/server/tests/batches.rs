use serde_json::{Value, json};

use super::harness::Fixture;

fn request(id: i64, method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

#[test]
fn a_batch_is_answered_by_one_array_in_its_order() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    let batch = json!([
        request(1, "tools/call", &json!({"name": "sleep", "arguments": {"ms": 30}})),
        {"jsonrpc": "2.0", "method": "notifications/unknown"},
        request(2, "ping", &json!({})),
        42,
        request(3, "no/such", &json!({})),
        request(4, "tools/call", &json!({"name": "panic"})),
        request(5, "tools/call", &json!({"name": "no"})),
        {"jsonrpc": "2.0", "id": 6},
    ]);
    client.send(&batch.to_string());
    let answers = client.receive();
    let shape: Vec<(Value, Value)> = answers
        .as_array()
        .unwrap()
        .iter()
        .map(|answer| (answer["id"].clone(), answer["error"]["code"].clone()))
        .collect();
    let expected = [
        (json!(1), Value::Null),
        (json!(2), Value::Null),
        (Value::Null, json!(-32600)),
        (json!(3), json!(-32601)),
        (json!(4), Value::Null),
        (json!(5), json!(-32602)),
        (json!(6), json!(-32600)),
    ];
    assert_eq!(shape, expected);
    client.lives();
}

#[test]
fn notifications_alone_get_no_answer() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    client.send(r#"[{"jsonrpc":"2.0","method":"a"},{"jsonrpc":"2.0","method":"b"}]"#);
    client.lives();
}

#[test]
fn planned_calls_of_a_batch_go_together() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    let edit = json!({"name": "edit"});
    let batch = json!([
        request(1, "tools/call", &edit),
        request(2, "tools/call", &json!({"name": "echo", "arguments": {"text": "x"}})),
        request(3, "tools/call", &edit),
        request(4, "tools/call", &edit),
    ]);
    client.send(&batch.to_string());
    let answers = client.receive();
    let texts: Vec<&str> = answers
        .as_array()
        .unwrap()
        .iter()
        .map(|answer| answer["result"]["content"][0]["text"].as_str().unwrap())
        .collect();
    assert_eq!(texts, ["together", "x", "together", "together"]);
    assert_eq!(*fixture.seen.planned.lock().unwrap(), [3]);
    assert_eq!(client.call("edit", json!({})), "alone");
}

#[test]
fn a_cancelled_call_leaves_its_batch() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    let batch = json!([
        request(1, "tools/call", &json!({"name": "sleep", "arguments": {"ms": 10_000}})),
        request(2, "tools/call", &json!({"name": "echo", "arguments": {"text": "x"}})),
    ]);
    client.send(&batch.to_string());
    fixture.started(1);
    client.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#);
    let answers = client.receive();
    assert_eq!(answers.as_array().unwrap().len(), 1);
    assert_eq!(answers[0]["id"], 2);
}

#[test]
fn a_subscription_cannot_be_part_of_a_batch() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    client.send(&json!([request(1, "capstan/events.subscribe", &json!({}))]).to_string());
    assert_eq!(client.receive()[0]["error"]["code"], -32600);
}
