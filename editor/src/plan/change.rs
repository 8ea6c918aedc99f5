//! A change of a whole document: edits that are sorted and apart, so that it can be applied in one
//! pass, inverted, and asked where a position went.

use anchors::Span;

/// One piece of a change: `text` in place of `span`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// What is replaced, in the document before the change. Empty for an insertion.
    pub span: Span,
    /// What takes its place. Empty for a deletion.
    pub text: String,
}

/// On which side of text that is inserted right at a position the position stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bias {
    /// Before it.
    Before,
    /// After it.
    After,
}

/// Edits of one document: sorted, not overlapping, touching allowed. Everything between them stays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangeSet {
    edits: Vec<Edit>,
    /// Where the text of each edit starts in the document after the change.
    starts: Vec<usize>,
    len: usize,
    len_after: usize,
}

impl ChangeSet {
    /// The change of a document of `len` bytes by `edits`, which may come in any order; insertions
    /// at one point keep theirs.
    ///
    /// # Panics
    /// When edits overlap or lie outside of the document, which is a bug of the caller.
    pub fn new(len: usize, mut edits: Vec<Edit>) -> Self {
        edits.sort_by_key(|edit| edit.span);
        let (mut starts, mut old, mut new) = (Vec::with_capacity(edits.len()), 0, 0);
        for edit in &edits {
            assert!(edit.span.start >= old && edit.span.end <= len, "edits must be apart");
            let start = new + edit.span.start - old;
            starts.push(start);
            (old, new) = (edit.span.end, start + edit.text.len());
        }
        Self { edits, starts, len, len_after: new + len - old }
    }

    /// The edits in order.
    pub fn edits(&self) -> &[Edit] {
        &self.edits
    }

    /// Whether nothing is edited.
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    /// Bytes of the document after the change.
    pub fn len_after(&self) -> usize {
        self.len_after
    }

    /// The document `before` with the change, in a string of exactly its size.
    ///
    /// # Panics
    /// When `before` is not as long as the document that the change was made for.
    pub fn apply(&self, before: &str) -> String {
        let mut after = String::with_capacity(self.len_after);
        self.pieces(before).for_each(|piece| after.push_str(piece));
        after
    }

    /// The pieces of the document after the change, in order, without copying any.
    ///
    /// # Panics
    /// As [`ChangeSet::apply`].
    pub fn pieces<'a>(&'a self, before: &'a str) -> impl Iterator<Item = &'a str> {
        assert_eq!(before.len(), self.len, "the change belongs to another document");
        let starts = std::iter::once(0).chain(self.edits.iter().map(|edit| edit.span.end));
        let ends = self.edits.iter().map(|edit| edit.span.start).chain([self.len]);
        let texts = self.edits.iter().map(|edit| edit.text.as_str()).chain([""]);
        starts.zip(ends).zip(texts).flat_map(|((start, end), text)| [&before[start..end], text])
    }

    /// The change that undoes this one; `before` is the document it was made for.
    #[must_use]
    pub fn invert(&self, before: &str) -> Self {
        let back = |(at, edit): (usize, &Edit)| Edit {
            span: self.new_span(at),
            text: before[edit.span.range()].to_owned(),
        };
        Self::new(self.len_after, self.edits.iter().enumerate().map(back).collect())
    }

    /// Where the text of edit number `at` (0-based) is in the document after the change.
    ///
    /// # Panics
    /// When there is no such edit.
    pub fn new_span(&self, at: usize) -> Span {
        Span::new(self.starts[at], self.starts[at] + self.edits[at].text.len())
    }

    /// Where position `at` of the document before is after the change. A position strictly inside
    /// replaced text, or right at an insertion, goes to the side that `bias` names.
    pub fn map_position(&self, at: usize, bias: Bias) -> usize {
        let passed = self.edits.partition_point(|edit| match bias {
            Bias::Before => edit.span.end < at || (edit.span.end == at && !edit.span.is_empty()),
            Bias::After => edit.span.end <= at,
        });
        match (self.edits.get(passed), passed.checked_sub(1)) {
            (Some(edit), _) if edit.span.start < at => match bias {
                Bias::Before => self.new_span(passed).start,
                Bias::After => self.new_span(passed).end,
            },
            (_, Some(last)) => self.new_span(last).end + (at - self.edits[last].span.end),
            (_, None) => at,
        }
    }

    /// Where the text of `span` is after the change; `None` when the change edits any of it. Text
    /// that is inserted right beside it does not become part of it.
    pub fn map_span(&self, span: Span) -> Option<Span> {
        let at = self.edits.partition_point(|edit| edit.span.end <= span.start);
        let untouched = self.edits.get(at).is_none_or(|edit| edit.span.start >= span.end);
        let start = self.map_position(span.start, Bias::After);
        untouched.then(|| Span::new(start, start + span.len()))
    }
}
