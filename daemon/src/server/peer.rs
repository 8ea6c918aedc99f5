//! What the server knows of one client: a socket connection, or an HTTP session.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anchors::Cancel;
use protocol::Id;
use protocol::jsonrpc::Message;
use protocol::mcp::ClientCapabilities;
use protocol::names::meta;
use serde_json::{Value, json};
use tokio::sync::{Notify, Semaphore};

use super::outlet::Outlet;
use super::output::Output;
use crate::limits::MAX_RUNNING_PER_CLIENT;
use crate::session::{BoundGuard, Session};

/// One client.
pub struct Peer {
    /// Whether it is one connection, or many independent HTTP requests.
    pub(crate) kind: PeerKind,
    /// Where messages go that answer no request.
    pub(super) outlet: Arc<dyn Outlet>,
    /// The same, when it is a socket.
    pub(super) output: Option<Arc<Output>>,
    /// Places for calls that run at once.
    pub(super) places: Arc<Semaphore>,
    in_flight: Mutex<HashMap<Id, InFlight>>,
    /// Held while a session is opened for requests that name none, so that there is only one.
    opening: Mutex<()>,
    state: Mutex<State>,
    structured: AtomicBool,
    /// Set while an answer to `roots/list` is awaited.
    roots_pending: AtomicBool,
    roots_known: Notify,
    subscribed: AtomicBool,
    gone: AtomicBool,
}

/// What stands behind a [`Peer`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeerKind {
    /// A socket connection: both eras and bare `capstan/*` clients.
    Socket,
    /// An HTTP session of the handshake era.
    HttpSession,
    /// All stateless HTTP requests together.
    HttpStateless,
}

/// A request that runs or waits for a place.
struct InFlight {
    cancel: Cancel,
    /// Whether the client cancelled it, and so wants no answer.
    silenced: bool,
}

#[derive(Default)]
struct State {
    /// The revision that `initialize` settled on.
    version: Option<&'static str>,
    capabilities: ClientCapabilities,
    /// The session of requests that name none.
    bound: Option<BoundGuard>,
    /// The sessions of requests that name only a root.
    by_root: HashMap<PathBuf, BoundGuard>,
    /// The root that `roots/list` told.
    root: Option<PathBuf>,
    /// The open `subscriptions/listen` requests.
    listens: Vec<Listen>,
}

/// One open `subscriptions/listen` request.
pub(super) struct Listen {
    pub id: Id,
    pub tools_changed: bool,
    pub outlet: Arc<dyn Outlet>,
}

impl Peer {
    /// A socket connection that has not said anything yet.
    pub(super) fn socket(output: &Arc<Output>) -> Arc<Self> {
        let outlet: Arc<dyn Outlet> = Arc::<Output>::clone(output);
        Self::build(PeerKind::Socket, outlet, Some(Arc::clone(output)))
    }

    /// An HTTP client that has not said anything yet.
    pub(crate) fn http(kind: PeerKind, outlet: Arc<dyn Outlet>) -> Arc<Self> {
        Self::build(kind, outlet, None)
    }

    fn build(kind: PeerKind, outlet: Arc<dyn Outlet>, output: Option<Arc<Output>>) -> Arc<Self> {
        Arc::new(Self {
            kind,
            outlet,
            output,
            places: Arc::new(Semaphore::new(MAX_RUNNING_PER_CLIENT)),
            in_flight: Mutex::default(),
            opening: Mutex::default(),
            state: Mutex::default(),
            structured: AtomicBool::new(false),
            roots_pending: AtomicBool::new(false),
            roots_known: Notify::new(),
            subscribed: AtomicBool::new(false),
            gone: AtomicBool::new(false),
        })
    }

    /// Records what `initialize` settled.
    pub(super) fn initialized(&self, version: &'static str, capabilities: ClientCapabilities) {
        self.structured.store(capabilities.structured(), Ordering::Relaxed);
        let mut state = self.state();
        state.version = Some(version);
        state.capabilities = capabilities;
    }

    /// The revision that `initialize` settled on.
    pub fn version(&self) -> Option<&'static str> {
        self.state().version
    }

    /// Whether the client has said how it speaks: by `initialize`, or by opening a session.
    pub(super) fn is_open(&self) -> bool {
        let state = self.state();
        state.version.is_some() || state.bound.is_some()
    }

    /// Whether this is the first subscription to events.
    pub(super) fn subscribe_once(&self) -> bool {
        !self.subscribed.swap(true, Ordering::Relaxed)
    }

    /// Whether the client asked in `initialize` for structured results.
    pub(super) fn structured(&self) -> bool {
        self.structured.load(Ordering::Relaxed)
    }

    /// Whether `roots/list` may be asked.
    pub(super) fn has_roots(&self) -> bool {
        self.state().capabilities.roots.is_some()
    }

    /// Registers a request that can be cancelled; `None` when its id is already in use.
    pub(super) fn register(&self, id: &Id) -> Option<Cancel> {
        let cancel = Cancel::new();
        match self.in_flight().entry(id.clone()) {
            Entry::Occupied(_) => return None,
            Entry::Vacant(free) => {
                free.insert(InFlight { cancel: cancel.clone(), silenced: false })
            }
        };
        if self.gone.load(Ordering::Acquire) {
            cancel.cancel();
        }
        Some(cancel)
    }

    /// Forgets a request that has ended; whether its answer is still wanted.
    pub(super) fn unregister(&self, id: &Id) -> bool {
        self.in_flight().remove(id).is_some_and(|ended| !ended.silenced)
    }

    /// Requests that run or wait.
    pub(super) fn running(&self) -> usize {
        self.in_flight().len()
    }

    /// Whether nothing runs for it and it listens to nothing.
    pub(crate) fn is_idle(&self) -> bool {
        self.running() == 0 && self.listens() == 0
    }

    /// The client wants no answer any more to this request or subscription.
    pub(crate) fn cancel(&self, id: &Id) {
        if let Some(request) = self.in_flight().get_mut(id) {
            request.silenced = true;
            request.cancel.cancel();
        }
        self.state().listens.retain(|listen| listen.id != *id);
    }

    /// Stops every request; they still answer.
    pub(super) fn cancel_all(&self) {
        for request in self.in_flight().values() {
            request.cancel.cancel();
        }
    }

    /// The client is gone: nothing that runs for it, or is about to, need go on.
    pub(crate) fn leave(&self) {
        self.gone.store(true, Ordering::Release);
        self.cancel_all();
        let mut state = self.state();
        state.listens.clear();
        state.bound = None;
        state.by_root.clear();
    }

    /// The session of requests that name none.
    pub(super) fn bound(&self) -> Option<Arc<Session>> {
        self.state().bound.as_ref().map(|bound| Arc::clone(bound.session()))
    }

    /// Makes `session` the one of requests that name none.
    pub(super) fn bind(&self, session: &Arc<Session>) {
        self.state().bound = Some(session.bind());
    }

    /// The session that requests with this root only were given.
    pub(super) fn by_root(&self, root: &PathBuf) -> Option<Arc<Session>> {
        self.state().by_root.get(root).map(|bound| Arc::clone(bound.session()))
    }

    /// Remembers the session of requests with this root only.
    pub(super) fn remember_root(&self, root: PathBuf, session: &Arc<Session>) {
        self.state().by_root.insert(root, session.bind());
    }

    /// Forgets a session that was closed.
    pub(super) fn forget(&self, session: &Session) {
        let mut state = self.state();
        if state.bound.as_ref().is_some_and(|bound| bound.session().id() == session.id()) {
            state.bound = None;
        }
        state.by_root.retain(|_, kept| kept.session().id() != session.id());
    }

    /// The root that `roots/list` told.
    pub(super) fn root(&self) -> Option<PathBuf> {
        self.state().root.clone()
    }

    /// Whether the answer to `roots/list` is awaited.
    pub(super) fn roots_pending(&self) -> bool {
        self.roots_pending.load(Ordering::Relaxed)
    }

    /// `roots/list` was sent.
    pub(super) fn await_roots(&self) {
        self.roots_pending.store(true, Ordering::Relaxed);
    }

    /// `roots/list` was answered, or will not be.
    pub(super) fn roots_answered(&self, root: Option<PathBuf>) {
        if root.is_some() {
            self.state().root = root;
        }
        self.roots_pending.store(false, Ordering::Relaxed);
        self.roots_known.notify_waiters();
    }

    /// Waits for the answer to `roots/list`.
    pub(super) async fn roots_known(&self) {
        let known = self.roots_known.notified();
        tokio::pin!(known);
        known.as_mut().enable();
        if self.roots_pending() {
            known.await;
        }
    }

    /// Adds a subscription.
    pub(super) fn listen(&self, listen: Listen) {
        self.state().listens.push(listen);
    }

    /// Open subscriptions.
    pub(super) fn listens(&self) -> usize {
        self.state().listens.len()
    }

    /// Tells a client that listens that a list changed.
    pub(super) fn announce(&self, method: &str) {
        let state = self.state();
        if state.version.is_some() {
            self.outlet.notify(notification(method, &json!({})));
        }
        for listen in state.listens.iter().filter(|listen| listen.tools_changed) {
            let params = json!({"_meta": {meta::SUBSCRIPTION_ID: listen.id}});
            listen.outlet.notify(notification(method, &params));
        }
    }

    /// Ends all subscriptions with their final result.
    pub(super) fn end_listens(&self) {
        let listens = std::mem::take(&mut self.state().listens);
        for listen in listens {
            let result = json!({
                "resultType": "complete",
                "_meta": {
                    meta::SUBSCRIPTION_ID: listen.id,
                    meta::SERVER_INFO: super::request::server_info(),
                },
            });
            let message =
                serde_json::to_vec(&Message::answer(&listen.id, result)).unwrap_or_default();
            listen.outlet.answer(message);
        }
    }

    /// Held while a session is opened for requests that name none.
    pub(super) fn opening(&self) -> MutexGuard<'_, ()> {
        self.opening.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn in_flight(&self) -> MutexGuard<'_, HashMap<Id, InFlight>> {
        // No code under this lock can panic half-way.
        self.in_flight.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // No code under this lock can panic half-way.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The text of a notification.
pub(super) fn notification(method: &str, params: &Value) -> Vec<u8> {
    // A `Value` always serialises.
    serde_json::to_vec(&Message::notification(method, params)).unwrap_or_default()
}
