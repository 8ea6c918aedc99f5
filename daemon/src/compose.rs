//! Puts the daemon together: tools, sessions and resources from the configuration.

use std::path::Path;
use std::sync::Arc;

use crate::builtins::BUILTINS;
use crate::config::ConfigStore;
use crate::paths::Paths;
use crate::server::Parts;
use crate::server::methods::INSTRUCTIONS;
use crate::session::{SessionRegistry, SessionState};
use crate::tool::ToolRegistry;

/// The parts of a server for these places and this configuration.
///
/// # Errors
/// When something that the daemon can't do without can't be made.
pub fn parts(_paths: &Paths, _config: &Arc<ConfigStore>) -> anyhow::Result<Parts> {
    Ok(Parts {
        tools: ToolRegistry::new(Vec::new()),
        sessions: SessionRegistry::new(Box::new(|_: Option<&Path>| SessionState::default())),
        resources: None,
        instructions: INSTRUCTIONS.to_owned(),
    })
}

/// The ids that `[modules]` may switch.
pub fn module_ids() -> Vec<&'static str> {
    BUILTINS.iter().map(|builtin| builtin.id).collect()
}
