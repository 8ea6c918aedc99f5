//! Resource and resolver contracts, the host seam, and the read and search cores.

pub mod cache;
pub mod host;
pub mod limits;
pub mod read;
pub mod search;
pub mod source;
pub mod sources;
pub mod temp;
pub mod walk;

pub use host::{Host, LocalHost};
