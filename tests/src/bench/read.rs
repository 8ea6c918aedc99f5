//! (a) `read` of 200 lines out of a 500,000-line file over the socket, against `pread`.

use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::ensure;
use protocol::mcp::CallToolResult;
use protocol::names::method;
use serde_json::{Value, json};

use super::{Aim, Measure, Row, Samples, Stage, interrupt};
use crate::client::{Client, tool_call};

const LINES: usize = 500_000;
const WINDOW: usize = 200;

/// What a warm read may take at the median.
const AIM: Aim = Aim::Below(Measure::Time(Duration::from_micros(300)));

/// How much the slowest place may differ from the fastest before it counts as "depends on the
/// offset": what two medians of the same thing differ on a shared machine.
const SPREAD: Aim = Aim::Ratio(1.25);

const FILE: &str = "long.txt";

/// Reads at the start, in the middle, at the end and at random places.
///
/// # Errors
/// A read fails or shows the wrong lines.
pub fn run(stage: &mut Stage) -> anyhow::Result<Vec<Row>> {
    let folder = stage.folder("read")?;
    let starts = write_file(&folder.join(FILE))?;
    let mut bench = Bench {
        client: stage.daemon().session(&folder)?,
        file: File::open(folder.join(FILE))?,
        starts,
        seed: 1,
    };
    let (first, _) = bench.ours(LINES / 3, None)?;
    let rounds = stage.pick(2_000, 200);
    let places = [
        ("start", Some(1)),
        ("middle", Some(LINES / 2)),
        ("end", Some(LINES - WINDOW + 1)),
        ("random places", None),
    ];
    let mut times = vec![(Vec::new(), Vec::new()); places.len()];
    for _ in 0..rounds {
        interrupt::check()?;
        for ((_, place), (ours, peer)) in places.iter().zip(&mut times) {
            let line = place.unwrap_or_else(|| bench.random_line());
            ours.push(bench.ours(line, None)?.0);
            peer.push(bench.pread(line)?);
        }
    }
    let samples: Vec<(Samples, Samples)> =
        times.into_iter().map(|(ours, peer)| (Samples::new(ours), Samples::new(peer))).collect();
    let mut rows = Vec::new();
    for ((name, _), (ours, peer)) in places.iter().zip(&samples) {
        rows.push(
            Row::time('a', format!("read 200 of 500,000 lines, {name}: p50"), ours.median())
                .against_time("pread", peer.median())
                .aim(AIM),
        );
        rows.push(
            Row::time('a', format!("read 200 of 500,000 lines, {name}: p99"), ours.percentile(99))
                .against_time("pread", peer.percentile(99)),
        );
    }
    let medians = samples.iter().map(|(ours, _)| ours.median());
    let (slowest, fastest) =
        (medians.clone().max().unwrap_or_default(), medians.min().unwrap_or_default());
    rows.push(
        Row::time('a', "slowest place against the fastest: p50", slowest)
            .against_time("fastest place", fastest)
            .aim(SPREAD),
    );
    rows.push(bench.anchored(rounds)?);
    rows.push(
        Row::time('a', "the very first read of that file", first)
            .note("decodes, indexes and keeps the whole file"),
    );
    Ok(rows)
}

struct Bench {
    client: Client,
    file: File,
    /// Where each line starts, and the file's length at the end.
    starts: Vec<usize>,
    seed: u64,
}

impl Bench {
    /// One read over the socket, checked after the clock has stopped; and what it showed.
    fn ours(&mut self, line: usize, view: Option<&str>) -> anyhow::Result<(Duration, String)> {
        let mut arguments = json!({"path": FILE, "offset": line, "limit": WINDOW});
        if let Some(view) = view {
            arguments["views"] = Value::from(vec![view]);
        }
        let request = self.client.prepare(method::TOOLS_CALL, &tool_call("read", &arguments))?;
        let took = self.client.timed(&request)?;
        let result: CallToolResult = self.client.decode(&request)?;
        let text = result.text();
        for shown in [line, line + WINDOW - 1] {
            ensure!(text.contains(&marker(shown)), "line {shown} is missing in: {text:.300}");
        }
        Ok((took, text))
    }

    /// The same bytes by one system call, from a file that is open already.
    fn pread(&self, line: usize) -> anyhow::Result<Duration> {
        let (from, to) = (self.starts[line - 1], self.starts[line - 1 + WINDOW]);
        let mut buffer = vec![0; to - from];
        let start = Instant::now();
        self.file.read_exact_at(&mut buffer, from as u64)?;
        let took = start.elapsed();
        std::hint::black_box(&buffer);
        Ok(took)
    }

    /// Reads with anchors, as an agent does that is going to edit.
    fn anchored(&mut self, rounds: usize) -> anyhow::Result<Row> {
        let (mut ours, mut peer) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            let line = self.random_line();
            ours.push(self.ours(line, Some("anchors"))?.0);
            peer.push(self.pread(line)?);
        }
        Ok(Row::time('a', "with anchors, random places: p50", Samples::new(ours).median())
            .against_time("pread", Samples::new(peer).median())
            .aim(AIM))
    }

    /// A line that a window can start at. Always the same sequence.
    fn random_line(&mut self) -> usize {
        self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        // Fits: the remainder is below the number of lines.
        (self.seed >> 33) as usize % (LINES - WINDOW) + 1
    }
}

/// What a line says about itself.
fn marker(line: usize) -> String {
    format!("line {line:06} ")
}

/// Lines of 40 to 110 bytes, so that no place can be computed from its number.
fn write_file(path: &Path) -> anyhow::Result<Vec<usize>> {
    let mut text = Vec::new();
    let mut starts = Vec::with_capacity(LINES + 1);
    for line in 1..=LINES {
        starts.push(text.len());
        let width = 28 + line.wrapping_mul(2_654_435_761) % 71;
        writeln!(text, "{}{:x<width$}", marker(line), "")?;
    }
    starts.push(text.len());
    std::fs::write(path, &text)?;
    Ok(starts)
}
