//! The four characters behind `#` in a line anchor.

use std::fmt;
use std::str::FromStr;

use xxhash_rust::xxh3::xxh3_64;

/// A short hash of one line's content, shown as four upper-case hex digits.
///
/// Sixteen bits alone prove nothing: an anchor is valid only together with a snapshot in which
/// that line was shown with that hash ([`crate::Ledger`]). The hash tells lines apart at a glance
/// and catches slips.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LineHash(u16);

impl LineHash {
    /// The hash of a line's content without its terminator.
    pub fn of(line: &str) -> Self {
        let hash = xxh3_64(line.as_bytes());
        Self((hash ^ (hash >> 16) ^ (hash >> 32) ^ (hash >> 48)) as u16)
    }
}

impl fmt::Display for LineHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04X}", self.0)
    }
}

/// The text is not four upper-case hex digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a line hash is four upper-case hex digits")]
pub struct InvalidHash;

impl FromStr for LineHash {
    type Err = InvalidHash;

    fn from_str(text: &str) -> Result<Self, InvalidHash> {
        let upper_hex = |b: u8| b.is_ascii_digit() || (b'A'..=b'F').contains(&b);
        if text.len() != 4 || !text.bytes().all(upper_hex) {
            return Err(InvalidHash);
        }
        u16::from_str_radix(text, 16).map(Self).map_err(|_| InvalidHash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_what_it_parses() {
        let hash = LineHash::of("fn main() {");
        assert_eq!(hash.to_string().parse(), Ok(hash));
        assert!("12g4".parse::<LineHash>().is_err());
        assert!("abcd".parse::<LineHash>().is_err());
        assert!("+123".parse::<LineHash>().is_err());
    }
}
