//! The open sessions, found by id or by root and name.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anchors::ErrorCode;
use uuid::Uuid;

use super::{Session, SessionState};
use crate::limits::{MAX_SESSION_NAME_CHARS, MAX_SESSIONS, SESSION_LINGER};

/// Makes the state of a new session, given its root.
pub type MakeState = dyn Fn(Option<&std::path::Path>) -> SessionState + Send + Sync;

/// Which session somebody wants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenRequest {
    /// The workspace root.
    pub root: Option<PathBuf>,
    /// The id of an open session, or a name.
    pub session: Option<String>,
}

/// Why a session could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// An id that no open session has.
    #[error("no open session has the id `{id}`; open one with a root instead")]
    Unknown {
        /// The id.
        id: Uuid,
    },
    /// The session has another root than the one asked for.
    #[error("session `{id}` has the root `{actual}`, not `{asked}`")]
    OtherRoot {
        /// The session.
        id: Uuid,
        /// Its root.
        actual: String,
        /// The root that was asked for.
        asked: String,
    },
    /// A name beyond the bound.
    #[error("a session's name has 1 to {MAX_SESSION_NAME_CHARS} characters, this one has {chars}")]
    BadName {
        /// Its length.
        chars: usize,
    },
    /// The bound is reached and every session is in use.
    #[error("{MAX_SESSIONS} sessions are open and in use; close one first")]
    Full,
}

impl SessionError {
    /// The stable word.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Unknown { .. } => ErrorCode::UnknownSession,
            Self::OtherRoot { .. } | Self::BadName { .. } => ErrorCode::InvalidRequest,
            Self::Full => ErrorCode::LimitExceeded,
        }
    }
}

/// What [`SessionRegistry::open`] found or made.
#[derive(Debug)]
pub struct Opened {
    /// The session.
    pub session: Arc<Session>,
    /// Whether it is new.
    pub new: bool,
    /// A session that was closed to make room.
    pub evicted: Option<Arc<Session>>,
}

/// All open sessions of the daemon.
pub struct SessionRegistry {
    open: Mutex<Vec<Arc<Session>>>,
    make_state: Box<MakeState>,
}

impl SessionRegistry {
    /// An empty registry.
    pub fn new(make_state: Box<MakeState>) -> Self {
        Self { open: Mutex::default(), make_state }
    }

    /// Attaches to the session that the request names, or opens it. Without a name a session is
    /// always new.
    ///
    /// # Errors
    /// [`SessionError`].
    pub fn open(&self, request: OpenRequest) -> Result<Opened, SessionError> {
        let mut open = self.lock();
        let OpenRequest { root, session: wanted } = request;
        if let Some(id) = wanted.as_deref().and_then(|text| Uuid::parse_str(text).ok()) {
            let session = open
                .iter()
                .find(|session| session.id() == id)
                .ok_or(SessionError::Unknown { id })?;
            return attach(session, root);
        }
        if let Some(name) = &wanted {
            let chars = name.chars().count();
            if chars == 0 || chars > MAX_SESSION_NAME_CHARS {
                return Err(SessionError::BadName { chars });
            }
            let same = |session: &&Arc<Session>| {
                session.name() == Some(name) && session.root() == root.as_deref()
            };
            if let Some(session) = open.iter().find(same) {
                session.touch();
                return Ok(Opened { session: Arc::clone(session), new: false, evicted: None });
            }
        }
        open.retain(|session| !lapsed(session));
        let evicted = make_room(&mut open)?;
        let state = (self.make_state)(root.as_deref());
        let session = Arc::new(Session::new(root, wanted, state));
        open.push(Arc::clone(&session));
        Ok(Opened { session, new: true, evicted })
    }

    /// The open session with that id.
    pub fn get(&self, id: Uuid) -> Option<Arc<Session>> {
        self.lock().iter().find(|session| session.id() == id).cloned()
    }

    /// Closes a session: it is found no more, its running calls end on their own.
    pub fn close(&self, id: Uuid) -> Option<Arc<Session>> {
        let mut open = self.lock();
        let at = open.iter().position(|session| session.id() == id)?;
        Some(open.remove(at))
    }

    /// The open sessions, oldest first.
    pub fn list(&self) -> Vec<Arc<Session>> {
        self.lock().clone()
    }

    /// The distinct roots of the open sessions with the number of their sessions.
    pub fn roots(&self) -> HashMap<PathBuf, usize> {
        let mut roots = HashMap::new();
        for session in self.lock().iter() {
            if let Some(root) = session.root() {
                *roots.entry(root.to_owned()).or_insert(0) += 1;
            }
        }
        roots
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Session>>> {
        // The list is whole at every point where `make_state` could panic.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for SessionRegistry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SessionRegistry").field("open", &self.lock().len()).finish_non_exhaustive()
    }
}

fn attach(session: &Arc<Session>, root: Option<PathBuf>) -> Result<Opened, SessionError> {
    if let Some(asked) = root
        && session.root() != Some(&asked)
    {
        let actual = session.root().map_or_else(|| "(none)".to_owned(), super::root::to_wire);
        return Err(SessionError::OtherRoot {
            id: session.id(),
            actual,
            asked: super::root::to_wire(&asked),
        });
    }
    session.touch();
    Ok(Opened { session: Arc::clone(session), new: false, evicted: None })
}

/// Whether nobody can be expected to come back to the session.
fn lapsed(session: &Session) -> bool {
    session.name().is_none() && session.connections() == 0 && session.idle() > SESSION_LINGER
}

/// Closes the longest idle session when the bound is reached.
fn make_room(open: &mut Vec<Arc<Session>>) -> Result<Option<Arc<Session>>, SessionError> {
    if open.len() < MAX_SESSIONS {
        return Ok(None);
    }
    let idle = open
        .iter()
        .enumerate()
        .filter(|(_, session)| session.running() == 0 && session.connections() == 0)
        .max_by_key(|(_, session)| session.idle())
        .map(|(at, _)| at);
    idle.map(|at| Some(open.remove(at))).ok_or(SessionError::Full)
}

#[cfg(test)]
mod tests;
