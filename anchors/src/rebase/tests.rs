use proptest::prelude::*;

use super::*;

fn check(old: &str, new: &str, block: std::ops::RangeInclusive<usize>) -> Option<usize> {
    let snapshot = |text: &str| Snapshot::decode(text.as_bytes().to_vec()).unwrap();
    rebase(&snapshot(old), &snapshot(new), *block.start(), *block.end())
}

#[test]
fn a_unique_block_moves_with_its_text() {
    assert_eq!(check("a\nb\nc\n", "x\na\nb\nc\n", 2..=2), Some(3));
    assert_eq!(check("a\nb\nc\n", "c\na\nb\n", 3..=3), None, "other company");
    assert_eq!(check("[a]\np=1\n[b]\np=2\n", "[a]\np=2\n[b]\np=1\nx\n", 2..=2), None);
    assert_eq!(check("a\nb\nc\n", "a\nb\nc\nd\n", 1..=3), Some(1));
    assert_eq!(check("a\nb\nc", "a\nb\nc\nd\n", 3..=3), Some(3));
}

#[test]
fn a_changed_or_split_block_is_stale() {
    assert_eq!(check("a\nb\nc\n", "a\nB\nc\n", 2..=2), None);
    assert_eq!(check("a\nb\nc\n", "a\nb\nx\nc\n", 1..=3), None);
    assert_eq!(check("a\nb\nc\n", "a\nb\nb\nc\n", 2..=2), None);
    assert_eq!(check("a\nb\n", "a\r\nb\r\n", 1..=2), None);
}

#[test]
fn common_lines_need_witnesses_on_both_sides() {
    let old = "fn f\n}\nfn g\n}\nend\n";
    assert_eq!(check(old, "new\nfn f\n}\nfn g\n}\nend\n", 2..=2), Some(3));
    assert_eq!(check(old, "fn f\n}\n}\nfn g\n}\nend\n", 2..=2), None);
    assert_eq!(check(old, "fn g\n}\nend\n", 2..=2), None);
    assert_eq!(check(old, "fn g\n}\nend\n", 4..=4), Some(2));
    assert_eq!(check(old, "fn f\n}\nx\nfn g\n}\nend\n", 2..=2), None);
}

#[test]
fn edges_of_the_file_are_witnesses() {
    assert_eq!(check("}\na\n", "}\na\nb\n", 1..=1), Some(1));
    assert_eq!(check("a\n}\n", "b\na\n}\n", 2..=2), Some(3));
    assert_eq!(check("}\n}\n", "}\n}\n}\n", 1..=1), None);
    assert_eq!(check("a\n}\n", "a\n}\n}\n", 2..=2), None);
}

/// Lines that carry an identity which their text does not show.
type Tagged = Vec<(u32, &'static str)>;

fn text(lines: &Tagged) -> Snapshot {
    let text: String = lines.iter().map(|(_, line)| format!("{line}\n")).collect();
    Snapshot::decode(text.into_bytes()).unwrap()
}

/// Few distinct lines, most of them common ones: the worst case for telling lines apart.
fn line() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        4 => prop::sample::select(vec!["}", "", "    }", "return;"]),
        2 => prop::sample::select(vec!["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"]),
    ]
}

fn tagged() -> impl Strategy<Value = Tagged> {
    prop::collection::vec(line(), 1..25).prop_map(|lines| (0..).zip(lines).collect())
}

/// Whatever block is said to have moved really is the same lines, by identity.
fn blocks_keep_their_identity(old: &Tagged, new: &Tagged) -> Result<(), TestCaseError> {
    let (before, after) = (text(old), text(new));
    for first in 1..=old.len() {
        for last in first..=old.len().min(first + 3) {
            if let Some(now) = rebase(&before, &after, first, last) {
                let now = &new[now - 1..now + last - first];
                prop_assert_eq!(&old[first - 1..last], now);
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    #[test]
    fn insertions_never_confuse_lines(
        old in tagged(),
        added in prop::collection::vec((any::<prop::sample::Index>(), line()), 1..6),
    ) {
        let mut new = old.clone();
        for (n, (at, line)) in (1_000..).zip(added) {
            new.insert(at.index(new.len() + 1), (n, line));
        }
        blocks_keep_their_identity(&old, &new)?;
    }

    #[test]
    fn deletions_never_confuse_lines(
        old in tagged(),
        gone in prop::collection::vec(any::<prop::sample::Index>(), 1..6),
    ) {
        let mut new = old.clone();
        for at in gone {
            if new.len() > 1 {
                new.remove(at.index(new.len()));
            }
        }
        blocks_keep_their_identity(&old, &new)?;
    }
}
