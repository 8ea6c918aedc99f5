//! The Capstan daemon and its thin client: the room that knows JSON, MCP and people, and composes
//! the others.

pub mod arguments;
pub mod failure;
pub mod http;
pub mod limits;
pub mod server;
pub mod session;
pub mod tool;
pub mod tools;
