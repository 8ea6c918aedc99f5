//! The command line: arguments in, one tool call or one word to the daemon, text out.
//!
//! Every command but `daemon` is a thin client. Standard output carries the answer and nothing
//! else; notes and errors go to standard error.

use std::fmt;
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};
use protocol::names::code;

use crate::client::{self, Client, ClientError};
use crate::lifecycle::StartError;
use crate::paths::{PathError, Paths};

pub mod admin;
pub mod args;
pub mod calls;
pub mod generate;
pub mod help;
pub mod output;
pub mod place;
pub mod serve;
pub mod text;

use args::{Cli, Command};
use output::Output;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// It did what was asked.
    Done = 0,
    /// The tool failed.
    ToolFailed = 1,
    /// The arguments make no sense.
    Usage = 2,
    /// The daemon can't be started or reached, or went away.
    Unreachable = 3,
    /// Interrupted by the user.
    Interrupted = 130,
}

/// What a command failed with.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// Arguments that make no sense.
    #[error("{0}")]
    Usage(String),
    /// No answer from the daemon.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The daemon itself failed.
    #[error("{}", chain(.0.as_ref()))]
    Daemon(anyhow::Error),
    /// The answer could not be written.
    #[error("could not write the output")]
    Output(#[from] std::io::Error),
}

impl From<StartError> for CliError {
    fn from(error: StartError) -> Self {
        Self::Client(error.into())
    }
}

impl From<PathError> for CliError {
    fn from(error: PathError) -> Self {
        StartError::from(error).into()
    }
}

impl CliError {
    fn exit(&self) -> Exit {
        match self {
            Self::Usage(_) => Exit::Usage,
            Self::Client(ClientError::Interrupted) => Exit::Interrupted,
            Self::Client(ClientError::Refused(error))
                if [code::INVALID_PARAMS, code::METHOD_NOT_FOUND].contains(&error.code) =>
            {
                Exit::Usage
            }
            Self::Client(ClientError::Refused(_)) | Self::Output(_) => Exit::ToolFailed,
            Self::Client(_) | Self::Daemon(_) => Exit::Unreachable,
        }
    }
}

/// The `capstan` program.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let output = Output::new(cli.global.json, cli.global.color);
    let exit = match run(&cli, &output) {
        Ok(exit) => exit,
        // Whoever read the output has enough of it.
        Err(CliError::Output(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => {
            Exit::Done
        }
        Err(error) => {
            output.note("error", &describe(&error));
            error.exit()
        }
    };
    ExitCode::from(exit as u8)
}

fn run(cli: &Cli, output: &Output) -> Result<Exit, CliError> {
    let global = &cli.global;
    match &cli.command {
        Command::Completions(args) => generate::completions(&mut Cli::command(), args, output),
        Command::Man(args) => generate::man(Cli::command(), args, output),
        Command::Daemon(args) => serve::daemon(args, output),
        Command::Mcp(args) => serve::mcp(global, args),
        Command::Status => admin::status(global, output),
        Command::Stop => admin::stop(output),
        Command::Restart => admin::restart(output),
        Command::Sessions(args) => admin::sessions(args, output),
        Command::Tools => admin::tools(output),
        tool => calls::run(tool, global, output),
    }
}

/// Connects, starting the daemon when it is not up.
fn start() -> Result<Client, CliError> {
    Ok(Client::start(&Paths::from_env()?)?)
}

/// Tells when the daemon is another program than this client.
fn note_difference(output: &Output, version: Option<&str>, client: &Client) {
    if let Some(note) = client::build::difference(version, client.stream()) {
        output.note("note", &note);
    }
}

fn describe(error: &CliError) -> String {
    match error {
        CliError::Client(ClientError::NotRunning) => {
            format!("{error}; any command that needs it, or `capstan daemon --detached`, starts it")
        }
        error => chain(error),
    }
}

/// An error and what it comes from, in one line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        let inner_text = inner.to_string();
        // Transparent wrappers repeat what they wrap.
        if !text.ends_with(&inner_text) {
            text.push_str(": ");
            text.push_str(&inner_text);
        }
        source = inner.source();
    }
    text
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (*self as u8).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_are_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn exit_codes_tell_who_is_to_blame() {
        let refused = |code| {
            let error = protocol::ErrorObject::new(code, "no");
            CliError::from(ClientError::Refused(error)).exit()
        };
        assert_eq!(refused(code::INVALID_PARAMS), Exit::Usage);
        assert_eq!(refused(code::SERVER_ERROR), Exit::ToolFailed);
        assert_eq!(CliError::from(ClientError::NotRunning).exit(), Exit::Unreachable);
        assert_eq!(CliError::from(ClientError::Interrupted).exit() as u8, 130);
        assert_eq!(CliError::Usage(String::new()).exit() as u8, 2);
    }
}
