//! What the tests share: a daemon in a home of its own, sessions with it, its answers.
//!
//! Everything here panics when it fails: a test has nothing better to do.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tests::World;

/// How long one answer may take on a busy machine.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(120);

/// A running daemon; killed when dropped.
pub(crate) struct Daemon {
    child: Child,
    workspaces: AtomicUsize,
    world: World,
}

impl Daemon {
    /// Starts one in a new home.
    pub(crate) fn start() -> Self {
        Self::start_with(&[])
    }

    /// Starts one with further arguments.
    pub(crate) fn start_with(arguments: &[&str]) -> Self {
        let world = World::new(&std::env::temp_dir()).expect("a world can be made");
        let child = spawn(&world, arguments);
        Self { child, workspaces: AtomicUsize::new(0), world }
    }

    /// A new, empty workspace.
    pub(crate) fn workspace(&self) -> PathBuf {
        let number = self.workspaces.fetch_add(1, Ordering::Relaxed);
        let path = self.world.home().join(format!("workspace {number}"));
        std::fs::create_dir(&path).expect("a folder");
        std::fs::canonicalize(path).expect("it exists")
    }

    /// A connection with a session of its own in that workspace.
    pub(crate) fn session(&self, workspace: &Path) -> Session {
        let mut session = Session::over(self.connect());
        session.request("capstan/session.open", &json!({"root": workspace}));
        session
    }

    /// A bare connection.
    pub(crate) fn connect(&self) -> UnixStream {
        UnixStream::connect(self.world.socket()).expect("the daemon listens")
    }

    /// Where it serves HTTP.
    pub(crate) fn http_address(&self) -> String {
        let status = Session::over(self.connect()).request("capstan/status", &json!({}));
        status["http"].as_str().expect("it was started with `--http`").to_owned()
    }

    /// Where it keeps what outlives it.
    pub(crate) fn state_dir(&self) -> PathBuf {
        self.world.state_dir()
    }

    /// The user's configuration file, which may not exist.
    pub(crate) fn config_file(&self) -> PathBuf {
        self.world.home().join("config/capstan/config.toml")
    }

    /// The binary.
    pub(crate) fn binary(&self) -> &Path {
        self.world.binary()
    }

    /// `command` in the daemon's home and in that folder.
    #[expect(clippy::needless_pass_by_value, reason = "callers make it in place")]
    pub(crate) fn command_in(&self, command: Command, folder: &Path) -> Command {
        let mut inside = self.world.command(command.get_program());
        inside.args(command.get_args()).current_dir(folder);
        inside
    }

    /// `kill -9`.
    pub(crate) fn kill(&mut self) {
        self.child.kill().expect("the daemon is ours");
        self.child.wait().expect("the daemon is ours");
    }

    /// Starts a daemon in the home of one that was killed.
    pub(crate) fn restart(&mut self) {
        self.child = spawn(&self.world, &[]);
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts a daemon and waits until it says that clients can connect.
fn spawn(world: &World, arguments: &[&str]) -> Child {
    let report = world.home().join("report");
    let stderr = std::fs::File::create(&report).expect("the home is writable");
    let mut command = world.capstan();
    command
        .args(["daemon", "--background"])
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    let mut child = command.stderr(stderr).spawn().expect("the binary runs");
    let mut line = String::new();
    let stdout = child.stdout.take().expect("it is a pipe");
    BufReader::new(stdout).read_line(&mut line).expect("it is readable");
    if line != "ready\n" {
        let _ = child.kill();
        let report = std::fs::read_to_string(report).unwrap_or_default();
        panic!("the daemon could not start ({:?}): {report}", child.wait());
    }
    child
}

/// A connection that is bound to a session.
pub(crate) struct Session {
    writer: UnixStream,
    reader: BufReader<UnixStream>,
    last_id: u64,
}

impl Session {
    fn over(writer: UnixStream) -> Self {
        writer.set_read_timeout(Some(ANSWER_TIMEOUT)).expect("a timeout");
        let reader = BufReader::new(writer.try_clone().expect("a second handle"));
        Self { writer, reader, last_id: 0 }
    }

    /// Calls a tool and waits for its answer.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Answer {
        let result = self.request("tools/call", &json!({"name": tool, "arguments": arguments}));
        let parts = result["content"].as_array().cloned().unwrap_or_default();
        let texts: Vec<&str> = parts.iter().filter_map(|part| part["text"].as_str()).collect();
        Answer { text: texts.join("\n"), is_error: result["isError"] == true }
    }

    /// Calls a tool and does not wait.
    pub(crate) fn send(&mut self, tool: &str, arguments: &Value) {
        self.write("tools/call", &json!({"name": tool, "arguments": arguments}));
    }

    /// The result of any method.
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> Value {
        let id = self.write(method, params);
        loop {
            let mut line = String::new();
            let count = self.reader.read_line(&mut line).expect("an answer in time");
            assert!(count > 0, "the daemon closed the connection instead of answering `{method}`");
            let mut message: Value = serde_json::from_str(&line).expect("a line is JSON");
            if message["id"] == id {
                assert!(message.get("error").is_none(), "`{method}` was refused: {message}");
                return message["result"].take();
            }
        }
    }

    fn write(&mut self, method: &str, params: &Value) -> u64 {
        self.last_id += 1;
        let id = self.last_id;
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        writeln!(self.writer, "{message}").expect("the daemon reads");
        id
    }
}

/// What a tool answered.
#[derive(Debug)]
pub(crate) struct Answer {
    /// All its text.
    pub(crate) text: String,
    /// Whether it failed.
    pub(crate) is_error: bool,
}

impl Answer {
    /// The anchor of the line that shows exactly `line`.
    pub(crate) fn anchor_of(&self, line: &str) -> String {
        let found = self.text.lines().find_map(|shown| {
            let (anchor, text) = shown.split_once('│')?;
            (text == line).then(|| anchor.trim().to_owned())
        });
        found.unwrap_or_else(|| panic!("no line `{line}` in:\n{}", self.text))
    }

    /// The `SEARCH#…` of a search, without an item.
    pub(crate) fn search_id(&self) -> Option<String> {
        let rest = &self.text[self.text.find("SEARCH#")?..];
        rest.find(':').map(|colon| rest[..colon].to_owned())
    }
}
