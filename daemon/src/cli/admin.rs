//! The commands about the daemon itself: status, sessions, tools, stop, restart.

use std::time::{Duration, Instant};

use protocol::capstan::{
    SessionCloseParams, SessionCloseResult, SessionInfo, SessionListResult, ShutdownResult,
    StatusResult,
};
use protocol::mcp::ListToolsResult;
use protocol::names::method;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::args::{Global, Sessions};
use super::output::Output;
use super::place::Place;
use super::serve::connect_if_up;
use super::{CliError, Exit, note_difference, start};
use crate::client::build::{self, daemon_pid};
use crate::client::call::envelope;
use crate::client::{Client, ClientError};
use crate::config::{ConfigProblem, ConfigSources, store};
use crate::lifecycle::lock::{self, Lock};
use crate::lifecycle::{self, StartError};
use crate::limits::{LOCK_POLL, STOP_TIMEOUT};
use crate::logs;
use crate::paths::Paths;

/// How long the daemon may be silent when it is only asked about itself.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long a daemon that was told to terminate has, beyond its drain, before it is killed.
const KILL_AFTER: Duration = Duration::from_secs(3);

/// The ids that `[modules]` may switch.
pub(super) fn module_ids() -> Vec<&'static str> {
    crate::compose::module_ids()
}

/// `capstan status`.
pub(super) fn status(global: &Global, output: &Output) -> Result<Exit, CliError> {
    let paths = Paths::from_env()?;
    let problems = problems(&paths, global);
    let Some(client) = connect_if_up(&paths)? else {
        if output.json {
            let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
            output.value(
                &json!({"running": false, "socket": paths.socket, "configProblems": problems}),
            )?;
        } else {
            output.lines(&["no daemon is running".to_owned()])?;
            report(&problems, output);
        }
        return Ok(Exit::Unreachable);
    };
    let mut client = client.patience(PATIENCE);
    let status: StatusResult = client.request(method::STATUS, json!({}))?;
    if output.json {
        output.value(&status_value(&status, &client, &paths, &problems))?;
        return Ok(Exit::Done);
    }
    output.lines(&status_lines(&status, &paths, output))?;
    report(&problems, output);
    note_difference(output, Some(&status.version), &client);
    Ok(Exit::Done)
}

fn status_value(
    status: &StatusResult,
    client: &Client,
    paths: &Paths,
    problems: &[ConfigProblem],
) -> Value {
    let mut value = json!(status);
    value["running"] = json!(true);
    value["socket"] = json!(paths.socket);
    value["log"] = json!(logs::file(&paths.log_dir()));
    value["clientVersion"] = json!(build::VERSION);
    value["difference"] = json!(build::difference(Some(&status.version), client.stream()));
    value["configProblems"] = problems.iter().map(|problem| json!(problem.to_string())).collect();
    value
}

fn status_lines(status: &StatusResult, paths: &Paths, output: &Output) -> Vec<String> {
    let uptime = duration(Duration::from_millis(status.uptime_ms));
    let draining = if status.draining { ", stopping" } else { "" };
    let mut lines = vec![
        output.heading(&format!("capstan {}", status.version)),
        format!("process      {}, up {uptime}{draining}", status.pid),
        format!("memory       {}", bytes(status.memory_bytes)),
        format!("connections  {}", status.connections),
        format!("calls        {} running", status.running_calls),
        format!("socket       {}", paths.socket.display()),
        format!("log          {}", logs::file(&paths.log_dir()).display()),
    ];
    lines.extend(status.http.iter().map(|address| format!("http         {address}")));
    lines.push(format!("workspaces   {}", status.workspaces.len()));
    lines.extend(status.workspaces.iter().map(|root| format!("  {root}")));
    lines.push(format!("sessions     {}", status.sessions.len()));
    lines.extend(status.sessions.iter().map(|session| format!("  {}", session_line(session))));
    lines
}

fn session_line(session: &SessionInfo) -> String {
    let name = session.name.as_deref().unwrap_or("-");
    let root = session.root.as_deref().unwrap_or("-");
    let state = match (session.running, session.connections) {
        (0, _) => format!("idle {}", duration(Duration::from_millis(session.idle_ms))),
        (running, _) => format!("{running} running"),
    };
    format!("{}  {name}  {root}  {state}", session.id)
}

fn problems(paths: &Paths, global: &Global) -> Vec<ConfigProblem> {
    let sources = ConfigSources {
        user_file: paths.user_config(),
        modules: module_ids(),
        ..ConfigSources::default()
    };
    let place = Place::find(global.root.as_deref()).ok();
    store::problems(sources.with_environment(), place.as_ref().map(|place| place.root.as_path()))
}

fn report(problems: &[ConfigProblem], output: &Output) {
    for problem in problems {
        output.note("config", &problem.to_string());
    }
}

/// `capstan sessions`.
pub(super) fn sessions(args: &Sessions, output: &Output) -> Result<Exit, CliError> {
    let client = connect_if_up(&Paths::from_env()?)?;
    let Some(mut client) = client.map(|client| client.patience(PATIENCE)) else {
        if args.close.is_some() {
            return Err(ClientError::NotRunning.into());
        }
        // Without a daemon there are none.
        if output.json {
            output.value(&json!({"sessions": []}))?;
        }
        return Ok(Exit::Done);
    };
    let Some(session) = args.close else {
        let list: SessionListResult = client.request(method::SESSION_LIST, json!({}))?;
        if output.json {
            output.value(&json!(list))?;
        } else {
            output.lines(&list.sessions.iter().map(session_line).collect::<Vec<_>>())?;
        }
        return Ok(Exit::Done);
    };
    let closed: SessionCloseResult =
        client.request(method::SESSION_CLOSE, SessionCloseParams { session })?;
    if output.json {
        output.value(&json!(closed))?;
    } else if !closed.closed {
        output.failure(&format!("no open session has the id {session}"));
    }
    Ok(if closed.closed { Exit::Done } else { Exit::ToolFailed })
}

/// `capstan tools`.
pub(super) fn tools(output: &Output) -> Result<Exit, CliError> {
    let mut client = start()?;
    let params = json!({"_meta": envelope(None, None, output.json)});
    if output.json {
        let list: Value = client.request(method::TOOLS_LIST, params)?;
        output.value(&json!({"tools": list["tools"]}))?;
        return Ok(Exit::Done);
    }
    let list: ListToolsResult = client.request(method::TOOLS_LIST, params)?;
    let mut lines = Vec::new();
    for tool in &list.tools {
        lines.push(output.heading(&tool.name));
        lines.push(format!("  {}", tool.description));
        lines.push(format!("  {}", parameters(&tool.input_schema)));
    }
    output.lines(&lines)?;
    Ok(Exit::Done)
}

/// The parameters of a tool in one line; required ones are marked.
fn parameters(schema: &Value) -> String {
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let Some(properties) = schema["properties"].as_object() else { return String::new() };
    let names = properties.keys().map(|name| {
        let mark = if required.iter().any(|required| required == name) { "*" } else { "" };
        format!("{name}{mark}")
    });
    names.collect::<Vec<_>>().join(" ")
}

/// `capstan stop`.
pub(super) fn stop(output: &Output) -> Result<Exit, CliError> {
    let paths = Paths::from_env()?;
    let stopped = end(&paths, output)?;
    if output.json {
        output.value(&json!({"stopped": stopped}))?;
    } else {
        output.lines(&[if stopped { "stopped" } else { "no daemon is running" }.to_owned()])?;
    }
    Ok(Exit::Done)
}

/// `capstan restart`.
pub(super) fn restart(output: &Output) -> Result<Exit, CliError> {
    let paths = Paths::from_env()?;
    end(&paths, output)?;
    let mut client = Client::start(&paths)?.patience(PATIENCE);
    let status: StatusResult = client.request(method::STATUS, json!({}))?;
    if output.json {
        output.value(&json!({"version": status.version, "pid": status.pid}))?;
    } else {
        output.lines(&[format!("capstan {} runs as process {}", status.version, status.pid)])?;
    }
    note_difference(output, Some(&status.version), &client);
    Ok(Exit::Done)
}

/// Ends the daemon: asks it, tells it, kills it, in this order. Whether there was one.
fn end(paths: &Paths, output: &Output) -> Result<bool, CliError> {
    let mut asked = false;
    let pid = match lifecycle::connect(paths) {
        Ok(Some(stream)) => {
            let pid = daemon_pid(&stream);
            let mut client = Client::over(stream).patience(PATIENCE);
            let answer = client.request::<ShutdownResult>(method::SHUTDOWN, json!({}));
            if let Ok(ShutdownResult { running_calls: calls @ 1.. }) = answer {
                output.note("note", &format!("waiting for {calls} running calls"));
            }
            // A daemon that closes the connection instead of answering is ending too.
            asked = matches!(answer, Ok(_) | Err(ClientError::Lost(_)));
            pid
        }
        Ok(None) | Err(StartError::Stuck { .. }) => None,
        Err(error) => return Err(error.into()),
    };
    if asked && ends_within(paths, STOP_TIMEOUT)? {
        return Ok(true);
    }
    // Nobody listens; a daemon that hangs, starts or drains still holds the lock.
    if ends_within(paths, Duration::ZERO)? {
        return Ok(asked);
    }
    let holder = lock::holder(&paths.lock_file()).and_then(|pid| i32::try_from(pid).ok());
    let Some(pid) = pid.or(holder).and_then(Pid::from_raw) else {
        return Err(StartError::Held { pid: None, waited: STOP_TIMEOUT }.into());
    };
    for signal in [Signal::TERM, Signal::KILL] {
        // It may have ended just now.
        let _ = kill_process(pid, signal);
        let patience = if asked { KILL_AFTER } else { STOP_TIMEOUT.min(KILL_AFTER * 3) };
        if ends_within(paths, patience)? {
            if signal == Signal::KILL {
                output.note("note", "the daemon did not answer and was killed");
            }
            return Ok(true);
        }
    }
    let pid = u32::try_from(pid.as_raw_nonzero().get()).ok();
    Err(StartError::Held { pid, waited: STOP_TIMEOUT }.into())
}

/// Whether nobody holds the daemon's lock, now or soon.
fn ends_within(paths: &Paths, patience: Duration) -> Result<bool, CliError> {
    let path = paths.lock_file();
    if !path.exists() {
        return Ok(true);
    }
    let deadline = Instant::now() + patience;
    loop {
        let taken = Lock::try_take(&path);
        if taken.map_err(|source| StartError::Lock { path: path.clone(), source })?.is_some() {
            return Ok(true);
        }
        if Instant::now() >= deadline {
            return Ok(false);
        }
        std::thread::sleep(LOCK_POLL);
    }
}

fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        3600..86400 => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
        _ => format!("{} d {} h", seconds / 86400, seconds / 3600 % 24),
    }
}

fn bytes(count: u64) -> String {
    let tenths = count * 10 / (1024 * 1024);
    format!("{}.{} MiB", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_for_people() {
        assert_eq!(duration(Duration::from_secs(59)), "59 s");
        assert_eq!(duration(Duration::from_secs(7260)), "2 h 1 min");
        assert_eq!(duration(Duration::from_secs(90_000)), "1 d 1 h");
        assert_eq!(bytes(3 * 1024 * 1024 + 512 * 1024), "3.5 MiB");
    }

    #[test]
    fn parameters_mark_what_is_required() {
        let schema = json!({"properties": {"path": {}, "query": {}}, "required": ["query"]});
        assert_eq!(parameters(&schema), "path query*");
    }
}
