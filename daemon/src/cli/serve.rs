//! `capstan daemon` and `capstan mcp`: the commands that stay.

use std::sync::Arc;

use protocol::capstan::SessionOpenParams;

use super::args::{Daemon, Global, Mcp};
use super::output::Output;
use super::place::{Place, is_nowhere};
use super::{CliError, Exit};
use crate::client::Client;
use crate::client::build::daemon_pid;
use crate::config::{ConfigSources, ConfigStore};
use crate::lifecycle::{self, DaemonOptions, StartError};
use crate::mcp_pump;
use crate::paths::Paths;

/// `capstan daemon`.
pub(super) fn daemon(args: &Daemon, output: &Output) -> Result<Exit, CliError> {
    let paths = Paths::from_env()?;
    if args.detached {
        return detach(args, &paths, output);
    }
    let flags =
        [("daemon.http", &args.http), ("daemon.idle-exit-minutes", &args.idle_exit_minutes)];
    let sources = ConfigSources {
        user_file: paths.user_config(),
        flags: flags.into_iter().filter_map(|(name, value)| Some((name, value.clone()?))).collect(),
        modules: super::admin::module_ids(),
        ..ConfigSources::default()
    };
    let config = Arc::new(ConfigStore::new(sources.with_environment()));
    refuse_bad_flags(&config)?;
    let options = DaemonOptions { background: args.background };
    lifecycle::run(&paths, &options, &config, crate::compose::compose).map_err(CliError::Daemon)?;
    Ok(Exit::Done)
}

/// A mistake in a flag is in front of who made it, so it is refused and not worked around.
fn refuse_bad_flags(config: &ConfigStore) -> Result<(), CliError> {
    let config = config.current(None);
    let bad = config
        .problems
        .iter()
        .find(|problem| matches!(problem.origin, crate::config::Origin::Flag(_)));
    bad.map_or(Ok(()), |problem| Err(CliError::Usage(problem.to_string())))
}

fn detach(args: &Daemon, paths: &Paths, output: &Output) -> Result<Exit, CliError> {
    if let Some(stream) = lifecycle::connect(paths)? {
        let pid = daemon_pid(&stream).and_then(|pid| u32::try_from(pid).ok());
        return Err(StartError::Running { pid }.into());
    }
    let flags = [("--http", &args.http), ("--idle-exit-minutes", &args.idle_exit_minutes)];
    let flags =
        flags.into_iter().filter_map(|(flag, value)| Some(format!("{flag}={}", value.as_ref()?)));
    let stream = lifecycle::connect_or_start(paths, &flags.collect::<Vec<_>>())?;
    let pid = daemon_pid(&stream).unwrap_or_default();
    output.note("note", &format!("the daemon runs as process {pid}"));
    Ok(Exit::Done)
}

/// `capstan mcp`.
pub(super) fn mcp(global: &Global, args: &Mcp) -> Result<Exit, CliError> {
    let place = Place::find(global.root.as_deref()).map_err(CliError::Usage)?;
    // Desktop programs start their servers in `/` or in the home folder; they know their roots
    // themselves and are asked for them.
    let root = (place.certain || !is_nowhere(&place.root)).then(|| place.wire_root());
    let session = global.session.clone();
    let by_id = session.as_deref().is_some_and(|session| uuid::Uuid::try_parse(session).is_ok());
    let open = SessionOpenParams {
        root: root.filter(|_| !by_id),
        session,
        profile: args.profile.clone(),
        meta: None,
    };
    mcp_pump::run(&Paths::from_env()?, &open)?;
    Ok(Exit::Done)
}

/// A connection for commands that only look, `None` when no daemon runs.
pub(super) fn connect_if_up(paths: &Paths) -> Result<Option<Client>, CliError> {
    Ok(lifecycle::connect(paths)?.map(Client::over))
}
