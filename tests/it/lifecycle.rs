//! The life of the daemon and the manners of the command line, with real processes.

use std::fs::{self, Permissions};
use std::io::{BufReader, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tests::World;

/// How long anything here may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// A world whose daemon, if a client has started one, ends with it.
struct Home(World);

impl Home {
    fn new() -> Self {
        let home = Self(World::new(&std::env::temp_dir()).expect("a world can be made"));
        fs::create_dir(home.folder()).expect("the home is writable");
        home
    }

    /// Where its commands run.
    fn folder(&self) -> PathBuf {
        self.0.home().join("work")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.0.capstan();
        command.args(arguments).current_dir(self.folder()).stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        Ran::from(self.command(arguments).output().expect("the binary runs"))
    }

    fn spawn(&self, arguments: &[&str]) -> Child {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("the binary runs")
    }

    fn status(&self) -> Value {
        let ran = self.run(&["status", "--json"]);
        serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
    }

    fn pid(&self) -> i64 {
        self.status()["pid"].as_i64().expect("a daemon runs")
    }

    /// Listens where the daemon would, to be a daemon of the test's making.
    fn listen(&self) -> UnixListener {
        UnixListener::bind(self.0.socket()).expect("the socket is free")
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        self.run(&["stop"]);
    }
}

/// What a command did.
#[derive(Debug)]
struct Ran {
    exit: Option<i32>,
    out: String,
    err: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            exit: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

fn signal(pid: i64, signal: Signal) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).expect("a process id");
    kill_process(pid, signal).expect("the process is ours");
}

fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "{what}: not within {PATIENCE:?}");
        thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn fifty_clients_at_once_start_one_daemon() {
    let home = Home::new();
    let clients: Vec<Child> = (0..50).map(|_| home.spawn(&["tools"])).collect();
    for client in clients {
        let ran = Ran::from(client.wait_with_output().unwrap());
        assert_eq!((ran.exit, ran.err.as_str()), (Some(0), ""), "{ran:?}");
    }
    let log = fs::read_to_string(home.status()["log"].as_str().unwrap()).unwrap();
    assert_eq!(log.matches(" ready ").count(), 1, "{log}");
}

#[test]
fn a_killed_daemon_is_in_nobodys_way() {
    let home = Home::new();
    assert_eq!(home.run(&["tools"]).exit, Some(0));
    let first = home.pid();
    signal(first, Signal::KILL);
    let socket = home.0.socket();
    wait_until("the socket is dead", || UnixStream::connect(&socket).is_err());
    assert!(socket.exists(), "a killed daemon can't clean up");
    assert_eq!(home.run(&["tools"]).exit, Some(0));
    assert_ne!(home.pid(), first);
}

#[test]
fn sigterm_ends_it_and_takes_the_socket_along() {
    let home = Home::new();
    home.run(&["tools"]);
    signal(home.pid(), Signal::TERM);
    wait_until("the socket is gone", || !home.0.socket().exists());
    let status = home.run(&["status", "--json"]);
    assert_eq!(status.exit, Some(3));
    assert!(status.out.contains(r#""running":false"#), "{status:?}");
}

#[test]
fn stop_and_restart() {
    let home = Home::new();
    assert_eq!(home.run(&["stop"]).out, "no daemon is running\n");
    home.run(&["tools"]);
    let first = home.pid();
    assert_eq!(home.run(&["restart"]).exit, Some(0));
    assert_ne!(home.pid(), first);
    assert_eq!(home.run(&["stop"]).out, "stopped\n");
    assert!(!home.0.socket().exists());
}

#[test]
fn there_is_only_one() {
    let home = Home::new();
    home.run(&["tools"]);
    let pid = home.pid();
    for arguments in [&["daemon"][..], &["daemon", "--detached"]] {
        let ran = home.run(arguments);
        assert_eq!(ran.exit, Some(3));
        let said = format!("a daemon is running already (process {pid})");
        assert!(ran.err.contains(&said), "{ran:?}");
    }
    assert_eq!(home.pid(), pid);
}

#[test]
fn an_idle_daemon_leaves_but_not_under_a_client() {
    let home = Home::new();
    let started = home.run(&["daemon", "--detached", "--idle-exit-minutes=0.005"]);
    assert_eq!(started.exit, Some(0), "{started:?}");
    let connection = UnixStream::connect(home.0.socket()).unwrap();
    // Several times what it would wait for.
    thread::sleep(Duration::from_secs(1));
    assert!(home.0.socket().exists());
    drop(connection);
    wait_until("the daemon has left", || !home.0.socket().exists());
}

#[test]
fn folders_that_others_can_write_are_refused() {
    let home = Home::new();
    let folder = home.0.socket();
    let folder = folder.parent().unwrap();
    let set = |mode| fs::set_permissions(folder, Permissions::from_mode(mode)).unwrap();
    set(0o770);
    for arguments in [&["tools"][..], &["daemon"], &["status"], &["mcp"]] {
        let ran = home.run(arguments);
        assert_eq!(ran.exit, Some(3), "{ran:?}");
        let fix = format!("run `chmod go-w {}`", folder.display());
        assert!(ran.err.contains(&fix), "{ran:?}");
    }
    set(0o700);
    assert_eq!(home.run(&["tools"]).exit, Some(0));
    let mode = home.0.socket().metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_daemon_that_cannot_start_says_why() {
    let home = Home::new();
    fs::create_dir_all(home.0.socket()).unwrap();
    let ran = home.run(&["tools"]);
    assert_eq!(ran.exit, Some(3));
    assert!(ran.err.contains("ended before it was ready"), "{ran:?}");
    assert!(ran.err.contains("is not a socket; remove it"), "{ran:?}");
    fs::remove_dir(home.0.socket()).unwrap();
}

#[test]
fn usage_errors_are_told_apart() {
    let home = Home::new();
    for arguments in [
        &["reed"][..],
        &["read"],
        &["replace", "x", "-s", "1#AAAA"],
        &["call", "read", "[]"],
        &["call", "no-such-tool"],
        &["tools", "--root", "/no/such/folder", "--color", "blue"],
        &["read", "x", "--root", "/no/such/folder"],
        &["daemon", "--http", "0.0.0.0:1"],
    ] {
        let ran = home.run(arguments);
        assert_eq!((ran.exit, ran.out.as_str()), (Some(2), ""), "{arguments:?}: {ran:?}");
        assert!(!ran.err.is_empty());
    }
}

#[test]
fn a_closed_pipe_is_no_error() {
    let home = Home::new();
    let mut child = home.spawn(&["completions", "bash"]);
    drop(child.stdout.take());
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert_eq!((ran.exit, ran.err.as_str()), (Some(0), ""));
}

#[test]
fn completions_and_pages_are_made() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = home.run(&["completions", shell]);
        assert!(ran.exit == Some(0) && ran.out.contains("capstan"), "{shell}: {ran:?}");
    }
    assert!(home.run(&["man"]).out.contains(".TH"));
    assert_eq!(home.run(&["man", "--out", "pages"]).exit, Some(0));
    assert!(home.folder().join("pages/capstan-search.1").is_file());
}

#[test]
fn mistakes_in_the_configuration_are_shown() {
    let home = Home::new();
    let file = home.0.home().join("config/capstan/config.toml");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "[search]\nlimit = 20\ntimeout_ms = 5\n").unwrap();
    home.run(&["tools"]);
    let problems = home.status()["configProblems"].to_string();
    assert!(problems.contains("config.toml:3:1: `search.timeout_ms`"), "{problems}");
    assert!(home.run(&["status"]).err.contains("expected `timeout-ms`"));
}

/// Reads one message of a client.
fn message(reader: &mut impl std::io::BufRead) -> Value {
    let mut line = String::new();
    reader.read_line(&mut line).expect("the client writes");
    serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: `{line}`"))
}

#[test]
fn an_interrupt_cancels_the_call() {
    let home = Home::new();
    let listener = home.listen();
    let client = home.spawn(&["call", "slow"]);
    let (stream, _) = listener.accept().unwrap();
    let mut reader = BufReader::new(stream);
    let call = message(&mut reader);
    assert_eq!(call["method"], "tools/call");
    signal(client.id().into(), Signal::INT);
    let cancelled = message(&mut reader);
    assert_eq!(cancelled["method"], "notifications/cancelled");
    assert_eq!(cancelled["params"]["requestId"], call["id"]);
    let ran = Ran::from(client.wait_with_output().unwrap());
    assert_eq!(ran.exit, Some(130), "{ran:?}");
    drop((reader, listener));
}

#[test]
fn a_daemon_of_another_version_is_named() {
    let home = Home::new();
    let listener = home.listen();
    let client = home.spawn(&["call", "anything", "--session", "mine"]);
    let (stream, _) = listener.accept().unwrap();
    let mut reader = BufReader::new(stream);
    let call = message(&mut reader);
    let meta = &call["params"]["_meta"];
    let root = fs::canonicalize(home.folder()).unwrap();
    assert_eq!((&meta["capstan/session"], &meta["capstan/root"]), (&json!("mine"), &json!(root)));
    let answer = json!({"jsonrpc": "2.0", "id": call["id"], "result": {
        "content": [{"type": "text", "text": "fine"}], "isError": true,
        "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "capstan", "version": "99.0.0"}},
    }});
    writeln!(reader.get_mut(), "{answer}").unwrap();
    let ran = Ran::from(client.wait_with_output().unwrap());
    assert_eq!((ran.exit, ran.out.as_str()), (Some(1), ""), "a tool's failure goes to stderr");
    assert!(ran.err.contains("the running daemon is version 99.0.0"), "{ran:?}");
    assert!(ran.err.contains("`capstan restart`") && ran.err.ends_with("fine\n"), "{ran:?}");
    drop((reader, listener));
}

#[test]
fn a_daemon_that_goes_silent_is_given_up() {
    let home = Home::new();
    let listener = home.listen();
    let ran = home.run(&["status"]);
    assert_eq!(ran.exit, Some(3));
    assert!(ran.err.contains("has not answered"), "{ran:?}");
    drop(listener);
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;

#[test]
fn the_pump_delivers_every_answer_before_it_ends() {
    let home = Home::new();
    let mut pump = home.spawn(&["mcp"]);
    let mut input = pump.stdin.take().unwrap();
    writeln!(input, "{INITIALIZE}").unwrap();
    for id in 0..500 {
        writeln!(input, r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list"}}"#).unwrap();
    }
    drop(input);
    let ran = Ran::from(pump.wait_with_output().unwrap());
    assert_eq!((ran.exit, ran.err.as_str()), (Some(0), ""));
    let answers: Vec<Value> =
        ran.out.lines().map(|line| serde_json::from_str(line).expect("protocol only")).collect();
    assert_eq!(answers.len(), 501, "the answer to `session.open` is swallowed");
    assert!(answers.iter().all(|answer| answer["result"].is_object()));
    let sessions = home.status()["sessions"].clone();
    let root = fs::canonicalize(home.folder()).unwrap();
    assert_eq!(sessions[0]["root"], json!(root));
}

#[test]
fn the_pump_says_when_the_daemon_is_gone() {
    let home = Home::new();
    let mut pump = home.spawn(&["mcp"]);
    let mut input = pump.stdin.take().unwrap();
    writeln!(input, "{INITIALIZE}").unwrap();
    let mut output = BufReader::new(pump.stdout.take().unwrap());
    assert_eq!(message(&mut output)["id"], "i");
    signal(home.pid(), Signal::KILL);
    let mut rest = String::new();
    output.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "");
    let ran = Ran::from(pump.wait_with_output().unwrap());
    assert_eq!(ran.exit, Some(3));
    assert!(ran.err.contains("the daemon closed the connection"), "{ran:?}");
    drop(input);
}

#[test]
fn a_session_lives_from_one_call_to_the_next() {
    let home = Home::new();
    for _ in 0..2 {
        home.run(&["search", "needle"]);
    }
    let names: Vec<Value> = home.status()["sessions"]
        .as_array()
        .map(|sessions| sessions.iter().map(|session| session["name"].clone()).collect())
        .unwrap_or_default();
    assert_eq!(names, [json!("cli")]);
    let id = home.status()["sessions"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(home.run(&["sessions", "--close", &id]).exit, Some(0));
    assert_eq!(home.run(&["sessions"]).out, "");
    assert_eq!(home.run(&["sessions", "--close", &id]).exit, Some(1));
}

#[test]
fn what_the_daemon_writes_is_private() {
    let home = Home::new();
    home.run(&["tools"]);
    let state = home.0.home().join("state/capstan");
    let mut folders = vec![state];
    while let Some(folder) = folders.pop() {
        assert_eq!(mode(&folder) & 0o077, 0, "{}", folder.display());
        for entry in fs::read_dir(&folder).unwrap().flatten() {
            assert_eq!(mode(&entry.path()) & 0o077, 0, "{}", entry.path().display());
            if entry.path().is_dir() {
                folders.push(entry.path());
            }
        }
    }
}

fn mode(path: &Path) -> u32 {
    path.metadata().expect("it exists").permissions().mode()
}
