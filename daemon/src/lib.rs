//! The Capstan daemon and its thin client: the room that knows JSON, MCP and people, and composes
//! the others.

pub mod answer;
pub mod arguments;
pub mod builtins;
pub mod call;
pub mod cli;
pub mod client;
pub mod compose;
pub mod config;
pub mod editing;
pub mod engine;
pub mod failure;
pub mod http;
pub mod lifecycle;
pub mod limits;
pub mod logs;
pub mod mcp_pump;
pub mod paths;
pub mod resources;
pub mod server;
pub mod session;
pub mod tool;
pub mod tools;

#[cfg(test)]
mod book;
