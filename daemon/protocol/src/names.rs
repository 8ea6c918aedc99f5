//! Every name and number that both ends of the wire must agree on.

/// The largest line either side accepts, in bytes, its newline not counted. Big enough for a
/// `write` of a large generated file, small enough that 64 connections cannot exhaust memory.
pub const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;

/// The revisions of MCP that start with `initialize`, oldest first.
pub const HANDSHAKE_VERSIONS: &[&str] = &["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
/// What `initialize` answers when the client asks for a revision we do not know.
pub const LATEST_HANDSHAKE_VERSION: &str = "2025-11-25";
/// The stateless revision: no handshake, every request carries its own `_meta`.
pub const MODERN_VERSION: &str = "2026-07-28";
/// The revisions that may travel in a request's `_meta`.
pub const MODERN_VERSIONS: &[&str] = &[MODERN_VERSION];

/// JSON-RPC method names.
pub mod method {
    /// Opens the handshake era.
    pub const INITIALIZE: &str = "initialize";
    /// The client has read the answer to `initialize`.
    pub const INITIALIZED: &str = "notifications/initialized";
    /// Liveness, handshake era.
    pub const PING: &str = "ping";
    /// What the server is and can do, stateless era.
    pub const DISCOVER: &str = "server/discover";
    /// The tools with their schemas.
    pub const TOOLS_LIST: &str = "tools/list";
    /// Runs a tool.
    pub const TOOLS_CALL: &str = "tools/call";
    /// The tool list changed.
    pub const TOOLS_CHANGED: &str = "notifications/tools/list_changed";
    /// The fixed resources.
    pub const RESOURCES_LIST: &str = "resources/list";
    /// The resource templates.
    pub const RESOURCES_TEMPLATES: &str = "resources/templates/list";
    /// The content of a resource.
    pub const RESOURCES_READ: &str = "resources/read";
    /// Server-to-client: the workspace roots, handshake era.
    pub const ROOTS_LIST: &str = "roots/list";
    /// The client's roots changed, handshake era.
    pub const ROOTS_CHANGED: &str = "notifications/roots/list_changed";
    /// Stops a request.
    pub const CANCELLED: &str = "notifications/cancelled";
    /// How far a request has got.
    pub const PROGRESS: &str = "notifications/progress";
    /// A long-lived request whose notifications announce changes, stateless era.
    pub const SUBSCRIPTIONS_LISTEN: &str = "subscriptions/listen";
    /// The first message of such a stream.
    pub const SUBSCRIPTIONS_ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";
    /// Opens a session or attaches to one.
    pub const SESSION_OPEN: &str = "capstan/session.open";
    /// The open sessions.
    pub const SESSION_LIST: &str = "capstan/session.list";
    /// Ends a session.
    pub const SESSION_CLOSE: &str = "capstan/session.close";
    /// Version, uptime, memory, sessions.
    pub const STATUS: &str = "capstan/status";
    /// Drains and ends the daemon.
    pub const SHUTDOWN: &str = "capstan/shutdown";
    /// Starts the event stream on this connection.
    pub const EVENTS_SUBSCRIBE: &str = "capstan/events.subscribe";
    /// One event of that stream.
    pub const EVENT: &str = "notifications/capstan/event";
}

/// Keys inside `_meta`.
pub mod meta {
    /// The revision a stateless request speaks.
    pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
    /// Who sends a stateless request.
    pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
    /// What the sender of a stateless request can do.
    pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
    /// Who answers a stateless request.
    pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
    /// The id of the `subscriptions/listen` request a notification belongs to.
    pub const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
    /// The workspace root (absolute path or `file:` URL) of the caller.
    pub const ROOT: &str = "capstan/root";
    /// The id or name of the session that the request belongs to.
    pub const SESSION: &str = "capstan/session";
    /// The result id in the answer of a tool call.
    pub const RESULT: &str = "capstan/result";
}

/// The experimental capability by which a client asks for structured results.
pub const STRUCTURED_CAPABILITY: &str = "capstan/structured";

/// JSON-RPC error codes.
pub mod code {
    /// Not JSON.
    pub const PARSE_ERROR: i64 = -32700;
    /// JSON, but no request.
    pub const INVALID_REQUEST: i64 = -32600;
    /// No such method.
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// The parameters do not fit the method.
    pub const INVALID_PARAMS: i64 = -32602;
    /// A fault of the server.
    pub const INTERNAL_ERROR: i64 = -32603;
    /// The server is stopping or its bounds are reached; `data.code` has the stable word.
    pub const SERVER_ERROR: i64 = -32000;
    /// No such resource, in revisions before 2026-07-28.
    pub const RESOURCE_NOT_FOUND: i64 = -32002;
    /// HTTP headers contradict the body.
    pub const HEADER_MISMATCH: i64 = -32020;
    /// The request needs a client capability that was not declared.
    pub const MISSING_CLIENT_CAPABILITY: i64 = -32021;
    /// The revision in `_meta` is not served; `data` lists those that are.
    pub const UNSUPPORTED_VERSION: i64 = -32022;
}
