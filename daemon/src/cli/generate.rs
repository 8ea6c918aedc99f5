//! Completions and manual pages, made from the arguments themselves.

use std::io::Write as _;
use std::path::Path;

use clap::Command;
use clap_mangen::Man as Page;

use super::args::{Completions, Man};
use super::output::Output;
use super::{CliError, Exit};

/// `capstan completions`.
pub(super) fn completions(
    command: &mut Command,
    args: &Completions,
    output: &Output,
) -> Result<Exit, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, command, "capstan", &mut script);
    output.text(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Done)
}

/// `capstan man`.
pub(super) fn man(mut command: Command, args: &Man, output: &Output) -> Result<Exit, CliError> {
    command.build();
    let Some(folder) = &args.out else {
        let mut page = Vec::new();
        Page::new(command).render(&mut page)?;
        let mut out = std::io::stdout().lock();
        out.write_all(&page)?;
        return Ok(Exit::Done);
    };
    let unwritable =
        |error| CliError::Usage(format!("could not write to `{}`: {error}", folder.display()));
    std::fs::create_dir_all(folder).map_err(unwritable)?;
    let count = write_pages(&command, "capstan", folder).map_err(unwritable)?;
    output.note("note", &format!("wrote {count} pages to `{}`", folder.display()));
    Ok(Exit::Done)
}

/// Writes the page of a command and those of the commands below it.
fn write_pages(command: &Command, name: &str, folder: &Path) -> std::io::Result<usize> {
    let mut page = Vec::new();
    Page::new(command.clone().display_name(name.to_owned())).title(name).render(&mut page)?;
    std::fs::write(folder.join(format!("{name}.1")), page)?;
    let mut count = 1;
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        count += write_pages(below, &format!("{name}-{}", below.get_name()), folder)?;
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::cli::args::Cli;

    #[test]
    fn every_command_has_a_page() {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Cli::command();
        command.build();
        let count = write_pages(&command, "capstan", folder.path()).unwrap();
        assert_eq!(count, command.get_subcommands().count() + 1);
        let page = std::fs::read_to_string(folder.path().join("capstan-replace.1")).unwrap();
        assert!(page.contains("Examples:"), "{page}");
    }
}
