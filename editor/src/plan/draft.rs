//! The plan in the making: which mutation claims what of which file.

use std::collections::HashMap;
use std::path::PathBuf;

use anchors::{Cancel, Cancelled, Encoding, Format, Range, Rebased, SourceId, Span};
use uuid::Uuid;

use super::change::{ChangeSet, Edit};
use super::encode::{self, split_mark};
use super::lower::{OpResult, lower};
use super::op::{Action, Op, ops};
use super::text::{position, refuse_display};
use super::{Place, PlanError, Planned, PlannedFile, PlannedPart};
use crate::mutation::{Insert, Mutation, Original, Target, Write};

/// The files of a batch with the claims on them.
#[derive(Default)]
pub(super) struct Draft<'a> {
    files: Vec<File<'a>>,
    by_source: HashMap<&'a SourceId, usize>,
}

struct File<'a> {
    source: &'a SourceId,
    path: &'a PathBuf,
    before: Original,
    /// Sorted and free of conflicts.
    ops: Vec<Op>,
    /// The mutation that writes the file as a whole; then there are no operations.
    whole: Option<(usize, &'a str)>,
    rebased: Vec<(usize, Rebased)>,
}

/// What a finished file is, or the mutations that make it impossible and why.
type Finished<T> = Result<T, (Vec<usize>, PlanError)>;

/// What every mutation comes to, and every file that changes.
type Outcome = (Vec<Planned>, Vec<PlannedFile>);

impl<'a> Draft<'a> {
    /// Adds all of a mutation, or nothing of it.
    pub(super) fn add(
        &mut self,
        index: usize,
        mutation: &'a Mutation,
        is_live: &dyn Fn(Uuid) -> bool,
    ) -> Result<(), PlanError> {
        if let Some(text) = mutation.text() {
            refuse_display(text, is_live)?;
        }
        match mutation {
            Mutation::Write(write) => return self.add_write(index, write),
            Mutation::Insert(Insert { text, .. }) if text.is_empty() => {
                return Err(PlanError::NothingToInsert);
            }
            _ => {}
        }
        // A file that is named twice is one file: its claims are checked together.
        let mut claims: Vec<(&'a Target, Vec<Op>)> = Vec::new();
        let mut place: HashMap<&SourceId, usize> = HashMap::new();
        for target in mutation.targets() {
            let ops = ops(index, mutation, target)?;
            let at = *place.entry(&target.source).or_insert(claims.len());
            match claims.get_mut(at) {
                Some((first, _)) if first.snapshot.hash() != target.snapshot.hash() => {
                    return Err(PlanError::Changed { file: target.source.clone() });
                }
                Some((_, known)) => known.extend(ops),
                None => claims.push((target, ops)),
            }
        }
        for (target, ops) in &mut claims {
            ops.sort_by_key(Op::key);
            self.check(target, ops)?;
        }
        for (target, ops) in claims {
            self.claim(index, target, ops);
        }
        Ok(())
    }

    fn add_write(&mut self, index: usize, write: &'a Write) -> Result<(), PlanError> {
        if let Some(file) = self.file(&write.source) {
            let (first, call) = file.first_claim();
            let (file, second) = (write.source.clone(), Place::File);
            return Err(PlanError::Overlapping { file, first, second, call });
        }
        if let Original::Text(snapshot) = &write.before {
            check_encoding(&write.source, snapshot.format(), &write.text)?;
        }
        self.by_source.insert(&write.source, self.files.len());
        self.files.push(File {
            source: &write.source,
            path: &write.path,
            before: write.before.clone(),
            ops: Vec::new(),
            whole: Some((index, &write.text)),
            rebased: Vec::new(),
        });
        Ok(())
    }

    fn file(&self, source: &SourceId) -> Option<&File<'a>> {
        self.by_source.get(source).map(|at| &self.files[*at])
    }

    /// Whether the sorted `ops` fit together, with the encoding, and with what is claimed already.
    fn check(&self, target: &Target, ops: &[Op]) -> Result<(), PlanError> {
        let snapshot = &*target.snapshot;
        let Some(first) = ops.first() else { return Ok(()) };
        if let Action::Text { text, .. } | Action::Lines { text, .. } = &first.action {
            check_encoding(&target.source, snapshot.format(), text)?;
        }
        let overlap = |first: Place, second: &Op, call| PlanError::Overlapping {
            file: target.source.clone(),
            first,
            second: Place::of(snapshot, second.claim),
            call,
        };
        if let Some([a, b]) = ops.array_windows().find(|[a, b]| a.conflicts(b)) {
            return Err(overlap(Place::of(snapshot, a.claim), b, None));
        }
        let Some(file) = self.file(&target.source) else { return Ok(()) };
        if let Some((call, _)) = file.whole {
            return Err(overlap(Place::File, first, Some(call)));
        }
        if file.before.hash() != Some(snapshot.hash()) {
            return Err(PlanError::Changed { file: target.source.clone() });
        }
        for op in ops {
            // Claims are sorted and apart, so that only the nearest ones can be in the way.
            let at = file.ops.partition_point(|known| known.key() < op.key());
            let mut near = file.ops[..at].last().into_iter().chain(file.ops.get(at));
            if let Some(known) = near.find(|known| known.conflicts(op)) {
                let first = Place::of(snapshot, known.claim);
                return Err(overlap(first, op, Some(known.mutation)));
            }
        }
        Ok(())
    }

    fn claim(&mut self, index: usize, target: &'a Target, ops: Vec<Op>) {
        let at = *self.by_source.entry(&target.source).or_insert(self.files.len());
        if at == self.files.len() {
            self.files.push(File {
                source: &target.source,
                path: &target.path,
                before: Original::Text(target.snapshot.clone()),
                ops: Vec::new(),
                whole: None,
                rebased: Vec::new(),
            });
        }
        let file = &mut self.files[at];
        file.ops.extend(ops);
        file.ops.sort_by_key(Op::key);
        file.rebased.extend(target.rebased.map(|rebased| (index, rebased)));
    }

    /// Works out every file. `mutations` is the size of the batch.
    pub(super) fn finish(
        self,
        mutations: usize,
        cancel: &Cancel,
    ) -> Result<Finished<Outcome>, Cancelled> {
        let mut planned = vec![Planned::default(); mutations];
        let mut files = Vec::new();
        for file in self.files {
            cancel.check()?;
            match file.finish(&mut planned, files.len(), cancel)? {
                Ok(done) => files.extend(done),
                Err(refused) => return Ok(Err(refused)),
            }
        }
        Ok(Ok((planned, files)))
    }
}

impl File<'_> {
    /// Something of the file that is claimed, and by which mutation.
    fn first_claim(&self) -> (Place, Option<usize>) {
        match (self.whole, self.ops.first(), self.before.snapshot()) {
            (None, Some(op), Some(snapshot)) => (Place::of(snapshot, op.claim), Some(op.mutation)),
            (whole, _, _) => (Place::File, whole.map(|(call, _)| call)),
        }
    }

    /// Fills in each mutation's part; the file itself if it changes, as number `at` of the plan.
    fn finish(
        self,
        planned: &mut [Planned],
        at: usize,
        cancel: &Cancel,
    ) -> Result<Finished<Option<PlannedFile>>, Cancelled> {
        let text = self.before.text();
        let old_format = self.before.snapshot().map(|snapshot| snapshot.format());
        let mut format = old_format.unwrap_or(Format::UTF8);
        let mut results = Vec::new();
        let changes = match self.whole {
            Some((_, new)) => {
                let (new, split) = split_mark(new, format);
                format = split;
                ChangeSet::new(text.len(), difference(text, new).into_iter().collect())
            }
            None => {
                let newline = self.before.snapshot().map_or("\n", |snapshot| snapshot.newline());
                let lowered = lower(text, newline, &self.ops);
                results = lowered.results;
                lowered.changes
            }
        };
        let changed = !changes.is_empty() || old_format != Some(format);
        let file = changed.then_some(at);
        self.fill(planned, file, &changes, &results);
        if !changed {
            return Ok(Ok(None));
        }
        let after = encode::after(self.source, format, text, &changes, cancel)?;
        let (source, path) = (self.source.clone(), self.path.clone());
        Ok(match after {
            Ok(after) => {
                Ok(Some(PlannedFile { source, path, before: self.before, after, changes }))
            }
            Err(error) => Err((self.mutations(), error)),
        })
    }

    /// The mutations that touch the file.
    fn mutations(&self) -> Vec<usize> {
        let ops = self.ops.iter().map(|op| op.mutation);
        ops.chain(self.whole.map(|(call, _)| call)).collect()
    }

    fn fill(
        &self,
        planned: &mut [Planned],
        file: Option<usize>,
        changes: &ChangeSet,
        results: &[OpResult],
    ) {
        let part = |index: usize| PlannedPart {
            source: self.source.clone(),
            before: self.before.clone(),
            file,
            edits: Vec::new(),
            ranges: Vec::new(),
            whole: self.whole.is_some(),
            rebased: self.rebased.iter().find(|(at, _)| *at == index).map(|(_, rebased)| *rebased),
        };
        if let Some((index, _)) = self.whole {
            let edits = (0..changes.edits().len()).collect();
            let ranges = vec![Range::lines(Span::new(0, changes.len_after()))];
            planned[index].parts.push(PlannedPart { edits, ranges, ..part(index) });
        }
        for (op, result) in self.ops.iter().zip(results) {
            let parts = &mut planned[op.mutation].parts;
            if parts.last().is_none_or(|last| last.source != *self.source) {
                parts.push(part(op.mutation));
            }
            let Some(last) = parts.last_mut() else { continue };
            last.edits.extend(result.edit);
            if last.ranges.last() != Some(&result.range) {
                last.ranges.push(result.range);
            }
        }
    }
}

/// The one edit that turns `old` into `new`: what is left between their common first and last
/// lines.
fn difference(old: &str, new: &str) -> Option<Edit> {
    let same = |(a, b): &(u8, u8)| a == b;
    let head = old.bytes().zip(new.bytes()).take_while(same).count();
    if head == old.len() && head == new.len() {
        return None;
    }
    let head = old.as_bytes()[..head].iter().rposition(|b| *b == b'\n').map_or(0, |lf| lf + 1);
    let (old_rest, new_rest) = (&old[head..], &new[head..]);
    let tail = old_rest.bytes().rev().zip(new_rest.bytes().rev()).take_while(same).count();
    let tail = &old_rest.as_bytes()[old_rest.len() - tail..];
    let tail = tail.iter().position(|b| *b == b'\n').map_or(0, |lf| tail.len() - lf - 1);
    let span = Span::new(head, old.len() - tail);
    Some(Edit { span, text: new[head..new.len() - tail].to_owned() })
}

/// Refuses a character that a legacy encoding does not have; Unicode ones have them all.
fn check_encoding(file: &SourceId, format: Format, text: &str) -> Result<(), PlanError> {
    if !matches!(format.encoding, Encoding::Legacy(_)) {
        return Ok(());
    }
    let error = match format.encode(text) {
        Ok(_) => return Ok(()),
        Err(error) => error,
    };
    let (line, column) = position(text, error.offset);
    let (file, character, encoding) = (file.clone(), error.character, error.encoding);
    Err(PlanError::Unencodable { file, character, line, column, encoding })
}
