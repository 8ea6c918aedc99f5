//! From the arguments of an edit to its receipt: the one path of `write`, `replace`, `insert` and
//! `delete`, alone or in a batch.
//!
//! Sources and anchors become ranges of the current texts; the editor plans all of a batch in
//! memory; the journal commits it whole. If another program or session was faster, the anchors are
//! resolved again in what is there now, and either still hold or are refused.

use std::collections::HashMap;

use anchors::SourceId;
use editor::mutation::{Separation, Side};
use serde_json::{Value, json};

use crate::arguments::Sources;
use crate::call::{Call, Loaded};
use crate::failure::Failure;
use crate::tool::ToolOutput;

mod commit;
mod targets;

/// How often an edit is worked out anew when somebody else was faster.
const ATTEMPTS: usize = 5;

/// What to edit: the arguments that all text edits share.
#[derive(Clone, Debug, Default)]
pub struct Place {
    /// Files, results or searches; what was read or edited last when absent.
    pub path: Option<Sources>,
    /// The anchor, or the first of two.
    pub start: Option<String>,
    /// The second anchor.
    pub end: Option<String>,
}

/// What to do there.
#[derive(Clone, Debug)]
pub enum Action {
    /// Other text in its place.
    Replace {
        /// The text.
        text: String,
    },
    /// Text beside it.
    Insert {
        /// The text.
        text: String,
        /// On which side.
        side: Side,
        /// With what around it.
        separation: Separation,
    },
    /// Nothing in its place.
    Delete,
}

/// One edit, as a tool hands it over.
#[derive(Clone, Debug)]
pub enum Request {
    /// An edit of parts of files.
    Text {
        /// Where.
        place: Place,
        /// What.
        action: Action,
    },
    /// A whole file.
    Write {
        /// The file.
        path: String,
        /// Its new content.
        content: String,
    },
}

/// The files of one attempt, each loaded once, so that all edits of a batch see one text.
#[derive(Debug, Default)]
struct Files(HashMap<SourceId, Loaded>);

impl Files {
    /// The file as it was when this attempt first saw it.
    fn get(
        &mut self,
        source: &SourceId,
        load: impl FnOnce() -> Result<Loaded, Failure>,
    ) -> Result<&Loaded, Failure> {
        match self.0.entry(source.clone()) {
            std::collections::hash_map::Entry::Occupied(entry) => Ok(entry.into_mut()),
            std::collections::hash_map::Entry::Vacant(entry) => Ok(entry.insert(load()?)),
        }
    }
}

/// The JSON schema of an edit's structured result.
pub fn schema() -> Value {
    json!({"type": "object", "properties": {"files": {"type": "array", "items": {
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "change": {"enum": ["none", "edited", "created", "replaced"]},
            "replacements": {"type": "integer"},
            "added": {"type": "integer"},
            "removed": {"type": "integer"},
            "lines": {"type": "integer"},
            "rebasedFrom": {"type": ["integer", "null"]},
        },
    }}}})
}

/// Runs the edits of one batch together; gives one output for each, in order.
pub fn run(call: &Call<'_>, requests: Vec<Result<Request, Failure>>) -> Vec<ToolOutput> {
    commit::run(call, requests)
}
