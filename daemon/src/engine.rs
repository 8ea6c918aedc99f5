//! What all sessions share: the host, the search threads, the journal, the configuration.

use std::path::Path;
use std::sync::Arc;

use anchors::anchor::{BeginEnd, ExactText, LineAnchor, References};
use anchors::{AnchorForm, AnchorRegistry};
use editor::guard::{Guard, Guards, OverwriteGuard};
use editor::transaction::Journal;
use resolvers::cache::SnapshotCache;
use resolvers::host::LocalHost;
use resolvers::read::{ReadRegistry, ReadResolver};
use resolvers::search;
use resolvers::sources::{DirectorySource, DocsSource, FileSource, RawSource, TempSource};

use crate::builtins::Modules;
use crate::config::{Config, ConfigStore};

/// The cores, composed. One per daemon.
pub struct Engine {
    /// This machine.
    pub host: LocalHost,
    /// Text and name searches.
    pub search: search::Engine,
    /// The sources of `read`.
    pub sources: ReadRegistry<LocalHost>,
    /// Decoded files.
    pub cache: SnapshotCache,
    /// What writes files.
    pub journal: Journal<LocalHost>,
    /// The settings of any root.
    pub config: Arc<ConfigStore>,
}

impl Engine {
    /// All sources of `read`; folders come before files, which claim whatever path is left.
    pub fn all_sources() -> ReadRegistry<LocalHost> {
        let sources: [Box<dyn ReadResolver<LocalHost>>; 5] = [
            Box::new(RawSource),
            Box::new(TempSource),
            Box::new(DocsSource),
            Box::new(DirectorySource),
            Box::new(FileSource),
        ];
        ReadRegistry::new(sources.into())
    }

    /// The anchor forms that are on; exact text comes last, it claims whatever is left.
    pub fn anchors(modules: &Modules) -> AnchorRegistry {
        let forms: [Box<dyn AnchorForm>; 4] =
            [Box::new(LineAnchor), Box::new(References), Box::new(BeginEnd), Box::new(ExactText)];
        AnchorRegistry::new(forms.into_iter().filter(|form| modules.has(form.id())).collect())
    }

    /// The guards that are on.
    pub fn guards(modules: &Modules, config: &Config) -> Guards {
        let overwrite: Option<Box<dyn Guard>> =
            config.editor.overwrite_guard.then(|| Box::new(OverwriteGuard) as Box<dyn Guard>);
        Guards::new(overwrite.into_iter().filter(|guard| modules.has(guard.id())).collect())
    }

    /// The configuration of a session's root. Looks at the daemon's own as well, so that the tool
    /// list follows a change as soon as anybody calls a tool.
    pub fn config(&self, root: Option<&Path>) -> Arc<Config> {
        if root.is_some() {
            self.config.current(None);
        }
        self.config.current(root)
    }
}
