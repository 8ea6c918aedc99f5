//! One signal for "somebody cancelled" and "time is up", cheap enough to ask per file.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use anchors::Cancel;

/// Why work ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// The call was cancelled.
    Cancelled,
    /// The time limit was reached.
    TimedOut,
}

/// The signal. Clones share it; once it says stop it stays so, with the first reason.
#[derive(Clone, Debug)]
pub struct Stop {
    cancel: Cancel,
    deadline: Option<Instant>,
    reason: Arc<AtomicU8>,
}

impl Stop {
    /// Stops on `cancel` and, when given, `timeout` from now.
    pub fn new(cancel: Cancel, timeout: Option<Duration>) -> Self {
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        Self { cancel, deadline, reason: Arc::default() }
    }

    /// Whether to stop now.
    pub fn is_set(&self) -> bool {
        if self.reason.load(Ordering::Relaxed) != 0 {
            return true;
        }
        let reason = if self.cancel.is_cancelled() {
            1
        } else if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            2
        } else {
            return false;
        };
        // The first reason stands, so that all threads tell the same story.
        let _ = self.reason.compare_exchange(0, reason, Ordering::Relaxed, Ordering::Relaxed);
        true
    }

    /// Why the work was stopped, if anything saw the signal.
    pub fn stopped(&self) -> Option<Stopped> {
        match self.reason.load(Ordering::Relaxed) {
            0 => None,
            1 => Some(Stopped::Cancelled),
            _ => Some(Stopped::TimedOut),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_reason_stands() {
        let cancel = Cancel::new();
        let stop = Stop::new(cancel.clone(), Some(Duration::ZERO));
        assert_eq!(stop.stopped(), None);
        assert!(stop.is_set());
        cancel.cancel();
        assert!(stop.is_set());
        assert_eq!(stop.stopped(), Some(Stopped::TimedOut));
        let stop = Stop::new(cancel, None);
        assert!(stop.is_set());
        assert_eq!(stop.stopped(), Some(Stopped::Cancelled));
    }
}
