//! Enumerating the matches in a text, in steps short enough to be stopped in between.

use grep_matcher::Matcher as _;
use grep_regex::RegexMatcher;
use memchr::{memchr, memrchr};

use super::matcher::{self, Kind, Matcher};
use crate::limits::SCAN_STEP_BYTES;
use crate::walk::Stop;

/// Whether anything in `text` can match, and where to start looking closely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hint {
    /// Nothing matches.
    Nothing,
    /// No line before the one that holds this offset matches.
    From(usize),
    /// The search was stopped.
    Stopped,
}

/// A quick look at `text`, which starts at the start of a line.
pub(super) fn hint(matcher: &Matcher, text: &[u8], stop: &Stop) -> Hint {
    let mut start = 0;
    while start < text.len() {
        if start > 0 && stop.is_set() {
            return Hint::Stopped;
        }
        let end = step_end(text, start);
        if let Some(at) = matcher.hint(&text[start..end]) {
            let line = memrchr(b'\n', &text[start..start + at]).map_or(start, |lf| start + lf + 1);
            return Hint::From(line);
        }
        start = end;
    }
    Hint::Nothing
}

/// Calls `found` with start and end of every match in `text[from..]`, in order; `from` is the start
/// of a line. False when the search was stopped before the end.
pub(super) fn each(
    matcher: &Matcher,
    text: &[u8],
    from: usize,
    stop: &Stop,
    mut found: impl FnMut(usize, usize),
) -> bool {
    let mut start = from;
    while start < text.len() {
        if start > from && stop.is_set() {
            return false;
        }
        let end = step_end(text, start);
        let step = &text[start..end];
        match &matcher.kind {
            Kind::Literal(finder) => {
                let len = finder.needle().len();
                finder.find_iter(step).for_each(|at| found(start + at, start + at + len));
            }
            Kind::Anywhere(regex) => matches_in(regex, step, start, &mut found),
            Kind::Lines { candidates, line } => {
                lines_in(candidates, step, |from, content| {
                    matches_in(line, content, start + from, &mut found);
                });
            }
        }
        start = end;
    }
    true
}

/// Calls `found` for every match in `text`, whose offset in the whole is `base`.
fn matches_in(
    regex: &RegexMatcher,
    text: &[u8],
    base: usize,
    found: &mut impl FnMut(usize, usize),
) {
    let each = |m: grep_matcher::Match| {
        found(base + m.start(), base + m.end());
        true
    };
    // The error type is `NoError`: matching in memory can't fail.
    let _infallible = regex.find_iter(text, each);
}

/// Calls `each` with offset and content (without terminator) of every candidate line of `text`.
fn lines_in(candidates: &RegexMatcher, text: &[u8], mut each: impl FnMut(usize, &[u8])) {
    let mut start = 0;
    while start < text.len() {
        let Some(at) = matcher::candidate(candidates, &text[start..]) else { return };
        let at = start + at;
        let begin = memrchr(b'\n', &text[start..at]).map_or(start, |lf| start + lf + 1);
        if begin == text.len() {
            return;
        }
        let (end, next) = match memchr(b'\n', &text[at.max(begin)..]) {
            Some(lf) => (at + lf, at + lf + 1),
            None => (text.len(), text.len()),
        };
        let mut content = &text[begin..end];
        if next > end {
            content = content.strip_suffix(b"\r").unwrap_or(content);
        }
        each(begin, content);
        start = next;
    }
}

/// The end of the step that starts at `start`: a line end at least one step away.
fn step_end(text: &[u8], start: usize) -> usize {
    let least = start + SCAN_STEP_BYTES;
    if least >= text.len() {
        return text.len();
    }
    memchr(b'\n', &text[least..]).map_or(text.len(), |lf| least + lf + 1)
}

#[cfg(test)]
mod tests {
    use super::super::matcher::Rules;
    use super::super::query::Form;
    use super::*;

    /// All matches of `form` in `text`, as text.
    fn check(form: &Form, text: &str, expected: &[(usize, &str)]) {
        let rules = Rules { case_sensitive: None, whole_word: false };
        let matcher = Matcher::new(form, rules).unwrap();
        let stop = Stop::new(anchors::Cancel::new(), None);
        let mut all = Vec::new();
        assert!(each(&matcher, text.as_bytes(), 0, &stop, |s, e| all.push((s, &text[s..e]))));
        assert_eq!(all, expected, "{form:?} in {text:?}");
        match hint(&matcher, text.as_bytes(), &stop) {
            Hint::From(at) => assert!(expected.is_empty() || at <= expected[0].0),
            Hint::Nothing => assert!(expected.is_empty()),
            Hint::Stopped => panic!("nobody stopped it"),
        }
    }

    fn regex(pattern: &str, text: &str, expected: &[(usize, &str)]) {
        check(&Form::Regex(pattern.into()), text, expected);
    }

    #[test]
    fn literals() {
        check(&Form::Literal("a.".into()), "a. A.\na.", &[(0, "a."), (3, "A."), (6, "a.")]);
        check(&Form::Literal("A".into()), "aA", &[(1, "A")]);
        check(&Form::Words(vec!["b".into(), "a".into()]), "a\nxb", &[(0, "a"), (3, "b")]);
    }

    #[test]
    fn line_ends_are_no_text() {
        regex("a$", "a\r\nba\na", &[(0, "a"), (4, "a"), (6, "a")]);
        regex("^$", "\r\n\na", &[(0, ""), (2, "")]);
        regex("a\\s", "a\r\na\na b", &[(5, "a ")]);
        regex(".+", "a\rb\r\nc", &[(0, "a\rb"), (5, "c")]);
        regex("^a", "a\ra\na", &[(0, "a"), (4, "a")]);
        regex("\\Aa\\z", "a\r\nab\na", &[(0, "a"), (6, "a")]);
        regex("x*", "ax\n", &[(0, ""), (1, "x")]);
        regex("[^b]*", "a\nb\n", &[(0, "a"), (2, ""), (3, "")]);
    }

    #[test]
    fn steps_end_at_lines() {
        let line = "y".repeat(1000) + "\n";
        let mut text = line.repeat(SCAN_STEP_BYTES / 500);
        let at = text.len();
        text.push_str("needle");
        check(&Form::Literal("needle".into()), &text, &[(at, "needle")]);
        regex("^needle$", &text, &[(at, "needle")]);
    }
}
