//! (e) The round trip of an empty call, against a process that only echoes as many bytes.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use protocol::names::method;
use serde_json::{Value, json};

use super::{Aim, Measure, Row, Samples, Stage, interrupt};

/// What a ping may take at the median.
const AIM: Aim = Aim::Below(Measure::Time(Duration::from_micros(60)));

/// The hidden argument with which the bench program becomes the echoing process.
pub const ECHO_ARGUMENT: &str = "--echo-server";

/// Pings and echoes in turn.
///
/// # Errors
/// One of the two does not answer.
pub fn run(stage: &mut Stage) -> anyhow::Result<Vec<Row>> {
    let folder = stage.folder("ping")?;
    let mut client = stage.daemon().session(&folder)?;
    client.ping()?;
    let request = client.prepare(method::PING, &json!({}))?;
    let reply_bytes = client.last_line_bytes();
    let mut echo = Echo::start(&stage.world().socket().with_extension("echo"), reply_bytes)?;
    let message = vec![b'x'; request.wire_bytes() - 1];
    let rounds = stage.pick(20_000, 2_000);
    let (mut ours, mut peer) = (Vec::with_capacity(rounds), Vec::with_capacity(rounds));
    for _ in 0..rounds {
        interrupt::check()?;
        let ping = client.prepare(method::PING, &json!({}))?;
        ours.push(client.timed(&ping)?);
        let _: Value = client.decode(&ping)?;
        peer.push(echo.round_trip(&message)?);
    }
    let (ours, peer) = (Samples::new(ours), Samples::new(peer));
    let note = "a process that reads a line and writes as many bytes back: blocking, no JSON, \
                no runtime; the limit of two processes on this machine";
    Ok(vec![
        Row::time('e', "empty call over the held socket: p50", ours.median())
            .against_time("bare echo process", peer.median())
            .aim(AIM)
            .note(note),
        Row::time('e', "empty call over the held socket: p99", ours.percentile(99))
            .against_time("bare echo process", peer.percentile(99))
            .note(note),
    ])
}

/// The echoing process and a connection to it.
struct Echo {
    child: Child,
    to: UnixStream,
    from: BufReader<UnixStream>,
    line: Vec<u8>,
}

impl Echo {
    fn start(socket: &Path, reply_bytes: usize) -> anyhow::Result<Self> {
        let mut child = Command::new(std::env::current_exe()?)
            .arg(ECHO_ARGUMENT)
            .arg(socket)
            .arg(reply_bytes.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut ready = [0; 1];
        let mut output = child.stdout.take().context("its output is a pipe")?;
        output.read_exact(&mut ready).context("waiting for the echoing process")?;
        let to = UnixStream::connect(socket)?;
        let from = BufReader::new(to.try_clone()?);
        Ok(Self { child, to, from, line: Vec::new() })
    }

    fn round_trip(&mut self, message: &[u8]) -> anyhow::Result<Duration> {
        let mut bytes = message.to_vec();
        bytes.push(b'\n');
        self.line.clear();
        let start = Instant::now();
        self.to.write_all(&bytes)?;
        let count = self.from.read_until(b'\n', &mut self.line)?;
        let took = start.elapsed();
        ensure!(count > 0, "the echoing process ended");
        Ok(took)
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        // It also ends by itself when the connection closes.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The echoing process: takes one connection and answers each line with one of `reply_bytes`.
///
/// # Errors
/// The socket can't be used.
pub fn serve_echo(socket: &Path, reply_bytes: usize) -> anyhow::Result<()> {
    let listener = UnixListener::bind(socket)?;
    std::io::stdout().write_all(b"\n")?;
    std::io::stdout().flush()?;
    let (mut to, _) = listener.accept()?;
    let mut from = BufReader::new(to.try_clone()?);
    let mut reply = vec![b'x'; reply_bytes.saturating_sub(1)];
    reply.push(b'\n');
    let mut line = Vec::new();
    while from.read_until(b'\n', &mut line)? > 0 {
        to.write_all(&reply)?;
        line.clear();
    }
    Ok(())
}
