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
use crate::server::Parts;
use crate::server::methods::INSTRUCTIONS;
use crate::session::{SessionRegistry, SessionState};
use crate::tool::ToolRegistry;
use crate::tools;

/// The parts of a server for these places and this configuration. Finishes or undoes what a crash
/// left in the journal, before any call can see a file.
///
/// # Errors
/// When the journal can't be opened, for instance because another daemon uses it.
pub fn parts(paths: &Paths, config: &Arc<ConfigStore>) -> anyhow::Result<Parts> {
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
    let modules = Modules::new(&config.current(None).modules);
    let tools = tools::all(&engine)
        .into_iter()
        .filter(|tool| modules.has(&format!("tool.{}", tool.name())));
    Ok(Parts {
        tools: ToolRegistry::new(tools.collect()).with_planner(tools::planner(&engine)),
        sessions: SessionRegistry::new(Box::new(|_: Option<&Path>| SessionState::default())),
        resources: None,
        instructions: INSTRUCTIONS.to_owned(),
    })
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
