use super::*;
use crate::plan::Edit;
use crate::testing::snapshot;

#[track_caller]
fn check(before: &str, edits: &[(usize, usize, &str)], expected: &[(usize, usize, usize, usize)]) {
    let edit = |(start, end, text): &(usize, usize, &str)| Edit {
        span: Span::new(*start, *end),
        text: (*text).to_owned(),
    };
    let changes = ChangeSet::new(before.len(), edits.iter().map(edit).collect());
    let (old, new) = (snapshot(before), snapshot(&changes.apply(before)));
    let lines = line_changes(&old, &new, &changes);
    let got: Vec<_> = lines
        .iter()
        .map(|change| (change.old.start, change.old.end, change.new.start, change.new.end))
        .collect();
    assert_eq!(got, expected);
}

#[test]
fn lines_that_differ() {
    check("a\nb\nc\n", &[(2, 3, "x")], &[(2, 3, 2, 3)]);
    check("a\nb\nc\n", &[(2, 4, "")], &[(2, 3, 2, 2)]);
    check("a\nb\nc\n", &[(2, 2, "x\n")], &[(2, 2, 2, 3)]);
    check("a\nb", &[(3, 3, "\nx")], &[(3, 3, 3, 4)]);
    check("a\nb\n", &[(1, 2, "")], &[(1, 3, 1, 2)]);
    check("", &[(0, 0, "x\ny")], &[(1, 1, 1, 3)]);
    check("a\n", &[(0, 2, "")], &[(1, 2, 1, 1)]);
    check("a\r\nb\n", &[(1, 2, "")], &[]);
    check("a\nb\n", &[(2, 2, "x")], &[(2, 3, 2, 3)]);
}

#[test]
fn edits_of_one_line_are_one_change() {
    check("a b c\nd\n", &[(0, 1, "x"), (4, 5, "y")], &[(1, 2, 1, 2)]);
    check("a\nb", &[(2, 3, "x"), (3, 3, "\ny")], &[(2, 3, 2, 4)]);
    check("a\nb\nc\n", &[(1, 2, ""), (3, 4, "")], &[(1, 4, 1, 2)]);
    check("a\n", &[(1, 2, "N"), (2, 2, "N")], &[(1, 2, 1, 2)]);
}

#[test]
fn equal_lines_inside_are_found() {
    check("a\nb\nc\nd\n", &[(0, 8, "a\nx\nc\ny\nz\n")], &[(2, 3, 2, 3), (4, 5, 4, 6)]);
    let old: String = (0..2_000).map(|n| format!("{n}\n")).collect();
    let new = old.replace("\n1000\n", "\nx\n").replace("\n10\n", "\ny\n");
    check(&old, &[(0, old.len(), &new)], &[(11, 1_002, 11, 1_002)]);
}
