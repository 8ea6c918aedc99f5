//! The programs that we are compared with: finding them, and running them to their end.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};

use super::machine;

/// The oldest ripgrep that counts as a peer.
const OLDEST_RIPGREP: u32 = 14;

/// Exit codes that mean that a program did its work: grep-like ones say 1 for "no match".
const DONE: [i32; 2] = [0, 1];

/// ripgrep, from `RG` or `PATH`, unless it is too old.
pub fn ripgrep() -> Option<PathBuf> {
    let named = std::env::var_os("RG").filter(|value| !value.is_empty());
    let path = PathBuf::from(named.unwrap_or_else(|| "rg".into()));
    let version = machine::version(&path)?;
    let number = version.split_whitespace().nth(1)?;
    let major: u32 = number.split('.').next()?.parse().ok()?;
    (major >= OLDEST_RIPGREP).then_some(path)
}

/// Runs a program to its end and reads all that it writes to its standard output through a pipe.
/// The time is from before the spawn until it has been waited for.
///
/// # Errors
/// It can't be run, or says that it failed.
pub fn run(mut command: Command) -> anyhow::Result<(Duration, Vec<u8>)> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    let mut output = Vec::new();
    let start = Instant::now();
    let mut child = command.spawn().with_context(|| format!("could not run {command:?}"))?;
    if let Some(mut pipe) = child.stdout.take() {
        pipe.read_to_end(&mut output)?;
    }
    let status = child.wait()?;
    let took = start.elapsed();
    ensure!(status.code().is_some_and(|code| DONE.contains(&code)), "{command:?}: {status}");
    Ok((took, output))
}

/// A shell command line in a folder, timed like [`run`]. The shell is a part of the time, as it is
/// when a person types the line.
///
/// # Errors
/// As [`run`].
pub fn shell(mut shell: Command, folder: &Path, line: &str) -> anyhow::Result<Duration> {
    shell.args(["-c", line]).current_dir(folder);
    run(shell).map(|(took, _)| took)
}
