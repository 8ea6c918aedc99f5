//! Puts the daemon together: tools, sessions and resources from the configuration.

use std::path::Path;
use std::sync::Arc;

use editor::transaction::Journal;
use resolvers::cache::SnapshotCache;
use resolvers::host::LocalHost;
use resolvers::walk::GitHome;

use crate::builtins::{BUILTINS, Modules};
use crate::config::ConfigStore;
use crate::engine::Engine;
use crate::limits::{CACHE_BYTES, CACHE_IDLE, CACHE_SWEEP};
use crate::paths::Paths;
use crate::resources::Guides;
use crate::server::methods::INSTRUCTIONS;
use crate::server::{Parts, Resources};
use crate::session::{SessionRegistry, SessionState};
use crate::tool::{Tool, ToolRegistry};
use crate::tools;

/// A daemon, put together.
pub struct Composed {
    /// What its server needs.
    pub parts: Parts,
    /// The tools that are switched on now, for when the configuration has changed.
    pub tools: Box<dyn Fn() -> ToolRegistry + Send + Sync>,
}

/// The daemon for these places and this configuration. Finishes or undoes what a crash left in the
/// journal, before any call can see a file.
///
/// # Errors
/// When the journal can't be opened, for instance because another daemon uses it.
pub fn compose(paths: &Paths, config: &Arc<ConfigStore>) -> anyhow::Result<Composed> {
    let (journal, recovered) =
        Journal::open(Arc::new(LocalHost), &paths.state_dir.join("journal"))?;
    for transaction in &recovered {
        tracing::warn!(outcome = ?transaction.outcome, files = transaction.files.len(), "recovered");
    }
    let engine = Arc::new(Engine {
        host: LocalHost,
        search: resolvers::search::Engine::new(GitHome::of_process()),
        sources: Engine::all_sources(),
        cache: SnapshotCache::new(CACHE_BYTES),
        journal,
        config: config.clone(),
    });
    evict_idle_files(&engine)?;
    let guides = Modules::new(&config.current(None).modules).has("source.docs");
    let tools = move || {
        let modules = Modules::new(&engine.config(None).modules);
        let is_on = |tool: &Arc<dyn Tool>| modules.has(&format!("tool.{}", tool.name()));
        let tools = tools::all(&engine).into_iter().filter(is_on).collect();
        ToolRegistry::new(tools).with_planner(tools::planner(&engine))
    };
    let parts = Parts {
        tools: tools(),
        sessions: SessionRegistry::new(Box::new(|_: Option<&Path>| SessionState::default())),
        resources: guides.then(|| Box::new(Guides) as Box<dyn Resources>),
        instructions: INSTRUCTIONS.to_owned(),
    };
    Ok(Composed { parts, tools: Box::new(tools) })
}

/// Lets go of decoded files that nobody asked for lately, as long as the engine lives.
fn evict_idle_files(engine: &Arc<Engine>) -> std::io::Result<()> {
    let engine = Arc::downgrade(engine);
    std::thread::Builder::new().name("evict".to_owned()).spawn(move || {
        while let Some(engine) = engine.upgrade() {
            engine.cache.evict_idle(CACHE_IDLE);
            drop(engine);
            std::thread::park_timeout(CACHE_SWEEP);
        }
    })?;
    Ok(())
}

/// The ids that `[modules]` may switch.
pub fn module_ids() -> Vec<&'static str> {
    BUILTINS.iter().map(|builtin| builtin.id).collect()
}
