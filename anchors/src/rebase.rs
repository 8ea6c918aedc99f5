//! Where a block of lines went when its file changed, if that is certain.
//!
//! A block is *proven* to have moved when it stands, byte for byte, inside a run of unchanged
//! lines that can be in one place only: a run that begins and ends with a line that occurs exactly
//! once in the old and in the new text. Such a witness may be the block's own first or last line;
//! for common lines (`}`, blank lines) it is the nearest unique line above and below, with
//! everything between unchanged. The edges of the file count as unique. And the block keeps a
//! neighbour: a line that turns up in other company was moved by somebody, and may mean something
//! else there. Anything less, and the block's whereabouts are a guess.

use memchr::memmem;

use crate::{Snapshot, Span};

/// How many lines on each side of a block are tried as witnesses. Unique lines are dense in real
/// text; a block with none this near is not worth a search of the whole file.
const REACH_LINES: usize = 48;

/// The first line (1-based) in `new` of the block that was lines `first..=last` of `old`.
///
/// `None` when the block changed, vanished, or could be in more than one place.
pub fn rebase(old: &Snapshot, new: &Snapshot, first: usize, last: usize) -> Option<usize> {
    if first == 0 || last < first || last > old.line_count() {
        return None;
    }
    if old.hash() == new.hash() {
        return Some(first);
    }
    let end = old.line_count() + 1;
    let above = (first.saturating_sub(REACH_LINES)..=first).rev().find_map(|n| match n {
        0 => Some(Witness::At { old: 0, new: 0 }),
        n => witness(old, new, n),
    })?;
    let below = (last..=end.min(last + REACH_LINES)).find_map(|n| match n {
        n if n == end => Some(Witness::At { old: end, new: new.line_count() + 1 }),
        n => witness(old, new, n),
    })?;
    let (Witness::At { old: top, new: top_now }, Witness::At { old: bottom, new: bottom_now }) =
        (above, below)
    else {
        return None;
    };
    if bottom_now.checked_sub(top_now) != Some(bottom - top) {
        return None;
    }
    // The edges of the file are no lines, so the run is compared without them.
    let (run_first, run_last) = (top.max(1), bottom.min(end - 1));
    let start = (run_first + top_now).checked_sub(top)?;
    let moved = run(old, run_first, run_last)? == run(new, start, start + run_last - run_first)?;
    let now = start + first - run_first;
    (moved && keeps_company(old, new, (first, last), now)).then_some(now)
}

/// Whether the nearest line that is not blank, above or below the block, is still the same.
fn keeps_company(
    old: &Snapshot,
    new: &Snapshot,
    (first, last): (usize, usize),
    now: usize,
) -> bool {
    let above = |snapshot: &Snapshot, from: usize| {
        let lines = (from.saturating_sub(REACH_LINES).max(1)..from).rev();
        lines
            .filter_map(|n| snapshot.line_text(n))
            .find(|line| !line.trim().is_empty())
            .map(str::to_owned)
    };
    let below = |snapshot: &Snapshot, from: usize| {
        let lines = snapshot.lines_from(from + 1).take(REACH_LINES);
        lines
            .map(|line| &snapshot.text()[line.content.range()])
            .find(|line| !line.trim().is_empty())
            .map(str::to_owned)
    };
    above(old, first) == above(new, now) || below(old, last) == below(new, now + last - first)
}

/// What one line of the old text says about the new text.
enum Witness {
    /// It is unique in both: line `old` is line `new` now. Line 0 and the line after the last
    /// stand for the edges of the file.
    At { old: usize, new: usize },
    /// It was unique, and is gone: the run of unchanged lines ends here.
    Gone,
}

fn witness(old: &Snapshot, new: &Snapshot, number: usize) -> Option<Witness> {
    let line = old.line_text(number)?;
    if line.trim().is_empty() {
        return None;
    }
    match (occurrence(old, line), occurrence(new, line)) {
        (Occurrence::Once(_), Occurrence::Once(at)) => {
            Some(Witness::At { old: number, new: new.line_at(at)? })
        }
        (Occurrence::Once(_), Occurrence::Never) => Some(Witness::Gone),
        _ => None,
    }
}

enum Occurrence {
    Never,
    Once(usize),
    Often,
}

/// How often `line` stands as a whole line in the snapshot.
fn occurrence(snapshot: &Snapshot, line: &str) -> Occurrence {
    let text = snapshot.text().as_bytes();
    let mut found = Occurrence::Never;
    for at in memmem::find_iter(text, line.as_bytes()) {
        let starts = at == 0 || text[at - 1] == b'\n';
        let rest = &text[at + line.len()..];
        let ends = rest.is_empty() || rest.starts_with(b"\n") || rest.starts_with(b"\r\n");
        if starts && ends {
            if matches!(found, Occurrence::Once(_)) {
                return Occurrence::Often;
            }
            found = Occurrence::Once(at);
        }
    }
    found
}

/// Text of lines `first..=last`, up to but without the last terminator: a line does not change when
/// text is added behind the end of the file.
fn run(snapshot: &Snapshot, first: usize, last: usize) -> Option<&str> {
    let (first, last) = (snapshot.line(first)?, snapshot.line(last)?);
    Some(&snapshot.text()[Span::new(first.full.start, last.content.end).range()])
}

#[cfg(test)]
mod tests;
