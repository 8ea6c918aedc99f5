//! What a session remembers between calls: references, shown lines, the file at hand.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use anchors::{Ledger, ReferenceStore, SourceId};
use editor::guard::HeldCalls;
use resolvers::search::{Form, SearchOptions};
use resolvers::temp::TempStore;

use crate::limits::{LEDGER_BYTES, REFERENCE_BYTES, TEMP_BYTES};

/// How a search is run again, without its fallbacks, when a file behind `:all` has changed.
/// `None` for searches inside results, which are strict snapshots.
pub type Recipe = Option<SearchRecipe>;

/// A search that found something.
#[derive(Clone, Debug)]
pub struct SearchRecipe {
    /// The form of the query that matched.
    pub form: Form,
    /// Where it looked.
    pub roots: Vec<PathBuf>,
    /// How it looked.
    pub options: SearchOptions,
}

/// References, shown snapshots and inherited paths of one session.
#[derive(Debug)]
pub struct SessionState {
    memory: Mutex<Memory>,
    /// Calls that a guard held back: repeated, they go through.
    pub held: HeldCalls,
    /// The rest of results that were cut.
    pub temp: TempStore,
}

impl Default for SessionState {
    fn default() -> Self {
        let (memory, held) = (Mutex::default(), HeldCalls::default());
        Self { memory, held, temp: TempStore::new(TEMP_BYTES) }
    }
}

/// The part behind the lock. Held for moments only, never while a file is read or written.
#[derive(Debug)]
pub struct Memory {
    /// Results and searches.
    pub references: ReferenceStore<Recipe>,
    /// Shown lines.
    pub ledger: Ledger,
    /// The file that was read or edited last, for calls that name none.
    pub last: Option<SourceId>,
}

impl Default for Memory {
    fn default() -> Self {
        Self {
            references: ReferenceStore::new(REFERENCE_BYTES),
            ledger: Ledger::new(LEDGER_BYTES),
            last: None,
        }
    }
}

impl SessionState {
    /// The memory. Whoever panics while holding it leaves it usable: every store is whole between
    /// its own calls.
    pub fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
