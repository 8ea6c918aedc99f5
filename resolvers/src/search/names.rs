//! `files:`: finding paths by glob or by a few letters of their names.
//!
//! Hidden files are included, `.git` and ignored files are not. Each thread keeps only the best
//! names, so a search of any tree takes little memory and gives the same list every time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use globset::{GlobBuilder, GlobMatcher};
use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Utf32Str};

use super::query::QueryError;
use super::{Incomplete, SearchError, SearchOptions, check_cancelled};
use crate::walk::{FileEntry, Stop, Stopped, Visit, WalkOptions, Walked, Walker};

/// A parsed `files:` query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameQuery {
    pattern: String,
}

/// The outcome of a `files:` query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameHits {
    /// The best paths, at most the limit: by path for a glob, best first for a fuzzy name.
    pub paths: Vec<PathBuf>,
    /// How many paths match in all; more than `paths` when the limit was reached.
    pub count: u64,
    /// Whether the pattern was a glob.
    pub is_glob: bool,
    /// What the walk did and passed over.
    pub walked: Walked,
    /// Why paths may be missing; empty when nothing is.
    pub incomplete: Vec<Incomplete>,
}

impl NameQuery {
    /// Parses what follows `files:`. Empty means all files.
    pub(super) fn parse(pattern: &str) -> Result<Self, QueryError> {
        let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
        let query = Self { pattern: pattern.trim_start_matches('/').to_owned() };
        if query.is_glob() {
            query.glob(false)?;
        }
        Ok(query)
    }

    fn is_glob(&self) -> bool {
        self.pattern.contains(['*', '?', '[', ']', '{', '}'])
    }

    fn glob(&self, insensitive: bool) -> Result<GlobMatcher, QueryError> {
        GlobBuilder::new(&self.pattern)
            .literal_separator(true)
            .case_insensitive(insensitive)
            .build()
            .map(|glob| glob.compile_matcher())
            .map_err(|error| QueryError::Glob {
                glob: self.pattern.clone(),
                reason: error.kind().to_string(),
            })
    }

    fn test(&self, case_sensitive: Option<bool>) -> Result<Test, QueryError> {
        if self.pattern.is_empty() {
            return Ok(Test::All);
        }
        if self.is_glob() {
            let smart = self.pattern.chars().any(char::is_uppercase);
            let glob = self.glob(!case_sensitive.unwrap_or(smart))?;
            return Ok(Test::Glob { glob, by_path: self.pattern.contains('/') });
        }
        let case = match case_sensitive {
            Some(true) => CaseMatching::Respect,
            _ => CaseMatching::Ignore,
        };
        Ok(Test::Fuzzy(Pattern::new(&self.pattern, case, Normalization::Smart, AtomKind::Fuzzy)))
    }
}

/// Which paths are wanted.
#[derive(Clone, Debug)]
enum Test {
    All,
    Glob { glob: GlobMatcher, by_path: bool },
    Fuzzy(Pattern),
}

/// A path and its rank: better ones are smaller.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Ranked(Reverse<u32>, OsString);

/// Finds the best names.
pub(super) fn search(
    walker: &Walker,
    query: &NameQuery,
    roots: &[PathBuf],
    options: &SearchOptions,
    stop: &Stop,
) -> Result<NameHits, SearchError> {
    let test = query.test(options.case_sensitive)?;
    let limit = options.limit;
    let search = Arc::new(NameSearch { test, limit, merged: Mutex::default() });
    let walk = WalkOptions { hidden: true, ignored: options.ignored, globs: options.globs.clone() };
    let walked = walker.walk(roots, &walk, stop, &search)?;
    check_cancelled(stop)?;
    let best = std::mem::take(&mut *search.merged.lock().unwrap_or_else(PoisonError::into_inner));
    let timed_out = walked.stopped == Some(Stopped::TimedOut);
    Ok(NameHits {
        count: best.count,
        paths: best.heap.into_sorted_vec().into_iter().map(|Ranked(_, path)| path.into()).collect(),
        is_glob: query.is_glob(),
        walked,
        incomplete: timed_out.then_some(Incomplete::TimedOut).into_iter().collect(),
    })
}

/// The best names so far; the worst of them is on top.
#[derive(Debug, Default)]
struct Best {
    heap: BinaryHeap<Ranked>,
    count: u64,
}

impl Best {
    fn offer(&mut self, ranked: Ranked, limit: usize) {
        if self.heap.len() < limit {
            self.heap.push(ranked);
        } else if let Some(mut worst) = self.heap.peek_mut()
            && ranked < *worst
        {
            *worst = ranked;
        }
    }
}

#[derive(Debug)]
struct NameSearch {
    test: Test,
    limit: usize,
    merged: Mutex<Best>,
}

/// What one thread holds.
struct Local {
    best: Best,
    fuzzy: nucleo_matcher::Matcher,
    buffer: Vec<char>,
}

impl NameSearch {
    fn score(&self, relative: &[u8], local: &mut Local) -> Option<u32> {
        match &self.test {
            Test::All => Some(0),
            Test::Glob { glob, by_path } => {
                let name = relative.rsplit(|b| *b == b'/').next().unwrap_or(relative);
                let subject = if *by_path { relative } else { name };
                glob.is_match(crate::walk::as_path(subject)).then_some(0)
            }
            Test::Fuzzy(pattern) => {
                let path = String::from_utf8_lossy(relative);
                pattern.score(Utf32Str::new(&path, &mut local.buffer), &mut local.fuzzy)
            }
        }
    }
}

impl Visit for NameSearch {
    type Local = Local;

    fn enter(&self) -> Local {
        let fuzzy = nucleo_matcher::Matcher::new(Config::DEFAULT.match_paths());
        Local { best: Best::default(), fuzzy, buffer: Vec::new() }
    }

    fn file(&self, local: &mut Local, file: &FileEntry<'_>) {
        if let Some(score) = self.score(file.relative(), local) {
            local.best.count += 1;
            local.best.offer(Ranked(Reverse(score), file.path().into()), self.limit);
        }
    }

    fn leave(&self, local: Local) {
        let mut merged = self.merged.lock().unwrap_or_else(PoisonError::into_inner);
        merged.count += local.best.count;
        for ranked in local.best.heap {
            merged.offer(ranked, self.limit);
        }
    }
}
