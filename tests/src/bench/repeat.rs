//! Comparisons that are repeated with fresh daemons.
//!
//! What a commit costs differs from one daemon to the next (same binary, idle machine) by far more
//! than between the runs of one of them, so that more rounds with one daemon only make a chance
//! figure look certain. Every daemon therefore counts once, with its median, and the range of the
//! ratios is shown beside the verdict.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Disk, Row, Samples, Stage, interrupt};
use crate::launch::{Daemon, World};

/// A daemon that nobody else uses, with a folder to work in and its disk.
#[derive(Debug)]
pub struct Arena {
    /// The daemon. First, so that it ends before its world goes.
    pub daemon: Daemon,
    /// Its world.
    pub world: World,
    /// Its disk.
    pub disk: Disk,
    folder: PathBuf,
}

impl Arena {
    /// A new empty folder.
    ///
    /// # Errors
    /// It exists, or can't be made.
    pub fn folder(&self, name: &str) -> anyhow::Result<PathBuf> {
        let folder = self.folder.join(name);
        std::fs::create_dir(&folder)?;
        Ok(folder)
    }
}

/// The times of one side, by daemon.
#[derive(Clone, Debug, Default)]
pub struct Repeated(Vec<Samples>);

impl Repeated {
    /// The median of the daemons' medians.
    pub fn median(&self) -> Duration {
        Samples::new(self.0.iter().map(Samples::median).collect()).median()
    }

    /// The smallest and the largest ratio to the peer that one daemon had.
    pub fn ratios(&self, peer: &Self) -> (f64, f64) {
        let seconds = |samples: &Samples| samples.median().as_secs_f64();
        let each = self.0.iter().zip(&peer.0).map(|(ours, peer)| seconds(ours) / seconds(peer));
        each.fold((f64::INFINITY, 0.0), |(low, high), ratio| (low.min(ratio), high.max(ratio)))
    }

    /// A row of these times against those of a peer, with the range of the ratios.
    pub fn row(&self, bench: char, name: &str, peer: (&str, &Self)) -> Row {
        let (low, high) = self.ratios(peer.1);
        Row::time(bench, name, self.median()).against_time(peer.0, peer.1.median()).range(low, high)
    }
}

/// Runs a comparison with that many daemons, one after the other; gives each side's times.
///
/// # Errors
/// A daemon does not start or end, a side fails, or a signal came.
pub fn with_daemons(
    stage: &Stage,
    name: &str,
    daemons: usize,
    mut compare: impl FnMut(&Arena) -> anyhow::Result<Vec<Samples>>,
) -> anyhow::Result<Vec<Repeated>> {
    let mut sides: Vec<Repeated> = Vec::new();
    for number in 0..daemons {
        interrupt::check()?;
        let folder = stage.folder(&format!("{name}-{number}"))?;
        let world = World::new(stage.work())?;
        let daemon = world.start()?;
        let disk = Disk::of(&world, stage.work())?;
        let arena = Arena { daemon, world, disk, folder };
        let measured = compare(&arena)?;
        sides.resize_with(measured.len(), Repeated::default);
        for (side, samples) in sides.iter_mut().zip(measured) {
            side.0.push(samples);
        }
        remove(arena)?;
    }
    Ok(sides)
}

/// Ends the daemon and gives its disk space back.
fn remove(arena: Arena) -> anyhow::Result<()> {
    let folder: &Path = &arena.folder;
    std::fs::remove_dir_all(folder)?;
    arena.daemon.stop()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repeated(medians: &[u64]) -> Repeated {
        let one = |millis: &u64| Samples::new(vec![Duration::from_millis(*millis)]);
        Repeated(medians.iter().map(one).collect())
    }

    #[test]
    fn every_daemon_counts_once() {
        let (ours, peer) = (repeated(&[50, 100, 80]), repeated(&[100, 50, 80]));
        assert_eq!(ours.median(), Duration::from_millis(80));
        assert_eq!(ours.ratios(&peer), (0.5, 2.0));
    }
}
