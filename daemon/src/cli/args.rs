//! The arguments of `capstan`: what `--help`, completions and man pages are made from.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use super::help;

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

/// The IDE that coding agents use: anchored reads, searches and edits through one warm daemon.
#[derive(Debug, Parser)]
#[command(
    name = "capstan", version, styles = STYLES, after_long_help = help::TOP, max_term_width = 100,
    disable_help_subcommand = true, subcommand_required = true, arg_required_else_help = true,
)]
pub struct Cli {
    #[command(flatten)]
    #[expect(missing_docs, reason = "a comment would become help text")]
    pub global: Global,
    #[command(subcommand)]
    #[expect(missing_docs, reason = "a comment would become help text")]
    pub command: Command,
}

/// Options of every command.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Global options")]
pub struct Global {
    /// Print one JSON object per answer
    #[arg(long, global = true)]
    pub json: bool,
    /// The workspace [default: the folder with `.git` around the current one, else the current one]
    #[arg(long, global = true, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// The session, by id or name; anchors shown in it are valid in it [default: cli]
    #[arg(long, global = true, value_name = "ID|NAME")]
    pub session: Option<String>,
    /// Colour the output
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: ColorChoice,
}

/// When output is coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show a file, folder or other source, each line with the anchor that edits take
    #[command(after_long_help = help::READ)]
    Read(Read),
    /// Search text, or files by name with `files:`
    #[command(after_long_help = help::SEARCH)]
    Search(Search),
    /// Create or replace a whole file
    #[command(after_long_help = help::WRITE)]
    Write(Write),
    /// Replace anchored lines, exact text or search results
    #[command(after_long_help = help::REPLACE)]
    Replace(Replace),
    /// Insert text before or after an anchor
    #[command(after_long_help = help::INSERT)]
    Insert(Insert),
    /// Delete anchored lines, exact text or search results
    #[command(after_long_help = help::DELETE)]
    Delete(Delete),
    /// Call any tool with JSON arguments
    #[command(after_long_help = help::CALL)]
    Call(Call),
    /// List the tools
    Tools,
    /// List the open sessions, or close one
    Sessions(Sessions),
    /// Show the daemon's version, uptime, memory, sessions and workspaces
    Status,
    /// Let running calls finish, then end the daemon
    Stop,
    /// End the daemon and start this version of it
    Restart,
    /// Serve MCP on standard input and output, for coding agents
    #[command(after_long_help = help::MCP)]
    Mcp(Mcp),
    /// Run the daemon; other commands start it by themselves
    #[command(after_long_help = help::DAEMON)]
    Daemon(Daemon),
    /// Print the completions for a shell
    #[command(after_long_help = help::COMPLETIONS)]
    Completions(Completions),
    /// Print the manual page, or write one per command
    Man(Man),
}

/// `capstan read`.
#[derive(Debug, Args)]
pub struct Read {
    /// Files, folders, `raw:`, `temp:`, `docs:`, results, `path#anchor`
    #[arg(required = true, value_name = "SOURCE")]
    pub sources: Vec<OsString>,
    /// The first line, from 1; negative counts from the end
    #[arg(long, short, allow_negative_numbers = true, value_name = "LINE")]
    pub offset: Option<i64>,
    /// How many lines
    #[arg(long, short, value_name = "LINES")]
    pub limit: Option<u64>,
    /// Show the bare text, without anchors
    #[arg(long, short, conflicts_with_all = ["lines", "views"])]
    pub plain: bool,
    /// Show line numbers instead of anchors
    #[arg(long, short = 'n', conflicts_with = "views")]
    pub lines: bool,
    /// Show this view, such as `anchors` or `lines`; may be repeated
    #[arg(long = "view", short = 'v', value_name = "VIEW")]
    pub views: Vec<String>,
}

/// `capstan search`.
#[derive(Debug, Args)]
pub struct Search {
    /// What to look for
    #[arg(allow_hyphen_values = true)]
    pub query: String,
    /// Where: files, folders, results [default: the current folder]
    #[arg(value_name = "SOURCE")]
    pub sources: Vec<OsString>,
    /// Only files that match this glob; may be repeated
    #[arg(long, short, value_name = "GLOB")]
    pub include: Vec<String>,
    /// No files that match this glob; may be repeated
    #[arg(long, short, value_name = "GLOB")]
    pub exclude: Vec<String>,
    /// Tell upper from lower case [default: when the query has upper case]
    #[arg(long, short = 's', overrides_with = "ignore_case")]
    pub case_sensitive: bool,
    /// Take upper and lower case as one
    #[arg(long, short = 'I', overrides_with = "case_sensitive")]
    pub ignore_case: bool,
    /// Only whole words
    #[arg(long, short)]
    pub whole_word: bool,
    /// Lines to show around each match
    #[arg(long, short = 'C', value_name = "LINES")]
    pub context: Option<u64>,
    /// How many matches to show in detail
    #[arg(long, short, value_name = "COUNT")]
    pub limit: Option<u64>,
    /// Look into hidden files too
    #[arg(long, short = '.')]
    pub hidden: bool,
    /// Look into ignored files too
    #[arg(long, short = 'u')]
    pub ignored: bool,
}

/// Where the new text comes from.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub struct Text {
    /// The new text
    #[arg(long, short, allow_hyphen_values = true)]
    pub text: Option<String>,
    /// The file with the new text, `-` for standard input
    #[arg(long, short = 'f', value_name = "FILE")]
    pub text_file: Option<PathBuf>,
}

/// `capstan write`.
#[derive(Debug, Args)]
pub struct Write {
    /// The file; a `-` behind it reads the text from standard input
    #[arg(required = true, num_args = 1..=2, value_name = "FILE")]
    pub sources: Vec<OsString>,
    #[command(flatten)]
    #[expect(missing_docs, reason = "a comment would become help text")]
    pub text: Text,
}

/// `capstan replace`.
#[derive(Debug, Args)]
pub struct Replace {
    /// Files or results; a `-` reads the text from standard input
    #[arg(value_name = "SOURCE")]
    pub sources: Vec<OsString>,
    /// The anchor of the first line, or exact text
    #[arg(long, short, allow_hyphen_values = true, value_name = "ANCHOR")]
    pub start: Option<String>,
    /// The anchor of the last line
    #[arg(long, short, allow_hyphen_values = true, value_name = "ANCHOR")]
    pub end: Option<String>,
    #[command(flatten)]
    #[expect(missing_docs, reason = "a comment would become help text")]
    pub text: Text,
}

/// `capstan insert`.
#[derive(Debug, Args)]
pub struct Insert {
    /// Files or results; a `-` reads the text from standard input
    #[arg(value_name = "SOURCE")]
    pub sources: Vec<OsString>,
    /// Where: the anchor of a line, exact text, `begin` or `end`
    #[arg(long, short, allow_hyphen_values = true)]
    pub anchor: Option<String>,
    /// Insert before the anchor, not after it
    #[arg(long, short)]
    pub before: bool,
    /// What stands between the new text and its neighbours
    #[arg(long, value_parser = ["line", "blank-line"])]
    pub separation: Option<String>,
    #[command(flatten)]
    #[expect(missing_docs, reason = "a comment would become help text")]
    pub text: Text,
}

/// `capstan delete`.
#[derive(Debug, Args)]
pub struct Delete {
    /// Files or results
    #[arg(value_name = "SOURCE")]
    pub sources: Vec<OsString>,
    /// The anchor of the first line, or exact text
    #[arg(long, short, allow_hyphen_values = true, value_name = "ANCHOR")]
    pub start: Option<String>,
    /// The anchor of the last line
    #[arg(long, short, allow_hyphen_values = true, value_name = "ANCHOR")]
    pub end: Option<String>,
}

/// `capstan call`.
#[derive(Debug, Args)]
pub struct Call {
    /// The tool, one of `capstan tools`
    pub tool: String,
    /// Its arguments as a JSON object, `-` for standard input
    #[arg(default_value = "{}", value_name = "JSON")]
    pub arguments: String,
}

/// `capstan sessions`.
#[derive(Debug, Args)]
pub struct Sessions {
    /// Close the session with this id
    #[arg(long, value_name = "ID")]
    pub close: Option<uuid::Uuid>,
}

/// `capstan mcp`.
#[derive(Debug, Args)]
pub struct Mcp {
    /// Which tools to offer
    #[arg(long)]
    pub profile: Option<String>,
}

/// `capstan daemon`.
#[derive(Debug, Args)]
pub struct Daemon {
    /// Start it in the background and return once it is ready
    #[arg(long, short)]
    pub detached: bool,
    /// Serve MCP over HTTP too, at a loopback address; port 0 picks a free one
    #[arg(long, value_name = "ADDRESS")]
    pub http: Option<String>,
    /// End after so long without anybody connected; 0 is never
    #[arg(long, value_name = "MINUTES")]
    pub idle_exit_minutes: Option<String>,
    /// What a client starts: own session, no terminal, tells when it is ready
    #[arg(long, hide = true, conflicts_with = "detached")]
    pub background: bool,
}

/// `capstan completions`.
#[derive(Debug, Args)]
pub struct Completions {
    /// The shell
    pub shell: Shell,
}

/// `capstan man`.
#[derive(Debug, Args)]
pub struct Man {
    /// Write `capstan.1` and one page per command into this folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}
