//! Promise 2: `kill -9` at any instant leaves every file whole, and all of a call's files old or
//! all of them new.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;

use crate::support::Daemon;

/// How often the daemon is killed. The instants are spread over the whole life of a commit.
const KILLS: u32 = 300;
const FILES: usize = 12;

#[test]
fn a_killed_daemon_leaves_all_old_or_all_new() {
    let mut daemon = Daemon::start();
    let workspace = daemon.workspace();
    let files = fill(&workspace);
    let (mut old, mut new) = (0, 0);
    let mut before = 0;
    for round in 0..KILLS {
        let mut session = daemon.session(&workspace);
        let found = session.call("search", &json!({"query": format!("\"value {before}.\"")}));
        let all = found.search_id().expect("the search finds the value in every file");
        let text = format!("value {}.", round + 1);
        session.send("replace", &json!({"path": format!("{all}:all:match"), "text": text}));
        // A commit takes a few milliseconds here; the product walks through all of them.
        std::thread::sleep(Duration::from_micros(u64::from(round) * 7919 % 12_000));
        daemon.kill();
        daemon.restart();
        before = settle(&mut daemon, &workspace, &files, before, round + 1);
        if before == round + 1 { new += 1 } else { old += 1 }
    }
    println!("{KILLS} kills: {old} all old, {new} all new");
    assert!(
        old > 0 && new > 0,
        "the kills must hit both sides of the commit: {old} old, {new} new"
    );
}

/// A tree with the kinds of file that are committed in different ways.
fn fill(workspace: &Path) -> Vec<PathBuf> {
    let padding = "some other line\n".repeat(200);
    let file = |n: usize| {
        let path = workspace.join(format!("folder {}/file {n}.txt", n % 3));
        std::fs::create_dir_all(path.parent().expect("it has a folder")).expect("a folder");
        std::fs::write(&path, format!("{padding}value 0.\n{padding}")).expect("a file");
        path
    };
    let mut files: Vec<PathBuf> = (0..FILES).map(file).collect();
    // A hard link is written in place; its other name must show the same text.
    let twin = workspace.join("folder 0/.twin");
    std::fs::hard_link(&files[0], &twin).expect("a hard link");
    files.push(twin);
    files
}

/// After the restart (a call waits for recovery): what all files say.
fn settle(daemon: &mut Daemon, workspace: &Path, files: &[PathBuf], old: u32, new: u32) -> u32 {
    let mut session = daemon.session(workspace);
    session.call("read", &json!({"path": "."}));
    let values: Vec<u32> = files.iter().map(|path| value(path)).collect();
    assert!(
        values.iter().all(|value| *value == values[0]),
        "a torn commit from {old} to {new}: {values:?}"
    );
    assert!(values[0] == old || values[0] == new, "{values:?} is neither {old} nor {new}");
    let strays: Vec<PathBuf> = walk(workspace)
        .into_iter()
        .filter(|path| path.to_string_lossy().contains(".capstan-"))
        .collect();
    assert!(strays.is_empty(), "left behind: {strays:?}");
    values[0]
}

fn value(path: &Path) -> u32 {
    let text = std::fs::read_to_string(path).expect("every file is whole");
    assert_eq!(text.lines().count(), 401, "{} is torn", path.display());
    let line = text.lines().nth(200).expect("401 lines");
    line.trim_start_matches("value ").trim_end_matches('.').parse().expect("a number")
}

fn walk(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a readable folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(walk(&path));
        }
        found.push(path);
    }
    found
}
