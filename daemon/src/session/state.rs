//! What a session remembers between calls.

/// References, shown snapshots and inherited paths of one session.
#[derive(Debug, Default)]
pub struct SessionState {}
