//! What a query means, before anything is searched.

use std::collections::HashSet;

use anchors::ErrorCode;

use super::Notice;
use super::names::NameQuery;
use super::regex_form::{self, BadRegex};

/// A parsed query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Query {
    /// Search in text.
    Text(TextQuery),
    /// `files:`: search for paths.
    Names(NameQuery),
}

/// A query for text: the forms to try, each only when the ones before it matched nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextQuery {
    /// At least one form.
    pub(super) first: Form,
    /// Further forms, each with the notice that announces it.
    pub(super) fallbacks: Vec<Fallback>,
    /// Notices that hold in any case.
    pub(super) notices: Vec<Notice>,
}

/// What happens when the forms before it matched nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fallback {
    pub(super) notice: Notice,
    /// `None` when there is something to say but nothing to try.
    pub(super) form: Option<Form>,
}

/// One way to read a query: a recipe that can be repeated.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// Exactly this text.
    Literal(String),
    /// A regular expression, matched line by line.
    Regex(String),
    /// Any of these texts.
    Words(Vec<String>),
}

/// A query does not parse. Columns are 1-based characters of the query.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    /// Nothing to search for.
    #[error("the query is empty; to search for white space put it in quotes")]
    Empty,
    /// A search looks at one line at a time.
    #[error("the query has a line break at column {column}; search for one line of it")]
    LineBreak {
        /// Where.
        column: usize,
    },
    /// A quoted query has no closing quote.
    #[error(
        "the quote at column {column} is never closed; close it, or write `\\{quote}` inside quotes to search for the quote itself"
    )]
    Unterminated {
        /// Where the quote opens.
        column: usize,
        /// The quote character.
        quote: char,
    },
    /// Nothing between the quotes.
    #[error("there is nothing between the quotes at column {column}")]
    EmptyQuotes {
        /// Where the quotes open.
        column: usize,
    },
    /// A `regex:` query is not a regular expression.
    #[error("invalid regular expression at column {column}: {reason}")]
    Regex {
        /// Where, counted in the whole query.
        column: usize,
        /// What is wrong.
        reason: String,
    },
    /// A `files:` glob does not parse.
    #[error("the glob `{glob}` does not parse: {reason}")]
    Glob {
        /// The glob.
        glob: String,
        /// What is wrong.
        reason: String,
    },
}

impl QueryError {
    /// The stable code.
    pub fn code(&self) -> ErrorCode {
        ErrorCode::InvalidPattern
    }
}

impl Query {
    /// Parses a query as an agent writes it: a kind (`regex:`, `files:`) and its text, a text in
    /// quotes, or plain text.
    ///
    /// # Errors
    /// [`QueryError`], with the column where there is one.
    pub fn parse(query: &str) -> Result<Self, QueryError> {
        if let Some(pattern) = query.strip_prefix("files:") {
            return NameQuery::parse(pattern.trim()).map(Self::Names);
        }
        if let Some(at) = query.chars().position(|c| c == '\n' || c == '\r') {
            return Err(QueryError::LineBreak { column: at + 1 });
        }
        if query.trim().is_empty() {
            return Err(QueryError::Empty);
        }
        if let Some(pattern) = query.strip_prefix("regex:") {
            return forced_regex(pattern, "regex:".len());
        }
        if let Some(literal) = quoted(query)? {
            return Ok(Self::Text(TextQuery::only(Form::Literal(literal))));
        }
        Ok(Self::Text(plain(query)))
    }
}

impl TextQuery {
    fn only(first: Form) -> Self {
        Self { first, fallbacks: Vec::new(), notices: Vec::new() }
    }

    /// The form that is tried first.
    pub fn first(&self) -> &Form {
        &self.first
    }
}

fn forced_regex(pattern: &str, prefix: usize) -> Result<Query, QueryError> {
    if pattern.is_empty() {
        return Err(QueryError::Empty);
    }
    regex_form::check(pattern).map_err(|BadRegex { column, reason }| QueryError::Regex {
        column: column + prefix,
        reason,
    })?;
    Ok(Query::Text(TextQuery::only(Form::Regex(pattern.to_owned()))))
}

/// The text of a query that is wholly in quotes; `None` when it is not.
fn quoted(query: &str) -> Result<Option<String>, QueryError> {
    let trimmed = query.trim();
    let column = query.chars().take_while(|c| c.is_whitespace()).count() + 1;
    let mut chars = trimmed.chars();
    let Some(quote @ ('"' | '\'')) = chars.next() else { return Ok(None) };
    let mut literal = String::new();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some(escaped) if escaped == quote || escaped == '\\' => literal.push(escaped),
                Some(other) => literal.extend(['\\', other]),
                None => literal.push('\\'),
            },
            c if c == quote => {
                return match (chars.as_str().is_empty(), literal.is_empty()) {
                    (true, true) => Err(QueryError::EmptyQuotes { column }),
                    (true, false) => Ok(Some(literal)),
                    // More follows: the quotes are part of the text.
                    (false, _) => Ok(None),
                };
            }
            c => literal.push(c),
        }
    }
    Err(QueryError::Unterminated { column, quote })
}

fn plain(query: &str) -> TextQuery {
    let mut text = TextQuery::only(Form::Literal(query.to_owned()));
    text.notices.extend(unknown_prefix(query).map(|prefix| Notice::UnknownPrefix { prefix }));
    match regex_form::check(query) {
        Err(BadRegex { column, reason }) => {
            let notice = Notice::SkippedRegex { reason, column };
            text.fallbacks.push(Fallback { notice, form: None });
        }
        // A pattern that matches the empty text would "find" every line.
        Ok(parsed) if parsed.differs_from(query) && !parsed.matches_nothing() => {
            let form = Some(Form::Regex(query.to_owned()));
            text.fallbacks.push(Fallback { notice: Notice::TriedRegex, form });
        }
        Ok(_) => {}
    }
    let words = distinct_words(query);
    if words.len() >= 2 && !query.contains(['"', '\'']) {
        let notice = Notice::TriedWords { words: words.clone() };
        text.fallbacks.push(Fallback { notice, form: Some(Form::Words(words)) });
    }
    text
}

fn distinct_words(query: &str) -> Vec<String> {
    let mut seen = HashSet::new();
    query.split_whitespace().filter(|word| seen.insert(*word)).map(str::to_owned).collect()
}

/// The prefix of a query that looks like `kind:rest`. `a::b` and `http://x` do not.
fn unknown_prefix(query: &str) -> Option<String> {
    let (prefix, rest) = query.split_once(':')?;
    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '+' | '.');
    let looks = prefix.starts_with(|c: char| c.is_ascii_alphabetic()) && prefix.chars().all(word);
    let more = !rest.trim().is_empty() && !rest.starts_with([':', '/', '\\', '=']);
    (looks && more).then(|| prefix.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(query: &str) -> TextQuery {
        match Query::parse(query).unwrap() {
            Query::Text(text) => text,
            Query::Names(_) => panic!("{query} is a text query"),
        }
    }

    /// Checks the forms of a query, in order.
    fn check(query: &str, expected: &[Form]) {
        let text = text(query);
        let fallbacks = text.fallbacks.iter().filter_map(|fallback| fallback.form.clone());
        let forms: Vec<Form> = std::iter::once(text.first.clone()).chain(fallbacks).collect();
        assert_eq!(forms, expected, "{query}");
    }

    fn literal(text: &str) -> Form {
        Form::Literal(text.into())
    }

    fn regex(text: &str) -> Form {
        Form::Regex(text.into())
    }

    fn words(words: &[&str]) -> Form {
        Form::Words(words.iter().map(|w| (*w).to_owned()).collect())
    }

    #[test]
    fn plain_text_falls_back_to_regex_and_words() {
        check("needle", &[literal("needle")]);
        check("foo-bar_baz#1", &[literal("foo-bar_baz#1")]);
        check("foo.*bar", &[literal("foo.*bar"), regex("foo.*bar")]);
        check("a b a", &[literal("a b a"), words(&["a", "b"])]);
        check("a a", &[literal("a a")]);
        check("f(x) y", &[literal("f(x) y"), regex("f(x) y"), words(&["f(x)", "y"])]);
        check("x*", &[literal("x*")]);
        check("say \"hi\" now", &[literal("say \"hi\" now")]);
    }

    #[test]
    fn an_invalid_optional_regex_is_skipped_with_a_notice() {
        let text = text("foo(");
        let [Fallback { notice: Notice::SkippedRegex { column, .. }, form: None }] =
            &text.fallbacks[..]
        else {
            panic!("{text:?}");
        };
        assert_eq!(*column, 4);
    }

    #[test]
    fn quotes_force_literal() {
        check("\"a b.*\"", &[literal("a b.*")]);
        check("'it\\'s'", &[literal("it's")]);
        check(r#""a\\b\n\"""#, &[literal("a\\b\\n\"")]);
        let error = |query: &str| Query::parse(query).unwrap_err();
        assert_eq!(error("\"abc"), QueryError::Unterminated { column: 1, quote: '"' });
        assert_eq!(error("  ''"), QueryError::EmptyQuotes { column: 3 });
    }

    #[test]
    fn kinds() {
        check("regex:a.b", &[regex("a.b")]);
        let error = Query::parse("regex:é(").unwrap_err();
        assert!(matches!(error, QueryError::Regex { column: 8, .. }), "{error:?}");
        assert_eq!(Query::parse("regex:"), Err(QueryError::Empty));
        assert!(matches!(Query::parse("files:a"), Ok(Query::Names(_))));
    }

    #[test]
    fn empty_queries_and_line_breaks_are_errors() {
        assert_eq!(Query::parse(""), Err(QueryError::Empty));
        assert_eq!(Query::parse(" \t"), Err(QueryError::Empty));
        assert_eq!(Query::parse("é\nb"), Err(QueryError::LineBreak { column: 2 }));
        assert_eq!(Query::parse("\"a\rb\""), Err(QueryError::LineBreak { column: 3 }));
    }

    #[test]
    fn unknown_prefixes_are_text_and_said() {
        let prefix = |query| match &text(query).notices[..] {
            [Notice::UnknownPrefix { prefix }] => Some(prefix.clone()),
            _ => None,
        };
        assert_eq!(prefix("unknown:needle"), Some("unknown".into()));
        assert_eq!(prefix("feature: \"x\""), Some("feature".into()));
        for plain in ["std::fs", "http://x", "else:", "a b: c", "x:=1", "C:\\x"] {
            assert_eq!(prefix(plain), None, "{plain}");
        }
    }
}
