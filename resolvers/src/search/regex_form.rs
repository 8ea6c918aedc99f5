//! Looking into a regular expression before it is compiled: errors in plain words, and the few
//! facts that the search needs to know about it.

use regex_syntax::ast::{self, AssertionKind, Ast};
use regex_syntax::hir::{Hir, HirKind};

/// What is wrong with a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BadRegex {
    /// 1-based column, in characters.
    pub(super) column: usize,
    /// In plain words.
    pub(super) reason: String,
}

/// A pattern that parses.
#[derive(Debug)]
pub(super) struct Parsed {
    hir: Hir,
}

impl Parsed {
    /// Whether the pattern means anything else than the text `literal` itself.
    pub(super) fn differs_from(&self, literal: &str) -> bool {
        !matches!(self.hir.kind(), HirKind::Literal(text) if *text.0 == *literal.as_bytes())
    }

    /// Whether every match, and what it depends on, is plain ASCII (before case is folded).
    pub(super) fn is_ascii(&self) -> bool {
        use regex_syntax::hir::Look;
        let looks = self.hir.properties().look_set();
        !looks.contains(Look::WordUnicodeNegate) && is_ascii(&self.hir)
    }

    /// Whether the pattern matches the empty text.
    pub(super) fn matches_nothing(&self) -> bool {
        self.hir.properties().minimum_len() == Some(0)
    }
}

/// Parses `pattern`, which matches within one line.
pub(super) fn check(pattern: &str) -> Result<Parsed, BadRegex> {
    let mut parser = regex_syntax::ParserBuilder::new().utf8(false).multi_line(true).build();
    let hir = parser.parse(pattern).map_err(|error| explain(&error))?;
    if must_break_line(&hir) {
        let column = pattern.find("\\n").map_or(1, |at| pattern[..at].chars().count() + 1);
        let reason = "it can only match across a line break; search for one line of it".into();
        return Err(BadRegex { column, reason });
    }
    Ok(Parsed { hir })
}

/// Whether `hir` has a line feed that every match must hold.
fn must_break_line(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Literal(text) => text.0.contains(&b'\n'),
        HirKind::Capture(capture) => must_break_line(&capture.sub),
        HirKind::Repetition(repetition) => must_break_line(&repetition.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().any(must_break_line),
        HirKind::Class(_) | HirKind::Empty | HirKind::Look(_) => false,
    }
}

fn is_ascii(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Literal(text) => text.0.is_ascii(),
        HirKind::Class(class) => class.is_utf8() && class.maximum_len() == Some(1),
        HirKind::Capture(capture) => is_ascii(&capture.sub),
        HirKind::Repetition(repetition) => is_ascii(&repetition.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().all(is_ascii),
        HirKind::Empty | HirKind::Look(_) => true,
    }
}

fn explain(error: &regex_syntax::Error) -> BadRegex {
    let (span, reason) = match error {
        regex_syntax::Error::Parse(error) => (*error.span(), error.kind().to_string()),
        regex_syntax::Error::Translate(error) => (*error.span(), error.kind().to_string()),
        other => return BadRegex { column: 1, reason: other.to_string() },
    };
    BadRegex { column: span.start.column, reason }
}

/// `pattern` with a carriage return allowed before every `$`, so that it finds candidate lines in
/// text with CRLF line ends; `None` when it has no `$`.
pub(super) fn with_optional_cr(pattern: &str) -> Option<String> {
    struct Ends(Vec<(usize, usize)>);
    impl ast::Visitor for Ends {
        type Output = Vec<(usize, usize)>;
        type Err = std::convert::Infallible;

        fn finish(mut self) -> Result<Self::Output, Self::Err> {
            self.0.sort_unstable();
            Ok(self.0)
        }

        fn visit_pre(&mut self, ast: &Ast) -> Result<(), Self::Err> {
            if let Ast::Assertion(assertion) = ast
                && assertion.kind == AssertionKind::EndLine
            {
                self.0.push((assertion.span.start.offset, assertion.span.end.offset));
            }
            Ok(())
        }
    }
    let ast = ast::parse::Parser::new().parse(pattern).ok()?;
    let Ok(ends) = ast::visit(&ast, Ends(Vec::new()));
    if ends.is_empty() {
        return None;
    }
    let (mut widened, mut from) = (String::with_capacity(pattern.len() + 8), 0);
    for (start, end) in ends {
        widened.push_str(&pattern[from..start]);
        widened.push_str("(?:\\r?$)");
        from = end;
    }
    widened.push_str(&pattern[from..]);
    Some(widened)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_columns_and_plain_words() {
        let error = |pattern| check(pattern).map(|_| ()).unwrap_err();
        assert_eq!(error("ab("), BadRegex { column: 3, reason: "unclosed group".into() });
        assert_eq!(error("é["), BadRegex { column: 2, reason: "unclosed character class".into() });
        assert_eq!(error("*").column, 1);
        assert_eq!(error("a\\nb").column, 2);
        assert!(check("[^a]\\s(\\n)?x").is_err());
        assert!(check("[^a]\\sx").is_ok());
    }

    #[test]
    fn every_line_end_takes_a_carriage_return() {
        assert_eq!(with_optional_cr("a$|(b$)").as_deref(), Some("a(?:\\r?$)|(b(?:\\r?$))"));
        assert_eq!(with_optional_cr("a\\$[$]"), None);
    }
}
