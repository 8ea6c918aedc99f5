//! Windows of lines: which lines are asked for, and as many of them as fit a result.

use std::fmt::Write as _;

use anchors::anchor::BAR;
use anchors::{Cancel, Cancelled, LineHash, Salt, Snapshot};

use super::{ReadError, ReadRequest};
use crate::limits::{LONG_LINE_BYTES, RESULT_BYTES, RESULT_LINES};

/// What stands in front of each line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum View {
    /// Nothing.
    #[default]
    Plain,
    /// `12│`
    Lines,
    /// `12#A4F0│`
    Anchors,
}

impl View {
    /// The view that the names ask for, and a notice for each name that is none.
    pub fn parse(names: &[String]) -> (Self, Vec<String>) {
        let (mut view, mut notices) = (Self::Plain, Vec::new());
        for name in names {
            match name.as_str() {
                "anchors" => view = Self::Anchors,
                "lines" if view == Self::Plain => view = Self::Lines,
                "lines" => {}
                other => {
                    notices.push(format!("no view is called `{other}`; there are anchors, lines"));
                }
            }
        }
        (view, notices)
    }
}

/// Room that is left in a result.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Bytes.
    pub bytes: usize,
    /// Lines.
    pub lines: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self { bytes: RESULT_BYTES, lines: RESULT_LINES }
    }
}

/// Lines `first..=last` that a request asks for, of `count`; `first > last` when none.
///
/// # Errors
/// [`ReadError::BeyondEnd`].
pub fn asked(request: &ReadRequest, count: usize) -> Result<(usize, usize), ReadError> {
    let first = match request.offset.unwrap_or(0) {
        0 => 1,
        n if n > 0 => usize::try_from(n).unwrap_or(usize::MAX),
        n => {
            let back = usize::try_from(n.unsigned_abs()).unwrap_or(usize::MAX);
            count.saturating_sub(back) + 1
        }
    };
    if first > count.max(1) {
        let offset = request.offset.unwrap_or(0);
        return Err(ReadError::BeyondEnd { offset, count: count as u64, unit: "lines" });
    }
    let last = match request.limit {
        None => count,
        Some(limit) => {
            let limit = usize::try_from(limit).unwrap_or(usize::MAX);
            (first - 1).saturating_add(limit).min(count)
        }
    };
    Ok((first, last))
}

/// As [`asked`], with the offset counted from the line `base`: 0 and 1 are that line, 2 the next,
/// -1 the one before.
///
/// # Errors
/// [`ReadError::BeyondEnd`].
pub fn asked_from(
    request: &ReadRequest,
    base: usize,
    count: usize,
) -> Result<(usize, usize), ReadError> {
    let base = i64::try_from(base).unwrap_or(i64::MAX);
    let offset = match request.offset.unwrap_or(0) {
        0 => base,
        n if n > 0 => base.saturating_add(n - 1),
        n => base.saturating_add(n).max(1),
    };
    asked(&ReadRequest { offset: Some(offset), ..request.clone() }, count)
}

/// A text and how its lines are shown.
#[derive(Clone, Copy, Debug)]
pub struct Page<'a> {
    /// The text.
    pub snapshot: &'a Snapshot,
    /// What stands in front of each line.
    pub view: View,
    /// For the anchors of this revision.
    pub salt: Salt,
    /// Stops the writing.
    pub cancel: &'a Cancel,
}

/// Writes lines `first..=last` as far as the budget goes, whole lines only; gives the last line
/// that was written (`first - 1` when none). A first line that is too long by itself is cut.
///
/// # Errors
/// [`Cancelled`].
pub fn write(
    out: &mut String,
    page: Page<'_>,
    (first, last): (usize, usize),
    budget: &mut Budget,
) -> Result<Written, Cancelled> {
    let Page { snapshot, view, salt, cancel } = page;
    let mut written = Written { last: first.saturating_sub(1), cut: None };
    if first > last {
        return Ok(written);
    }
    out.reserve(budget.bytes.min(64 * (last + 1 - first)));
    for line in snapshot.lines_from(first).take(last + 1 - first) {
        if line.number % 1024 == 0 {
            cancel.check()?;
        }
        let text = &snapshot.text()[line.content.range()];
        let start = out.len();
        match view {
            View::Plain => {}
            View::Lines => write!(out, "{}{BAR}", line.number).expect("a string takes all"),
            View::Anchors => write!(out, "{}#{}{BAR}", line.number, LineHash::of(text, salt))
                .expect("a string takes all"),
        }
        let size = out.len() - start + text.len() + 1;
        if budget.lines == 0 || size > budget.bytes {
            if written.last + 1 == first && budget.lines > 0 {
                let shown = &text[..text.floor_char_boundary(LONG_LINE_BYTES.min(budget.bytes))];
                out.push_str(shown);
                out.push_str("…\n");
                written.cut =
                    Some(Cut { line: line.number, bytes: text.len(), shown: shown.len() });
                written.last = line.number;
            } else {
                out.truncate(start);
            }
            break;
        }
        out.push_str(text);
        out.push('\n');
        budget.bytes -= size;
        budget.lines -= 1;
        written.last = line.number;
    }
    Ok(written)
}

/// How far [`write()`] came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// The last line that was written.
    pub last: usize,
    /// Set when that line was too long and is cut.
    pub cut: Option<Cut>,
}

/// A line that did not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The line, 1-based.
    pub line: usize,
    /// Its length in bytes of text.
    pub bytes: usize,
    /// How many of them were shown.
    pub shown: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(text: &str) -> Snapshot {
        Snapshot::decode(text.as_bytes().to_vec()).unwrap()
    }

    fn check(offset: i64, limit: Option<u64>) -> Option<(usize, usize)> {
        asked(&ReadRequest { offset: Some(offset), limit, views: Vec::new() }, 10).ok()
    }

    #[test]
    fn offsets_and_limits() {
        assert_eq!(check(0, None), Some((1, 10)));
        assert_eq!(check(1, Some(3)), Some((1, 3)));
        assert_eq!(check(-1, None), Some((10, 10)));
        assert_eq!(check(-10, Some(2)), Some((1, 2)));
        assert_eq!(check(-99, Some(1)), Some((1, 1)));
        assert_eq!(check(10, Some(u64::MAX)), Some((10, 10)));
        assert_eq!(check(4, Some(0)), Some((4, 3)));
        assert_eq!(check(11, None), None);
        assert_eq!(check(i64::MAX, None), None);
        assert_eq!(check(i64::MIN, None), Some((1, 10)));
    }

    #[test]
    fn offsets_from_an_anchor() {
        let from = |offset| {
            let request = ReadRequest { offset: Some(offset), limit: Some(1), views: Vec::new() };
            asked_from(&request, 5, 10).map(|(first, _)| first).ok()
        };
        assert_eq!(
            [from(0), from(1), from(2), from(-1), from(-99), from(99)],
            [Some(5), Some(5), Some(6), Some(4), Some(1), None]
        );
    }

    #[test]
    fn whole_lines_up_to_the_budget() {
        let (text, cancel) = (snapshot("one\ntwo\nthree\n"), Cancel::new());
        let page = |view| Page { snapshot: &text, view, salt: Salt::default(), cancel: &cancel };
        let mut out = String::new();
        let mut budget = Budget { bytes: 9, lines: 10 };
        let written = write(&mut out, page(View::Plain), (1, 3), &mut budget);
        assert_eq!((out.as_str(), written), ("one\ntwo\n", Ok(Written { last: 2, cut: None })));
        let mut out = String::new();
        let mut budget = Budget { bytes: 5, lines: 9 };
        let written = write(&mut out, page(View::Lines), (3, 3), &mut budget);
        assert_eq!(written.unwrap().cut, Some(Cut { line: 3, bytes: 5, shown: 5 }));
        assert_eq!(out, "3│three…\n");
    }
}
