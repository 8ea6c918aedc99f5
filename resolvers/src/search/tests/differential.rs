//! Generated trees: the search must agree with a naive model, with itself on large files, and with
//! ripgrep where it is installed.

use std::sync::Arc;

use anchors::{LineIndex, Snapshot};

use super::*;
use crate::search::file::{Searched, TextSearch};
use crate::search::large;
use crate::search::matcher::{Matcher, Rules};
use crate::search::query::Form;
use crate::walk::Stop;
use crate::walk::tests::differential::{Random, ripgrep};

const WORDS: &[&str] =
    &["foo", "Foo", "bar", "é", "ÉCOLE", "😀", "x", " ", " ", "\t", "foo.bar", "a\rb", "(", "42"];
const ENDS: &[&str] = &["\n", "\n", "\r\n", "\n\n"];

fn content(random: &mut Random) -> Vec<u8> {
    let mut text = String::new();
    for _ in 0..random.below(30) {
        let words = if random.below(60) == 0 { 1_000 } else { random.below(8) };
        (0..words).for_each(|_| text.push_str(random.pick(WORDS)));
        text.push_str(random.pick(ENDS));
    }
    text.push_str(random.pick(&["", "foo", "x", "\r"]));
    let mut bytes = text.into_bytes();
    match random.below(12) {
        0 => bytes.insert(bytes.len() / 2, 0),
        1 => bytes.splice(0..0, *b"\xEF\xBB\xBF").for_each(drop),
        _ => {}
    }
    bytes
}

/// A tree of twelve files, with or without carriage returns inside lines.
fn tree(random: &mut Random, bare_cr: bool) -> Tree {
    let tree = Tree::new(&[]);
    for number in 0..12 {
        let folder = tree.root().join(format!("d{}", number % 3));
        std::fs::create_dir_all(&folder).unwrap();
        let mut content = content(random);
        if !bare_cr {
            let follows = |at: usize| content.get(at + 1) == Some(&b'\n');
            let kept = (0..content.len()).filter(|at| content[*at] != b'\r' || follows(*at));
            content = kept.map(|at| content[at]).collect();
        }
        std::fs::write(folder.join(number.to_string()), content).unwrap();
    }
    tree
}

/// Matches of a literal, found the slow way, as `path:line:column`.
fn naive(tree: &Tree, needle: &str, insensitive: bool) -> Vec<String> {
    let fold = |c: char| match insensitive {
        true => c.to_lowercase().next().unwrap(),
        false => c,
    };
    let needle: Vec<char> = needle.chars().map(fold).collect();
    let mut found = Vec::new();
    let mut paths: Vec<_> = (0..12).map(|number| format!("d{}/{number}", number % 3)).collect();
    paths.sort();
    for path in paths {
        let bytes = std::fs::read(tree.root().join(&path)).unwrap();
        if bytes.contains(&0) {
            continue;
        }
        let Ok(snapshot) = Snapshot::decode(bytes) else { continue };
        let index = LineIndex::new(snapshot.text());
        for number in 1..=index.count() {
            let line: Vec<char> = snapshot.line_text(number).unwrap().chars().collect();
            let folded: Vec<char> = line.iter().copied().map(fold).collect();
            let mut at = 0;
            while at + needle.len() <= line.len() {
                if folded[at..].starts_with(&needle) {
                    let column: usize = line[..at].iter().map(|c| c.len_utf16()).sum();
                    found.push(format!("{path}:{number}:{column}"));
                    at += needle.len();
                } else {
                    at += 1;
                }
            }
        }
    }
    found
}

#[test]
fn agrees_with_a_naive_model() {
    for seed in 0..15 {
        let mut random = Random(seed);
        let tree = tree(&mut random, true);
        for needle in ["foo", "Foo", "é", "😀x", "foo.bar", "école", "("] {
            let insensitive = !needle.chars().any(char::is_uppercase);
            let expected = naive(&tree, needle, insensitive);
            let query = format!("\"{needle}\"");
            let hits = text(&tree, &query, &[""], &SearchOptions::default());
            assert_eq!(places(&tree, &hits), expected, "seed {seed}, {needle}");
            let escaped = format!("regex:{}", regex_syntax::escape(needle));
            let hits = text(&tree, &escaped, &[""], &SearchOptions::default());
            assert_eq!(places(&tree, &hits), expected, "seed {seed}, regex {needle}");
        }
    }
}

#[test]
fn agrees_with_ripgrep() {
    let patterns = ["fo+", "^foo", "\\bfoo\\b", "[^x]é", "o.b", "\\w\\d", "^$", "😀|42"];
    for seed in 0..20 {
        let mut random = Random(seed + 1_000);
        // At a carriage return inside a line ripgrep sees a line end, we do not.
        let tree = tree(&mut random, false);
        for pattern in patterns {
            let Some(mut rg) = ripgrep() else { return };
            rg.args(["--crlf", "-S", "--count-matches", "--sort", "path", "-e", pattern]);
            let output = rg.current_dir(tree.root()).output().unwrap();
            let expected = String::from_utf8(output.stdout).unwrap();
            let query = format!("regex:{pattern}");
            let hits = text(&tree, &query, &[""], &SearchOptions::default());
            let mut lines: Vec<String> = hits
                .files
                .iter()
                .map(|file| format!("{}:{}", short(&tree, &file.path), file.count))
                .collect();
            let mut expected: Vec<&str> = expected.lines().collect();
            lines.sort();
            expected.sort_unstable();
            assert_eq!(lines, expected, "seed {seed}, {pattern}");
        }
    }
}

#[test]
fn a_large_file_gives_what_a_small_one_would() {
    let mut random = Random(7);
    let mut text = String::new();
    while text.len() < 13 << 20 {
        text.push_str(&"filler ".repeat(random.below(400)));
        if random.below(3) == 0 {
            text.push_str("needle é needle");
        }
        text.push_str(random.pick(ENDS));
    }
    text.push_str("needle");
    let tree = Tree::new(&[]);
    let path = tree.root().join("f");
    std::fs::write(&path, &text).unwrap();
    let rules = Rules { case_sensitive: None, whole_word: false };
    let matcher = Matcher::new(&Form::Regex("needle$|é".into()), rules).unwrap();
    let stop = Stop::new(Cancel::new(), None);
    let search = TextSearch::new(matcher.clone(), 2, stop, Arc::default());
    let mut file = std::fs::File::open(&path).unwrap();
    let mut buffer = vec![0; 1000];
    std::io::Read::read_exact(&mut file, &mut buffer).unwrap();
    let large = large::search(&search, &mut file, &matcher, (&mut buffer, 1000)).unwrap();
    let Searched::Found(hash, large) = large else { panic!("{large:?}") };
    let Searched::Found(expected_hash, small) = search.whole(text.as_bytes(), &matcher) else {
        panic!("it has matches");
    };
    assert_eq!(hash, expected_hash);
    assert!(large.count > 1_000);
    assert_eq!(large.matches, small.matches);
    let lines = |preview: &crate::search::Preview| -> Vec<(usize, String)> {
        preview.lines().map(|line| (line.number, line.text.to_owned())).collect()
    };
    assert_eq!(lines(&large.preview), lines(&small.preview));
}
