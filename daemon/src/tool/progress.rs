//! Telling a client how far a call has got, without ever waiting for that client.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use crate::limits::PROGRESS_INTERVAL;

/// Receives what passed the rate limit: how much is done, how much there is, what is happening.
pub type ProgressSink = dyn Fn(f64, Option<f64>, Option<&str>) + Send + Sync;

/// A cheap handle; all clones report to the same request.
#[derive(Clone, Default)]
pub struct Progress(Option<Arc<Shared>>);

struct Shared {
    sink: Box<ProgressSink>,
    start: Instant,
    /// Milliseconds from `start` to the last report, plus one; 0 before the first.
    last: AtomicU64,
}

impl Progress {
    /// Reports to `sink`, at most once per [`PROGRESS_INTERVAL`].
    pub fn new(sink: Box<ProgressSink>) -> Self {
        Self(Some(Arc::new(Shared { sink, start: Instant::now(), last: AtomicU64::new(0) })))
    }

    /// Whether anybody listens; callers may skip the work of counting otherwise.
    pub fn is_wanted(&self) -> bool {
        self.0.is_some()
    }

    /// Tells that `done` of `total` is done. `done` must grow from call to call. Reports that
    /// follow one another too fast are dropped.
    pub fn report(&self, done: f64, total: Option<f64>, message: Option<&str>) {
        let Some(shared) = &self.0 else { return };
        let interval = u64::try_from(PROGRESS_INTERVAL.as_millis()).unwrap_or(u64::MAX);
        let now = u64::try_from(shared.start.elapsed().as_millis()).unwrap_or(u64::MAX - 1) + 1;
        let last = shared.last.load(Ordering::Relaxed);
        if last != 0 && now - last.min(now) < interval {
            return;
        }
        if shared.last.compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            (shared.sink)(done, total, message);
        }
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Progress").field(&self.is_wanted()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn bursts_are_thinned() {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&seen);
        let progress = Progress::new(Box::new(move |done, _, _| sink.lock().unwrap().push(done)));
        for step in 0..1000 {
            progress.report(f64::from(step), None, None);
        }
        let seen = seen.lock().unwrap();
        assert_eq!(seen[0], 0.0);
        assert!(seen.len() < 100, "{}", seen.len());
    }

    #[test]
    fn nobody_listening_is_fine() {
        let progress = Progress::default();
        assert!(!progress.is_wanted());
        progress.report(1.0, None, None);
    }
}
