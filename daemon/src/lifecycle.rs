//! The life of the daemon: alone on its socket, ready within milliseconds, gone when nobody needs it.
//!
//! `lock` keeps it the only one of its user, `socket` owns the socket file, `connect` and `spawn`
//! are the client's side of a start, `run` is the daemon's main function. A start is heard over a
//! pipe, never guessed from files: the daemon writes [`READY_LINE`] to its standard output when it
//! listens, and a client that sees the pipe close before that shows what the daemon wrote to its
//! standard error.

use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use crate::paths::PathError;

pub mod connect;
pub mod lock;
pub mod run;
pub mod socket;
pub mod spawn;

pub use connect::connect;
pub use run::{DaemonOptions, run};
pub use spawn::connect_or_start;

/// What a background daemon says on its standard output once clients can connect.
pub const READY_LINE: &str = "ready\n";

/// Why a daemon could not be started or reached.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// A place can't be used.
    #[error(transparent)]
    Path(#[from] PathError),
    /// The lock file can't be used.
    #[error("could not lock `{}`", .path.display())]
    Lock {
        /// The lock file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Another daemon runs already.
    #[error("a daemon is running already{}; see `capstan status`", process(*.pid))]
    Running {
        /// Its process, when it is known.
        pid: Option<u32>,
    },
    /// Another daemon holds the lock and takes no connections.
    #[error(
        "another daemon{} holds the lock but takes no connections, after {} s; \
         end it (`kill{}`) and try again",
        process(*.pid), .waited.as_secs(), .pid.map(|pid| format!(" {pid}")).unwrap_or_default()
    )]
    Held {
        /// Its process, when it is known.
        pid: Option<u32>,
        /// How long it was waited for.
        waited: Duration,
    },
    /// Something that is no socket lies at the socket path.
    #[error("`{}` is not a socket; remove it, or set `CAPSTAN_SOCKET` to another place", .path.display())]
    NotASocket {
        /// The path.
        path: PathBuf,
    },
    /// The socket can't be used.
    #[error("could not {action} `{}`", .path.display())]
    Socket {
        /// What was tried.
        action: &'static str,
        /// The socket.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Somebody else listens at the socket path.
    #[error("the daemon at `{}` belongs to user {owner}; set `CAPSTAN_SOCKET` to a place of your own", .path.display())]
    Foreign {
        /// The socket.
        path: PathBuf,
        /// The user behind it.
        owner: u32,
    },
    /// The daemon's queue is full and stays so.
    #[error("the daemon at `{}` takes no connections; `capstan restart` ends it and starts a new one", .path.display())]
    Stuck {
        /// The socket.
        path: PathBuf,
    },
    /// A log file can't be written.
    #[error("could not open the log `{}`", .path.display())]
    Log {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The system could not run the daemon.
    #[error("could not start the daemon")]
    Spawn(#[source] io::Error),
    /// The daemon ended before it was ready.
    #[error("the daemon ended before it was ready ({status}){}", said(.report))]
    Died {
        /// How it ended.
        status: ExitStatus,
        /// What it wrote to its standard error.
        report: String,
    },
    /// The daemon was not ready in time.
    #[error("the daemon was not ready after {} s; its log is `{}`", .waited.as_secs(), .log.display())]
    TimedOut {
        /// How long it was waited for.
        waited: Duration,
        /// The log.
        log: PathBuf,
    },
}

fn process(pid: Option<u32>) -> String {
    pid.map(|pid| format!(" (process {pid})")).unwrap_or_default()
}

fn said(report: &str) -> String {
    if report.is_empty() { String::new() } else { format!(":\n{report}") }
}
