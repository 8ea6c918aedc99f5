//! `raw:`: the bytes of a file, as a hex view. It selects nothing that could be edited.

use std::fmt::Write as _;
use std::path::Path;

use crate::host::{Host, Kind};
use crate::limits::RAW_BYTES;
use crate::read::{ReadContext, ReadError, ReadOutput, ReadRequest, ReadResolver};
use crate::source::{self, Base, SourceError};

/// Bytes of one row.
const ROW: usize = 16;

/// `raw:PATH`; offset and limit are bytes, the offset 0-based or negative from the end.
pub struct RawSource;

impl<H: Host> ReadResolver<H> for RawSource {
    fn id(&self) -> &'static str {
        "source.raw"
    }

    fn read(
        &self,
        source: &str,
        request: &ReadRequest,
        context: &ReadContext<'_, H>,
    ) -> Option<Result<ReadOutput, ReadError>> {
        match source::scheme(source) {
            Some(("raw", path)) => Some(read(source, path, request, context)),
            _ => None,
        }
    }
}

fn read<H: Host>(
    source: &str,
    path: &str,
    request: &ReadRequest,
    context: &ReadContext<'_, H>,
) -> Result<ReadOutput, ReadError> {
    if !request.views.is_empty() {
        return Err(ReadError::NoViews { what: "`raw:`" });
    }
    let base = Base { host: context.host, root: context.root };
    let located = base.locate(path, context.cancel)?;
    if located.anchor.is_some() {
        return Err(SourceError::NotFound { near: Vec::new() }.into());
    }
    let stat = context.host.stat(&located.path).map_err(|error| SourceError::io(&error))?;
    if stat.kind != Kind::File {
        let error = crate::host::ReadError::NotAFile { path: located.path, kind: stat.kind };
        return Err(error.into());
    }
    let start = match request.offset.unwrap_or(0) {
        n if n >= 0 => n.unsigned_abs().min(stat.size),
        n => stat.size.saturating_sub(n.unsigned_abs()),
    };
    let wanted = request.limit.unwrap_or(u64::MAX).min(stat.size.saturating_sub(start));
    let length = wanted.min(RAW_BYTES);
    let bytes = context.host.read_range(&located.path, start, length, context.cancel)?.bytes;
    let end = start + bytes.len() as u64;
    let mut text = header(&located.path, start, end, stat.size);
    for (row, chunk) in bytes.chunks(ROW).enumerate() {
        hex_row(&mut text, start + (row * ROW) as u64, chunk);
    }
    let mut notices: Vec<String> = located.notice.into_iter().collect();
    if end < stat.size {
        let cut = length < wanted;
        let lead = if cut { "output limited; " } else { "" };
        notices.push(format!("{lead}read {source} with offset={end} to continue in bytes"));
    }
    Ok(ReadOutput { text, notices, ..ReadOutput::default() })
}

fn header(path: &Path, start: u64, end: u64, size: u64) -> String {
    format!(
        "raw:{}\nBytes {start}..{end} (end exclusive), {size} bytes total\n",
        source::id_of(path)
    )
}

fn hex_row(text: &mut String, offset: u64, bytes: &[u8]) {
    let hex: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let printable = |byte: &u8| if (0x20..0x7F).contains(byte) { char::from(*byte) } else { '.' };
    let ascii: String = bytes.iter().map(printable).collect();
    writeln!(text, "{offset:08x}  {:<47}  |{ascii}|", hex.join(" ")).expect("a string takes all");
}
