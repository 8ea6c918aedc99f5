//! From located tokens to ranges of the current text.

use std::sync::Arc;

use super::{AnchorError, Context, Located, Rebased, Resolved};
use crate::{Issued, Range, Snapshot, rebase};

const MOVED: &str = "the text has changed since it was shown";
const TWICE: &str = "it was shown for two different lines";
const UNKNOWN_MIDDLE: &str =
    "the file has changed since it was shown, and with it perhaps the text up to the other end";

/// What one token selects by itself.
pub(super) fn alone(
    token: &str,
    located: &Located,
    cx: &Context<'_>,
) -> Result<Resolved, AnchorError> {
    match located {
        Located::Current(ranges) => Ok(Resolved { ranges: ranges.clone(), rebased: None }),
        Located::Issued { line, places } => {
            let blocks: Vec<Block> = places.iter().map(|place| Block::of(place, place)).collect();
            let now = project((token, *line), &blocks, cx)?;
            lines((now, now), (token, followed(*line, now, places, cx)), cx)
        }
    }
}

/// The whole lines from the start's first to the end's last.
pub(super) fn between(
    (start, first): (&str, &Located),
    (end, last): (&str, &Located),
    cx: &Context<'_>,
) -> Result<Resolved, AnchorError> {
    if let (
        Located::Issued { line: shown, places: a },
        Located::Issued { line: shown_last, places: b },
    ) = (first, last)
    {
        let pair = |place: &Issued| {
            let same = |other: &&Issued| other.snapshot.hash() == place.snapshot.hash();
            b.iter().find(same).map(|other| Block::of(place, other))
        };
        let blocks: Vec<Block> = a.iter().filter_map(pair).collect();
        if blocks.iter().any(|block| block.first > block.last) {
            return Err(AnchorError::Reversed { start: *shown, end: *shown_last });
        }
        if let Some(block) = blocks.first() {
            let now = project((start, *shown), &blocks, cx)?;
            let shown = followed(*shown, now, a, cx);
            return lines((now, now + block.last - block.first), (start, shown), cx);
        }
    }
    for (token, located) in [(start, first), (end, last)] {
        known_up_to_now(token, located, cx)?;
    }
    let (first, last) = (one(start, first, cx)?, one(end, last, cx)?);
    let (from, to) = (touched(first, cx)?, touched(last, cx)?);
    if from.0 > to.1 {
        return Err(AnchorError::Reversed { start: from.0, end: to.1 });
    }
    lines((from.0, to.1), (start, from.0), cx)
}

/// A span between ends of different origin runs over text that the session must know: the file is
/// as it was shown, or has changed by this session's own edits only.
fn known_up_to_now(token: &str, located: &Located, cx: &Context<'_>) -> Result<(), AnchorError> {
    let Located::Issued { line, places } = located else { return Ok(()) };
    if places.iter().any(|place| place.snapshot.hash() == cx.snapshot.hash()) {
        return Ok(());
    }
    Err(stale(token, UNKNOWN_MIDDLE, *line, cx))
}

fn one(token: &str, located: &Located, cx: &Context<'_>) -> Result<Range, AnchorError> {
    let resolved = alone(token, located, cx)?;
    match resolved.ranges[..] {
        [range] => Ok(range),
        _ => {
            let (anchor, count) = (super::shorten(token), resolved.ranges.len());
            Err(AnchorError::NotOne { anchor, count })
        }
    }
}

fn touched(range: Range, cx: &Context<'_>) -> Result<(usize, usize), AnchorError> {
    cx.snapshot.lines_of(range.span).ok_or_else(|| AnchorError::EmptyFile("start".to_owned()))
}

/// Lines `first..=last` of a text that the session knows.
struct Block {
    snapshot: Arc<Snapshot>,
    first: usize,
    last: usize,
}

impl Block {
    fn of(first: &Issued, last: &Issued) -> Self {
        Self { snapshot: first.snapshot.clone(), first: first.line, last: last.line }
    }
}

/// Where the blocks are now: all in one place, or the anchor is stale.
fn project(
    (token, shown): (&str, usize),
    blocks: &[Block],
    cx: &Context<'_>,
) -> Result<usize, AnchorError> {
    let reason = if blocks.len() == 1 { MOVED } else { TWICE };
    let mut place = None;
    for Block { snapshot, first, last } in blocks {
        let same = snapshot.hash() == cx.snapshot.hash();
        let now = match same || cx.rebase {
            true => rebase(snapshot, cx.snapshot, *first, *last),
            false => None,
        };
        let now = now.ok_or_else(|| stale(token, reason, shown, cx))?;
        if place.is_some_and(|place| place != now) {
            return Err(stale(token, TWICE, shown, cx));
        }
        place = Some(now);
    }
    place.ok_or_else(|| stale(token, MOVED, shown, cx))
}

/// The line that a rebase started from: the one that was shown, unless only this session's own
/// edits, whose receipts told of them, have moved it.
fn followed(shown: usize, now: usize, places: &[Issued], cx: &Context<'_>) -> usize {
    let own = places.iter().any(|place| place.snapshot.hash() == cx.snapshot.hash());
    if own { now } else { shown }
}

/// Lines `first..=last` of the current text, which were shown from line `shown` on.
fn lines(
    (first, last): (usize, usize),
    (token, shown): (&str, usize),
    cx: &Context<'_>,
) -> Result<Resolved, AnchorError> {
    let span = cx.snapshot.line_span(first, last).ok_or_else(|| stale(token, MOVED, first, cx))?;
    let rebased = (first != shown).then_some(Rebased { from: shown, to: first });
    Ok(Resolved { ranges: vec![Range::lines(span)], rebased })
}

fn stale(token: &str, reason: &'static str, line: usize, cx: &Context<'_>) -> AnchorError {
    let near = line.min(cx.snapshot.line_count());
    AnchorError::Stale { anchor: super::shorten(token), reason, near }
}
