//! Limits, stopping, large files.

use std::time::{Duration, Instant};

use super::*;
use crate::limits::{RESULT_LINES, SEARCH_MATCHES, SEARCH_PREVIEW_BYTES};
use crate::search::{Incomplete, SearchError};

#[test]
fn options_have_ranges() {
    let engine = Engine::new(crate::walk::GitHome::default());
    let query = Query::parse("a").unwrap();
    let options = |context, limit| SearchOptions { context, limit, ..SearchOptions::default() };
    for bad in [options(11, 50), options(0, 0), options(0, 1001)] {
        let scope = Scope::Regions(vec![]);
        let error = engine.search(&query, &scope, &bad, &Cancel::new()).unwrap_err();
        assert!(matches!(error, SearchError::OutOfRange { .. }));
    }
}

#[test]
fn too_many_matches_are_counted_but_not_kept() {
    let tree = Tree::new(&["b: a"]);
    let many = "a\n".repeat(SEARCH_MATCHES as usize + 10);
    std::fs::write(tree.root().join("a"), &many).unwrap();
    let hits = text(&tree, "a", &["a"], &SearchOptions::default());
    assert_eq!(hits.totals.matches, SEARCH_MATCHES + 10);
    assert_eq!(hits.incomplete, [Incomplete::TooManyMatches]);
    assert!(hits.files[0].matches.is_empty());
}

#[test]
fn the_first_matches_have_previews_whatever_came_before() {
    let tree = Tree::new(&[]);
    let line = format!("needle{}\n", "y".repeat(900));
    let files = SEARCH_PREVIEW_BYTES / line.len() / 500 + 10;
    for number in 0..files {
        std::fs::write(tree.root().join(format!("{number:03}")), line.repeat(500)).unwrap();
    }
    let hits = text(&tree, "needle", &[""], &SearchOptions::default());
    assert!(hits.files.iter().any(|file| file.preview.is_none()), "the bound was not reached");
    let shown = hits.files.iter().take(RESULT_LINES / 500);
    for file in shown {
        let preview = file.preview.as_ref().unwrap();
        assert!(file.matches.iter().all(|found| preview.line_of(found).is_some()));
    }
}

#[test]
fn a_timeout_tells_what_was_covered() {
    let tree = Tree::new(&["a: needle"]);
    let options = SearchOptions { timeout: Some(Duration::ZERO), ..SearchOptions::default() };
    let hits = text(&tree, "needle", &[""], &options);
    assert_eq!(hits.incomplete, [Incomplete::TimedOut]);
    assert_eq!(hits.totals.files_searched, 0);
}

#[test]
fn a_cancel_stops_a_big_search_at_once() {
    let tree = Tree::new(&[]);
    let content = "some text that does not match at all\n".repeat(20_000);
    for number in 0..60 {
        tree.add(&format!("d{}/{number}: ", number % 6));
        let path = tree.root().join(format!("d{}/{number}", number % 6));
        std::fs::write(path, &content).unwrap();
    }
    let engine = Engine::new(tree.home.clone());
    let query = Query::parse("regex:(\\w+ ){30}x").unwrap();
    let scope = Scope::Paths(vec![tree.root()]);
    let cancel = Cancel::new();
    std::thread::scope(|threads| {
        let search = threads.spawn(|| {
            let options = SearchOptions::default();
            let error = engine.search(&query, &scope, &options, &cancel).unwrap_err();
            (error, Instant::now())
        });
        std::thread::sleep(Duration::from_millis(30));
        let asked = Instant::now();
        cancel.cancel();
        let (error, stopped) = search.join().unwrap();
        assert!(matches!(error, SearchError::Cancelled(_)));
        // An unoptimised build on a busy machine gets some slack.
        let most = if cfg!(debug_assertions) { 500 } else { 50 };
        assert!(stopped - asked < Duration::from_millis(most), "{:?}", stopped - asked);
    });
}
