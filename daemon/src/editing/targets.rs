//! From the place of an edit to ranges of the current texts.

use anchors::anchor::{Context, parse_line_anchor};
use anchors::{
    AnchorError, ErrorCode, Range, Reference, ReferenceError, Resolved, Selection, SourceId,
};
use editor::mutation::{Delete, Insert, Mutation, Replace, Target, Write};

use super::{Action, Files, Place, Request};
use crate::arguments::Sources;
use crate::call::{Call, Loaded, path_of, source_of, stale};
use crate::config::Rebase;
use crate::failure::Failure;

/// What one request asks the editor for.
pub(super) fn mutation(
    call: &Call<'_>,
    files: &mut Files,
    request: &Request,
) -> Result<Mutation, Failure> {
    match request {
        Request::Write { path, content } => write(call, files, path, content),
        Request::Text { place, action } => {
            let targets = merged(Resolver { call, files }.targets(place)?);
            Ok(match action.clone() {
                Action::Replace { text } => Mutation::Replace(Replace { targets, text }),
                Action::Insert { text, side, separation } => {
                    Mutation::Insert(Insert { targets, text, side, separation })
                }
                Action::Delete => Mutation::Delete(Delete { targets }),
            })
        }
    }
}

fn write(
    call: &Call<'_>,
    files: &mut Files,
    path: &str,
    content: &str,
) -> Result<Mutation, Failure> {
    if Reference::parse(path).is_some() {
        return Err(Failure::invalid(
            "`write` takes a file, not a result; use `replace` for those",
        ));
    }
    let path = call.locate_new(path)?;
    let source = source_of(&path);
    let loaded = files.get(&source, || call.load(&path))?;
    Ok(Mutation::Write(Write {
        source,
        path,
        before: loaded.original.clone(),
        text: content.to_owned(),
    }))
}

/// One target a file, so that ranges of one file are looked at together.
fn merged(targets: Vec<Target>) -> Vec<Target> {
    let mut merged: Vec<Target> = Vec::new();
    for target in targets {
        match merged.iter_mut().find(|other| other.source == target.source) {
            Some(other) => {
                other.ranges.extend(target.ranges);
                other.rebased = other.rebased.or(target.rebased);
            }
            None => merged.push(target),
        }
    }
    merged
}

struct Resolver<'a> {
    call: &'a Call<'a>,
    files: &'a mut Files,
}

impl Resolver<'_> {
    fn targets(&mut self, place: &Place) -> Result<Vec<Target>, Failure> {
        let Place { path, start, end } = place;
        match path {
            Some(path) => self.of_paths(path, start.as_deref(), end.as_deref()),
            None => self.of_anchor(start.as_deref(), end.as_deref()),
        }
    }

    fn of_paths(
        &mut self,
        paths: &Sources,
        start: Option<&str>,
        end: Option<&str>,
    ) -> Result<Vec<Target>, Failure> {
        let mut targets = Vec::new();
        for path in paths.as_slice() {
            if let Some(selection) = self.call.selection(path) {
                if start.is_some() || end.is_some() {
                    return Err(Failure::invalid(
                        "a result selects its text itself; leave out `start` and `end`, or name the file",
                    ));
                }
                targets.extend(self.of_selection(&selection?)?);
                continue;
            }
            let located = self.call.locate_editable(path)?;
            let start = match (&located.anchor, start) {
                (Some(_), Some(_)) => {
                    return Err(Failure::invalid(
                        "`path` already names an anchor; leave out `start`",
                    ));
                }
                (anchor, start) => anchor.as_deref().or(start),
            };
            let source = source_of(&located.path);
            targets.push(self.of_file(&source, start, end)?);
        }
        if targets.is_empty() {
            return Err(Failure::invalid("`path` is empty"));
        }
        Ok(targets)
    }

    /// Without a path: what the anchor itself names, or the one file that it was shown in, or the
    /// file at hand.
    fn of_anchor(
        &mut self,
        start: Option<&str>,
        end: Option<&str>,
    ) -> Result<Vec<Target>, Failure> {
        let Some(start) = start else {
            return Err(Failure::invalid(
                "name what to change: `path` with an anchor, or a result",
            ));
        };
        if end.is_none()
            && let Some(selection) = self.call.selection(start)
        {
            return self.of_selection(&selection?);
        }
        let source = match parse_line_anchor(start) {
            Some((line, hash)) => {
                let holders = self.call.memory().ledger.holders(line, hash);
                match &holders[..] {
                    [one] => Some(one.clone()),
                    [] => None,
                    many => return Err(self.ambiguous(start, many)),
                }
            }
            None => None,
        };
        let source = source.or_else(|| self.call.memory().last.clone()).ok_or_else(|| {
            Failure::invalid("no file was read or edited yet in this session; name one in `path`")
        })?;
        Ok(vec![self.of_file(&source, Some(start), end)?])
    }

    fn ambiguous(&self, anchor: &str, sources: &[SourceId]) -> Failure {
        let mut names: Vec<String> = sources.iter().map(|source| self.call.name(source)).collect();
        names.sort();
        let message = format!(
            "`{anchor}` was shown in several files; name one in `path`: {}",
            names.join(", ")
        );
        Failure::new(ErrorCode::AmbiguousText, message)
    }

    fn of_selection(&mut self, selection: &Selection) -> Result<Vec<Target>, Failure> {
        if !selection.complete {
            return Err(Failure::new(
                ErrorCode::IncompleteSelection,
                "the result is incomplete and can't authorise an edit; narrow it first",
            ));
        }
        let mut targets = Vec::new();
        for part in &selection.parts {
            self.call.context.cancel.check()?;
            let loaded = self.load(&part.source)?;
            if loaded.original.hash() != Some(part.content) {
                return Err(stale(&self.call.name(&part.source)));
            }
            targets.push(self.target(&part.source, part.ranges.clone(), None)?);
        }
        if targets.is_empty() {
            return Err(Failure::new(ErrorCode::NoSelection, "the result selects nothing"));
        }
        Ok(targets)
    }

    fn of_file(
        &mut self,
        source: &SourceId,
        start: Option<&str>,
        end: Option<&str>,
    ) -> Result<Target, Failure> {
        let name = self.call.name(source);
        let loaded = self.load(source)?;
        let snapshot = loaded.text().map_err(|failure| failure.at(&name))?.clone();
        let Some(start) = start else {
            return Err(Failure::invalid(
                "name what to change in the file: an anchor or exact text (`start`, with `end` for a \
                 span; `anchor` of `insert`), or `path#anchor`",
            )
            .at(name));
        };
        let resolved = self
            .resolve(source, &snapshot, start, end)
            .map_err(|error| self.call.anchor_failure(&error, source, &snapshot))?;
        self.target(source, resolved.ranges, resolved.rebased)
    }

    fn resolve(
        &self,
        source: &SourceId,
        snapshot: &std::sync::Arc<anchors::Snapshot>,
        start: &str,
        end: Option<&str>,
    ) -> Result<Resolved, AnchorError> {
        let selections: Vec<(&str, Option<Result<Selection, ReferenceError>>)> = [Some(start), end]
            .into_iter()
            .flatten()
            .map(|token| (token, self.reference(token)))
            .collect();
        let references = |token: &str| {
            selections
                .iter()
                .find(|(other, _)| *other == token)
                .and_then(|(_, found)| found.clone())
        };
        let memory = self.call.memory();
        let context = Context {
            source,
            snapshot,
            ledger: &memory.ledger,
            references: &references,
            rebase: self.call.config.editor.rebase == Rebase::Proven,
        };
        crate::engine::Engine::anchors(&self.call.modules).resolve(start, end, &context)
    }

    fn reference(&self, token: &str) -> Option<Result<Selection, ReferenceError>> {
        let reference = Reference::parse(token)?;
        Some(reference.and_then(|reference| self.call.memory().references.selection(&reference)))
    }

    fn load(&mut self, source: &SourceId) -> Result<Loaded, Failure> {
        self.files.get(source, || self.call.load_source(source)).cloned()
    }

    fn target(
        &mut self,
        source: &SourceId,
        ranges: Vec<Range>,
        rebased: Option<anchors::Rebased>,
    ) -> Result<Target, Failure> {
        let loaded = self.load(source)?;
        let snapshot = loaded.text().map_err(|failure| failure.at(self.call.name(source)))?.clone();
        let path = path_of(source).unwrap_or(loaded.path);
        Ok(Target { source: source.clone(), path, snapshot, ranges, rebased })
    }
}
