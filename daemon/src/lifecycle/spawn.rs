//! The client's side of a start: spawn the daemon, hear that it is ready, or say why not.
//!
//! Of many clients that find no daemon only the one that holds the start lock spawns one; the
//! others wait until they can connect.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use super::connect::connect;
use super::lock::Lock;
use super::{READY_LINE, StartError};
use crate::client::wait::readable;
use crate::limits::{LOCK_POLL, MAX_START_REPORT_BYTES, START_TIMEOUT};
use crate::logs;
use crate::paths::{Paths, make_private_dir};

/// Connects to the daemon, starting it with these flags of `capstan daemon` when it is not up.
///
/// # Errors
/// [`StartError`]: the folder is not private, the daemon could not be started, or was not ready
/// within [`START_TIMEOUT`].
pub fn connect_or_start(paths: &Paths, flags: &[String]) -> Result<UnixStream, StartError> {
    if let Some(stream) = connect(paths)? {
        return Ok(stream);
    }
    make_private_dir(paths.socket_dir(), paths.own_socket_dir)?;
    let deadline = Instant::now() + START_TIMEOUT;
    let start_lock = paths.start_lock_file();
    while Instant::now() < deadline {
        let failed = |source| StartError::Lock { path: start_lock.clone(), source };
        if let Some(_starting) = Lock::try_take(&start_lock).map_err(failed)? {
            // Somebody may have finished just before we got the lock.
            if let Some(stream) = connect(paths)? {
                return Ok(stream);
            }
            start(paths, flags, deadline)?;
        }
        if let Some(stream) = connect(paths)? {
            return Ok(stream);
        }
        std::thread::sleep(LOCK_POLL);
    }
    Err(StartError::TimedOut { waited: START_TIMEOUT, log: logs::file(&paths.log_dir()) })
}

/// Spawns a daemon and waits until it listens, or finds that another one does.
fn start(paths: &Paths, flags: &[String], deadline: Instant) -> Result<(), StartError> {
    let log_dir = paths.log_dir();
    make_private_dir(&log_dir, false)?;
    let (report, start_of_report) = open_report(&log_dir)?;
    let mut child = command(&report, flags)?.spawn().map_err(StartError::Spawn)?;
    let ready = wait_until_ready(&mut child, deadline)?;
    if ready {
        return Ok(());
    }
    let status = child.wait().map_err(StartError::Spawn)?;
    Err(StartError::Died { status, report: tail(report, start_of_report) })
}

fn command(report: &File, flags: &[String]) -> Result<Command, StartError> {
    let mut command = Command::new(own_executable());
    command
        .arg0("capstan")
        .args(["daemon", "--background"])
        .args(flags)
        // It must not keep the caller's folder busy.
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(report.try_clone().map_err(StartError::Spawn)?);
    Ok(command)
}

/// This very program, even when its file has been replaced since it was started.
fn own_executable() -> PathBuf {
    match std::env::current_exe() {
        Ok(path) if path.exists() => path,
        _ => PathBuf::from("/proc/self/exe"),
    }
}

/// Whether the child said that it is ready; `false` when it closed its output before.
fn wait_until_ready(child: &mut Child, deadline: Instant) -> Result<bool, StartError> {
    let Some(mut output) = child.stdout.take() else { return Ok(false) };
    let mut heard = Vec::new();
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if !readable(&output, left).map_err(StartError::Spawn)? {
            // Nothing heard: it is of no use to anybody.
            let _ = child.kill();
            let _ = child.wait();
            return Ok(false);
        }
        let mut buffer = [0; 64];
        let count = output.read(&mut buffer).map_err(StartError::Spawn)?;
        if count == 0 {
            return Ok(false);
        }
        heard.extend_from_slice(&buffer[..count]);
        if heard.ends_with(READY_LINE.as_bytes()) {
            return Ok(true);
        }
    }
}

/// The file that takes what the daemon writes to its standard error, and where it ends now.
fn open_report(log_dir: &Path) -> Result<(File, u64), StartError> {
    let path = logs::report_file(log_dir);
    let failed = |source| StartError::Log { path: path.clone(), source };
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true).mode(0o600);
    let mut file = options.open(&path).map_err(failed)?;
    // Only crashes are written here, so it grows slowly; it is emptied before it gets big.
    if file.metadata().map_err(failed)?.len() > crate::limits::MAX_LOG_BYTES {
        file.set_len(0).map_err(failed)?;
    }
    let end = file.seek(SeekFrom::End(0)).map_err(failed)?;
    Ok((file, end))
}

/// What was written behind `start`, the last of it if it is long.
fn tail(mut file: File, start: u64) -> String {
    let mut bytes = Vec::new();
    if file.seek(SeekFrom::Start(start)).is_ok() {
        let _ = file.take(crate::limits::MAX_LOG_BYTES).read_to_end(&mut bytes);
    }
    let from = bytes.len().saturating_sub(MAX_START_REPORT_BYTES);
    String::from_utf8_lossy(&bytes[from..]).trim().to_owned()
}
