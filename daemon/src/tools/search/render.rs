//! How search results read: as little text as an agent needs to edit by it.

use std::fmt::Write as _;
use std::path::Path;

use resolvers::search::{
    FileHits, Incomplete, Match, NameHits, Notice, PreviewLine, TextHits, Totals,
};

/// Files beyond the shown matches that are named with their counts.
const NAMED_FILES: usize = 20;

/// What rendering needs beside the outcome.
pub(super) struct Frame<'a> {
    /// `SEARCH#HASH` when the matches were registered.
    pub(super) id: Option<&'a str>,
    /// A path as the agent would write it.
    pub(super) name: &'a dyn Fn(&Path) -> String,
    /// Matches to show in detail.
    pub(super) limit: usize,
    /// Lines around each match.
    pub(super) context: usize,
    /// Useful bytes to show at most.
    pub(super) bytes: usize,
}

/// The text of a text search.
pub(super) fn text(hits: &TextHits, frame: &Frame<'_>) -> String {
    let mut out = String::new();
    for line in hits.notices.iter().map(notice) {
        writeln!(out, "[{line}]").expect("a string takes all");
    }
    for reason in &hits.incomplete {
        writeln!(out, "[{}]", incomplete(*reason, &hits.totals)).expect("a string takes all");
    }
    if hits.totals.matches == 0 {
        none(&mut out, hits, frame);
        return out;
    }
    unreadable(&mut out, hits, frame);
    heading(&mut out, hits, frame);
    let shown = matches(&mut out, &hits.files, frame);
    rest(&mut out, &hits.files, shown, frame);
    out
}

fn heading(out: &mut String, hits: &TextHits, frame: &Frame<'_>) {
    let totals = &hits.totals;
    let count = plural(totals.matches, "match", "matches");
    let files = plural(totals.files_matched, "file", "files");
    let Some(id) = frame.id else {
        writeln!(out, "{count} in {files}").expect("a string takes all");
        return;
    };
    write!(out, "{count} in {files}. {id}:N:match is the text of match N, {id}:N:line its line")
        .expect("a string takes all");
    if crate::call::is_complete(hits) && totals.matches > 1 {
        out.push_str("; N=all is every one");
    }
    out.push_str(". N LINE│text:\n");
}

/// Writes matches up to the limits; gives how many.
fn matches(out: &mut String, files: &[FileHits], frame: &Frame<'_>) -> usize {
    let mut number = 0;
    for file in files.iter().filter(|file| !file.matches.is_empty()) {
        if number >= frame.limit || out.len() >= frame.bytes {
            break;
        }
        writeln!(out, "{}", (frame.name)(&file.path)).expect("a string takes all");
        let room = file.matches.len().min(frame.limit - number);
        number += one_file(out, file, (number, room), frame);
    }
    number
}

/// Writes the first `room` matches of one file, which follow the match `before`; gives how many.
fn one_file(
    out: &mut String,
    file: &FileHits,
    (before, room): (usize, usize),
    frame: &Frame<'_>,
) -> usize {
    let Some(preview) = &file.preview else {
        for (at, found) in file.matches[..room].iter().enumerate() {
            writeln!(out, "{} {}│", before + at + 1, found.line).expect("a string takes all");
        }
        return room;
    };
    let mut done = 0;
    let mut last = 0;
    for line in preview.lines() {
        let here = |found: &&Match| {
            found.line == line.number && found.span.start <= line.start + line.text.len()
        };
        let count = file.matches[done..room].iter().take_while(here).count();
        let after = done + count;
        // Behind the last match to show, only its own context belongs here.
        let beyond = done == room && line.number > file.matches[room - 1].line + frame.context;
        if out.len() >= frame.bytes || beyond {
            break;
        }
        if last != 0 && line.number > last + 1 && frame.context > 0 {
            out.push_str("--\n");
        }
        last = line.number;
        numbered(out, (before + done + 1, count), &line);
        done = after;
    }
    done
}

fn numbered(out: &mut String, (first, count): (usize, usize), line: &PreviewLine<'_>) {
    let range = match count {
        0 => "  ".to_owned(),
        1 => format!("{first} "),
        _ => format!("{first}-{} ", first + count - 1),
    };
    let (before, after) =
        (if line.cut_before { "…" } else { "" }, if line.cut_after { "…" } else { "" });
    let text = line.text.trim_end_matches(['\r', '\n']);
    writeln!(out, "{range}{}│{before}{text}{after}", line.number).expect("a string takes all");
}

/// Says where the matches are that are not shown.
fn rest(out: &mut String, files: &[FileHits], shown: usize, frame: &Frame<'_>) {
    let total: u64 = files.iter().map(|file| file.count).sum();
    let left = total.saturating_sub(shown as u64);
    if left == 0 {
        return;
    }
    let mut skip = shown as u64;
    let mut counts = Vec::new();
    for file in files {
        let here = file.count.saturating_sub(skip);
        skip = skip.saturating_sub(file.count);
        if here > 0 {
            counts.push(format!("{} {here}", (frame.name)(&file.path)));
        }
    }
    let more = counts.len().saturating_sub(NAMED_FILES);
    counts.truncate(NAMED_FILES);
    let more = if more > 0 { format!(" and {more} more files") } else { String::new() };
    let list = counts.join(", ");
    writeln!(out, "[{left} more not shown: {list}{more}; raise limit or narrow path]")
        .expect("a string takes all");
}

/// An empty result must not read as "does not exist" where something was not looked at.
fn none(out: &mut String, hits: &TextHits, frame: &Frame<'_>) {
    let totals = &hits.totals;
    let searched = plural(totals.files_searched, "file", "files");
    writeln!(out, "No matches in {searched}.").expect("a string takes all");
    let passed = &totals.walked.passed;
    let mut over = Vec::new();
    let mut add = |count: u64, one: &str, many: &str, how: &str| {
        if count > 0 {
            over.push(format!("{} ({how})", plural(count, one, many)));
        }
    };
    add(passed.hidden, "hidden entry", "hidden entries", "hidden: true");
    add(passed.ignored_files, "ignored file", "ignored files", "ignored: true, or name it in path");
    add(
        passed.ignored_folders,
        "ignored folder",
        "ignored folders",
        "ignored: true, or name it in path",
    );
    add(totals.binary, "binary file", "binary files", "read raw:FILE");
    add(passed.excluded, "entry", "entries", "left out by include or exclude");
    add(passed.links, "symbolic link", "symbolic links", "name it in path");
    add(passed.special, "device, pipe or socket", "devices, pipes or sockets", "never searched");
    if !over.is_empty() {
        writeln!(out, "Not looked at: {}.", over.join("; ")).expect("a string takes all");
    }
    unreadable(out, hits, frame);
}

/// What could not be looked at is said whatever was found elsewhere.
fn unreadable(out: &mut String, hits: &TextHits, frame: &Frame<'_>) {
    let passed = &hits.totals.walked.passed;
    if passed.unreadable == 0 {
        return;
    }
    let name = |entry: &resolvers::walk::Unreadable| {
        format!("{}: {}", (frame.name)(&entry.path), entry.reason)
    };
    let named: Vec<String> = passed.unreadable_named.iter().map(name).collect();
    let count = plural(passed.unreadable, "unreadable entry", "unreadable entries");
    writeln!(out, "[{count}: {}]", named.join("; ")).expect("a string takes all");
}

fn notice(notice: &Notice) -> String {
    match notice {
        Notice::UnknownPrefix { prefix } => {
            format!("no search is called `{prefix}:`; searched as text, prefix included")
        }
        Notice::TriedRegex => "no literal match; searched as a regular expression".to_owned(),
        Notice::SkippedRegex { reason, column } => {
            format!("no literal match; not a regular expression either (column {column}: {reason})")
        }
        Notice::TriedWords { words } => format!(
            "no match; these lines have one of the words {}: hints where to look, not edit targets",
            words.join(", ")
        ),
    }
}

fn incomplete(reason: Incomplete, totals: &Totals) -> String {
    match reason {
        Incomplete::TimedOut => format!(
            "timed out after {}; narrow the path. No `all` anchors.",
            plural(totals.files_searched, "file", "files")
        ),
        Incomplete::TooManyMatches => {
            "more matches than are kept; all are counted. No `all` anchors.".to_owned()
        }
    }
}

/// The text of a `files:` search.
pub(super) fn names(hits: &NameHits, frame: &Frame<'_>) -> String {
    let mut out = String::new();
    for reason in &hits.incomplete {
        writeln!(out, "[{reason:?}: paths may be missing; narrow the path]")
            .expect("a string takes all");
    }
    let mut shown = 0;
    for path in &hits.paths {
        if out.len() >= frame.bytes {
            break;
        }
        writeln!(out, "{}", (frame.name)(path)).expect("a string takes all");
        shown += 1;
    }
    let count = usize::try_from(hits.count).unwrap_or(usize::MAX);
    if hits.count == 0 {
        writeln!(out, "No files match, of {} looked at.", hits.walked.files)
            .expect("a string takes all");
    } else if shown < count {
        writeln!(out, "[{} more files match; raise limit or narrow the pattern]", count - shown)
            .expect("a string takes all");
    }
    out
}

/// `1 file`, `2 files`.
pub(super) fn plural(count: u64, one: &str, many: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {many}") }
}
