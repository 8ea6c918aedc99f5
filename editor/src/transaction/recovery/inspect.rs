//! Looks at one file of an interrupted transaction.

use std::ffi::OsStr;
use std::io;

use resolvers::host::{HostWrite, Kind, Stat};

use super::{Case, torn};
use crate::transaction::apply::{Folder, Place, hash_in, look, settle, swap};
use crate::transaction::journal::Phase;
use crate::transaction::record::{Digest, Entry, Method};

/// What a name was found to mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// The old content; for a file to be created: nothing.
    Old,
    /// The new content.
    New,
    /// What a crash left of the new content.
    Torn,
    /// Somebody else's.
    Foreign,
    /// Under the spare name only: nothing, or a part of what we staged.
    Other,
}

/// One file of an interrupted transaction as it is now.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) place: Place,
    pub(super) target: Found,
    pub(super) stat: Option<Stat>,
    /// What the spare name means; [`Found::Other`] may be removed.
    pub(super) spare: Found,
    /// Whether its folder, which had been there, is not.
    pub(super) folder_gone: bool,
}

impl<H: HostWrite> Case<'_, H> {
    pub(super) fn inspect(&self, folder: &mut Folder<'_, H>, at: usize) -> io::Result<Seen> {
        let entry = &self.record().entries[at];
        let place = Place::new(&entry.path, self.record().id, at);
        let dir = match folder.at(&place.folder) {
            Ok(dir) => dir,
            Err(error) if is_gone(&error) => return Ok(self.without_folder(place, entry)),
            Err(error) => return Err(error),
        };
        settle(self.host, dir, &place)?;
        let (mut target, mut stat) = self.target(dir, &place, at)?;
        let mut spare = self.spare(dir, &place, at)?;
        if target == Found::New && spare == Found::Foreign {
            // The crash came between the exchange and the look at what came out.
            swap(self.host, dir, &place)?;
            (target, stat) = (Found::Foreign, look(self.host, dir, &place.name)?);
            spare = Found::New;
        }
        Ok(Seen { place, target, stat, spare, folder_gone: false })
    }

    fn without_folder(&self, place: Place, entry: &Entry) -> Seen {
        let ours = self.record().folders.contains(&place.folder);
        let target = match entry.method {
            Method::Create if ours => Found::Old,
            _ => Found::Foreign,
        };
        Seen { place, target, stat: None, spare: Found::Other, folder_gone: !ours }
    }

    fn target(&self, dir: &H::Dir, place: &Place, at: usize) -> io::Result<(Found, Option<Stat>)> {
        let entry = &self.record().entries[at];
        let Some(stat) = look(self.host, dir, &place.name)? else {
            let found = if entry.old.is_none() { Found::Old } else { Found::Foreign };
            return Ok((found, None));
        };
        if stat.kind != Kind::File {
            return Ok((Found::Foreign, Some(stat)));
        }
        let mut found = self.compare(dir, &place.name, entry, &stat)?;
        if found == Found::Foreign && self.is_torn(dir, &place.name, at, &stat)? {
            found = Found::Torn;
        }
        Ok((found, Some(stat)))
    }

    /// By content, as far as hashes tell.
    fn compare(&self, dir: &H::Dir, name: &OsStr, entry: &Entry, stat: &Stat) -> io::Result<Found> {
        let old = entry.old.map(|old| old.content);
        let sizes = [Some(entry.new), old];
        if !sizes.iter().flatten().any(|digest: &Digest| digest.len == stat.size) {
            return Ok(Found::Foreign);
        }
        let hash = hash_in(self.host, dir, name)?;
        let is = |digest: Digest| digest.len == stat.size && digest.hash == hash;
        Ok(match (old.is_some_and(is), is(entry.new)) {
            (true, _) => Found::Old,
            (false, true) => Found::New,
            (false, false) => Found::Foreign,
        })
    }

    fn is_torn(&self, dir: &H::Dir, name: &OsStr, at: usize, stat: &Stat) -> io::Result<bool> {
        let entry = &self.record().entries[at];
        let in_place = entry.method == Method::InPlace;
        let finished = self.name.phase == Phase::Done && !self.restarted();
        // A new file gets its name only when it is whole; only power loss can tear it then.
        if finished || !(in_place || self.restarted()) {
            return Ok(false);
        }
        let Some(new) = self.stored.new_content(at) else { return Ok(false) };
        // Several writes in place may have been on their way to the disk.
        let known = self.in_place.get(entry.path.as_path()).map_or(&[][..], Vec::as_slice);
        let longest = known.iter().map(|old| old.len()).chain([new.len()]).max().unwrap_or(0);
        if stat.size > longest as u64 {
            return Ok(false);
        }
        let found = read_in(self.host, dir, name, stat)?;
        Ok(torn::explains(&found, new, known))
    }

    fn spare(&self, dir: &H::Dir, place: &Place, at: usize) -> io::Result<Found> {
        let entry = &self.record().entries[at];
        let Some(stat) = look(self.host, dir, &place.spare)? else { return Ok(Found::Other) };
        if stat.kind != Kind::File {
            return Ok(Found::Foreign);
        }
        let found = self.compare(dir, &place.spare, entry, &stat)?;
        if found != Found::Foreign {
            return Ok(found);
        }
        // Not what it would be in the end: a part of what we were staging, unless it is the old
        // file after all (or one that replaced it), changed by somebody in the last moment.
        let was_old = entry.old.is_some_and(|old| old.ino == stat.ino) && !self.restarted();
        let part = match self.stored.new_content(at) {
            _ if was_old || stat.size > entry.new.len => false,
            Some(new) => {
                let found = read_in(self.host, dir, &place.spare, &stat)?;
                torn::explains(&found, new, &[])
            }
            None => true,
        };
        // What an earlier transaction wrote may have been lost on the way to the disk.
        let torn_old = self.restarted() && self.earlier.contains(&entry.path);
        Ok(if part || torn_old { Found::Other } else { Found::Foreign })
    }
}

/// Content of a file whose size was found to be within the bounds of a record.
fn read_in<H: HostWrite>(host: &H, dir: &H::Dir, name: &OsStr, stat: &Stat) -> io::Result<Vec<u8>> {
    let file = host.open_in(dir, name, false)?;
    let mut content = vec![0; usize::try_from(stat.size).map_err(io::Error::other)?];
    let mut read = 0;
    while read < content.len() {
        match host.read_at(&file, read as u64, &mut content[read..])? {
            0 => break,
            len => read += len,
        }
    }
    content.truncate(read);
    Ok(content)
}

fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
        || resolvers::host::is_link_loop(error)
}
