//! The four characters behind `#` in a line anchor.

use std::fmt;
use std::str::FromStr;

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Which revision of a source, in the order in which a session came to know them. It goes into the
/// hashes, so that an anchor belongs to the one revision that it was shown from: the line 12 that
/// reads `}` now never has the anchor of the line 12 that read `}` before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Salt(pub u32);

/// A short hash of one line's content, shown as four upper-case hex digits.
///
/// Sixteen bits alone prove nothing: an anchor is valid only together with a snapshot in which
/// that line was shown with that hash ([`crate::Ledger`]). The hash tells lines apart at a glance
/// and catches slips.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LineHash(u16);

impl LineHash {
    /// The hash of a line's content without its terminator, in the revision with this salt.
    pub fn of(line: &str, Salt(salt): Salt) -> Self {
        let hash = xxh3_64_with_seed(line.as_bytes(), u64::from(salt));
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
    fn revisions_have_hashes_of_their_own() {
        assert_ne!(LineHash::of("}", Salt(0)), LineHash::of("}", Salt(1)));
    }

    #[test]
    fn prints_what_it_parses() {
        let hash = LineHash::of("fn main() {", Salt(3));
        assert_eq!(hash.to_string().parse(), Ok(hash));
        assert!("12g4".parse::<LineHash>().is_err());
        assert!("abcd".parse::<LineHash>().is_err());
        assert!("+123".parse::<LineHash>().is_err());
    }
}
