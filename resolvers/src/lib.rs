//! Resource and resolver contracts, the host seam, and the read and search cores.

pub mod host;
pub mod limits;
pub mod search;
pub mod walk;

pub use host::{Host, LocalHost};
