//! The rules of text, row by row, and batches.

use std::sync::Arc;

use anchors::{Encoding, Format, Rebased, Snapshot};

use super::*;
use crate::mutation::{Delete, Insert, Replace, Separation, Side, Write};
use crate::testing::{At, delete, insert, plan, replace, snapshot, write};

mod batch;
mod content;
mod properties;

/// Plans `edits` of one file and compares the outcome, which is `before` if nothing changes.
#[track_caller]
fn check(before: &str, edits: &[Mutation], after: &str) -> Plan {
    let plan = plan(edits);
    for outcome in &plan.outcomes {
        assert!(outcome.is_ok(), "{outcome:?}");
    }
    let got = plan.files.first().map_or(before, |file| file.after.snapshot().text());
    assert_eq!(got, after);
    for file in &plan.files {
        assert_eq!(file.changes.apply(before), after);
        assert_eq!(file.changes.invert(before).apply(after), before);
        assert_eq!(file.after.bytes(), after.as_bytes());
    }
    plan
}

/// What the only mutation's result selects of the new text.
fn selected(plan: &Plan) -> Vec<(&str, bool)> {
    let part = &plan.outcomes[0].as_ref().unwrap().parts[0];
    let text = match part.file {
        Some(at) => plan.files[at].after.snapshot().text(),
        None => part.before.text(),
    };
    part.ranges.iter().map(|range| (&text[range.span.range()], range.linewise)).collect()
}

#[test]
fn replacing_lines_inherits_the_terminator() {
    use At::Lines;
    for (before, at, text, after) in [
        ("a\nb\nc\n", Lines(2, 2), "X", "a\nX\nc\n"),
        ("a\nb\nc\n", Lines(2, 2), "X\n", "a\nX\nc\n"),
        ("a\nb\nc\n", Lines(1, 3), "X\nY", "X\nY\n"),
        ("a\nb", Lines(2, 2), "X", "a\nX"),
        ("a\nb", Lines(2, 2), "X\n", "a\nX\n"),
        ("a\nb", Lines(1, 1), "X\n\n", "X\n\nb"),
        ("a\r\nb\r\n", Lines(1, 1), "X\nY", "X\r\nY\r\nb\r\n"),
        ("a\r\nb\r\n", Lines(2, 2), "X\r\n", "a\r\nX\r\n"),
        ("a\r\nb\nc\n", Lines(2, 2), "X\nY", "a\r\nX\r\nY\nc\n"),
        ("a\r\nb\nc", Lines(1, 1), "X", "X\r\nb\nc"),
        ("a\nb\n", Lines(1, 1), "X\r\nY", "X\nY\nb\n"),
        ("a\rb\nc\n", Lines(2, 2), "x\ry", "a\rb\nx\ry\n"),
        ("ñ\n→\n", Lines(2, 2), "日本\né", "ñ\n日本\né\n"),
        ("a\n\nb\n", Lines(2, 2), "", "a\nb\n"),
        ("a\nb\nc", Lines(3, 3), "", "a\nb"),
        ("a\r\nb", Lines(2, 2), "", "a"),
        ("a", Lines(1, 1), "", ""),
        ("a\n", Lines(1, 1), "", ""),
    ] {
        check(before, &[replace(before, &[at], text)], after);
    }
}

#[test]
fn replacing_characters_is_exact() {
    use At::{Point, Text};
    for (before, at, text, after) in [
        ("a b c\n", Text("b"), "X", "a X c\n"),
        ("a b c\n", Text("b"), "X\nY", "a X\nY c\n"),
        ("a b c\r\n", Text("b"), "X\nY\r\nZ", "a X\r\nY\r\nZ c\r\n"),
        ("a b\r\nc\n", Text("c"), "X\nY", "a b\r\nX\r\nY\n"),
        ("a\rb", Text("\r"), "\r\r", "a\r\rb"),
        ("a b", Text(" b"), "", "a"),
        ("añb", Text("ñ"), "日", "a日b"),
        ("ab", Point(1), "X", "aXb"),
        ("", Point(0), "X\r\nY", "X\nY"),
        ("a\nb\n", Text("a\nb\n"), "", ""),
    ] {
        check(before, &[replace(before, &[at], text)], after);
    }
}

#[test]
fn inserted_lines_get_lines_of_their_own() {
    use At::{Between, Lines};
    let (a, b) = (Side::After, Side::Before);
    for (before, at, side, text, after) in [
        ("a\nb\n", Lines(1, 1), a, "X", "a\nX\nb\n"),
        ("a\nb\n", Lines(1, 1), a, "X\n", "a\nX\nb\n"),
        ("a\nb\n", Lines(1, 1), b, "X", "X\na\nb\n"),
        ("a\nb\n", Lines(2, 2), a, "X", "a\nb\nX\n"),
        ("a\nb\n", Lines(1, 2), a, "X\nY", "a\nb\nX\nY\n"),
        ("a\nb", Lines(2, 2), a, "X", "a\nb\nX"),
        ("a\nb", Lines(2, 2), a, "X\n", "a\nb\nX\n"),
        ("a\nb", Lines(2, 2), b, "X", "a\nX\nb"),
        ("a\r\nb", Lines(2, 2), a, "X\nY", "a\r\nb\r\nX\r\nY"),
        ("a\r\nb\nc\n", Lines(2, 2), a, "X", "a\r\nb\nX\r\nc\n"),
        ("a", Lines(1, 1), a, "X", "a\nX"),
        ("", Between(0), a, "X", "X"),
        ("", Between(0), b, "X\r\nY\n", "X\nY\n"),
        ("a\n", Lines(1, 1), b, "\n", "\na\n"),
        ("a\rb\n", Lines(1, 1), a, "x\ry", "a\rb\nx\ry\n"),
        ("a\nb\n", Between(2), a, "X", "a\nX\nb\n"),
        ("a\nb", Between(3), a, "X", "a\nb\nX"),
        ("a\n", Between(2), a, "X", "a\nX\n"),
    ] {
        check(before, &[insert(before, &[at], text, side, Separation::Line)], after);
    }
}

#[test]
fn inserted_characters_go_to_the_edge() {
    use At::Text;
    for (before, at, side, text, after) in [
        ("a b c\n", Text("b"), Side::After, "X", "a bX c\n"),
        ("a b c\n", Text("b"), Side::Before, "X", "a Xb c\n"),
        ("a b\r\n", Text("b"), Side::After, "\n", "a b\r\n\r\n"),
        ("ñ→", Text("ñ"), Side::After, "é", "ñé→"),
    ] {
        check(before, &[insert(before, &[at], text, side, Separation::Line)], after);
    }
}

#[test]
fn a_blank_line_stands_on_each_side_with_text() {
    let (a, b) = (Side::After, Side::Before);
    for (before, line, side, text, after) in [
        ("A\nB", 1, a, "X", "A\n\nX\n\nB"),
        ("A\nB", 2, b, "X", "A\n\nX\n\nB"),
        ("A\nB", 2, a, "X", "A\nB\n\nX"),
        ("A\nB\n", 2, a, "X", "A\nB\n\nX\n"),
        ("A\nB\n", 1, b, "X", "X\n\nA\nB\n"),
        ("A\n\nB\n", 1, a, "X", "A\n\nX\n\nB\n"),
        ("A\n\nB\n", 2, a, "X", "A\n\nX\n\nB\n"),
        ("A\n  \nB\n", 2, a, "X", "A\n  \nX\n\nB\n"),
        ("A\nB\n", 1, a, "\nX\n\n", "A\n\nX\n\nB\n"),
        ("A\r\nB\r\n", 1, a, "X\nY", "A\r\n\r\nX\r\nY\r\n\r\nB\r\n"),
    ] {
        let at = [At::Lines(line, line)];
        check(before, &[insert(before, &at, text, side, Separation::BlankLine)], after);
    }
}

#[test]
fn deleting_keeps_the_shape_of_the_end() {
    use At::{Lines, Point, Text};
    let cases: &[(&str, &[At], &str)] = &[
        ("a\nb\nc\n", &[Lines(2, 2)], "a\nc\n"),
        ("a\nb\nc\n", &[Lines(3, 3)], "a\nb\n"),
        ("a\nb\nc", &[Lines(3, 3)], "a\nb"),
        ("a\r\nb\r\nc", &[Lines(3, 3)], "a\r\nb"),
        ("a\nb\nc", &[Lines(2, 2), Lines(3, 3)], "a"),
        ("a\nb\nc", &[Lines(1, 1), Lines(3, 3)], "b"),
        ("a\nb\nc", &[Lines(1, 3)], ""),
        ("a\nb\n", &[Lines(1, 2)], ""),
        ("a\nb\n", &[Lines(1, 1), Lines(1, 1)], "b\n"),
        ("a b\nc", &[Text("b\n")], "a c"),
        ("a\nb", &[Text("b")], "a\n"),
        ("a\rb\nc", &[Lines(2, 2)], "a\rb"),
        ("a\n", &[Point(1)], "a\n"),
    ];
    for (before, at, after) in cases {
        check(before, &[delete(before, at)], after);
    }
}

#[test]
fn results_select_the_new_text_only() {
    let of = |mutation: Mutation, before: &str, after: &str| {
        selected(&check(before, &[mutation], after))
            .into_iter()
            .map(|(text, linewise)| (text.to_owned(), linewise))
            .collect::<Vec<_>>()
    };
    let line = |text: &str| vec![(text.to_owned(), true)];
    let b = "a\nb";
    assert_eq!(of(replace(b, &[At::Lines(1, 1)], "X"), b, "X\nb"), line("X\n"));
    assert_eq!(of(replace(b, &[At::Lines(1, 1)], ""), b, "b"), line(""));
    assert_eq!(of(delete(b, &[At::Lines(2, 2)]), b, "a"), line(""));
    let after = insert(b, &[At::Lines(2, 2)], "X", Side::After, Separation::BlankLine);
    assert_eq!(of(after, b, "a\nb\n\nX"), line("X"));
    let before = insert(b, &[At::Lines(1, 1)], "X", Side::After, Separation::BlankLine);
    assert_eq!(of(before, b, "a\n\nX\n\nb"), line("X\n"));
    let both = replace("x x", &[At::Exact(0, 1), At::Exact(2, 3)], "yy");
    assert_eq!(of(both, "x x", "yy yy"), [("yy".to_owned(), false), ("yy".to_owned(), false)]);
}

#[test]
fn nothing_to_do_is_no_error() {
    let before = "a\nb\n";
    for mutation in [
        replace(before, &[At::Lines(1, 1)], "a"),
        replace(before, &[At::Text("b")], "b"),
        delete(before, &[At::Point(2)]),
        write(Some(before), before),
    ] {
        let plan = check(before, &[mutation], before);
        assert!(plan.files.is_empty());
        assert!(plan.outcomes[0].as_ref().unwrap().is_no_change());
    }
}
