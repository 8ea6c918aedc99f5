//! Resource and resolver contracts, the host seam, and the read and search cores.

pub mod limits;
