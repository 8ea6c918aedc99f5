//! The forms of anchor that are always there.

use super::exact;
use super::{AnchorError, AnchorForm, Context, Located};
use crate::{LineHash, Range, Span};

/// What separates an anchor from the text of its line where both are shown.
pub const BAR: char = '│';

/// `12#A4F0`: a whole line, as it was shown to this session. The shown text may follow, as in
/// `12#A4F0│let x = 1;`, and must then be right.
pub struct LineAnchor;

impl AnchorForm for LineAnchor {
    fn id(&self) -> &'static str {
        "anchor.line"
    }

    fn locate(&self, token: &str, cx: &Context<'_>) -> Option<Result<Located, AnchorError>> {
        let (name, shown) = match token.split_once(BAR) {
            Some((name, shown)) => (name, Some(shown)),
            None => (token, None),
        };
        let (line, hash) = parse(name.trim())?;
        let places = cx.ledger.issued(cx.source, line, hash);
        let pairs = shown.is_none_or(|text| {
            places.iter().any(|place| place.snapshot.line_text(place.line) == Some(text))
        });
        if places.is_empty() || !pairs {
            let reason = if places.is_empty() {
                "this session was not shown it, or has edited that line since"
            } else {
                "the text behind the bar is not the text of that line"
            };
            let near = line.min(cx.snapshot.line_count());
            return Some(Err(AnchorError::Stale { anchor: name.to_owned(), reason, near }));
        }
        Some(Ok(Located::Issued { line, places }))
    }
}

/// The line number (1-based) and hash of a `12#A4F0` token, for finding out which source an anchor
/// without a path belongs to.
pub fn parse_line_anchor(token: &str) -> Option<(usize, LineHash)> {
    parse(token.split_once(BAR).map_or(token, |(name, _)| name).trim())
}

fn parse(token: &str) -> Option<(usize, LineHash)> {
    let (line, hash) = token.split_once('#')?;
    let digits = !line.is_empty() && line.bytes().all(|b| b.is_ascii_digit());
    if !digits || line.starts_with('0') {
        return None;
    }
    Some((line.parse().ok()?, hash.parse().ok()?))
}

/// Result ids, unchanged results and `SEARCH#…`: the stored ranges, if the source has not changed.
pub struct References;

impl AnchorForm for References {
    fn id(&self) -> &'static str {
        "anchor.reference"
    }

    fn locate(&self, token: &str, cx: &Context<'_>) -> Option<Result<Located, AnchorError>> {
        let selection = match (cx.references)(token)? {
            Ok(selection) => selection,
            Err(error) => return Some(Err(error.into())),
        };
        let name = || super::shorten(token);
        let Some(part) = selection.parts.iter().find(|part| part.source == *cx.source) else {
            return Some(Err(AnchorError::OtherSource(name())));
        };
        if part.content != cx.snapshot.hash() {
            return Some(Err(AnchorError::StaleReference(name())));
        }
        Some(Ok(Located::Current(part.ranges.clone())))
    }
}

/// `begin` and `end`: the first and the last existing line.
pub struct BeginEnd;

impl AnchorForm for BeginEnd {
    fn id(&self) -> &'static str {
        "anchor.begin-end"
    }

    fn locate(&self, token: &str, cx: &Context<'_>) -> Option<Result<Located, AnchorError>> {
        let line = match token {
            "begin" => 1,
            "end" => cx.snapshot.line_count(),
            _ => return None,
        };
        let span = cx.snapshot.line_span(line, line);
        Some(match span {
            Some(span) => Ok(Located::Current(vec![Range::lines(span)])),
            None => Err(AnchorError::EmptyFile(token.to_owned())),
        })
    }
}

/// Any other text: what it is found at, when that is one place only.
pub struct ExactText;

impl AnchorForm for ExactText {
    fn id(&self) -> &'static str {
        "anchor.text"
    }

    fn locate(&self, token: &str, cx: &Context<'_>) -> Option<Result<Located, AnchorError>> {
        let found = exact::find(cx.snapshot, token);
        let text = token.to_owned();
        Some(match (found.total, found.at.first()) {
            (1, Some(span)) => Ok(Located::Current(vec![range(cx, *span)])),
            (0, _) => Err(AnchorError::Missing { text }),
            (total, _) => Err(AnchorError::Ambiguous { text, at: found.at, total }),
        })
    }
}

fn range(cx: &Context<'_>, span: Span) -> Range {
    Range::of_text(cx.snapshot, span)
}
