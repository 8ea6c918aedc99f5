//! The planner against naive models, over random texts with every mix of line endings.

use anchors::Span;
use proptest::prelude::*;

use super::*;
use crate::receipt::{Fate, Receipt};
use crate::testing::target;

const CASES: u32 = 10_000;

/// Pieces of text that meet in every way: terminators, bare CR, blank lines, wide characters.
fn texts(pieces: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a", "b", "é", "日本", "𝄞", " ", "\t", "\n", "\n", "\r\n", "\r\n", "\r", "\n\n", "x\n",
    ]);
    prop::collection::vec(piece, pieces).prop_map(|pieces| pieces.concat())
}

/// One edit of whole lines: how many lines lie between the one before and this, how many it takes.
#[derive(Clone, Debug)]
struct LineEdit {
    skip: usize,
    take: usize,
    what: What,
    text: String,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum What {
    Replace,
    Delete,
    Insert(Side, Separation),
}

fn line_edits() -> impl Strategy<Value = Vec<LineEdit>> {
    let what = prop::sample::select(vec![
        What::Replace,
        What::Delete,
        What::Insert(Side::Before, Separation::Line),
        What::Insert(Side::After, Separation::Line),
        What::Insert(Side::Before, Separation::BlankLine),
        What::Insert(Side::After, Separation::BlankLine),
    ]);
    let edit = (0..3usize, 1..3usize, what, texts(0..6))
        .prop_map(|(skip, take, what, text)| LineEdit { skip, take, what, text });
    prop::collection::vec(edit, 0..6)
}

/// The lines (1-based, inclusive) of each edit that fits the text.
fn places(edits: &[LineEdit], lines: usize) -> Vec<(usize, usize, &LineEdit)> {
    let mut next = 1;
    let mut places = Vec::new();
    for edit in edits {
        let (first, last) = (next + edit.skip, next + edit.skip + edit.take - 1);
        let pointless = matches!(edit.what, What::Insert(..)) && edit.text.is_empty();
        if last > lines || pointless {
            continue;
        }
        places.push((first, last, edit));
        next = last + 1;
    }
    places
}

/// A text as lines with their terminators, edited from top to bottom.
struct Model {
    done: Vec<(String, &'static str)>,
    rest: std::collections::VecDeque<(String, &'static str)>,
    newline: &'static str,
    terminated: bool,
}

fn split(text: &str) -> Vec<(String, &'static str)> {
    let line = |full: &str| match full.strip_suffix("\r\n") {
        Some(content) => (content.to_owned(), "\r\n"),
        None => full.strip_suffix('\n').map_or((full.to_owned(), ""), |c| (c.to_owned(), "\n")),
    };
    text.split_inclusive('\n').map(line).collect()
}

fn blank(line: Option<&(String, &str)>) -> bool {
    line.is_some_and(|line| line.0.trim().is_empty())
}

impl Model {
    fn run(text: &str, places: &[(usize, usize, &LineEdit)]) -> String {
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let terminated = text.ends_with('\n');
        let mut model = Self { done: Vec::new(), rest: split(text).into(), newline, terminated };
        let mut at = 1;
        for (first, last, edit) in places {
            model.keep(first - at);
            at = *last + 1;
            let mut new = split(&edit.text);
            for line in new.iter_mut().filter(|line| !line.1.is_empty()) {
                line.1 = newline;
            }
            match edit.what {
                What::Replace if !new.is_empty() => model.replace(last + 1 - first, new),
                What::Replace | What::Delete => model.delete(last + 1 - first),
                What::Insert(Side::Before, separation) => {
                    model.insert(new, separation);
                    model.keep(last + 1 - first);
                }
                What::Insert(Side::After, separation) => {
                    model.keep(last + 1 - first);
                    model.insert(new, separation);
                }
            }
        }
        model.keep(model.rest.len());
        model.done.into_iter().map(|(content, end)| content + end).collect()
    }

    fn keep(&mut self, lines: usize) {
        self.done.extend(self.rest.drain(..lines));
    }

    fn replace(&mut self, lines: usize, mut new: Vec<(String, &'static str)>) {
        let old = self.rest.drain(..lines).next_back().unwrap();
        let last = new.last_mut().unwrap();
        if last.1.is_empty() {
            last.1 = old.1;
        }
        self.done.extend(new);
    }

    fn delete(&mut self, lines: usize) {
        let last = self.rest.drain(..lines).next_back().unwrap();
        if let Some(before) = self.done.last_mut().filter(|_| last.1.is_empty()) {
            before.1 = "";
        }
    }

    fn insert(&mut self, mut new: Vec<(String, &'static str)>, separation: Separation) {
        let apart = separation == Separation::BlankLine;
        let open = self.done.last().is_some_and(|line| line.1.is_empty());
        if open {
            self.done.last_mut().unwrap().1 = self.newline;
        }
        let empty = (String::new(), self.newline);
        let (lead, tail) = (blank(new.first()), blank(new.last()));
        if apart && !self.done.is_empty() && !blank(self.done.last()) && !lead {
            self.done.push(empty.clone());
        }
        let last = new.last_mut().unwrap();
        if last.1.is_empty() && (!self.rest.is_empty() || (!open && self.terminated)) {
            last.1 = self.newline;
        }
        self.done.extend(new);
        if apart && !self.rest.is_empty() && !blank(self.rest.front()) && !tail {
            self.done.push(empty);
        }
    }
}

fn mutation(snapshot: &Arc<Snapshot>, at: At, what: What, text: &str) -> Mutation {
    let targets = vec![target("/f", snapshot, &[at])];
    let text = text.to_owned();
    match what {
        What::Replace => Mutation::Replace(Replace { targets, text }),
        What::Delete => Mutation::Delete(Delete { targets }),
        What::Insert(side, separation) => {
            Mutation::Insert(Insert { targets, text, side, separation })
        }
    }
}

fn outcome(plan: &Plan, before: &str) -> String {
    plan.files.first().map_or(before, |file| file.after.snapshot().text()).to_owned()
}

/// Character boundaries of `text` made of any numbers, in order.
fn cuts(text: &str, numbers: &[usize]) -> Vec<usize> {
    let cut = |number: &usize| text.floor_char_boundary(number % (text.len() + 1));
    let mut cuts: Vec<usize> = numbers.iter().map(cut).collect();
    cuts.sort_unstable();
    cuts
}

/// What must hold of every plan, whatever was asked for.
fn check_plan(plan: &Plan, before: &Snapshot) {
    let Some(file) = plan.files.first() else { return };
    let (old, new) = (before.text(), file.after.snapshot().text());
    assert_eq!(file.changes.apply(old), new);
    assert_eq!(file.changes.len_after(), new.len());
    assert_eq!(file.changes.invert(old).apply(new), old);
    assert_eq!(
        Snapshot::decode(file.after.bytes().to_vec()).unwrap().hash(),
        file.after.snapshot().hash()
    );
    for part in plan.outcomes.iter().flatten().flat_map(|planned| &planned.parts) {
        assert!(part.ranges.iter().all(|range| new.get(range.span.range()).is_some()));
    }
    let mut at = 0;
    for edit in file.changes.edits() {
        let kept = Span::new(at, edit.span.start);
        let now = file.changes.map_span(kept).unwrap();
        assert_eq!(&new[now.range()], &old[kept.range()]);
        at = edit.span.end;
    }
    check_lines(&file.line_changes(), before, file.after.snapshot());
    for planned in plan.outcomes.iter().flatten() {
        check_receipt(&Receipt::new(plan, planned, |_| Fate::default()), file.after.snapshot());
    }
}

/// Every anchor in the receipt is one of the new text, and all of them are reported as shown.
fn check_receipt(receipt: &Receipt, new: &Snapshot) {
    let mut anchored = Vec::new();
    for line in receipt.render(|_| "f".to_owned()).split('\n') {
        let Some((anchor, text)) = line.split_once('│') else { continue };
        let (number, hash) = anchor.split_once('#').unwrap();
        let number: usize = number.parse().unwrap();
        assert_eq!(new.line_text(number), Some(text));
        assert_eq!(new.line_hash(number, anchors::Salt::default()).unwrap().to_string(), hash);
        anchored.push(number);
    }
    let shown = receipt.files.iter().flat_map(|file| file.shown.clone());
    assert_eq!(anchored, shown.flat_map(|(first, last)| first..=last).collect::<Vec<_>>());
}

/// The change in lines turns the old lines into the new ones.
fn check_lines(changes: &[LineChange], old: &Snapshot, new: &Snapshot) {
    let (mut i, mut j) = (1, 1);
    let end =
        LineChange { old: old.line_count() + 1..0, new: new.line_count() + 1..0, edits: 0..0 };
    for change in changes.iter().chain([&end]) {
        assert_eq!(change.old.start - i, change.new.start - j, "{changes:?}");
        for (a, b) in (i..change.old.start).zip(j..change.new.start) {
            assert_eq!(old.line_text(a), new.line_text(b), "{changes:?}");
        }
        (i, j) = (change.old.end, change.new.end);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES))]

    #[test]
    fn whole_lines_follow_the_model(text in texts(0..20), edits in line_edits()) {
        let before = snapshot(&text);
        let places = places(&edits, before.line_count());
        let mut batch: Vec<Mutation> = places
            .iter()
            .map(|(first, last, edit)| {
                mutation(&before, At::Lines(*first, *last), edit.what, &edit.text)
            })
            .collect();
        let expected = Model::run(&text, &places);
        let forward = plan(&batch);
        prop_assert!(forward.outcomes.iter().all(Result::is_ok), "{:?}", forward.outcomes);
        prop_assert_eq!(outcome(&forward, &text), &*expected);
        check_plan(&forward, &before);
        batch.reverse();
        prop_assert_eq!(outcome(&plan(&batch), &text), expected);
    }

    #[test]
    fn characters_follow_the_model(
        text in texts(0..20),
        numbers in prop::collection::vec(any::<usize>(), 0..10),
        new in texts(0..4),
    ) {
        let before = snapshot(&text);
        let mut cuts = cuts(&text, &numbers);
        cuts.dedup();
        let spans: Vec<Span> = cuts.chunks_exact(2).map(|cut| Span::new(cut[0], cut[1])).collect();
        let at: Vec<At> = spans.iter().map(|span| At::Exact(span.start, span.end)).collect();
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let mut expected = text.clone();
        for span in spans.iter().rev() {
            expected.replace_range(span.range(), &new.replace("\r\n", "\n").replace('\n', newline));
        }
        let plan = plan(&[replace(&text, &at, &new)]);
        prop_assert_eq!(outcome(&plan, &text), expected);
        check_plan(&plan, &before);
    }

    #[test]
    fn conflicts_are_refused_and_nothing_else(
        text in texts(1..12),
        asked in prop::collection::vec((any::<[usize; 2]>(), 0..4u8), 1..8),
    ) {
        let before = snapshot(&text);
        let ask = |(numbers, kind): &([usize; 2], u8)| {
            let cuts = cuts(&text, numbers);
            let at = At::Exact(cuts[0], cuts[1]);
            let what = match kind {
                0 => What::Insert(Side::Before, Separation::Line),
                1 => What::Insert(Side::After, Separation::Line),
                2 => What::Delete,
                _ => What::Replace,
            };
            (cuts[0], cuts[1], what, mutation(&before, at, what, "N"))
        };
        let asked: Vec<_> = asked.iter().map(ask).collect();
        let batch: Vec<Mutation> = asked.iter().map(|(.., mutation)| mutation.clone()).collect();
        let plan = plan(&batch);
        check_plan(&plan, &before);
        // Every position between characters gets three slots, every character one: a mutation
        // takes slots, and no slot is taken twice.
        let slots = |(start, end, what, _): &(usize, usize, What, Mutation)| match what {
            What::Insert(..) if start == end => start * 4..start * 4 + 3,
            What::Insert(Side::Before, _) => start * 4 + 1..start * 4 + 3,
            What::Insert(Side::After, _) => end * 4..end * 4 + 2,
            _ if start == end => start * 4..start * 4 + 3,
            _ => start * 4 + 3..end * 4,
        };
        let before_and_after = |a: What, b: What| matches!(
            (a, b),
            (What::Insert(Side::Before, _), What::Insert(Side::After, _))
        );
        let mut taken: Vec<&(usize, usize, What, Mutation)> = Vec::new();
        for (one, outcome) in asked.iter().zip(&plan.outcomes) {
            let clash = |other: &&&(usize, usize, What, Mutation)| {
                let (a, b) = (slots(one), slots(other));
                let sided = one.0 != one.1 && other.0 != other.1;
                let order = before_and_after(one.2, other.2) || before_and_after(other.2, one.2);
                a.start < b.end && b.start < a.end && !(sided && order)
            };
            prop_assert_eq!(outcome.is_err(), taken.iter().find(clash).is_some());
            if outcome.is_ok() {
                taken.push(one);
            }
        }
    }

    #[test]
    fn positions_move_with_their_text(
        text in texts(0..12),
        numbers in prop::collection::vec(any::<usize>(), 0..8),
        probe in any::<[usize; 2]>(),
    ) {
        let ends = cuts(&text, &numbers);
        let edit = |cut: &[usize]| Edit { span: Span::new(cut[0], cut[1]), text: "NEW".into() };
        let edits: Vec<Edit> = ends.chunks_exact(2).map(edit).collect();
        let changes = ChangeSet::new(text.len(), edits.clone());
        let after = changes.apply(&text);
        let probe = cuts(&text, &probe);
        let span = Span::new(probe[0], probe[1]);
        let touched = edits.iter().any(|edit| {
            edit.span.start < span.end && span.start < edit.span.end
        });
        prop_assert_eq!(changes.map_span(span).is_none(), touched);
        if let Some(now) = changes.map_span(span) {
            prop_assert_eq!(&after[now.range()], &text[span.range()]);
        }
        let (low, high) = (
            changes.map_position(span.start, Bias::Before),
            changes.map_position(span.start, Bias::After),
        );
        prop_assert!(low <= high && after.is_char_boundary(low) && after.is_char_boundary(high));
        prop_assert!(changes.map_position(span.end, Bias::After) >= high);
    }
}
