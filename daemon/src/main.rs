//! The `capstan` program. Everything it does is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    daemon::cli::main()
}
