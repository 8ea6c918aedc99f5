//! The thin client: one blocking connection, no runtime, ready in well under a millisecond.
//!
//! It never waits for ever: connecting is bounded, a daemon that stays silent is asked for a sign of
//! life and given up without one, and an interrupt cancels the call that is waited for.

use std::io::{self, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use anchors::ErrorCode;
use memchr::memchr;
use protocol::jsonrpc::{Incoming, Kind, Message};
use protocol::mcp::CancelledParams;
use protocol::names::method;
use protocol::{ErrorObject, Id};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use serde_json::value::RawValue;

use crate::lifecycle::{self, StartError};
use crate::limits::{MAX_ANSWER_BYTES, SILENCE_TIMEOUT};
use crate::paths::Paths;

pub mod build;
pub mod call;
pub mod wait;

pub use call::{ToolAnswer, ToolRequest};
pub use wait::Interrupts;

use wait::{Event, wait};

/// The id of the ping that asks for a sign of life; requests count up from 1.
const PING_ID: i64 = 0;

/// Why a request got no answer, or a refusal.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The daemon could not be started or reached.
    #[error(transparent)]
    Start(#[from] StartError),
    /// No daemon runs, and none was to be started.
    #[error("no daemon is running")]
    NotRunning,
    /// The connection broke before the answer came.
    #[error(
        "the daemon closed the connection before it answered; whether the call had an effect is not known"
    )]
    Lost(#[source] Option<io::Error>),
    /// The daemon shows no sign of life.
    #[error(
        "the daemon has not answered for {} s, not even a ping; `capstan restart` ends it and starts a new one",
        .waited.as_secs()
    )]
    Silent {
        /// How long it was waited for.
        waited: Duration,
    },
    /// The daemon answered with an error.
    #[error("{}", .0.message)]
    Refused(ErrorObject),
    /// The answer makes no sense.
    #[error(
        "the daemon answered what this client does not understand; is it of another version? See `capstan status`"
    )]
    Garbled(#[source] Option<serde_json::Error>),
    /// The user interrupted; the call was cancelled.
    #[error("interrupted")]
    Interrupted,
}

impl ClientError {
    /// Whether the daemon refused because it is about to end, so that the call had no effect.
    pub fn is_shutting_down(&self) -> bool {
        matches!(self, Self::Refused(error) if word(error) == Some(ErrorCode::ShuttingDown.as_str()))
    }
}

/// The stable word of an error of the daemon.
pub fn word(error: &ErrorObject) -> Option<&str> {
    error.data.as_ref()?.get("code")?.as_str()
}

/// One connection to the daemon.
#[derive(Debug)]
pub struct Client {
    stream: UnixStream,
    /// Bytes that have arrived and were not used.
    arrived: Vec<u8>,
    /// Up to where `arrived` has been looked through for a newline.
    scanned: usize,
    last_id: i64,
    interrupts: Option<Interrupts>,
    patience: Duration,
}

impl Client {
    /// Connects to the daemon, starting it when it is not up.
    ///
    /// # Errors
    /// [`ClientError::Start`].
    pub fn start(paths: &Paths) -> Result<Self, ClientError> {
        Ok(Self::over(lifecycle::connect_or_start(paths, &[])?))
    }

    /// Connects to the running daemon.
    ///
    /// # Errors
    /// [`ClientError::NotRunning`], [`ClientError::Start`].
    pub fn connect(paths: &Paths) -> Result<Self, ClientError> {
        lifecycle::connect(paths)?.map(Self::over).ok_or(ClientError::NotRunning)
    }

    /// A client over an open connection.
    pub fn over(stream: UnixStream) -> Self {
        Self {
            stream,
            arrived: Vec::new(),
            scanned: 0,
            last_id: PING_ID,
            interrupts: None,
            patience: SILENCE_TIMEOUT,
        }
    }

    /// From now on an interrupt of this process cancels what is waited for.
    #[must_use]
    pub fn interruptible(mut self) -> Self {
        // Without it an interrupt ends the process, which cancels the call too.
        self.interrupts = Interrupts::catch().ok();
        self
    }

    /// The connection.
    pub fn stream(&self) -> &UnixStream {
        &self.stream
    }

    /// The connection and what has arrived on it unread, for somebody who speaks for himself.
    pub fn into_parts(self) -> (UnixStream, Vec<u8>) {
        (self.stream, self.arrived)
    }

    /// How long the daemon may be silent before it is asked for a sign of life, and again after that.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Sends a request and waits for its result.
    ///
    /// # Errors
    /// [`ClientError`].
    pub fn request<R: DeserializeOwned>(
        &mut self,
        method: &str,
        params: impl Serialize,
    ) -> Result<R, ClientError> {
        let id = self.send(method, params)?;
        let result = self.answer(&id)?;
        serde_json::from_str(result.get()).map_err(|error| ClientError::Garbled(Some(error)))
    }

    /// Sends a request; gives the id by which [`Self::answer`] finds its result.
    pub(crate) fn send(&mut self, method: &str, params: impl Serialize) -> Result<Id, ClientError> {
        self.last_id += 1;
        let id = Id::from(self.last_id);
        self.write(&Message::request(&id, method, params))?;
        Ok(id)
    }

    /// Waits for the result of a request.
    pub(crate) fn answer(&mut self, id: &Id) -> Result<Box<RawValue>, ClientError> {
        let mut asked_for_life = false;
        loop {
            while let Some(line) = self.line()? {
                asked_for_life = false;
                if let Some(outcome) = outcome(&line, id)? {
                    return outcome.map_err(ClientError::Refused);
                }
            }
            match wait(&self.stream, self.interrupts.as_ref(), self.patience) {
                Ok(Event::Readable) => self.read()?,
                Ok(Event::Interrupted) => {
                    self.cancel(id);
                    return Err(ClientError::Interrupted);
                }
                Ok(Event::Silence) if asked_for_life => {
                    return Err(ClientError::Silent { waited: 2 * self.patience });
                }
                Ok(Event::Silence) => {
                    asked_for_life = true;
                    self.write(&Message::request(&PING_ID.into(), method::PING, json!({})))?;
                }
                Err(error) => return Err(ClientError::Lost(Some(error))),
            }
        }
    }

    fn cancel(&mut self, id: &Id) {
        let params =
            CancelledParams { request_id: id.clone(), reason: Some("interrupted".to_owned()) };
        // The daemon may be gone, which cancels the call as well.
        let _ = self.write(&Message::notification(method::CANCELLED, params));
    }

    fn write(&mut self, message: &Message<'_, impl Serialize>) -> Result<(), ClientError> {
        let mut line =
            serde_json::to_vec(message).map_err(|error| ClientError::Garbled(Some(error)))?;
        line.push(b'\n');
        self.stream.write_all(&line).map_err(|error| ClientError::Lost(Some(error)))
    }

    /// Takes the next line that has arrived whole.
    fn line(&mut self) -> Result<Option<Vec<u8>>, ClientError> {
        let Some(newline) = memchr(b'\n', &self.arrived[self.scanned..]) else {
            self.scanned = self.arrived.len();
            if self.scanned > MAX_ANSWER_BYTES {
                return Err(ClientError::Garbled(None));
            }
            return Ok(None);
        };
        let rest = self.arrived.split_off(self.scanned + newline + 1);
        let line = std::mem::replace(&mut self.arrived, rest);
        self.scanned = 0;
        Ok(Some(line))
    }

    fn read(&mut self) -> Result<(), ClientError> {
        const CHUNK_BYTES: usize = 64 * 1024;
        let end = self.arrived.len();
        self.arrived.resize(end + CHUNK_BYTES, 0);
        let outcome = self.stream.read(&mut self.arrived[end..]);
        self.arrived.truncate(end + *outcome.as_ref().unwrap_or(&0));
        match outcome {
            Ok(0) => Err(ClientError::Lost(None)),
            Ok(_) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
            Err(error) => Err(ClientError::Lost(Some(error))),
        }
    }
}

type Outcome = Result<Box<RawValue>, ErrorObject>;

/// What a line says about request `id`; nothing when it is about something else.
fn outcome(line: &[u8], id: &Id) -> Result<Option<Outcome>, ClientError> {
    let garbled = |error| ClientError::Garbled(Some(error));
    let text = std::str::from_utf8(line).map_err(|_| ClientError::Garbled(None))?;
    let message = Incoming::parse(text).map_err(garbled)?;
    match message.kind() {
        // A failure without an id means that the daemon could not read what we sent.
        Kind::Response { id: about, outcome } if about.as_ref().is_none_or(|about| about == id) => {
            let outcome = match outcome {
                Ok(result) => Ok(result.to_owned()),
                Err(error) => Err(serde_json::from_str(error.get()).map_err(garbled)?),
            };
            Ok(Some(outcome))
        }
        _ => Ok(None),
    }
}

#[cfg(test)]
mod tests;
