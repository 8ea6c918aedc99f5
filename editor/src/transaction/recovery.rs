//! What opening the journal does about transactions that a crash interrupted.
//!
//! For every file of a record it looks at what the name, the spare name and their contents are, and
//! only then decides for the whole transaction:
//!
//! | what is found | what happens |
//! | --- | --- |
//! | marked to be undone | every file is put back |
//! | marked done, machine not restarted | nothing but tidying: the files are right, or newer |
//! | somebody else's content, not done, machine not restarted | put back if possible |
//! | inline record | made true, from the contents in the record |
//! | large record, all files new | finished |
//! | large record otherwise | put back |
//!
//! A file with somebody else's content is never written, whatever the table says: theirs stays, the
//! staged file goes, and the report names it. *Somebody else's* is what is neither old nor new nor
//! torn; *torn* is what a power loss leaves of new content (blocks of it and zeros, or nothing), or
//! a crash leaves of a write in place (new blocks, then old ones).
//!
//! Every step can be repeated: a crash during recovery is recovered like any other.

use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anchors::Cancel;
use resolvers::host::{HostWrite, ReadError, Stat};

use super::apply::{Folder, make_folder, remove, remove_folders};
use super::checkpoint::{sync_file, sync_folder};
use super::journal::Phase;
use super::record::{Method, Record, Stored, Unreadable};
use crate::limits;

mod inspect;
mod mend;
mod torn;

use inspect::{Found, Seen};

/// One transaction that was found in the journal.
#[derive(Clone, Debug)]
pub struct Recovered {
    /// Name of its record, for logs.
    pub record: String,
    /// What was done.
    pub outcome: Outcome,
    /// What each file is now.
    pub files: Vec<(PathBuf, FileOutcome)>,
}

/// What recovery did with a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All files are new.
    Completed,
    /// All files are as they were before.
    RolledBack,
    /// Some files are on a disk that is not there, or could not be read or written just now; the
    /// record is kept for the next start.
    Postponed,
    /// The record is unreadable; it was set aside as `*.bad` and no file was touched.
    Damaged,
}

/// What recovery left of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileOutcome {
    /// Its new content, or what was written over that by a later transaction.
    New,
    /// Its old content.
    Old,
    /// Somebody else's content, which was left alone.
    Foreign,
    /// It could not be looked at or repaired.
    Unknown,
}

/// Recovers everything in the journal's folder. Also returns the first free order number.
pub(super) fn run<H: HostWrite>(
    host: &H,
    dir: &H::Dir,
    folder: &Path,
) -> io::Result<(Vec<Recovered>, u64)> {
    let names = record_names(host, dir, folder)?;
    let next = names.last().map_or(0, |name| name.order.wrapping_add(1));
    let mut reports = Vec::new();
    let mut records = Vec::new();
    for name in names {
        match load(host, folder, &name.file) {
            Ok(stored) => records.push((name, stored)),
            // It never came to anything: nobody has seen it, nothing followed it.
            Err(Some(Unreadable::Unfinished)) => remove(host, dir, &name.file)?,
            Err(Some(Unreadable::Damaged)) => {
                let mut bad = name.file.clone();
                bad.push(BAD);
                host.rename(dir, &name.file, &bad)?;
                reports.push(name.report(Outcome::Damaged, Vec::new()));
            }
            Err(None) => reports.push(name.report(Outcome::Postponed, Vec::new())),
        }
    }
    let mut in_place: HashMap<&Path, Vec<&[u8]>> = HashMap::new();
    for (_, stored) in &records {
        for (at, entry) in stored.record.entries.iter().enumerate() {
            if entry.method == Method::InPlace {
                let contents = [stored.old_content(at), stored.new_content(at)];
                in_place.entry(&entry.path).or_default().extend(contents.into_iter().flatten());
            }
        }
    }
    for at in 0..records.len() {
        let paths = |part: &[(Name, Stored)]| -> HashSet<PathBuf> {
            let entries = part.iter().flat_map(|(_, stored)| &stored.record.entries);
            entries.map(|entry| entry.path.clone()).collect()
        };
        let (earlier, later) = (paths(&records[..at]), paths(&records[at + 1..]));
        let (name, stored) = &records[at];
        let case = Case { host, name, stored, earlier, later, in_place: &in_place };
        let (outcome, files) = case
            .recover()
            .unwrap_or_else(|_| (Outcome::Postponed, case.outcomes(|_| FileOutcome::Unknown)));
        if outcome != Outcome::Postponed {
            remove(host, dir, &name.file)?;
        }
        reports.push(name.report(outcome, files));
    }
    host.sync_dir(dir)?;
    Ok((reports, next))
}

/// End of the name of a damaged record, which is kept for a while for whoever looks into it.
const BAD: &str = ".bad";

/// A record's file name, taken apart.
struct Name {
    file: OsString,
    order: u64,
    phase: Phase,
    written: SystemTime,
}

impl Name {
    fn report(&self, outcome: Outcome, files: Vec<(PathBuf, FileOutcome)>) -> Recovered {
        Recovered { record: self.file.to_string_lossy().into_owned(), outcome, files }
    }
}

/// The records, oldest first.
fn record_names<H: HostWrite>(host: &H, dir: &H::Dir, folder: &Path) -> io::Result<Vec<Name>> {
    let listing =
        host.read_dir(folder, limits::JOURNAL_ENTRIES, &Cancel::new()).map_err(io::Error::other)?;
    let mut names = Vec::new();
    for entry in listing.entries {
        let stat = host.stat_in(dir, &entry.name)?;
        let age = Duration::from_nanos(stat.mtime_ns.try_into().unwrap_or(0));
        let written = SystemTime::UNIX_EPOCH + age;
        let Some((order, phase)) = parse(&entry.name) else {
            let bad = entry.name.as_encoded_bytes().ends_with(BAD.as_bytes());
            if bad && !is_young(host, written) {
                remove(host, dir, &entry.name)?;
            }
            continue;
        };
        names.push(Name { file: entry.name, order, phase, written });
    }
    names.sort_by_key(|name| name.order);
    Ok(names)
}

/// Whether it is worth waiting for what a record needs.
fn is_young<H: HostWrite>(host: &H, written: SystemTime) -> bool {
    host.now().duration_since(written).is_ok_and(|age| age < limits::POSTPONE)
}

fn parse(name: &OsStr) -> Option<(u64, Phase)> {
    let (stem, suffix) = name.to_str()?.split_once('.')?;
    let phase = Phase::ALL.into_iter().find(|phase| phase.suffix() == suffix)?;
    let (order, id) = stem.split_once('-')?;
    let hex = |text: &str| (text.len() == 16).then(|| u64::from_str_radix(text, 16).ok()).flatten();
    hex(id)?;
    Some((hex(order)?, phase))
}

/// `Err(None)` when it can't be read at all just now.
fn load<H: HostWrite>(host: &H, folder: &Path, name: &OsStr) -> Result<Stored, Option<Unreadable>> {
    // The contents are bounded; the table of many long paths comes on top.
    let max = limits::RECORD_BYTES + limits::INLINE_BYTES * 32;
    match host.read(&folder.join(name), max, &Cancel::new()) {
        Ok(read) => Stored::decode(read.bytes).map_err(Some),
        Err(ReadError::TooLarge { .. } | ReadError::NotAFile { .. }) => {
            Err(Some(Unreadable::Damaged))
        }
        Err(_) => Err(None),
    }
}

/// One transaction to recover.
struct Case<'a, H: HostWrite> {
    host: &'a H,
    name: &'a Name,
    stored: &'a Stored,
    /// Files of transactions that were committed before this one.
    earlier: HashSet<PathBuf>,
    /// Files of transactions that were committed after this one.
    later: HashSet<PathBuf>,
    /// What each file that is written in place has been, over all records.
    in_place: &'a HashMap<&'a Path, Vec<&'a [u8]>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Forward,
    Back,
    Tidy,
}

impl<H: HostWrite> Case<'_, H> {
    fn record(&self) -> &Record {
        &self.stored.record
    }

    /// Whether the machine may have lost power since, so that the disk may lag behind.
    fn restarted(&self) -> bool {
        let boot = self.record().boot;
        boot == 0 || self.host.boot_id() != Some(boot)
    }

    fn outcomes(&self, of: impl Fn(usize) -> FileOutcome) -> Vec<(PathBuf, FileOutcome)> {
        let entries = self.record().entries.iter().enumerate();
        entries.map(|(at, entry)| (entry.path.clone(), of(at))).collect()
    }

    fn recover(&self) -> io::Result<(Outcome, Vec<(PathBuf, FileOutcome)>)> {
        let folder = &mut Folder::new(self.host);
        let mut seen = Vec::with_capacity(self.record().entries.len());
        for at in 0..self.record().entries.len() {
            seen.push(self.inspect(folder, at)?);
        }
        if is_young(self.host, self.name.written) && seen.iter().any(|seen| seen.folder_gone) {
            return Ok((Outcome::Postponed, self.outcomes(|_| FileOutcome::Unknown)));
        }
        let direction = self.decide(&seen);
        let files = self.carry_out(direction, &seen, folder)?;
        let outcome = match direction {
            _ if files.iter().any(|(_, file)| *file == FileOutcome::Unknown) => Outcome::Postponed,
            Direction::Back => Outcome::RolledBack,
            Direction::Forward | Direction::Tidy => Outcome::Completed,
        };
        Ok((outcome, files))
    }

    fn decide(&self, seen: &[Seen]) -> Direction {
        let entries = &self.record().entries;
        let foreign = seen.iter().any(|seen| seen.target == Found::Foreign);
        // Later commits of the same file began only after this one had ended.
        let followed = entries.iter().any(|entry| self.later.contains(&entry.path));
        let done = followed || self.name.phase == Phase::Done;
        let can_go_back = seen.iter().enumerate().all(|(at, seen)| self.can_go_back(at, seen));
        let can_go_on = seen.iter().enumerate().all(|(at, seen)| self.can_go_on(at, seen));
        match self.name.phase {
            Phase::Undo => Direction::Back,
            _ if done && !self.restarted() => Direction::Tidy,
            _ if done => Direction::Forward,
            _ if foreign && !self.restarted() && can_go_back => Direction::Back,
            _ if can_go_on || !can_go_back => Direction::Forward,
            _ => Direction::Back,
        }
    }

    fn can_go_on(&self, at: usize, seen: &Seen) -> bool {
        match seen.target {
            Found::New | Found::Foreign => true,
            Found::Old | Found::Torn | Found::Other => self.stored.new_content(at).is_some(),
        }
    }

    fn carry_out(
        &self,
        direction: Direction,
        seen: &[Seen],
        folder: &mut Folder<'_, H>,
    ) -> io::Result<Vec<(PathBuf, FileOutcome)>> {
        let made = &self.record().folders;
        let creates = |seen: &Seen| seen.target == Found::Old && seen.stat.is_none();
        if direction == Direction::Forward && seen.iter().any(creates) {
            for path in made {
                make_folder(self.host, folder, path, 0o777)?;
            }
        }
        let mut files = Vec::with_capacity(seen.len());
        for (at, seen) in seen.iter().enumerate() {
            let outcome = match direction {
                Direction::Forward => self.go_on(folder, at, seen),
                Direction::Back => self.go_back(folder, at, seen),
                Direction::Tidy => self.tidy(folder, seen).map(|()| match seen.target {
                    Found::New => FileOutcome::New,
                    _ => FileOutcome::Foreign,
                }),
            };
            let path = self.record().entries[at].path.clone();
            files.push((path, outcome.unwrap_or(FileOutcome::Unknown)));
        }
        if direction == Direction::Back {
            remove_folders(self.host, folder, made)?;
        }
        self.sync_all(folder)?;
        Ok(files)
    }

    fn sync_all(&self, folder: &mut Folder<'_, H>) -> io::Result<()> {
        for entry in &self.record().entries {
            sync_file(self.host, folder, &entry.path)?;
        }
        let entries = self.record().entries.iter().map(|entry| &entry.path);
        let mut folders: Vec<&Path> =
            entries.chain(&self.record().folders).filter_map(|path| path.parent()).collect();
        folders.sort_unstable();
        folders.dedup();
        folders.into_iter().try_for_each(|path| sync_folder(self.host, folder, path))
    }
}

/// Whether nothing happened between two looks at a file.
fn unchanged(before: Option<&Stat>, after: Option<&Stat>) -> bool {
    match (before, after) {
        (Some(before), Some(after)) => super::apply::same_content(before, after),
        (before, after) => before.is_none() && after.is_none(),
    }
}
