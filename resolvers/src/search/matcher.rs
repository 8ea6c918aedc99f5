//! A compiled form of a query.

use grep_matcher::{LineMatchKind, Matcher as _};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use memchr::memmem::Finder;

use super::query::{Form, QueryError};
use super::regex_form;
use crate::limits::REGEX_BYTES;

/// Finds matches of one form. Cloning gives another thread its own working memory.
#[derive(Clone, Debug)]
pub(super) struct Matcher {
    pub(super) kind: Kind,
    /// Whether every match is plain ASCII, so that searching the raw bytes of any file in an
    /// encoding that extends ASCII misses nothing.
    ascii: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// One text, found as it stands.
    Literal(Finder<'static>),
    /// Matches are found in whole buffers: they never hold or depend on a line end.
    Anywhere(RegexMatcher),
    /// Lines are found in whole buffers, matches in the line without its terminator.
    Lines { candidates: RegexMatcher, line: RegexMatcher },
}

/// How letters and words count.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// `None` is smart.
    pub(super) case_sensitive: Option<bool>,
    pub(super) whole_word: bool,
}

impl Matcher {
    /// Compiles `form`.
    pub(super) fn new(form: &Form, rules: Rules) -> Result<Self, QueryError> {
        match form {
            Form::Literal(text) => Self::literal(text, rules),
            Form::Regex(pattern) => Self::regex(pattern, rules),
            Form::Words(words) => {
                let sensitive = is_sensitive(words.iter().map(String::as_str), rules);
                let ascii = words.iter().all(|word| word.is_ascii());
                let escaped: Vec<String> =
                    words.iter().map(|word| regex_syntax::escape(word)).collect();
                Self::anywhere(&escaped.join("|"), sensitive, rules, ascii)
            }
        }
    }

    fn literal(text: &str, rules: Rules) -> Result<Self, QueryError> {
        let sensitive = is_sensitive([text], rules) || !has_case(text);
        let ascii = text.is_ascii();
        if sensitive && !rules.whole_word {
            let finder = Finder::new(text.as_bytes()).into_owned();
            return Ok(Self { kind: Kind::Literal(finder), ascii });
        }
        Self::anywhere(&regex_syntax::escape(text), sensitive, rules, ascii)
    }

    fn anywhere(
        pattern: &str,
        sensitive: bool,
        rules: Rules,
        ascii: bool,
    ) -> Result<Self, QueryError> {
        let mut builder = builder(rules);
        builder.case_insensitive(!sensitive);
        Ok(Self { kind: Kind::Anywhere(build(&builder, pattern)?), ascii })
    }

    fn regex(pattern: &str, rules: Rules) -> Result<Self, QueryError> {
        let mut builder = builder(rules);
        match rules.case_sensitive {
            Some(sensitive) => builder.case_insensitive(!sensitive),
            None => builder.case_smart(true),
        };
        let line = build(&builder, pattern)?;
        let candidates = match regex_form::with_optional_cr(pattern) {
            Some(widened) => build(&builder, &widened)?,
            None => line.clone(),
        };
        let ascii = regex_form::check(pattern).is_ok_and(|parsed| parsed.is_ascii());
        Ok(Self { kind: Kind::Lines { candidates, line }, ascii })
    }

    /// Whether a search of raw bytes can miss nothing in a file of unknown encoding.
    pub(super) fn is_ascii(&self) -> bool {
        self.ascii
    }

    /// An offset in or before the first line with a match, and not before that line; `None` only
    /// when nothing can match. Cheap: this is what almost every file is asked and nothing else.
    pub(super) fn hint(&self, text: &[u8]) -> Option<usize> {
        match &self.kind {
            Kind::Literal(finder) => finder.find(text),
            Kind::Anywhere(regex) => regex.shortest_match(text).ok().flatten(),
            Kind::Lines { candidates, .. } => candidate(candidates, text),
        }
    }
}

/// Where a candidate line is. Patterns that depend on the ends of the text itself (`\A`, `\z`)
/// can't be searched across lines, so every line is a candidate.
pub(super) fn candidate(regex: &RegexMatcher, text: &[u8]) -> Option<usize> {
    if regex.line_terminator().is_none() {
        return (!text.is_empty()).then_some(0);
    }
    match regex.find_candidate_line(text).ok().flatten()? {
        LineMatchKind::Confirmed(at) | LineMatchKind::Candidate(at) => Some(at),
    }
}

fn builder(rules: Rules) -> RegexMatcherBuilder {
    let mut builder = RegexMatcherBuilder::new();
    builder
        .multi_line(true)
        .line_terminator(Some(b'\n'))
        .word(rules.whole_word)
        .size_limit(REGEX_BYTES)
        .dfa_size_limit(REGEX_BYTES);
    builder
}

fn build(builder: &RegexMatcherBuilder, pattern: &str) -> Result<RegexMatcher, QueryError> {
    builder.build(pattern).map_err(|error| {
        let (column, reason) = match regex_form::check(pattern) {
            Err(bad) => (bad.column, bad.reason),
            Ok(_) => (1, error.to_string()),
        };
        QueryError::Regex { column, reason }
    })
}

fn is_sensitive<'a>(texts: impl IntoIterator<Item = &'a str>, rules: Rules) -> bool {
    rules
        .case_sensitive
        .unwrap_or_else(|| texts.into_iter().any(|text| text.chars().any(char::is_uppercase)))
}

/// Whether `text` has a letter that comes in more than one case.
fn has_case(text: &str) -> bool {
    let cased = |c: char| !c.is_ascii() || c.is_ascii_alphabetic();
    text.chars().any(cased)
}
