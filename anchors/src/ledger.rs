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

/// How many revisions of one source are remembered. Older ones belong to work long done.
const REVISIONS: usize = 8;
/// How many sources may be known as seen. An entry is some 100 bytes.
const SEEN_SOURCES: usize = 16_384;

/// Lines that one edit buries at most; an edit of more is followed by a fresh read anyway.
const BURIED_LINES: usize = 1_024;
/// A larger text is not searched for the lines of revisions behind somebody else's change.
const BURIED_BYTES: usize = 1 << 20;

/// One changed run of lines, 1-based and half-open, before and after an edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineEdit {
    /// The lines that went.
    pub old: Range<usize>,
    /// The lines that came.
    pub new: Range<usize>,
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
    salt: Salt,
    /// Sorted, disjoint, inclusive 1-based line ranges.
    shown: Vec<(usize, usize)>,
    /// The edits, when this session's own made it from the revision before it.
    made_by: Option<Vec<LineEdit>>,
    bytes: usize,
    used: u64,
}

impl Ledger {
    /// An empty ledger that keeps at most `bound` bytes of snapshots (but always the newest one).
    pub fn new(bound: usize) -> Self {
        Self { sources: HashMap::new(), seen: HashMap::new(), bound, bytes: 0, clock: 0 }
    }

    /// The salt for anchors of this snapshot, which becomes the newest revision of its source.
    pub fn salt(&mut self, source: &SourceId, snapshot: &Arc<Snapshot>) -> Salt {
        self.see(source, snapshot.hash());
        let salt = self.revision(source, snapshot, None).salt;
        self.evict();
        salt
    }

    /// Lines `first..=last` (1-based) of the snapshot were shown with their anchors.
    pub fn show(&mut self, source: &SourceId, snapshot: &Arc<Snapshot>, first: usize, last: usize) {
        self.see(source, snapshot.hash());
        let revision = self.revision(source, snapshot, None);
        if first >= 1 && first <= last {
            insert(&mut revision.shown, first, last);
        }
        self.evict();
    }

    /// This session's own edit made `after` from the revision with content `before`. Anchors of
    /// lines that it replaced mean nothing any more, in whichever revision they were shown.
    pub fn edit(
        &mut self,
        source: &SourceId,
        before: ContentHash,
        edits: Vec<LineEdit>,
        after: &Arc<Snapshot>,
    ) {
        self.see(source, after.hash());
        let mut own = false;
        if let Some(revisions) = self.sources.get_mut(source) {
            own = revisions.last().is_some_and(|last| last.snapshot.hash() == before);
            if let Some(at) = revisions.iter().rposition(|r| r.snapshot.hash() == before) {
                bury(&mut revisions[..=at], &edits);
            }
        }
        self.revision(source, after, own.then_some(edits));
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

    /// The snapshots, newest first, in which line `number` was shown with `hash`.
    pub fn issued(&self, source: &SourceId, number: usize, hash: LineHash) -> Vec<Arc<Snapshot>> {
        let revisions = self.sources.get(source).map_or(&[][..], Vec::as_slice);
        let issued = |revision: &&Revision| {
            holds(&revision.shown, number) && revision.hash(number) == Some(hash)
        };
        revisions.iter().rev().filter(issued).map(|r| r.snapshot.clone()).collect()
    }

    /// The sources in which line `number` was shown with `hash`: what an anchor without a path
    /// may mean.
    pub fn holders(&self, number: usize, hash: LineHash) -> Vec<SourceId> {
        let holds = |source: &&SourceId| !self.issued(source, number, hash).is_empty();
        self.sources.keys().filter(holds).cloned().collect()
    }

    /// Whether every revision after `older` up to `newer` was made by this session's own edits.
    pub fn own_chain(&self, source: &SourceId, older: ContentHash, newer: ContentHash) -> bool {
        let Some(revisions) = self.sources.get(source) else { return false };
        let position = |hash| revisions.iter().rposition(|r| r.snapshot.hash() == hash);
        match (position(older), position(newer)) {
            (Some(from), Some(to)) if from <= to => {
                revisions[from + 1..=to].iter().all(|revision| revision.made_by.is_some())
            }
            _ => false,
        }
    }

    /// Forgets line `number` with `hash` in every revision but the one with content `keep`: the
    /// client was told that the anchor meant two places and has been shown a fresh one.
    pub fn retire(&mut self, source: &SourceId, number: usize, hash: LineHash, keep: ContentHash) {
        for revision in self.sources.get_mut(source).into_iter().flatten() {
            let same = revision.hash(number) == Some(hash);
            if same && revision.snapshot.hash() != keep {
                remove(&mut revision.shown, number, number);
            }
        }
    }

    /// Bytes of snapshots that are kept.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The revision of `snapshot`, moved to the newest place.
    fn revision(
        &mut self,
        source: &SourceId,
        snapshot: &Arc<Snapshot>,
        made_by: Option<Vec<LineEdit>>,
    ) -> &mut Revision {
        self.clock += 1;
        let revisions = self.sources.entry(source.clone()).or_default();
        let known = revisions.iter().position(|r| r.snapshot.hash() == snapshot.hash());
        let is_last = known.is_some_and(|at| at + 1 == revisions.len());
        let mut revision = match known {
            Some(at) => revisions.remove(at),
            None => {
                let bytes = snapshot.bytes();
                self.bytes += bytes;
                let snapshot = snapshot.clone();
                let next = self.seen.get_mut(source).map(|seen| &mut seen.next);
                let salt = next.map_or(Salt::default(), |next| {
                    let salt = *next;
                    next.0 = next.0.wrapping_add(1);
                    salt
                });
                Revision { snapshot, salt, shown: Vec::new(), made_by: None, bytes, used: 0 }
            }
        };
        // A revision that comes back after others (the file was changed and changed back) is not
        // this session's own doing, unless its own edit just made it.
        if !is_last {
            revision.made_by = made_by;
        }
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
                // The chain of own edits is broken where a link is missing.
                if let Some(next) = revisions.get_mut(at) {
                    next.made_by = None;
                }
            }
            if revisions.is_empty() {
                self.sources.remove(&source);
            }
        }
    }
}

impl Revision {
    fn hash(&self, number: usize) -> Option<LineHash> {
        self.snapshot.line_hash(number, self.salt)
    }
}

/// Takes the lines that `edits` replaced out of what was shown: of the last of `revisions`, which
/// they were made on, and of those before it, as far as it is known which lines they were there.
fn bury(revisions: &mut [Revision], edits: &[LineEdit]) {
    let gone = edits.iter().flat_map(|edit| edit.old.clone()).take(BURIED_LINES);
    let mut gone: Vec<usize> = gone.collect();
    let Some(base) = revisions.last().map(|last| last.snapshot.clone()) else { return };
    let mut chained = true;
    for at in (0..revisions.len()).rev() {
        for line in &gone {
            remove(&mut revisions[at].shown, *line, *line);
        }
        let Some(older) = at.checked_sub(1) else { return };
        let small = base.bytes() <= BURIED_BYTES && gone.len() <= BURIED_LINES / 16;
        gone = match &revisions[at].made_by {
            Some(edits) if chained => gone.iter().filter_map(|line| origin(*line, edits)).collect(),
            // Somebody else's change lies between: only what is certain to be the same line.
            _ if small => {
                chained = false;
                let lines = edits.iter().flat_map(|edit| edit.old.clone());
                let older = &revisions[older].snapshot;
                lines.filter_map(|line| rebase(&base, older, line, line)).collect()
            }
            _ => return,
        };
    }
}

/// The line that `line` was before the edits; `None` for one that they made.
fn origin(line: usize, edits: &[LineEdit]) -> Option<usize> {
    let (mut old, mut new) = (1, 1);
    for edit in edits.iter().take_while(|edit| edit.new.start <= line) {
        if edit.new.contains(&line) {
            return None;
        }
        (old, new) = (edit.old.end, edit.new.end);
    }
    Some(old + line - new)
}

fn holds(ranges: &[(usize, usize)], number: usize) -> bool {
    let at = ranges.partition_point(|(first, _)| *first <= number);
    at > 0 && ranges[at - 1].1 >= number
}

fn insert(ranges: &mut Vec<(usize, usize)>, first: usize, last: usize) {
    let from = ranges.partition_point(|(_, end)| end + 1 < first);
    let to = ranges.partition_point(|(start, _)| *start <= last + 1);
    let merged = ranges[from..to]
        .iter()
        .fold((first, last), |(a, b), (start, end)| (a.min(*start), b.max(*end)));
    ranges.splice(from..to, [merged]);
}

fn remove(ranges: &mut Vec<(usize, usize)>, first: usize, last: usize) {
    let split = |(start, end): (usize, usize)| {
        let left = (start < first).then(|| (start, end.min(first - 1)));
        let right = (end > last).then(|| (start.max(last + 1), end));
        left.into_iter().chain(right)
    };
    *ranges = ranges.drain(..).flat_map(split).collect();
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
    fn ranges_merge_and_split() {
        let mut ranges = Vec::new();
        for (first, last) in [(5, 6), (1, 2), (9, 9), (3, 4)] {
            insert(&mut ranges, first, last);
        }
        assert_eq!(ranges, [(1, 6), (9, 9)]);
        remove(&mut ranges, 3, 3);
        remove(&mut ranges, 8, 12);
        assert_eq!(ranges, [(1, 2), (4, 6)]);
        assert!(holds(&ranges, 4) && !holds(&ranges, 3) && !holds(&ranges, 7));
    }

    #[test]
    fn own_edits_chain_and_foreign_ones_break_it() {
        let (mut ledger, source) = (Ledger::new(1 << 20), SourceId::new("/f"));
        let (a, b, c, d) = (snapshot("a\n"), snapshot("b\n"), snapshot("c\n"), snapshot("d\n"));
        ledger.show(&source, &a, 1, 1);
        ledger.edit(&source, a.hash(), Vec::new(), &b);
        ledger.edit(&source, b.hash(), Vec::new(), &c);
        assert!(ledger.own_chain(&source, a.hash(), c.hash()));
        ledger.show(&source, &d, 1, 1);
        assert!(!ledger.own_chain(&source, a.hash(), d.hash()));
        assert!(ledger.own_chain(&source, a.hash(), c.hash()));
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
        ledger.edit(&source, a.hash(), vec![LineEdit { old: 2..3, new: 2..3 }], &b);
        assert!(ledger.issued(&source, 2, hash("2")).is_empty());
        assert_eq!(ledger.issued(&source, 3, hash("3")).len(), 1);
    }

    #[test]
    fn a_line_that_own_edits_removed_is_gone_from_older_revisions_too() {
        let (mut ledger, source) = (Ledger::new(1 << 20), SourceId::new("/f"));
        let (a, b, c) = (snapshot("x\ny\nz\n"), snapshot("n\nx\ny\nz\n"), snapshot("n\ny\nz\n"));
        ledger.show(&source, &a, 1, 3);
        ledger.edit(&source, a.hash(), vec![LineEdit { old: 1..1, new: 1..2 }], &b);
        ledger.edit(&source, b.hash(), vec![LineEdit { old: 2..3, new: 2..2 }], &c);
        assert!(ledger.issued(&source, 1, hash("x")).is_empty());
        assert_eq!(ledger.issued(&source, 2, hash("y")).len(), 1);
    }

    #[test]
    fn origins() {
        let edits = [LineEdit { old: 2..4, new: 2..3 }, LineEdit { old: 6..6, new: 5..7 }];
        let origins: Vec<_> = (1..=8).map(|line| origin(line, &edits)).collect();
        let expected = [Some(1), None, Some(4), Some(5), None, None, Some(6), Some(7)];
        assert_eq!(origins, expected);
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
            assert_eq!(issued[0].hash(), snapshot.hash());
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
