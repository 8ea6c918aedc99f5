//! Rest between runs that write, so that no run pays for what another one has left.
//!
//! The daemon moves what it has committed from its journal to the files in the background, and plain
//! tools leave everything to the kernel, whose next sync then writes that too. Both sides therefore
//! start with a journal that is empty and a file system that has nothing to write.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};

use crate::launch::World;

/// How long the journal may take to become empty: a checkpoint rests 200 ms, then syncs.
const PATIENCE: Duration = Duration::from_secs(30);

/// How often it is looked at.
const POLL: Duration = Duration::from_millis(2);

/// The ends of the names of records that wait in the journal.
const RECORDS: [&str; 3] = ["rec", "done", "undo"];

/// The disk that the benches write to.
#[derive(Debug)]
pub struct Disk {
    journal: PathBuf,
    /// Any folder of the file system in question.
    folder: File,
}

impl Disk {
    /// The file system of `work`, and the journal of the daemon of `world`.
    ///
    /// # Errors
    /// The daemon has no journal where it should have one.
    pub fn of(world: &World, work: &Path) -> anyhow::Result<Self> {
        let journal = world.state_dir().join("journal");
        ensure!(journal.is_dir(), "the daemon has no journal at `{}`", journal.display());
        Ok(Self { journal, folder: File::open(work)? })
    }

    /// Waits until the journal is empty.
    ///
    /// # Errors
    /// It does not become so within half a minute.
    pub fn drain(&self) -> anyhow::Result<()> {
        let deadline = Instant::now() + PATIENCE;
        while self.waiting()? > 0 {
            ensure!(Instant::now() < deadline, "the journal is not empty after {PATIENCE:?}");
            std::thread::sleep(POLL);
        }
        Ok(())
    }

    /// Waits until the journal is empty, and writes out what the file system still holds back.
    ///
    /// # Errors
    /// As [`Self::drain`], or the sync fails.
    pub fn settle(&self) -> anyhow::Result<()> {
        self.drain()?;
        rustix::fs::syncfs(&self.folder).context("syncing the work folder")
    }

    fn waiting(&self) -> anyhow::Result<usize> {
        let mut count = 0;
        for entry in self.journal.read_dir()? {
            let path = entry?.path();
            let state = path.extension().and_then(|state| state.to_str());
            count += usize::from(state.is_some_and(|state| RECORDS.contains(&state)));
        }
        Ok(count)
    }
}
