use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::harness::{Fixture, eventually};
use crate::limits::{MAX_OUTPUT_BYTES, MAX_RUNNING_PER_CLIENT};

fn sleep(ms: u64) -> Value {
    json!({"name": "sleep", "arguments": {"ms": ms}})
}

#[test]
fn answers_come_as_they_are_ready() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    let slow = client.start("tools/call", sleep(150));
    let quick = client.start("tools/call", sleep(1));
    assert_eq!(client.receive()["id"], quick);
    assert_eq!(client.receive()["id"], slow);
}

#[test]
fn a_panic_answers_one_call() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    let result = client.ok("tools/call", json!({"name": "panic"}));
    assert_eq!(result["isError"], true);
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("INTERNAL: ") && !text.contains("a test panic"), "{text}");
    client.lives();
}

#[test]
fn a_cancelled_call_stops_and_is_not_answered() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    let id = client.start("tools/call", sleep(10_000));
    fixture.started(1);
    let cancelled =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
    let start = Instant::now();
    client.send(&cancelled.to_string());
    eventually("the call stops", || fixture.server.status().running_calls == 0);
    assert!(start.elapsed() < Duration::from_millis(500));
    // The next message is the next answer, and the id is free again.
    client.lives();
    client.send(
        &json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "echo"}})
            .to_string(),
    );
    assert_eq!(client.receive()["id"], id);
}

#[test]
fn a_waiting_call_can_be_cancelled_too() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    let ids: Vec<i64> =
        (0..=MAX_RUNNING_PER_CLIENT).map(|_| client.start("tools/call", sleep(10_000))).collect();
    fixture.started(MAX_RUNNING_PER_CLIENT);
    for id in ids.iter().rev() {
        let params = json!({"requestId": id});
        client.send(
            &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
                .to_string(),
        );
    }
    eventually("all stop", || fixture.server.status().running_calls == 0);
    client.lives();
}

#[test]
fn a_client_that_vanishes_takes_its_calls_with_it() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    let mut other = fixture.client();
    for _ in 0..3 {
        client.start("tools/call", sleep(10_000));
    }
    other.start("tools/call", sleep(300));
    fixture.started(4);
    drop(client);
    eventually("its calls stop", || fixture.seen.cancelled.load(Ordering::SeqCst) == 3);
    assert_eq!(other.receive()["result"]["content"][0]["text"], "slept");
}

#[test]
fn a_client_that_vanishes_while_it_is_not_read_is_noticed() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    // Two lines of nearly the largest size exhaust the connection's share, the third waits.
    let padding = "x".repeat(15 << 20);
    let params =
        json!({"name": "sleep", "arguments": {"ms": 10_000, "padding": padding}}).to_string();
    let mut writer = client.to.try_clone().unwrap();
    let sender = std::thread::spawn(move || {
        use std::io::Write as _;
        for id in 0..3 {
            let line = format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{params}}}\n"
            );
            // The last one breaks off when the client goes.
            let _ = writer.write_all(line.as_bytes());
        }
    });
    fixture.started(2);
    client.to.shutdown(std::net::Shutdown::Both).unwrap();
    sender.join().unwrap();
    client = fixture.client();
    eventually("the calls stop", || fixture.seen.cancelled.load(Ordering::SeqCst) >= 2);
    client.lives();
}

#[test]
fn a_client_that_never_reads_stalls_itself_only() {
    let fixture = Fixture::new();
    let mut deaf = fixture.client();
    deaf.to.set_write_timeout(Some(Duration::from_millis(300))).unwrap();
    let before = fixture.server.status().memory_bytes;
    let line = json!({"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "big", "arguments": {"bytes": 50_000}}});
    let mut sent = 0;
    for id in 0..20_000 {
        use std::io::Write as _;
        let mut line = line.clone();
        line["id"] = json!(id);
        if deaf.to.write_all(format!("{line}\n").as_bytes()).is_err() {
            break;
        }
        sent += 1;
    }
    assert!(sent < 10_000, "the server went on reading");
    let grown = fixture.server.status().memory_bytes.saturating_sub(before);
    // Its queue, and the answers of calls that ran when the queue was full.
    let answers = 2048 * 50_000;
    assert!(grown < u64::try_from(MAX_OUTPUT_BYTES + answers).unwrap(), "{grown}");
    let mut other = fixture.client();
    assert_eq!(other.call("echo", json!({"text": "hi"})), "hi");
}

#[test]
fn an_id_in_use_is_refused() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    let id = client.start("tools/call", sleep(200));
    client.send(
        &json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": sleep(1)})
            .to_string(),
    );
    assert_eq!(client.receive()["error"]["code"], -32600);
    assert_eq!(client.receive()["result"]["content"][0]["text"], "slept");
}

#[test]
fn progress_goes_to_who_asked() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    client.start("tools/call", json!({"name": "steps", "_meta": {"progressToken": "t"}}));
    let progress = client.receive();
    assert_eq!(progress["method"], "notifications/progress");
    let expected = json!({"progressToken": "t", "progress": 1.0, "total": 2.0, "message": "half"});
    assert_eq!(progress["params"], expected);
    assert_eq!(client.receive()["result"]["content"][0]["text"], "done");
    assert_eq!(client.call("steps", json!({})), "done");
}

#[test]
fn sixty_four_clients_are_served_together() {
    let fixture = Fixture::new();
    std::thread::scope(|scope| {
        for at in 0..64 {
            let fixture = &fixture;
            scope.spawn(move || {
                let mut client = fixture.client();
                for round in 0..50 {
                    let text = format!("{at}-{round}");
                    assert_eq!(client.call("echo", json!({"text": text})), text);
                }
            });
        }
    });
    eventually("they leave", || fixture.server.status().connections == 0);
}

#[test]
fn a_busy_client_does_not_hold_up_another() {
    let fixture = Fixture::new();
    let mut busy = fixture.client();
    for _ in 0..500 {
        busy.start("tools/call", sleep(2_000));
    }
    fixture.started(MAX_RUNNING_PER_CLIENT);
    let mut other = fixture.client();
    let start = Instant::now();
    assert_eq!(other.call("echo", json!({"text": "hi"})), "hi");
    assert!(start.elapsed() < Duration::from_millis(500), "{:?}", start.elapsed());
    assert_eq!(fixture.seen.started.load(Ordering::SeqCst), MAX_RUNNING_PER_CLIENT);
}
