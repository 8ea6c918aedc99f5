//! The bounds of this room, each with its unit and reason.

use std::time::Duration;

/// Files that one transaction changes; a larger set is a mistake or a job for several calls.
pub const TRANSACTION_FILES: usize = 20_000;

/// New content, in bytes, that a transaction keeps in its journal record, so that one fsync makes
/// all of its files durable. Above this, writing everything twice costs more than the fsyncs.
pub const INLINE_BYTES: u64 = 8 << 20;

/// Largest journal record in bytes. Only hard-linked files, whose old and new content goes into the
/// record, come near it.
pub const RECORD_BYTES: u64 = 2 << 30;

/// Journal records, in bytes, that may wait for their checkpoint before commits wait with them.
pub const PENDING_BYTES: u64 = 64 << 20;

/// Journal records that may wait for their checkpoint before commits wait with them.
pub const PENDING_RECORDS: usize = 256;

/// How long the checkpoint rests before it syncs, so that it does not compete with a burst of
/// edits. Durability does not depend on it: the record is on disk already.
pub const CHECKPOINT_DELAY: Duration = Duration::from_millis(200);

/// Symbolic links followed for one path before it is called a loop, as in Linux.
pub const PATH_LINKS: u32 = 40;

/// Bytes written or compared between two looks at the cancel flag.
pub const CHUNK_BYTES: usize = 4 << 20;

/// Replaced files that stay open, without a name, until the background has time to free their disk
/// blocks: freeing takes longer than everything else about a small file. Far below the usual limit
/// of 1,024 open files; beyond it, they are freed at once.
pub const UNFREED_FILES: usize = 256;

/// How long a record waits for a folder that is missing at recovery: it may be on a disk that is
/// not mounted right now.
pub const POSTPONE: Duration = Duration::from_hours(24 * 7);

/// Entries looked at in the journal's folder; far above what [`PENDING_RECORDS`] allows.
pub const JOURNAL_ENTRIES: usize = 10_000;

/// How long a commit that waits for another one's file sleeps between two looks at its cancel flag.
pub const LOCK_POLL: Duration = Duration::from_millis(20);

/// Lines of diff that one receipt shows, over all files: a receipt confirms and gives anchors, it
/// is no listing. The selection behind it is never cut.
pub const RECEIPT_LINES: usize = 400;

/// Bytes of diff that one receipt shows, over all files; some 5,000 tokens.
pub const RECEIPT_BYTES: usize = 16 * 1024;

/// Bytes of a whole receipt, one line a file included; leaves room below the 50 KiB of a result.
pub const RECEIPT_TOTAL_BYTES: usize = 40 * 1024;

/// Bytes of diff that one change shows.
pub const RECEIPT_CHANGE_BYTES: usize = 4 * 1024;

/// Lines that are shown from the front of a run of new lines; a third of it of removed ones, which
/// the caller has seen before.
pub const RECEIPT_HEAD_LINES: usize = 18;

/// As [`RECEIPT_HEAD_LINES`], from the back.
pub const RECEIPT_TAIL_LINES: usize = 9;

/// Bytes of one line that a receipt shows.
pub const RECEIPT_LINE_BYTES: usize = 240;

/// Up to this many changes are shown with a line of context on each side.
pub const RECEIPT_CONTEXT_CHANGES: usize = 8;

/// What another program may have added to a file while a refused commit had it in place, in bytes:
/// so much is carried over to the restored file.
pub const ADDED_BYTES: u64 = 16 << 20;
