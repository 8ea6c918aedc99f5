//! Searching a file that is too large to hold, block by block.
//!
//! A block ends at a line end with enough lines behind it for the context of its last match; these
//! lines, and those before the next block, stay in the buffer. Only UTF-8 is searched like this;
//! other encodings of such size are passed over as binary.

use std::fs::File;
use std::io;

use anchors::ContentHash;
use memchr::{memchr, memchr_iter, memrchr};
use xxhash_rust::xxh3::Xxh3;

use super::content;
use super::file::{Searched, TextSearch};
use super::hits::Lines;
use super::matcher::Matcher;
use super::preview::{Builder, Stretch};
use super::scan;
use crate::limits::{LARGE_BLOCK_BYTES, WHOLE_FILE_BYTES};

/// Searches `file`, whose first bytes are in the buffer already.
pub(super) fn search(
    search: &TextSearch,
    file: &mut File,
    matcher: &Matcher,
    start: (&mut Vec<u8>, usize),
) -> io::Result<Searched> {
    let (buffer, filled) = start;
    let mut hash = Xxh3::new();
    hash.update(&buffer[..filled]);
    let mut found = search.start();
    let mut builder = Builder::new(search.context);
    let mut block = Block::at_start(&buffer[..filled]);
    loop {
        if search.stop.is_set() {
            return Ok(Searched::Stopped);
        }
        let end = block.search_end(buffer, search.context);
        if end > block.next || block.ended {
            let Some(text) = block.text(buffer) else { return Ok(Searched::Binary) };
            let stretch = Stretch { text, base: block.base };
            let part = &text[..end - block.first];
            let mut lines = Lines::new(part.as_bytes(), block.base, block.line);
            let from = block.next - block.first;
            let done = scan::each(matcher, part.as_bytes(), from, &search.stop, |start, end| {
                search.keep(&mut found, || lines.locate(start, end), |m| builder.add(stretch, m));
            });
            if !done {
                return Ok(Searched::Stopped);
            }
            builder.flush(stretch, usize::MAX);
            if block.ended {
                break;
            }
            block.advance(buffer, end, search.context);
        }
        if block.filled == buffer.len() {
            if buffer.len() - block.first > WHOLE_FILE_BYTES * 4 {
                // A line beyond all reason: whatever this is, it is not text.
                return Ok(Searched::Binary);
            }
            buffer.resize(buffer.len() + LARGE_BLOCK_BYTES, 0);
        }
        let count = content::read_some(file, &mut buffer[block.filled..])?;
        hash.update(&buffer[block.filled..block.filled + count]);
        block.filled += count;
        block.ended = count == 0;
    }
    found.preview = builder.finish(Stretch { text: "", base: 0 });
    Ok(match found.count {
        0 => Searched::Nothing,
        _ => Searched::Found(ContentHash(hash.digest128()), search.settle(found)),
    })
}

/// The part of the file that is in the buffer.
struct Block {
    /// First byte in use; starts a line.
    first: usize,
    /// First byte that was not searched yet; starts a line.
    next: usize,
    /// One past the last byte that was read.
    filled: usize,
    /// Offset of `first` in the decoded text.
    base: usize,
    /// Number of the line that starts at `first`.
    line: usize,
    /// Whether the file ends at `filled`.
    ended: bool,
    /// Bytes from `first` that are known to be UTF-8 without NUL.
    valid: usize,
}

impl Block {
    fn at_start(bytes: &[u8]) -> Self {
        let first = if bytes.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
        let filled = bytes.len();
        Self { first, next: first, filled, base: 0, line: 1, ended: false, valid: 0 }
    }

    /// Where searching must end for now, so that `context` lines follow.
    fn search_end(&self, buffer: &[u8], context: usize) -> usize {
        if self.ended {
            return self.filled;
        }
        let mut end = self.filled;
        for _ in 0..=context {
            match memrchr(b'\n', &buffer[self.next..end]) {
                Some(lf) => end = self.next + lf,
                None => return self.next,
            }
        }
        end + 1
    }

    /// The text in use up to the last full line (or the end of the file); `None` when it is not
    /// UTF-8 text.
    fn text<'a>(&mut self, buffer: &'a [u8]) -> Option<&'a str> {
        let bytes = &buffer[self.first..self.filled];
        let end =
            if self.ended { bytes.len() } else { memrchr(b'\n', bytes).map_or(0, |lf| lf + 1) };
        if memchr(0, &bytes[self.valid..end]).is_some() {
            return None;
        }
        self.valid = end;
        str::from_utf8(&bytes[..end]).ok()
    }

    /// Drops what was searched, but for `context` lines, and makes room.
    fn advance(&mut self, buffer: &mut Vec<u8>, end: usize, context: usize) {
        let mut keep = end;
        for _ in 0..context {
            if keep <= self.first {
                break;
            }
            let before = memrchr(b'\n', &buffer[self.first..keep - 1]);
            keep = before.map_or(self.first, |lf| self.first + lf + 1);
        }
        self.line += memchr_iter(b'\n', &buffer[self.first..keep]).count();
        self.base += keep - self.first;
        self.valid -= (keep - self.first).min(self.valid);
        buffer.copy_within(keep..self.filled, 0);
        self.filled -= keep;
        self.next = end - keep;
        self.first = 0;
        buffer.truncate(self.filled.max(LARGE_BLOCK_BYTES));
    }
}
