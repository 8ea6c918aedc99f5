//! Starting the real binary in a home of its own, and ending it by its process id.

use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use tempfile::TempDir;

use crate::client::Client;

/// How long a daemon that was told to end may take before it is killed.
const STOP_TIMEOUT: Duration = Duration::from_secs(15);

/// How often it is looked whether it has ended.
const STOP_POLL: Duration = Duration::from_millis(2);

/// A private HOME with its XDG folders and a socket of its own. Removed when dropped.
#[derive(Debug)]
pub struct World {
    home: TempDir,
    /// Apart from `home`: a socket path has to be short.
    socket: TempDir,
    binary: PathBuf,
}

impl World {
    /// A new world below `parent`, for the binary that [`binary`] finds.
    ///
    /// # Errors
    /// There is no binary, or no folder could be made.
    pub fn new(parent: &Path) -> anyhow::Result<Self> {
        Ok(Self {
            home: TempDir::with_prefix_in("home-", parent)?,
            socket: TempDir::with_prefix("cap-")?,
            binary: binary()?,
        })
    }

    /// The private home.
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// Where the daemon of this world keeps what outlives it.
    pub fn state_dir(&self) -> PathBuf {
        self.home().join("state/capstan")
    }

    /// Where the daemon of this world listens.
    pub fn socket(&self) -> PathBuf {
        self.socket.path().join("daemon.sock")
    }

    /// The `capstan` binary that runs in this world.
    pub fn binary(&self) -> &Path {
        &self.binary
    }

    /// A command that sees this world and nothing of the user's, but for `PATH`.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let home = self.home.path();
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("LC_ALL", "C.UTF-8")
            .env("HOME", home)
            .env("XDG_CONFIG_HOME", home.join("config"))
            .env("XDG_STATE_HOME", home.join("state"))
            .env("XDG_CACHE_HOME", home.join("cache"))
            .env("XDG_RUNTIME_DIR", self.socket.path())
            .env("CAPSTAN_SOCKET", self.socket());
        command
    }

    /// A command that runs `capstan` as a user would.
    pub fn capstan(&self) -> Command {
        self.command(&self.binary)
    }

    /// Starts the daemon and waits until it says that it listens.
    ///
    /// # Errors
    /// It could not be started or ended before it was ready; its standard error is quoted.
    pub fn start(&self) -> anyhow::Result<Daemon> {
        Daemon::start(self)
    }
}

/// A running daemon, ended when dropped.
#[derive(Debug)]
pub struct Daemon {
    child: Child,
    socket: PathBuf,
    ready_after: Duration,
}

impl Daemon {
    fn start(world: &World) -> anyhow::Result<Self> {
        let report = world.home().join("daemon.stderr");
        let mut command = world.capstan();
        command
            .args(["daemon", "--background"])
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::create(&report)?);
        let start = Instant::now();
        let mut child = command
            .spawn()
            .with_context(|| format!("could not run `{}`", world.binary().display()))?;
        let output = child.stdout.take().context("its output is a pipe")?;
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        let ready_after = start.elapsed();
        if line != "ready\n" {
            let _ = child.kill();
            let status = child.wait()?;
            let report = std::fs::read_to_string(&report).unwrap_or_default();
            bail!("the daemon ended before it was ready ({status}): {line}{report}");
        }
        Ok(Self { child, socket: world.socket(), ready_after })
    }

    /// Time from the spawn to the line that says that clients can connect.
    pub fn ready_after(&self) -> Duration {
        self.ready_after
    }

    /// Where it listens.
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// A connection without a session.
    ///
    /// # Errors
    /// The daemon is gone.
    pub fn connect(&self) -> anyhow::Result<Client> {
        Client::connect(&self.socket)
    }

    /// A connection with a session.
    ///
    /// # Errors
    /// The daemon is gone or refuses the root.
    pub fn session(&self, root: &Path) -> anyhow::Result<Client> {
        Client::open(&self.socket, root)
    }

    /// What the system says of its memory.
    ///
    /// # Errors
    /// The process is gone.
    pub fn memory(&self) -> anyhow::Result<Memory> {
        Memory::of(self.child.id())
    }

    /// Ends it as a service manager would, and waits until it has ended.
    ///
    /// # Errors
    /// It had to be killed.
    pub fn stop(mut self) -> anyhow::Result<()> {
        ensure!(self.end(), "the daemon did not end within {STOP_TIMEOUT:?} of SIGTERM");
        Ok(())
    }

    /// Whether it ended by itself after SIGTERM.
    fn end(&mut self) -> bool {
        if matches!(self.child.try_wait(), Ok(Some(_))) {
            return true;
        }
        if let Some(pid) = rustix::process::Pid::from_raw(self.child.id().cast_signed()) {
            // It may have ended this very moment.
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        }
        let deadline = Instant::now() + STOP_TIMEOUT;
        while Instant::now() < deadline {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                return true;
            }
            std::thread::sleep(STOP_POLL);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
        false
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.end();
    }
}

/// Resident memory of a process, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Now.
    pub resident: u64,
    /// The most it has had.
    pub peak: u64,
}

impl Memory {
    fn of(pid: u32) -> anyhow::Result<Self> {
        let path = format!("/proc/{pid}/status");
        let status = std::fs::read_to_string(&path).with_context(|| format!("reading `{path}`"))?;
        let field = |name: &str| kibibytes(&status, name).with_context(|| format!("no `{name}`"));
        Ok(Self { resident: field("VmRSS:")? * 1024, peak: field("VmHWM:")? * 1024 })
    }
}

fn kibibytes(status: &str, name: &str) -> Option<u64> {
    let rest = status.lines().find_map(|line| line.strip_prefix(name))?;
    rest.trim().strip_suffix("kB")?.trim().parse().ok()
}

/// The `capstan` binary: `CAPSTAN_BIN`, else the one that cargo built beside this program.
///
/// # Errors
/// There is none; the message says how to build it.
pub fn binary() -> anyhow::Result<PathBuf> {
    if let Some(named) = std::env::var_os("CAPSTAN_BIN").filter(|value| !value.is_empty()) {
        let path = std::path::absolute(PathBuf::from(named))?;
        ensure!(path.is_file(), "`CAPSTAN_BIN` names `{}`, which is no file", path.display());
        return Ok(path);
    }
    let own = std::env::current_exe()?;
    // A test lies in `target/PROFILE/deps`, a bench in `target/PROFILE`.
    let near = own.ancestors().skip(1).take(2).map(|folder| folder.join(name()));
    near.into_iter().find(|path| path.is_file()).with_context(|| {
        format!(
            "no `capstan` beside `{}`; build it (`cargo build -p daemon`, with the same profile) \
             or set `CAPSTAN_BIN`",
            own.display()
        )
    })
}

fn name() -> OsString {
    OsString::from(format!("capstan{}", std::env::consts::EXE_SUFFIX))
}
