//! The tools themselves, one file each; the contract they fulfil is [`crate::tool`].

pub use crate::tool::{CallContext, Progress, Tool, ToolCall, ToolOutput, ToolRegistry};
