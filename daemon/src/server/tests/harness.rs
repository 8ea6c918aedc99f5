//! A server in its own runtime, tools that misbehave on request, and a blocking client.
#![expect(clippy::needless_pass_by_value, reason = "tests read better with `json!` at the call")]

use std::borrow::Cow;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use protocol::mcp::{Resource, ToolAnnotations};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

use crate::server::{Parts, ResourceContent, Resources, Server};
use crate::session::{SessionRegistry, SessionState};
use crate::tool::{CallContext, Tool, ToolCall, ToolOutput, ToolRegistry};

/// What the tools have seen.
#[derive(Default)]
pub(crate) struct Seen {
    pub started: AtomicUsize,
    pub cancelled: AtomicUsize,
    /// The sizes of the batches that were planned together.
    pub planned: Mutex<Vec<usize>>,
}

type Work = Box<dyn Fn(&CallContext, &Value) -> ToolOutput + Send + Sync>;

struct TestTool {
    name: &'static str,
    together: bool,
    work: Work,
}

impl Tool for TestTool {
    fn name(&self) -> &'static str {
        self.name
    }
    fn title(&self) -> &'static str {
        self.name
    }
    fn description(&self) -> Cow<'static, str> {
        "A test tool.".into()
    }
    fn annotations(&self) -> ToolAnnotations {
        ToolAnnotations::default()
    }
    fn input_schema(&self) -> Value {
        json!({"type": "object"})
    }
    fn output_schema(&self) -> Option<Value> {
        Some(json!({"type": "string"}))
    }
    fn planned_together(&self) -> bool {
        self.together
    }
    fn call(&self, context: &CallContext, arguments: &RawValue) -> ToolOutput {
        (self.work)(context, &serde_json::from_str(arguments.get()).unwrap())
    }
}

struct Docs;

impl Resources for Docs {
    fn list(&self) -> Vec<Resource> {
        let (title, description, mime_type) = Default::default();
        vec![Resource { uri: "docs:a".into(), name: "a".into(), title, description, mime_type }]
    }
    fn read(&self, uri: &str) -> Option<ResourceContent> {
        (uri == "docs:a")
            .then(|| ResourceContent { mime_type: "text/plain".into(), text: "A".into() })
    }
}

/// `echo`, `sleep`, `panic`, `big`, `steps`, `where` and the planned `edit`.
pub(crate) fn tools(seen: &Arc<Seen>) -> ToolRegistry {
    let tool = |name, together, work: Work| -> Arc<dyn Tool> {
        Arc::new(TestTool { name, together, work })
    };
    let (sleeping, planning) = (Arc::clone(seen), Arc::clone(seen));
    let tools = vec![
        tool(
            "echo",
            false,
            Box::new(|_, arguments| {
                let text = arguments["text"].as_str().unwrap_or_default();
                ToolOutput::success(text).with_data(json!(text)).with_result(uuid::Uuid::nil())
            }),
        ),
        tool(
            "sleep",
            false,
            Box::new(move |context, arguments| sleep(&sleeping, context, arguments)),
        ),
        tool("panic", false, Box::new(|_, _| panic!("a test panic"))),
        tool(
            "big",
            false,
            Box::new(|_, arguments| {
                ToolOutput::success(
                    "x".repeat(usize::try_from(arguments["bytes"].as_u64().unwrap()).unwrap()),
                )
            }),
        ),
        tool(
            "steps",
            false,
            Box::new(|context, _| {
                context.progress.report(1.0, Some(2.0), Some("half"));
                ToolOutput::success("done")
            }),
        ),
        tool(
            "where",
            false,
            Box::new(|context, _| {
                let root = context.session.root().map(|root| root.display().to_string());
                ToolOutput::success(format!(
                    "{} {}",
                    context.session.id(),
                    root.unwrap_or_default()
                ))
            }),
        ),
        tool("edit", true, Box::new(|_, _| ToolOutput::success("alone"))),
    ];
    let planner = move |calls: &[ToolCall]| {
        planning.planned.lock().unwrap().push(calls.len());
        calls.iter().map(|_| ToolOutput::success("together")).collect()
    };
    ToolRegistry::new(tools).with_planner(Box::new(planner))
}

fn sleep(seen: &Seen, context: &CallContext, arguments: &Value) -> ToolOutput {
    seen.started.fetch_add(1, Ordering::SeqCst);
    let end = Instant::now() + Duration::from_millis(arguments["ms"].as_u64().unwrap());
    while Instant::now() < end {
        if context.cancel.is_cancelled() {
            seen.cancelled.fetch_add(1, Ordering::SeqCst);
            return ToolOutput::failure(anchors::ErrorCode::Cancelled, "stopped");
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    ToolOutput::success("slept")
}

pub(crate) struct Fixture {
    pub server: Arc<Server>,
    pub seen: Arc<Seen>,
    pub runtime: Runtime,
    pub path: PathBuf,
    pub serving: JoinHandle<std::io::Result<()>>,
    _folder: TempDir,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let listener = {
            let _inside = runtime.enter();
            tokio::net::UnixListener::bind(&path).unwrap()
        };
        let seen = Arc::<Seen>::default();
        let server = Server::new(Parts {
            tools: tools(&seen),
            sessions: SessionRegistry::new(Box::new(|_| SessionState::default())),
            resources: Some(Box::new(Docs)),
            instructions: "be good".into(),
        });
        let serving = runtime.spawn({
            let server = Arc::clone(&server);
            async move { server.serve(listener).await }
        });
        Self { server, seen, runtime, path, serving, _folder: folder }
    }

    /// A connection that has not said anything.
    pub(crate) fn connect(&self) -> Client {
        Client::connect(&self.path)
    }

    /// A connection with a session in `/work`.
    pub(crate) fn client(&self) -> Client {
        let mut client = self.connect();
        client.ok("capstan/session.open", json!({"root": "/work"}));
        client
    }

    /// A connection after the handshake, asking for `version` with these capabilities.
    pub(crate) fn shake(&self, version: &str, capabilities: Value) -> (Client, Value) {
        let mut client = self.connect();
        let hello = json!({
            "protocolVersion": version,
            "capabilities": capabilities,
            "clientInfo": {"name": "test", "version": "1"},
        });
        let answer = client.ok("initialize", hello);
        client.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        (client, answer)
    }

    /// Waits until `count` sleeps run or have run.
    pub(crate) fn started(&self, count: usize) {
        eventually("the calls start", || self.seen.started.load(Ordering::SeqCst) >= count);
    }
}

/// Waits for `condition`, for two seconds at most.
pub(crate) fn eventually(what: &str, condition: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(2);
    while !condition() {
        assert!(Instant::now() < end, "timed out: {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A client that reads and writes lines.
pub(crate) struct Client {
    pub to: UnixStream,
    from: BufReader<UnixStream>,
    next_id: i64,
}

impl Client {
    fn connect(path: &Path) -> Self {
        let to = UnixStream::connect(path).unwrap();
        to.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        Self { from: BufReader::new(to.try_clone().unwrap()), to, next_id: 1 }
    }

    pub(crate) fn send(&mut self, line: &str) {
        self.to.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// The next message; `null` at the end of the stream.
    pub(crate) fn receive(&mut self) -> Value {
        let mut line = String::new();
        match self.from.read_line(&mut line) {
            Ok(0) => Value::Null,
            Ok(_) => serde_json::from_str(&line).unwrap(),
            Err(error) => panic!("no answer: {error}"),
        }
    }

    /// Sends a request without waiting; gives its id.
    pub(crate) fn start(&mut self, method: &str, params: Value) -> i64 {
        let id = self.next_id;
        self.next_id += 1;
        self.send(
            &json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string(),
        );
        id
    }

    /// Sends a request and waits for the whole answer.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.start(method, params);
        let answer = self.receive();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// Sends a request that succeeds; gives its result.
    pub(crate) fn ok(&mut self, method: &str, params: Value) -> Value {
        let answer = self.ask(method, params);
        assert!(answer.get("error").is_none(), "{answer}");
        answer["result"].clone()
    }

    /// Sends a request that fails; gives the error's code.
    pub(crate) fn code(&mut self, method: &str, params: Value) -> i64 {
        let answer = self.ask(method, params);
        answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("no error: {answer}"))
    }

    /// Calls a tool; gives its text.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.ok("tools/call", json!({"name": tool, "arguments": arguments}));
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }

    /// The connection still works.
    pub(crate) fn lives(&mut self) {
        assert_eq!(self.ok("ping", json!({})), json!({}));
    }
}
