//! (d) `search` against ripgrep: six kinds of query on every corpus, over the held socket and
//! through the command line.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use super::corpus::{self, Corpus};
use super::{Aim, Row, Stage, interleave, peer};
use crate::client::Client;
use queries::{QUERIES, Query};

mod queries;

const SOCKET_AIM: Aim = Aim::Ratio(1.0);
const CLI_AIM: Aim = Aim::Ratio(1.1);

const WORK_NOTE: &str = "both look at every file and find every match; rg prints each line to a \
                         pipe that is read, ours registers each match as an anchor and shows 50";

/// Searches every corpus for every kind of query.
///
/// # Errors
/// There is no ripgrep of at least version 14, no corpus, or a search fails.
pub fn run(stage: &mut Stage) -> anyhow::Result<Vec<Row>> {
    let rg = stage.rg.clone().context("no ripgrep 14 or newer; set `RG` to one")?;
    let corpora = corpus::find(&rg)?;
    ensure!(!corpora.is_empty(), "no corpus: the cargo registry is empty; see `tests/bench`");
    let mut rows = Vec::new();
    for corpus in &corpora {
        stage.say(&format!("   {}", corpus.title()));
        let queries = QUERIES.iter().filter(|query| !(query.costly && stage.options.quick));
        for query in queries {
            rows.extend(Contest { rg: &rg, corpus, query, stage }.rows()?);
        }
    }
    Ok(rows)
}

/// One query on one corpus.
struct Contest<'a> {
    rg: &'a Path,
    corpus: &'a Corpus,
    query: &'a Query,
    stage: &'a Stage,
}

impl Contest<'_> {
    fn rows(&self) -> anyhow::Result<Vec<Row>> {
        let mut client = self.stage.daemon().session(&self.corpus.folder)?;
        let counts = self.counts(&mut client)?;
        let rounds = self.stage.rounds(if self.query.costly { 5 } else { 11 }, 3);
        let (cli, rg) = (self.cli(), self.ripgrep(&["--line-number"]));
        let arguments = self.arguments();
        let mut socket = || {
            let (took, answer) = client.timed_call("search", &arguments)?;
            answer.ok()?;
            Ok(took)
        };
        let mut by_cli = || run_again(&cli);
        let mut by_rg = || run_again(&rg);
        let samples = interleave(1, rounds, &mut [&mut socket, &mut by_rg, &mut by_cli])?;
        let [socket, rg, cli] = &samples[..] else { anyhow::bail!("three sides") };
        let name = format!("{}, {}", self.query.name, self.corpus.title());
        let row = |way: &str, ours: Duration, aim| {
            let row = Row::time('d', format!("{name}: {way}"), ours)
                .against_time("rg", rg.median())
                .aim(aim)
                .note(WORK_NOTE);
            self.corpus.note.iter().chain(&counts).fold(row, |row, note| row.note(note))
        };
        Ok(vec![row("socket", socket.median(), SOCKET_AIM), row("CLI", cli.median(), CLI_AIM)])
    }

    /// Compares what both find, before anything is timed; a note when they differ.
    fn counts(&self, client: &mut Client) -> anyhow::Result<Option<String>> {
        let answer = client.call("search", &self.arguments())?.ok()?;
        let ours = matches_found(&answer.text)
            .with_context(|| format!("no count of matches in: {:.400}", answer.text))?;
        let (_, output) = peer::run(self.ripgrep(&["--count-matches", "--no-filename"]).command())?;
        let theirs: u64 =
            String::from_utf8(output)?.lines().filter_map(|line| line.parse::<u64>().ok()).sum();
        let said = format!("{}: ours found {ours} matches, rg {theirs}", self.query.name);
        Ok((ours != theirs).then_some(said))
    }

    fn arguments(&self) -> Value {
        json!({"query": self.query.ours, "caseSensitive": self.query.case_sensitive})
    }

    fn cli(&self) -> Recipe<'_> {
        let case = if self.query.case_sensitive { "--case-sensitive" } else { "--ignore-case" };
        let mut arguments = vec!["search".to_owned(), case.to_owned(), "--root".to_owned()];
        arguments.push(self.corpus.folder.display().to_string());
        arguments.extend(["--".to_owned(), self.query.ours.to_owned()]);
        self.recipe(self.stage.world().binary(), arguments)
    }

    fn ripgrep(&self, how: &[&str]) -> Recipe<'_> {
        let case = if self.query.case_sensitive { "--case-sensitive" } else { "--ignore-case" };
        let mut arguments = vec!["--no-config", "--no-heading", "--color=never", case];
        arguments.extend(how);
        arguments.extend(self.query.is_literal.then_some("--fixed-strings"));
        arguments.extend(["--", self.query.pattern, "."]);
        self.recipe(self.rg, arguments.into_iter().map(ToOwned::to_owned).collect())
    }

    fn recipe(&self, program: &Path, arguments: Vec<String>) -> Recipe<'_> {
        Recipe {
            stage: self.stage,
            folder: &self.corpus.folder,
            program: program.into(),
            arguments,
        }
    }
}

/// A command that can be made again for every round.
struct Recipe<'a> {
    stage: &'a Stage,
    folder: &'a Path,
    program: PathBuf,
    arguments: Vec<String>,
}

impl Recipe<'_> {
    fn command(&self) -> Command {
        let mut command = self.stage.world().command(&self.program);
        command.args(&self.arguments).current_dir(self.folder);
        command
    }
}

fn run_again(recipe: &Recipe<'_>) -> anyhow::Result<Duration> {
    peer::run(recipe.command()).map(|(took, _)| took)
}

/// How many matches a search says it found.
fn matches_found(text: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        if line.starts_with("No matches") {
            return Some(0);
        }
        let (count, rest) = line.split_once(' ')?;
        let counts = rest.starts_with("matches in ") || rest.starts_with("match in ");
        counts.then(|| count.replace(',', "").parse().ok())?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_is_read_from_the_heading() {
        assert_eq!(matches_found("[result 1]\n2,345 matches in 7 files. Anchors: …"), Some(2_345));
        assert_eq!(matches_found("[result 1]\n1 match in 1 file."), Some(1));
        assert_eq!(matches_found("[result 1]\nNo matches in 12 files."), Some(0));
        assert_eq!(matches_found("[result 1]\nsomething else"), None);
    }
}
