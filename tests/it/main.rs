//! Drives the real daemon over its real socket: one binary, one daemon and one home per test.

mod batch;
mod cases;
mod clients;
mod fuzz;
mod kill;
mod lifecycle;
mod races;
mod structure;
mod support;
mod tokens;
