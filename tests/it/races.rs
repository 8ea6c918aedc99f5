//! Many sessions at one file: every edit that was reported as applied is in the file, once.

use std::sync::Arc;

use serde_json::json;

use crate::support::Daemon;

const SESSIONS: usize = 8;
const EDITS: usize = 25;

/// Every session bumps its own line of one file by its anchor. The others change the file all the
/// time, so each edit needs a proven rebase or a fresh read; none may be lost.
#[test]
fn sessions_that_edit_one_file_lose_nothing() {
    let daemon = Arc::new(Daemon::start());
    let workspace = daemon.workspace();
    let lines: String =
        (0..SESSIONS).map(|n| format!("begin {n}\ncount {n}: 0\nend {n}\n")).collect();
    std::fs::write(workspace.join("counts.txt"), lines).expect("a file");
    let threads: Vec<_> = (0..SESSIONS)
        .map(|n| {
            let (daemon, workspace) = (daemon.clone(), workspace.clone());
            std::thread::spawn(move || {
                let mut session = daemon.session(&workspace);
                let (mut done, mut refused) = (0, 0);
                while done < EDITS {
                    let read = session.call(
                        "read",
                        &json!({"path": format!("counts.txt#begin {n}"), "limit": 3, "views": ["anchors"]}),
                    );
                    let anchor = read.anchor_of(&format!("count {n}: {done}"));
                    let edit = session.call(
                        "replace",
                        &json!({"path": "counts.txt", "start": anchor, "text": format!("count {n}: {}", done + 1)}),
                    );
                    if edit.is_error { refused += 1 } else { done += 1 }
                    assert!(refused < 1_000, "session {n} gets nowhere: {}", edit.text);
                }
                refused
            })
        })
        .collect();
    let refused: usize = threads.into_iter().map(|thread| thread.join().expect("no panic")).sum();
    let text = std::fs::read_to_string(workspace.join("counts.txt")).expect("the file");
    let expected: String =
        (0..SESSIONS).map(|n| format!("begin {n}\ncount {n}: {EDITS}\nend {n}\n")).collect();
    assert_eq!(text, expected);
    println!("{} edits by {SESSIONS} sessions, {refused} refused and retried", SESSIONS * EDITS);
}

/// A file that another program rewrites while it is edited: the other program's text survives.
#[test]
fn what_another_program_writes_is_never_lost() {
    let daemon = Daemon::start();
    let workspace = daemon.workspace();
    let path = workspace.join("log.txt");
    let mut session = daemon.session(&workspace);
    for round in 0..200 {
        std::fs::write(&path, format!("target {round}\n")).expect("a file");
        session.call("read", &json!({"path": "log.txt", "views": ["anchors"]}));
        let other = {
            let path = path.clone();
            std::thread::spawn(move || {
                use std::io::Write as _;
                let mut file = std::fs::File::options().append(true).open(path).expect("the file");
                file.write_all(b"from the other program\n").expect("a write");
            })
        };
        let edit = session.call(
            "replace",
            &json!({"path": "log.txt", "start": format!("target {round}"), "text": "edited"}),
        );
        other.join().expect("no panic");
        let text = std::fs::read_to_string(&path).expect("the file");
        let kept = text.contains("from the other program");
        // The other program may hold the file open across the replacement: its line then went to
        // the file that was replaced, which is the one case that no rename can see.
        assert!(kept || !edit.is_error, "round {round}: {text:?} after {}", edit.text);
        assert_eq!(text.contains("edited"), !edit.is_error, "round {round}: {text:?}");
    }
}
