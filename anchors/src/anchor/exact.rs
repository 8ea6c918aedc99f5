//! Finding exact text, whatever ends its lines.

use memchr::memmem;

use crate::{Snapshot, Span};

/// How many occurrences are remembered for a candidate list.
const CANDIDATES: usize = 20;
/// Counting stops here: more says nothing new.
pub(super) const COUNTED: usize = 1_000;

/// The occurrences of a needle.
pub(crate) struct Occurrences {
    /// The first ones, in order.
    pub(crate) at: Vec<Span>,
    /// How many there are, up to a bound.
    pub(crate) total: usize,
}

/// Finds `needle`; a line break in it (LF or CRLF) matches either kind in the text. Occurrences
/// may overlap: two that do are as ambiguous as two that do not.
pub(crate) fn find(snapshot: &Snapshot, needle: &str) -> Occurrences {
    let text = snapshot.text();
    let mut found = Occurrences { at: Vec::new(), total: 0 };
    let lines: Vec<&str> = needle.split('\n').collect();
    let (head, tail) = lines.split_first().expect("split gives at least one piece");
    let head = if tail.is_empty() { head } else { head.strip_suffix('\r').unwrap_or(head) };
    // A needle that starts with a line break is looked for at each line's end.
    let probe = if head.is_empty() { "\n" } else { head };
    let finder = memmem::Finder::new(probe.as_bytes());
    let mut from = 0;
    while let Some(at) = finder.find(&text.as_bytes()[from..]).map(|at| at + from) {
        from = at + 1;
        let start = if !head.is_empty() { at } else { break_start(text, at) };
        let Some(end) = match_tail(text, start + head.len(), tail) else { continue };
        found.total += 1;
        if found.at.len() < CANDIDATES {
            found.at.push(Span::new(start, end));
        }
        if found.total == COUNTED {
            break;
        }
    }
    found
}

/// Where the line break whose LF is at `lf` starts.
fn break_start(text: &str, lf: usize) -> usize {
    if lf > 0 && text.as_bytes()[lf - 1] == b'\r' { lf - 1 } else { lf }
}

/// The end of the match when `lines`, each after a line break, stand at `at`.
fn match_tail(text: &str, at: usize, lines: &[&str]) -> Option<usize> {
    lines.iter().enumerate().try_fold(at, |at, (n, line)| {
        let rest = &text.as_bytes()[at..];
        let ending =
            if rest.starts_with(b"\r\n") { 2 } else { usize::from(rest.first() == Some(&b'\n')) };
        if ending == 0 {
            return None;
        }
        let last = n + 1 == lines.len();
        let line = if last { line } else { line.strip_suffix('\r').unwrap_or(line) };
        let at = at + ending;
        text.as_bytes()[at..].starts_with(line.as_bytes()).then_some(at + line.len())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, needle: &str) -> Vec<(usize, usize)> {
        let snapshot = Snapshot::decode(text.as_bytes().to_vec()).unwrap();
        let found = find(&snapshot, needle);
        assert_eq!(found.total, found.at.len());
        found.at.iter().map(|span| (span.start, span.end)).collect()
    }

    #[test]
    fn finds_every_occurrence() {
        assert_eq!(check("abcabc", "abc"), [(0, 3), (3, 6)]);
        assert_eq!(check("aaa", "aa"), [(0, 2), (1, 3)]);
        assert_eq!(check("añb", "ñ"), [(1, 3)]);
        assert_eq!(check("abc", "d"), []);
    }

    #[test]
    fn line_breaks_match_either_kind() {
        assert_eq!(check("a\r\nb\r\n", "a\nb"), [(0, 4)]);
        assert_eq!(check("a\nb\n", "a\r\nb"), [(0, 3)]);
        assert_eq!(check("a\r\nb\nc", "a\nb\nc"), [(0, 6)]);
        assert_eq!(check("a\r\nb\r\n", "b\n"), [(3, 6)]);
        assert_eq!(check("a\r\nb", "\nb"), [(1, 4)]);
        assert_eq!(check("x\n\ny", "\n\n"), [(1, 3)]);
        assert_eq!(check("a\rb", "a\nb"), []);
    }
}
