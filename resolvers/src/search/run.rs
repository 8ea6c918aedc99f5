//! Running a text query: one pass per form, further forms only when there is nothing yet.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::file::{Searched, TextSearch};
use super::hits::FileHits;
use super::matcher::{Matcher, Rules};
use super::query::{Form, TextQuery};
use super::{
    Engine, Incomplete, Region, Scope, SearchError, SearchOptions, TextHits, Totals,
    check_cancelled, region,
};
use crate::limits::RESULT_LINES;
use crate::walk::{Stop, Stopped, WalkOptions, open_named};

/// Runs the forms of `query` until one matches.
pub(super) fn with_fallbacks(
    engine: &Engine,
    query: &TextQuery,
    scope: &Scope,
    options: &SearchOptions,
    stop: &Stop,
) -> Result<TextHits, SearchError> {
    let mut hits = one_form(engine, &query.first, scope, options, stop)?;
    let mut notices = query.notices.clone();
    for fallback in &query.fallbacks {
        if hits.totals.matches > 0 || !hits.is_complete() {
            break;
        }
        notices.push(fallback.notice.clone());
        if let Some(form) = &fallback.form {
            hits = one_form(engine, form, scope, options, stop)?;
        }
    }
    hits.notices = notices;
    Ok(hits)
}

/// Runs one form.
pub(super) fn one_form(
    engine: &Engine,
    form: &Form,
    scope: &Scope,
    options: &SearchOptions,
    stop: &Stop,
) -> Result<TextHits, SearchError> {
    let rules = Rules { case_sensitive: options.case_sensitive, whole_word: options.whole_word };
    let matcher = Matcher::new(form, rules)?;
    let buffers = Arc::clone(&engine.buffers);
    let pass = Pass {
        search: Arc::new(TextSearch::new(matcher.clone(), options.context, stop.clone(), buffers)),
        matcher,
    };
    let (mut files, mut totals) = match scope {
        Scope::Paths(roots) => pass.over_files(engine, roots, options)?,
        Scope::Regions(regions) => pass.over_regions(regions),
    };
    check_cancelled(stop)?;
    files.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
    if let Scope::Paths(_) = scope {
        // Roots may overlap.
        files.dedup_by(|a, b| a.path == b.path);
        totals.files_matched = files.len() as u64;
        totals.matches = files.iter().map(|file| file.count).sum();
        pass.complete_previews(engine, &mut files);
    }
    let timed_out = stop.stopped() == Some(Stopped::TimedOut);
    let incomplete = [
        timed_out.then_some(Incomplete::TimedOut),
        pass.search.overflowed().then_some(Incomplete::TooManyMatches),
    ];
    Ok(TextHits {
        files,
        form: form.clone(),
        totals,
        notices: Vec::new(),
        incomplete: incomplete.into_iter().flatten().collect(),
    })
}

/// One form over one scope.
struct Pass {
    search: Arc<TextSearch>,
    matcher: Matcher,
}

impl Pass {
    fn over_files(
        &self,
        engine: &Engine,
        roots: &[PathBuf],
        options: &SearchOptions,
    ) -> Result<(Vec<FileHits>, Totals), SearchError> {
        let walk = WalkOptions {
            hidden: options.hidden,
            ignored: options.ignored,
            globs: options.globs.clone(),
        };
        let mut walked = engine.walker.walk(roots, &walk, &self.search.stop, &self.search)?;
        let (files, mut totals) = self.search.take();
        walked.passed.add(std::mem::take(&mut totals.walked.passed));
        totals.walked = walked;
        Ok((files, totals))
    }

    fn over_regions(&self, regions: &[Region]) -> (Vec<FileHits>, Totals) {
        let mut totals = Totals::default();
        let mut files = Vec::new();
        for (index, region) in regions.iter().enumerate() {
            if self.search.stop.is_set() {
                break;
            }
            totals.files_searched += 1;
            if let Some(hits) = region::search(&self.search, index, region, &self.matcher) {
                totals.files_matched += 1;
                totals.matches += hits.count;
                files.push(hits);
            }
        }
        (files, totals)
    }

    /// Makes the previews that did not fit while the search ran, for as many matches as can be
    /// shown, from files that have not changed since.
    fn complete_previews(&self, engine: &Engine, files: &mut [FileHits]) {
        if files.iter().all(|file| file.preview.is_some()) {
            return;
        }
        let again = TextSearch::new(
            self.matcher.clone(),
            self.search.context,
            self.search.stop.clone(),
            Arc::clone(&engine.buffers),
        );
        let mut buffer = engine.buffers.take();
        let mut shown = 0;
        for file in files {
            if shown >= RESULT_LINES {
                break;
            }
            if file.preview.is_none() && !file.matches.is_empty() {
                let searched = again.search_path(&file.path, &self.matcher, &mut buffer);
                if let Ok(Searched::Found(content, found)) = searched
                    && content == file.content
                {
                    file.preview = Some(found.preview);
                }
            }
            shown += file.matches.len();
        }
        engine.buffers.give_back(buffer);
    }
}

impl TextSearch {
    fn search_path(
        &self,
        path: &Path,
        matcher: &Matcher,
        buffer: &mut Vec<u8>,
    ) -> std::io::Result<Searched> {
        self.search(&mut open_named(path)?, matcher, buffer)
    }
}
