//! One ignore pattern, matched byte by byte exactly as git's `wildmatch` does it.
//!
//! A translation to regexes is close to git but not git: `{a,b}` are plain characters, an
//! unclosed `[` never matches, `**` counts only between slashes, names need not be UTF-8. So the
//! rules are spelled out here, and a test compares them with git itself on random patterns.

/// Why a pattern did not match; the aborts keep backtracking from running wild.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Match,
    NoMatch,
    /// No way to match, whatever an earlier `*` takes.
    AbortAll,
    /// No way to match unless an earlier `**` takes more.
    AbortToStarStar,
}

/// Whether `pattern` matches all of `text`. With `path`, wildcards do not match `/` and `**` has
/// its special meaning.
pub(crate) fn matches(pattern: &[u8], text: &[u8], path: bool) -> bool {
    run(pattern, 0, text, path) == Outcome::Match
}

/// Whether `byte` has a meaning of its own in a pattern.
pub(crate) fn is_special(byte: u8) -> bool {
    matches!(byte, b'*' | b'?' | b'[' | b'\\')
}

/// The byte at `at`, 0 past the end: patterns and names hold no NUL.
fn at(bytes: &[u8], index: usize) -> u8 {
    bytes.get(index).copied().unwrap_or(0)
}

/// Matches `pattern[start..]`; the whole pattern is needed to see what is before a `**`.
fn run(pattern: &[u8], start: usize, text: &[u8], path: bool) -> Outcome {
    let (mut p, mut t) = (start, 0);
    while p < pattern.len() {
        let c = at(text, t);
        if c == 0 && pattern[p] != b'*' {
            return Outcome::AbortAll;
        }
        match pattern[p] {
            b'?' => {
                if path && c == b'/' {
                    return Outcome::NoMatch;
                }
            }
            b'*' => match star(pattern, p, &text[t..], path) {
                Star::Done(outcome) => return outcome,
                Star::SkipTo { pattern: next, text: skipped } => {
                    p = next;
                    t += skipped;
                    continue;
                }
            },
            b'[' => match class(pattern, p + 1, c) {
                None => return Outcome::AbortAll,
                Some((false, _)) => return Outcome::NoMatch,
                Some((true, _)) if path && c == b'/' => return Outcome::NoMatch,
                Some((true, close)) => p = close,
            },
            literal => {
                let literal = if literal == b'\\' {
                    p += 1;
                    at(pattern, p)
                } else {
                    literal
                };
                if literal != c {
                    return Outcome::NoMatch;
                }
            }
        }
        p += 1;
        t += 1;
    }
    if t < text.len() { Outcome::NoMatch } else { Outcome::Match }
}

/// What a run of stars came to.
enum Star {
    Done(Outcome),
    /// `*/` takes all up to the next slash; go on behind that slash.
    SkipTo {
        pattern: usize,
        text: usize,
    },
}

/// Handles the stars at `pattern[p]` against `text`.
fn star(pattern: &[u8], p: usize, text: &[u8], path: bool) -> Star {
    let after = p + pattern[p..].iter().take_while(|b| **b == b'*').count();
    let next = at(pattern, after);
    let mut any = !path;
    if path && after - p > 1 {
        let opened = p == 0 || pattern[p - 1] == b'/';
        let closed = next == 0 || next == b'/' || (next == b'\\' && at(pattern, after + 1) == b'/');
        if opened && closed {
            // `a/**/b` also matches `a/b`.
            if next == b'/' && run(pattern, after + 1, text, path) == Outcome::Match {
                return Star::Done(Outcome::Match);
            }
            any = true;
        }
    }
    if after == pattern.len() {
        let ends = any || !text.contains(&b'/');
        return Star::Done(if ends { Outcome::Match } else { Outcome::AbortToStarStar });
    }
    if !any && next == b'/' {
        return match text.iter().position(|b| *b == b'/') {
            Some(slash) => Star::SkipTo { pattern: after + 1, text: slash + 1 },
            None => Star::Done(Outcome::AbortAll),
        };
    }
    Star::Done(stretch(pattern, after, text, any, path))
}

/// Tries every length for a star that `pattern[after..]` follows.
fn stretch(pattern: &[u8], after: usize, text: &[u8], any: bool, path: bool) -> Outcome {
    let next = pattern[after];
    let mut t = 0;
    while t < text.len() {
        if !is_special(next) {
            let found = text[t..].iter().position(|b| *b == next || (!any && *b == b'/'));
            match found {
                Some(skip) if text[t + skip] == next => t += skip,
                _ if any => return Outcome::AbortAll,
                _ => return Outcome::AbortToStarStar,
            }
        }
        match run(pattern, after, &text[t..], path) {
            Outcome::NoMatch if !any && text[t] == b'/' => return Outcome::AbortToStarStar,
            Outcome::NoMatch => {}
            Outcome::AbortToStarStar if any => {}
            outcome => return outcome,
        }
        t += 1;
    }
    Outcome::AbortAll
}

/// Whether `c` is in the bracket expression whose inside starts at `p`, and where its `]` is.
/// `None` when it is never closed or names an unknown class.
fn class(pattern: &[u8], mut p: usize, c: u8) -> Option<(bool, usize)> {
    let negated = matches!(at(pattern, p), b'!' | b'^');
    if negated {
        p += 1;
    }
    let (mut found, mut before, mut first) = (false, 0u8, true);
    loop {
        let mut byte = at(pattern, p);
        if byte == 0 {
            return None;
        }
        if byte == b']' && !first {
            return Some((found != negated, p));
        }
        first = false;
        if byte == b'\\' {
            p += 1;
            byte = at(pattern, p);
            if byte == 0 {
                return None;
            }
            found |= byte == c;
        } else if byte == b'-' && before != 0 && !matches!(at(pattern, p + 1), 0 | b']') {
            p += 1;
            let mut high = at(pattern, p);
            if high == b'\\' {
                p += 1;
                high = at(pattern, p);
                if high == 0 {
                    return None;
                }
            }
            found |= (before..=high).contains(&c);
            byte = 0;
        } else if byte == b'[' && at(pattern, p + 1) == b':' {
            let name = p + 2;
            let close = name + pattern[name..].iter().position(|b| *b == b']')?;
            if close > name && pattern[close - 1] == b':' {
                found |= in_class(&pattern[name..close - 1], c)?;
                p = close;
                byte = 0;
            } else {
                found |= c == b'[';
            }
        } else {
            found |= byte == c;
        }
        before = byte;
        p += 1;
    }
}

/// Whether `c` is in the POSIX class `name`; `None` for an unknown name.
fn in_class(name: &[u8], c: u8) -> Option<bool> {
    Some(match name {
        b"alnum" => c.is_ascii_alphanumeric(),
        b"alpha" => c.is_ascii_alphabetic(),
        b"blank" => c == b' ' || c == b'\t',
        b"cntrl" => c.is_ascii_control(),
        b"digit" => c.is_ascii_digit(),
        b"graph" => c.is_ascii_graphic(),
        b"lower" => c.is_ascii_lowercase(),
        b"print" => c.is_ascii_graphic() || c == b' ',
        b"punct" => c.is_ascii_punctuation(),
        b"space" => c.is_ascii_whitespace() || c == 0x0B,
        b"upper" => c.is_ascii_uppercase(),
        b"xdigit" => c.is_ascii_hexdigit(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, yes: &[&str], no: &[&str]) {
        for text in yes {
            assert!(matches(pattern.as_bytes(), text.as_bytes(), true), "{pattern} {text}");
        }
        for text in no {
            assert!(!matches(pattern.as_bytes(), text.as_bytes(), true), "{pattern} {text}");
        }
    }

    #[test]
    fn stars() {
        check("a*b", &["ab", "axb", "aab"], &["a/b", "abc", ""]);
        check("a/*", &["a/b"], &["a/b/c", "a"]);
        check("*/b", &["a/b"], &["b", "a/c/b"]);
        check("**/b", &["b", "a/b", "a/c/b"], &["ab"]);
        check("a/**", &["a/b", "a/b/c", "a/"], &["a"]);
        check("a/**/b", &["a/b", "a/x/b", "a/x/y/b"], &["ab", "a/bb"]);
        check("a**b", &["ab", "axb"], &["a/b"]);
        check("**", &["a", "a/b"], &[]);
        check("*a*b*c", &["abc", "xaxbxc"], &["abcx", "a/bc"]);
    }

    #[test]
    fn classes_and_escapes() {
        check("[a-c]x", &["ax", "cx"], &["dx", "/x"]);
        check("[!a]x", &["bx"], &["ax", "/x"]);
        check("[]-]x", &["]x", "-x"], &["ax"]);
        check("[[:digit:]_]x", &["1x", "_x"], &["ax"]);
        check("[[:nope:]]", &[], &["a", "n"]);
        check("[abc", &[], &["a", "[abc"]);
        check("\\*x", &["*x"], &["ax"]);
        check("{a,b}", &["{a,b}"], &["a"]);
        check("a\\", &[], &["a", "a\\"]);
    }

    #[test]
    fn many_stars_stay_quick() {
        let pattern = "*a".repeat(40);
        let text = "a".repeat(200) + "b";
        assert!(!matches(pattern.as_bytes(), text.as_bytes(), true));
    }
}
