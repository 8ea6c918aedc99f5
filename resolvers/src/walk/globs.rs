//! `include` and `exclude`: globs relative to a root, with the meaning of ripgrep's `-g`.
//!
//! A file that an `include` glob matches is wanted even when it is hidden or ignored; when there
//! is any `include`, other files are not wanted. `exclude` comes last and so wins.

use anchors::ErrorCode;
use ignore::overrides::{Override, OverrideBuilder};

use super::os;
use super::rules::Verdict;

/// Parsed `include` and `exclude` globs.
#[derive(Clone, Debug)]
pub struct Globs(Override);

/// A glob does not parse.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the glob `{glob}` does not parse: {reason}")]
pub struct GlobError {
    /// The glob.
    pub glob: String,
    /// What is wrong with it.
    pub reason: String,
}

impl GlobError {
    /// The stable code.
    pub fn code(&self) -> ErrorCode {
        ErrorCode::InvalidPattern
    }
}

impl Default for Globs {
    fn default() -> Self {
        Self(Override::empty())
    }
}

impl Globs {
    /// Parses two lists of globs, each separated by commas or white space outside `{}`.
    ///
    /// # Errors
    /// [`GlobError`] names the first glob that does not parse.
    pub fn parse(include: &str, exclude: &str) -> Result<Self, GlobError> {
        let mut builder = OverrideBuilder::new("");
        let wanted = split(include).map(|glob| (glob, glob.to_owned()));
        let unwanted = split(exclude).map(|glob| (glob, format!("!{glob}")));
        for (glob, line) in wanted.chain(unwanted) {
            let fail = |error: &ignore::Error| GlobError {
                glob: glob.to_owned(),
                reason: plain_reason(error),
            };
            builder.add(&line).map_err(|error| fail(&error))?;
        }
        let fail = |error: ignore::Error| GlobError {
            glob: format!("{include} {exclude}").trim().to_owned(),
            reason: plain_reason(&error),
        };
        builder.build().map(Self).map_err(fail)
    }

    /// Whether there is no glob at all.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What the globs say about a path below the root.
    pub(crate) fn verdict(&self, relative: &[u8], is_dir: bool) -> Option<Verdict> {
        match self.0.matched(os::path_of(relative), is_dir) {
            ignore::Match::None => None,
            ignore::Match::Ignore(_) => Some(Verdict::Ignore),
            ignore::Match::Whitelist(_) => Some(Verdict::Keep),
        }
    }
}

fn plain_reason(error: &ignore::Error) -> String {
    match error {
        ignore::Error::Glob { err, .. } => err.clone(),
        other => other.to_string(),
    }
}

/// The globs of a list; separators inside `{}` belong to the glob.
fn split(list: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0usize;
    list.split(move |c: char| {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && (c == ',' || c.is_whitespace())
    })
    .filter(|glob| !glob.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(include: &str, exclude: &str, yes: &[&str], no: &[&str]) {
        let globs = Globs::parse(include, exclude).unwrap();
        for path in yes {
            assert_ne!(globs.verdict(path.as_bytes(), false), Some(Verdict::Ignore), "{path}");
        }
        for path in no {
            assert_eq!(globs.verdict(path.as_bytes(), false), Some(Verdict::Ignore), "{path}");
        }
    }

    #[test]
    fn lists_split_outside_braces() {
        let all: Vec<_> = split("*.rs, src/{a,b c}.c  x").collect();
        assert_eq!(all, ["*.rs", "src/{a,b c}.c", "x"]);
    }

    #[test]
    fn include_and_exclude() {
        check("*.rs", "", &["a.rs", "d/a.rs"], &["a.c", "d/rs"]);
        check("", "*.rs,/b/**", &["a.c", "x/b/c"], &["d/a.rs", "b/c"]);
        check("src/**", "*.c", &["src/a.rs"], &["src/a.c", "a.rs"]);
        check("*.{rs,c}", "", &["a.rs", "a.c"], &["a.h"]);
        check("", "", &["a"], &[]);
    }

    #[test]
    fn a_bad_glob_is_named() {
        let error = Globs::parse("*.rs {a", "").unwrap_err();
        assert_eq!(error.glob, "{a");
    }
}
