//! One connection to the daemon: JSON-RPC, one message per line, one request at a time.
//!
//! Built for measuring as much as for testing: a request is encoded before the clock starts, and
//! its answer is decoded after the clock has stopped, so that [`Client::timed`] gives the time from
//! the first byte sent to the last byte received and nothing else.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use protocol::capstan::{SessionInfo, SessionOpenParams, SessionOpenResult};
use protocol::jsonrpc::Kind;
use protocol::mcp::{CallToolResult, Object};
use protocol::names::method;
use protocol::{Id, Incoming, Message};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// How long an answer may take before a client gives up: far above any call that is measured.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(120);

/// Read buffer, in bytes: a full tool result fits, so that reading it takes few system calls.
const READ_BUFFER_BYTES: usize = 128 * 1024;

/// A connection.
#[derive(Debug)]
pub struct Client {
    to: UnixStream,
    from: BufReader<UnixStream>,
    line: Vec<u8>,
    last_id: i64,
}

/// What a tool answered.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The readable text, envelope line included.
    pub text: String,
    /// Whether the tool failed.
    pub is_error: bool,
}

/// A request that is encoded and ready to be sent, once.
#[derive(Debug)]
pub struct Prepared {
    id: Id,
    bytes: Vec<u8>,
}

impl Client {
    /// Connects.
    ///
    /// # Errors
    /// Nobody listens at `socket`.
    pub fn connect(socket: &Path) -> anyhow::Result<Self> {
        let to = UnixStream::connect(socket)
            .with_context(|| format!("could not connect to `{}`", socket.display()))?;
        to.set_read_timeout(Some(ANSWER_TIMEOUT))?;
        let from = BufReader::with_capacity(READ_BUFFER_BYTES, to.try_clone()?);
        Ok(Self { to, from, line: Vec::new(), last_id: 0 })
    }

    /// Connects and opens a session with that workspace root.
    ///
    /// # Errors
    /// As [`Self::connect`] and [`Self::open_session`].
    pub fn open(socket: &Path, root: &Path) -> anyhow::Result<Self> {
        let mut client = Self::connect(socket)?;
        client.open_session(root)?;
        Ok(client)
    }

    /// Opens a session; the connection's later calls belong to it.
    ///
    /// # Errors
    /// The root is not UTF-8, or the daemon refuses it.
    pub fn open_session(&mut self, root: &Path) -> anyhow::Result<SessionInfo> {
        let root = root.to_str().context("a workspace root in UTF-8")?;
        let params = SessionOpenParams { root: Some(root.to_owned()), ..Default::default() };
        let opened: SessionOpenResult = self.request(method::SESSION_OPEN, &params)?;
        Ok(opened.session)
    }

    /// The empty call.
    ///
    /// # Errors
    /// The daemon does not answer.
    pub fn ping(&mut self) -> anyhow::Result<()> {
        let _: Value = self.request(method::PING, &json!({}))?;
        Ok(())
    }

    /// Calls a tool. A tool that fails is an answer.
    ///
    /// # Errors
    /// The daemon does not answer, or refuses the request itself.
    pub fn call(&mut self, tool: &str, arguments: &Value) -> anyhow::Result<Answer> {
        self.timed_call(tool, arguments).map(|(_, answer)| answer)
    }

    /// Calls a tool and tells how long the round trip took.
    ///
    /// # Errors
    /// As [`Self::call`].
    pub fn timed_call(
        &mut self,
        tool: &str,
        arguments: &Value,
    ) -> anyhow::Result<(Duration, Answer)> {
        let prepared = self.prepare(method::TOOLS_CALL, &tool_call(tool, arguments))?;
        let took = self.timed(&prepared)?;
        let result: CallToolResult = self.decode(&prepared)?;
        Ok((took, Answer { text: result.text(), is_error: result.is_error }))
    }

    /// Sends a request and decodes its result.
    ///
    /// # Errors
    /// The daemon does not answer, answers with an error, or with another shape.
    pub fn request<R: DeserializeOwned>(
        &mut self,
        method: &str,
        params: &impl Serialize,
    ) -> anyhow::Result<R> {
        let prepared = self.prepare(method, params)?;
        self.timed(&prepared)?;
        self.decode(&prepared)
    }

    /// Encodes a request.
    ///
    /// # Errors
    /// The parameters are no JSON.
    pub fn prepare(&mut self, method: &str, params: &impl Serialize) -> anyhow::Result<Prepared> {
        self.last_id += 1;
        let id = Id::Number(self.last_id);
        let mut bytes = serde_json::to_vec(&Message::request(&id, method, params))?;
        bytes.push(b'\n');
        Ok(Prepared { id, bytes })
    }

    /// Sends an encoded request and waits for the next line. The time is that of the round trip.
    ///
    /// # Errors
    /// The connection broke, or nothing came for two minutes.
    pub fn timed(&mut self, request: &Prepared) -> anyhow::Result<Duration> {
        self.line.clear();
        let start = Instant::now();
        self.to.write_all(&request.bytes).context("sending a request")?;
        let count = self.from.read_until(b'\n', &mut self.line).context("waiting for an answer")?;
        let took = start.elapsed();
        if count == 0 {
            bail!("the daemon closed the connection");
        }
        Ok(took)
    }

    /// Decodes the line that [`Self::timed`] received, passing over notifications before it.
    ///
    /// # Errors
    /// It is a failure, belongs to another request, or has another shape.
    pub fn decode<R: DeserializeOwned>(&mut self, request: &Prepared) -> anyhow::Result<R> {
        loop {
            let line = std::str::from_utf8(&self.line)?;
            let message = Incoming::parse(line)?;
            match message.kind() {
                Kind::Response { id: Some(id), outcome } if id == request.id => {
                    return match outcome {
                        Ok(result) => Ok(serde_json::from_str(result.get())?),
                        Err(error) => bail!("the daemon refused: {}", error.get()),
                    };
                }
                Kind::Notification { .. } => {}
                _ => bail!("unexpected message: {line}"),
            }
            self.line.clear();
            if self.from.read_until(b'\n', &mut self.line)? == 0 {
                bail!("the daemon closed the connection");
            }
        }
    }

    /// Bytes of the last line received, newline included.
    pub fn last_line_bytes(&self) -> usize {
        self.line.len()
    }
}

impl Prepared {
    /// Bytes on the wire, newline included.
    pub fn wire_bytes(&self) -> usize {
        self.bytes.len()
    }
}

/// The parameters of a `tools/call`.
pub fn tool_call(tool: &str, arguments: &Value) -> Object {
    let mut params = Object::new();
    params.insert("name".to_owned(), Value::from(tool));
    params.insert("arguments".to_owned(), arguments.clone());
    params
}

impl Answer {
    /// The text, or an error that quotes it when the tool failed.
    ///
    /// # Errors
    /// The tool failed.
    pub fn ok(self) -> anyhow::Result<Self> {
        if self.is_error {
            let head: String = self.text.chars().take(600).collect();
            bail!("the tool failed: {head}");
        }
        Ok(self)
    }

    /// The anchor (`12#A4F0`) of the first shown line that contains `needle`.
    pub fn anchor_of(&self, needle: &str) -> Option<&str> {
        self.text.lines().find_map(|line| {
            let (anchor, shown) = line.split_once('│')?;
            shown.contains(needle).then(|| anchor.trim())
        })
    }

    /// The first search that the text names, as `SEARCH#19AF`; what selects its matches is put
    /// behind it.
    pub fn search_id(&self) -> Option<&str> {
        let from = self.text.find(SEARCH)?;
        let text = &self.text[from..];
        let is_digit = |c: char| c.is_ascii_digit() || ('A'..='F').contains(&c);
        let digits = text[SEARCH.len()..].find(|c| !is_digit(c));
        Some(digits.map_or(text, |digits| &text[..SEARCH.len() + digits]))
    }
}

/// What a reference to a search starts with.
const SEARCH: &str = "SEARCH#";

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(text: &str) -> Answer {
        Answer { text: text.to_owned(), is_error: false }
    }

    #[test]
    fn anchors_are_found_by_what_they_show() {
        let answer = answer("[result 1]\n1#AAAA│one\n2#BBBB│two\n");
        assert_eq!(answer.anchor_of("two"), Some("2#BBBB"));
        assert_eq!(answer.anchor_of("three"), None);
    }

    #[test]
    fn searches_are_found_by_their_form() {
        let found = answer("[result 1]\n3 matches. SEARCH#19AF:N:match is the text of match N");
        assert_eq!(found.search_id(), Some("SEARCH#19AF"));
        assert_eq!(answer("SEARCH#01").search_id(), Some("SEARCH#01"));
        assert_eq!(answer("No matches in 3 files.").search_id(), None);
    }
}
