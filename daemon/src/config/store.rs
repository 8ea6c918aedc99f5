//! The configuration as it is now, for any workspace root.
//!
//! There is no watcher: asking costs two looks at file times, and what changed is read again then.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::Config;
use super::file::{self, Source, Stamp};
use super::layer::Layer;
use super::problem::{ConfigProblem, Origin};
use super::settings::{SETTINGS, Setting};
use crate::limits::MAX_CONFIG_ROOTS;

/// Sets modules from the environment, as `id=on,other=off`.
pub const MODULES_VARIABLE: &str = "CAPSTAN_MODULES";

/// Where the layers come from.
#[derive(Clone, Debug, Default)]
pub struct ConfigSources {
    /// The user's file.
    pub user_file: Option<PathBuf>,
    /// Values of environment variables by name; see [`Setting::variable`].
    pub variables: Vec<(String, String)>,
    /// Values of flags by dotted setting name.
    pub flags: Vec<(&'static str, String)>,
    /// The ids of the modules that can be switched.
    pub modules: Vec<&'static str>,
}

impl ConfigSources {
    /// Takes the variables that set something from the environment of this process. One that is not
    /// UTF-8 becomes a value that does not fit.
    #[must_use]
    pub fn with_environment(mut self) -> Self {
        let names = SETTINGS.iter().map(Setting::variable).chain([MODULES_VARIABLE.to_owned()]);
        self.variables = names
            .filter_map(|name| {
                let value = std::env::var_os(&name)?.to_string_lossy().into_owned();
                Some((name, value))
            })
            .collect();
        self
    }
}

/// All configurations in use. Shared.
pub struct ConfigStore {
    sources: ConfigSources,
    slots: Mutex<HashMap<PathBuf, Slot>>,
    listener: OnceLock<Box<Listener>>,
}

/// Hears of configurations that replace an earlier one of the same root.
pub type Listener = dyn Fn(&Config) + Send + Sync;

#[derive(Debug)]
struct Slot {
    stamps: [Stamp; 2],
    config: Arc<Config>,
}

impl ConfigStore {
    /// A store that has read nothing yet.
    pub fn new(sources: ConfigSources) -> Self {
        Self { sources, slots: Mutex::default(), listener: OnceLock::new() }
    }

    /// Calls `listener` whenever a changed file has changed a configuration. Only the first listener
    /// counts.
    pub fn listen(&self, listener: Box<Listener>) {
        let _ = self.listener.set(listener);
    }

    /// The configuration for a workspace root, or of the daemon itself. Files that changed are read
    /// again; mistakes are in [`Config::problems`] and are logged once per reading.
    pub fn current(&self, root: Option<&Path>) -> Arc<Config> {
        let files = [self.sources.user_file.as_deref().map(file::user), root.map(file::project)];
        let stamps =
            files.each_ref().map(|file| file.as_ref().map_or(Stamp::Absent, Source::stamp));
        // A broken reading leaves the old slot in place, so the map is whole at every point.
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let key = root.unwrap_or(Path::new(""));
        if let Some(slot) = slots.get(key)
            && slot.stamps == stamps
        {
            return Arc::clone(&slot.config);
        }
        let slot = self.load(&files);
        for problem in &slot.config.problems {
            tracing::warn!(%problem, "a mistake in the configuration");
        }
        let config = Arc::clone(&slot.config);
        if slots.len() >= MAX_CONFIG_ROOTS {
            slots.clear();
        }
        let replaced = slots.insert(key.to_owned(), slot);
        drop(slots);
        if replaced.is_some_and(|old| old.config != config)
            && let Some(listener) = self.listener.get()
        {
            listener(&config);
        }
        config
    }

    fn load(&self, files: &[Option<Source>; 2]) -> Slot {
        let mut config = Config::default();
        let mut stamps = [Stamp::Absent; 2];
        for (index, file) in files.iter().enumerate() {
            let Some(file) = file else { continue };
            let (stamp, text) = file.read();
            stamps[index] = stamp;
            let layer = match text {
                Ok(Some(text)) => Layer::from_toml(&file.path, &text, &self.sources.modules),
                Ok(None) => continue,
                Err(problem) => Layer::broken(*problem),
            };
            layer.apply(&mut config, index == 1);
        }
        self.variables().apply(&mut config, false);
        self.flags().apply(&mut config, false);
        Slot { stamps, config: Arc::new(config) }
    }

    fn variables(&self) -> Layer {
        let mut layer = Layer::default();
        for (name, value) in &self.sources.variables {
            let origin = Origin::Variable(name.clone());
            if name == MODULES_VARIABLE {
                layer.add_modules(value, &origin, &self.sources.modules);
            } else if let Some(setting) =
                SETTINGS.iter().find(|setting| setting.variable() == *name)
            {
                layer.add(setting, value, origin);
            }
        }
        layer
    }

    fn flags(&self) -> Layer {
        let mut layer = Layer::default();
        for (name, value) in &self.sources.flags {
            if let Some(setting) = SETTINGS.iter().find(|setting| setting.name() == *name) {
                layer.add(setting, value, Origin::Flag(format!("--{}", setting.key)));
            }
        }
        layer
    }
}

/// The mistakes that a client's own look at the files finds, for people at a terminal.
pub fn problems(sources: ConfigSources, root: Option<&Path>) -> Vec<ConfigProblem> {
    ConfigStore::new(sources).current(root).problems.clone()
}

impl fmt::Debug for ConfigStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConfigStore").field("sources", &self.sources).finish_non_exhaustive()
    }
}
