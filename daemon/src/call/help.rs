//! What a refused edit shows, so that the next try needs no read: the text around, with fresh
//! anchors.

use std::fmt::Write as _;
use std::sync::Arc;

use anchors::anchor::parse_line_anchor;
use anchors::{AnchorError, Snapshot, SourceId};

use super::Call;
use crate::failure::Failure;

/// Lines shown on each side of where a stale anchor pointed.
const AROUND_STALE: usize = 3;
/// Lines shown on each side of a candidate.
const AROUND_CANDIDATE: usize = 1;
/// Candidates shown for ambiguous or missing text.
const CANDIDATES: usize = 8;
/// Characters of a shown line.
const LINE_CHARS: usize = 300;
/// A longer text is not looked through for similar lines, in bytes.
const SIMILAR_BYTES: usize = 20 << 20;

impl Call<'_> {
    /// The failure of an anchor in a text that is at hand. Whatever it shows is registered as shown.
    pub fn anchor_failure(
        &self,
        error: &AnchorError,
        source: &SourceId,
        snapshot: &Arc<Snapshot>,
    ) -> Failure {
        let failure = Failure::new(error.code(), error.to_string()).at(self.name(source));
        let shown = match error {
            AnchorError::Stale { near, anchor, .. } => {
                if let Some((line, hash)) = parse_line_anchor(anchor) {
                    let keep = snapshot.hash();
                    self.memory().ledger.retire(source, line, hash, keep);
                }
                around(snapshot, &[*near], AROUND_STALE)
            }
            AnchorError::Ambiguous { at, .. } => {
                let lines: Vec<usize> = at
                    .iter()
                    .take(CANDIDATES)
                    .filter_map(|span| snapshot.line_at(span.start))
                    .collect();
                around(snapshot, &lines, AROUND_CANDIDATE)
            }
            AnchorError::Missing { text } => {
                around(snapshot, &similar(snapshot, text), AROUND_CANDIDATE)
            }
            _ => Vec::new(),
        };
        let lead = match (error, shown.is_empty()) {
            (_, true) => return failure,
            (AnchorError::Missing { .. }, _) => "Similar lines:\n",
            (AnchorError::Ambiguous { .. }, _) => "Candidates:\n",
            _ => "Now:\n",
        };
        failure.with_help(format!("{lead}{}", self.show(source, snapshot, &shown)))
    }

    /// The line ranges as anchored text, registered as shown to the session.
    pub fn show(
        &self,
        source: &SourceId,
        snapshot: &Arc<Snapshot>,
        ranges: &[(usize, usize)],
    ) -> String {
        let mut text = String::new();
        let salt = self.memory().ledger.salt(source, snapshot);
        for (at, (first, last)) in ranges.iter().enumerate() {
            if at > 0 {
                text.push_str("--\n");
            }
            for line in snapshot.lines_from(*first).take(last + 1 - first) {
                let content = &snapshot.text()[line.content.range()];
                let hash = anchors::LineHash::of(content, salt);
                let cut = content.char_indices().nth(LINE_CHARS).map(|(at, _)| at);
                let (content, dots) = cut.map_or((content, ""), |at| (&content[..at], "…"));
                writeln!(text, "{}#{hash}│{content}{dots}", line.number)
                    .expect("a string takes all");
            }
            self.memory().ledger.show(source, snapshot, *first, *last);
        }
        text
    }
}

/// Merged line ranges of `context` lines around each of `lines`.
fn around(snapshot: &Snapshot, lines: &[usize], context: usize) -> Vec<(usize, usize)> {
    let count = snapshot.line_count();
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for line in lines.iter().filter(|line| (1..=count).contains(*line)) {
        let (first, last) = (line.saturating_sub(context).max(1), (line + context).min(count));
        match ranges.last_mut() {
            Some(range) if first <= range.1 + 1 => range.1 = range.1.max(last),
            _ => ranges.push((first, last)),
        }
    }
    ranges
}

/// Lines that look like the first line of `needle` when white space, quotes and dashes do not count.
fn similar(snapshot: &Snapshot, needle: &str) -> Vec<usize> {
    let Some(wanted) = needle.lines().map(squeeze).find(|line| !line.is_empty()) else {
        return Vec::new();
    };
    if snapshot.text().len() > SIMILAR_BYTES {
        return Vec::new();
    }
    let lines = snapshot.lines_from(1);
    lines
        .filter(|line| squeeze(&snapshot.text()[line.content.range()]).contains(&wanted))
        .map(|line| line.number)
        .take(CANDIDATES)
        .collect()
}

/// A line without white space, in lower case, with plain quotes and dashes.
fn squeeze(line: &str) -> String {
    line.chars()
        .filter(|c| !c.is_whitespace())
        .flat_map(char::to_lowercase)
        .map(|c| match c {
            '‘' | '’' | '‚' | '‛' | '`' => '\'',
            '“' | '”' | '„' | '‟' => '"',
            '‐' | '‑' | '‒' | '–' | '—' | '−' => '-',
            other => other,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_lines_differ_in_what_people_mistype() {
        let text = "fn  main() {\n    let s = “hi” — x;\n}\n";
        let snapshot = Snapshot::decode(text.as_bytes().to_vec()).unwrap();
        assert_eq!(similar(&snapshot, "fn main() {\n  nope"), [1]);
        assert_eq!(similar(&snapshot, "let s = \"hi\" - x;"), [2]);
        assert_eq!(similar(&snapshot, "\n\n"), Vec::<usize>::new());
    }

    #[test]
    fn ranges_merge_where_they_touch() {
        let snapshot = Snapshot::decode(b"1\n2\n3\n4\n5\n6\n7\n8\n".to_vec()).unwrap();
        assert_eq!(around(&snapshot, &[1, 3, 8], 1), [(1, 4), (7, 8)]);
        assert_eq!(around(&snapshot, &[0, 99], 1), []);
    }
}
