use super::*;

/// A session that was shown some texts of one file, the last of which is current.
struct Fixture {
    source: SourceId,
    ledger: Ledger,
    current: Arc<Snapshot>,
}

fn snapshot(text: &str) -> Arc<Snapshot> {
    Arc::new(Snapshot::decode(text.as_bytes().to_vec()).unwrap())
}

impl Fixture {
    fn shown(text: &str) -> Self {
        let mut fixture = Self {
            source: SourceId::new("/f"),
            ledger: Ledger::new(1 << 20),
            current: snapshot(text),
        };
        fixture.ledger.show(&fixture.source, &fixture.current, 1, fixture.current.line_count());
        fixture
    }

    fn changed(mut self, text: &str) -> Self {
        self.current = snapshot(text);
        self
    }

    /// `12` stands for the anchor of line 12 as it is in `of`.
    fn anchor(of: &str, line: usize) -> String {
        format!("{line}#{}", snapshot(of).line_hash(line, crate::Salt(0)).unwrap())
    }

    fn resolve(&self, start: &str, end: Option<&str>) -> Result<Vec<&str>, AnchorError> {
        let registry = AnchorRegistry::new(vec![
            Box::new(LineAnchor),
            Box::new(References),
            Box::new(BeginEnd),
            Box::new(ExactText),
        ]);
        let context = Context {
            source: &self.source,
            snapshot: &self.current,
            ledger: &self.ledger,
            references: &|_| None,
            rebase: true,
        };
        let resolved = registry.resolve(start, end, &context)?;
        Ok(resolved.ranges.iter().map(|r| &self.current.text()[r.span.range()]).collect())
    }
}

impl Fixture {
    /// The line that the anchor selects.
    fn place(&self, anchor: &str) -> Result<usize, AnchorError> {
        let registry = AnchorRegistry::new(vec![Box::new(LineAnchor)]);
        let context = Context {
            source: &self.source,
            snapshot: &self.current,
            ledger: &self.ledger,
            references: &|_| None,
            rebase: true,
        };
        let resolved = registry.resolve(anchor, None, &context)?;
        Ok(self.current.line_at(resolved.ranges[0].span.start).unwrap())
    }
}

const TEXT: &str = "fn a() {\n}\n\nfn b() {\n}\n";

#[test]
fn a_shown_line_is_selected_whole() {
    let fixture = Fixture::shown(TEXT);
    let anchor = Fixture::anchor(TEXT, 2);
    assert_eq!(fixture.resolve(&anchor, None).unwrap(), ["}\n"]);
    assert_eq!(fixture.resolve(&format!("{anchor}│}}"), None).unwrap(), ["}\n"]);
    let wrong = fixture.resolve(&format!("{anchor}│)"), None);
    assert!(matches!(wrong, Err(AnchorError::Stale { .. })));
}

#[test]
fn identical_lines_are_never_mistaken() {
    let fixture = Fixture::shown(TEXT).changed("fn a() {\n    x\n}\n\nfn b() {\n}\n");
    let (first, second) = (Fixture::anchor(TEXT, 2), Fixture::anchor(TEXT, 5));
    assert!(fixture.resolve(&first, None).is_err(), "its surroundings changed");
    assert_eq!(fixture.resolve(&second, None).unwrap(), ["}\n"]);
}

#[test]
fn a_line_that_was_shown_again_has_a_fresh_anchor_and_keeps_the_old_ones_meaning() {
    let newer = "fn n() {\n}\nfn a() {\n}\n\nfn b() {\n}\n";
    let mut fixture = Fixture::shown(TEXT).changed(newer);
    let current = fixture.current.clone();
    fixture.ledger.show(&fixture.source, &current, 1, 7);
    let salt = fixture.ledger.salt(&fixture.source, &current);
    let fresh = format!("2#{}", current.line_hash(2, salt).unwrap());
    let old = Fixture::anchor(TEXT, 2);
    assert_ne!(fresh, old);
    assert_eq!(fixture.place(&fresh), Ok(2));
    assert_eq!(fixture.place(&old), Ok(4));
}

#[test]
fn spans_cover_whole_lines_and_must_be_unchanged_inside() {
    let text = "one\ntwo\nthree\nfour\n";
    let fixture = Fixture::shown(text);
    let (a, b) = (Fixture::anchor(text, 1), Fixture::anchor(text, 3));
    assert_eq!(fixture.resolve(&a, Some(&b)).unwrap(), ["one\ntwo\nthree\n"]);
    assert!(matches!(
        fixture.resolve(&b, Some(&a)),
        Err(AnchorError::Reversed { start: 3, end: 1 })
    ));
    assert_eq!(fixture.resolve("wo", Some("our")).unwrap(), ["two\nthree\nfour\n"]);
    assert_eq!(fixture.resolve("begin", Some("end")).unwrap(), [text]);
    let moved = fixture.changed("zero\none\ntwo\nthree\nfour\n");
    assert_eq!(moved.resolve(&a, Some(&b)).unwrap(), ["one\ntwo\nthree\n"]);
    let cut = moved.changed("one\nTWO\nthree\nfour\n");
    assert!(matches!(cut.resolve(&a, Some(&b)), Err(AnchorError::Stale { .. })));
    assert_eq!(cut.resolve(&a, None).unwrap(), ["one\n"]);
}

#[test]
fn a_span_of_mixed_ends_needs_known_text_between() {
    let text = "one\ntwo\nthree\n";
    let fixture = Fixture::shown(text);
    let a = Fixture::anchor(text, 1);
    assert_eq!(fixture.resolve(&a, Some("end")).unwrap(), [text]);
    let foreign = fixture.changed("one\nTWO\nthree\n");
    assert!(foreign.resolve(&a, Some("end")).is_err());
    let mut own = foreign;
    let (before, after) = (snapshot(text).hash(), own.current.clone());
    let edits = [crate::LineEdit { old: 2..3, new: 2..3 }];
    own.ledger.edit(&own.source.clone(), before, &edits, &after);
    assert_eq!(own.resolve(&a, Some("end")).unwrap(), ["one\nTWO\nthree\n"]);
}

#[test]
fn exact_text_is_unique_missing_or_ambiguous() {
    let fixture = Fixture::shown("let a = 1;\r\nlet b = 1;\r\n");
    assert_eq!(fixture.resolve("b = 1", None).unwrap(), ["b = 1"]);
    assert_eq!(
        fixture.resolve("let a = 1;\nlet b = 1;", None).unwrap(),
        ["let a = 1;\r\nlet b = 1;\r\n"]
    );
    assert!(matches!(fixture.resolve("= 2", None), Err(AnchorError::Missing { .. })));
    assert!(matches!(fixture.resolve("= 1", None), Err(AnchorError::Ambiguous { total: 2, .. })));
    assert!(matches!(fixture.resolve("", None), Err(AnchorError::Empty)));
}

#[test]
fn an_empty_file_has_no_first_line() {
    let fixture = Fixture::shown("");
    assert!(matches!(fixture.resolve("begin", None), Err(AnchorError::EmptyFile(_))));
    assert!(matches!(fixture.resolve("1#0000", None), Err(AnchorError::Stale { near: 0, .. })));
}
