//! One tool call: its session, settings and the names it uses.

use std::cell::RefCell;
use std::path::Path;
use std::sync::{Arc, MutexGuard};

use anchors::{ErrorCode, SourceId};

use crate::builtins::Modules;
use crate::config::Config;
use crate::engine::Engine;
use crate::failure::Failure;
use crate::session::root;
use crate::session::state::Memory;
use crate::tool::CallContext;

mod files;
mod help;
mod references;
mod sources;

pub use files::Loaded;
pub use references::{found, is_complete, stale};
pub use resolvers::source::{id_of as source_of, path_of};

/// A call that its modules allow.
pub struct Call<'a> {
    /// The cores.
    pub engine: &'a Engine,
    /// The caller.
    pub context: &'a CallContext,
    /// The settings of the session's root.
    pub config: Arc<Config>,
    /// What is on there.
    pub modules: Modules,
    notes: RefCell<Vec<String>>,
}

impl<'a> Call<'a> {
    /// The call of the tool with module id `tool`.
    ///
    /// # Errors
    /// `MODULE_DISABLED` when the configuration of the session's root has it off.
    pub fn new(engine: &'a Engine, context: &'a CallContext, tool: &str) -> Result<Self, Failure> {
        let config = engine.config(context.session.root());
        let modules = Modules::new(&config.modules);
        let call = Self { engine, context, config, modules, notes: RefCell::default() };
        call.require(tool)?;
        Ok(call)
    }

    /// Fails unless the module `id` is on.
    ///
    /// # Errors
    /// `MODULE_DISABLED`.
    pub fn require(&self, id: &str) -> Result<(), Failure> {
        if self.modules.has(id) {
            return Ok(());
        }
        let message = format!(
            "`{id}` is switched off, or something it needs is; see [modules] in the configuration"
        );
        Err(Failure::new(ErrorCode::ModuleDisabled, message))
    }

    /// Something that the next result must say beside its text.
    pub fn note(&self, note: String) {
        self.notes.borrow_mut().push(note);
    }

    /// The notes since they were last taken.
    pub fn take_notes(&self) -> Vec<String> {
        self.notes.take()
    }

    /// The workspace root.
    ///
    /// # Errors
    /// `NO_WORKSPACE`.
    pub fn root(&self) -> Result<&'a Path, Failure> {
        self.context.session.root().ok_or_else(|| {
            Failure::new(
                ErrorCode::NoWorkspace,
                "this session has no workspace root; start `capstan mcp` with --root, or name \
                 `capstan/root` in _meta",
            )
        })
    }

    /// What the session remembers. Not to be held while files are read.
    pub fn memory(&self) -> MutexGuard<'a, Memory> {
        self.context.session.state.memory()
    }

    /// A source as an agent would write it: relative to the root where it lies below.
    pub fn name(&self, source: &SourceId) -> String {
        match path_of(source) {
            Some(path) => self.path_name(&path),
            None => source.to_string(),
        }
    }

    /// A path as an agent would write it.
    pub fn path_name(&self, path: &Path) -> String {
        let below = self.context.session.root().and_then(|root| path.strip_prefix(root).ok());
        match below.and_then(Path::to_str) {
            Some("") => ".".to_owned(),
            Some(relative) => relative.to_owned(),
            None => root::to_wire(path),
        }
    }
}
