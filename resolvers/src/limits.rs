//! The bounds of this room, each with its unit and reason.

/// Useful text in one result, in bytes (promise 5 of the architecture).
pub const RESULT_BYTES: usize = 51_200;
/// Useful lines in one result (promise 5 of the architecture).
pub const RESULT_LINES: usize = 2_000;
