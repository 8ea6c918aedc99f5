//! Searching inside results.

use std::sync::Arc;

use anchors::{Snapshot, Span};

use super::*;
use crate::search::{Region, SearchError};

const TEXT: &str = "one\r\ntwo one\r\nthree\nno end";

fn search(query: &str, spans: &[Span]) -> TextHits {
    let snapshot = Arc::new(Snapshot::decode(TEXT.as_bytes().to_vec()).unwrap());
    let region = Region { path: "r".into(), snapshot, spans: spans.to_vec() };
    let engine = Engine::new(crate::walk::GitHome::default());
    let query = Query::parse(query).unwrap();
    let scope = Scope::Regions(vec![region]);
    match engine.search(&query, &scope, &SearchOptions::default(), &Cancel::new()).unwrap() {
        Outcome::Text(hits) => hits,
        Outcome::Names(_) => panic!("a text query"),
    }
}

/// Checks the spans and lines that are found.
fn check_spans(query: &str, spans: &[Span], expected: &[(usize, usize, usize)]) {
    let hits = search(query, spans);
    let found: Vec<_> = hits
        .files
        .iter()
        .flat_map(|file| &file.matches)
        .map(|m| (m.span.start, m.span.end, m.line))
        .collect();
    assert_eq!(found, expected, "{query}");
}

#[test]
fn each_span_is_searched_on_its_own() {
    let all = Span::new(0, TEXT.len());
    check_spans("one", &[all], &[(0, 3, 1), (9, 12, 2)]);
    check_spans("one", &[Span::new(4, TEXT.len())], &[(9, 12, 2)]);
    // Touching spans are not one text.
    check_spans("one", &[Span::new(0, 2), Span::new(2, 12)], &[(9, 12, 2)]);
    check_spans("one", &[Span::new(0, 5), Span::new(0, 12), all], &[(0, 3, 1), (9, 12, 2)]);
    check_spans("one", &[Span::new(9, 12), Span::new(0, 3)], &[(0, 3, 1), (9, 12, 2)]);
}

#[test]
fn ends_of_a_span_are_ends_of_lines() {
    check_spans("regex:^o", &[Span::new(9, 12)], &[(9, 10, 2)]);
    check_spans("regex:one$", &[Span::new(0, 4)], &[(0, 3, 1)]);
    check_spans("regex:w$", &[Span::new(5, 7)], &[(6, 7, 2)]);
}

#[test]
fn lines_are_those_of_the_whole_text() {
    let hits = search("end", &[Span::new(23, TEXT.len())]);
    let found = hits.files[0].matches[0];
    assert_eq!((found.line, found.column, found.line_span), (4, 3, Span::new(20, 26)));
    let preview = hits.files[0].preview.as_ref().unwrap();
    assert_eq!(preview.line_of(&found).unwrap().text, "no end");
}

#[test]
fn names_are_not_in_texts() {
    let engine = Engine::new(crate::walk::GitHome::default());
    let query = Query::parse("files:a").unwrap();
    let error = engine
        .search(&query, &Scope::Regions(vec![]), &SearchOptions::default(), &Cancel::new())
        .unwrap_err();
    assert!(matches!(error, SearchError::NotInRegions { .. }));
}
