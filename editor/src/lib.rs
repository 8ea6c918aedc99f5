//! Plans edits in memory and commits them atomically: the only writer of user files.

pub mod limits;
pub mod transaction;

pub mod guard;
pub mod mutation;
pub mod plan;
pub mod receipt;

#[cfg(test)]
mod testing;

pub use mutation::Mutation;
pub use plan::{Plan, PlanContext, PlanError};
pub use receipt::Receipt;
