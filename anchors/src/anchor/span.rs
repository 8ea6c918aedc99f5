//! From located tokens to ranges of the current text.

use std::sync::Arc;

use super::{AnchorError, Context, Located, Rebased, Resolved};
use crate::{Range, Snapshot, rebase};

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
        Located::Issued { line, snapshots } => {
            let to = project(token, (*line, *line), snapshots, cx)?;
            lines(to, to, cx, *line, token)
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
        Located::Issued { line: from, snapshots: a },
        Located::Issued { line: to, snapshots: b, .. },
    ) = (first, last)
    {
        if from > to {
            return Err(AnchorError::Reversed { start: *from, end: *to });
        }
        let both: Vec<Arc<Snapshot>> = a
            .iter()
            .filter(|snapshot| b.iter().any(|other| other.hash() == snapshot.hash()))
            .cloned()
            .collect();
        if !both.is_empty() {
            let now = project(start, (*from, *to), &both, cx)?;
            return lines(now, now + to - from, cx, *from, start);
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
    lines(from.0, to.1, cx, from.0, start)
}

/// A span between ends of different origin runs over text that the session must know: the file is
/// as it was shown, or has changed by this session's own edits only.
fn known_up_to_now(token: &str, located: &Located, cx: &Context<'_>) -> Result<(), AnchorError> {
    let Located::Issued { line, snapshots, .. } = located else { return Ok(()) };
    let current = cx.snapshot.hash();
    let known = |shown: &Arc<Snapshot>| {
        shown.hash() == current || cx.ledger.own_chain(cx.source, shown.hash(), current)
    };
    if snapshots.iter().any(known) {
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

/// Where lines `first..=last` of every snapshot are now: one place, or the anchor is stale.
fn project(
    token: &str,
    (first, last): (usize, usize),
    snapshots: &[Arc<Snapshot>],
    cx: &Context<'_>,
) -> Result<usize, AnchorError> {
    let mut place = None;
    for snapshot in snapshots {
        let same = snapshot.hash() == cx.snapshot.hash();
        let now = match same || cx.rebase {
            true => rebase(snapshot, cx.snapshot, first, last),
            false => None,
        };
        let reason = if snapshots.len() == 1 { MOVED } else { TWICE };
        let now = now.ok_or_else(|| stale(token, reason, first, cx))?;
        if place.is_some_and(|place| place != now) {
            return Err(stale(token, TWICE, first, cx));
        }
        place = Some(now);
    }
    place.ok_or_else(|| stale(token, MOVED, first, cx))
}

fn lines(
    first: usize,
    last: usize,
    cx: &Context<'_>,
    shown: usize,
    token: &str,
) -> Result<Resolved, AnchorError> {
    let span = cx.snapshot.line_span(first, last).ok_or_else(|| stale(token, MOVED, first, cx))?;
    let rebased = (first != shown).then_some(Rebased { from: shown, to: first });
    Ok(Resolved { ranges: vec![Range::lines(span)], rebased })
}

fn stale(token: &str, reason: &'static str, line: usize, cx: &Context<'_>) -> AnchorError {
    let near = line.min(cx.snapshot.line_count());
    AnchorError::Stale { anchor: super::shorten(token), reason, near }
}
