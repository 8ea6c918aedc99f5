//! Reading a file for searching: into a buffer that is used again, as few calls as possible.

use std::fs::File;
use std::io::{self, Read as _};
use std::sync::{Mutex, PoisonError};

use memchr::memchr;

use crate::limits::{BINARY_SNIFF_BYTES, FILE_READ_BYTES, KEPT_BUFFER_BYTES, WHOLE_FILE_BYTES};
use crate::walk::Stop;

/// Buffers that wait for the next search.
#[derive(Debug, Default)]
pub(super) struct Buffers(Mutex<Vec<Vec<u8>>>);

impl Buffers {
    pub(super) fn take(&self) -> Vec<u8> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        kept.unwrap_or_else(|| vec![0; FILE_READ_BYTES])
    }

    pub(super) fn give_back(&self, mut buffer: Vec<u8>) {
        if buffer.len() > KEPT_BUFFER_BYTES {
            buffer.truncate(KEPT_BUFFER_BYTES);
            buffer.shrink_to_fit();
        }
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(buffer);
    }
}

/// What is in the buffer after [`read`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// The whole file, this many bytes of it.
    Whole(usize),
    /// The start of a file that is larger than what is searched in one piece.
    Start(usize),
    /// The start of a file with a NUL byte.
    Binary,
    /// The search was stopped.
    Stopped,
}

/// Reads `file` from its start into `buffer`, which grows as needed.
pub(super) fn read(file: &mut File, buffer: &mut Vec<u8>, stop: &Stop) -> io::Result<Content> {
    let mut filled = 0;
    loop {
        let count = read_some(file, &mut buffer[filled..])?;
        let first = filled == 0;
        filled += count;
        if first && looks_binary(&buffer[..filled]) {
            return Ok(Content::Binary);
        }
        if count == 0 {
            return Ok(Content::Whole(filled));
        }
        if filled == buffer.len() {
            if filled >= WHOLE_FILE_BYTES {
                return Ok(Content::Start(filled));
            }
            buffer.resize((filled * 2).min(WHOLE_FILE_BYTES), 0);
        }
        if !first && stop.is_set() {
            return Ok(Content::Stopped);
        }
    }
}

/// One `read` that a signal can't disturb.
pub(super) fn read_some(file: &mut File, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match file.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// Whether the start of a file has a NUL byte, and no byte order mark that explains it.
fn looks_binary(start: &[u8]) -> bool {
    let sniff = &start[..start.len().min(BINARY_SNIFF_BYTES)];
    !is_utf16(start) && memchr(0, sniff).is_some()
}

/// Whether bytes start with the byte order mark of UTF-16.
pub(super) fn is_utf16(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\xFF\xFE") || bytes.starts_with(b"\xFE\xFF")
}
