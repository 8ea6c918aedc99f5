//! What a session has been shown, and therefore which line anchors mean anything.
//!
//! A line anchor is a claim: "line 12, as it was shown to me". The ledger keeps the snapshots that
//! lines were shown from, with the lines shown, so that the claim is checked against the text the
//! client saw and not against a 16-bit hash. It is bounded; a forgotten snapshot makes its anchors
//! stale, never wrong.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use crate::{ContentHash, LineHash, Salt, Snapshot, SourceId, rebase};

/// How many revisions of one source are remembered: one for each change by somebody else. Own edits
/// carry what was shown over to the new revision.
const REVISIONS: usize = 8;
/// How many runs of shown lines one revision keeps; own edits split runs. The oldest go first.
const RUNS: usize = 4_096;
/// How many sources may be known as seen. An entry is some 100 bytes.
const SEEN_SOURCES: usize = 16_384;

/// Lines that one edit buries in revisions behind somebody else's change, and the size of a text, in
/// bytes, up to which that is done: each line costs a search of the text.
const BURIED_LINES: usize = 64;
/// See [`BURIED_LINES`].
const BURIED_BYTES: usize = 1 << 20;

/// One changed run of lines, 1-based and half-open, before and after an edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineEdit {
    /// The lines that went.
    pub old: Range<usize>,
    /// The lines that came.
    pub new: Range<usize>,
}

/// A line that was shown.
#[derive(Clone, Debug)]
pub struct Issued {
    /// A text that has it.
    pub snapshot: Arc<Snapshot>,
    /// Which line (1-based) it is there.
    pub line: usize,
}

/// The shown lines of one session.
#[derive(Debug)]
pub struct Ledger {
    sources: HashMap<SourceId, Vec<Revision>>,
    seen: HashMap<SourceId, Seen>,
    bound: usize,
    bytes: usize,
    clock: u64,
}

/// What is known of a source for longer than its text.
#[derive(Debug)]
struct Seen {
    content: ContentHash,
    used: u64,
    /// The salt of the next revision; never given twice, so that an anchor of a forgotten revision
    /// is not taken for one of another.
    next: Salt,
}

#[derive(Debug)]
struct Revision {
    snapshot: Arc<Snapshot>,
    /// For the anchors that are shown from now on.
    salt: Salt,
    shown: Vec<Run>,
    bytes: usize,
    used: u64,
}

/// Lines that were shown one after the other, and which lines of the revision they are.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Run {
    /// The salt of the anchors that they were shown with.
    salt: Salt,
    /// Their first line number then, 1-based.
    was: usize,
    /// Their lines in this revision, 1-based and half-open; never empty.
    now: Range<usize>,
}

impl Ledger {
    /// An empty ledger that keeps at most `bound` bytes of snapshots (but always the newest one).
    pub fn new(bound: usize) -> Self {
        Self { sources: HashMap::new(), seen: HashMap::new(), bound, bytes: 0, clock: 0 }
    }

    /// The salt for anchors of this snapshot, which becomes the newest revision of its source.
    pub fn salt(&mut self, source: &SourceId, snapshot: &Arc<Snapshot>) -> Salt {
        self.see(source, snapshot.hash());
        let salt = self.revision(source, snapshot).salt;
        self.evict();
        salt
    }

    /// Lines `first..=last` (1-based) of the snapshot were shown with their anchors.
    pub fn show(&mut self, source: &SourceId, snapshot: &Arc<Snapshot>, first: usize, last: usize) {
        self.see(source, snapshot.hash());
        let revision = self.revision(source, snapshot);
        if first >= 1 && first <= last {
            revision.show(&Run { salt: revision.salt, was: first, now: first..last + 1 });
        }
        self.evict();
    }

    /// This session's own edit made `after` from the revision with content `before`. Anchors of
    /// lines that it replaced mean nothing any more; all others go on to mean what they meant.
    pub fn edit(
        &mut self,
        source: &SourceId,
        before: ContentHash,
        edits: &[LineEdit],
        after: &Arc<Snapshot>,
    ) {
        self.see(source, after.hash());
        let mut carried = Vec::new();
        if let Some(revisions) = self.sources.get_mut(source)
            && let Some(at) = revisions.iter().rposition(|r| r.snapshot.hash() == before)
        {
            bury(&mut revisions[..=at], edits);
            let base = revisions.remove(at);
            self.bytes -= base.bytes;
            carried = base.shown.iter().flat_map(|run| run.carry(edits)).collect();
        }
        let revision = self.revision(source, after);
        for run in &carried {
            revision.show(run);
        }
        self.evict();
    }

    /// The session knows the content `hash` of the source, with or without anchors.
    pub fn see(&mut self, source: &SourceId, hash: ContentHash) {
        self.clock += 1;
        if self.seen.len() >= SEEN_SOURCES && !self.seen.contains_key(source) {
            let oldest = self.seen.iter().min_by_key(|(_, seen)| seen.used);
            if let Some(oldest) = oldest.map(|(source, _)| source.clone()) {
                self.seen.remove(&oldest);
            }
        }
        let seen = Seen { content: hash, used: self.clock, next: Salt::default() };
        let known = self.seen.entry(source.clone()).or_insert(seen);
        (known.content, known.used) = (hash, self.clock);
    }

    /// Whether the session has seen the source with exactly this content.
    pub fn has_seen(&self, source: &SourceId, hash: ContentHash) -> bool {
        self.seen.get(source).is_some_and(|seen| seen.content == hash)
    }

    /// What was shown as line `number` with `hash`: snapshots, newest first, with the line (1-based)
    /// that it is in each of them.
    pub fn issued(&self, source: &SourceId, number: usize, hash: LineHash) -> Vec<Issued> {
        let revisions = self.sources.get(source).map_or(&[][..], Vec::as_slice);
        let places = |revision: &Revision| -> Vec<Issued> {
            let here = |run: &Run| Some((run.place(number)?, run.salt));
            let mut lines: Vec<usize> = revision
                .shown
                .iter()
                .filter_map(here)
                .filter(|(line, salt)| revision.snapshot.line_hash(*line, *salt) == Some(hash))
                .map(|(line, _)| line)
                .collect();
            lines.dedup();
            let issued = |line| Issued { snapshot: revision.snapshot.clone(), line };
            lines.into_iter().map(issued).collect()
        };
        revisions.iter().rev().flat_map(places).collect()
    }

    /// The sources in which line `number` was shown with `hash`: what an anchor without a path
    /// may mean.
    pub fn holders(&self, number: usize, hash: LineHash) -> Vec<SourceId> {
        let holds = |source: &&SourceId| !self.issued(source, number, hash).is_empty();
        self.sources.keys().filter(holds).cloned().collect()
    }

    /// Forgets line `number` with `hash` in every revision but the one with content `keep`: the
    /// client was told that the anchor meant two places and has been shown a fresh one.
    pub fn retire(&mut self, source: &SourceId, number: usize, hash: LineHash, keep: ContentHash) {
        for revision in self.sources.get_mut(source).into_iter().flatten() {
            if revision.snapshot.hash() == keep {
                continue;
            }
            let means = |run: &Run| {
                let line = run.place(number)?;
                (revision.snapshot.line_hash(line, run.salt) == Some(hash)).then_some(line)
            };
            revision.shown = std::mem::take(&mut revision.shown)
                .into_iter()
                .flat_map(|run| match means(&run) {
                    Some(line) => run.without(line),
                    None => vec![run],
                })
                .collect();
        }
    }

    /// Bytes of snapshots that are kept.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The revision of `snapshot`, moved to the newest place.
    fn revision(&mut self, source: &SourceId, snapshot: &Arc<Snapshot>) -> &mut Revision {
        self.clock += 1;
        let revisions = self.sources.entry(source.clone()).or_default();
        let known = revisions.iter().position(|r| r.snapshot.hash() == snapshot.hash());
        let mut revision = match known {
            Some(at) => revisions.remove(at),
            None => {
                let bytes = snapshot.bytes();
                self.bytes += bytes;
                let next = self.seen.get_mut(source).map(|seen| &mut seen.next);
                let salt = next.map_or(Salt::default(), |next| {
                    let salt = *next;
                    next.0 = next.0.wrapping_add(1);
                    salt
                });
                let snapshot = snapshot.clone();
                Revision { snapshot, salt, shown: Vec::new(), bytes, used: 0 }
            }
        };
        revision.used = self.clock;
        if revisions.len() == REVISIONS {
            self.bytes -= revisions.remove(0).bytes;
        }
        revisions.push(revision);
        revisions.last_mut().expect("a revision was pushed just now")
    }

    /// Drops least recently used revisions until the bound holds or one is left.
    fn evict(&mut self) {
        while self.bytes > self.bound {
            let all = self.sources.iter().flat_map(|(source, revisions)| {
                revisions.iter().map(move |revision| (revision.used, source))
            });
            let Some((used, source)) = all.min() else { return };
            if used == self.clock {
                return;
            }
            let source = source.clone();
            let Some(revisions) = self.sources.get_mut(&source) else { return };
            if let Some(at) = revisions.iter().position(|revision| revision.used == used) {
                self.bytes -= revisions.remove(at).bytes;
            }
            if revisions.is_empty() {
                self.sources.remove(&source);
            }
        }
    }
}

/// Takes the lines that `edits` replace out of what was shown in revisions before the last, which
/// is what the edits were made on, wherever it is certain which lines they were there.
fn bury(revisions: &mut [Revision], edits: &[LineEdit]) {
    let Some((base, older)) = revisions.split_last_mut() else { return };
    let gone: Vec<usize> = edits.iter().flat_map(|edit| edit.old.clone()).collect();
    if base.bytes > BURIED_BYTES || gone.len() > BURIED_LINES {
        return;
    }
    for revision in older {
        for line in &gone {
            if let Some(there) = rebase(&base.snapshot, &revision.snapshot, *line, *line) {
                let runs = std::mem::take(&mut revision.shown).into_iter();
                revision.shown = runs.flat_map(|run| run.without(there)).collect();
            }
        }
    }
}

impl Revision {
    fn show(&mut self, run: &Run) {
        let joins = |other: &Run| {
            other.salt == run.salt
                && other.was + run.now.start == run.was + other.now.start
                && other.now.start <= run.now.end
                && run.now.start <= other.now.end
        };
        let (mut was, mut now) = (run.was, run.now.clone());
        self.shown.retain(|other| {
            let joined = joins(other);
            if joined {
                was = was.min(other.was);
                now = now.start.min(other.now.start)..now.end.max(other.now.end);
            }
            !joined
        });
        if self.shown.len() >= RUNS {
            self.shown.remove(0);
        }
        self.shown.push(Run { salt: run.salt, was, now });
    }
}

impl Run {
    /// The line of the revision that was shown as line `number`.
    fn place(&self, number: usize) -> Option<usize> {
        let line = number.checked_sub(self.was)? + self.now.start;
        self.now.contains(&line).then_some(line)
    }

    /// The run without one line of the revision.
    fn without(self, line: usize) -> Vec<Self> {
        if !self.now.contains(&line) {
            return vec![self];
        }
        let cut = LineEdit { old: line..line + 1, new: line..line + 1 };
        self.carry(&[cut])
    }

    /// What is left of the run after edits of its revision, and where.
    fn carry(&self, edits: &[LineEdit]) -> Vec<Self> {
        let mut runs = Vec::new();
        // Lines `from..` of the old revision are lines `to..` of the new one.
        let (mut from, mut to) = (1, 1);
        let end = LineEdit { old: usize::MAX..usize::MAX, new: usize::MAX..usize::MAX };
        for edit in edits.iter().chain([&end]) {
            let kept = self.now.start.max(from)..self.now.end.min(edit.old.start);
            if !kept.is_empty() {
                let was = self.was + kept.start - self.now.start;
                let now = kept.start - from + to..kept.end - from + to;
                runs.push(Self { salt: self.salt, was, now });
            }
            (from, to) = (edit.old.end, edit.new.end);
        }
        runs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(text: &str) -> Arc<Snapshot> {
        Arc::new(Snapshot::decode(text.as_bytes().to_vec()).unwrap())
    }

    fn hash(line: &str) -> LineHash {
        LineHash::of(line, Salt(0))
    }

    #[test]
    fn only_shown_lines_are_issued() {
        let (mut ledger, source) = (Ledger::new(1 << 20), SourceId::new("/f"));
        let text = snapshot("a\nb\nc\nd\n");
        ledger.show(&source, &text, 2, 3);
        assert_eq!(ledger.issued(&source, 2, hash("b")).len(), 1);
        assert!(ledger.issued(&source, 1, hash("a")).is_empty());
        assert!(ledger.issued(&source, 2, hash("c")).is_empty());
        assert!(ledger.issued(&SourceId::new("/g"), 2, hash("b")).is_empty());
        assert!(ledger.has_seen(&source, text.hash()));
    }

    #[test]
    fn runs_that_touch_become_one() {
        let (mut ledger, source) = (Ledger::new(1 << 20), SourceId::new("/f"));
        let text = snapshot(&"x\n".repeat(20));
        for (first, last) in [(5, 6), (1, 2), (9, 9), (3, 4), (5, 5)] {
            ledger.show(&source, &text, first, last);
        }
        let shown = &ledger.sources[&source][0].shown;
        let mut lines: Vec<_> = shown.iter().map(|run| run.now.clone()).collect();
        lines.sort_by_key(|lines| lines.start);
        assert_eq!(lines, [1..7, 9..10]);
    }

    #[test]
    fn own_edits_carry_what_was_shown() {
        let run = Run { salt: Salt(0), was: 11, now: 1..11 };
        let edits = [LineEdit { old: 2..4, new: 2..3 }, LineEdit { old: 6..6, new: 5..7 }];
        let carried: Vec<_> = run.carry(&edits).into_iter().map(|run| (run.was, run.now)).collect();
        assert_eq!(carried, [(11, 1..2), (14, 3..5), (16, 7..12)]);
        assert_eq!(run.clone().without(1).len(), 1);
        assert_eq!(run.clone().without(5).len(), 2);
        assert_eq!(run.place(15), Some(5));
        assert_eq!((run.place(10), run.place(21)), (None, None));
    }

    #[test]
    fn any_number_of_own_edits_can_follow_one_read() {
        let (mut ledger, source) = (Ledger::new(1 << 20), SourceId::new("/f"));
        let lines: Vec<String> = (1..=40).map(|n| format!("line {n}")).collect();
        let mut now = lines.clone();
        let text = |lines: &[String]| {
            snapshot(&lines.iter().map(|l| format!("{l}\n")).collect::<String>())
        };
        let mut current = text(&now);
        ledger.show(&source, &current, 1, 40);
        for n in 1..=20 {
            now[n - 1] = format!("changed {n}");
            let after = text(&now);
            let edit = LineEdit { old: n..n + 1, new: n..n + 1 };
            ledger.edit(&source, current.hash(), &[edit], &after);
            current = after;
        }
        assert!(ledger.issued(&source, 7, hash("line 7")).is_empty());
        let issued = ledger.issued(&source, 33, hash("line 33"));
        assert_eq!((issued.len(), issued[0].line), (1, 33));
        assert_eq!(issued[0].snapshot.hash(), current.hash());
    }

    #[test]
    fn memory_is_bounded_by_dropping_the_least_recently_used() {
        let mut ledger = Ledger::new(2_000);
        let sources: Vec<SourceId> =
            (0..20).map(|n| SourceId::new(format!("/{n}").as_str())).collect();
        for source in &sources {
            ledger.show(source, &snapshot(&"x\n".repeat(200)), 1, 1);
        }
        assert!(ledger.bytes() <= 2_000);
        assert!(ledger.issued(&sources[0], 1, hash("x")).is_empty());
        assert_eq!(ledger.issued(&sources[19], 1, hash("x")).len(), 1);
    }

    #[test]
    fn edited_lines_lose_their_anchors() {
        let (mut ledger, source) = (Ledger::new(1 << 20), SourceId::new("/f"));
        let (a, b) = (snapshot("1\n2\n3\n"), snapshot("1\nx\n3\n"));
        ledger.show(&source, &a, 1, 3);
        ledger.edit(&source, a.hash(), &[LineEdit { old: 2..3, new: 2..3 }], &b);
        assert!(ledger.issued(&source, 2, hash("2")).is_empty());
        assert_eq!(ledger.issued(&source, 3, hash("3")).len(), 1);
    }

    #[test]
    fn a_line_that_own_edits_removed_is_gone_from_older_revisions_too() {
        let (mut ledger, source) = (Ledger::new(1 << 20), SourceId::new("/f"));
        let (a, b, c) = (snapshot("x\ny\nz\n"), snapshot("n\nx\ny\nz\n"), snapshot("n\ny\nz\n"));
        ledger.show(&source, &a, 1, 3);
        ledger.edit(&source, a.hash(), &[LineEdit { old: 1..1, new: 1..2 }], &b);
        ledger.edit(&source, b.hash(), &[LineEdit { old: 2..3, new: 2..2 }], &c);
        assert!(ledger.issued(&source, 1, hash("x")).is_empty());
        assert_eq!(ledger.issued(&source, 2, hash("y")).len(), 1);
    }

    #[test]
    fn every_revision_has_anchors_of_its_own() {
        let (mut ledger, source) = (Ledger::new(1 << 20), SourceId::new("/f"));
        let (old, new) = (snapshot("}\nx\n"), snapshot("}\ny\n"));
        ledger.show(&source, &old, 1, 2);
        ledger.show(&source, &new, 1, 2);
        let (first, second) = (ledger.salt(&source, &old), ledger.salt(&source, &new));
        assert_ne!(first, second);
        for (snapshot, salt) in [(&old, first), (&new, second)] {
            let issued = ledger.issued(&source, 1, LineHash::of("}", salt));
            assert_eq!(issued.len(), 1);
            assert_eq!(issued[0].snapshot.hash(), snapshot.hash());
        }
    }

    #[test]
    fn retiring_leaves_the_fresh_anchor() {
        let (mut ledger, source) = (Ledger::new(1 << 20), SourceId::new("/f"));
        let (old, new) = (snapshot("}\nx\n"), snapshot("}\ny\n"));
        ledger.show(&source, &old, 1, 2);
        ledger.show(&source, &new, 1, 2);
        ledger.retire(&source, 1, hash("}"), new.hash());
        assert!(ledger.issued(&source, 1, hash("}")).is_empty());
        assert_eq!(ledger.issued(&source, 2, hash("x")).len(), 1);
    }
}
