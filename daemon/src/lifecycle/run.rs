//! The daemon's main function.

use std::io::{self, Write as _};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use protocol::capstan::Event;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tracing::{info, warn};

use super::lock::{self, Lock};
use super::socket::SocketFile;
use super::{READY_LINE, StartError, connect};
use crate::compose::Composed;
use crate::config::ConfigStore;
use crate::http::{self, Token};
use crate::limits::{
    CANCEL_GRACE, HOUSEKEEPING_INTERVAL, LOCK_POLL, LOCK_TIMEOUT, MAX_BLOCKING_THREADS,
};
use crate::logs;
use crate::paths::{Paths, make_private_dir};
use crate::server::{Phase, Server};
use crate::tool::ToolRegistry;

/// How long the socket is out of sight before an idle daemon ends, so that a client that connected
/// just before is served: one turn of the accept loop takes microseconds.
const LAST_CALL: Duration = Duration::from_millis(50);

/// How a daemon runs.
#[derive(Clone, Debug, Default)]
pub struct DaemonOptions {
    /// Started by a client: own session, no terminal, tells when it is ready.
    pub background: bool,
}

/// What the rest of the daemon is made of, given the places and the configuration.
pub type Compose = fn(&Paths, &Arc<ConfigStore>) -> anyhow::Result<Composed>;

/// Runs the daemon until it is told to stop, is idle for long enough, or can't be found any more.
///
/// # Errors
/// [`StartError`] for what keeps it from starting, or what the server broke on.
pub fn run(
    paths: &Paths,
    options: &DaemonOptions,
    config: &Arc<ConfigStore>,
    compose: Compose,
) -> anyhow::Result<()> {
    let started = Instant::now();
    if options.background {
        // It fails only for a process that leads its group already, which is as good.
        let _ = rustix::process::setsid();
    }
    make_private_dir(paths.socket_dir(), paths.own_socket_dir)?;
    let lock = match take_lock(paths) {
        // A client started us a moment too late; whom it looks for is there.
        Err(StartError::Running { .. }) if options.background => return announce(),
        outcome => outcome?,
    };
    make_private_dir(&paths.state_dir, false)?;
    logs::start(&paths.log_dir(), !options.background)?;
    // From here on clients can connect; they wait until the server takes them.
    let (listener, socket) = SocketFile::bind(paths, &lock)?;
    let Composed { parts, tools } = compose(paths, config)?;
    let server = Server::new(parts);
    follow_changes(config, &server, tools);
    let runtime = runtime()?;
    let house = Household { paths, config, socket: &socket, lock: &lock, server: &server };
    let served = runtime.block_on(async {
        let listener = tokio::net::UnixListener::from_std(listener)?;
        if let Some((listener, token)) = open_http(paths, config).await? {
            tokio::spawn(serve_http(Arc::clone(&server), listener, token));
        }
        if options.background {
            announce()?;
        }
        info!(
            version = env!("CARGO_PKG_VERSION"),
            pid = std::process::id(),
            elapsed_ms = started.elapsed().as_millis(),
            "ready"
        );
        house.serve(listener).await
    });
    // A call that ignores its cancellation must not keep the process.
    runtime.shutdown_timeout(CANCEL_GRACE);
    drop(socket);
    info!("ended");
    served
}

fn runtime() -> io::Result<tokio::runtime::Runtime> {
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(cores.clamp(2, 4))
        .max_blocking_threads(MAX_BLOCKING_THREADS)
        .thread_name("capstan")
        .enable_all()
        .build()
}

/// Becomes the only daemon. Waits for one that is about to end.
fn take_lock(paths: &Paths) -> Result<Lock, StartError> {
    let path = paths.lock_file();
    let failed = |source| StartError::Lock { path: path.clone(), source };
    let deadline = Instant::now() + LOCK_TIMEOUT;
    loop {
        if let Some(mut lock) = Lock::try_take(&path).map_err(failed)? {
            lock.sign().map_err(failed)?;
            return Ok(lock);
        }
        let pid = lock::holder(&path);
        if connect(paths)?.is_some() {
            return Err(StartError::Running { pid });
        }
        if Instant::now() > deadline {
            return Err(StartError::Held { pid, waited: LOCK_TIMEOUT });
        }
        std::thread::sleep(LOCK_POLL);
    }
}

/// Tells the client that started us, then lets go of the pipe.
fn announce() -> anyhow::Result<()> {
    // The client may have gone away meanwhile; others may come.
    let _ = io::stdout().write_all(READY_LINE.as_bytes()).and_then(|()| io::stdout().flush());
    let null = std::fs::OpenOptions::new().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdout(null)?;
    Ok(())
}

/// Opens the HTTP door when the configuration wants it.
async fn open_http(
    paths: &Paths,
    config: &ConfigStore,
) -> anyhow::Result<Option<(TcpListener, Token)>> {
    let Some(address) = config.current(None).daemon.http else { return Ok(None) };
    let listener = http::bind(address)
        .await
        .with_context(|| format!("could not listen at `{address}` for HTTP"))?;
    let token = paths.http_token();
    let token = Token::load(&token)
        .with_context(|| format!("could not use the HTTP token `{}`", token.display()))?;
    Ok(Some((listener, token)))
}

/// Tells subscribers when a configuration has changed, and lists the tools that are on from then.
fn follow_changes(
    config: &ConfigStore,
    server: &Arc<Server>,
    tools: Box<dyn Fn() -> ToolRegistry + Send + Sync>,
) {
    let server = Arc::downgrade(server);
    config.listen(Box::new(move |config| {
        let problems = config.problems.len();
        let Some(server) = server.upgrade() else { return };
        server.events().publish(|| Event::ConfigReloaded { problems });
        let now = tools();
        if now.list_json(false).get() != server.tools().list_json(false).get() {
            server.set_tools(now);
        }
    }));
}

async fn serve_http(server: Arc<Server>, listener: TcpListener, token: Token) {
    if let Err(error) = http::serve(server, listener, token).await {
        tracing::error!(%error, "the HTTP door broke");
    }
}

/// What keeps an eye on the running server.
struct Household<'a> {
    paths: &'a Paths,
    config: &'a ConfigStore,
    socket: &'a SocketFile,
    lock: &'a Lock,
    server: &'a Arc<Server>,
}

impl Household<'_> {
    async fn serve(&self, listener: tokio::net::UnixListener) -> anyhow::Result<()> {
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut hang_up = signal(SignalKind::hangup())?;
        let serving = self.server.serve(listener);
        let keeping = async {
            tokio::select! {
                _ = terminate.recv() => info!("stopping: terminated"),
                _ = interrupt.recv() => info!("stopping: interrupted"),
                _ = hang_up.recv() => info!("stopping: the terminal is gone"),
                () = self.until_useless() => {}
                () = self.server.drain().reached(Phase::Draining) => {
                    info!("stopping: a client asked");
                }
            }
            self.server.shutdown();
            // A second signal does not wait for the drain.
            tokio::select! {
                _ = terminate.recv() => warn!("terminated while stopping"),
                _ = interrupt.recv() => warn!("interrupted while stopping"),
            }
        };
        tokio::select! {
            served = serving => served?,
            () = keeping => {}
        }
        Ok(())
    }

    /// Returns when the daemon has been idle for long enough, or when nobody can find it.
    async fn until_useless(&self) {
        loop {
            let limit = self.config.current(None).daemon.idle_exit;
            let left = limit.map(|limit| limit.saturating_sub(self.server.idle()));
            if left.is_some_and(|left| left.is_zero()) && self.leave().await {
                info!("stopping: idle");
                return;
            }
            if !self.is_reachable() {
                warn!(socket = %self.paths.socket.display(), "stopping: the socket was removed or replaced");
                return;
            }
            let nap = left.unwrap_or(HOUSEKEEPING_INTERVAL).min(HOUSEKEEPING_INTERVAL);
            tokio::time::sleep(nap.max(LAST_CALL)).await;
        }
    }

    /// Hides the socket and looks whether somebody was about to use it.
    async fn leave(&self) -> bool {
        if !self.socket.hide() {
            return true;
        }
        tokio::time::sleep(LAST_CALL).await;
        let idle = self.server.idle() > LAST_CALL;
        if !idle {
            self.socket.show();
        }
        idle
    }

    fn is_reachable(&self) -> bool {
        self.socket.is_in_place() && self.lock.is_in_place()
    }
}
