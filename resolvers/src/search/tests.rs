//! The search against hand-made trees, a naive model and ripgrep.

mod bounds;
mod differential;
mod fallbacks;
mod files;
mod names;
mod regions;

use std::path::{Path, PathBuf};

use anchors::Cancel;

use super::{Engine, NameHits, Outcome, Query, Scope, SearchOptions, TextHits};
use crate::walk::tests::fixture::Tree;

/// Searches `roots` (relative to the tree) for a text.
fn text(tree: &Tree, query: &str, roots: &[&str], options: &SearchOptions) -> TextHits {
    match run(tree, query, roots, options) {
        Outcome::Text(hits) => hits,
        Outcome::Names(_) => panic!("`{query}` is a text query"),
    }
}

/// Searches the tree for names.
fn names(tree: &Tree, query: &str, options: &SearchOptions) -> NameHits {
    match run(tree, query, &[""], options) {
        Outcome::Names(hits) => hits,
        Outcome::Text(_) => panic!("`{query}` is a query for names"),
    }
}

fn run(tree: &Tree, query: &str, roots: &[&str], options: &SearchOptions) -> Outcome {
    let engine = Engine::new(tree.home.clone());
    let roots: Vec<PathBuf> = roots.iter().map(|root| tree.root().join(root)).collect();
    let query = Query::parse(query).unwrap();
    engine.search(&query, &Scope::Paths(roots), options, &Cancel::new()).unwrap()
}

/// A path relative to the tree.
fn short(tree: &Tree, path: &Path) -> String {
    path.strip_prefix(tree.root()).unwrap().to_string_lossy().into_owned()
}

/// Matches as `path:line:column`.
fn places(tree: &Tree, hits: &TextHits) -> Vec<String> {
    let mut places = Vec::new();
    for file in &hits.files {
        for found in &file.matches {
            places.push(format!("{}:{}:{}", short(tree, &file.path), found.line, found.column));
        }
    }
    places
}

/// Checks where a default search of the whole tree finds matches.
fn check(tree: &Tree, query: &str, expected: &[&str]) -> TextHits {
    let hits = text(tree, query, &[""], &SearchOptions::default());
    assert_eq!(places(tree, &hits), expected, "{query}");
    hits
}
