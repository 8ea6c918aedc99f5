//! Short words for tests: mutations of one file, planned without guards.

use std::path::PathBuf;
use std::sync::Arc;

use anchors::{Cancel, ContentHash, Range, Snapshot, SourceId, Span};

use crate::guard::{GuardSession, Guards};
use crate::mutation::{
    Delete, Insert, Mutation, Original, Replace, Separation, Side, Target, Write,
};
use crate::plan::{Plan, PlanContext};

/// A range of a text.
#[derive(Clone, Copy, Debug)]
pub(crate) enum At {
    /// Lines, 1-based and inclusive.
    Lines(usize, usize),
    /// The first occurrence, exactly.
    Text(&'static str),
    /// Bytes.
    Exact(usize, usize),
    /// Between two characters.
    Point(usize),
    /// Between two lines.
    Between(usize),
}

impl At {
    pub(crate) fn range(self, snapshot: &Snapshot) -> Range {
        match self {
            Self::Lines(first, last) => Range::lines(snapshot.line_span(first, last).unwrap()),
            Self::Text(text) => {
                let start = snapshot.text().find(text).unwrap();
                Range::exact(Span::new(start, start + text.len()))
            }
            Self::Exact(start, end) => Range::exact(Span::new(start, end)),
            Self::Point(at) => Range::exact(Span::point(at)),
            Self::Between(at) => Range::lines(Span::point(at)),
        }
    }
}

pub(crate) fn snapshot(text: &str) -> Arc<Snapshot> {
    Arc::new(Snapshot::decode(text.as_bytes().to_vec()).unwrap())
}

pub(crate) fn target(name: &str, snapshot: &Arc<Snapshot>, at: &[At]) -> Target {
    Target {
        source: SourceId::new(name),
        path: PathBuf::from(name),
        snapshot: snapshot.clone(),
        ranges: at.iter().map(|at| at.range(snapshot)).collect(),
        rebased: None,
    }
}

pub(crate) fn replace(before: &str, at: &[At], text: &str) -> Mutation {
    let targets = vec![target("/f", &snapshot(before), at)];
    Mutation::Replace(Replace { targets, text: text.to_owned() })
}

pub(crate) fn insert(
    before: &str,
    at: &[At],
    text: &str,
    side: Side,
    separation: Separation,
) -> Mutation {
    let targets = vec![target("/f", &snapshot(before), at)];
    Mutation::Insert(Insert { targets, text: text.to_owned(), side, separation })
}

pub(crate) fn delete(before: &str, at: &[At]) -> Mutation {
    Mutation::Delete(Delete { targets: vec![target("/f", &snapshot(before), at)] })
}

pub(crate) fn write(before: Option<&str>, text: &str) -> Mutation {
    Mutation::Write(Write {
        source: SourceId::new("/f"),
        path: PathBuf::from("/f"),
        before: before.map_or(Original::Missing, |text| Original::Text(snapshot(text))),
        text: text.to_owned(),
    })
}

/// A session that has seen everything.
pub(crate) struct Seen;

impl GuardSession for Seen {
    fn has_seen(&self, _: &SourceId, _: ContentHash) -> bool {
        true
    }

    fn is_repeat(&self, _: u128) -> bool {
        true
    }
}

pub(crate) fn plan(mutations: &[Mutation]) -> Plan {
    plan_with(mutations, &Guards::default(), &Seen)
}

pub(crate) fn plan_with(
    mutations: &[Mutation],
    guards: &Guards,
    session: &dyn GuardSession,
) -> Plan {
    let is_live = |id: uuid::Uuid| id.as_u128() == 7;
    let context = PlanContext { is_live: &is_live, guards, session, cancel: &Cancel::new() };
    Plan::batch(mutations, &context).unwrap()
}
