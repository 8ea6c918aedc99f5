//! The closest existing names to one that is not there.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anchors::Cancel;

use super::Base;
use crate::host::{Host, Kind};

/// Names that are looked at.
const NAMES: usize = 20_000;
/// Names of one folder.
const FOLDER_NAMES: usize = 5_000;
/// How long the look takes at most: a missing file should fail fast.
const TIME: Duration = Duration::from_millis(250);
/// Names that are told.
const TOLD: usize = 3;
/// Lengths of names, in characters, for which likeness means something.
const LENGTHS: std::ops::RangeInclusive<usize> = 3..=160;

/// Up to three existing files whose name is like that of `source`, relative to the root: by
/// likeness, then in the same folder, then by name.
pub(super) fn names<H: Host>(base: &Base<'_, H>, source: &str, cancel: &Cancel) -> Vec<String> {
    let wanted = source.rsplit('/').next().unwrap_or(source);
    let length = wanted.chars().count();
    if !LENGTHS.contains(&length) {
        return Vec::new();
    }
    let most = (length / 5).clamp(1, 3);
    let parent = base.root.join(source).parent().map(PathBuf::from);
    let started = Instant::now();
    let mut folders = VecDeque::from([base.root.to_owned()]);
    let (mut seen, mut found) = (0, Vec::new());
    while let Some(folder) = folders.pop_front() {
        if seen > NAMES || started.elapsed() > TIME || cancel.is_cancelled() {
            break;
        }
        let Ok(listing) = base.host.read_dir(&folder, FOLDER_NAMES, cancel) else { continue };
        for entry in listing.entries {
            seen += 1;
            let Some(name) = entry.name.to_str() else { continue };
            let path = folder.join(name);
            if let Some(distance) = distance(wanted, name, most) {
                let elsewhere = parent.as_ref() != Some(&folder);
                let relative = path.strip_prefix(base.root).unwrap_or(&path);
                found.push((distance, elsewhere, relative.to_string_lossy().into_owned()));
            }
            if entry.kind == Kind::Dir && name != ".git" {
                folders.push_back(path);
            }
        }
    }
    found.sort();
    found.into_iter().take(TOLD).map(|(_, _, name)| name).collect()
}

/// The edit distance when it is at most `most`.
fn distance(a: &str, b: &str, most: usize) -> Option<usize> {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > most {
        return None;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let next = (diagonal + usize::from(x != y)).min(row[j] + 1).min(row[j + 1] + 1);
            diagonal = row[j + 1];
            row[j + 1] = next;
        }
        if row.iter().min().is_some_and(|least| *least > most) {
            return None;
        }
    }
    row.last().copied().filter(|distance| *distance <= most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        assert_eq!(distance("server.rs", "sever.rs", 2), Some(1));
        assert_eq!(distance("abc", "abc", 1), Some(0));
        assert_eq!(distance("abc", "xyz", 2), None);
        assert_eq!(distance("abc", "abcdef", 2), None);
        assert_eq!(distance("ab", "ba", 2), Some(2));
    }
}
