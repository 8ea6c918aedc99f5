//! The results and searches of one session, and the selections behind them.
//!
//! A reference is an opaque token: the id of a result, its unchanged text, or `SEARCH#…`. It is a
//! strict snapshot, belongs to the session that was given it, and can't be made up: ids are random
//! and the text under an envelope is compared with what was returned. The store is bounded by
//! bytes; what was dropped answers "expired", never something else.

use std::collections::{HashMap, VecDeque};
use std::fmt;

use uuid::Uuid;
use xxhash_rust::xxh3::xxh3_128;

use crate::search_ref::{SearchFile, SearchRef, Which};
use crate::{ErrorCode, Part, Range, Selection};

/// How many dropped references are remembered as expired rather than unknown.
const TOMBSTONES: usize = 8_192;
/// What an entry costs beside its selection: map slots, the hash of its text.
const ENTRY_BYTES: usize = 128;

/// The first line of every result.
pub fn envelope(id: Uuid) -> String {
    format!("[result {id}]")
}

/// The id in the envelope line that `text` starts with, if it does.
pub fn envelope_id(text: &str) -> Option<Uuid> {
    let line = text.lines().next()?.trim_end();
    line.strip_prefix("[result ")?.strip_suffix(']')?.parse().ok()
}

/// Why a reference selects nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReferenceError {
    /// The session never had it.
    #[error("no result or search of this session is `{0}`; read or search first")]
    Unknown(String),
    /// It was dropped to stay within the memory bound.
    #[error("`{0}` has expired; run the read or search again for a fresh one")]
    Expired(String),
    /// The text under the envelope differs from what was returned.
    #[error(
        "the text under `[result {0}]` is not what was returned; pass it unchanged, or the id alone"
    )]
    Altered(Uuid),
    /// The result selects nothing that could be read again or edited.
    #[error("result `{0}` has no reusable text selection")]
    NoSelection(Uuid),
    /// `:N` beyond the last one.
    #[error("`{token}` does not exist; there are {count}")]
    NoItem {
        /// The token as it was given.
        token: String,
        /// How many items or matches there are.
        count: usize,
    },
    /// `:all` of a search that did not find everything.
    #[error("`{0}` is not available: the search was incomplete; narrow it and search again")]
    Incomplete(String),
    /// Not the form of a search reference.
    #[error(
        "`{0}` is not a search reference; the forms are `SEARCH#HASH:N:line`, `SEARCH#HASH:N:match`, `SEARCH#HASH:all:line` and `SEARCH#HASH:all:match`"
    )]
    Malformed(String),
}

impl ReferenceError {
    /// The stable code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Unknown(_) | Self::NoItem { .. } => ErrorCode::UnknownReference,
            Self::Expired(_) => ErrorCode::ExpiredReference,
            Self::Altered(_) => ErrorCode::AlteredReference,
            Self::NoSelection(_) => ErrorCode::NoSelection,
            Self::Incomplete(_) => ErrorCode::IncompleteSelection,
            Self::Malformed(_) => ErrorCode::UnknownAnchor,
        }
    }
}

/// A parsed reference token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reference {
    /// A result, or its `item`th range (1-based).
    Result {
        /// The id.
        id: Uuid,
        /// `UUID:N` names one range.
        item: Option<usize>,
        /// The hash of the text under the envelope, when it was handed back.
        text: Option<u128>,
    },
    /// A search reference.
    Search(SearchRef),
}

impl Reference {
    /// Reads a token: a result id, `UUID:N`, the text of a whole result, or `SEARCH#…`. `None`
    /// when it is of no such form.
    ///
    /// # Errors
    /// [`ReferenceError::Malformed`] when it starts like a search reference and is none.
    pub fn parse(token: &str) -> Option<Result<Self, ReferenceError>> {
        let token = token.trim();
        if token.starts_with("SEARCH#") {
            let search = token.parse().map(Self::Search);
            return Some(search.map_err(|_| ReferenceError::Malformed(shorten(token))));
        }
        if let Some(id) = envelope_id(token) {
            let alone = !token.contains('\n');
            let text = (!alone).then(|| fingerprint(token));
            return Some(Ok(Self::Result { id, item: None, text }));
        }
        let (id, item) = match token.split_once(':') {
            Some((id, item)) => (id, Some(item.parse().ok()?)),
            None => (token, None),
        };
        let id = if id.len() == 36 { id.parse().ok()? } else { return None };
        Some(Ok(Self::Result { id, item, text: None }))
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Result { id, item: Some(item), .. } => write!(f, "{id}:{item}"),
            Self::Result { id, .. } => write!(f, "{id}"),
            Self::Search(search) => search.fmt(f),
        }
    }
}

/// The results and searches of one session. `R` is the recipe that runs a search again.
#[derive(Debug)]
pub struct ReferenceStore<R> {
    results: HashMap<Uuid, Stored<ResultEntry>>,
    searches: HashMap<String, Stored<SearchEntry<R>>>,
    expired: VecDeque<String>,
    bound: usize,
    bytes: usize,
    clock: u64,
}

#[derive(Debug)]
struct Stored<T> {
    entry: T,
    bytes: usize,
    used: u64,
}

#[derive(Debug)]
struct ResultEntry {
    text: u128,
    selection: Option<Selection>,
}

/// One search as it was found, and as it was last run again.
#[derive(Debug)]
struct SearchEntry<R> {
    recipe: R,
    found: Found,
    refreshed: Option<Found>,
}

/// What one run of a search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Files with matches, in the order that numbers the matches.
    pub files: Vec<SearchFile>,
    /// Whether that is every match there is.
    pub complete: bool,
}

impl Found {
    fn bytes(&self) -> usize {
        self.files.iter().map(SearchFile::bytes).sum()
    }

    fn matches(&self) -> usize {
        self.files.iter().map(|file| file.matches.len()).sum()
    }
}

impl<R> ReferenceStore<R> {
    /// A store that keeps at most `bound` bytes of selections.
    pub fn new(bound: usize) -> Self {
        Self {
            results: HashMap::new(),
            searches: HashMap::new(),
            expired: VecDeque::new(),
            bound,
            bytes: 0,
            clock: 0,
        }
    }

    /// Registers the result `id` with its whole text, envelope line included.
    pub fn add_result(&mut self, id: Uuid, text: &str, selection: Option<Selection>) {
        let bytes = ENTRY_BYTES + selection.as_ref().map_or(0, Selection::bytes);
        let entry = ResultEntry { text: fingerprint(text), selection };
        let used = self.tick();
        self.bytes += bytes;
        self.results.insert(id, Stored { entry, bytes, used });
        self.evict();
    }

    /// Registers a search under an id made from `identity` (what makes two searches the same) and
    /// returns the id, `SEARCH#…` without the parts behind it.
    pub fn add_search(&mut self, identity: &str, recipe: R, found: Found) -> String {
        let id = self.free_search_id(identity, &found);
        let bytes = ENTRY_BYTES + found.bytes();
        let entry = SearchEntry { recipe, found, refreshed: None };
        let used = self.tick();
        self.bytes += bytes;
        if let Some(old) = self.searches.insert(id.clone(), Stored { entry, bytes, used }) {
            self.bytes -= old.bytes;
        }
        self.evict();
        id
    }

    /// Whether `id` is a result of this session that is still held.
    pub fn is_live(&self, id: Uuid) -> bool {
        self.results.contains_key(&id)
    }

    /// The selection behind a reference.
    ///
    /// # Errors
    /// [`ReferenceError`] says why there is none.
    pub fn selection(&mut self, reference: &Reference) -> Result<Selection, ReferenceError> {
        match reference {
            Reference::Result { id, item, text } => self.result(*id, *item, *text),
            Reference::Search(search) => self.search(search),
        }
    }

    /// The recipe of a search, and what its latest run found: for running it again when a file
    /// behind `:all` has changed.
    ///
    /// # Errors
    /// [`ReferenceError`] when the search is not held.
    pub fn recipe(&mut self, search: &SearchRef) -> Result<(&R, &Found), ReferenceError> {
        let entry = self.search_entry(search)?;
        Ok((&entry.recipe, entry.refreshed.as_ref().unwrap_or(&entry.found)))
    }

    /// Keeps what a search found when it was run again; `:all` selects that from now on, `:N`
    /// still means what was shown.
    pub fn refresh(&mut self, search: &SearchRef, found: Found) {
        let Some(stored) = self.searches.get_mut(&search.id) else { return };
        self.bytes -= stored.bytes;
        stored.bytes = ENTRY_BYTES + stored.entry.found.bytes() + found.bytes();
        self.bytes += stored.bytes;
        stored.entry.refreshed = Some(found);
        self.evict();
    }

    /// Bytes of selections held.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    fn result(
        &mut self,
        id: Uuid,
        item: Option<usize>,
        text: Option<u128>,
    ) -> Result<Selection, ReferenceError> {
        let used = self.tick();
        let Some(stored) = self.results.get_mut(&id) else {
            return Err(self.absent(&id.to_string()));
        };
        stored.used = used;
        if text.is_some_and(|text| text != stored.entry.text) {
            return Err(ReferenceError::Altered(id));
        }
        let selection = stored.entry.selection.as_ref().ok_or(ReferenceError::NoSelection(id))?;
        let Some(item) = item else { return Ok(selection.clone()) };
        let (part, range) = selection
            .parts
            .iter()
            .flat_map(|part| part.ranges.iter().map(move |range| (part, *range)))
            .nth(item.wrapping_sub(1))
            .ok_or_else(|| ReferenceError::NoItem {
                token: format!("{id}:{item}"),
                count: selection.len(),
            })?;
        let mut one = Selection::one(part.source.clone(), part.content, vec![range]);
        one.complete = selection.complete;
        Ok(one)
    }

    fn search(&mut self, search: &SearchRef) -> Result<Selection, ReferenceError> {
        let entry = self.search_entry(search)?;
        let ranges = |file: &SearchFile| file.ranges(search.extent);
        match search.which {
            Which::All => {
                let found = entry.refreshed.as_ref().unwrap_or(&entry.found);
                if !found.complete {
                    return Err(ReferenceError::Incomplete(search.to_string()));
                }
                let part = |file: &SearchFile| Part {
                    source: file.source.clone(),
                    content: file.content,
                    ranges: ranges(file),
                };
                Ok(Selection { parts: found.files.iter().map(part).collect(), complete: true })
            }
            Which::One(number) => {
                let mut before = 0;
                for file in &entry.found.files {
                    if let Some(hit) = file.matches.get(number - 1 - before) {
                        let range: Range = hit.range(search.extent);
                        let source = file.source.clone();
                        return Ok(Selection::one(source, file.content, vec![range]));
                    }
                    before += file.matches.len();
                }
                let (token, count) = (search.to_string(), entry.found.matches());
                Err(ReferenceError::NoItem { token, count })
            }
        }
    }

    fn search_entry(&mut self, search: &SearchRef) -> Result<&SearchEntry<R>, ReferenceError> {
        let used = self.tick();
        if !self.searches.contains_key(&search.id) {
            return Err(self.absent(&search.id));
        }
        let stored = self.searches.get_mut(&search.id).expect("it was there a line above");
        stored.used = used;
        Ok(&stored.entry)
    }

    fn absent(&self, id: &str) -> ReferenceError {
        if self.expired.iter().any(|expired| expired == id) {
            ReferenceError::Expired(id.to_owned())
        } else {
            ReferenceError::Unknown(id.to_owned())
        }
    }

    /// The shortest prefix, of four digits or more, that no other search has. The same search
    /// with the same findings keeps its id.
    fn free_search_id(&self, identity: &str, found: &Found) -> String {
        let digest = format!("{:032X}", xxh3_128(identity.as_bytes()));
        let free = |id: &String| match self.searches.get(id) {
            Some(stored) => stored.entry.found == *found,
            None => !self.expired.contains(id),
        };
        (4..=digest.len())
            .map(|len| format!("SEARCH#{}", &digest[..len]))
            .find(free)
            .unwrap_or_else(|| format!("SEARCH#{digest}{:08X}", self.clock))
    }

    fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }

    /// Drops the least recently used entries until the bound holds; the newest one stays.
    fn evict(&mut self) {
        while self.bytes > self.bound && self.results.len() + self.searches.len() > 1 {
            let result = self.results.iter().map(|(id, stored)| (stored.used, *id)).min();
            let search = self.searches.iter().map(|(id, stored)| (stored.used, id)).min();
            let (id, bytes) = match (result, search) {
                (Some((used, id)), search) if search.is_none_or(|(other, _)| used < other) => {
                    (id.to_string(), self.results.remove(&id).map(|stored| stored.bytes))
                }
                (_, Some((_, id))) => {
                    let id = id.clone();
                    let bytes = self.searches.remove(&id).map(|stored| stored.bytes);
                    (id, bytes)
                }
                _ => return,
            };
            self.bytes -= bytes.unwrap_or(0);
            if self.expired.len() == TOMBSTONES {
                self.expired.pop_front();
            }
            self.expired.push_back(id);
        }
    }
}

/// The hash of a result's text; white space at the end does not count, since clients trim it.
fn fingerprint(text: &str) -> u128 {
    xxh3_128(text.trim_end().as_bytes())
}

/// A token as it is shown in an error.
fn shorten(token: &str) -> String {
    let line = token.lines().next().unwrap_or_default();
    line[..line.floor_char_boundary(80)].to_owned()
}

#[cfg(test)]
#[path = "reference/tests.rs"]
mod tests;
