//! The HTTP door over a real socket, spoken to by hand so that every header is what it says.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};

use super::Token;
use crate::server::tests::harness::{Fixture, eventually};
use crate::server::{Phase, Server};

struct Web {
    fixture: Fixture,
    address: SocketAddr,
    token: Token,
}

struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("{} {}", self.head, self.body))
    }

    fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines
            .into_iter()
            .find_map(|(found, value)| found.eq_ignore_ascii_case(name).then_some(value))
    }
}

impl Web {
    fn new() -> Self {
        let fixture = Fixture::new();
        let token = Token::random();
        let listener =
            fixture.runtime.block_on(super::bind("127.0.0.1:0".parse().unwrap())).unwrap();
        let address = listener.local_addr().unwrap();
        fixture.runtime.spawn(super::serve(
            Arc::<Server>::clone(&fixture.server),
            listener,
            token.clone(),
        ));
        Self { fixture, address, token }
    }

    fn open(&self, method: &str, headers: &[(&str, &str)], body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        let mut request = format!("{method} /mcp HTTP/1.1\r\nConnection: close\r\n");
        for (name, value) in headers {
            request += &format!("{name}: {value}\r\n");
        }
        request += &format!("Content-Length: {}\r\n\r\n{body}", body.len());
        // A server that refuses early may not read the whole body.
        let _ = stream.write_all(request.as_bytes());
        stream
    }

    fn send(&self, method: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut text = Vec::new();
        let _ = self.open(method, headers, body).read_to_end(&mut text);
        let text = String::from_utf8(text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).unwrap_or_default().parse().unwrap_or(0);
        Answer { status, head: head.to_owned(), body: body.to_owned() }
    }

    /// Headers that pass every check, and then `more`.
    fn headers<'a>(&self, bearer: &'a str, more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
        let mut headers = vec![
            ("Host", "localhost"),
            ("Authorization", bearer),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ];
        headers.extend_from_slice(more);
        headers
    }

    fn post(&self, more: &[(&str, &str)], body: &Value) -> Answer {
        let bearer = format!("Bearer {}", self.token.reveal());
        self.send("POST", &self.headers(&bearer, more), &body.to_string())
    }

    /// A stateless request with the headers that belong to it.
    fn stateless(&self, method: &str, mut params: Value) -> Answer {
        params["_meta"] = meta();
        let name = params["name"].as_str().unwrap_or_default().to_owned();
        let headers =
            [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", method), ("Mcp-Name", &name)];
        self.post(&headers, &request(method, &params))
    }

    /// Opens a handshake session.
    fn shake(&self) -> String {
        let hello = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        });
        let answer = self.post(&[], &request("initialize", &hello));
        assert_eq!(answer.json()["result"]["protocolVersion"], "2025-11-25");
        answer.header("mcp-session-id").unwrap().to_owned()
    }
}

fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

fn request(method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

#[test]
fn nothing_is_served_to_strangers() {
    let web = Web::new();
    let bearer = format!("Bearer {}", web.token.reveal());
    let body = request("ping", &json!({})).to_string();
    let status = |headers: &[(&str, &str)]| {
        let mut all = vec![("Content-Type", "application/json"), ("Accept", "*/*")];
        all.extend_from_slice(headers);
        web.send("POST", &all, &body).status
    };
    assert_eq!(status(&[("Host", "localhost")]), 401);
    assert_eq!(status(&[("Host", "localhost"), ("Authorization", "Bearer x")]), 401);
    assert_eq!(status(&[("Host", "evil.com"), ("Authorization", &bearer)]), 403);
    let page = [("Host", "localhost"), ("Origin", "http://evil.com"), ("Authorization", &bearer)];
    assert_eq!(status(&page), 403);
    for method in ["GET", "DELETE", "OPTIONS", "PUT"] {
        assert_eq!(web.send(method, &[("Host", "localhost")], "").status, 401, "{method}");
    }
    let unauthorised = web.send("GET", &[("Host", "localhost")], "");
    assert_eq!(unauthorised.header("www-authenticate"), Some("Bearer"));
}

#[test]
fn only_loopback_is_bound() {
    let web = Web::new();
    let refused =
        web.fixture.runtime.block_on(super::bind("0.0.0.0:0".parse().unwrap())).unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::InvalidInput);
}

#[test]
fn media_types_and_methods_are_checked() {
    let web = Web::new();
    let bearer = format!("Bearer {}", web.token.reveal());
    let with = |method: &str, content: &str, accept: &str, more: &[(&str, &str)]| {
        let mut headers = vec![("Host", "localhost"), ("Authorization", bearer.as_str())];
        headers.extend([("Content-Type", content), ("Accept", accept)]);
        headers.extend_from_slice(more);
        web.send(method, &headers, "{}").status
    };
    assert_eq!(with("POST", "text/plain", "*/*", &[]), 415);
    assert_eq!(with("POST", "application/json", "application/json", &[]), 406);
    assert_eq!(with("PUT", "application/json", "*/*", &[]), 405);
    let modern = [("MCP-Protocol-Version", "2026-07-28")];
    assert_eq!(with("GET", "application/json", "*/*", &modern), 405);
    assert_eq!(with("DELETE", "application/json", "*/*", &modern), 405);
    assert_eq!(with("GET", "application/json", "*/*", &[]), 400);
}

#[test]
fn a_body_beyond_the_bound_is_refused() {
    let web = Web::new();
    let body = json!("x".repeat(protocol::names::MAX_LINE_BYTES));
    assert_eq!(web.post(&[], &body).status, 413);
}

#[test]
fn a_stateless_request_stands_alone() {
    let web = Web::new();
    let found = web.stateless("server/discover", json!({}));
    assert_eq!(found.status, 200);
    assert_eq!(found.header("mcp-session-id"), None);
    assert_eq!(found.json()["result"]["supportedVersions"], json!(["2026-07-28"]));
    let called = web.stateless("tools/call", json!({"name": "echo", "arguments": {"text": "x"}}));
    assert_eq!(called.json()["result"]["content"][0]["text"], "x");
    // Results of one request are known to the next: all share a session.
    let session = |answer: Answer| answer.json()["result"]["content"][0]["text"].clone();
    let first = session(web.stateless("tools/call", json!({"name": "where"})));
    assert_eq!(session(web.stateless("tools/call", json!({"name": "where"}))), first);
}

#[test]
fn stateless_errors_have_their_status() {
    let web = Web::new();
    let version = ("MCP-Protocol-Version", "2026-07-28");
    let check = |answer: &Answer, status: u16, code: i64| {
        assert_eq!(
            (answer.status, &answer.json()["error"]["code"]),
            (status, &json!(code)),
            "{}",
            answer.body
        );
    };
    check(&web.stateless("no/such", json!({})), 404, -32601);
    check(&web.stateless("ping", json!({})), 404, -32601);
    check(&web.stateless("tools/call", json!({"name": "no"})), 400, -32602);
    check(&web.post(&[version], &json!([request("ping", &json!({}))])), 400, -32600);
    check(&web.post(&[version], &json!(5)), 400, -32600);
    check(&web.post(&[version], &request("tools/list", &json!({}))), 400, -32602);
    let list = request("tools/list", &json!({"_meta": meta()}));
    check(&web.post(&[version], &list), 400, -32020);
    check(&web.post(&[("Mcp-Method", "tools/list")], &list), 400, -32020);
    check(&web.post(&[version, ("Mcp-Method", "tools/call")], &list), 400, -32020);
    check(
        &web.post(&[("MCP-Protocol-Version", "2099-01-01"), ("Mcp-Method", "tools/list")], &list),
        400,
        -32020,
    );
    let accepted = web.post(&[version], &json!({"jsonrpc": "2.0", "method": "notifications/x"}));
    assert_eq!((accepted.status, accepted.body.as_str()), (202, ""));
}

#[test]
fn a_session_lives_from_initialize_to_delete() {
    let web = Web::new();
    let id = web.shake();
    let session = [("Mcp-Session-Id", id.as_str())];
    assert_eq!(
        web.post(&session, &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
            .status,
        202
    );
    assert_eq!(web.post(&session, &request("ping", &json!({}))).json()["result"], json!({}));
    let batch = web
        .post(&session, &json!([request("ping", &json!({})), {"jsonrpc": "2.0", "method": "x"}]));
    assert_eq!(batch.json(), json!([{"jsonrpc": "2.0", "id": 1, "result": {}}]));
    assert_eq!(web.post(&session, &request("no/such", &json!({}))).status, 200);
    assert_eq!(web.post(&[], &request("ping", &json!({}))).status, 400);
    assert_eq!(web.post(&[("Mcp-Session-Id", "x")], &request("ping", &json!({}))).status, 404);
    let bearer = format!("Bearer {}", web.token.reveal());
    assert_eq!(web.send("DELETE", &web.headers(&bearer, &session), "").status, 204);
    assert_eq!(web.send("DELETE", &web.headers(&bearer, &session), "").status, 404);
    assert_eq!(web.post(&session, &request("ping", &json!({}))).status, 404);
}

#[test]
fn progress_makes_the_answer_a_stream() {
    let web = Web::new();
    let id = web.shake();
    let call = request("tools/call", &json!({"name": "steps", "_meta": {"progressToken": 7}}));
    let answer = web.post(&[("Mcp-Session-Id", &id)], &call);
    assert_eq!(answer.header("content-type"), Some("text/event-stream"));
    let events: Vec<Value> = answer
        .body
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|data| serde_json::from_str(data).unwrap())
        .collect();
    assert_eq!(events[0]["params"]["progressToken"], 7);
    assert_eq!(events[1]["result"]["content"][0]["text"], "done");
}

#[test]
fn a_client_that_hangs_up_stops_its_call() {
    let web = Web::new();
    let bearer = format!("Bearer {}", web.token.reveal());
    let id = web.shake();
    let params = json!({"name": "sleep", "arguments": {"ms": 10_000}, "_meta": meta()});
    let call = request("tools/call", &params).to_string();
    let modern = [
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", "sleep"),
    ];
    let handshake = [("Mcp-Session-Id", id.as_str())];
    let params = json!({"name": "sleep", "arguments": {"ms": 10_000}});
    let older = request("tools/call", &params).to_string();
    for (count, (more, body)) in
        [(&modern[..], call), (&handshake[..], older)].into_iter().enumerate()
    {
        let stream = web.open("POST", &web.headers(&bearer, more), &body);
        web.fixture.started(count + 1);
        drop(stream);
        eventually("the call stops", || {
            web.fixture.seen.cancelled.load(Ordering::SeqCst) == count + 1
        });
    }
}

#[test]
fn a_standing_stream_hears_of_changed_tools_and_ends_with_the_daemon() {
    let web = Web::new();
    let bearer = format!("Bearer {}", web.token.reveal());
    let id = web.shake();
    let mut stream = web.open("GET", &web.headers(&bearer, &[("Mcp-Session-Id", &id)]), "");
    let mut seen = Vec::new();
    let mut piece = [0; 4096];
    while !String::from_utf8_lossy(&seen).contains("\r\n\r\n") {
        let count = stream.read(&mut piece).unwrap();
        seen.extend_from_slice(&piece[..count]);
    }
    web.fixture.server.set_tools(crate::server::tests::harness::tools(&web.fixture.seen));
    while !String::from_utf8_lossy(&seen).contains("notifications/tools/list_changed") {
        let count = stream.read(&mut piece).unwrap();
        assert!(count > 0, "{}", String::from_utf8_lossy(&seen));
        seen.extend_from_slice(&piece[..count]);
    }
    web.fixture.server.shutdown();
    while stream.read(&mut piece).unwrap() > 0 {}
    web.fixture.runtime.block_on(web.fixture.server.drain().reached(Phase::Closing));
    eventually("the door closes", || web.fixture.server.status().http.is_none());
}
