//! Searching inside parts of texts: "search inside a result".

use anchors::Span;

use super::Region;
use super::file::TextSearch;
use super::hits::{FileHits, Lines, Match};
use super::matcher::Matcher;
use super::preview::{Builder, Stretch};
use super::scan;
use crate::limits::RESULT_LINES;

/// The matches in one region; `None` when there are none. Stops when the search does.
pub(super) fn search(
    search: &TextSearch,
    index: usize,
    region: &Region,
    matcher: &Matcher,
) -> Option<FileHits> {
    let text = region.snapshot.text();
    let mut spans = region.spans.clone();
    spans.sort();
    spans.dedup();
    let mut found = search.start();
    let mut lines = Lines::new(text.as_bytes(), 0, 1);
    let mut reached = 0;
    for span in spans {
        let Some(part) = part(text, span) else { continue };
        if span.start < reached {
            // Overlapping parts: offsets start over.
            lines = Lines::new(text.as_bytes(), 0, 1);
        }
        reached = reached.max(span.end);
        let ended = scan::each(matcher, part.as_bytes(), 0, &search.stop, |start, end| {
            let locate = || lines.locate(span.start + start, span.start + end);
            search.keep(&mut found, locate, |_| {});
        });
        if !ended {
            break;
        }
    }
    let mut found = search.settle(found);
    let repeated = found.matches.len();
    found.matches.sort_by_key(|found: &Match| found.span);
    found.matches.dedup_by_key(|found| found.span);
    let count = found.count - (repeated - found.matches.len()) as u64;
    let matches = found.matches;
    let stretch = Stretch { text, base: 0 };
    let mut builder = Builder::new(search.context);
    matches.iter().take(RESULT_LINES).for_each(|found| builder.add(stretch, found));
    (count > 0).then(|| FileHits {
        path: region.path.clone(),
        root: index,
        content: region.snapshot.hash(),
        stat: None,
        preview: (!matches.is_empty()).then(|| builder.finish(stretch)),
        matches,
        count,
    })
}

/// The text of `span`, without half a line end. `None` when it is not in the text.
fn part(text: &str, span: Span) -> Option<&str> {
    let part = text.get(span.range())?;
    let halved = part.ends_with('\r') && text[span.end..].starts_with('\n');
    Some(if halved { &part[..part.len() - 1] } else { part })
}
