//! Folders: a sorted listing. It selects nothing that could be edited.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::Path;

use crate::host::{DirEntry, Host, Kind};
use crate::limits::{FOLDER_ENTRIES, RESULT_BYTES, RESULT_LINES};
use crate::read::{ReadContext, ReadError, ReadOutput, ReadRequest, ReadResolver, View, window};
use crate::source::{self, Base};

/// Paths and `file:` URLs of folders.
pub struct DirectorySource;

impl<H: Host> ReadResolver<H> for DirectorySource {
    fn id(&self) -> &'static str {
        "source.directory"
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
        let located = base.find(source).ok()?;
        let stat = context.host.stat(&located.path).ok()?;
        (stat.kind == Kind::Dir).then(|| {
            let mut output = list(&located.path, request, context)?;
            output.notices.extend(located.notice);
            Ok(output)
        })
    }
}

fn list<H: Host>(
    path: &Path,
    request: &ReadRequest,
    context: &ReadContext<'_, H>,
) -> Result<ReadOutput, ReadError> {
    let listing = context.host.read_dir(path, FOLDER_ENTRIES, context.cancel)?;
    let mut entries = listing.entries;
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    let (_, mut notices) = View::parse(&request.views);
    let count = entries.len();
    let (first, last) = window::asked(request, count)?;
    let kept = not_ignored(path);
    let mut text = String::new();
    let mut shown = 0;
    for entry in entries.iter().skip(first - 1).take((last + 1).saturating_sub(first)) {
        let line = line(path, entry, &kept, context);
        if shown == RESULT_LINES || text.len() + line.len() >= RESULT_BYTES {
            break;
        }
        text.push_str(&line);
        text.push('\n');
        shown += 1;
    }
    let more = if listing.complete { "" } else { " at least" };
    notices.push(match count {
        0 => "the folder is empty".to_owned(),
        _ if first - 1 + shown < count => format!(
            "entries {first}-{} of{more} {count}; continue with offset={}",
            first - 1 + shown,
            first + shown
        ),
        1 => "1 entry".to_owned(),
        _ => format!("{count} entries"),
    });
    Ok(ReadOutput { text, notices, ..ReadOutput::default() })
}

fn line<H: Host>(
    folder: &Path,
    entry: &DirEntry,
    kept: &HashSet<OsString>,
    context: &ReadContext<'_, H>,
) -> String {
    let mut line = shown_name(&entry.name);
    match entry.kind {
        Kind::Dir => line.push('/'),
        Kind::Symlink => {
            let target = context.host.read_link(&folder.join(&entry.name));
            let target =
                target.map_or_else(|_| "?".to_owned(), |target| target.display().to_string());
            line.push_str(" -> ");
            line.push_str(&escaped(&target));
        }
        Kind::File => {}
        kind => line.push_str(&format!(" ({kind})")),
    }
    if !kept.contains(&entry.name) {
        line.push_str(" (ignored)");
    }
    line
}

/// A name on one line; bytes that are not UTF-8 are percent-encoded, which `read` accepts.
fn shown_name(name: &OsString) -> String {
    match name.to_str() {
        Some(name) => escaped(name),
        None => {
            let id = source::id_of(&Path::new("/").join(name));
            id.as_str().trim_start_matches("file:///").to_owned()
        }
    }
}

fn escaped(name: &str) -> String {
    name.replace('\n', "%0A").replace('\r', "%0D")
}

/// Names in the folder that no ignore file hides. What can't be found out is not ignored, so that
/// an error never hides anything.
fn not_ignored(folder: &Path) -> HashSet<OsString> {
    ignore::WalkBuilder::new(folder)
        .max_depth(Some(1))
        .hidden(false)
        .build()
        .filter_map(Result::ok)
        .map(|entry| entry.file_name().to_owned())
        .collect()
}
