//! What the journal knows of one transaction, and its encoding.
//!
//! ```text
//! magic "CAPSTAN" version 1 | total u64 | table length u32 | transaction u64 | boot u128
//!   | inline u8 | folders u32, each: bytes | files u32, each: file | hash of all of this u128
//! | contents
//! bytes  = length u32, bytes
//! file   = path bytes | method u8 | before u8 (0: absent, 1: digest ino u64 mode u32 uid u32 gid u32)
//!   | digest of after
//! digest = length u64, hash u128
//! ```
//! Integers are little-endian. The contents follow in the order of the files, without lengths of
//! their own: the new content if the record is inline or the method is in place, then the old
//! content if the method is in place. Each is checked against its digest, so that nothing is
//! hashed twice. `total` tells a record that was never finished from one that is damaged.

use std::ffi::OsStr;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use anchors::ContentHash;

use crate::limits;

const MAGIC: &[u8; 8] = b"CAPSTAN\x01";
const HEADER_BYTES: usize = 8 + 8 + 4;
const HASH_BYTES: usize = 16;

/// How a file changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    /// It does not exist yet.
    Create,
    /// A new file takes its name.
    Swap,
    /// It is written in place: other names or an owner must stay.
    InPlace,
}

/// Length in bytes and hash of content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Digest {
    pub(super) len: u64,
    pub(super) hash: ContentHash,
}

/// A file as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Old {
    pub(super) content: Digest,
    pub(super) ino: u64,
    pub(super) mode: u32,
    pub(super) uid: u32,
    pub(super) gid: u32,
}

/// One file of a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// Absolute, ends in a name, without `.` and `..`.
    pub(super) path: PathBuf,
    pub(super) method: Method,
    /// `None` exactly for [`Method::Create`].
    pub(super) old: Option<Old>,
    pub(super) new: Digest,
}

/// One transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) id: u64,
    /// When it was written, in terms of restarts of the machine; 0 if unknown.
    pub(super) boot: u128,
    /// Whether it holds the new content of every file.
    pub(super) inline: bool,
    /// Folders that it creates, parents first.
    pub(super) folders: Vec<PathBuf>,
    pub(super) entries: Vec<Entry>,
}

impl Record {
    fn has_new(&self, entry: &Entry) -> bool {
        self.inline || entry.method == Method::InPlace
    }

    fn content_digests(&self) -> impl Iterator<Item = (usize, bool, Digest)> + '_ {
        self.entries.iter().enumerate().flat_map(|(at, entry)| {
            let new = self.has_new(entry).then_some((at, true, entry.new));
            let old = entry.old.filter(|_| entry.method == Method::InPlace);
            new.into_iter().chain(old.map(|old| (at, false, old.content)))
        })
    }

    /// Length in bytes of the contents that follow the table.
    pub(super) fn contents_len(&self) -> u64 {
        self.content_digests().fold(0, |sum, (_, _, digest)| sum.saturating_add(digest.len))
    }

    /// Everything up to the contents. They follow in the order of `(file, is new)` that
    /// [`Record::contents`] gives.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut table = Vec::with_capacity(256 * self.entries.len() + 256);
        table.extend_from_slice(MAGIC);
        table.extend_from_slice(&[0; HEADER_BYTES - 8]);
        table.extend_from_slice(&self.id.to_le_bytes());
        table.extend_from_slice(&self.boot.to_le_bytes());
        table.push(self.inline.into());
        put_count(&mut table, self.folders.len());
        for folder in &self.folders {
            put_path(&mut table, folder);
        }
        put_count(&mut table, self.entries.len());
        for entry in &self.entries {
            entry.encode(&mut table);
        }
        let len = (table.len() + HASH_BYTES) as u64;
        table[8..16].copy_from_slice(&(len + self.contents_len()).to_le_bytes());
        table[16..20].copy_from_slice(&u32::try_from(len).unwrap_or(u32::MAX).to_le_bytes());
        let hash = ContentHash::of(&table).0;
        table.extend_from_slice(&hash.to_le_bytes());
        table
    }

    /// Which contents follow the table: number of the file, and whether it is the new content.
    pub(super) fn contents(&self) -> impl Iterator<Item = (usize, bool)> + '_ {
        self.content_digests().map(|(at, new, _)| (at, new))
    }
}

impl Entry {
    fn encode(&self, table: &mut Vec<u8>) {
        put_path(table, &self.path);
        table.push(match self.method {
            Method::Create => 0,
            Method::Swap => 1,
            Method::InPlace => 2,
        });
        table.push(self.old.is_some().into());
        if let Some(old) = &self.old {
            put_digest(table, old.content);
            table.extend_from_slice(&old.ino.to_le_bytes());
            for number in [old.mode, old.uid, old.gid] {
                table.extend_from_slice(&number.to_le_bytes());
            }
        }
        put_digest(table, self.new);
    }
}

fn put_count(table: &mut Vec<u8>, count: usize) {
    table.extend_from_slice(&u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes());
}

fn put_path(table: &mut Vec<u8>, path: &Path) {
    let bytes = path.as_os_str().as_bytes();
    put_count(table, bytes.len());
    table.extend_from_slice(bytes);
}

fn put_digest(table: &mut Vec<u8>, digest: Digest) {
    table.extend_from_slice(&digest.len.to_le_bytes());
    table.extend_from_slice(&digest.hash.0.to_le_bytes());
}

/// A record that was read back whole, with its contents.
#[derive(Debug)]
pub(super) struct Stored {
    pub(super) record: Record,
    bytes: Vec<u8>,
    /// Where the new and the old content of each file lie.
    places: Vec<Places>,
}

#[derive(Clone, Debug, Default)]
struct Places {
    new: Option<Range<usize>>,
    old: Option<Range<usize>>,
}

/// Why bytes are no record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unreadable {
    /// It was never written to its end, so that nothing followed it.
    Unfinished,
    /// It has its full length but is not what was written, or a later version wrote it.
    Damaged,
}

impl Stored {
    pub(super) fn decode(bytes: Vec<u8>) -> Result<Self, Unreadable> {
        // Power loss can leave the full length with zeros for what never reached the disk.
        let zeros = bytes.chunks(512).any(|block| block.iter().all(|byte| *byte == 0));
        Self::parse(bytes).map_err(|error| if zeros { Unreadable::Unfinished } else { error })
    }

    fn parse(bytes: Vec<u8>) -> Result<Self, Unreadable> {
        use Unreadable::{Damaged, Unfinished};
        let mut header = Reader(&bytes);
        let magic = header.take(8).ok_or(Unfinished)?;
        let total = header.u64().ok_or(Unfinished)?;
        let table_len = header.u32().ok_or(Unfinished)? as usize;
        if magic == MAGIC && total > bytes.len() as u64 {
            return Err(Unfinished);
        }
        if magic != MAGIC || total != bytes.len() as u64 {
            return Err(Damaged);
        }
        let table = bytes.get(..table_len).ok_or(Damaged)?;
        let (table, hash) = table.split_last_chunk::<HASH_BYTES>().ok_or(Damaged)?;
        if ContentHash::of(table).0 != u128::from_le_bytes(*hash) {
            return Err(Damaged);
        }
        let table = table.get(HEADER_BYTES..).ok_or(Damaged)?;
        let record = Reader(table).record().ok_or(Damaged)?;
        let mut places = vec![Places::default(); record.entries.len()];
        let mut start = table_len;
        for (at, new, digest) in record.content_digests() {
            let end = usize::try_from(digest.len).ok().and_then(|len| start.checked_add(len));
            let range = start..end.ok_or(Damaged)?;
            let content = bytes.get(range.clone()).ok_or(Damaged)?;
            if ContentHash::of(content) != digest.hash {
                return Err(Damaged);
            }
            start = range.end;
            let place = if new { &mut places[at].new } else { &mut places[at].old };
            *place = Some(range);
        }
        if start != bytes.len() {
            return Err(Damaged);
        }
        Ok(Self { record, bytes, places })
    }

    /// The new content of file `at`, if the record has it.
    pub(super) fn new_content(&self, at: usize) -> Option<&[u8]> {
        self.places[at].new.clone().map(|range| &self.bytes[range])
    }

    /// The old content of file `at`, if the record has it.
    pub(super) fn old_content(&self, at: usize) -> Option<&[u8]> {
        self.places[at].old.clone().map(|range| &self.bytes[range])
    }
}

/// Takes a table apart; `None` wherever it does not fit. Allocates no more than the table is long.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.0.split_at_checked(len)?;
        self.0 = tail;
        Some(head)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    fn u8(&mut self) -> Option<u8> {
        self.array().map(u8::from_le_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn u128(&mut self) -> Option<u128> {
        self.array().map(u128::from_le_bytes)
    }

    fn flag(&mut self) -> Option<bool> {
        match self.u8()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = self.u32()? as usize;
        if count > limits::TRANSACTION_FILES.max(1 << 20) {
            return None;
        }
        (0..count).map(|_| item(self)).collect()
    }

    /// Nothing but an absolute path of plain names may ever be acted upon.
    fn path(&mut self) -> Option<PathBuf> {
        let len = self.u32()? as usize;
        let path = Path::new(OsStr::from_bytes(self.take(len)?));
        let plain = |part| matches!(part, Component::RootDir | Component::Normal(_));
        let whole = path.is_absolute() && path.file_name().is_some();
        let nul = path.as_os_str().as_bytes().contains(&0);
        (whole && !nul && path.components().all(plain)).then(|| path.to_owned())
    }

    fn digest(&mut self) -> Option<Digest> {
        Some(Digest { len: self.u64()?, hash: ContentHash(self.u128()?) })
    }

    fn entry(&mut self) -> Option<Entry> {
        let path = self.path()?;
        let method = match self.u8()? {
            0 => Method::Create,
            1 => Method::Swap,
            2 => Method::InPlace,
            _ => return None,
        };
        let old = match self.flag()? {
            false => None,
            true => Some(Old {
                content: self.digest()?,
                ino: self.u64()?,
                mode: self.u32()?,
                uid: self.u32()?,
                gid: self.u32()?,
            }),
        };
        let fits = (method == Method::Create) == old.is_none();
        Some(Entry { path, method, old, new: self.digest()? }).filter(|_| fits)
    }

    fn record(&mut self) -> Option<Record> {
        let record = Record {
            id: self.u64()?,
            boot: self.u128()?,
            inline: self.flag()?,
            folders: self.list(Self::path)?,
            entries: self.list(Self::entry)?,
        };
        Some(record).filter(|_| self.0.is_empty())
    }
}

#[cfg(test)]
mod tests;
