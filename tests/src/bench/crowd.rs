//! (f) 64 clients at once, each with a session of its own, against one client alone.
//!
//! Two loads. *Paced*: every client makes a call every half second, as a busy agent does at most
//! (128 calls a second in all), at times spread evenly over the half second; a call's time is that
//! of its round trip, and calls that had to start late because the one before took too long are
//! counted and told. *Closed loop*: every client calls again as soon as it has its answer, which
//! saturates the machine: times then measure the queue, so nothing is aimed at; the rate is told.

use std::path::{Path, PathBuf};
use std::sync::Barrier;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use serde_json::json;

use super::{Aim, Disk, Measure, Row, Samples, Stage, interrupt};
use load::{KINDS, Kind, Tally, Worker};

mod load;

const CLIENTS: usize = 64;

/// Time between two calls of one paced client.
const PACE: Duration = Duration::from_millis(500);

/// Time between two calls of the client that is alone. Short, so that there are enough calls to
/// tell a p99; long enough that each finds an idle daemon.
const SOLO_PACE: Duration = Duration::from_millis(10);

/// The slowest call of the crowd against the p99 of the client that is alone.
const AIM: Aim = Aim::Ratio(10.0);

/// Runs one client alone, then the paced crowd, then the crowd in a closed loop.
///
/// # Errors
/// A call fails.
pub fn run(stage: &mut Stage) -> anyhow::Result<Vec<Row>> {
    let folder = stage.folder("crowd")?;
    load::write_files(&folder, CLIENTS)?;
    let socket = stage.daemon().socket().to_owned();
    let crowd =
        |clients, pace, calls| Crowd { socket: &socket, folder: &folder, clients, pace, calls };
    // The first calls fill caches; every load after it is warm.
    crowd(CLIENTS, None, 12).run()?;
    Disk::of(stage.world(), stage.work())?.settle()?;
    let solo = crowd(1, Some(SOLO_PACE), stage.pick(1_200, 300)).run()?;
    stage.say("   paced crowd");
    let paced = crowd(CLIENTS, Some(PACE), stage.pick(48, 12)).run()?;
    stage.say("   closed loop");
    let closed = crowd(CLIENTS, None, stage.pick(60, 18)).run()?;
    let mut rows = Vec::new();
    for kind in KINDS {
        let (alone, together) = (solo.tally.samples(kind), paced.tally.samples(kind));
        rows.extend(paced_rows(kind, &alone, &together, paced.tally.late));
    }
    for kind in KINDS {
        let (alone, together) = (solo.tally.samples(kind), closed.tally.samples(kind));
        rows.push(
            Row::time(
                'f',
                format!("{kind}, 64 clients, closed loop: p99"),
                together.percentile(99),
            )
            .against_time("alone, p99", alone.percentile(99))
            .note(closed.describe()),
        );
    }
    Ok(rows)
}

fn paced_rows(kind: Kind, alone: &Samples, together: &Samples, late: usize) -> Vec<Row> {
    let pace = format!(
        "reads, searches and replaces as 3 : 2 : 1; one call per client every {} ms at evenly \
         spread times, alone every {} ms; {late} calls started late; \
         the clients run on the same cores as the daemon",
        PACE.as_millis(),
        SOLO_PACE.as_millis()
    );
    let row = |what: &str, ours, peer: (&str, Duration)| {
        Row::time('f', format!("{kind}, 64 paced clients: {what}"), ours)
            .against_time(peer.0, peer.1)
            .note(&pace)
    };
    let p99 = ("alone, p99", alone.percentile(99));
    vec![
        row("p50", together.median(), ("alone, p50", alone.median())),
        row("p99", together.percentile(99), p99),
        row(&format!("slowest of {}", together.count()), together.max(), p99).aim(AIM),
    ]
}

/// Some clients that make the same mix of calls at the same time.
struct Crowd<'a> {
    socket: &'a Path,
    folder: &'a PathBuf,
    clients: usize,
    /// Time between two calls of a client; `None` is a closed loop.
    pace: Option<Duration>,
    /// Calls per client.
    calls: usize,
}

/// What a crowd measured.
struct Outcome {
    tally: Tally,
    took: Duration,
}

impl Outcome {
    fn describe(&self) -> String {
        let rate = self.tally.count() as f64 / self.took.as_secs_f64();
        format!(
            "closed loop: {} in all, {rate:.0} calls per second; the times are mostly waiting",
            Measure::Count(self.tally.count() as u64)
        )
    }
}

impl Crowd<'_> {
    fn run(&self) -> anyhow::Result<Outcome> {
        let ready = Barrier::new(self.clients);
        let workers = (0..self.clients).map(|number| Worker::new(self.socket, self.folder, number));
        let workers: Vec<Worker> = workers.collect::<anyhow::Result<_>>()?;
        std::thread::scope(|scope| {
            let threads: Vec<_> = workers
                .into_iter()
                .map(|worker| scope.spawn(|| self.work(worker, &ready)))
                .collect();
            let mut outcome = Outcome { tally: Tally::default(), took: Duration::ZERO };
            for thread in threads {
                let (tally, took) =
                    thread.join().ok().context("a client panicked")?.context("a client failed")?;
                outcome.tally.add(tally);
                outcome.took = outcome.took.max(took);
            }
            Ok(outcome)
        })
    }

    fn work(&self, mut worker: Worker, ready: &Barrier) -> anyhow::Result<(Tally, Duration)> {
        let mut tally = Tally::default();
        ready.wait();
        let start = Instant::now();
        let share = worker.number as f64 / self.clients as f64;
        for call in 0..self.calls {
            interrupt::check()?;
            if let Some(pace) = self.pace {
                let due = pace.mul_f64(share) + pace * u32::try_from(call)?;
                match due.checked_sub(start.elapsed()) {
                    Some(left) => std::thread::sleep(left),
                    None => tally.late += 1,
                }
            }
            let kind = Kind::of_call(call + worker.number);
            tally.push(kind, worker.call(kind)?);
        }
        Ok((tally, start.elapsed()))
    }
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (name, about) = self.describe();
        write!(f, "{name} ({about})")
    }
}

/// The arguments of a call, apart from the load itself.
fn arguments(kind: Kind, number: usize, turn: usize) -> serde_json::Value {
    match kind {
        Kind::Read => {
            let offset = turn * 977 % (load::LONG_LINES - load::WINDOW) + 1;
            json!({"path": load::LONG, "offset": offset, "limit": load::WINDOW})
        }
        Kind::Search => {
            json!({"query": load::NEEDLE, "path": load::SMALL, "caseSensitive": true})
        }
        Kind::Replace => json!({
            "path": load::own_file(number), "start": load::counter(turn),
            "text": load::counter(turn + 1),
        }),
    }
}
