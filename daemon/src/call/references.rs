//! From a reference token to the selection behind it, as it is now.

use anchors::{
    ErrorCode, Found, Part, Reference, SearchFile, SearchRef, Selection, Which, reference,
};
use resolvers::search::{Scope, TextHits};

use super::{Call, source_of};
use crate::failure::Failure;

impl Call<'_> {
    /// The selection behind `token`; `None` when it is no reference.
    ///
    /// A search's `:all` is run again, once, when a file behind it has changed.
    ///
    /// # Errors
    /// The reference is unknown, expired, altered or incomplete.
    pub fn selection(&self, token: &str) -> Option<Result<Selection, Failure>> {
        let reference = match Reference::parse(token)? {
            Ok(reference) => reference,
            Err(error) => return Some(Err(failed(&error))),
        };
        Some(self.resolve_reference(&reference))
    }

    fn resolve_reference(&self, reference: &Reference) -> Result<Selection, Failure> {
        let selection = self.memory().references.selection(reference).map_err(|e| failed(&e))?;
        let Reference::Search(search) = reference else { return Ok(selection) };
        if search.which != Which::All || self.is_current(&selection)? {
            return Ok(selection);
        }
        let Some(found) = self.search_again(search)? else { return Ok(selection) };
        let now: usize = found.files.iter().map(|file| file.matches.len()).sum();
        self.note(format!(
            "a file had changed, so the search was run again: {} ranges then, {now} matches now",
            selection.len()
        ));
        let mut memory = self.memory();
        memory.references.refresh(search, found);
        memory.references.selection(reference).map_err(|error| failed(&error))
    }

    /// Whether every source still has the content that the selection was made from.
    fn is_current(&self, selection: &Selection) -> Result<bool, Failure> {
        for part in &selection.parts {
            self.context.cancel.check()?;
            if !self.is_fresh(part) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn is_fresh(&self, part: &Part) -> bool {
        self.load_source(&part.source)
            .is_ok_and(|loaded| loaded.original.hash() == Some(part.content))
    }

    /// What the search finds now; `None` for a search that can't be repeated.
    fn search_again(&self, search: &SearchRef) -> Result<Option<Found>, Failure> {
        let recipe = {
            let mut memory = self.memory();
            let (recipe, _) = memory.references.recipe(search).map_err(|error| failed(&error))?;
            recipe.clone()
        };
        let Some(recipe) = recipe else { return Ok(None) };
        let scope = Scope::Paths(recipe.roots);
        let hits = self
            .engine
            .search
            .search_form(&recipe.form, &scope, &recipe.options, &self.context.cancel)
            .map_err(|error| Failure::new(error.code(), error.to_string()))?;
        Ok(Some(found(&hits)))
    }
}

/// The matches in the form that references are made of.
pub fn found(hits: &TextHits) -> Found {
    let file = |file: &resolvers::search::FileHits| SearchFile {
        source: source_of(&file.path),
        content: file.content,
        matches: file
            .matches
            .iter()
            .map(|hit| anchors::Hit { line: hit.line_span, text: hit.span })
            .collect(),
    };
    let kept = hits.files.iter().filter(|file| !file.matches.is_empty());
    Found { files: kept.map(file).collect(), complete: is_complete(hits) }
}

/// Whether nothing that was to be searched is missing from the matches.
pub fn is_complete(hits: &TextHits) -> bool {
    hits.is_complete() && hits.totals.walked.passed.unreadable == 0
}

/// A reference that selects nothing.
pub(super) fn failed(error: &reference::ReferenceError) -> Failure {
    Failure::new(error.code(), error.to_string())
}

/// A source that changed since a reference was made.
pub fn stale(name: &str) -> Failure {
    let message = "it has changed since that result; read or search again";
    Failure::new(ErrorCode::StaleReference, message).at(name)
}
