//! Cutting a byte stream into lines, with a bound.
//!
//! A line longer than the bound is reported once, as soon as it passes it, and the rest of it is
//! thrown away as it arrives: it costs time, never memory.

use memchr::memchr;
use protocol::names::MAX_LINE_BYTES;

use crate::limits::READ_BUFFER_BYTES;

/// What [`Lines::next_line`] found.
#[derive(Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// A line without its newline. May be blank.
    Whole(&'a [u8]),
    /// A line passed the bound; the rest of it is being skipped.
    TooLong,
}

/// Bytes that arrived and the lines in them.
#[derive(Debug)]
pub struct Lines {
    buffer: Vec<u8>,
    /// Where the first unfinished line starts.
    start: usize,
    /// Up to where a newline has been looked for.
    scanned: usize,
    /// Where the arrived bytes end.
    end: usize,
    skipping: bool,
    max_line: usize,
}

impl Default for Lines {
    fn default() -> Self {
        Self::with_bound(MAX_LINE_BYTES)
    }
}

impl Lines {
    /// Lines of at most `max_line` bytes.
    pub fn with_bound(max_line: usize) -> Self {
        Self { buffer: Vec::new(), start: 0, scanned: 0, end: 0, skipping: false, max_line }
    }

    /// Room for the next bytes; call [`Self::filled`] with how many arrived.
    pub fn room(&mut self) -> &mut [u8] {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.scanned -= self.start;
            self.start = 0;
        }
        if self.end == 0 && self.buffer.len() > READ_BUFFER_BYTES {
            self.buffer.truncate(READ_BUFFER_BYTES);
            self.buffer.shrink_to_fit();
        }
        if self.buffer.len() - self.end < READ_BUFFER_BYTES / 2 {
            let grown = (self.buffer.len() * 2).max(READ_BUFFER_BYTES);
            self.buffer.resize(grown, 0);
        }
        &mut self.buffer[self.end..]
    }

    /// Tells that the first `count` bytes of [`Self::room`] have arrived.
    pub fn filled(&mut self, count: usize) {
        self.end = (self.end + count).min(self.buffer.len());
    }

    /// The next line that has arrived.
    pub fn next_line(&mut self) -> Option<Line<'_>> {
        loop {
            let newline =
                memchr(b'\n', &self.buffer[self.scanned..self.end]).map(|at| self.scanned + at);
            let Some(newline) = newline else { return self.unfinished() };
            let line = self.start..newline;
            self.start = newline + 1;
            self.scanned = self.start;
            if std::mem::take(&mut self.skipping) {
                continue;
            }
            if line.len() > self.max_line {
                return Some(Line::TooLong);
            }
            let line = &self.buffer[line];
            return Some(Line::Whole(line.strip_suffix(b"\r").unwrap_or(line)));
        }
    }

    fn unfinished(&mut self) -> Option<Line<'static>> {
        self.scanned = self.end;
        if self.end - self.start <= self.max_line && !self.skipping {
            return None;
        }
        self.start = self.end;
        (!std::mem::replace(&mut self.skipping, true)).then_some(Line::TooLong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds `input` in pieces of `size` bytes and lists what came out.
    fn cut(input: &[u8], size: usize, max_line: usize) -> Vec<String> {
        let mut lines = Lines::with_bound(max_line);
        let mut found = Vec::new();
        for piece in input.chunks(size) {
            lines.room()[..piece.len()].copy_from_slice(piece);
            lines.filled(piece.len());
            while let Some(line) = lines.next_line() {
                found.push(match line {
                    Line::Whole(line) => String::from_utf8_lossy(line).into_owned(),
                    Line::TooLong => "<too long>".to_owned(),
                });
            }
        }
        found
    }

    #[test]
    fn lines_do_not_depend_on_how_they_arrive() {
        let input = b"one\n\ntwo\r\n0123456789\nthree\n0123456789ABC\nfour\nunfinished";
        let expected = ["one", "", "two", "0123456789", "three", "<too long>", "four"];
        for size in 1..input.len() {
            assert_eq!(cut(input, size, 10), expected, "pieces of {size}");
        }
    }

    #[test]
    fn a_skipped_line_costs_no_memory() {
        let mut lines = Lines::with_bound(1000);
        for _ in 0..1000 {
            let room = lines.room();
            let count = room.len();
            room.fill(b'x');
            lines.filled(count);
            while lines.next_line().is_some() {}
        }
        assert!(lines.buffer.len() <= 4 * READ_BUFFER_BYTES, "{}", lines.buffer.len());
    }

    #[test]
    fn the_buffer_shrinks_after_a_long_line() {
        let mut lines = Lines::default();
        let long = vec![b'x'; 1 << 20];
        for piece in long.chunks(10_000) {
            lines.room()[..piece.len()].copy_from_slice(piece);
            lines.filled(piece.len());
            assert_eq!(lines.next_line(), None);
        }
        lines.room()[0] = b'\n';
        lines.filled(1);
        assert!(matches!(lines.next_line(), Some(Line::Whole(line)) if line.len() == 1 << 20));
        lines.room();
        assert!(lines.buffer.len() <= 2 * READ_BUFFER_BYTES, "{}", lines.buffer.len());
    }
}
