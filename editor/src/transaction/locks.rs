//! One queue a resource: commits to the same file wait for each other, others never do.
//!
//! A commit joins the queues of all its files in one step, so that the order is the same in every
//! queue: first come, first served, and no deadlock.

use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use anchors::{Cancel, Cancelled};

use crate::limits;

/// What two names of one file have in common.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Key {
    /// The real path, for files that are replaced or do not exist yet.
    Path(PathBuf),
    /// Device and inode, for hard links.
    Inode(u64, u64),
}

#[derive(Debug, Default)]
pub(super) struct Locks {
    queues: Mutex<Queues>,
    left: Condvar,
}

#[derive(Debug, Default)]
struct Queues {
    next: u64,
    waiting: HashMap<Key, VecDeque<u64>>,
}

impl Locks {
    /// Waits until this caller is first in the queue of every key.
    pub(super) fn acquire(&self, keys: Vec<Key>, cancel: &Cancel) -> Result<Held<'_>, Cancelled> {
        let mut queues = self.queues();
        let ticket = queues.next;
        queues.next += 1;
        for key in &keys {
            queues.waiting.entry(key.clone()).or_default().push_back(ticket);
        }
        // From here on, leaving in any way leaves the queues too.
        let held = Held { locks: self, keys, ticket };
        while !held.keys.iter().all(|key| queues.first(key) == Some(ticket)) {
            let waited = self.left.wait_timeout(queues, limits::LOCK_POLL);
            queues = waited.unwrap_or_else(PoisonError::into_inner).0;
            if cancel.is_cancelled() {
                drop(queues); // `held` takes the same mutex when it goes
                return Err(Cancelled);
            }
        }
        drop(queues);
        Ok(held)
    }

    fn queues(&self) -> MutexGuard<'_, Queues> {
        // The queues are consistent between any two statements that could panic.
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queues {
    fn first(&self, key: &Key) -> Option<u64> {
        self.waiting.get(key)?.front().copied()
    }
}

/// The right to change some files, until it is dropped.
#[derive(Debug)]
pub(super) struct Held<'a> {
    locks: &'a Locks,
    keys: Vec<Key>,
    ticket: u64,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        let mut queues = self.locks.queues();
        for key in &self.keys {
            if let Some(queue) = queues.waiting.get_mut(key) {
                queue.retain(|ticket| *ticket != self.ticket);
                if queue.is_empty() {
                    queues.waiting.remove(key);
                }
            }
        }
        drop(queues);
        self.locks.left.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;
    use std::time::Duration;

    use super::*;

    fn keys(names: &[&str]) -> Vec<Key> {
        names.iter().map(|name| Key::Path(name.into())).collect()
    }

    #[test]
    fn the_same_file_waits_and_others_do_not() {
        let (locks, cancel) = (Locks::default(), Cancel::new());
        let held = locks.acquire(keys(&["a", "b"]), &cancel).unwrap();
        drop(locks.acquire(keys(&["c"]), &cancel).unwrap());
        let entered = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                let _held = locks.acquire(keys(&["b", "c"]), &cancel).unwrap();
                entered.store(true, Ordering::SeqCst);
            });
            thread::sleep(Duration::from_millis(30));
            assert!(!entered.load(Ordering::SeqCst));
            drop(held);
        });
        assert!(entered.load(Ordering::SeqCst) && locks.queues().waiting.is_empty());
    }

    #[test]
    fn a_waiter_can_be_cancelled_and_leaves_no_trace() {
        let (locks, cancel) = (Locks::default(), Cancel::new());
        let held = locks.acquire(keys(&["a"]), &Cancel::new()).unwrap();
        cancel.cancel();
        assert!(locks.acquire(keys(&["a"]), &cancel).is_err());
        drop(held);
        assert!(locks.queues().waiting.is_empty());
    }
}
