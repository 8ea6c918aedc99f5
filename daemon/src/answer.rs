//! What every result has: an envelope line, and a registered selection behind it.

use anchors::{Selection, reference};
use protocol::mcp::{Status, ToolError};
use serde_json::Value;
use uuid::Uuid;

use crate::call::Call;
use crate::tool::ToolOutput;

/// The text of a result and what it stands for.
#[derive(Clone, Debug)]
pub struct Answer {
    text: String,
    selection: Option<Selection>,
    data: Value,
    errors: Vec<ToolError>,
}

impl Answer {
    /// A result that selects nothing.
    pub fn new(text: String) -> Self {
        Self { text, selection: None, data: Value::Null, errors: Vec::new() }
    }

    /// Sets what the result stands for when it is handed back.
    #[must_use]
    pub fn selecting(mut self, selection: Option<Selection>) -> Self {
        self.selection = selection;
        self
    }

    /// Sets the structured form.
    #[must_use]
    pub fn with_data(mut self, data: Value) -> Self {
        self.data = data;
        self
    }

    /// Adds what went wrong for a part of what was asked.
    #[must_use]
    pub fn with_errors(mut self, errors: Vec<ToolError>) -> Self {
        self.errors = errors;
        self
    }

    /// Gives the result its id and makes the session remember it.
    pub fn register(self, call: &Call<'_>) -> ToolOutput {
        let id = Uuid::new_v4();
        let mut text = format!("{}\n", reference::envelope(id));
        for note in call.take_notes() {
            text.push_str(&format!("[{note}]\n"));
        }
        text.push_str(&self.text);
        call.memory().references.add_result(id, &text, self.selection);
        ToolOutput {
            status: if self.errors.is_empty() { Status::Success } else { Status::Partial },
            errors: self.errors,
            data: self.data,
            ..ToolOutput::success(text).with_result(id)
        }
    }
}
