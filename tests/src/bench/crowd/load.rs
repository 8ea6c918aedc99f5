//! One client of the crowd: its files, its calls, its times.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;

use super::super::Samples;
use crate::client::Client;

/// The file that all read from.
pub(super) const LONG: &str = "long.txt";
pub(super) const LONG_LINES: usize = 20_000;
/// Lines of one read.
pub(super) const WINDOW: usize = 200;

/// The folder that all search.
pub(super) const SMALL: &str = "small";
const SMALL_FILES: usize = 50;
const SMALL_LINES: usize = 100;
pub(super) const NEEDLE: &str = "needleInTheSmallFolder";

/// Lines of the file that each client edits for itself.
const OWN_LINES: usize = 100;

/// The kinds of call.
pub(super) const KINDS: [Kind; 3] = [Kind::Read, Kind::Search, Kind::Replace];

/// What a client does next; three reads, two searches, one replace.
const MIX: [Kind; 6] =
    [Kind::Read, Kind::Search, Kind::Read, Kind::Replace, Kind::Read, Kind::Search];

/// A kind of call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Read,
    Search,
    Replace,
}

impl Kind {
    /// What the call with this number is.
    pub(super) fn of_call(number: usize) -> Self {
        MIX[number % MIX.len()]
    }

    /// The tool, and what is special about the call.
    pub(super) fn describe(self) -> (&'static str, &'static str) {
        match self {
            Self::Read => ("read", "200 lines"),
            Self::Search => ("search", "50 small files"),
            Self::Replace => ("replace", "a line of its own file"),
        }
    }
}

/// The times of calls by kind.
#[derive(Debug, Default)]
pub(super) struct Tally {
    times: [Vec<Duration>; 3],
    /// Calls that started late because the one before took too long.
    pub(super) late: usize,
}

impl Tally {
    pub(super) fn push(&mut self, kind: Kind, time: Duration) {
        self.times[kind as usize].push(time);
    }

    pub(super) fn add(&mut self, other: Self) {
        for (mine, theirs) in self.times.iter_mut().zip(other.times) {
            mine.extend(theirs);
        }
        self.late += other.late;
    }

    pub(super) fn samples(&self, kind: Kind) -> Samples {
        Samples::new(self.times[kind as usize].clone())
    }

    pub(super) fn count(&self) -> usize {
        self.times.iter().map(Vec::len).sum()
    }
}

/// A client with a session of its own.
#[derive(Debug)]
pub(super) struct Worker {
    client: Client,
    /// Which of the clients it is, from 0.
    pub(super) number: usize,
    /// Calls so far, by kind.
    turns: [usize; 3],
}

impl Worker {
    /// Connects, and takes the client's own file up where an earlier load has left it.
    pub(super) fn new(socket: &Path, folder: &Path, number: usize) -> anyhow::Result<Self> {
        let client = Client::open(socket, folder)?;
        let own = std::fs::read_to_string(folder.join(own_file(number)))?;
        let edits = own
            .lines()
            .find_map(|line| line.strip_prefix(COUNTER)?.strip_suffix(" edits")?.parse().ok())
            .context("a client's own file has no counter")?;
        Ok(Self { client, number, turns: [number * 31, 0, edits] })
    }

    /// Makes the next call of that kind.
    pub(super) fn call(&mut self, kind: Kind) -> anyhow::Result<Duration> {
        let turn = &mut self.turns[kind as usize];
        let arguments = super::arguments(kind, self.number, *turn);
        *turn += 1;
        let (took, answer) = self.client.timed_call(kind.describe().0, &arguments)?;
        answer.ok()?;
        Ok(took)
    }
}

const COUNTER: &str = "counter after ";

/// The line that a client edits, after so many edits.
pub(super) fn counter(edits: usize) -> String {
    format!("{COUNTER}{edits} edits")
}

/// The file that a client edits.
pub(super) fn own_file(number: usize) -> String {
    format!("own-{number:02}.txt")
}

/// Writes everything that the clients use.
pub(super) fn write_files(folder: &Path, clients: usize) -> anyhow::Result<()> {
    std::fs::write(folder.join(LONG), lines(LONG_LINES, ""))?;
    let small = folder.join(SMALL);
    std::fs::create_dir(&small)?;
    for number in 0..SMALL_FILES {
        // One file in five holds the word.
        let word = if number % 5 == 0 { NEEDLE } else { "" };
        std::fs::write(small.join(format!("file-{number:02}.txt")), lines(SMALL_LINES, word))?;
    }
    for number in 0..clients {
        let text =
            format!("{}{}\n{}", lines(OWN_LINES / 2, ""), counter(0), lines(OWN_LINES / 2, ""));
        std::fs::write(folder.join(own_file(number)), text)?;
    }
    Ok(())
}

fn lines(count: usize, word: &str) -> String {
    let mut text = String::new();
    for line in 0..count {
        let word = if line == count / 2 { word } else { "" };
        let _ = writeln!(text, "this is line {line} of an ordinary file {word}");
    }
    text
}
