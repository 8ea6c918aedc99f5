//! The command line of the benches; `tests/bench` builds everything and runs it.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use tests::bench::{self, Options, ping, table};

/// Capstan against the plain tools that do the same work: one table, medians of interleaved runs.
#[derive(Debug, Parser)]
#[command(name = "bench", max_term_width = 100)]
struct Arguments {
    /// Only benches with this letter, or with this in their name: read, replace, many-files,
    /// search, ping, crowd, footprint
    #[arg(value_name = "BENCH")]
    wanted: Vec<String>,
    /// Fewer rounds and shorter load: a first look
    #[arg(long)]
    quick: bool,
    /// Rounds of the benches whose runs take milliseconds or more
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    rounds: Option<u16>,
    /// Print JSON instead of the table; seconds and bytes
    #[arg(long)]
    json: bool,
    /// Fail when an aim is missed
    #[arg(long)]
    check: bool,
    /// Become the process that echoes: a socket and the bytes of a reply
    #[arg(long, hide = true, num_args = 2)]
    echo_server: Option<Vec<String>>,
}

fn main() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::parse();
    if let Some([socket, reply_bytes]) = arguments.echo_server.as_deref() {
        ping::serve_echo(&PathBuf::from(socket), reply_bytes.parse()?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let options = Options { quick: arguments.quick, rounds: arguments.rounds.map(usize::from) };
    let (stage, report) = bench::run(options, &arguments.wanted)?;
    let text = if arguments.json {
        format!("{:#}\n", table::json(&stage.machine, &stage.options, &report))
    } else {
        table::text(&stage.machine, &stage.options, &report)
    };
    std::io::stdout().write_all(text.as_bytes())?;
    let missed = report.rows.iter().any(|row| row.is_met() == Some(false));
    let failed = !report.failures.is_empty() || arguments.check && missed;
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
