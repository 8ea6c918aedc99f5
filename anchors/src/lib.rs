//! The text model: snapshots, lines, spans, selections, anchors and the reference store.
//!
//! This room is pure: no I/O, no async, no serde, no clock. Whatever it says about text can be
//! tested with a string. Everything above it (resolvers, editor, daemon) speaks in its words.

pub mod cancel;
pub mod code;

pub use cancel::{Cancel, Cancelled};
pub use code::ErrorCode;
