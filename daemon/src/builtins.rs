//! Everything that is built in, in one table: stable ids, what they need, whether they are on.
//!
//! `[modules]` in the configuration switches entries by id; what needs a switched-off entry goes
//! with it. A source, an anchor form, a guard or a tool is added by writing its file and its line
//! here; a test holds the folders against the table.

use std::collections::{BTreeMap, BTreeSet};

/// One built-in.
#[derive(Debug)]
pub struct Builtin {
    /// Stable id, `kind.name`.
    pub id: &'static str,
    /// Ids that must be on for this to be on.
    pub needs: &'static [&'static str],
    /// Whether it is on when the configuration says nothing.
    pub default: bool,
    /// One sentence for people.
    pub meaning: &'static str,
}

const fn on(id: &'static str, needs: &'static [&'static str], meaning: &'static str) -> Builtin {
    Builtin { id, needs, default: true, meaning }
}

/// The table.
pub const BUILTINS: &[Builtin] = &[
    on("source.file", &[], "Files by path or `file:` URL."),
    on("source.directory", &["source.file"], "Listings of folders."),
    on("source.raw", &["source.file"], "`raw:` shows the bytes of a file."),
    on("source.temp", &[], "`temp:` continues a result that was cut."),
    on("source.docs", &[], "`docs:` serves the guides."),
    on("search.text", &["source.file"], "Text and regex search."),
    on("search.files", &["source.file"], "`files:` finds paths by name."),
    on("anchor.line", &[], "`12#A4F0` names a line as it was shown."),
    on("anchor.reference", &[], "Result ids and `SEARCH#` name what they showed."),
    on("anchor.begin-end", &[], "`begin` and `end` name the first and last line."),
    on("anchor.text", &[], "Exact text names the one place where it stands."),
    on("guard.overwrite", &["tool.write"], "Holds a `write` over an unseen file once."),
    on("tool.read", &[], "The `read` tool."),
    on("tool.search", &[], "The `search` tool."),
    on("tool.write", &["source.file"], "The `write` tool."),
    on("tool.replace", &["source.file"], "The `replace` tool."),
    on("tool.insert", &["source.file"], "The `insert` tool."),
    on("tool.delete", &["source.file"], "The `delete` tool."),
];

/// The ids that are on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Modules(BTreeSet<&'static str>);

impl Modules {
    /// What is on under these switches.
    pub fn new(switches: &BTreeMap<String, bool>) -> Self {
        let wanted = |builtin: &&Builtin| *switches.get(builtin.id).unwrap_or(&builtin.default);
        let mut on: Vec<&Builtin> = BUILTINS.iter().filter(wanted).collect();
        loop {
            let ids: BTreeSet<&str> = on.iter().map(|builtin| builtin.id).collect();
            let before = on.len();
            on.retain(|builtin| builtin.needs.iter().all(|need| ids.contains(need)));
            if on.len() == before {
                return Self(ids);
            }
        }
    }

    /// Whether `id` is on.
    pub fn has(&self, id: &str) -> bool {
        self.0.contains(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn off(ids: &[&str]) -> Modules {
        Modules::new(&ids.iter().map(|id| ((*id).to_owned(), false)).collect())
    }

    #[test]
    fn needs_are_in_the_table_and_ids_are_unique() {
        let ids: BTreeSet<&str> = BUILTINS.iter().map(|builtin| builtin.id).collect();
        assert_eq!(ids.len(), BUILTINS.len());
        assert!(BUILTINS.iter().flat_map(|builtin| builtin.needs).all(|need| ids.contains(need)));
    }

    #[test]
    fn dependents_go_with_what_they_need() {
        let modules = off(&["source.file"]);
        assert!(!modules.has("source.raw") && !modules.has("tool.write"));
        assert!(!modules.has("guard.overwrite"), "it needs the tool, which needs files");
        assert!(modules.has("source.docs") && modules.has("tool.read"));
        assert!(off(&[]).has("guard.overwrite"));
    }
}
