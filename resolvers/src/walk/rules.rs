//! The rules of one ignore file, and which of them decides about a path.
//!
//! Syntax and precedence are git's: the last rule that matches wins, `!` takes back, a trailing
//! slash means folders only, a slash elsewhere ties the pattern to the file's folder. Most rules
//! in real files are plain names and `*.ext`, so these are found by hash; only the rest is tried
//! one by one.

use std::collections::HashMap;

use super::glob;

/// What the rules say about one path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Pass over it.
    Ignore,
    /// A `!` rule asks for it.
    Keep,
}

/// A path as rules see it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subject<'a> {
    /// The absolute path, without a trailing slash.
    pub(crate) path: &'a [u8],
    /// Its last component.
    pub(crate) name: &'a [u8],
    /// Whether it is a folder.
    pub(crate) is_dir: bool,
}

/// The rules of one file.
#[derive(Debug, Default)]
pub(crate) struct Rules {
    rules: Vec<Rule>,
    /// Rules that are plain names, by name, in rising order.
    names: HashMap<Box<[u8]>, Vec<u32>>,
    /// Rules of the form `*.ext`, by `ext`, in rising order.
    extensions: HashMap<Box<[u8]>, Vec<u32>>,
    /// All other rules, in rising order.
    others: Vec<u32>,
    /// Length of the absolute path of the folder that the rules are relative to, slash included.
    base: usize,
}

#[derive(Debug)]
struct Rule {
    pattern: Box<[u8]>,
    /// Length of the part before the first wildcard.
    plain: usize,
    keep: bool,
    only_dirs: bool,
    shape: Shape,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// The whole name, no wildcards.
    Name,
    /// `*` and then no wildcards.
    Suffix,
    /// Any other pattern for the name.
    NameGlob,
    /// A pattern for the path relative to the folder.
    Path,
}

impl Rules {
    /// Parses the content of an ignore file for the folder whose absolute path is `base` bytes
    /// long, slash included. `None` when it holds no rule.
    pub(crate) fn parse(content: &[u8], base: usize) -> Option<Self> {
        let content = content.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(content);
        let mut rules = Self { base, ..Self::default() };
        for line in content.split(|b| *b == b'\n') {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            // Git sees a C string here.
            let line = line.split(|b| *b == 0).next().unwrap_or_default();
            if !line.starts_with(b"#") {
                rules.add(trim_spaces(line));
            }
        }
        (!rules.rules.is_empty()).then_some(rules)
    }

    fn add(&mut self, mut pattern: &[u8]) {
        if pattern.is_empty() {
            return;
        }
        let keep = pattern[0] == b'!';
        if keep {
            pattern = &pattern[1..];
        }
        let only_dirs = pattern.last() == Some(&b'/');
        if only_dirs {
            pattern = &pattern[..pattern.len() - 1];
        }
        let by_path = pattern.contains(&b'/');
        let first_special = |p: &[u8]| p.iter().position(|b| glob::is_special(*b));
        let shape = if by_path {
            pattern = pattern.strip_prefix(b"/").unwrap_or(pattern);
            Shape::Path
        } else if first_special(pattern).is_none() {
            Shape::Name
        } else if pattern[0] == b'*' && first_special(&pattern[1..]).is_none() {
            Shape::Suffix
        } else {
            Shape::NameGlob
        };
        let index = self.rules.len() as u32;
        let plain = first_special(pattern).unwrap_or(pattern.len());
        match shape {
            Shape::Name => self.names.entry(pattern.into()).or_default().push(index),
            Shape::Suffix
                if extension(&pattern[1..]).is_some_and(|e| e.len() + 2 == pattern.len()) =>
            {
                self.extensions.entry(pattern[2..].into()).or_default().push(index);
            }
            _ => self.others.push(index),
        }
        self.rules.push(Rule { pattern: pattern.into(), plain, keep, only_dirs, shape });
    }

    /// What the last matching rule says. The path must be below the rules' folder.
    pub(crate) fn verdict(&self, subject: Subject<'_>) -> Option<Verdict> {
        let mut best = None;
        if !self.names.is_empty() {
            best = self.last(self.names.get(subject.name), subject);
        }
        if !self.extensions.is_empty()
            && let Some(extension) = extension(subject.name)
        {
            best = best.max(self.last(self.extensions.get(extension), subject));
        }
        for &index in self.others.iter().rev() {
            if best.is_some_and(|best| best > index) {
                break;
            }
            if self.rules[index as usize].matches(subject, self.base) {
                best = Some(index);
                break;
            }
        }
        let keep = self.rules[best? as usize].keep;
        Some(if keep { Verdict::Keep } else { Verdict::Ignore })
    }

    /// The last of `indexes` that applies; their patterns are known to match.
    fn last(&self, indexes: Option<&Vec<u32>>, subject: Subject<'_>) -> Option<u32> {
        let applies = |index: &&u32| !self.rules[**index as usize].only_dirs || subject.is_dir;
        indexes?.iter().rev().find(applies).copied()
    }
}

impl Rule {
    fn matches(&self, subject: Subject<'_>, base: usize) -> bool {
        if self.only_dirs && !subject.is_dir {
            return false;
        }
        match self.shape {
            Shape::Name => *self.pattern == *subject.name,
            Shape::Suffix => subject.name.ends_with(&self.pattern[1..]),
            Shape::NameGlob => {
                subject.name.starts_with(&self.pattern[..self.plain])
                    && glob::matches(&self.pattern, subject.name, false)
            }
            Shape::Path => {
                let Some(path) = subject.path.get(base..) else { return false };
                let Some(rest) = path.strip_prefix(&self.pattern[..self.plain]) else {
                    return false;
                };
                // Like git, match behind the plain prefix, so that `**` at its end counts as
                // opened by the start of the pattern.
                glob::matches(&self.pattern[self.plain..], rest, true)
            }
        }
    }
}

/// What follows the last dot of a name.
fn extension(name: &[u8]) -> Option<&[u8]> {
    memchr::memrchr(b'.', name).map(|dot| &name[dot + 1..])
}

/// Trailing spaces do not count unless escaped.
fn trim_spaces(line: &[u8]) -> &[u8] {
    let (mut end, mut at) = (0, 0);
    while at < line.len() {
        match line[at] {
            b'\\' if at + 1 == line.len() => return line,
            b'\\' => {
                at += 2;
                end = at;
            }
            b' ' => at += 1,
            _ => {
                at += 1;
                end = at;
            }
        }
    }
    &line[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the verdicts of `file`, which lies in `/r/`. A trailing slash marks a folder.
    fn check(file: &str, ignored: &[&str], kept: &[&str], untouched: &[&str]) {
        let rules = Rules::parse(file.as_bytes(), "/r/".len()).unwrap_or_default();
        let verdict = |path: &str| {
            let full = format!("/r/{}", path.trim_end_matches('/'));
            let name = full.rsplit('/').next().unwrap_or_default();
            rules.verdict(Subject {
                path: full.as_bytes(),
                name: name.as_bytes(),
                is_dir: path.ends_with('/'),
            })
        };
        let all = |paths: &[&str], expected| {
            for path in paths {
                assert_eq!(verdict(path), expected, "{file:?} on {path}");
            }
        };
        all(ignored, Some(Verdict::Ignore));
        all(kept, Some(Verdict::Keep));
        all(untouched, None);
    }

    #[test]
    fn names_extensions_and_folders() {
        check(
            "target\n*.o\nbuild/\n",
            &["target", "a/target/", "x.o", "build/"],
            &[],
            &["build", "x.oo", "o"],
        );
        check("*.tar.gz", &["a.tar.gz"], &[], &["a.gz"]);
        check("*", &["a", "a/b"], &[], &[]);
    }

    #[test]
    fn the_last_rule_wins() {
        check("*.log\n!keep.log\n", &["a.log"], &["keep.log", "d/keep.log"], &[]);
        check("!keep.log\n*.log\n", &["keep.log"], &[], &[]);
        check("a*\n!ab\nab/\n", &["ab/", "ac"], &["ab"], &[]);
    }

    #[test]
    fn slashes_anchor() {
        check(
            "/a\nb/c\nd/**/e\nf/**\n",
            &["a", "b/c", "d/e", "d/x/e", "f/x/y"],
            &[],
            &["x/a", "x/b/c", "f/"],
        );
        check("a/*/c", &["a/b/c"], &[], &["a/c", "a/b/b/c"]);
    }

    #[test]
    fn odd_lines() {
        check(
            "\u{feff}a\r\n#b\n\\#c\n\\!d\ne \nf\\ \n\n!\n/\n",
            &["a", "#c", "!d", "e", "f "],
            &[],
            &["b", "f", "x", "#b"],
        );
        check("{a,b}", &["{a,b}"], &[], &["a"]);
    }
}
