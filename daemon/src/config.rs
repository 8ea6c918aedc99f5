//! Configuration: typed, layered, checked, and reloaded when its files change.
//!
//! Layers, later ones win: built-in < user file < `<root>/.capstan/config.toml` < environment <
//! flags. `settings` is the one table of what can be set; names, checks, environment variables and
//! documentation come from it. A mistake costs the entry it is in and nothing else, and is kept as a
//! [`ConfigProblem`] that names file, line, key and what would be right. A project's file is text
//! from strangers: it can make Capstan stricter, never looser, and can't reach the daemon's own
//! settings.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

pub mod file;
pub mod layer;
pub mod problem;
pub mod settings;
pub mod store;

pub use problem::{ConfigProblem, Origin, Position};
pub use store::{ConfigSources, ConfigStore};

/// The configuration of one workspace root at one time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// The daemon itself.
    pub daemon: DaemonConfig,
    /// Built-in modules that are switched on or off by name; others keep their default.
    pub modules: BTreeMap<String, bool>,
    /// Searching.
    pub search: SearchConfig,
    /// Editing.
    pub editor: EditorConfig,
    /// What is wrong in the files and variables, in layer order.
    pub problems: Vec<ConfigProblem>,
}

/// `[daemon]`; only the user's own layers set it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DaemonConfig {
    /// How long the daemon stays without anybody connected; `None` is for ever.
    pub idle_exit: Option<Duration>,
    /// Where HTTP is served, always a loopback address; `None` is nowhere.
    pub http: Option<SocketAddr>,
}

impl Default for DaemonConfig {
    fn default() -> Self {
        Self { idle_exit: Some(Duration::from_secs(30 * 60)), http: None }
    }
}

/// `[search]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchConfig {
    /// How long one search may take.
    pub timeout: Duration,
    /// Matches that are shown when the call names no limit.
    pub limit: usize,
}

impl Default for SearchConfig {
    fn default() -> Self {
        Self { timeout: Duration::from_secs(30), limit: 50 }
    }
}

/// `[editor]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditorConfig {
    /// What becomes of anchors whose file has changed since.
    pub rebase: Rebase,
    /// Whether `write` over a file that the session has not seen is held once.
    pub overwrite_guard: bool,
}

impl Default for EditorConfig {
    fn default() -> Self {
        Self { rebase: Rebase::Proven, overwrite_guard: true }
    }
}

/// `editor.rebase`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rebase {
    /// Anchored lines that provably moved as one block are followed.
    #[default]
    Proven,
    /// Any change makes the file's anchors stale.
    Never,
}

#[cfg(test)]
mod tests;
