//! Brings one file of an interrupted transaction forward or back.

use std::io;

use resolvers::host::HostWrite;

use super::inspect::{Found, Seen};
use super::{Case, FileOutcome, unchanged};
use crate::transaction::apply::{Folder, look, overwrite, remove, rename_new, swap, write_all};
use crate::transaction::attributes::{self, Keep};
use crate::transaction::record::Method;

impl<H: HostWrite> Case<'_, H> {
    pub(super) fn can_go_back(&self, at: usize, seen: &Seen) -> bool {
        match (seen.target, self.record().entries[at].method) {
            (Found::Old | Found::Foreign, _) | (_, Method::Create) => true,
            (_, Method::Swap) => seen.spare == Found::Old,
            (_, Method::InPlace) => self.stored.old_content(at).is_some(),
        }
    }

    /// Removes what is ours under the spare name.
    pub(super) fn tidy(&self, folder: &mut Folder<'_, H>, seen: &Seen) -> io::Result<()> {
        match folder.at(&seen.place.folder) {
            Ok(dir) if seen.spare != Found::Foreign => remove(self.host, dir, &seen.place.spare),
            Err(error) if !seen.folder_gone && seen.stat.is_some() => Err(error),
            _ => Ok(()),
        }
    }

    /// Makes the new content true.
    pub(super) fn go_on(
        &self,
        folder: &mut Folder<'_, H>,
        at: usize,
        seen: &Seen,
    ) -> io::Result<FileOutcome> {
        match (seen.target, self.stored.new_content(at)) {
            (Found::New, _) => self.tidy(folder, seen).map(|()| FileOutcome::New),
            (Found::Foreign, _) => {
                self.tidy(folder, seen)?;
                let followed = self.later.contains(&seen.place.path);
                Ok(if followed { FileOutcome::New } else { FileOutcome::Foreign })
            }
            (Found::Old | Found::Torn | Found::Other, Some(new)) => {
                self.rewrite(folder, at, seen, new)
            }
            (Found::Old | Found::Torn | Found::Other, None) => Ok(FileOutcome::Unknown),
        }
    }

    /// Puts the new content from the record in place.
    fn rewrite(
        &self,
        folder: &mut Folder<'_, H>,
        at: usize,
        seen: &Seen,
        new: &[u8],
    ) -> io::Result<FileOutcome> {
        let entry = &self.record().entries[at];
        if entry.method == Method::InPlace {
            return self.overwrite(folder, seen, new, FileOutcome::New);
        }
        let (host, place) = (self.host, &seen.place);
        if seen.spare == Found::Foreign {
            return Ok(FileOutcome::Unknown);
        }
        let dir = folder.at(&place.folder)?;
        remove(host, dir, &place.spare)?; // the record has all that it could hold
        let keep = entry.old.map(|old| Keep { mode: old.mode, uid: old.uid, gid: old.gid });
        let keep = keep.or(seen.stat.as_ref().map(Keep::of));
        let file = host.create_new(dir, &place.spare, keep.map_or(0o666, |_| 0o600))?;
        let _ = write_all(host, &file, new, None)?;
        if let Some(keep) = keep {
            attributes::carry(host, &place.path, keep, &file)?;
        }
        host.sync_file(&file)?;
        if seen.stat.is_none() {
            return match rename_new(host, dir, &place.spare, &place.name) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    remove(host, dir, &place.spare).map(|()| FileOutcome::Foreign)
                }
                result => result.map(|()| FileOutcome::New),
            };
        }
        swap(host, dir, place)?;
        if !unchanged(seen.stat.as_ref(), look(host, dir, &place.spare)?.as_ref()) {
            swap(host, dir, place)?;
            return remove(host, dir, &place.spare).map(|()| FileOutcome::Foreign);
        }
        host.sync_dir(dir)?;
        remove(host, dir, &place.spare).map(|()| FileOutcome::New)
    }

    /// Puts the old content back.
    pub(super) fn go_back(
        &self,
        folder: &mut Folder<'_, H>,
        at: usize,
        seen: &Seen,
    ) -> io::Result<FileOutcome> {
        let (host, place) = (self.host, &seen.place);
        match (seen.target, self.record().entries[at].method) {
            (Found::Old, _) => self.tidy(folder, seen).map(|()| FileOutcome::Old),
            (Found::Foreign, _) => self.tidy(folder, seen).map(|()| FileOutcome::Foreign),
            (_, Method::Create) => {
                self.tidy(folder, seen)?;
                let dir = folder.at(&place.folder)?;
                if !unchanged(seen.stat.as_ref(), look(host, dir, &place.name)?.as_ref()) {
                    return Ok(FileOutcome::Foreign);
                }
                remove(host, dir, &place.name).map(|()| FileOutcome::Old)
            }
            (_, Method::Swap) if seen.spare == Found::Old => {
                let dir = folder.at(&place.folder)?;
                swap(host, dir, place)?;
                if !unchanged(seen.stat.as_ref(), look(host, dir, &place.spare)?.as_ref()) {
                    swap(host, dir, place)?;
                    return remove(host, dir, &place.spare).map(|()| FileOutcome::Foreign);
                }
                remove(host, dir, &place.spare).map(|()| FileOutcome::Old)
            }
            (_, Method::Swap) => Ok(FileOutcome::Unknown),
            (_, Method::InPlace) => match self.stored.old_content(at) {
                Some(old) => self.overwrite(folder, seen, old, FileOutcome::Old),
                None => Ok(FileOutcome::Unknown),
            },
        }
    }

    fn overwrite(
        &self,
        folder: &mut Folder<'_, H>,
        seen: &Seen,
        content: &[u8],
        done: FileOutcome,
    ) -> io::Result<FileOutcome> {
        let (host, place) = (self.host, &seen.place);
        let file = host.open_in(folder.at(&place.folder)?, &place.name, true)?;
        if !unchanged(seen.stat.as_ref(), Some(&host.stat_file(&file)?)) {
            return Ok(FileOutcome::Foreign);
        }
        overwrite(host, &file, content)?;
        host.sync_file(&file)?;
        Ok(done)
    }
}
