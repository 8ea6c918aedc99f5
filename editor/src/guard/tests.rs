use std::collections::HashSet;

use super::*;
use crate::testing::{At, Seen, plan_with, replace, snapshot, write};

#[derive(Default)]
struct Session {
    seen: HashSet<ContentHash>,
    held: HeldCalls,
}

impl GuardSession for Session {
    fn has_seen(&self, _: &SourceId, content: ContentHash) -> bool {
        self.seen.contains(&content)
    }

    fn is_repeat(&self, call: u128) -> bool {
        self.held.is_repeat(call)
    }
}

/// Denies edits whose new text has a word.
struct Word(&'static str);

impl Guard for Word {
    fn id(&self) -> &'static str {
        self.0
    }

    fn check(&self, edit: &PlannedEdit<'_>) -> Verdict {
        let has = |(_, file): (_, &PlannedFile)| file.after.snapshot().text().contains(self.0);
        if !edit.files().any(has) {
            return Verdict::Allow;
        }
        let (guard, code) = (self.0, ErrorCode::GuardDenied);
        Verdict::Deny { guard, code, message: format!("no {}", self.0), hint: None }
    }
}

fn overwrite() -> Guards {
    Guards::new(vec![Box::new(OverwriteGuard)])
}

#[track_caller]
fn check_write(session: &Session, before: Option<&str>, text: &str, allowed: bool) {
    let plan = plan_with(&[write(before, text)], &overwrite(), session);
    assert_eq!(plan.outcomes[0].is_ok(), allowed, "{:?}", plan.outcomes[0]);
    if let Err(error) = &plan.outcomes[0] {
        assert_eq!(error.code(), ErrorCode::UnseenOverwrite);
        assert!(plan.files.is_empty());
    }
}

#[test]
fn an_unknown_file_is_overwritten_at_the_second_call() {
    let session = Session::default();
    check_write(&session, Some("old\n"), "new\n", false);
    check_write(&session, Some("old\n"), "other\n", false);
    check_write(&session, Some("old\n"), "new\n", true);
    // The repeat is used up, and the file must be the same as well.
    check_write(&session, Some("old\n"), "new\n", false);
    check_write(&session, Some("older\n"), "new\n", false);
}

#[test]
fn known_and_new_files_are_written_at_once() {
    let mut session = Session::default();
    session.seen.insert(snapshot("old\n").hash());
    check_write(&session, Some("old\n"), "new\n", true);
    check_write(&session, None, "new\n", true);
    check_write(&session, Some("same\n"), "same\n", true);
}

#[test]
fn other_edits_are_not_held() {
    let edit = replace("a\n", &[At::Lines(1, 1)], "b");
    assert!(plan_with(&[edit], &overwrite(), &Session::default()).outcomes[0].is_ok());
}

#[test]
fn the_first_guard_that_denies_is_heard_and_the_rest_of_the_batch_lives() {
    let guards = Guards::new(vec![Box::new(Word("evil")), Box::new(Word("bad"))]);
    let before = "1\n2\n";
    let plan = plan_with(
        &[write(Some(before), "bad and evil"), replace(before, &[At::Lines(1, 1)], "fine")],
        &guards,
        &Seen,
    );
    assert_eq!(plan.outcomes[0].as_ref().unwrap_err().to_string(), "no evil");
    // The later edit overlapped the write when it was planned: it is to be tried again.
    assert_eq!(plan.outcomes[1].as_ref().unwrap_err().code(), ErrorCode::OverlappingEdits);
    assert!(plan.files.is_empty());
}

#[test]
fn a_denied_edit_is_taken_out_of_the_file() {
    let guards = Guards::new(vec![Box::new(DenyDeletes)]);
    let before = "1\n2\n3\n";
    let plan = plan_with(
        &[
            crate::testing::delete(before, &[At::Lines(1, 1)]),
            replace(before, &[At::Lines(3, 3)], "three"),
        ],
        &guards,
        &Seen,
    );
    assert!(plan.outcomes[0].is_err() && plan.outcomes[1].is_ok());
    assert_eq!(plan.files[0].after.snapshot().text(), "1\n2\nthree\n");
}

struct DenyDeletes;

impl Guard for DenyDeletes {
    fn id(&self) -> &'static str {
        "no-deletes"
    }

    fn check(&self, edit: &PlannedEdit<'_>) -> Verdict {
        if edit.mutation.verb() != "delete" {
            return Verdict::Allow;
        }
        let message = "deleting is not allowed here".to_owned();
        let hint = Some("replace instead".to_owned());
        Verdict::Deny { guard: self.id(), code: ErrorCode::GuardDenied, message, hint }
    }
}

#[test]
fn held_calls_are_bounded() {
    let held = HeldCalls::default();
    for call in 0..HELD_CALLS as u128 + 1 {
        assert!(!held.is_repeat(call));
    }
    assert!(!held.is_repeat(0) && held.is_repeat(HELD_CALLS as u128));
}
