//! Garbage on the socket hurts nobody but its sender.

use std::io::{Read as _, Write as _};
use std::time::Duration;

use serde_json::json;

use crate::support::Daemon;

const MESSAGES: usize = 3_000;

/// Valid messages, which the fuzzer bends and breaks.
const SEEDS: &[&str] = &[
    r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"f","version":"1"}}}"#,
    r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"read","arguments":{"path":"a.txt","offset":-1,"limit":3,"views":["anchors"]},"_meta":{"progressToken":1}}}"#,
    r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"search","arguments":{"query":"regex:a+","path":["."],"context":2}}}"#,
    r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"replace","arguments":{"path":"a.txt","start":"1#0000","end":"end","text":"x"}}}"#,
    r#"[{"jsonrpc":"2.0","id":4,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4}}]"#,
    r#"{"jsonrpc":"2.0","id":5,"method":"capstan/session.open","params":{"root":"ROOT"}}"#,
    r#"{"jsonrpc":"2.0","id":6,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#,
];

/// xorshift: the same bytes on every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % bound as u64).expect("it is below a usize")
    }

    fn message(&mut self, root: &str) -> Vec<u8> {
        let seed = SEEDS[self.below(SEEDS.len())].replace("ROOT", root);
        let mut bytes = seed.into_bytes();
        for _ in 0..self.below(4) {
            let at = self.below(bytes.len());
            match self.below(6) {
                0 => bytes.truncate(at),
                1 => bytes[at] = u8::try_from(self.below(256)).expect("a byte"),
                2 => drop(bytes.drain(at..(at + 1 + self.below(8)).min(bytes.len()))),
                3 => bytes.splice(at..at, b"null".iter().copied()).for_each(drop),
                4 => bytes.splice(at..at, vec![b'['; self.below(3_000)]).for_each(drop),
                _ => bytes.splice(at..at, SEEDS[self.below(SEEDS.len())].bytes()).for_each(drop),
            }
            if bytes.is_empty() {
                break;
            }
        }
        bytes.retain(|byte| *byte != b'\n');
        bytes.push(b'\n');
        bytes
    }
}

#[test]
fn garbage_hurts_nobody_else() {
    let daemon = Daemon::start();
    let workspace = daemon.workspace();
    std::fs::write(workspace.join("a.txt"), "one\n").expect("a file");
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    // A small tree: whatever is searched by accident is searched at once.
    let root = workspace.display().to_string();
    let mut sent = 0;
    while sent < MESSAGES {
        let mut socket = daemon.connect();
        let mut reader = socket.try_clone().expect("a second handle");
        let drain = std::thread::spawn(move || {
            reader.set_read_timeout(Some(Duration::from_secs(30))).expect("a timeout");
            let mut bytes = Vec::new();
            reader.read_to_end(&mut bytes).map(|_| bytes)
        });
        for _ in 0..100 {
            if socket.write_all(&random.message(&root)).is_err() {
                break;
            }
            sent += 1;
        }
        socket.shutdown(std::net::Shutdown::Write).expect("still connected");
        let answers = drain.join().expect("no panic").expect("the daemon closes in the end");
        for line in answers.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            serde_json::from_slice::<serde_json::Value>(line).expect("every answer is JSON");
        }
    }
    let mut session = daemon.session(&workspace);
    assert!(session.call("read", &json!({"path": "a.txt"})).text.ends_with("one\n"));
}
