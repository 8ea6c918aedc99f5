//! The benches: Capstan against the plain tools that do the same work, as one table of ratios.
//!
//! Every bench measures the real release binary over its real socket, in a world of its own, against
//! a peer (a system call, `sed`, `rg`). Runs alternate (ours, peer, ours, peer, …), the page cache is
//! warm, and what counts is the median. Where the two sides do unequal work a footnote says so.
//! [`BENCHES`] is the list; `docs/BENCHMARKS.md` says what each row means.

use anyhow::Context as _;

pub mod corpus;
pub mod crowd;
pub mod disk;
pub mod footprint;
pub mod interrupt;
pub mod machine;
pub mod many;
pub mod peer;
pub mod ping;
pub mod read;
pub mod repeat;
pub mod replace;
pub mod row;
pub mod samples;
pub mod search;
pub mod stage;
pub mod table;

pub use disk::Disk;
pub use row::{Aim, Measure, Row};
pub use samples::{Samples, interleave};
pub use stage::{Options, Stage};

/// One bench: a letter, a name, and what it does on the stage.
#[derive(Clone, Copy, Debug)]
pub struct Bench {
    /// The letter of its rows.
    pub key: char,
    /// Whether it uses the daemon whose memory is looked at in the end, and not daemons of its own.
    pub shares_daemon: bool,
    /// A short name to choose it by.
    pub name: &'static str,
    /// Measures, and gives the rows.
    pub run: fn(&mut Stage) -> anyhow::Result<Vec<Row>>,
}

/// All benches, in the order in which they run. The footprint comes last: it tells what the
/// daemon's memory is after the others.
pub const BENCHES: &[Bench] = &[
    Bench { key: 'a', shares_daemon: true, name: "read", run: read::run },
    Bench { key: 'b', shares_daemon: false, name: "replace", run: replace::run },
    Bench { key: 'c', shares_daemon: false, name: "many-files", run: many::run },
    Bench { key: 'd', shares_daemon: true, name: "search", run: search::run },
    Bench { key: 'e', shares_daemon: true, name: "ping", run: ping::run },
    Bench { key: 'f', shares_daemon: true, name: "crowd", run: crowd::run },
    Bench { key: 'g', shares_daemon: true, name: "footprint", run: footprint::run },
];

/// What came of a run.
#[derive(Debug, Default)]
pub struct Report {
    /// The rows of the benches that could be run.
    pub rows: Vec<Row>,
    /// The name of each bench that could not, and why.
    pub failures: Vec<(&'static str, String)>,
}

impl Bench {
    /// Whether one of `wanted` is its letter or a longer part of its name; no wish means all.
    pub fn is_wanted(&self, wanted: &[String]) -> bool {
        let key = self.key.to_string();
        let fits = |wish: &String| match wish.len() {
            1 => *wish == key,
            _ => self.name.contains(wish.as_str()),
        };
        wanted.is_empty() || wanted.iter().any(fits)
    }
}

/// Runs the wanted benches. One that fails does not keep the others from running.
///
/// # Errors
/// The stage can't be set (no binary, no folder to work in), or a signal came.
pub fn run(options: Options, wanted: &[String]) -> anyhow::Result<(Stage, Report)> {
    interrupt::watch()?;
    let mut stage = Stage::set(options).context("could not prepare the benches")?;
    let mut report = Report::default();
    for bench in BENCHES.iter().filter(|bench| bench.is_wanted(wanted)) {
        stage.say(&format!("{}: {}", bench.key, bench.name));
        match (bench.run)(&mut stage) {
            Ok(rows) => {
                report.rows.extend(rows);
                if bench.shares_daemon {
                    stage.ran.push(bench.key);
                }
            }
            Err(error) => {
                interrupt::check()?;
                report.failures.push((bench.name, format!("{error:#}")));
            }
        }
    }
    Ok((stage, report))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn benches_are_chosen_by_letter_or_part_of_the_name() {
        let chosen = |wanted: &[&str]| {
            let wanted: Vec<String> = wanted.iter().map(ToString::to_string).collect();
            BENCHES.iter().filter(|bench| bench.is_wanted(&wanted)).map(|bench| bench.key).collect()
        };
        let all: String = chosen(&[]);
        assert_eq!(all, "abcdefg");
        let some: String = chosen(&["e", "sear"]);
        assert_eq!(some, "de");
    }
}
