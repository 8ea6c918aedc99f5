//! One mistake in the configuration, in words that lead to its repair.

use std::fmt;
use std::path::{Path, PathBuf};

/// A mistake, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigProblem {
    /// Where the entry comes from.
    pub origin: Origin,
    /// Where in the file it is.
    pub position: Option<Position>,
    /// The dotted key; empty when the file as a whole is meant.
    pub key: String,
    /// What is wrong.
    pub message: String,
    /// What would be right; may be empty.
    pub expected: String,
}

/// What an entry was read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A file.
    File(PathBuf),
    /// An environment variable of the daemon.
    Variable(String),
    /// A flag of `capstan daemon`.
    Flag(String),
}

impl Origin {
    /// The file, if it is one.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path),
            Self::Variable(_) | Self::Flag(_) => None,
        }
    }
}

/// A place in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// 1-based.
    pub line: usize,
    /// 1-based, in characters.
    pub column: usize,
}

impl Position {
    /// The place of a byte offset in `text`; the end of the text when it lies beyond.
    pub fn of(text: &str, offset: usize) -> Self {
        let offset = text.floor_char_boundary(offset);
        let before = &text[..offset];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Self {
            line: before.bytes().filter(|&byte| byte == b'\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }
}

impl fmt::Display for ConfigProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.origin {
            Origin::File(path) => write!(f, "{}", path.display())?,
            Origin::Variable(name) => write!(f, "environment variable `{name}`")?,
            Origin::Flag(name) => write!(f, "flag `{name}`")?,
        }
        if let Some(Position { line, column }) = self.position {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": ")?;
        if !self.key.is_empty() {
            write!(f, "`{}`: ", self.key)?;
        }
        write!(f, "{}", self.message)?;
        if !self.expected.is_empty() {
            write!(f, "; expected {}", self.expected)?;
        }
        Ok(())
    }
}

/// The name in `names` that `wrong` was probably meant to be.
pub fn closest<'a>(wrong: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    names
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(wrong, name), name))
        .filter(|(distance, name)| *distance <= (name.len() / 3).max(1))
        .min()
        .map(|(_, name)| name)
}

/// A name from a file, cut to a length that a message can carry.
pub fn quoted(name: &str) -> String {
    const MAX_CHARS: usize = 64;
    if name.chars().count() <= MAX_CHARS {
        return name.escape_debug().to_string();
    }
    let cut: String = name.chars().take(MAX_CHARS).collect();
    format!("{}…", cut.escape_debug())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_lines_and_characters() {
        let text = "a = 1\nä = é\n";
        let place = |offset| {
            let Position { line, column } = Position::of(text, offset);
            (line, column)
        };
        assert_eq!(place(0), (1, 1));
        assert_eq!(place(6), (2, 1));
        assert_eq!(place(text.find('é').unwrap()), (2, 5));
        assert_eq!(place(999), (3, 1));
    }

    #[test]
    fn near_names_are_found() {
        let names = ["timeout-ms", "limit"];
        assert_eq!(closest("timeoutms", names), Some("timeout-ms"));
        assert_eq!(closest("limt", names), Some("limit"));
        assert_eq!(closest("colour", names), None);
    }
}
