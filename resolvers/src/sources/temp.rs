//! `temp:`: the rest of a result that was cut.

use crate::host::Host;
use crate::read::window::{self, Budget};
use crate::read::{
    ReadContext, ReadError, ReadOutput, ReadRequest, ReadResolver, Shown, View, select_lines,
};
use crate::source;
use crate::temp::TempText;

/// `temp:ID`; lines keep the numbers that they have in their source, offset 1 is the first of the
/// rest.
pub struct TempSource;

impl<H: Host> ReadResolver<H> for TempSource {
    fn id(&self) -> &'static str {
        "source.temp"
    }

    fn read(
        &self,
        source: &str,
        request: &ReadRequest,
        context: &ReadContext<'_, H>,
    ) -> Option<Result<ReadOutput, ReadError>> {
        match source::scheme(source) {
            Some(("temp", id)) => Some(read(id, request, context)),
            _ => None,
        }
    }
}

fn read<H: Host>(
    id: &str,
    request: &ReadRequest,
    context: &ReadContext<'_, H>,
) -> Result<ReadOutput, ReadError> {
    let TempText { source, snapshot, lines: (start, end) } =
        context.temp.get(id).ok_or_else(|| ReadError::NoTemp(id.to_owned()))?;
    let (first, last) = window::asked(request, end + 1 - start)?;
    let lines = (start + first - 1, start + last - 1);
    let (view, mut notices) = View::parse(&request.views);
    let mut text = String::new();
    let mut budget = Budget::default();
    let page = context.page(&source, &snapshot, view);
    let written = window::write(&mut text, page, lines, &mut budget)?;
    if written.last < lines.1 {
        let next = written.last + 2 - start;
        notices.push(format!(
            "lines {}-{} of {}; continue with offset={next}",
            lines.0,
            written.last,
            snapshot.line_count()
        ));
    }
    Ok(ReadOutput {
        text,
        notices,
        selection: Some(select_lines(&source, &snapshot, lines.0, lines.1)),
        shown: Some(Shown {
            source,
            snapshot,
            lines: (lines.0, written.last),
            anchored: view == View::Anchors,
        }),
    })
}
