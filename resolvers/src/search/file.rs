//! Searching one file after another: what every thread of a search does.

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use anchors::{ContentHash, Snapshot};
use memchr::memchr;

use super::content::{self, Buffers, Content};
use super::hits::{FileHits, Lines, Match};
use super::matcher::Matcher;
use super::preview::{Builder, Preview, Stretch};
use super::scan::{self, Hint};
use super::{Totals, large};
use crate::host::Stat;
use crate::limits::{RESULT_LINES, SEARCH_MATCHES, SEARCH_PREVIEW_BYTES};
use crate::walk::{FileEntry, Stop, Visit, stat_file};

/// One pass over files.
#[derive(Debug)]
pub(super) struct TextSearch {
    matcher: Matcher,
    pub(super) context: usize,
    pub(super) stop: Stop,
    buffers: Arc<Buffers>,
    /// Matches found so far, to know when to keep no more.
    matches: AtomicU64,
    /// Bytes of preview kept so far.
    previewed: AtomicUsize,
    /// Whether some matches were found but not kept.
    overflowed: AtomicBool,
    merged: Mutex<(Vec<FileHits>, Totals)>,
}

/// What one thread of the pass holds.
#[derive(Debug)]
pub(super) struct Local {
    matcher: Matcher,
    buffer: Vec<u8>,
    files: Vec<FileHits>,
    totals: Totals,
}

/// What a search of one file came to.
#[derive(Debug)]
pub(super) enum Searched {
    /// No match.
    Nothing,
    /// Matches, with the hash of the raw bytes.
    Found(ContentHash, TextMatches),
    /// Not text.
    Binary,
    /// Stopped before the end.
    Stopped,
}

/// The matches in one decoded text.
#[derive(Debug, Default)]
pub(super) struct TextMatches {
    pub(super) matches: Vec<Match>,
    pub(super) count: u64,
    pub(super) preview: Preview,
    /// How many may be kept.
    room: u64,
    /// Whether a preview may be kept.
    preview_wanted: bool,
}

impl TextSearch {
    pub(super) fn new(matcher: Matcher, context: usize, stop: Stop, buffers: Arc<Buffers>) -> Self {
        Self {
            matcher,
            context,
            stop,
            buffers,
            matches: AtomicU64::new(0),
            previewed: AtomicUsize::new(0),
            overflowed: AtomicBool::new(false),
            merged: Mutex::default(),
        }
    }

    /// Everything that was found; the pass must be over.
    pub(super) fn take(&self) -> (Vec<FileHits>, Totals) {
        std::mem::take(&mut *self.merged.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Searches one open file.
    pub(super) fn search(
        &self,
        file: &mut File,
        matcher: &Matcher,
        buffer: &mut Vec<u8>,
    ) -> io::Result<Searched> {
        match content::read(file, buffer, &self.stop)? {
            Content::Whole(len) => Ok(self.whole(&buffer[..len], matcher)),
            Content::Start(len) => large::search(self, file, matcher, (buffer, len)),
            Content::Binary => Ok(Searched::Binary),
            Content::Stopped => Ok(Searched::Stopped),
        }
    }

    /// Searches the bytes of a whole file.
    pub(super) fn whole(&self, bytes: &[u8], matcher: &Matcher) -> Searched {
        if content::is_utf16(bytes) {
            return self.decoded(bytes, matcher);
        }
        let text = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        let from = match scan::hint(matcher, text, &self.stop) {
            Hint::Stopped => return Searched::Stopped,
            // In a legacy encoding, other bytes may stand for what is searched.
            Hint::Nothing if !matcher.is_ascii() && !text.is_ascii() && !is_utf8(text) => {
                return self.decoded(bytes, matcher);
            }
            Hint::Nothing => return Searched::Nothing,
            Hint::From(line) => line,
        };
        if memchr(0, text).is_some() {
            return Searched::Binary;
        }
        let Ok(text) = str::from_utf8(text) else { return self.decoded(bytes, matcher) };
        match self.collect(text, from, matcher) {
            None => Searched::Stopped,
            Some(found) if found.count == 0 => Searched::Nothing,
            Some(found) => Searched::Found(ContentHash::of(bytes), found),
        }
    }

    /// Searches bytes that are not plain UTF-8.
    fn decoded(&self, bytes: &[u8], matcher: &Matcher) -> Searched {
        let Ok(snapshot) = Snapshot::decode(bytes.to_vec()) else { return Searched::Binary };
        match self.collect(snapshot.text(), 0, matcher) {
            None => Searched::Stopped,
            Some(found) if found.count == 0 => Searched::Nothing,
            Some(found) => Searched::Found(snapshot.hash(), found),
        }
    }

    /// The matches in `text` from byte `from` on, which starts a line. `None` when stopped.
    pub(super) fn collect(
        &self,
        text: &str,
        from: usize,
        matcher: &Matcher,
    ) -> Option<TextMatches> {
        let mut found = self.start();
        let mut lines = Lines::new(text.as_bytes(), 0, 1);
        let mut builder = Builder::new(self.context);
        let stretch = Stretch { text, base: 0 };
        let ended = scan::each(matcher, text.as_bytes(), from, &self.stop, |start, end| {
            self.keep(&mut found, || lines.locate(start, end), |found| builder.add(stretch, found));
        });
        found.preview = builder.finish(stretch);
        ended.then(|| self.settle(found))
    }

    /// Counts a match and keeps it, and its preview, as far as the bounds allow.
    pub(super) fn keep(
        &self,
        found: &mut TextMatches,
        locate: impl FnOnce() -> Match,
        preview: impl FnOnce(&Match),
    ) {
        found.count += 1;
        if found.count > found.room {
            return;
        }
        let located = locate();
        if found.preview_wanted && found.matches.len() < RESULT_LINES {
            preview(&located);
        }
        found.matches.push(located);
    }

    /// An empty list for one text, with what is left of the bounds. Threads look at them once per
    /// text only, so a few more matches may be kept than the bound says.
    pub(super) fn start(&self) -> TextMatches {
        TextMatches {
            room: SEARCH_MATCHES.saturating_sub(self.matches.load(Ordering::Relaxed)),
            preview_wanted: self.previewed.load(Ordering::Relaxed) < SEARCH_PREVIEW_BYTES,
            ..TextMatches::default()
        }
    }

    /// Ends the list of one text. Part of a text's matches would be an arbitrary part: all are
    /// kept, or none.
    pub(super) fn settle(&self, found: TextMatches) -> TextMatches {
        self.matches.fetch_add(found.count, Ordering::Relaxed);
        self.previewed.fetch_add(found.preview.bytes(), Ordering::Relaxed);
        if found.count > found.room {
            self.overflowed.store(true, Ordering::Relaxed);
            return TextMatches { count: found.count, ..TextMatches::default() };
        }
        found
    }

    /// Whether matches were found that were not kept.
    pub(super) fn overflowed(&self) -> bool {
        self.overflowed.load(Ordering::Relaxed)
    }

    fn record(&self, local: &mut Local, file: &FileEntry<'_>, searched: Searched, opened: &File) {
        match searched {
            Searched::Nothing => local.totals.files_searched += 1,
            Searched::Stopped => {}
            Searched::Binary => {
                local.totals.binary += 1;
                if file.is_named() {
                    local.totals.binary_named.push(file.path());
                }
            }
            Searched::Found(content, found) => {
                local.totals.files_searched += 1;
                local.totals.files_matched += 1;
                local.totals.matches += found.count;
                let preview = found.preview_wanted && !found.matches.is_empty();
                local.files.push(FileHits {
                    path: file.path(),
                    root: file.root(),
                    content,
                    stat: stat_file(opened).ok().map(Stat::from),
                    matches: found.matches,
                    count: found.count,
                    preview: preview.then_some(found.preview),
                });
            }
        }
    }
}

fn is_utf8(bytes: &[u8]) -> bool {
    str::from_utf8(bytes).is_ok()
}

impl Visit for TextSearch {
    type Local = Local;

    fn enter(&self) -> Local {
        Local {
            matcher: self.matcher.clone(),
            buffer: self.buffers.take(),
            files: Vec::new(),
            totals: Totals::default(),
        }
    }

    fn file(&self, local: &mut Local, file: &FileEntry<'_>) {
        let searched = file.open().and_then(|mut opened| {
            let Local { matcher, buffer, .. } = local;
            let searched = self.search(&mut opened, matcher, buffer)?;
            self.record(local, file, searched, &opened);
            Ok(())
        });
        if let Err(error) = searched {
            local.totals.walked.passed.unreadable(file.path(), &error);
        }
    }

    fn leave(&self, local: Local) {
        self.buffers.give_back(local.buffer);
        let mut merged = self.merged.lock().unwrap_or_else(PoisonError::into_inner);
        merged.0.extend(local.files);
        merged.1.add(local.totals);
    }
}

impl Totals {
    pub(super) fn add(&mut self, other: Self) {
        self.matches += other.matches;
        self.files_matched += other.files_matched;
        self.files_searched += other.files_searched;
        self.binary += other.binary;
        self.binary_named.extend(other.binary_named);
        self.binary_named.sort();
        self.walked.files += other.walked.files;
        self.walked.folders += other.walked.folders;
        self.walked.passed.add(other.walked.passed);
        self.walked.stopped = self.walked.stopped.or(other.walked.stopped);
    }
}
