//! One transaction after its record is on disk: to the end, or back.

use std::collections::BTreeSet;
use std::path::PathBuf;

use anchors::Cancel;
use resolvers::host::{HostWrite, Stat};

use super::{Inner, Phase, record_name, touched};
use crate::transaction::apply::{Folder, Item, State, make_folder, remove_folders};
use crate::transaction::checkpoint::{self, Pending};
use crate::transaction::error::{Cause, CommitError, Effect};
use crate::transaction::record::Method;
use crate::transaction::{Committed, Written};

/// Mode of folders that are made for new files, subject to the umask.
const FOLDER_MODE: u32 = 0o777;

pub(super) struct Transaction<'a, H: HostWrite> {
    pub(super) inner: &'a Inner<H>,
    /// Sorted by folder.
    pub(super) items: Vec<Item<'a>>,
    /// Folders to make, parents first.
    pub(super) folders: Vec<PathBuf>,
    /// Whether files are synced before the commit returns, as the record has no content.
    pub(super) sync: bool,
    /// Name of the record without its phase.
    pub(super) stem: String,
    /// Size of the record.
    pub(super) bytes: u64,
}

impl<H: HostWrite> Transaction<'_, H> {
    pub(super) fn run(mut self, cancel: &Cancel) -> Result<Committed, CommitError> {
        match self.forward(cancel) {
            Ok(()) => Ok(self.finish()),
            Err(cause) => Err(self.back(cause)),
        }
    }

    fn forward(&mut self, cancel: &Cancel) -> Result<(), Cause> {
        let host = &*self.inner.host;
        let folder = &mut Folder::new(host);
        for path in &self.folders {
            make_folder(host, folder, path, FOLDER_MODE)
                .map_err(|error| Cause::known("making the folder", path, error))?;
        }
        for item in &mut self.items {
            item.stage(host, folder, self.sync, cancel)?;
        }
        cancel.check()?;
        // What can be exchanged goes first: it is easier to take back than what is overwritten.
        for in_place in [false, true] {
            for item in &mut self.items {
                if (item.plan.method == Method::InPlace) == in_place {
                    item.apply(host, folder, self.sync)?;
                }
            }
        }
        if self.sync {
            self.sync_folders(folder)?;
        }
        Ok(())
    }

    fn sync_folders(&self, folder: &mut Folder<'_, H>) -> Result<(), Cause> {
        let host = &*self.inner.host;
        for path in touched(&self.items, &self.folders) {
            checkpoint::sync_folder(host, folder, &path)
                .map_err(|error| Cause::io("syncing the folder", &path, error))?;
        }
        Ok(())
    }

    /// Everything is applied: nothing that fails from here on makes the commit fail.
    fn finish(mut self) -> Committed {
        let host = &*self.inner.host;
        let folder = &mut Folder::new(host);
        let mut pending = Pending {
            record: record_name(&self.stem, Phase::Done),
            bytes: self.bytes,
            folders: touched(&self.items, &self.folders),
            ..Pending::default()
        };
        let mut stats: Vec<(usize, Option<Stat>)> = Vec::with_capacity(self.items.len());
        let mut unfreed = Vec::new();
        let room = self.inner.queue.room_for_unfreed();
        for item in &mut self.items {
            let (old, stat) =
                item.finish(host, folder, unfreed.len() < room).unwrap_or_else(|_| {
                    pending.leftovers.push((item.place.folder.clone(), item.place.spare.clone()));
                    (None, None)
                });
            unfreed.extend(old);
            stats.push((item.plan.index, stat));
            if !self.sync {
                pending.files.push(item.place.path.clone());
            }
        }
        let running = record_name(&self.stem, Phase::Running);
        let marked = host.rename(&self.inner.dir, &running, &pending.record).is_ok();
        if !marked {
            pending.record = running;
        }
        self.inner.queue.push(pending, unfreed);
        if !marked {
            // A later crash would take it for unfinished: let it be over before anybody relies on
            // it.
            self.inner.queue.wait_until_idle();
        }
        let mut files: Vec<(usize, Written)> = self
            .items
            .into_iter()
            .zip(stats)
            .map(|(item, (index, stat))| {
                let created = item.plan.method == Method::Create;
                (index, Written { path: item.place.path, stat, created })
            })
            .collect();
        files.sort_by_key(|(index, _)| *index);
        Committed { files: files.into_iter().map(|(_, file)| file).collect() }
    }

    /// Puts every file back, last one first.
    fn back(mut self, cause: Cause) -> CommitError {
        let inner = self.inner;
        let host = &*inner.host;
        let folder = &mut Folder::new(host);
        let running = record_name(&self.stem, Phase::Running);
        let undo = record_name(&self.stem, Phase::Undo);
        // From now on a crash must not make it come true.
        let marked = host.rename(&inner.dir, &running, &undo).is_ok();
        for item in self.items.iter_mut().rev() {
            // What failed shows in the state of the item.
            let _ = item.restore(host, folder);
        }
        let _ = remove_folders(host, folder, &self.folders);
        let lost = self.items.iter().any(|item| matches!(item.state, State::Lost));
        // Before the record goes, what it would put right has to be right on disk.
        let settled = !lost && self.sync_restored(folder).is_ok();
        let name = if marked { undo } else { running };
        let safe =
            (settled && inner.discard(&name)) || (marked && host.sync_dir(&inner.dir).is_ok());
        let mut effects: Vec<(usize, (PathBuf, Effect))> = self
            .items
            .into_iter()
            .map(|item| {
                let restored = safe && !matches!(item.state, State::Lost);
                let effect = if restored { Effect::NotApplied } else { Effect::Unknown };
                (item.plan.index, (item.place.path, effect))
            })
            .collect();
        effects.sort_by_key(|(index, _)| *index);
        CommitError { cause, effects: effects.into_iter().map(|(_, effect)| effect).collect() }
    }

    fn sync_restored(&self, folder: &mut Folder<'_, H>) -> Result<(), Cause> {
        let host = &*self.inner.host;
        for item in self.items.iter().filter(|item| item.plan.method == Method::InPlace) {
            checkpoint::sync_file(host, folder, &item.place.path)
                .map_err(|error| Cause::io("syncing", &item.place.path, error))?;
        }
        let made: BTreeSet<&PathBuf> = self.folders.iter().collect();
        for path in touched(&self.items, &self.folders) {
            if !made.contains(&path) {
                checkpoint::sync_folder(host, folder, &path)
                    .map_err(|error| Cause::io("syncing the folder", &path, error))?;
            }
        }
        Ok(())
    }
}
