//! Where a block of lines went when its file changed, if that is certain.
//!
//! A block is *proven* to have moved when it stands, byte for byte, inside a run of unchanged
//! lines that can be in one place only. Two things pin a run down: a line of the block itself that
//! occurs exactly once in the old and in the new text; or, for a block of common lines (`}`, blank
//! lines), such a unique line above *and* below with everything between them unchanged. The edges
//! of the file count as unique. Anything less, and the block's whereabouts are a guess.

use memchr::memmem;

use crate::{Line, Snapshot, Span};

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
    if let Some(witness) = (first..=last).take(REACH_LINES).find_map(|n| witness(old, new, n)) {
        let Witness::At { old: from, new: to } = witness else { return None };
        return shifted(old, new, (first, last), (from, to));
    }
    let above = (first.saturating_sub(REACH_LINES)..first).rev().find_map(|n| match n {
        0 => Some(Witness::At { old: 0, new: 0 }),
        n => witness(old, new, n),
    })?;
    let end = old.line_count() + 1;
    let below = (last + 1..=end.min(last + REACH_LINES)).find_map(|n| {
        if n == end {
            Some(Witness::At { old: end, new: new.line_count() + 1 })
        } else {
            witness(old, new, n)
        }
    })?;
    let (Witness::At { old: top, new: top_now }, Witness::At { old: bottom, new: bottom_now }) =
        (above, below)
    else {
        return None;
    };
    if bottom_now.checked_sub(top_now) != Some(bottom - top) {
        return None;
    }
    let start = shifted(old, new, (top + 1, bottom - 1), (top, top_now))?;
    Some(start + first - (top + 1))
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

/// The new first line of the lines `first..=last` when they moved, unchanged, as line `from`
/// moved to `to`.
fn shifted(
    old: &Snapshot,
    new: &Snapshot,
    (first, last): (usize, usize),
    (from, to): (usize, usize),
) -> Option<usize> {
    let start = (first + to).checked_sub(from)?;
    let (old_first, old_last) = (old.line(first)?, old.line(last)?);
    let (new_first, new_last) = (new.line(start)?, new.line(start + last - first)?);
    (block(old, old_first, old_last) == block(new, new_first, new_last)).then_some(start)
}

/// Text of whole lines, up to but without the last terminator: a line does not change when
/// text is added behind the end of the file.
fn block(snapshot: &Snapshot, first: Line, last: Line) -> &str {
    &snapshot.text()[Span::new(first.full.start, last.content.end).range()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(old: &str, new: &str, block: std::ops::RangeInclusive<usize>) -> Option<usize> {
        let snapshot = |text: &str| Snapshot::decode(text.as_bytes().to_vec()).unwrap();
        rebase(&snapshot(old), &snapshot(new), *block.start(), *block.end())
    }

    #[test]
    fn a_unique_block_moves_with_its_text() {
        assert_eq!(check("a\nb\nc\n", "x\na\nb\nc\n", 2..=2), Some(3));
        assert_eq!(check("a\nb\nc\n", "c\na\nb\n", 3..=3), Some(1));
        assert_eq!(check("a\nb\nc\n", "a\nb\nc\nd\n", 1..=3), Some(1));
        assert_eq!(check("a\nb\nc", "a\nb\nc\nd\n", 3..=3), Some(3));
    }

    #[test]
    fn a_changed_or_split_block_is_stale() {
        assert_eq!(check("a\nb\nc\n", "a\nB\nc\n", 2..=2), None);
        assert_eq!(check("a\nb\nc\n", "a\nb\nx\nc\n", 1..=3), None);
        assert_eq!(check("a\nb\nc\n", "a\nb\nb\nc\n", 2..=2), None);
        assert_eq!(check("a\nb\n", "a\r\nb\r\n", 1..=2), None);
    }

    #[test]
    fn common_lines_need_witnesses_on_both_sides() {
        let old = "fn f\n}\nfn g\n}\nend\n";
        assert_eq!(check(old, "new\nfn f\n}\nfn g\n}\nend\n", 2..=2), Some(3));
        assert_eq!(check(old, "fn f\n}\n}\nfn g\n}\nend\n", 2..=2), None);
        assert_eq!(check(old, "fn g\n}\nend\n", 2..=2), None);
        assert_eq!(check(old, "fn g\n}\nend\n", 4..=4), Some(2));
        assert_eq!(check(old, "fn f\n}\nx\nfn g\n}\nend\n", 2..=2), None);
    }

    #[test]
    fn edges_of_the_file_are_witnesses() {
        assert_eq!(check("}\na\n", "}\na\nb\n", 1..=1), Some(1));
        assert_eq!(check("a\n}\n", "b\na\n}\n", 2..=2), Some(3));
        assert_eq!(check("}\n}\n", "}\n}\n}\n", 1..=1), None);
        assert_eq!(check("a\n}\n", "a\n}\n}\n", 2..=2), None);
    }
}
