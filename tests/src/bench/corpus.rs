//! The trees that are searched: the local cargo registry as it is, and a big one.
//!
//! `tests/bench` builds the big one once, in the cache folder, unless the registry is big itself.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;

use super::{peer, stage};

/// Files from which on a tree counts as big.
pub const BIG_FILES: usize = 50_000;

/// A tree to search.
#[derive(Clone, Debug)]
pub struct Corpus {
    /// What it is called in the table.
    pub name: &'static str,
    /// Its root.
    pub folder: PathBuf,
    /// Files that a search looks at.
    pub files: usize,
    /// What a reader must know about it.
    pub note: Option<String>,
}

impl Corpus {
    fn new(name: &'static str, folder: PathBuf, rg: &Path) -> anyhow::Result<Self> {
        let files = count_files(&folder, rg)?;
        let told = folder.join(NOTE_FILE);
        let note = std::fs::read_to_string(told).ok().map(|text| text.trim().to_owned());
        Ok(Self { name, folder, files, note })
    }

    /// Its name and its size.
    pub fn title(&self) -> String {
        format!("{} ({} files)", self.name, self.files)
    }
}

/// A hidden file in a corpus that says what it is when it is not what its name says: `tests/bench`
/// leaves it in a big corpus made of copies.
const NOTE_FILE: &str = ".capstan-bench-note";

/// The corpora that there are: the registry, and the big one (`CAPSTAN_BENCH_CORPUS`, else `corpus`
/// in the cache folder).
///
/// # Errors
/// ripgrep can't list a tree.
pub fn find(rg: &Path) -> anyhow::Result<Vec<Corpus>> {
    let mut corpora = Vec::new();
    if let Some(folder) = registry() {
        corpora.push(Corpus::new("registry", folder, rg)?);
    }
    let named = std::env::var_os("CAPSTAN_BENCH_CORPUS").filter(|value| !value.is_empty());
    let big = match named {
        Some(folder) => PathBuf::from(folder),
        None => stage::cache_dir()?.join("corpus"),
    };
    if big.is_dir() {
        corpora.push(Corpus::new("big", big, rg)?);
    } else if let Some(registry) = corpora.first_mut().filter(|corpus| corpus.files < BIG_FILES) {
        registry.note = Some(format!("the only corpus, and below {BIG_FILES} files"));
    }
    Ok(corpora)
}

/// Where cargo unpacks what it downloads.
fn registry() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let cargo = set("CARGO_HOME").map(PathBuf::from);
    let cargo = cargo.or_else(|| set("HOME").map(|home| PathBuf::from(home).join(".cargo")))?;
    let sources = cargo.join("registry/src");
    let holds_any = sources.read_dir().ok()?.next().is_some();
    holds_any.then_some(sources)
}

fn count_files(folder: &Path, rg: &Path) -> anyhow::Result<usize> {
    let mut list = Command::new(rg);
    list.args(["--no-config", "--files", "--null"]).current_dir(folder);
    let (_, output) = peer::run(list).context("listing a corpus")?;
    Ok(output.iter().filter(|byte| **byte == 0).count())
}
