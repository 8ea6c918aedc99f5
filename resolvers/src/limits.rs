//! The bounds of this room, each with its unit and reason.

/// Useful text in one result, in bytes (promise 5 of the architecture).
pub const RESULT_BYTES: usize = 51_200;
/// Useful lines in one result (promise 5 of the architecture).
pub const RESULT_LINES: usize = 2_000;

/// An ignore file or git configuration is read up to this many bytes; git's own bound is larger,
/// but no real file comes near it.
pub const IGNORE_FILE_BYTES: u64 = 16 << 20;
/// Buffer for one folder listing, in bytes: what glibc's `readdir` uses, enough for about a
/// thousand names per system call.
pub const LISTING_BYTES: usize = 32 * 1024;
/// Files of one folder that are handled as one piece of work: few enough to spread a large folder
/// over all threads, enough to hide the cost of queueing.
pub const WALK_BATCH_FILES: usize = 64;
/// A path may grow to this many bytes before the walk turns back; four times what the system
/// accepts in one call.
pub const WALK_PATH_BYTES: usize = 16 * 1024;
