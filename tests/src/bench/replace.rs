//! (b) One line replaced in a 20 MB file, against copying that file and syncing the copy.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use serde_json::json;

use super::repeat::{Arena, with_daemons};
use super::{Aim, Row, Samples, Stage, interleave};
use crate::client::Client;

const LINE_BYTES: usize = 80;
const LINES: usize = 20_000_000 / LINE_BYTES;
/// The line that is replaced: in the middle.
const TARGET: usize = LINES / 2;

const FILE: &str = "big.txt";

/// Replaces by anchor and by exact text, with several daemons.
///
/// # Errors
/// A replace fails, or the file does not hold what it should afterwards.
pub fn run(stage: &mut Stage) -> anyhow::Result<Vec<Row>> {
    let (daemons, rounds) = (stage.pick(7, 3), stage.rounds(7, 3));
    let sides = with_daemons(stage, "replace", daemons, |arena| compare(arena, rounds))?;
    let [anchor, copy, text, durable] = &sides[..] else { anyhow::bail!("four sides") };
    Ok(vec![
        anchor
            .row('b', "replace a line of 20 MB, by its anchor", ("copy + fsync", copy))
            .aim(Aim::Ratio(1.5)),
        text.row('b', "replace a line of 20 MB, by exact text", ("copy + fsync", copy))
            .aim(Aim::Ratio(1.5))
            .note("looking through the whole file for a second occurrence is included"),
        anchor
            .row(
                'b',
                "the same against a copy that replaces",
                ("copy, fsync, rename, fsync folder", durable),
            )
            .note("what a durable replacement needs at least, without a journal"),
    ])
}

/// The times with one daemon: by anchor, copy, by text, durable copy.
fn compare(arena: &Arena, rounds: usize) -> anyhow::Result<Vec<Samples>> {
    let mut by_anchor = Editor::new(arena, arena.folder("anchor")?)?;
    let mut by_text = Editor::new(arena, arena.folder("text")?)?;
    let source = by_anchor.folder.join(FILE);
    let rested = |run: &mut dyn FnMut() -> anyhow::Result<Duration>| {
        arena.disk.settle()?;
        run()
    };
    let samples = interleave(
        1,
        rounds,
        &mut [
            &mut || rested(&mut || by_anchor.replace_by_anchor()),
            &mut || rested(&mut || copy_and_sync(&source)),
            &mut || rested(&mut || by_text.replace_by_text()),
            &mut || rested(&mut || copy_sync_and_rename(&source)),
        ],
    )?;
    by_anchor.check()?;
    by_text.check()?;
    Ok(samples)
}

struct Editor {
    client: Client,
    folder: PathBuf,
    /// How often the line has been replaced.
    edits: usize,
}

impl Editor {
    fn new(arena: &Arena, folder: PathBuf) -> anyhow::Result<Self> {
        write_file(&folder.join(FILE))?;
        Ok(Self { client: arena.daemon.session(&folder)?, folder, edits: 0 })
    }

    /// Reads the line for its anchor, which does not count, and replaces it.
    fn replace_by_anchor(&mut self) -> anyhow::Result<Duration> {
        let read = json!({"path": FILE, "offset": TARGET, "limit": 1, "views": ["anchors"]});
        let read = self.client.call("read", &read)?.ok()?;
        let old = target_text(self.edits);
        let anchor = read
            .anchor_of(&old)
            .with_context(|| format!("no anchor of `{old}` in {:.300}", read.text))?;
        self.replace(&format!("{TARGET}#"), anchor)
    }

    fn replace_by_text(&mut self) -> anyhow::Result<Duration> {
        let old = target_text(self.edits);
        self.replace("", &old)
    }

    fn replace(&mut self, expected: &str, start: &str) -> anyhow::Result<Duration> {
        ensure!(start.starts_with(expected), "`{start}` is no anchor of line {TARGET}");
        self.edits += 1;
        let replace = json!({"path": FILE, "start": start, "text": target_text(self.edits)});
        let (took, answer) = self.client.timed_call("replace", &replace)?;
        answer.ok()?;
        Ok(took)
    }

    /// Whether the file is what the edits should have made of it.
    fn check(&self) -> anyhow::Result<()> {
        let text = std::fs::read_to_string(self.folder.join(FILE))?;
        ensure!(text.len() == LINES * LINE_BYTES, "the file has {} bytes", text.len());
        let line = text.lines().nth(TARGET - 1);
        ensure!(line == Some(&target_text(self.edits)), "line {TARGET} is {line:?}");
        Ok(())
    }
}

fn copy_and_sync(source: &Path) -> anyhow::Result<Duration> {
    let copy = source.with_extension("copy");
    let start = Instant::now();
    std::fs::copy(source, &copy)?;
    File::open(&copy)?.sync_all()?;
    let took = start.elapsed();
    std::fs::remove_file(&copy)?;
    Ok(took)
}

fn copy_sync_and_rename(source: &Path) -> anyhow::Result<Duration> {
    let copy = source.with_extension("copy");
    let other = source.with_extension("other");
    let start = Instant::now();
    std::fs::copy(source, &copy)?;
    File::open(&copy)?.sync_all()?;
    std::fs::rename(&copy, &other)?;
    File::open(other.parent().context("a file is in a folder")?)?.sync_all()?;
    Ok(start.elapsed())
}

/// The target line after so many edits; always of the same length.
fn target_text(edits: usize) -> String {
    let width = LINE_BYTES - 1;
    let text = format!("the target line after {edits:06} edits ");
    format!("{text:.<width$}")
}

fn write_file(path: &Path) -> anyhow::Result<()> {
    let mut text = Vec::with_capacity(LINES * LINE_BYTES);
    let width = LINE_BYTES - 1;
    for line in 1..=LINES {
        let own = if line == TARGET { target_text(0) } else { format!("line {line} ") };
        writeln!(text, "{own:.<width$}")?;
    }
    let mut file = File::create(path)?;
    file.write_all(&text)?;
    file.sync_all()?;
    Ok(())
}
