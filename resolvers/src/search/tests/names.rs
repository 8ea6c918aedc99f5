//! `files:`.

use super::*;
use crate::search::QueryError;

/// Checks the list for a query.
fn check_names(tree: &Tree, query: &str, expected: &[&str]) -> NameHits {
    let hits = names(tree, query, &SearchOptions::default());
    let paths: Vec<String> = hits.paths.iter().map(|path| short(tree, path)).collect();
    assert_eq!(paths, expected, "{query}");
    hits
}

#[test]
fn globs_take_names_or_paths() {
    let tree = Tree::new(&["a.rs", "src/a.rs", "src/deep/b.rs", "README.md", ".h.rs"]);
    check_names(&tree, "files:a*.rs", &["a.rs", "src/a.rs"]);
    check_names(&tree, "files:./src/*.rs", &["src/a.rs"]);
    check_names(&tree, "files:src/**/*.rs", &["src/a.rs", "src/deep/b.rs"]);
    check_names(&tree, "files:readme*", &["README.md"]);
    check_names(&tree, "files:Readme*", &[]);
    check_names(&tree, "files:*.{md,txt}", &["README.md"]);
    check_names(&tree, "files:.*", &[".h.rs"]);
}

#[test]
fn hidden_files_count_git_and_ignored_ones_do_not() {
    let tree = Tree::new(&[".github/ci.yml", ".gitignore: *.log", "a.log"]);
    tree.git_init("");
    check_names(&tree, "files:", &[".github/ci.yml", ".gitignore"]);
}

#[test]
fn fuzzy_names_come_best_first() {
    let tree = Tree::new(&["src/search/engine.rs", "docs/s-e-a-r-c-h.md", "x/Search.rs", "other"]);
    let hits = names(&tree, "files:search", &SearchOptions::default());
    assert_eq!((hits.count, hits.is_glob), (3, false));
    assert_eq!(short(&tree, &hits.paths[2]), "docs/s-e-a-r-c-h.md");
    check_names(&tree, "files:SRENG", &["src/search/engine.rs"]);
    check_names(&tree, "files:zzz", &[]);
}

#[test]
fn the_limit_keeps_the_best_and_tells() {
    let tree = Tree::new(&[]);
    for number in 100..400 {
        tree.add(&format!("d{}/{number}.rs", number % 7));
    }
    let options = SearchOptions { limit: 3, ..SearchOptions::default() };
    let hits = names(&tree, "files:*.rs", &options);
    let paths: Vec<String> = hits.paths.iter().map(|path| short(&tree, path)).collect();
    assert_eq!(paths, ["d0/105.rs", "d0/112.rs", "d0/119.rs"]);
    assert_eq!(hits.count, 300);
}

#[test]
fn a_bad_glob_is_an_error() {
    let error = Query::parse("files:a{b").unwrap_err();
    assert!(matches!(error, QueryError::Glob { .. }), "{error}");
}
