//! The wire types that the daemon, its clients and the tests share.
//!
//! One JSON message per line, UTF-8: JSON-RPC 2.0 carrying the Model Context Protocol plus the
//! `capstan/*` methods. This crate holds shapes and names only; it opens no socket and decides
//! nothing. `jsonrpc` is the envelope, `mcp` the part of MCP that Capstan speaks, `capstan` our own
//! methods, `names` the constants.

pub mod capstan;
pub mod jsonrpc;
pub mod mcp;
pub mod names;

pub use jsonrpc::{ErrorObject, Id, Incoming, Message};
