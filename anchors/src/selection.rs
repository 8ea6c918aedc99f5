//! What a result or an anchor names: ranges in the text of one or more sources.

use std::fmt;
use std::sync::Arc;

use crate::{ContentHash, Snapshot, Span};

/// Canonical identity of a resource, such as the real path of a file. Cheap to clone.
///
/// Two spellings of one file (`x`, `./x`, through a symbolic link) have the same id.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceId(Arc<str>);

impl SourceId {
    /// The id with this canonical spelling.
    pub fn new(canonical: impl Into<Arc<str>>) -> Self {
        Self(canonical.into())
    }

    /// The canonical spelling; accepted wherever a source goes.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SourceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One selected range of a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Range {
    /// The selected text. A linewise span covers whole lines, terminators included.
    pub span: Span,
    /// Whether edits act on whole lines: text that replaces or joins the range gets lines of its
    /// own, and deletion leaves no empty line behind.
    pub linewise: bool,
}

impl Range {
    /// Exactly these characters.
    pub const fn exact(span: Span) -> Self {
        Self { span, linewise: false }
    }

    /// Whole lines; `span` covers them with their terminators.
    pub const fn lines(span: Span) -> Self {
        Self { span, linewise: true }
    }

    /// Characters that happen to be complete lines act as lines (contract: "a needle that covers
    /// whole lines acts on lines"); others stay exact.
    pub fn of_text(snapshot: &Snapshot, span: Span) -> Self {
        let Some((first, last)) = snapshot.lines_of(span) else { return Self::exact(span) };
        let (Some(head), Some(tail)) = (snapshot.line(first), snapshot.line(last)) else {
            return Self::exact(span);
        };
        let whole = span.start == head.full.start
            && (span.end == tail.content.end || span.end == tail.full.end)
            && !span.is_empty();
        if whole { Self::lines(head.full.cover(tail.full)) } else { Self::exact(span) }
    }
}

/// The selected ranges of one source, valid for one revision of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The source.
    pub source: SourceId,
    /// The revision that the ranges were taken from; any other makes them stale.
    pub content: ContentHash,
    /// The ranges, in the order they were selected.
    pub ranges: Vec<Range>,
}

/// Ranges over one or more sources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// One part a source, in order.
    pub parts: Vec<Part>,
    /// Whether it holds everything that was asked for. An incomplete selection never authorises
    /// an edit.
    pub complete: bool,
}

impl Selection {
    /// A complete selection of one source.
    pub fn one(source: SourceId, content: ContentHash, ranges: Vec<Range>) -> Self {
        Self { parts: vec![Part { source, content, ranges }], complete: true }
    }

    /// How many ranges there are in all.
    pub fn len(&self) -> usize {
        self.parts.iter().map(|part| part.ranges.len()).sum()
    }

    /// Whether nothing is selected.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Memory that it holds, in bytes, for the bounds of stores.
    pub fn bytes(&self) -> usize {
        let part = |part: &Part| {
            size_of::<Part>() + part.source.as_str().len() + size_of_val(part.ranges.as_slice())
        };
        size_of::<Self>() + self.parts.iter().map(part).sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_lines_act_as_lines() {
        let snapshot = Snapshot::decode(b"one\r\ntwo\r\nthree".to_vec()).unwrap();
        let of = |start, end| Range::of_text(&snapshot, Span::new(start, end));
        assert_eq!(of(0, 3), Range::lines(Span::new(0, 5)));
        assert_eq!(of(0, 5), Range::lines(Span::new(0, 5)));
        assert_eq!(of(5, 15), Range::lines(Span::new(5, 15)));
        assert_eq!(of(0, 4), Range::exact(Span::new(0, 4)));
        assert_eq!(of(1, 3), Range::exact(Span::new(1, 3)));
        assert_eq!(of(5, 5), Range::exact(Span::point(5)));
    }
}
