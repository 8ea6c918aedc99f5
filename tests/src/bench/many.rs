//! (c) One `replace` through `SEARCH#…:all:match` in 200 files, against `sed -i` on the same files.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use serde_json::json;

use super::{Aim, Disk, Row, Samples, Stage, interleave, peer};
use crate::client::Client;

/// Files that hold the word, and files around them that do not.
const FILES: usize = 200;
const OTHERS: usize = 800;
/// Lines of a file, and how many of them hold the word.
const LINES: usize = 120;
const HITS: usize = 3;

/// The two words that take turns, so that a round leaves the work of the next.
const WORDS: [&str; 2] = ["alphaMarker", "omegaMarker"];

const DURABLE_NOTE: &str = "ours is atomic, and durable when it answers (its journal is synced); \
                            `sed -i` syncs nothing";

const REST_NOTE: &str = "every run starts with an empty journal and nothing for the file system to \
                         write, so that neither side pays for the other";

/// Replaces with and without the search that finds the places.
///
/// # Errors
/// A replace fails, or the files do not hold what they should afterwards.
pub fn run(stage: &mut Stage) -> anyhow::Result<Vec<Row>> {
    let rounds = stage.rounds(21, 5);
    let mut ours = Ours::new(stage, Tree::new(stage, "many-ours")?)?;
    let (mut sed, mut rg_sed, mut synced) = (
        Tree::new(stage, "many-sed")?,
        Tree::new(stage, "many-rg-sed")?,
        Tree::new(stage, "many-sed-sync")?,
    );
    let disk = Disk::of(stage)?;
    let (mut searches, mut settled) = (Vec::new(), Vec::new());
    let rg = stage.rg.clone();
    let shell = || stage.world().command("sh");
    let mut replace = || {
        disk.settle()?;
        let (search, replace, start) = ours.replace_all()?;
        searches.push(search + replace);
        disk.drain()?;
        settled.push(start.elapsed());
        Ok(replace)
    };
    let mut sed_side = || {
        disk.settle()?;
        sed.by_shell(shell(), "sed -i s/OLD/NEW/ has-*.txt")
    };
    let mut synced_side = || {
        disk.settle()?;
        synced.by_shell(shell(), "sed -i s/OLD/NEW/ has-*.txt && sync has-*.txt .")
    };
    let mut rg_side = || {
        let Some(rg) = &rg else { return Ok(Duration::ZERO) };
        disk.settle()?;
        let line = format!("'{}' --no-config -l OLD | xargs sed -i s/OLD/NEW/", rg.display());
        rg_sed.by_shell(shell(), &line)
    };
    let samples =
        interleave(1, rounds, &mut [&mut replace, &mut sed_side, &mut rg_side, &mut synced_side])?;
    for tree in [&ours.tree, &sed, &synced] {
        tree.check()?;
    }
    let [replace, sed, rg_sed, synced] = &samples[..] else { anyhow::bail!("four sides") };
    // The first of each was the warm-up round.
    let (both, settled) = (Samples::new(searches.split_off(1)), Samples::new(settled.split_off(1)));
    let mut rows = vec![
        Row::time('c', "replace in 200 files, one call", replace.median())
            .against_time("sed -i", sed.median())
            .aim(Aim::Ratio(1.2))
            .note(DURABLE_NOTE)
            .note(REST_NOTE),
        Row::time('c', "the same against as durable a peer", replace.median())
            .against_time("sed -i && sync FILES", synced.median())
            .note("still neither atomic nor checked against changes in between"),
        Row::time('c', "the same until the journal is empty again", settled.median())
            .against_time("sed -i && sync FILES", synced.median())
            .note("the checkpoint rests 200 ms, then syncs in the background"),
    ];
    if rg.is_some() {
        rows.push(
            Row::time('c', "search and replace in 200 of 1,000 files", both.median())
                .against_time("rg -l | xargs sed -i", rg_sed.median())
                .note(DURABLE_NOTE),
        );
    }
    Ok(rows)
}

struct Ours {
    client: Client,
    tree: Tree,
}

impl Ours {
    fn new(stage: &Stage, tree: Tree) -> anyhow::Result<Self> {
        Ok(Self { client: stage.daemon().session(&tree.folder)?, tree })
    }

    /// Searches, then replaces what was found: the time of each, and when the replace began.
    fn replace_all(&mut self) -> anyhow::Result<(Duration, Duration, Instant)> {
        let (old, new) = self.tree.turn();
        let query = json!({"query": old, "caseSensitive": true});
        let (search, found) = self.client.timed_call("search", &query)?;
        let found = found.ok()?;
        let id =
            found.search_id().with_context(|| format!("no `SEARCH#` in {:.300}", found.text))?;
        let all = format!("{id}:all:match");
        let start = Instant::now();
        let (replace, answer) =
            self.client.timed_call("replace", &json!({"path": all, "text": new}))?;
        answer.ok()?;
        Ok((search, replace, start))
    }
}

/// 1,000 small files, 200 of which hold the word of the moment.
struct Tree {
    folder: PathBuf,
    rounds: usize,
}

impl Tree {
    fn new(stage: &Stage, name: &str) -> anyhow::Result<Self> {
        let folder = stage.folder(name)?;
        for number in 0..FILES {
            std::fs::write(folder.join(format!("has-{number:03}.txt")), text(number, WORDS[0]))?;
        }
        for number in 0..OTHERS {
            std::fs::write(folder.join(format!("not-{number:03}.txt")), text(number, "nothing"))?;
        }
        Ok(Self { folder, rounds: 0 })
    }

    /// The word to look for and the one to put in its place.
    fn turn(&mut self) -> (&'static str, &'static str) {
        let old = self.rounds % 2;
        self.rounds += 1;
        (WORDS[old], WORDS[1 - old])
    }

    fn by_shell(&mut self, shell: std::process::Command, line: &str) -> anyhow::Result<Duration> {
        let (old, new) = self.turn();
        peer::shell(shell, &self.folder, &line.replace("OLD", old).replace("NEW", new))
    }

    fn check(&self) -> anyhow::Result<()> {
        let word = WORDS[self.rounds % 2];
        for number in 0..FILES {
            let path = self.folder.join(format!("has-{number:03}.txt"));
            check_file(&path, &text(number, word))?;
        }
        Ok(())
    }
}

fn check_file(path: &Path, expected: &str) -> anyhow::Result<()> {
    let text = std::fs::read_to_string(path)?;
    ensure!(text == expected, "`{}` is not what it should be", path.display());
    Ok(())
}

/// One small source-like file; the word once on each of some lines, as `s/x/y/` replaces one.
fn text(number: usize, word: &str) -> String {
    let mut text = String::new();
    for line in 0..LINES {
        let word = if line % (LINES / HITS) == 7 { word } else { "ordinary" };
        let _ = writeln!(text, "    let value_{line} = call_{number}({word}, {line});");
    }
    text
}
