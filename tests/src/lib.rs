//! What the tests and the benches share: a client of the socket and a launcher of the real daemon.
//!
//! [`World`] is a home of its own (HOME, XDG folders, socket) below temporary folders, [`Daemon`] the
//! real binary started in it and stopped by its process id, [`Client`] one connection that speaks
//! JSON lines. Nothing here links the daemon: only the wire types are shared with it. The benches
//! themselves live in [`mod@bench`]; `src/bin/bench.rs` is their command line.

pub mod bench;
pub mod client;
pub mod launch;

pub use client::{Answer, Client};
pub use launch::{Daemon, World};
