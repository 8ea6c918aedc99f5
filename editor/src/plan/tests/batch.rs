//! Several mutations at once.

use super::*;
use crate::testing::target;

fn after(plan: &Plan) -> &str {
    plan.files[0].after.snapshot().text()
}

#[track_caller]
fn check_overlap(before: &str, first: Mutation, second: Mutation, message: &str) {
    let plan = plan(&[first, second]);
    assert!(plan.outcomes[0].is_ok());
    let error = plan.outcomes[1].as_ref().unwrap_err();
    assert_eq!(error.code(), anchors::ErrorCode::OverlappingEdits);
    assert!(error.to_string().starts_with(message), "{error}");
    assert_ne!(after(&plan), before);
}

#[test]
fn every_mutation_sees_the_original() {
    let before = "1\n2\n3\n4\n5";
    check(
        before,
        &[
            delete(before, &[At::Lines(5, 5)]),
            replace(before, &[At::Lines(1, 1)], "one\neins"),
            insert(before, &[At::Lines(3, 3)], "X", Side::After, Separation::Line),
            replace(before, &[At::Text("2")], "two"),
        ],
        "one\neins\ntwo\n3\nX\n4",
    );
}

#[test]
fn the_later_of_two_that_overlap_is_refused() {
    let before = "1\n2\n3\n4\n";
    check_overlap(
        before,
        delete(before, &[At::Lines(1, 2)]),
        replace(before, &[At::Lines(2, 3)], "X"),
        "lines 2-3 of `/f` overlaps lines 1-2 of call 1 in this batch",
    );
    check_overlap(
        before,
        replace(before, &[At::Lines(2, 3)], "X"),
        insert(before, &[At::Lines(2, 2)], "Y", Side::After, Separation::Line),
        "the insertion at line 3 of `/f` overlaps lines 2-3",
    );
    let same = || insert(before, &[At::Lines(2, 2)], "Y", Side::After, Separation::Line);
    check_overlap(before, same(), same(), "the insertion at line 3 of `/f` overlaps the insertion");
    let whole = write(Some(before), "all\n");
    check_overlap(before, delete(before, &[At::Lines(1, 1)]), whole.clone(), "the whole text");
    check_overlap(before, whole, delete(before, &[At::Lines(1, 1)]), "line 1 of `/f` overlaps");
}

#[test]
fn ranges_of_one_mutation_must_not_overlap_either() {
    let before = "1\n2\n3\n";
    let plan = plan(&[
        replace(before, &[At::Lines(1, 2), At::Lines(2, 3)], "X"),
        replace(before, &[At::Lines(3, 3)], "three"),
    ]);
    let error = plan.outcomes[0].as_ref().unwrap_err();
    assert!(error.to_string().starts_with("lines 2-3 of `/f` overlaps lines 1-2;"), "{error}");
    assert_eq!(after(&plan), "1\n2\nthree\n");
}

#[test]
fn touching_is_allowed() {
    let before = "1\n2\n3";
    let (a, b) = (Side::After, Side::Before);
    let at =
        |line, text, side| insert(before, &[At::Lines(line, line)], text, side, Separation::Line);
    let of = |line, text| replace(before, &[At::Lines(line, line)], text);
    let gone = |line| delete(before, &[At::Lines(line, line)]);
    check(before, &[of(1, "a"), of(2, "b"), of(3, "c")], "a\nb\nc");
    check(before, &[at(1, "X", a), of(2, "b"), of(1, "a")], "a\nX\nb\n3");
    check(before, &[at(2, "Y", b), at(1, "X", a)], "1\nX\nY\n2\n3");
    check(before, &[gone(3), gone(2)], "1");
    check(before, &[gone(3), of(2, "b")], "1\nb");
    check(before, &[gone(3), of(2, "2")], "1\n2");
    check(before, &[gone(3), at(2, "X", a)], "1\n2\nX");
    check(before, &[gone(3), at(3, "X", b)], "1\n2\nX");
    check(before, &[gone(3), at(3, "X", a)], "1\n2\nX");
    check(before, &[of(3, "c\n"), at(3, "X", a)], "1\n2\nc\nX");
    check(before, &[gone(1), gone(2), gone(3), at(3, "X", a)], "X");
}

#[test]
fn blank_lines_are_shared_by_insertions_that_meet() {
    let before = "A\nB\n";
    let at = |line, text, side| {
        insert(before, &[At::Lines(line, line)], text, side, Separation::BlankLine)
    };
    let edits = [at(1, "X", Side::After), at(2, "Y", Side::Before)];
    check(before, &edits, "A\n\nX\n\nY\n\nB\n");
}

#[test]
fn a_mutation_is_refused_as_a_whole() {
    let (f, g) = (snapshot("1\n2\n"), snapshot("a\nb\n"));
    let first = Mutation::Delete(Delete { targets: vec![target("/f", &f, &[At::Lines(1, 1)])] });
    let second = Mutation::Replace(Replace {
        targets: vec![target("/g", &g, &[At::Lines(1, 1)]), target("/f", &f, &[At::Lines(1, 2)])],
        text: "X".to_owned(),
    });
    let third = Mutation::Delete(Delete { targets: vec![target("/g", &g, &[At::Lines(1, 1)])] });
    let plan = plan(&[first, second, third]);
    assert!(plan.outcomes[0].is_ok() && plan.outcomes[1].is_err() && plan.outcomes[2].is_ok());
    let texts: Vec<_> = plan.files.iter().map(|file| file.after.snapshot().text()).collect();
    assert_eq!(texts, ["2\n", "b\n"]);
}

#[test]
fn different_revisions_do_not_mix() {
    let plan =
        plan(&[delete("1\n2\n", &[At::Lines(1, 1)]), delete("1\n2\n3\n", &[At::Lines(2, 2)])]);
    let error = plan.outcomes[1].as_ref().unwrap_err();
    assert_eq!(error.code(), anchors::ErrorCode::FileChanged);
}

#[test]
fn results_are_in_the_merged_text() {
    let before = "1\n2\n3\n";
    let plan = plan(&[
        replace(before, &[At::Lines(3, 3)], "three"),
        replace(before, &[At::Lines(1, 1)], "one\neins"),
    ]);
    assert_eq!(selected(&plan), [("three\n", true)]);
    let old: Vec<_> = plan.files[0].line_edits().into_iter().map(|edit| edit.old).collect();
    assert_eq!(old, [1..2, 3..4]);
}

#[test]
fn rebased_targets_say_so() {
    let mut target = target("/f", &snapshot("1\n2\n"), &[At::Lines(1, 1)]);
    target.rebased = Some(Rebased { from: 3, to: 1 });
    let plan = plan(&[Mutation::Delete(Delete { targets: vec![target] })]);
    let part = &plan.outcomes[0].as_ref().unwrap().parts[0];
    assert_eq!(part.rebased, Some(Rebased { from: 3, to: 1 }));
}
