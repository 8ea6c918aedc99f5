//! A cooperative stop signal that every loop over user data checks.
//!
//! Cancellation, client disconnect and timeouts all end up here, so that the cores know one signal
//! only and the daemon decides what it meant.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A cloneable flag; all clones share it. Once cancelled it stays cancelled.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

/// The work was asked to stop before it finished; nothing was changed by the part that stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the call was cancelled before it finished")]
pub struct Cancelled;

impl Cancel {
    /// A fresh signal that nobody has cancelled.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks all work that holds a clone to stop.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the work was asked to stop.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// `Err(Cancelled)` once the work was asked to stop: for use with `?` in loops.
    ///
    /// # Errors
    /// [`Cancelled`] after [`Cancel::cancel`].
    pub fn check(&self) -> Result<(), Cancelled> {
        if self.is_cancelled() { Err(Cancelled) } else { Ok(()) }
    }
}
