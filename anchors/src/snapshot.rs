//! Immutable decoded text of one resource at one revision.

use std::sync::OnceLock;

use xxhash_rust::xxh3::xxh3_128;

use crate::encoding::{self, Format, NotText, Unencodable};
use crate::lines::{Line, LineIndex, lines_from};
use crate::{LineHash, Salt, Span};

/// Identity of content: equal hashes mean equal bytes (xxh3, 128 bits, of the raw bytes).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContentHash(pub u128);

impl ContentHash {
    /// The hash of the raw bytes of a file.
    pub fn of(bytes: &[u8]) -> Self {
        Self(xxh3_128(bytes))
    }
}

/// The text of one file as it was at one moment: never changes, shared behind an `Arc`.
#[derive(Debug)]
pub struct Snapshot {
    content: String,
    /// Bytes of a UTF-8 byte order mark at the front of `content`, which are not text.
    skip: usize,
    format: Format,
    hash: ContentHash,
    lines: OnceLock<LineIndex>,
}

impl Snapshot {
    /// Decodes the raw bytes of a file.
    ///
    /// # Errors
    /// [`NotText`] when no encoding reproduces the bytes.
    pub fn decode(bytes: Vec<u8>) -> Result<Self, NotText> {
        let hash = ContentHash::of(&bytes);
        let encoding::Decoded { content, skip, format } = encoding::decode(bytes)?;
        Ok(Self { content, skip, format, hash, lines: OnceLock::new() })
    }

    /// A snapshot of `text` in `format`, with the bytes that a file of it holds.
    ///
    /// # Errors
    /// [`Unencodable`] when the format's encoding cannot hold the text.
    pub fn encode(text: String, format: Format) -> Result<(Self, Vec<u8>), Unencodable> {
        let bytes = format.encode(&text)?;
        let hash = ContentHash::of(&bytes);
        Ok((Self { content: text, skip: 0, format, hash, lines: OnceLock::new() }, bytes))
    }

    /// The decoded text, without a byte order mark.
    pub fn text(&self) -> &str {
        &self.content[self.skip..]
    }

    /// Encoding and byte order mark.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Identity of the raw bytes.
    pub fn hash(&self) -> ContentHash {
        self.hash
    }

    /// Memory that the snapshot holds, in bytes.
    pub fn bytes(&self) -> usize {
        self.content.capacity() + self.lines.get().map_or(0, LineIndex::bytes) + size_of::<Self>()
    }

    /// The whole text as a span.
    pub fn span(&self) -> Span {
        Span::new(0, self.text().len())
    }

    /// How many lines the text has.
    pub fn line_count(&self) -> usize {
        self.index().count()
    }

    /// What ends new lines: CRLF if the text has any CRLF, else LF.
    pub fn newline(&self) -> &'static str {
        if self.index().has_crlf() { "\r\n" } else { "\n" }
    }

    /// Line `number`, 1-based.
    pub fn line(&self, number: usize) -> Option<Line> {
        self.index().line(self.text(), number)
    }

    /// The lines from `number` (1-based) on.
    pub fn lines_from(&self, number: usize) -> impl Iterator<Item = Line> + '_ {
        lines_from(self.text(), self.line(number))
    }

    /// Content of line `number` (1-based) without its terminator.
    pub fn line_text(&self, number: usize) -> Option<&str> {
        self.line(number).map(|line| &self.text()[line.content.range()])
    }

    /// Hash of line `number` (1-based) in the revision with this salt.
    pub fn line_hash(&self, number: usize, salt: Salt) -> Option<LineHash> {
        self.line_text(number).map(|line| LineHash::of(line, salt))
    }

    /// Number (1-based) of the line that holds `offset`; `None` only for empty text.
    pub fn line_at(&self, offset: usize) -> Option<usize> {
        self.index().line_at(self.text(), offset)
    }

    /// First and last line (1-based, inclusive) that `span` touches. An exclusive end at the
    /// start of a line does not touch that line. `None` only for empty text.
    pub fn lines_of(&self, span: Span) -> Option<(usize, usize)> {
        let first = self.line_at(span.start)?;
        let last = if span.is_empty() { first } else { self.line_at(span.end - 1)? };
        Some((first, last.max(first)))
    }

    /// The full span (terminators included) of lines `first..=last`, 1-based.
    pub fn line_span(&self, first: usize, last: usize) -> Option<Span> {
        Some(self.line(first)?.full.cover(self.line(last)?.full))
    }

    fn index(&self) -> &LineIndex {
        self.lines.get_or_init(|| LineIndex::new(self.text()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_order_mark_is_not_text() {
        let snapshot = Snapshot::decode(b"\xEF\xBB\xBFone\ntwo".to_vec()).unwrap();
        assert_eq!(snapshot.text(), "one\ntwo");
        assert_eq!(snapshot.line_text(2), Some("two"));
        let (again, bytes) =
            Snapshot::encode(snapshot.text().to_owned(), snapshot.format()).unwrap();
        assert_eq!(bytes, b"\xEF\xBB\xBFone\ntwo");
        assert_eq!(again.hash(), snapshot.hash());
    }

    #[test]
    fn spans_know_their_lines() {
        let snapshot = Snapshot::decode(b"ab\ncd\nef".to_vec()).unwrap();
        assert_eq!(snapshot.lines_of(Span::new(0, 3)), Some((1, 1)));
        assert_eq!(snapshot.lines_of(Span::new(1, 4)), Some((1, 2)));
        assert_eq!(snapshot.lines_of(Span::point(8)), Some((3, 3)));
        assert_eq!(snapshot.line_span(2, 3), Some(Span::new(3, 8)));
    }
}
