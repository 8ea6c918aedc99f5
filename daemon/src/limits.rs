//! The bounds of the daemon itself, each with its reason.

use std::time::Duration;

/// Requests of one connection that may run or wait for a thread at once. A client beyond it is not
/// read from until one ends, so its memory is bounded by this times the line bound.
pub const MAX_IN_FLIGHT: usize = 64;

/// Answers of one connection that wait to be written, in bytes. Two lines of the largest size: a
/// client that does not read its answers holds no more than this.
pub const MAX_OUTPUT_BYTES: usize = 32 * 1024 * 1024;

/// A client that has not taken a single byte for this long is disconnected.
pub const WRITE_TIMEOUT: Duration = Duration::from_secs(30);

/// Open connections. Each costs a task and a few kilobytes; this stops runaway clients.
pub const MAX_CONNECTIONS: usize = 512;

/// Open sessions. Beyond it the longest idle one without a connection is closed.
pub const MAX_SESSIONS: usize = 256;

/// Characters of a session's name.
pub const MAX_SESSION_NAME_CHARS: usize = 128;

/// Tool calls of all connections that run at once on blocking threads. Calls mostly wait for the
/// disk, so this is larger than the number of cores; more calls wait their turn.
pub const MAX_RUNNING_CALLS: usize = 64;

/// Threads for the independent calls of one batch.
pub const BATCH_THREADS: usize = 4;

/// Messages of one batch. An array has no other bound than the line's bytes.
pub const MAX_BATCH: usize = 1000;

/// Shortest time between two progress notifications of one call: fast enough for a moving bar.
pub const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);

/// Events that wait for a slow subscriber; the oldest are dropped and counted.
pub const MAX_QUEUED_EVENTS: usize = 256;

/// How long a stopping daemon waits for running calls before it cancels them.
pub const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);

/// How long it then waits for the cancelled ones; they look at their signal every few milliseconds.
pub const CANCEL_GRACE: Duration = Duration::from_secs(2);

/// How long a client has to answer `roots/list`.
pub const ROOTS_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a client may cache lists and `server/discover`, in milliseconds. Changes are announced,
/// so this only bounds how long a client without a subscription stays behind.
pub const LIST_TTL_MS: u64 = 60_000;
