//! Parameters and results of the `capstan/*` methods.
//!
//! Paths travel as text: an absolute path, or a percent-encoded `file:` URL when the path is not
//! UTF-8. Times are milliseconds.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Parameters of `capstan/session.open`: attaches to the session with that id, or to the one with
/// that root and name, or opens it. The connection's later requests belong to it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionOpenParams {
    /// The workspace root; optional with the id of an open session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    /// An id of an open session, or a name that, with the root, identifies a session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The tool profile: `ide` (default), `full` or `pi`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// MCP's envelope member; ignored.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<crate::mcp::Object>,
}

/// What `capstan/session.open` answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionOpenResult {
    /// The session.
    pub session: SessionInfo,
    /// Whether it was opened just now, and not attached to.
    pub opened: bool,
}

/// One open session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionInfo {
    /// Its id.
    pub id: Uuid,
    /// Its workspace root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    /// Its name, unique per root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Milliseconds since it was opened.
    pub age_ms: u64,
    /// Milliseconds since its last call ended; 0 while one runs.
    pub idle_ms: u64,
    /// Connections that are bound to it.
    pub connections: usize,
    /// Calls that run in it.
    pub running: usize,
}

/// What `capstan/session.list` answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionListResult {
    /// The open sessions, oldest first.
    pub sessions: Vec<SessionInfo>,
}

/// Parameters of `capstan/session.close`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionCloseParams {
    /// The id of the session.
    pub session: Uuid,
}

/// What `capstan/session.close` answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionCloseResult {
    /// Whether a session was open under that id.
    pub closed: bool,
}

/// What `capstan/status` answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusResult {
    /// The daemon's version.
    pub version: String,
    /// Its process id.
    pub pid: u32,
    /// Milliseconds since it started.
    pub uptime_ms: u64,
    /// Resident memory in bytes; 0 when the system does not tell.
    pub memory_bytes: u64,
    /// Open connections, this one included.
    pub connections: usize,
    /// Calls that run now.
    pub running_calls: usize,
    /// Whether it is stopping.
    pub draining: bool,
    /// The open sessions.
    pub sessions: Vec<SessionInfo>,
    /// The distinct workspace roots of the sessions.
    pub workspaces: Vec<String>,
    /// The address of the HTTP door, when it is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http: Option<String>,
}

/// What `capstan/shutdown` answers, before the daemon drains.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShutdownResult {
    /// Calls that the daemon waits for, the bound being its drain time.
    pub running_calls: usize,
}

/// What `capstan/events.subscribe` answers; `notifications/capstan/event` messages follow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubscribeResult {
    /// Always true.
    pub subscribed: bool,
}

/// Parameters of `notifications/capstan/event`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Event {
    /// A session was opened.
    SessionOpened {
        /// Its id.
        session: Uuid,
        /// Its root.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        root: Option<String>,
    },
    /// A session was closed, by request, or because it was the longest idle one at the bound.
    SessionClosed {
        /// Its id.
        session: Uuid,
    },
    /// A tool call ended.
    CallFinished {
        /// Its session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<Uuid>,
        /// The tool.
        tool: String,
        /// Whether it succeeded.
        ok: bool,
        /// How long it ran.
        elapsed_ms: u64,
    },
    /// The configuration was read again.
    ConfigReloaded {
        /// How many mistakes the files have.
        problems: usize,
    },
    /// The tool list changed.
    ToolsChanged,
    /// The daemon drains and will end.
    ShuttingDown,
    /// This subscriber read too slowly; events are missing here.
    Lagged {
        /// How many.
        missed: u64,
    },
}
