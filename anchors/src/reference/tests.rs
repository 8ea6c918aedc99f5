use super::*;
use crate::search_ref::{Hit, SearchFile};
use crate::{ContentHash, SourceId, Span};

fn selection(ranges: usize) -> Selection {
    let ranges = (0..ranges).map(|n| Range::exact(Span::new(n, n + 1))).collect();
    Selection::one(SourceId::new("/f"), ContentHash(1), ranges)
}

fn found(files: &[usize]) -> Found {
    let file = |(n, matches): (usize, &usize)| SearchFile {
        source: SourceId::new(format!("/{n}").as_str()),
        content: ContentHash(n as u128),
        matches: (0..*matches)
            .map(|m| Hit {
                line: Span::new(m / 2 * 10, m / 2 * 10 + 10),
                text: Span::new(m, m + 1),
            })
            .collect(),
    };
    Found { files: files.iter().enumerate().map(file).collect(), complete: true }
}

fn parse(token: &str) -> Reference {
    Reference::parse(token).unwrap().unwrap()
}

#[test]
fn a_result_is_named_by_id_item_or_unchanged_text() {
    let mut store = ReferenceStore::<()>::new(1 << 20);
    let id = Uuid::from_u128(7);
    let text = format!("{}\nhello\n", envelope(id));
    store.add_result(id, &text, Some(selection(3)));
    let mut get = |token: &str| store.selection(&parse(token)).map(|s| s.len());
    assert_eq!(get(&id.to_string()), Ok(3));
    assert_eq!(get(&envelope(id)), Ok(3));
    assert_eq!(get(&text), Ok(3));
    assert_eq!(get(text.trim_end()), Ok(3));
    assert_eq!(get(&format!("{id}:2")), Ok(1));
    assert!(matches!(get(&format!("{id}:4")), Err(ReferenceError::NoItem { count: 3, .. })));
    assert!(matches!(get(&format!("{id}:0")), Err(ReferenceError::NoItem { .. })));
    assert_eq!(get(&text.replace("hello", "hullo")), Err(ReferenceError::Altered(id)));
    let other = Uuid::from_u128(8).to_string();
    assert_eq!(get(&other), Err(ReferenceError::Unknown(other.clone())));
}

#[test]
fn other_text_is_no_reference() {
    for text in ["src/main.rs", "12#A4F0", "fn main() {", "a:b", "", "[result x]"] {
        assert_eq!(Reference::parse(text), None, "{text}");
    }
    for text in ["SEARCH#19AF", "SEARCH#19AF:0:line", "SEARCH#1:1:line", "SEARCH#19AF:1:word"] {
        assert!(
            matches!(Reference::parse(text), Some(Err(ReferenceError::Malformed(_)))),
            "{text}"
        );
    }
}

#[test]
fn searches_number_their_matches_across_files() {
    let mut store = ReferenceStore::new(1 << 20);
    let id = store.add_search("q", (), found(&[2, 3]));
    let mut get = |rest: &str| store.selection(&parse(&format!("{id}:{rest}")));
    assert_eq!(get("3:match").unwrap().parts[0].source.as_str(), "/1");
    assert!(matches!(get("6:line"), Err(ReferenceError::NoItem { count: 5, .. })));
    assert_eq!(get("all:match").unwrap().len(), 5);
    assert_eq!(get("all:line").unwrap().len(), 3, "a line with two matches counts once");
}

#[test]
fn an_incomplete_search_has_no_all() {
    let mut store = ReferenceStore::new(1 << 20);
    let id = store.add_search("q", (), Found { complete: false, ..found(&[1]) });
    assert!(store.selection(&parse(&format!("{id}:1:line"))).is_ok());
    let all = store.selection(&parse(&format!("{id}:all:line")));
    assert!(matches!(all, Err(ReferenceError::Incomplete(_))));
}

#[test]
fn the_same_search_has_the_same_id_and_another_a_longer_one() {
    let mut store = ReferenceStore::new(1 << 20);
    let id = store.add_search("q", (), found(&[2]));
    assert_eq!(store.add_search("q", (), found(&[2])), id);
    let changed = store.add_search("q", (), found(&[3]));
    assert!(changed.starts_with(&id) && changed.len() == id.len() + 1);
}

#[test]
fn a_refresh_changes_all_and_keeps_the_numbers() {
    let mut store = ReferenceStore::new(1 << 20);
    let id = store.add_search("q", (), found(&[2]));
    let Reference::Search(search) = parse(&format!("{id}:all:match")) else { unreachable!() };
    store.refresh(&search, found(&[0, 4]));
    assert_eq!(store.selection(&Reference::Search(search)).unwrap().len(), 4);
    assert_eq!(
        store.selection(&parse(&format!("{id}:1:match"))).unwrap().parts[0].source.as_str(),
        "/0"
    );
}

#[test]
fn what_was_dropped_is_expired_and_the_newest_stays() {
    let mut store = ReferenceStore::<()>::new(1_000);
    let ids: Vec<Uuid> = (0..100).map(Uuid::from_u128).collect();
    for id in &ids {
        store.add_result(*id, "", Some(selection(2)));
    }
    assert!(store.bytes() <= 1_000);
    let first = ids[0].to_string();
    assert_eq!(store.selection(&parse(&first)), Err(ReferenceError::Expired(first)));
    store.add_result(Uuid::from_u128(200), "", Some(selection(1_000)));
    assert_eq!(store.selection(&parse(&Uuid::from_u128(200).to_string())).unwrap().len(), 1_000);
}
