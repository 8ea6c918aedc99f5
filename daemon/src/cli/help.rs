//! The examples that `--help` teaches with.

/// `capstan --help`.
pub const TOP: &str = "\
Examples:
  capstan read src/main.rs                         show a file with anchors such as 12#A4F0
  capstan replace src/main.rs -s 12#A4F0 -t 'x'    replace that line
  capstan search 'fn main'                         find text, with references to edit it
  capstan delete SEARCH#19AF:all:line              delete every line that was found

An anchor says which line is meant and what stands there. When the text has changed since it was
shown, the edit is refused with fresh anchors, never guessed. The daemon starts by itself.

Exit codes: 0 done, 1 the tool failed, 2 wrong usage, 3 the daemon can't be reached.";

/// `capstan read --help`.
pub const READ: &str = "\
Examples:
  capstan read README.md                  the file, each line with its anchor
  capstan read README.md -o 120 -l 40     40 lines from line 120 on
  capstan read README.md -o -20           the last 20 lines
  capstan read -p README.md               the bare text
  capstan read src                        a folder
  capstan read raw:logo.png -l 64         the first 64 bytes in hexadecimal
  capstan read docs:                      the guides";

/// `capstan search --help`.
pub const SEARCH: &str = "\
Examples:
  capstan search 'TODO'                         literal text first, then as a pattern, then as words
  capstan search '\"fn main\"' src                quotes: exactly this
  capstan search 'regex:impl \\w+ for Foo'       a regular expression
  capstan search 'files:*.toml'                 files by name
  capstan search needle -i '*.rs' -e 'tests/**' only some files
  capstan search needle SEARCH#19AF:all:line    inside an earlier result

Every match has a reference such as SEARCH#19AF:3:match that reads and edits take.";

/// `capstan write --help`.
pub const WRITE: &str = "\
Examples:
  capstan write notes.txt -t 'hello'        a new file
  capstan write notes.txt -f draft.txt      from another file
  date | capstan write notes.txt -          from standard input

Over a file that this session has not seen, the first call is held back; repeat it to go ahead.";

/// `capstan replace --help`.
pub const REPLACE: &str = "\
Examples:
  capstan replace a.rs -s 12#A4F0 -t 'let x = 1;'          one line
  capstan replace a.rs -s 12#A4F0 -e 20#77B1 -f new.rs     the lines 12 to 20
  capstan replace a.rs -s 'old_name' -t 'new_name'         exact text that occurs once
  capstan replace SEARCH#19AF:all:match -t 'new_name'      every match of a search, in all files";

/// `capstan insert --help`.
pub const INSERT: &str = "\
Examples:
  capstan insert a.rs -a 12#A4F0 -t 'let y = 2;'     a line after line 12
  capstan insert a.rs -a 12#A4F0 -b -t '// why'      before it
  capstan insert a.rs -a end -t 'last line'          at the end
  capstan insert a.rs -a begin -b -f header.txt      at the top";

/// `capstan delete --help`.
pub const DELETE: &str = "\
Examples:
  capstan delete a.rs -s 12#A4F0                  one line
  capstan delete a.rs -s 12#A4F0 -e 20#77B1       the lines 12 to 20
  capstan delete SEARCH#19AF:all:line             every line that was found
  capstan delete a.rs -s 'old text'               exact text that occurs once";

/// `capstan call --help`.
pub const CALL: &str = "\
Examples:
  capstan call read '{\"path\": \"README.md\", \"limit\": 20}'
  echo '{\"query\": \"needle\"}' | capstan call search -

`capstan tools --json` shows what each tool takes. Paths are relative to the workspace root.";

/// `capstan mcp --help`.
pub const MCP: &str = "\
Examples:
  claude mcp add capstan -- capstan mcp
  {\"mcpServers\": {\"capstan\": {\"command\": \"capstan\", \"args\": [\"mcp\"]}}}

The workspace is the folder that the agent starts it in, or --root.";

/// `capstan daemon --help`.
pub const DAEMON: &str = "\
Examples:
  capstan daemon                          in the foreground, until it is interrupted
  capstan daemon --detached               in the background
  capstan daemon --http 127.0.0.1:0       with MCP over HTTP; the token is in the state folder

Environment: CAPSTAN_SOCKET (where it listens), CAPSTAN_LOG (such as debug), and one variable per
setting such as CAPSTAN_DAEMON_IDLE_EXIT_MINUTES.";

/// `capstan completions --help`.
pub const COMPLETIONS: &str = "\
Examples:
  capstan completions bash > ~/.local/share/bash-completion/completions/capstan
  capstan completions zsh > ~/.zfunc/_capstan
  capstan completions fish > ~/.config/fish/completions/capstan.fish";
