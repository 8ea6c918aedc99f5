//! The walk against hand-made trees, against git and against ripgrep.

mod differential;
mod fixture;
mod git_rules;
mod plain_rules;
mod robust;
