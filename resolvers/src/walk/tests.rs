//! The walk against hand-made trees, against git and against ripgrep.

pub(crate) mod differential;
pub(crate) mod fixture;
mod git_rules;
mod plain_rules;
mod robust;
