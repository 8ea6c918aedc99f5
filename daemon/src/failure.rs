//! A tool call that did not do what was asked: code, message, and the way on.

use anchors::ErrorCode;
use protocol::mcp::{Status, ToolError};

use crate::tool::ToolOutput;

/// A longer source is cut in messages, in bytes; paths have at most 4,096.
const SOURCE_BYTES: usize = 1_024;

/// Why a call failed, in words that its caller can act on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The stable code.
    pub code: ErrorCode,
    /// One sentence.
    pub message: String,
    /// The source that it is about, as the caller would write it.
    pub source: Option<String>,
    /// What helps to retry: candidates with fresh anchors, near names. May be empty.
    pub help: String,
}

impl Failure {
    /// A failure without help.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), source: None, help: String::new() }
    }

    /// Arguments that do not fit.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::InvalidRequest, message)
    }

    /// Names the source.
    #[must_use]
    pub fn at(mut self, source: impl Into<String>) -> Self {
        let mut source = source.into();
        if source.len() > SOURCE_BYTES {
            source.truncate(source.floor_char_boundary(SOURCE_BYTES));
            source.push('…');
        }
        self.source = Some(source);
        self
    }

    /// Adds help.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = help.into();
        self
    }

    /// The wire form of the error itself.
    pub fn to_error(&self) -> ToolError {
        ToolError {
            code: self.code.as_str().to_owned(),
            message: self.message.clone(),
            source: self.source.clone(),
        }
    }

    /// `CODE: source: message`, then the help.
    pub fn text(&self) -> String {
        let mut text = format!("{}: ", self.code);
        if let Some(source) = &self.source {
            text.push_str(source);
            text.push_str(": ");
        }
        text.push_str(&self.message);
        if !self.help.is_empty() {
            text.push('\n');
            text.push_str(self.help.trim_end_matches('\n'));
        }
        text
    }
}

impl From<anchors::Cancelled> for Failure {
    fn from(cancelled: anchors::Cancelled) -> Self {
        Self::new(ErrorCode::Cancelled, cancelled.to_string())
    }
}

impl From<Failure> for ToolOutput {
    fn from(failure: Failure) -> Self {
        Self {
            is_error: true,
            status: Status::Error,
            errors: vec![failure.to_error()],
            ..Self::success(failure.text())
        }
    }
}
