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

/// Matches that a search lists in detail when the caller does not say.
pub const SEARCH_LIMIT_DEFAULT: usize = 50;
/// Most matches in detail, or names, that a caller may ask for.
pub const SEARCH_LIMIT: usize = 1_000;
/// Most lines of context on each side of a match; more is a read.
pub const SEARCH_CONTEXT_LINES: usize = 10;
/// How long a search may take by default: what an agent's host usually grants a call.
pub const SEARCH_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(30);
/// Matches that one search keeps (about 40 bytes each); any more are counted only.
pub const SEARCH_MATCHES: u64 = 500_000;
/// Preview text that one search keeps while it runs, in bytes. Past that, previews are made
/// afterwards, for the matches that can be shown.
pub const SEARCH_PREVIEW_BYTES: usize = 8 << 20;
/// Preview of one line, in bytes; a longer line is shown as a window around each match.
pub const PREVIEW_LINE_BYTES: usize = 1_024;
/// Part of a window that lies before the match, in bytes.
pub const PREVIEW_LEAD_BYTES: usize = 256;
/// First read of a file, in bytes: large enough for most source files, small enough for the
/// second-level cache of one processor.
pub const FILE_READ_BYTES: usize = 256 * 1024;
/// Bytes at the start of a file in which a NUL makes it binary without reading on.
pub const BINARY_SNIFF_BYTES: usize = 64 * 1024;
/// A file up to this size is searched in one piece, in bytes; a larger one block by block.
pub const WHOLE_FILE_BYTES: usize = 64 << 20;
/// Block of a large file, in bytes.
pub const LARGE_BLOCK_BYTES: usize = 4 << 20;
/// Buffers up to this size, in bytes, are kept for the next search.
pub const KEPT_BUFFER_BYTES: usize = 1 << 20;
/// Text that is searched between two looks at the stop signal, in bytes: well under 50 ms even for
/// a slow pattern.
pub const SCAN_STEP_BYTES: usize = 256 * 1024;
/// A compiled regular expression and each thread's working memory for it, in bytes.
pub const REGEX_BYTES: usize = 32 << 20;
/// How much of a line is shown, in bytes, that does not fit a result by itself.
pub const LONG_LINE_BYTES: usize = 4 * 1024;
/// A file up to this size is read and edited as text, in bytes; it is held in memory whole.
pub const TEXT_BYTES: u64 = 1 << 30;
/// Entries of a folder that are listed; more are counted out loud.
pub const FOLDER_ENTRIES: usize = 100_000;
/// Bytes that one `raw:` read shows: 16 a row, as many rows as fit a result.
pub const RAW_BYTES: u64 = 16 * 557;
/// A file up to this size is compared by content instead of by its time stamps, in bytes: reading
/// and hashing it takes some 50 microseconds.
pub const COMPARED_BYTES: u64 = 128 * 1024;
