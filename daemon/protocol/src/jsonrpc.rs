//! The JSON-RPC 2.0 envelope.
//!
//! [`Incoming`] borrows from the line it was parsed from and keeps `params`, `result` and `error`
//! as raw text, so that a message is scanned once and only the part somebody needs is decoded.
//! [`Message`] is the owned form for sending.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

/// The id of a request. Fractional numbers are refused, as MCP does.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Id {
    /// A whole number.
    Number(i64),
    /// A string.
    Text(String),
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => text.fmt(f),
        }
    }
}

impl From<i64> for Id {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl From<&str> for Id {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

/// A message as it arrives: request, notification or response, told apart by [`Incoming::kind`].
#[derive(Debug, Deserialize)]
pub struct Incoming<'a> {
    /// Must be `2.0`.
    #[serde(borrow, default)]
    pub jsonrpc: Option<Cow<'a, str>>,
    /// Raw, because an id of a wrong type must not make the rest unreadable. `Some("null")` and
    /// `None` differ.
    #[serde(borrow, default, deserialize_with = "present")]
    pub id: Option<&'a RawValue>,
    /// The method of a request or notification.
    #[serde(borrow, default)]
    pub method: Option<Cow<'a, str>>,
    /// The raw parameters.
    #[serde(borrow, default)]
    pub params: Option<&'a RawValue>,
    /// The raw result of a response.
    #[serde(borrow, default, deserialize_with = "present")]
    pub result: Option<&'a RawValue>,
    /// The raw error of a response.
    #[serde(borrow, default)]
    pub error: Option<&'a RawValue>,
}

/// Keeps `null` apart from absent.
fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(from).map(Some)
}

/// What an [`Incoming`] message is.
#[derive(Debug)]
pub enum Kind<'a> {
    /// Wants an answer.
    Request {
        /// Echoed in the answer.
        id: Id,
        /// The method name.
        method: &'a str,
        /// Raw parameters.
        params: Option<&'a RawValue>,
    },
    /// Wants no answer.
    Notification {
        /// The method name.
        method: &'a str,
        /// Raw parameters.
        params: Option<&'a RawValue>,
    },
    /// Answers a request of ours.
    Response {
        /// The id of our request; `None` when the peer could not tell.
        id: Option<Id>,
        /// The raw result, or the raw error.
        outcome: Result<&'a RawValue, &'a RawValue>,
    },
    /// None of these; the answer is an invalid-request error with this id.
    Invalid {
        /// The id, when it could be read.
        id: Option<Id>,
        /// What is wrong.
        reason: &'static str,
    },
}

impl<'a> Incoming<'a> {
    /// Reads one message. JSON of another shape than an object fails here too.
    ///
    /// # Errors
    /// What `serde_json` says.
    pub fn parse(text: &'a str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// Tells requests, notifications and responses apart.
    pub fn kind(&self) -> Kind<'_> {
        let raw_id = self.id.map(RawValue::get);
        let id = raw_id.and_then(|raw| serde_json::from_str::<Id>(raw).ok());
        if self.jsonrpc.as_deref() != Some("2.0") {
            return Kind::Invalid { id, reason: "`jsonrpc` must be \"2.0\"" };
        }
        match (&self.method, raw_id) {
            (Some(method), None) => Kind::Notification { method, params: self.params },
            (Some(method), Some(_)) => match id {
                Some(id) => Kind::Request { id, method, params: self.params },
                None => Kind::Invalid { id, reason: "`id` must be a string or a whole number" },
            },
            (None, _) => match (self.result, self.error) {
                (Some(result), None) => Kind::Response { id, outcome: Ok(result) },
                (None, Some(error)) => Kind::Response { id, outcome: Err(error) },
                _ => Kind::Invalid { id, reason: "a message needs `method`, `result` or `error`" },
            },
        }
    }
}

/// The `error` member of a response.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ErrorObject {
    /// One of [`crate::names::code`].
    pub code: i64,
    /// One sentence for people.
    pub message: String,
    /// More for programs; Capstan's own errors put their stable word in `data.code`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<serde_json::Value>,
}

impl ErrorObject {
    /// An error without data.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// Adds data.
    #[must_use]
    pub fn with_data(mut self, data: serde_json::Value) -> Self {
        self.data = Some(data);
        self
    }
}

impl fmt::Display for ErrorObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (code {})", self.message, self.code)
    }
}

impl std::error::Error for ErrorObject {}

/// A message to send. `P` is the type of the parameters or of the result.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Message<'a, P> {
    /// A request.
    Request {
        /// Always `2.0`.
        jsonrpc: Version,
        /// Echoed in the answer.
        id: &'a Id,
        /// The method name.
        method: &'a str,
        /// The parameters.
        params: P,
    },
    /// A notification.
    Notification {
        /// Always `2.0`.
        jsonrpc: Version,
        /// The method name.
        method: &'a str,
        /// The parameters.
        params: P,
    },
    /// A successful answer.
    Answer {
        /// Always `2.0`.
        jsonrpc: Version,
        /// The id of the request.
        id: &'a Id,
        /// The result.
        result: P,
    },
    /// A failure. The id is `null` when the request's could not be read.
    Failure {
        /// Always `2.0`.
        jsonrpc: Version,
        /// The id of the request.
        id: Option<&'a Id>,
        /// What went wrong.
        error: &'a ErrorObject,
    },
}

impl<'a, P> Message<'a, P> {
    /// A request.
    pub fn request(id: &'a Id, method: &'a str, params: P) -> Self {
        Self::Request { jsonrpc: Version, id, method, params }
    }

    /// A notification.
    pub fn notification(method: &'a str, params: P) -> Self {
        Self::Notification { jsonrpc: Version, method, params }
    }

    /// A successful answer.
    pub fn answer(id: &'a Id, result: P) -> Self {
        Self::Answer { jsonrpc: Version, id, result }
    }
}

impl<'a> Message<'a, ()> {
    /// A failure.
    pub fn failure(id: Option<&'a Id>, error: &'a ErrorObject) -> Self {
        Self::Failure { jsonrpc: Version, id, error }
    }
}

/// The constant `"2.0"`.
#[derive(Clone, Copy, Debug)]
pub struct Version;

impl Serialize for Version {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str("2.0")
    }
}

#[cfg(test)]
mod tests;
