//! The tokens `SEARCH#HASH:N:line` and their kin, and the matches that they number.

use std::fmt;
use std::str::FromStr;

use crate::{ContentHash, Range, SourceId, Span};

/// Fewest and most hex digits of a search id.
const DIGITS: std::ops::RangeInclusive<usize> = 4..=64;

/// A parsed `SEARCH#HASH:(N|all):(line|match)`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SearchRef {
    /// `SEARCH#HASH`.
    pub id: String,
    /// One match, or all of them.
    pub which: Which,
    /// The exact match, or its whole line.
    pub extent: Extent,
}

/// Which matches of a search are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Which {
    /// The Nth match, counted from 1 over all files.
    One(usize),
    /// Every match.
    All,
}

/// How much text around a match is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Extent {
    /// The whole line that contains the match.
    Line,
    /// The matched characters.
    Match,
}

/// The text is not a search reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a search reference")]
pub struct NotSearchRef;

impl FromStr for SearchRef {
    type Err = NotSearchRef;

    fn from_str(token: &str) -> Result<Self, NotSearchRef> {
        let mut parts = token.split(':');
        let (id, which, extent) = (parts.next(), parts.next(), parts.next());
        let (Some(id), Some(which), Some(extent), None) = (id, which, extent, parts.next()) else {
            return Err(NotSearchRef);
        };
        let digits = id.strip_prefix("SEARCH#").ok_or(NotSearchRef)?;
        let upper_hex = |b: u8| b.is_ascii_digit() || (b'A'..=b'F').contains(&b);
        if !DIGITS.contains(&digits.len()) || !digits.bytes().all(upper_hex) {
            return Err(NotSearchRef);
        }
        let which = match which {
            "all" => Which::All,
            number => match number.parse() {
                Ok(number) if number >= 1 => Which::One(number),
                _ => return Err(NotSearchRef),
            },
        };
        let extent = match extent {
            "line" => Extent::Line,
            "match" => Extent::Match,
            _ => return Err(NotSearchRef),
        };
        Ok(Self { id: id.to_owned(), which, extent })
    }
}

impl fmt::Display for SearchRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let extent = match self.extent {
            Extent::Line => "line",
            Extent::Match => "match",
        };
        match self.which {
            Which::One(number) => write!(f, "{}:{number}:{extent}", self.id),
            Which::All => write!(f, "{}:all:{extent}", self.id),
        }
    }
}

/// The matches of a search in one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchFile {
    /// The file.
    pub source: SourceId,
    /// Its content when it was searched.
    pub content: ContentHash,
    /// Its matches, in order.
    pub matches: Vec<Hit>,
}

/// One match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The lines that contain it, terminators included.
    pub line: Span,
    /// The matched characters.
    pub text: Span,
}

impl Hit {
    /// The selected range for `extent`.
    pub fn range(self, extent: Extent) -> Range {
        match extent {
            Extent::Line => Range::lines(self.line),
            Extent::Match => Range::exact(self.text),
        }
    }
}

impl SearchFile {
    /// All ranges for `extent`; a line with several matches counts once.
    pub fn ranges(&self, extent: Extent) -> Vec<Range> {
        let mut ranges: Vec<Range> = self.matches.iter().map(|hit| hit.range(extent)).collect();
        ranges.dedup();
        ranges
    }

    /// Memory that it holds, in bytes.
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + self.source.as_str().len() + size_of_val(self.matches.as_slice())
    }
}
