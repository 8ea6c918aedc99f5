use protocol::names::{MODERN_VERSION, meta};
use serde_json::{Value, json};

use super::harness::Fixture;

/// The `_meta` of a stateless request.
fn modern(capabilities: &Value) -> Value {
    json!({meta::PROTOCOL_VERSION: MODERN_VERSION, meta::CLIENT_CAPABILITIES: capabilities})
}

#[test]
fn revisions_are_negotiated() {
    for (asked, spoken) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
        ("", "2025-11-25"),
    ] {
        let fixture = Fixture::new();
        let (mut client, answer) = fixture.shake(asked, json!({}));
        assert_eq!(answer["protocolVersion"], spoken, "{asked}");
        assert_eq!(answer["serverInfo"]["name"], "capstan");
        assert_eq!(answer["instructions"], "be good");
        assert_eq!(answer["capabilities"]["tools"]["listChanged"], true);
        let result = client.ok("tools/call", json!({"name": "echo", "arguments": {"text": "x"}}));
        let nil = "00000000-0000-0000-0000-000000000000";
        let expected = json!({
            "content": [{"type": "text", "text": "x"}],
            "isError": false,
            "_meta": {"capstan/result": nil},
        });
        assert_eq!(result, expected);
    }
}

#[test]
fn structured_results_are_for_those_who_asked() {
    let fixture = Fixture::new();
    let (mut plain, _) = fixture.shake("2025-11-25", json!({}));
    let (mut asked, _) =
        fixture.shake("2025-11-25", json!({"experimental": {"capstan/structured": {}}}));
    assert!(plain.ok("tools/list", json!({}))["tools"][0].get("outputSchema").is_none());
    let schema = asked.ok("tools/list", json!({}))["tools"][0]["outputSchema"].clone();
    assert_eq!(schema["properties"]["data"]["anyOf"][0], json!({"type": "string"}));
    let call = json!({"name": "echo", "arguments": {"text": "x"}});
    assert!(plain.ok("tools/call", call.clone()).get("structuredContent").is_none());
    let result = asked.ok("tools/call", call.clone());
    assert_eq!(
        result["structuredContent"],
        json!({"status": "success", "data": "x", "errors": []})
    );
    let failed = asked.ok("tools/call", json!({"name": "panic"}));
    assert_eq!(failed["structuredContent"]["status"], "error");
    assert_eq!(failed["structuredContent"]["errors"][0]["code"], "INTERNAL");
    // In the stateless era each request says it.
    let mut stateless = call;
    stateless["_meta"] = modern(&json!({"experimental": {"capstan/structured": {}}}));
    assert_eq!(plain.ok("tools/call", stateless)["structuredContent"]["data"], "x");
}

#[test]
fn stateless_requests_need_no_handshake() {
    let fixture = Fixture::new();
    let mut client = fixture.connect();
    let found = client.ok("server/discover", json!({"_meta": modern(&json!({}))}));
    assert_eq!(found["supportedVersions"], json!([MODERN_VERSION]));
    assert_eq!(found["resultType"], "complete");
    assert_eq!(found["_meta"][meta::SERVER_INFO]["name"], "capstan");
    let list = client.ok("tools/list", json!({"_meta": modern(&json!({}))}));
    assert!(list["tools"].is_array() && list["ttlMs"].is_u64());
    assert_eq!(list["cacheScope"], "private");
    let call = json!({"name": "echo", "arguments": {"text": "x"}, "_meta": modern(&json!({}))});
    assert_eq!(client.ok("tools/call", call)["resultType"], "complete");
    let read = client.ok("resources/read", json!({"uri": "docs:a", "_meta": modern(&json!({}))}));
    assert_eq!(read["contents"][0]["text"], "A");
    assert!(read["ttlMs"].is_u64());
}

#[test]
fn stateless_requests_are_checked() {
    let fixture = Fixture::new();
    let mut client = fixture.connect();
    let mut half = modern(&json!({}));
    half.as_object_mut().unwrap().remove(meta::CLIENT_CAPABILITIES);
    let mut future = modern(&json!({}));
    future[meta::PROTOCOL_VERSION] = json!("2099-01-01");
    assert_eq!(client.code("tools/list", json!({})), -32602);
    assert_eq!(client.code("server/discover", json!({"_meta": {}})), -32602);
    assert_eq!(client.code("tools/list", json!({"_meta": half})), -32602);
    assert_eq!(client.code("tools/list", json!({"_meta": future})), -32022);
    assert_eq!(client.code("ping", json!({"_meta": modern(&json!({}))})), -32601);
    assert_eq!(client.code("no/such", json!({"_meta": modern(&json!({}))})), -32601);
    let unknown = json!({"uri": "docs:no", "_meta": modern(&json!({}))});
    assert_eq!(client.code("resources/read", unknown), -32602);
    let (mut shaken, _) = fixture.shake("2025-11-25", json!({}));
    assert_eq!(shaken.code("resources/read", json!({"uri": "docs:no"})), -32002);
}

#[test]
fn changed_tools_are_announced_to_both_eras() {
    let fixture = Fixture::new();
    let (mut shaken, _) = fixture.shake("2025-11-25", json!({}));
    let mut listening = fixture.connect();
    let params = json!({
        "notifications": {"toolsListChanged": true, "promptsListChanged": true},
        "_meta": modern(&json!({})),
    });
    let id = listening.start("subscriptions/listen", params);
    let acknowledged = listening.receive();
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(acknowledged["params"]["notifications"], json!({"toolsListChanged": true}));
    assert_eq!(acknowledged["params"]["_meta"][meta::SUBSCRIPTION_ID], id);
    shaken.lives();
    fixture.server.set_tools(super::harness::tools(&fixture.seen));
    assert_eq!(shaken.receive()["method"], "notifications/tools/list_changed");
    let changed = listening.receive();
    assert_eq!(changed["method"], "notifications/tools/list_changed");
    assert_eq!(changed["params"]["_meta"][meta::SUBSCRIPTION_ID], id);
    listening.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}).to_string());
    listening.lives();
    fixture.server.set_tools(super::harness::tools(&fixture.seen));
    listening.lives();
}

#[test]
fn a_client_without_a_root_is_asked_for_it() {
    let fixture = Fixture::new();
    let (mut client, _) = fixture.shake("2025-11-25", json!({"roots": {}}));
    let question = client.receive();
    assert_eq!(question["method"], "roots/list");
    // A call that is sent before the answer waits for it.
    let call = client.start("tools/call", json!({"name": "where"}));
    let roots = json!({"roots": [{"uri": "http://x/"}, {"uri": "file:///a%20b"}]});
    client.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": roots}).to_string());
    let answer = client.receive();
    assert_eq!(answer["id"], call);
    assert!(
        answer["result"]["content"][0]["text"].as_str().unwrap().ends_with(" /a b"),
        "{answer}"
    );
}

#[test]
fn a_client_that_refuses_its_roots_is_served_without() {
    let fixture = Fixture::new();
    let (mut client, _) = fixture.shake("2025-11-25", json!({"roots": {}}));
    let question = client.receive();
    let error = json!({"code": -32601, "message": "no"});
    client.send(&json!({"jsonrpc": "2.0", "id": question["id"], "error": error}).to_string());
    assert!(client.call("where", json!({})).ends_with(' '));
}
