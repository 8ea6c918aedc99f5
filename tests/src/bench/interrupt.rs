//! Ctrl-C ends a run by the usual way out, so that daemons end and folders go.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use anyhow::{Context as _, ensure};

static INTERRUPTED: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Takes note of INT and TERM from now on, instead of ending at once.
///
/// # Errors
/// What the system says.
pub fn watch() -> anyhow::Result<()> {
    let flag = INTERRUPTED.get_or_init(Arc::default);
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(flag)).context("watching for signals")?;
    }
    Ok(())
}

/// To be asked once per round.
///
/// # Errors
/// A signal came.
pub fn check() -> anyhow::Result<()> {
    let interrupted = INTERRUPTED.get().is_some_and(|flag| flag.load(Ordering::Relaxed));
    ensure!(!interrupted, "interrupted");
    Ok(())
}
