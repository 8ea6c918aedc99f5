use super::*;
use crate::mutation::{Mutation, Replace, Separation, Side};
use crate::testing::{At, delete, insert, plan, replace, snapshot, target, write};
use anchors::Salt;

fn receipt(mutation: Mutation) -> Receipt {
    let plan = plan(&[mutation]);
    let planned = plan.outcomes[0].as_ref().unwrap();
    Receipt::new(&plan, planned, |_| Fate::default())
}

/// The receipt with every hash written as `#`, which is all that a reader of a test needs.
fn text(receipt: &Receipt) -> String {
    let rendered = receipt.render(|source| source.as_str().trim_start_matches('/').to_owned());
    let line = |line: &str| match line.split_once('│') {
        Some((anchor, text)) => {
            let (number, hash) = anchor.split_once('#').unwrap();
            let whole = !text.contains("bytes]");
            assert!(
                !whole || anchors::LineHash::of(text, Salt::default()).to_string() == hash,
                "{line}"
            );
            format!("{number}#│{text}")
        }
        None => line.to_owned(),
    };
    rendered.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

#[track_caller]
fn check(mutation: Mutation, expected: &str) {
    assert_eq!(text(&receipt(mutation)), expected);
}

fn numbers(count: usize) -> String {
    (1..=count).map(|n| format!("line {n}\n")).collect()
}

#[test]
fn a_change_is_shown_with_fresh_anchors() {
    let before = "fn main() {\n    old();\n}\n";
    check(
        replace(before, &[At::Lines(2, 2)], "    new();\n    more();"),
        "f: +2 -1\n1#│fn main() {\n-    old();\n2#│    new();\n3#│    more();\n4#│}",
    );
    check(
        replace(before, &[At::Text("old")], "new"),
        "f: +1 -1\n1#│fn main() {\n-    old();\n2#│    new();\n3#│}",
    );
    check(
        insert(before, &[At::Lines(3, 3)], "x", Side::After, Separation::BlankLine),
        "f: +2\n3#│}\n4#│\n5#│x",
    );
    check(delete(before, &[At::Lines(2, 2)]), "f: -1\n1#│fn main() {\n-    old();\n2#│}");
    check(delete(before, &[At::Lines(1, 3)]), "f: -3, now empty\n-fn main() {\n-    old();\n-}");
}

#[test]
fn equal_lines_inside_a_replacement_are_not_repeated() {
    let before = numbers(9);
    let after = before.replace("line 2\n", "").replace("line 8\n", "eight\nacht\n");
    check(
        replace(&before, &[At::Lines(1, 9)], &after),
        "f: +2 -2\n1#│line 1\n-line 2\n2#│line 3\n…\n6#│line 7\n-line 8\n7#│eight\n8#│acht\n9#│line 9",
    );
}

#[test]
fn near_changes_share_their_context() {
    let before = numbers(6);
    check(
        replace(&before, &[At::Lines(2, 2), At::Lines(5, 5)], "x"),
        "f: 2 changes, +2 -2\n1#│line 1\n-line 2\n2#│x\n3#│line 3\n4#│line 4\n-line 5\n5#│x\n6#│line 6",
    );
}

#[test]
fn the_end_of_the_file_is_told() {
    check(replace("a\nb", &[At::Lines(2, 2)], "b\n"), "f: final newline added");
    check(
        replace("a\nb", &[At::Lines(2, 2)], "c\n"),
        "f: +1 -1, final newline added\n1#│a\n-b\n2#│c",
    );
    check(insert("a", &[At::Lines(1, 1)], "b", Side::After, Separation::Line), "f: +1\n1#│a\n2#│b");
    check(replace("a\r\nb\r\n", &[At::Text("\r")], ""), "f: line endings only");
}

#[test]
fn writes_never_show_text() {
    check(write(None, "a\nb\n"), "f: created, 2 lines, 4 bytes");
    check(write(None, ""), "f: created, 0 lines, 0 bytes");
    check(write(Some("x\n"), "a"), "f: replaced, 1 line, 1 byte");
    check(write(Some("a\n"), "a\n"), "f: no change, the text is already so");
    assert!(receipt(write(Some("x\n"), "a")).shown().is_empty());
}

impl Receipt {
    fn shown(&self) -> Vec<(usize, usize)> {
        self.files.iter().flat_map(|file| file.shown.clone()).collect()
    }
}

#[test]
fn shown_lines_and_selection_are_reported() {
    let before = numbers(10);
    let receipt = receipt(replace(&before, &[At::Lines(2, 2), At::Lines(8, 8)], "x\ny"));
    assert_eq!(receipt.shown(), [(1, 4), (8, 11)]);
    assert!(receipt.selection.complete);
    let after = before.replace("line 2", "x\ny").replace("line 8", "x\ny");
    let ranges = &receipt.selection.parts[0].ranges;
    let texts: Vec<_> = ranges.iter().map(|range| &after[range.span.range()]).collect();
    assert_eq!(texts, ["x\ny\n", "x\ny\n"]);
    assert_eq!(receipt.selection.parts[0].content, snapshot(&after).hash());
}

#[test]
fn nothing_to_do_is_said() {
    check(replace("a\n", &[At::Lines(1, 1)], "a"), "f: no change, the text is already so");
    check(delete("a\n", &[]), "No change: nothing is selected.");
    assert!(receipt(delete("a\n", &[])).is_no_change());
}

#[test]
fn long_changes_are_cut() {
    let new = receipt(replace("a\nb\nc\n", &[At::Lines(2, 2)], &numbers(100)));
    let text = text(&new);
    assert!(text.contains("19#│line 18\n… 73 more lines\n93#│line 92\n"), "{text}");
    assert_eq!(new.shown(), [(1, 19), (93, 102)]);
    let before = numbers(60);
    let gone = receipt(delete(&before, &[At::Lines(11, 50)]));
    assert!(
        self::text(&gone).contains("-line 16\n… 31 more lines\n-line 48\n"),
        "{}",
        self::text(&gone)
    );
    let wide = format!("{}\n", "w".repeat(200)).repeat(30);
    assert!(self::text(&receipt(replace("a\n", &[At::Lines(1, 1)], &wide))).len() < 5_000);
}

#[test]
fn long_lines_are_windowed_around_the_change() {
    let before = format!("{}needle{}\n", "é".repeat(2_000), "x".repeat(3_000));
    let receipt = receipt(replace(&before, &[At::Text("needle")], "thread"));
    let text = text(&receipt);
    assert!(text.contains("…[3940 bytes]é") && text.contains("éthreadx"), "{text}");
    assert!(text.contains("éneedlex") && text.contains("bytes]…\n") && text.len() < 700, "{text}");
}

#[test]
fn many_changes_are_bounded_and_counted() {
    let before = numbers(3_000);
    let at: Vec<At> = (1..1_500).map(|n| At::Lines(2 * n, 2 * n)).collect();
    let receipt = receipt(replace(&before, &at, "x"));
    let text = text(&receipt);
    assert!(
        text.starts_with("f: 1499 changes, +1499 -1499\n-line 2\n2#│x\n3#│line 3\n-line 4\n"),
        "{text}"
    );
    assert!(text.ends_with("more changes") && text.len() < 20_000);
    assert_eq!(receipt.selection.parts[0].ranges.len(), 1_499);
}

#[test]
fn many_files_are_bounded_and_counted() {
    let text = snapshot("a\nb\n");
    let file = |n| target(&format!("/{}/{n}", "long".repeat(20)), &text, &[At::Lines(1, 1)]);
    let targets = (0..2_000).map(file).collect();
    let receipt = receipt(Mutation::Replace(Replace { targets, text: "x".to_owned() }));
    let text = tests::text(&receipt);
    assert!(text.starts_with("Applied: 2000 changes in 2000 files.\n"), "{text}");
    assert!(text.ends_with("more files") && text.len() < 45_000, "{}", text.len());
}

#[test]
fn effects_and_moves_are_told() {
    let mut target = target("/f", &snapshot("a\nb\n"), &[At::Lines(2, 2)]);
    target.rebased = Some(Rebased { from: 9, to: 2 });
    let mutation = Mutation::Replace(Replace { targets: vec![target], text: "x".to_owned() });
    let plan = plan(&[mutation]);
    let of = |effect| {
        Receipt::new(&plan, plan.outcomes[0].as_ref().unwrap(), |_| Fate {
            effect,
            salt: Salt::default(),
        })
    };
    let lines = "\n1#│a\n-b\n2#│x";
    let rebased = "f: +1 -1, rebased from line 9 to line 2";
    assert_eq!(text(&of(Effect::Applied)), format!("{rebased}{lines}"));
    assert_eq!(
        text(&of(Effect::Pending)),
        format!("f: pending{}{lines}", &rebased[2..].replacen(' ', ", ", 1))
    );
    assert_eq!(text(&of(Effect::NotApplied)), "f: not applied");
    assert_eq!(text(&of(Effect::Unknown)), "f: outcome unknown; read the file before going on");
    assert!(!of(Effect::Unknown).selection.complete && of(Effect::Unknown).shown().is_empty());
    assert_eq!(of(Effect::NotApplied).effect(), Effect::NotApplied);
}
