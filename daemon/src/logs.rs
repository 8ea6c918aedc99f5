//! The daemon's log: `daemon.log` in the state folder, bounded and rotated.
//!
//! `CAPSTAN_LOG` sets the level, globally or per target (`debug`, `info,daemon::server=trace`).
//! Events carry names, codes, counts and times; never file content, arguments or secrets. A panic
//! is logged by its place only, as its message may quote content.

use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal as _, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::lifecycle::StartError;
use crate::limits::{MAX_LOG_BYTES, OLD_LOGS};
use crate::paths::make_private_dir;

/// The environment variable with the level.
pub const LEVEL_VARIABLE: &str = "CAPSTAN_LOG";

/// The log file in a log folder.
pub fn file(folder: &Path) -> PathBuf {
    folder.join("daemon.log")
}

/// The file that takes the daemon's standard error: what keeps it from starting, and crashes.
pub fn report_file(folder: &Path) -> PathBuf {
    folder.join("daemon.stderr")
}

/// Starts logging into `folder`; with `mirror` also to standard error when that is a terminal.
/// Called once, by the process that holds the daemon's lock.
///
/// # Errors
/// When the log file can't be opened.
pub fn start(folder: &Path, mirror: bool) -> Result<(), StartError> {
    make_private_dir(folder, false)?;
    let path = file(folder);
    let log = Rotating::open(path.clone(), MAX_LOG_BYTES)
        .map_err(|source| StartError::Log { path, source })?;
    let level = std::env::var(LEVEL_VARIABLE).unwrap_or_default();
    let wanted = (!level.is_empty()).then(|| level.parse().ok()).flatten();
    let filter = || wanted.clone().unwrap_or_else(default_filter);
    let to_file = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(Mutex::new(log));
    let to_terminal = (mirror && io::stderr().is_terminal()).then(|| {
        tracing_subscriber::fmt::layer()
            .with_target(false)
            .with_writer(io::stderr)
            .with_filter(filter())
    });
    // It fails only when logging has been started before, as in tests.
    let _ = tracing_subscriber::registry()
        .with(to_file.with_filter(filter()))
        .with(to_terminal)
        .try_init();
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        let thread = std::thread::current().name().unwrap_or("unnamed").to_owned();
        tracing::error!(place, thread, "a thread panicked");
    }));
    Ok(())
}

fn default_filter() -> Targets {
    Targets::new().with_default(LevelFilter::INFO)
}

/// A file that starts anew when it is full, keeping a few old ones.
struct Rotating {
    path: PathBuf,
    file: File,
    size: u64,
    bound: u64,
}

impl Rotating {
    fn open(path: PathBuf, bound: u64) -> io::Result<Self> {
        let file = append(&path)?;
        let size = file.metadata()?.len();
        Ok(Self { path, file, size, bound })
    }

    fn rotate(&mut self) -> io::Result<()> {
        for number in (1..=OLD_LOGS).rev() {
            let older = numbered(&self.path, number);
            let newer =
                if number == 1 { self.path.clone() } else { numbered(&self.path, number - 1) };
            match std::fs::rename(newer, older) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        self.file = append(&self.path)?;
        self.size = 0;
        Ok(())
    }
}

impl Write for Rotating {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // `tracing` hands over whole events, so no line is torn.
        if self.size > 0 && self.size + bytes.len() as u64 > self.bound && self.rotate().is_err() {
            // Without a new file the old one must not grow: the event is dropped.
            return Ok(bytes.len());
        }
        let count = self.file.write(bytes)?;
        self.size += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn append(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create(true).mode(0o600).open(path)
}

fn numbered(path: &Path, number: usize) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{number}"));
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_logs_are_kept_and_bounded() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("log");
        let mut log = Rotating::open(path.clone(), 10).unwrap();
        for event in 0..9 {
            log.write_all(format!("event {event}\n").as_bytes()).unwrap();
        }
        let read = |path: &Path| std::fs::read_to_string(path).unwrap();
        assert_eq!(read(&path), "event 8\n");
        assert_eq!(read(&numbered(&path, 1)), "event 7\n");
        assert_eq!(read(&numbered(&path, OLD_LOGS)), format!("event {}\n", 8 - OLD_LOGS));
        assert!(!numbered(&path, OLD_LOGS + 1).exists());
        assert!(Rotating::open(path, 10).unwrap().size > 0);
    }
}
