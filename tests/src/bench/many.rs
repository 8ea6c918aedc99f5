//! (c) One `replace` through `SEARCH#…:all:match` in 200 files, against `sed -i` on the same files.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use serde_json::json;

use super::repeat::{Arena, with_daemons};
use super::samples::Side;
use super::{Aim, Row, Samples, Stage, interleave, peer};
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

/// Replaces with and without the search that finds the places, with several daemons.
///
/// # Errors
/// A replace fails, or the files do not hold what they should afterwards.
pub fn run(stage: &mut Stage) -> anyhow::Result<Vec<Row>> {
    let (daemons, rounds) = (stage.pick(9, 3), stage.rounds(9, 3));
    let sides =
        with_daemons(stage, "many", daemons, |arena| compare(arena, stage.rg.as_deref(), rounds))?;
    let [replace, sed, synced, both, settled, rg_sed @ ..] = &sides[..] else {
        anyhow::bail!("five sides at least")
    };
    let mut rows = vec![
        replace
            .row('c', "replace in 200 files, one call", ("sed -i", sed))
            .aim(Aim::Ratio(1.2))
            .note(DURABLE_NOTE)
            .note(REST_NOTE),
        replace
            .row('c', "the same against as durable a peer", ("sed -i && sync FILES", synced))
            .note("still neither atomic nor checked against changes in between"),
        settled
            .row('c', "the same until the journal is empty again", ("sed -i && sync FILES", synced))
            .note("the checkpoint rests 200 ms, then syncs in the background"),
    ];
    if let [rg_sed] = rg_sed {
        let name = "search and replace in 200 of 1,000 files";
        rows.push(both.row('c', name, ("rg -l | xargs sed -i", rg_sed)).note(DURABLE_NOTE));
    }
    Ok(rows)
}

/// The times with one daemon: replace, sed, sed and sync, search and replace, replace until the
/// journal is empty, and rg with sed where there is an rg.
fn compare(arena: &Arena, rg: Option<&Path>, rounds: usize) -> anyhow::Result<Vec<Samples>> {
    let disk = &arena.disk;
    let tree = |name: &str| Tree::new(arena.folder(name)?);
    let mut ours = Ours::new(arena, tree("ours")?)?;
    let (mut sed, mut synced, mut rg_sed) = (tree("sed")?, tree("synced")?, tree("rg")?);
    let (mut both, mut settled) = (Vec::new(), Vec::new());
    let by_shell = |tree: &mut Tree, line: &str| {
        disk.settle()?;
        tree.by_shell(arena.world.command("sh"), line)
    };
    let mut replace_side = || {
        disk.settle()?;
        let (search, replace, start) = ours.replace_all()?;
        both.push(search + replace);
        disk.drain()?;
        settled.push(start.elapsed());
        Ok(replace)
    };
    let mut sed_side = || by_shell(&mut sed, "sed -i s/OLD/NEW/ has-*.txt");
    let mut synced_side =
        || by_shell(&mut synced, "sed -i s/OLD/NEW/ has-*.txt && sync has-*.txt .");
    let line =
        rg.map(|rg| format!("'{}' --no-config -l OLD | xargs sed -i s/OLD/NEW/", rg.display()));
    let mut rg_side = || by_shell(&mut rg_sed, line.as_deref().unwrap_or_default());
    let mut sides: Vec<Side<'_>> = vec![&mut replace_side, &mut sed_side, &mut synced_side];
    if rg.is_some() {
        sides.push(&mut rg_side);
    }
    let mut samples = interleave(1, rounds, &mut sides)?;
    // The first of each was the warm-up round.
    samples.insert(3, Samples::new(both.split_off(1)));
    samples.insert(4, Samples::new(settled.split_off(1)));
    for tree in [&ours.tree, &sed, &synced, &rg_sed] {
        tree.check()?;
    }
    Ok(samples)
}

struct Ours {
    client: Client,
    tree: Tree,
}

impl Ours {
    fn new(arena: &Arena, tree: Tree) -> anyhow::Result<Self> {
        Ok(Self { client: arena.daemon.session(&tree.folder)?, tree })
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
    fn new(folder: PathBuf) -> anyhow::Result<Self> {
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
