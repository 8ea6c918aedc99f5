//! Measures the round trip of cheap calls over a real socket: `ping`, `tools/list`, a trivial tool.
//!
//! `cargo run --release -p daemon --example round_trip [calls]`
#![expect(clippy::print_stdout, reason = "its output is what it is for")]

use std::borrow::Cow;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use daemon::server::{Parts, Server};
use daemon::session::{SessionRegistry, SessionState};
use daemon::tool::{CallContext, Tool, ToolOutput, ToolRegistry};
use protocol::mcp::ToolAnnotations;
use serde_json::value::RawValue;
use serde_json::{Value, json};

const OPEN: &str = r#""capstan/session.open","params":{"root":"/"}"#;
const CALL: &str = r#""tools/call","params":{"name":"nothing","arguments":{}}"#;

struct Nothing;

impl Tool for Nothing {
    fn name(&self) -> &'static str {
        "nothing"
    }
    fn title(&self) -> &'static str {
        "Nothing"
    }
    fn description(&self) -> Cow<'static, str> {
        "Does nothing.".into()
    }
    fn annotations(&self) -> ToolAnnotations {
        ToolAnnotations { read_only_hint: true, ..ToolAnnotations::default() }
    }
    fn input_schema(&self) -> Value {
        json!({"type": "object"})
    }
    fn call(&self, _: &CallContext, _: &RawValue) -> ToolOutput {
        ToolOutput::success("done")
    }
}

fn main() -> anyhow::Result<()> {
    let calls = std::env::args().nth(1).map_or(Ok(20_000), |text| text.parse())?;
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("socket");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let listener = {
        let _inside = runtime.enter();
        tokio::net::UnixListener::bind(&path)?
    };
    let server = Server::new(Parts {
        tools: ToolRegistry::new(vec![Arc::new(Nothing)]),
        sessions: SessionRegistry::new(Box::new(|_| SessionState::default())),
        resources: None,
        instructions: String::new(),
    });
    runtime.spawn(async move { server.serve(listener).await });
    floor(calls)?;
    let mut client = Client::connect(&path)?;
    client.call(OPEN)?;
    for (name, request) in
        [("ping", r#""ping""#), ("tools/list", r#""tools/list""#), ("tools/call", CALL)]
    {
        let mut times: Vec<Duration> = Vec::with_capacity(calls);
        for _ in 0..calls {
            times.push(client.time(request)?);
        }
        report(name, times);
    }
    crowd(&path, calls / 64)
}

fn report(name: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |share: usize| times[times.len() * share / 1000];
    println!("{name:12} p50 {:?}  p90 {:?}  p99 {:?}", at(500), at(900), at(990));
}

/// Sixty-four clients that call at once.
fn crowd(path: &std::path::Path, calls: usize) -> anyhow::Result<()> {
    let each = || -> anyhow::Result<Vec<Duration>> {
        let mut client = Client::connect(path)?;
        client.call(OPEN)?;
        (0..calls).map(|_| client.time(CALL)).collect()
    };
    let times = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..64).map(|_| scope.spawn(each)).collect();
        let mut all = Vec::new();
        for client in clients {
            all.extend(client.join().map_err(|_| anyhow::anyhow!("a client panicked"))??);
        }
        anyhow::Ok(all)
    })?;
    report("64 clients", times);
    Ok(())
}

/// What the machine itself takes: two threads that block on a socket pair.
fn floor(calls: usize) -> anyhow::Result<()> {
    let (mut near, mut far) = UnixStream::pair()?;
    let echo = std::thread::spawn(move || {
        let mut buffer = [0; 64];
        while let Ok(count @ 1..) = far.read(&mut buffer) {
            if far.write_all(&buffer[..count]).is_err() {
                break;
            }
        }
    });
    let mut times = Vec::with_capacity(calls);
    let mut buffer = [0; 64];
    for _ in 0..calls {
        let start = Instant::now();
        near.write_all(&[b'x'; 64])?;
        near.read_exact(&mut buffer)?;
        times.push(start.elapsed());
    }
    drop(near);
    echo.join().map_err(|_| anyhow::anyhow!("the echo thread panicked"))?;
    report("(floor)", times);
    Ok(())
}

struct Client {
    to: UnixStream,
    from: BufReader<UnixStream>,
    line: String,
}

impl Client {
    fn connect(path: &std::path::Path) -> anyhow::Result<Self> {
        let to = UnixStream::connect(path).context("connecting")?;
        Ok(Self { from: BufReader::new(to.try_clone()?), to, line: String::new() })
    }

    fn time(&mut self, request: &str) -> anyhow::Result<Duration> {
        let start = Instant::now();
        self.call(request)?;
        Ok(start.elapsed())
    }

    fn call(&mut self, request: &str) -> anyhow::Result<()> {
        self.to.write_all(
            format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":{request}}}\n").as_bytes(),
        )?;
        self.line.clear();
        self.from.read_line(&mut self.line)?;
        anyhow::ensure!(self.line.contains("\"result\""), "{}", self.line);
        Ok(())
    }
}
