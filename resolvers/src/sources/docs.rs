//! `docs:`: the guides for agents.

use std::sync::Arc;

use anchors::{Salt, Snapshot};

use crate::host::Host;
use crate::read::window::{self, Budget};
use crate::read::{Page, ReadContext, ReadError, ReadOutput, ReadRequest, ReadResolver, View};
use crate::source;

/// A guide.
#[derive(Clone, Copy, Debug)]
pub struct Guide {
    /// Its name behind `docs:`.
    pub id: &'static str,
    /// What it is about, in a few words.
    pub about: &'static str,
    /// Its text, Markdown.
    pub text: &'static str,
}

/// All guides, in the order of their listing.
pub const GUIDES: &[Guide] = &[
    Guide {
        id: "reading",
        about: "sources, windows, views, continuations",
        text: include_str!("../../../docs/guides/reading.md"),
    },
    Guide {
        id: "searching",
        about: "queries, scopes, SEARCH# references",
        text: include_str!("../../../docs/guides/searching.md"),
    },
    Guide {
        id: "editing",
        about: "anchors, whole lines, batches, refusals",
        text: include_str!("../../../docs/guides/editing.md"),
    },
];

/// `docs:` lists the guides, `docs:ID` is one.
pub struct DocsSource;

impl<H: Host> ReadResolver<H> for DocsSource {
    fn id(&self) -> &'static str {
        "source.docs"
    }

    fn read(
        &self,
        source: &str,
        request: &ReadRequest,
        context: &ReadContext<'_, H>,
    ) -> Option<Result<ReadOutput, ReadError>> {
        match source::scheme(source) {
            Some(("docs", id)) => Some(read(id, request, context)),
            _ => None,
        }
    }
}

fn read<H: Host>(
    id: &str,
    request: &ReadRequest,
    context: &ReadContext<'_, H>,
) -> Result<ReadOutput, ReadError> {
    let text = if id.is_empty() {
        GUIDES.iter().map(|guide| format!("docs:{}  {}\n", guide.id, guide.about)).collect()
    } else {
        let guide = GUIDES.iter().find(|guide| guide.id == id);
        guide.ok_or_else(|| ReadError::NoGuide(id.to_owned()))?.text.to_owned()
    };
    let snapshot =
        Arc::new(Snapshot::decode(text.into_bytes()).expect("our guides are UTF-8 text"));
    let lines = window::asked(request, snapshot.line_count())?;
    let (view, notices) = View::parse(&request.views);
    let view = if view == View::Anchors { View::Lines } else { view };
    let mut text = String::new();
    let page = Page { snapshot: &snapshot, view, salt: Salt::default(), cancel: context.cancel };
    window::write(&mut text, page, lines, &mut Budget::default())?;
    Ok(ReadOutput { text, notices, ..ReadOutput::default() })
}
