//! The bounds of the daemon itself, each with its reason.

use std::time::Duration;

/// Calls of one client that run at once; more wait. Calls mostly wait for the disk, so this is
/// larger than the number of cores, and small enough that one client cannot take every thread.
pub const MAX_RUNNING_PER_CLIENT: usize = 32;

/// Bytes of requests of one connection that run or wait, each counted as at least
/// [`MIN_REQUEST_BYTES`]. Beyond it nothing more is read from that connection. Two lines of the
/// largest size, or some two thousand small requests.
pub const MAX_REQUEST_BYTES: usize = 2 * protocol::names::MAX_LINE_BYTES;

/// What a request costs at least: its task, context and a bounded answer.
pub const MIN_REQUEST_BYTES: usize = 16 * 1024;

/// Open `subscriptions/listen` requests of one client.
pub const MAX_LISTENS: usize = 16;

/// Answers of one connection that wait to be written, in bytes, beyond which nothing more is read
/// from it. Answers of calls that already run still join the queue, and each is bounded itself.
pub const MAX_OUTPUT_BYTES: usize = 4 * 1024 * 1024;

/// Waiting bytes beyond which progress and other droppable notifications are dropped.
pub const CROWDED_OUTPUT_BYTES: usize = 256 * 1024;

/// A client that has not taken a single byte for this long is disconnected.
pub const WRITE_TIMEOUT: Duration = Duration::from_secs(30);

/// Open connections. Each costs a task and a few kilobytes; this stops runaway clients.
pub const MAX_CONNECTIONS: usize = 512;

/// Open sessions. Beyond it the longest idle one without a connection is closed.
pub const MAX_SESSIONS: usize = 256;

/// Characters of a session's name.
pub const MAX_SESSION_NAME_CHARS: usize = 128;

/// Threads for the independent calls of one batch.
pub const BATCH_THREADS: usize = 4;

/// Messages of one batch. An array has no other bound than the line's bytes.
pub const MAX_BATCH: usize = 1000;

/// Shortest time between two progress notifications of one call: fast enough for a moving bar.
pub const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);

/// Events that wait for a slow subscriber; the oldest are dropped and counted.
pub const MAX_QUEUED_EVENTS: usize = 256;

/// How long a stopping daemon waits for running calls before it cancels them.
pub const DRAIN_TIMEOUT: Duration = Duration::from_secs(5);

/// How long it then waits for the cancelled ones; they look at their signal every few milliseconds.
pub const CANCEL_GRACE: Duration = Duration::from_secs(2);

/// How long a client has to answer `roots/list`.
pub const ROOTS_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a client may cache lists and `server/discover`, in milliseconds. Changes are announced,
/// so this only bounds how long a client without a subscription stays behind.
pub const LIST_TTL_MS: u64 = 60_000;

/// Read buffer of a connection, in bytes; it grows for a longer line and shrinks again after it.
pub const READ_BUFFER_BYTES: usize = 64 * 1024;

/// How often a connection that is not being read from is looked at for a hang-up. Half of the
/// 50 ms within which abandoned work must stop.
pub const HANG_UP_POLL: Duration = Duration::from_millis(20);

/// How long a closing connection may take to hand over its last answers.
pub const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

/// How long a session without a name, connection or call is kept for re-attachment.
pub const SESSION_LINGER: Duration = Duration::from_secs(30 * 60);

/// How long a client waits for the daemon that it has started. A start takes a few milliseconds;
/// this is above the time that a stopping daemon may still need to drain.
pub const START_TIMEOUT: Duration = Duration::from_secs(20);

/// How long a starting daemon waits for the one before it to end. Below [`START_TIMEOUT`], so that
/// the client hears the reason.
pub const LOCK_TIMEOUT: Duration = Duration::from_secs(15);

/// How often a lock that somebody else holds is tried again.
pub const LOCK_POLL: Duration = Duration::from_millis(2);

/// How long connecting to a daemon whose queue is full may take.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// How long the client hears nothing before it asks whether the daemon is alive, and then how long
/// it waits for that answer. The daemon answers a ping while tools run, so silence means trouble.
pub const SILENCE_TIMEOUT: Duration = Duration::from_secs(10);

/// How long `capstan stop` waits for the daemon to end, drain included.
pub const STOP_TIMEOUT: Duration = Duration::from_secs(20);

/// The longest answer that the client takes, in bytes: several times what a tool may say.
pub const MAX_ANSWER_BYTES: usize = 64 * 1024 * 1024;

/// What is shown of the output of a daemon that could not start, in bytes.
pub const MAX_START_REPORT_BYTES: usize = 4 * 1024;

/// The longest time between two looks of the daemon at its own idleness and at its socket.
pub const HOUSEKEEPING_INTERVAL: Duration = Duration::from_secs(60);

/// Size of one log file in bytes, and how many old ones are kept: 20 MiB in all.
pub const MAX_LOG_BYTES: u64 = 5 * 1024 * 1024;
/// Old log files beside the current one.
pub const OLD_LOGS: usize = 3;

/// The largest configuration file in bytes. Real ones have a few hundred.
pub const MAX_CONFIG_BYTES: u64 = 1024 * 1024;

/// Mistakes that are reported of one configuration file; the rest are only counted.
pub const MAX_CONFIG_PROBLEMS: usize = 50;

/// Workspaces whose configuration is kept; more than sessions can have in practice.
pub const MAX_CONFIG_ROOTS: usize = 256;

/// A configuration file younger than this when it was read is read again next time: a second write
/// within the granularity of file times would go unseen.
pub const CONFIG_SETTLE: Duration = Duration::from_millis(50);

/// Threads for tool calls. Each connection may run a few; beyond this calls wait for a thread.
pub const MAX_BLOCKING_THREADS: usize = 256;

/// Open HTTP connections; more wait in the system's queue.
pub const MAX_HTTP_CONNECTIONS: usize = 128;

/// HTTP bodies that are read or await their answer at once: this times the line bound is the most
/// memory that they hold.
pub const MAX_HTTP_REQUESTS: usize = 32;

/// Open HTTP sessions of the handshake era.
pub const MAX_HTTP_SESSIONS: usize = 64;

/// Messages of one HTTP response that wait to be written; further notifications are dropped.
pub const MAX_HTTP_QUEUE: usize = 64;

/// How long an HTTP request waits for its answer before it becomes a stream, and how often an idle
/// stream says that it lives: below the usual 30 s of proxies.
pub const HTTP_KEEP_ALIVE: Duration = Duration::from_secs(10);

/// Selections that one session's references may hold, in bytes: some hundred thousand matches.
pub const REFERENCE_BYTES: usize = 16 * 1024 * 1024;

/// Snapshots that one session's shown lines may hold, in bytes. They are shared with the cache as
/// long as the files do not change.
pub const LEDGER_BYTES: usize = 32 * 1024 * 1024;

/// Text that was cut from results of one session, in bytes; mostly shared with the cache.
pub const TEMP_BYTES: usize = 16 * 1024 * 1024;

/// Decoded files that all sessions share, in bytes.
pub const CACHE_BYTES: usize = 128 * 1024 * 1024;

/// How long a decoded file stays that nobody asks for, and how often that is looked at. An agent
/// comes back to a file within minutes or not at all.
pub const CACHE_IDLE: Duration = Duration::from_secs(10 * 60);
/// See [`CACHE_IDLE`].
pub const CACHE_SWEEP: Duration = Duration::from_secs(60);
