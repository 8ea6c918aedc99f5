//! Why a mutation is not part of the plan.

use std::fmt;

use anchors::{ErrorCode, Snapshot, SourceId, Span};
use uuid::Uuid;

/// A refused mutation. It changes nothing; others of its batch are not affected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// Two ranges share text, or two insertions meet at one point.
    #[error(
        "{second} of `{file}` overlaps {first}{}; make one edit of both, or edit one after the other",
        earlier(*call)
    )]
    Overlapping {
        /// The file.
        file: SourceId,
        /// The place that was there first.
        first: Place,
        /// The place that overlaps it.
        second: Place,
        /// The mutation (0-based place in the batch) that `first` belongs to, when it is another one.
        call: Option<usize>,
    },
    /// A line of the new text starts with a displayed line prefix.
    #[error(
        "line {line} of the new text starts with `{prefix}`, which is how a line is shown and not its text; pass the bare text"
    )]
    Prefixed {
        /// The line of the new text, 1-based.
        line: usize,
        /// The prefix.
        prefix: String,
    },
    /// The new text starts with the envelope of a result that can still be used.
    #[error(
        "the new text starts with the envelope of result `{0}`, which is a reference and not file content; pass the bare text"
    )]
    Envelope(Uuid),
    /// A character that the file's encoding does not have.
    #[error(
        "`{character}` (U+{:04X}, line {line}, column {column} of the new text) cannot be written in {encoding}, the encoding of `{file}`; use other text or convert the file first",
        *character as u32
    )]
    Unencodable {
        /// The file.
        file: SourceId,
        /// The first such character.
        character: char,
        /// Its line in the new text, 1-based.
        line: usize,
        /// Its place in that line in characters, 1-based.
        column: usize,
        /// The encoding's name.
        encoding: &'static str,
    },
    /// The bytes would be taken for other text when they are read again.
    #[error(
        "after this edit `{file}` would no longer be recognised as {encoding} and would read as other text; convert the file to UTF-8 first"
    )]
    Unreadable {
        /// The file.
        file: SourceId,
        /// The encoding that the file has now.
        encoding: &'static str,
    },
    /// Mutations of one batch were resolved against different revisions of a file.
    #[error("`{file}` changed while the batch was prepared; read it again")]
    Changed {
        /// The file.
        file: SourceId,
    },
    /// A blank line was asked for beside characters inside a line.
    #[error(
        "`separation: blank-line` needs whole lines, but the anchor selects characters inside line {line} of `{file}`; anchor whole lines"
    )]
    InsideLine {
        /// The file.
        file: SourceId,
        /// The line, 1-based.
        line: usize,
    },
    /// An insertion of nothing.
    #[error("the text to insert is empty")]
    NothingToInsert,
    /// A range that is not one of the snapshot it came with: a fault of Capstan.
    #[error("bytes {}..{} are no range of `{file}`", span.start, span.end)]
    OutOfRange {
        /// The file.
        file: SourceId,
        /// The range.
        span: Span,
    },
    /// A guard said no.
    #[error("{message}{}", hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default())]
    Denied {
        /// Id of the guard.
        guard: &'static str,
        /// The code that the guard chose.
        code: ErrorCode,
        /// What it said.
        message: String,
        /// What to do instead.
        hint: Option<String>,
    },
}

impl PlanError {
    /// The stable code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Overlapping { .. } => ErrorCode::OverlappingEdits,
            Self::Prefixed { .. } | Self::Envelope(_) => ErrorCode::PrefixedText,
            Self::Unencodable { .. } | Self::Unreadable { .. } => ErrorCode::UnencodableText,
            Self::Changed { .. } => ErrorCode::FileChanged,
            Self::InsideLine { .. } | Self::NothingToInsert => ErrorCode::InvalidRequest,
            Self::OutOfRange { .. } => ErrorCode::Internal,
            Self::Denied { code, .. } => *code,
        }
    }
}

fn earlier(call: Option<usize>) -> String {
    call.map_or_else(String::new, |call| format!(" of call {} in this batch", call + 1))
}

/// A range in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Lines that a range touches, 1-based and inclusive.
    Lines(usize, usize),
    /// An insertion between or inside lines; the line (1-based) that it stands in or before.
    Point(usize),
    /// All of the file.
    File,
}

impl Place {
    /// The place of `span` in the snapshot.
    pub(crate) fn of(snapshot: &Snapshot, span: Span) -> Self {
        match snapshot.lines_of(span) {
            None => Self::File,
            Some((first, _)) if span.is_empty() => Self::Point(first),
            Some((first, last)) => Self::Lines(first, last),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lines(first, last) if first == last => write!(f, "line {first}"),
            Self::Lines(first, last) => write!(f, "lines {first}-{last}"),
            Self::Point(line) => write!(f, "the insertion at line {line}"),
            Self::File => f.write_str("the whole text"),
        }
    }
}
