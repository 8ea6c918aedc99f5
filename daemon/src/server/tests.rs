//! The server over its real socket.

mod batches;
mod calls;
mod eras;
mod framing;
pub(crate) mod harness;
mod own;
