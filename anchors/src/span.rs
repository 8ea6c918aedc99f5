//! Half-open byte ranges in decoded text, and the little algebra that everything else uses.

/// A half-open byte range `start..end` in the text of one snapshot.
///
/// Both ends lie on character boundaries of that text. `start <= end` always holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// First byte, 0-based, inclusive.
    pub start: usize,
    /// One past the last byte, 0-based, exclusive.
    pub end: usize,
}

impl Span {
    /// The span `start..end`.
    ///
    /// # Panics
    /// When `start > end`, which is a bug of the caller.
    pub const fn new(start: usize, end: usize) -> Self {
        assert!(start <= end, "a span must not end before it starts");
        Self { start, end }
    }

    /// The zero-width span at `at`.
    pub const fn point(at: usize) -> Self {
        Self { start: at, end: at }
    }

    /// Length in bytes.
    pub const fn len(self) -> usize {
        self.end - self.start
    }

    /// Whether the span has no text.
    pub const fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// Whether all of `other` lies inside this span.
    pub const fn contains(self, other: Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// The smallest span that covers both.
    pub fn cover(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// The range form, for slicing.
    pub const fn range(self) -> std::ops::Range<usize> {
        self.start..self.end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn covers_and_contains() {
        let (a, b) = (Span::new(2, 5), Span::new(4, 9));
        assert_eq!(a.cover(b), Span::new(2, 9));
        assert!(a.cover(b).contains(a) && !a.contains(b));
        assert!(Span::point(3).is_empty());
    }
}
