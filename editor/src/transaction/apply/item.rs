//! One file on its way through a commit.

use std::io;

use anchors::Cancel;
use resolvers::host::{HostWrite, Stat};

use super::{
    Folder, PRIVATE, Place, hash_in, look, overwrite, remove, rename_new, same_content, settle,
    swap, write_all,
};
use crate::limits;
use crate::transaction::attributes::{self, Keep};
use crate::transaction::error::Cause;
use crate::transaction::plan::Planned;
use crate::transaction::record::Method;

/// Mode of new files, subject to the umask.
const NEW_FILE_MODE: u32 = 0o666;

/// How far a file has come.
#[derive(Clone, Copy, Debug)]
pub(in crate::transaction) enum State {
    /// Nothing of it exists.
    Untouched,
    /// A staged file may exist under the spare name.
    Staged(Option<Stat>),
    /// The name means our new file, of this stat; what it meant before is not checked yet.
    Swapped(Stat),
    /// The name means our new file, of this stat.
    Applied(Stat),
    /// It is being written in place, or has been.
    Overwriting,
    /// What its name means now is somebody else's, and our change lies under or over it.
    Lost,
}

/// One planned change and its progress.
pub(in crate::transaction) struct Item<'a> {
    pub(in crate::transaction) plan: Planned<'a>,
    pub(in crate::transaction) place: Place,
    pub(in crate::transaction) state: State,
}

impl<'a> Item<'a> {
    pub(in crate::transaction) fn new(plan: Planned<'a>, id: u64, number: usize) -> Self {
        let place = Place::new(&plan.path, id, number);
        Self { plan, place, state: State::Untouched }
    }

    /// Writes the new content under the spare name, complete with all attributes; durable if
    /// asked.
    pub(in crate::transaction) fn stage<H: HostWrite>(
        &mut self,
        host: &H,
        folder: &mut Folder<'_, H>,
        sync: bool,
        cancel: &Cancel,
    ) -> Result<(), Cause> {
        if self.plan.method == Method::InPlace {
            return Ok(());
        }
        cancel.check()?;
        let path = self.place.path.clone();
        let failed = |error| Cause::io("writing new content for", &path, error);
        let gone = |error| Cause::known("opening the folder of", &path, error);
        let dir = folder.at(&self.place.folder).map_err(gone)?;
        let keep = self.plan.old.map(|(stat, _)| Keep::of(&stat));
        let mode = keep.map_or(NEW_FILE_MODE, |keep| (keep.mode & 0o777) | PRIVATE);
        let file = host.create_new(dir, &self.place.spare, mode).map_err(failed)?;
        self.state = State::Staged(None);
        write_all(host, &file, self.plan.after.bytes(), Some(cancel)).map_err(failed)??;
        if let Some(keep) = keep {
            attributes::carry(host, &path, keep, &file)
                .map_err(|error| Cause::known("keeping the attributes of", &path, error))?;
        }
        if sync {
            host.sync_file(&file).map_err(failed)?;
        }
        self.state = State::Staged(Some(host.stat_file(&file).map_err(failed)?));
        Ok(())
    }

    /// Makes the name mean the new content, if the old is still what was planned for.
    pub(in crate::transaction) fn apply<H: HostWrite>(
        &mut self,
        host: &H,
        folder: &mut Folder<'_, H>,
        sync: bool,
    ) -> Result<(), Cause> {
        let path = self.place.path.clone();
        let failed = |error| Cause::known("replacing", &path, error);
        let dir = folder.at(&self.place.folder).map_err(failed)?;
        match (self.plan.method, self.state) {
            (Method::InPlace, _) => self.write_in_place(host, dir, sync),
            (Method::Create, State::Staged(Some(ours))) => {
                rename_new(host, dir, &self.place.spare, &self.place.name).map_err(failed)?;
                self.state = State::Applied(ours);
                Ok(())
            }
            (Method::Swap, State::Staged(Some(ours))) => {
                swap(host, dir, &self.place).map_err(failed)?;
                self.state = State::Swapped(ours);
                if !self.swapped_out_is_old(host, dir).map_err(failed)? {
                    return Err(Cause::FileChanged { path });
                }
                self.state = State::Applied(ours);
                Ok(())
            }
            _ => Err(Cause::FileChanged { path }), // not staged: cannot be applied
        }
    }

    /// Whether what the exchange brought out is what the plan was made from.
    fn swapped_out_is_old<H: HostWrite>(&self, host: &H, dir: &H::Dir) -> io::Result<bool> {
        let Some((old, hash)) = &self.plan.old else { return Ok(false) };
        let out = host.stat_in(dir, &self.place.spare)?;
        let same = same_content(&out, old)
            && (out.mode, out.uid, out.gid, out.nlink) == (old.mode, old.uid, old.gid, old.nlink);
        Ok(same && (self.plan.settled || hash_in(host, dir, &self.place.spare)? == *hash))
    }

    fn write_in_place<H: HostWrite>(
        &mut self,
        host: &H,
        dir: &H::Dir,
        sync: bool,
    ) -> Result<(), Cause> {
        let path = &self.place.path;
        let failed = |error| Cause::known("writing to", path, error);
        let changed = || Cause::FileChanged { path: path.clone() };
        let file = host.open_in(dir, &self.place.name, true).map_err(failed)?;
        let now = host.stat_file(&file).map_err(failed)?;
        let (old, hash) = self.plan.old.as_ref().ok_or_else(changed)?;
        if !now.same_revision(old)
            || !(self.plan.settled
                || hash_in(host, dir, &self.place.name).map_err(failed)? == *hash)
        {
            return Err(changed());
        }
        self.state = State::Overwriting;
        overwrite(host, &file, self.plan.after.bytes()).map_err(failed)?;
        if sync {
            host.sync_file(&file).map_err(failed)?;
        }
        Ok(())
    }

    /// Puts the file back as it was. On failure the state is [`State::Lost`].
    pub(in crate::transaction) fn restore<H: HostWrite>(
        &mut self,
        host: &H,
        folder: &mut Folder<'_, H>,
    ) -> io::Result<()> {
        let result = match (self.state, folder.at(&self.place.folder)) {
            (State::Untouched, _) => Ok(true), // its folder may not even exist
            (_, Ok(dir)) => self.restore_in(host, dir),
            (_, Err(error)) => Err(error),
        };
        self.state = if matches!(result, Ok(true)) { State::Untouched } else { State::Lost };
        result.map(drop)
    }

    /// The state, corrected for an exchange or rename of several steps that failed in the middle.
    fn half_done<H: HostWrite>(&self, host: &H, dir: &H::Dir) -> io::Result<State> {
        let State::Staged(Some(ours)) = self.state else { return Ok(self.state) };
        settle(host, dir, &self.place)?;
        let named = look(host, dir, &self.place.name)?;
        if !named.is_some_and(|named| same_content(&named, &ours)) {
            return Ok(self.state);
        }
        if self.plan.method == Method::Create {
            remove(host, dir, &self.place.spare)?; // the same file under its first name
        }
        Ok(State::Swapped(ours))
    }

    /// False when somebody else's content had to stay.
    fn restore_in<H: HostWrite>(&self, host: &H, dir: &H::Dir) -> io::Result<bool> {
        let Place { name, spare, .. } = &self.place;
        match (self.half_done(host, dir)?, self.plan.method) {
            (State::Untouched, _) => Ok(true),
            (State::Lost, _) => Ok(false),
            (State::Staged(_), _) => remove(host, dir, spare).map(|()| true),
            (State::Overwriting, _) => {
                let file = host.open_in(dir, name, true)?;
                let same = self.plan.old.is_some_and(|(old, _)| {
                    host.stat_file(&file).is_ok_and(|now| now.same_object(&old))
                });
                if same {
                    overwrite(host, &file, &self.plan.old_bytes)?;
                }
                Ok(same)
            }
            (State::Swapped(ours) | State::Applied(ours), Method::Create) => {
                if look(host, dir, name)?.is_none() {
                    return Ok(true);
                }
                rename_new(host, dir, name, spare)?;
                if same_content(&host.stat_in(dir, spare)?, &ours) {
                    remove(host, dir, spare).map(|()| true)
                } else {
                    rename_new(host, dir, spare, name).map(|()| false)
                }
            }
            (State::Swapped(ours) | State::Applied(ours), _) => {
                swap(host, dir, &self.place)?;
                if same_content(&host.stat_in(dir, spare)?, &ours) {
                    return remove(host, dir, spare).map(|()| true);
                }
                // Somebody added to our new file while it was in place: what they added goes to
                // the end of theirs.
                if let Some(added) = self.added(host, dir, &ours)? {
                    host.append_in(dir, name, &added)?;
                    return remove(host, dir, spare).map(|()| true);
                }
                // Somebody wrote over our new file: theirs goes back on top. What they replaced
                // may go, unless it is not what we know but somebody else's too.
                swap(host, dir, &self.place)?;
                if matches!(self.state, State::Applied(_)) {
                    remove(host, dir, spare)?;
                }
                Ok(false)
            }
        }
    }

    /// What somebody added to the end of our new file, which lies under the spare name; `None` when
    /// they did something else to it, or added more than is carried over.
    fn added<H: HostWrite>(
        &self,
        host: &H,
        dir: &H::Dir,
        ours: &Stat,
    ) -> io::Result<Option<Vec<u8>>> {
        let file = host.open_in(dir, &self.place.spare, false)?;
        let now = host.stat_file(&file)?;
        let more = now.size.saturating_sub(ours.size);
        if !now.same_object(ours) || more == 0 || more > limits::ADDED_BYTES {
            return Ok(None);
        }
        let mut content = vec![0; usize::try_from(now.size).unwrap_or(usize::MAX)];
        let mut read = 0;
        while read < content.len() {
            match host.read_at(&file, read as u64, &mut content[read..])? {
                0 => return Ok(None),
                count => read += count,
            }
        }
        let ours = self.plan.after.bytes();
        Ok(content.starts_with(ours).then(|| content.split_off(ours.len())))
    }

    /// Removes the old file once the whole transaction is applied. Returns it still open if `keep`,
    /// so that freeing its blocks can wait, and what the name means now.
    pub(in crate::transaction) fn finish<H: HostWrite>(
        &mut self,
        host: &H,
        folder: &mut Folder<'_, H>,
        keep: bool,
    ) -> io::Result<(Option<H::File>, Option<Stat>)> {
        let dir = folder.at(&self.place.folder)?;
        let mut old = None;
        if self.plan.method == Method::Swap {
            if keep {
                old = host.open_in(dir, &self.place.spare, false).ok();
            }
            remove(host, dir, &self.place.spare)?;
        }
        Ok((old, host.stat_in(dir, &self.place.name).ok()))
    }
}
