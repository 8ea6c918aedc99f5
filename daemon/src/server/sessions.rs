//! `capstan/session.*`, and which session a request belongs to.

use std::path::PathBuf;
use std::sync::Arc;

use protocol::ErrorObject;
use protocol::capstan::{
    Event, SessionCloseParams, SessionCloseResult, SessionListResult, SessionOpenParams,
    SessionOpenResult,
};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::Server;
use super::peer::{Peer, PeerKind};
use super::request::{Meta, Reply, capstan_error, invalid_params};
use crate::session::registry::Opened;
use crate::session::{OpenRequest, Session, SessionError, root};

/// The name of the sessions that stateless HTTP requests share, one per root: there is nothing
/// else that could hold their references together.
const HTTP_SESSION: &str = "http";

impl Server {
    /// The session of a request: the one that its `_meta` names, or that of its connection.
    pub(super) fn session_of(
        &self,
        peer: &Peer,
        meta: Option<&Meta<'_>>,
    ) -> Result<Arc<Session>, ErrorObject> {
        let root = meta.and_then(|meta| meta.root.as_deref()).map(read_root).transpose()?;
        let named = meta.and_then(|meta| meta.session.as_deref());
        let bound = peer.bound();
        if let Some(named) = named {
            let inherited = || bound.as_ref().and_then(|bound| bound.root().map(ToOwned::to_owned));
            let by_id = uuid::Uuid::parse_str(named).is_ok();
            let root = if by_id { root } else { root.or_else(inherited).or_else(|| peer.root()) };
            return self
                .open(OpenRequest { root, session: Some(named.to_owned()) })
                .map(|opened| opened.session);
        }
        if let Some(bound) = bound
            && root.as_deref().is_none_or(|root| bound.root() == Some(root))
        {
            return Ok(bound);
        }
        let _one_at_a_time = peer.opening();
        let shared = (peer.kind == PeerKind::HttpStateless).then(|| HTTP_SESSION.to_owned());
        if let Some(root) = root {
            if let Some(session) = peer.by_root(&root) {
                return Ok(session);
            }
            let session =
                self.open(OpenRequest { root: Some(root.clone()), session: shared })?.session;
            peer.remember_root(root, &session);
            return Ok(session);
        }
        if let Some(bound) = peer.bound() {
            return Ok(bound);
        }
        let session = self.open(OpenRequest { root: peer.root(), session: shared })?.session;
        peer.bind(&session);
        Ok(session)
    }

    /// Answers `capstan/session.open`.
    pub(super) fn open_session(
        &self,
        reply: &Reply,
        raw: Option<&RawValue>,
    ) -> Result<Value, ErrorObject> {
        let params: SessionOpenParams = read(raw)?;
        if let Some(profile) = params.profile.as_deref().filter(|profile| *profile != "ide") {
            return Err(invalid_params(format!("unknown profile `{profile}`; there is: ide")));
        }
        let root = params.root.as_deref().map(read_root).transpose()?;
        if root.is_none() && params.session.is_none() {
            return Err(invalid_params("name a `root`, or a `session` that is open"));
        }
        let opened = self.open(OpenRequest { root, session: params.session })?;
        reply.peer.bind(&opened.session);
        super::methods::value(&SessionOpenResult {
            session: opened.session.info(),
            opened: opened.new,
        })
    }

    /// Answers `capstan/session.list`.
    pub(super) fn session_list(&self) -> SessionListResult {
        SessionListResult {
            sessions: self.sessions.list().iter().map(|session| session.info()).collect(),
        }
    }

    /// Answers `capstan/session.close`.
    pub(super) fn close_session(&self, raw: Option<&RawValue>) -> Result<Value, ErrorObject> {
        let params: SessionCloseParams = read(raw)?;
        let closed = self.sessions.close(params.session);
        if let Some(session) = &closed {
            self.closed(session);
        }
        super::methods::value(&SessionCloseResult { closed: closed.is_some() })
    }

    fn open(&self, request: OpenRequest) -> Result<Opened, ErrorObject> {
        let opened = self.sessions.open(request).map_err(|error| refused(&error))?;
        if let Some(evicted) = &opened.evicted {
            self.closed(evicted);
        }
        if opened.new {
            let session = &opened.session;
            self.events.publish(|| Event::SessionOpened {
                session: session.id(),
                root: session.root().map(root::to_wire),
            });
        }
        Ok(opened)
    }

    /// Takes a closed session from the connections that are bound to it.
    fn closed(&self, session: &Session) {
        for peer in self.peers() {
            peer.forget(session);
        }
        self.events.publish(|| Event::SessionClosed { session: session.id() });
    }
}

fn refused(error: &SessionError) -> ErrorObject {
    capstan_error(error.code(), error.to_string())
}

fn read_root(text: &str) -> Result<PathBuf, ErrorObject> {
    root::from_wire(text).ok_or_else(|| {
        invalid_params(format!(
            "the root `{text}` is no absolute path and no `file:` URL of this machine"
        ))
        .with_data(json!({"code": anchors::ErrorCode::InvalidRequest.as_str()}))
    })
}

/// Reads the parameters of a `capstan/*` method; absent ones are an empty object.
pub(super) fn read<T: DeserializeOwned>(raw: Option<&RawValue>) -> Result<T, ErrorObject> {
    serde_json::from_str(raw.map_or("{}", RawValue::get)).map_err(invalid_params)
}
