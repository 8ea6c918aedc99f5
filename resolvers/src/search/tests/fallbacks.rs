//! Literal, then regular expression, then words; case and words.

use super::*;
use crate::search::{Form, Notice};

#[test]
fn literal_comes_first() {
    let tree = Tree::new(&["a: foo.bar|fooxbar", "b: fooxbar"]);
    let hits = check(&tree, "foo.bar", &["a:1:0"]);
    assert_eq!((hits.form, hits.notices), (Form::Literal("foo.bar".into()), vec![]));
}

#[test]
fn then_the_regular_expression() {
    let tree = Tree::new(&["a: fooxbar", "b: f"]);
    let hits = check(&tree, "foo.bar", &["a:1:0"]);
    assert_eq!(hits.form, Form::Regex("foo.bar".into()));
    assert_eq!(hits.notices, [Notice::TriedRegex]);
}

#[test]
fn then_the_words() {
    let tree = Tree::new(&["a: one|x|two", "b: three"]);
    let hits = check(&tree, "two one", &["a:1:0", "a:3:0"]);
    let words = vec!["two".to_owned(), "one".to_owned()];
    assert_eq!(hits.notices, [Notice::TriedWords { words: words.clone() }]);
    assert_eq!(hits.form, Form::Words(words));
    check(&tree, "\"two one\"", &[]);
}

#[test]
fn an_invalid_optional_regex_is_only_a_notice() {
    let tree = Tree::new(&["a: x"]);
    let hits = check(&tree, "f(", &[]);
    assert!(matches!(hits.notices[..], [Notice::SkippedRegex { column: 2, .. }]));
}

#[test]
fn unknown_prefixes_are_searched_as_text() {
    let tree = Tree::new(&["a: unknown:needle|needle"]);
    let hits = check(&tree, "unknown:needle", &["a:1:0"]);
    assert_eq!(hits.notices, [Notice::UnknownPrefix { prefix: "unknown".into() }]);
}

#[test]
fn case_is_smart_unless_given() {
    let tree = Tree::new(&["a: foo FOO Foo|É é"]);
    check(&tree, "foo", &["a:1:0", "a:1:4", "a:1:8"]);
    check(&tree, "Foo", &["a:1:8"]);
    check(&tree, "é", &["a:2:0", "a:2:2"]);
    check(&tree, "regex:fo{2}", &["a:1:0", "a:1:4", "a:1:8"]);
    check(&tree, "regex:\\bFo", &["a:1:8"]);
    let with = |query, case| {
        let options = SearchOptions { case_sensitive: Some(case), ..SearchOptions::default() };
        places(&tree, &text(&tree, query, &[""], &options))
    };
    assert_eq!(with("foo", true), ["a:1:0"]);
    assert_eq!(with("Foo", false).len(), 3);
    assert_eq!(with("regex:F", false).len(), 3);
}

#[test]
fn whole_words() {
    let tree = Tree::new(&["a: cat concat cat_ éat|at", "b: -2 a-2"]);
    let with = |query| {
        let options = SearchOptions { whole_word: true, ..SearchOptions::default() };
        places(&tree, &text(&tree, query, &[""], &options))
    };
    assert_eq!(with("cat"), ["a:1:0"]);
    assert_eq!(with("at"), ["a:2:0"]);
    assert_eq!(with("regex:c?at"), ["a:1:0", "a:2:0"]);
    assert_eq!(with("-2"), ["b:1:0"]);
}

#[test]
fn a_form_can_be_repeated() {
    let tree = Tree::new(&["a: fooxbar"]);
    let hits = check(&tree, "foo.bar", &["a:1:0"]);
    let engine = Engine::new(tree.home.clone());
    let scope = Scope::Paths(vec![tree.root()]);
    let options = SearchOptions::default();
    let again = engine.search_form(&hits.form, &scope, &options, &Cancel::new()).unwrap();
    assert_eq!(again.files, hits.files);
}
