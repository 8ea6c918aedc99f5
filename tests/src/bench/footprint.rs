//! (g) How soon the daemon is ready, and what memory it holds, idle and after the other benches.

use std::time::{Duration, Instant};

use super::{Aim, Measure, Row, Samples, Stage, interrupt, peer};
use crate::launch::World;

const IDLE: Aim = Aim::Below(Measure::Bytes(20 << 20));
const READY: Aim = Aim::Below(Measure::Time(Duration::from_millis(50)));

/// How long a daemon is left alone before its idle memory counts.
const SETTLE: Duration = Duration::from_secs(1);

/// Starts fresh daemons, then looks at the shared one.
///
/// # Errors
/// A daemon does not start, answer or end.
pub fn run(stage: &mut Stage) -> anyhow::Result<Vec<Row>> {
    let loaded = stage.daemon().memory()?;
    let mut starts = Starts::default();
    // One start to warm the page cache.
    for round in 0..=stage.rounds(21, 5) {
        interrupt::check()?;
        let start = Start::measure(stage)?;
        if round > 0 {
            starts.add(&start);
        }
    }
    let (fresh, settled) = idle(stage)?;
    let after = if stage.ran.is_empty() {
        "nothing".to_owned()
    } else {
        stage.ran.iter().map(char::to_string).collect::<Vec<_>>().join(", ")
    };
    let loaded_note = format!("the daemon that served, in this run, benches: {after}");
    Ok(vec![
        Row::time('g', "start: spawn until it says it is ready", median(starts.ready)).aim(READY),
        Row::time('g', "start: spawn until the first answer", median(starts.answered)),
        Row::time(
            'g',
            "start by the command line, which then lists the tools",
            median(starts.by_cli),
        ),
        Row::new('g', "idle memory, just started", Measure::Bytes(fresh)),
        Row::new('g', "idle memory after 1 s", Measure::Bytes(settled)).aim(IDLE),
        Row::new('g', "memory after the benches", Measure::Bytes(loaded.resident))
            .note(&loaded_note),
        Row::new('g', "most memory during the benches", Measure::Bytes(loaded.peak))
            .note(loaded_note),
    ])
}

fn median(times: Vec<Duration>) -> Duration {
    Samples::new(times).median()
}

#[derive(Default)]
struct Starts {
    ready: Vec<Duration>,
    answered: Vec<Duration>,
    by_cli: Vec<Duration>,
}

impl Starts {
    fn add(&mut self, start: &Start) {
        self.ready.push(start.ready);
        self.answered.push(start.answered);
        self.by_cli.push(start.by_cli);
    }
}

struct Start {
    ready: Duration,
    answered: Duration,
    by_cli: Duration,
}

impl Start {
    fn measure(stage: &Stage) -> anyhow::Result<Self> {
        let world = World::new(stage.work())?;
        let start = Instant::now();
        let daemon = world.start()?;
        daemon.connect()?.ping()?;
        let answered = start.elapsed();
        let ready = daemon.ready_after();
        daemon.stop()?;
        Ok(Self { ready, answered, by_cli: by_cli(&world)? })
    }
}

/// A command that finds no daemon: it starts one, asks it and prints.
fn by_cli(world: &World) -> anyhow::Result<Duration> {
    let mut tools = world.capstan();
    tools.arg("tools");
    let listed = peer::run(tools);
    let mut stop = world.capstan();
    stop.arg("stop");
    // Even when it could not be asked: it may be up all the same.
    let stopped = peer::run(stop);
    let (took, _) = listed?;
    stopped?;
    Ok(took)
}

/// Memory of a daemon that nobody has talked to: at once, and when it has settled.
fn idle(stage: &Stage) -> anyhow::Result<(u64, u64)> {
    let world = World::new(stage.work())?;
    let daemon = world.start()?;
    let fresh = daemon.memory()?.resident;
    std::thread::sleep(SETTLE);
    let settled = daemon.memory()?.resident;
    daemon.stop()?;
    Ok((fresh, settled))
}
