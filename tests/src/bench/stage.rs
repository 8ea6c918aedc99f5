//! What all benches share: the options, the places, one world with its running daemon.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use tempfile::TempDir;

use super::machine::Machine;
use super::peer;
use crate::launch::{Daemon, World};

/// How thorough a run is.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Fewer rounds and shorter load: figures for a first look, not for publishing.
    pub quick: bool,
    /// Rounds of the benches whose runs take milliseconds or more, instead of their own number.
    pub rounds: Option<usize>,
}

impl Options {
    /// One line for the report.
    pub fn describe(&self) -> String {
        let mode = if self.quick { "quick look" } else { "full run" };
        let rounds = self.rounds.map(|rounds| format!(", {rounds} rounds")).unwrap_or_default();
        format!("{mode}{rounds}; medians of interleaved runs, page cache warm")
    }
}

/// The stage. Its folders vanish and its daemon ends when it is dropped.
#[derive(Debug)]
pub struct Stage {
    /// The options of the run.
    pub options: Options,
    /// What the machine is.
    pub machine: Machine,
    /// ripgrep, where there is one that is new enough.
    pub rg: Option<PathBuf>,
    /// The letters of the benches that have run with the shared daemon.
    pub ran: Vec<char>,
    // Fields drop in order: the daemon ends before its world and the work folder go.
    daemon: Daemon,
    world: World,
    work: TempDir,
}

impl Stage {
    /// Makes the folders, finds the peers and starts the daemon.
    ///
    /// # Errors
    /// There is no `capstan` binary, it does not start, or the cache folder can't be written.
    pub fn set(options: Options) -> anyhow::Result<Self> {
        let cache = cache_dir()?;
        std::fs::create_dir_all(&cache)
            .with_context(|| format!("could not make `{}`", cache.display()))?;
        // Not in `/tmp`, which may be memory: what is synced has to reach a disk.
        let work = TempDir::with_prefix_in("work-", &cache)?;
        let world = World::new(work.path())?;
        let rg = peer::ripgrep();
        let machine = Machine::look(work.path(), rg.as_deref());
        let daemon = world.start()?;
        Ok(Self { options, machine, rg, ran: Vec::new(), daemon, world, work })
    }

    /// The daemon that the benches share.
    pub fn daemon(&self) -> &Daemon {
        &self.daemon
    }

    /// The world of that daemon.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// Where folders for more worlds can be made.
    pub fn work(&self) -> &Path {
        self.work.path()
    }

    /// A new empty folder for one bench.
    ///
    /// # Errors
    /// It exists, or can't be made.
    pub fn folder(&self, name: &str) -> anyhow::Result<PathBuf> {
        let folder = self.work.path().join(name);
        std::fs::create_dir(&folder)
            .with_context(|| format!("could not make `{}`", folder.display()))?;
        Ok(folder)
    }

    /// Rounds for slow runs: what the user asked for, else the bench's own number for this mode.
    pub fn rounds(&self, full: usize, quick: usize) -> usize {
        self.options.rounds.unwrap_or_else(|| self.pick(full, quick))
    }

    /// One of two numbers, by mode.
    pub fn pick<T>(&self, full: T, quick: T) -> T {
        if self.options.quick { quick } else { full }
    }

    /// Tells what is going on, on standard error; the table alone goes to standard output.
    pub fn say(&self, what: &str) {
        // Nobody listening is no reason to stop.
        let _ = writeln!(std::io::stderr(), "· {what}");
    }
}

/// Where corpora are kept between runs: `CAPSTAN_BENCH_CACHE`, else `capstan-bench` in the user's
/// cache folder. Outside the checkout.
///
/// # Errors
/// The environment names no place.
pub fn cache_dir() -> anyhow::Result<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    if let Some(own) = set("CAPSTAN_BENCH_CACHE") {
        return Ok(std::path::absolute(PathBuf::from(own))?);
    }
    let cache = set("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| set("HOME").map(|home| PathBuf::from(home).join(".cache")));
    let cache = cache.context("neither `XDG_CACHE_HOME` nor `HOME` is set")?;
    Ok(cache.join("capstan-bench"))
}
