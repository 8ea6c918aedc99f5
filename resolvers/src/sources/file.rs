//! Files: text by lines, anything else described.

mod kinds;

use std::path::Path;
use std::sync::Arc;

use anchors::{Format, Snapshot};

use crate::cache::Content;
use crate::host::{Host, Kind};
use crate::limits::TEXT_BYTES;
use crate::read::window::{self, Budget, Written};
use crate::read::{
    ReadContext, ReadError, ReadOutput, ReadRequest, ReadResolver, Shown, View, select_lines,
};
use crate::source::{self, Base};
use crate::temp::TempText;

/// Paths and `file:` URLs of regular files, with `#anchor`.
pub struct FileSource;

impl<H: Host> ReadResolver<H> for FileSource {
    fn id(&self) -> &'static str {
        "source.file"
    }

    fn read(
        &self,
        source: &str,
        request: &ReadRequest,
        context: &ReadContext<'_, H>,
    ) -> Option<Result<ReadOutput, ReadError>> {
        if source::scheme(source).is_some() {
            return None;
        }
        let base = Base { host: context.host, root: context.root };
        let located = match base.locate(source, context.cancel) {
            Ok(located) => located,
            Err(error) => return Some(Err(error.into())),
        };
        let kind = context.host.stat(&located.path).map(|stat| stat.kind);
        if kind.is_ok_and(|kind| kind == Kind::Dir) {
            return None;
        }
        let read = read(&located.path, located.anchor.as_deref(), request, context);
        Some(read.map(|mut output| {
            output.notices.extend(located.notice);
            output
        }))
    }
}

fn read<H: Host>(
    path: &Path,
    anchor: Option<&str>,
    request: &ReadRequest,
    context: &ReadContext<'_, H>,
) -> Result<ReadOutput, ReadError> {
    let file = context.cache.get(context.host, path, TEXT_BYTES, context.cancel)?;
    match file.content {
        Content::Text(snapshot) => text(path, &snapshot, anchor, request, context),
        Content::Binary { reason, .. } => {
            if request.offset.is_some() || request.limit.is_some() || anchor.is_some() {
                return Err(ReadError::NoRange { what: "a binary file" });
            }
            let head = context.host.read_range(path, 0, kinds::HEAD_BYTES, context.cancel)?;
            let id = source::id_of(path);
            let kind = kinds::describe(&head.bytes);
            let text = format!(
                "{kind}, {} bytes; not text: {reason}. Its bytes: read raw:{id}\n",
                file.stat.size
            );
            Ok(ReadOutput { text, ..ReadOutput::default() })
        }
    }
}

fn text<H: Host>(
    path: &Path,
    snapshot: &Arc<Snapshot>,
    anchor: Option<&str>,
    request: &ReadRequest,
    context: &ReadContext<'_, H>,
) -> Result<ReadOutput, ReadError> {
    let id = source::id_of(path);
    let count = snapshot.line_count();
    let lines = match anchor {
        None => window::asked(request, count)?,
        Some(anchor) => {
            let found = (context.find_anchor)(path, snapshot, anchor);
            let (base, _) = found.map_err(|error| ReadError::Anchor {
                error,
                source_id: id.clone(),
                snapshot: snapshot.clone(),
            })?;
            window::asked_from(request, base, count)?
        }
    };
    let (view, mut notices) = View::parse(&request.views);
    let format = snapshot.format();
    if format != Format::UTF8 {
        notices.push(format.name().to_owned());
    }
    let mut text = String::new();
    let mut budget = Budget::default();
    let page = context.page(&id, snapshot, view);
    let written = window::write(&mut text, page, lines, &mut budget)?;
    let (first, last) = lines;
    notices.extend(ending(Ending { first, last, count, written }, request.limit, || {
        let rest = TempText {
            source: id.clone(),
            snapshot: snapshot.clone(),
            lines: (written.last + 1, last),
        };
        context.temp.keep(rest)
    }));
    if let Some(cut) = written.cut {
        let line = snapshot.line(cut.line).map_or(0, |line| line.full.start);
        notices.push(format!(
            "line {} has {} bytes, {} are shown; the rest: read raw:{id} with offset={}",
            cut.line,
            cut.bytes,
            cut.shown,
            line + cut.shown
        ));
    }
    Ok(ReadOutput {
        text,
        notices,
        selection: Some(select_lines(&id, snapshot, first, last)),
        shown: Some(Shown {
            source: id,
            snapshot: snapshot.clone(),
            lines: (first, written.last),
            anchored: view == View::Anchors,
        }),
    })
}

/// Where a window stands in its file.
#[derive(Clone, Copy)]
struct Ending {
    first: usize,
    last: usize,
    count: usize,
    written: Written,
}

/// Says what of the file is not shown, and how to get it.
fn ending(
    window: Ending,
    limit: Option<u64>,
    keep_rest: impl FnOnce() -> String,
) -> Option<String> {
    let Ending { first, last, count, written } = window;
    if count == 0 {
        return Some("the file is empty".to_owned());
    }
    if written.last < last {
        let next = written.last + 1;
        let temp =
            if limit.is_none() { format!(" or read temp:{}", keep_rest()) } else { String::new() };
        return Some(format!(
            "lines {first}-{} of {count}; continue with offset={next}{temp}",
            written.last
        ));
    }
    if last < count {
        let next = last.max(first - 1) + 1;
        let lines = if count - last == 1 { "line" } else { "lines" };
        return Some(format!("{} more {lines} of {count}; next offset={next}", count - last));
    }
    None
}
