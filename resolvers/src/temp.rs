//! What did not fit a result, kept for a while so that it is one read away.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anchors::{Snapshot, SourceId};

/// Lines that a result could not show.
#[derive(Clone, Debug)]
pub struct TempText {
    /// Where they are from.
    pub source: SourceId,
    /// The text; shared with whoever else holds it.
    pub snapshot: Arc<Snapshot>,
    /// First and last line, 1-based, inclusive.
    pub lines: (usize, usize),
}

/// The continuations of one session: bounded by bytes, least recently used goes first.
#[derive(Debug)]
pub struct TempStore {
    texts: Mutex<Texts>,
    bound: usize,
}

#[derive(Debug, Default)]
struct Texts {
    kept: HashMap<String, (TempText, u64)>,
    clock: u64,
}

impl TempStore {
    /// A store of at most `bound` bytes of text; the newest text stays in any case.
    pub fn new(bound: usize) -> Self {
        Self { texts: Mutex::default(), bound }
    }

    /// Keeps a text and gives the id for `temp:ID`.
    pub fn keep(&self, text: TempText) -> String {
        let mut texts = self.lock();
        texts.clock += 1;
        let id = format!("{:x}", texts.clock);
        let clock = texts.clock;
        texts.kept.insert(id.clone(), (text, clock));
        while texts.kept.len() > 1 && texts.bytes() > self.bound {
            let oldest = texts.kept.iter().min_by_key(|(_, (_, used))| *used);
            let Some(oldest) = oldest.map(|(id, _)| id.clone()) else { break };
            texts.kept.remove(&oldest);
        }
        id
    }

    /// The text of `temp:ID`.
    pub fn get(&self, id: &str) -> Option<TempText> {
        let mut texts = self.lock();
        texts.clock += 1;
        let clock = texts.clock;
        let (text, used) = texts.kept.get_mut(id)?;
        *used = clock;
        Some(text.clone())
    }

    fn lock(&self) -> MutexGuard<'_, Texts> {
        self.texts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Texts {
    fn bytes(&self) -> usize {
        self.kept.values().map(|(text, _)| text.snapshot.bytes()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_goes_first() {
        let store = TempStore::new(5_000);
        let text = |n: usize| TempText {
            source: SourceId::new("/f"),
            snapshot: Arc::new(Snapshot::decode(vec![b'x'; n]).unwrap()),
            lines: (1, 1),
        };
        let first = store.keep(text(2_000));
        let second = store.keep(text(2_000));
        assert!(store.get(&first).is_some());
        let third = store.keep(text(2_000));
        assert!(store.get(&second).is_none());
        assert!(store.get(&first).is_some() && store.get(&third).is_some());
        let large = store.keep(text(50_000));
        assert!(store.get(&large).is_some() && store.get(&first).is_none());
    }
}
