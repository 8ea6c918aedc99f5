use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::harness::{Client, Fixture, eventually};

/// The session that a call of `where` with this `_meta` ran in.
fn session(client: &mut Client, meta: &Value) -> String {
    let result = client.ok("tools/call", json!({"name": "where", "_meta": meta}));
    result["content"][0]["text"].as_str().unwrap().to_owned()
}

#[test]
fn a_session_is_found_again_by_name_and_by_id() {
    let fixture = Fixture::new();
    let mut first = fixture.connect();
    let opened = first.ok("capstan/session.open", json!({"root": "/w", "session": "cli"}));
    assert_eq!(opened["opened"], true);
    let id = opened["session"]["id"].clone();
    drop(first);
    let mut second = fixture.connect();
    let again = second.ok("capstan/session.open", json!({"root": "/w/", "session": "cli"}));
    assert_eq!((&again["opened"], &again["session"]["id"]), (&json!(false), &id));
    let mut third = fixture.connect();
    let attached = third.ok("capstan/session.open", json!({"session": id}));
    assert_eq!(attached["session"]["root"], "/w");
    let here = format!("{} /w", id.as_str().unwrap());
    assert_eq!(session(&mut third, &json!({})), here);
    let mut fourth = fixture.client();
    assert_eq!(session(&mut fourth, &json!({"capstan/session": id})), here);
    assert_eq!(
        session(&mut fourth, &json!({"capstan/root": "file:///w", "capstan/session": "cli"})),
        here
    );
    assert_ne!(session(&mut fourth, &json!({})), here);
}

#[test]
fn initialize_may_name_root_and_session() {
    let fixture = Fixture::new();
    let mut client = fixture.connect();
    let hello = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {"roots": {}},
        "clientInfo": {"name": "test", "version": "1"},
        "_meta": {"capstan/root": "/w", "capstan/session": "agent"},
    });
    let answer = client.ok("initialize", hello);
    client.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    let id = answer["_meta"]["capstan/session"].as_str().unwrap();
    assert_eq!(session(&mut client, &json!({})), format!("{id} /w"));
}

#[test]
fn requests_with_one_root_share_one_session_of_their_connection() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    let a = session(&mut client, &json!({"capstan/root": "/a"}));
    assert_eq!(session(&mut client, &json!({"capstan/root": "/a"})), a);
    assert_ne!(session(&mut client, &json!({"capstan/root": "/b"})), a);
    assert_ne!(session(&mut fixture.client(), &json!({"capstan/root": "/a"})), a);
}

#[test]
fn bad_sessions_and_roots_are_refused() {
    let fixture = Fixture::new();
    let mut client = fixture.connect();
    assert_eq!(client.code("capstan/session.open", json!({})), -32602);
    assert_eq!(client.code("capstan/session.open", json!({"root": "relative"})), -32602);
    assert_eq!(client.code("capstan/session.open", json!({"root": "/w", "profile": "no"})), -32602);
    assert_eq!(client.code("capstan/session.open", json!({"root": "/w", "extra": 1})), -32602);
    let unknown = client.ask("capstan/session.open", json!({"session": uuid::Uuid::new_v4()}));
    assert_eq!(unknown["error"]["data"]["code"], "UNKNOWN_SESSION");
}

#[test]
fn a_closed_session_is_gone_for_all() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    let before = session(&mut client, &json!({}));
    let id = client.ok("capstan/session.list", json!({}))["sessions"][0]["id"].clone();
    assert_eq!(client.ok("capstan/session.close", json!({"session": id}))["closed"], true);
    assert_eq!(client.ok("capstan/session.close", json!({"session": id}))["closed"], false);
    assert_eq!(client.ok("capstan/session.list", json!({}))["sessions"], json!([]));
    client.ok("capstan/session.open", json!({"root": "/work"}));
    assert_ne!(session(&mut client, &json!({})), before);
}

#[test]
fn status_tells_what_runs() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    client.start("tools/call", json!({"name": "sleep", "arguments": {"ms": 10_000}}));
    fixture.started(1);
    let status = fixture.client().ok("capstan/status", json!({}));
    assert_eq!(status["running_calls"], 1);
    assert_eq!(status["pid"], std::process::id());
    assert_eq!(status["workspaces"], json!(["/work"]));
    assert_eq!(status["sessions"][0]["running"], 1);
    assert!(status["memory_bytes"].as_u64().unwrap() > 1 << 20);
    assert_eq!(fixture.server.idle(), Duration::ZERO);
    drop(client);
    eventually("it becomes idle", || fixture.server.idle() > Duration::ZERO);
}

#[test]
fn events_reach_their_subscriber() {
    let fixture = Fixture::new();
    let mut client = fixture.connect();
    assert_eq!(client.ok("capstan/events.subscribe", json!({}))["subscribed"], true);
    assert_eq!(client.code("capstan/events.subscribe", json!({})), -32600);
    let mut other = fixture.client();
    let opened = client.receive();
    assert_eq!(opened["method"], "notifications/capstan/event");
    assert_eq!(
        (&opened["params"]["kind"], &opened["params"]["root"]),
        (&json!("session-opened"), &json!("/work"))
    );
    other.call("echo", json!({}));
    let finished = client.receive();
    assert_eq!(finished["params"]["kind"], "call-finished");
    assert_eq!(
        (&finished["params"]["tool"], &finished["params"]["ok"]),
        (&json!("echo"), &json!(true))
    );
}

#[test]
fn a_drain_lets_calls_finish_and_takes_no_new_ones() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    let mut listening = fixture.connect();
    listening.start(
        "subscriptions/listen",
        json!({"notifications": {}, "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        }}),
    );
    listening.receive();
    client.start("tools/call", json!({"name": "sleep", "arguments": {"ms": 200}}));
    fixture.started(1);
    let mut stopper = fixture.connect();
    let start = Instant::now();
    assert_eq!(stopper.ok("capstan/shutdown", json!({}))["running_calls"], 1);
    assert_eq!(listening.receive()["result"]["resultType"], "complete");
    let refused = client.ask("tools/call", json!({"name": "echo"}));
    assert_eq!(refused["error"]["data"]["code"], "SHUTTING_DOWN");
    assert_eq!(client.receive()["result"]["content"][0]["text"], "slept");
    assert_eq!(client.receive(), Value::Null);
    fixture.runtime.block_on(fixture.serving).unwrap().unwrap();
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
}
