//! Printing: the tool's text exactly when piped, dimmed envelopes and anchors on a terminal.

use std::io::{self, IsTerminal as _, Write as _};

use serde_json::Value;

use super::args::ColorChoice;

const DIM: &str = "\x1b[2m";
const BOLD: &str = "\x1b[1m";
const RESET: &str = "\x1b[0m";

/// Where answers go, and how.
#[derive(Clone, Copy, Debug)]
pub struct Output {
    /// Whether answers are JSON.
    pub json: bool,
    /// Whether text is coloured.
    pub color: bool,
    terminal: bool,
}

impl Output {
    /// The output of this process.
    pub fn new(json: bool, color: ColorChoice) -> Self {
        let terminal = io::stdout().is_terminal();
        let color = match color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => terminal && colour_is_welcome(),
        };
        Self { json, color, terminal }
    }

    /// Prints a tool's text.
    ///
    /// # Errors
    /// What the system says.
    pub fn text(&self, text: &str) -> io::Result<()> {
        let mut out = io::stdout().lock();
        if self.color {
            out.write_all(coloured(text).as_bytes())?;
        } else {
            out.write_all(text.as_bytes())?;
        }
        if self.terminal && !text.ends_with('\n') {
            out.write_all(b"\n")?;
        }
        out.flush()
    }

    /// Prints what a tool says of its failure, to standard error.
    pub fn failure(&self, text: &str) {
        // Nothing is left to do if that fails.
        let _ = writeln!(io::stderr(), "{}", text.trim_end_matches('\n'));
    }

    /// Prints one JSON value on a line.
    ///
    /// # Errors
    /// What the system says.
    pub fn value(&self, value: &Value) -> io::Result<()> {
        let mut out = io::stdout().lock();
        writeln!(out, "{value}")?;
        out.flush()
    }

    /// Prints lines of ours.
    ///
    /// # Errors
    /// What the system says.
    pub fn lines(&self, lines: &[String]) -> io::Result<()> {
        let mut out = io::stdout().lock();
        for line in lines {
            writeln!(out, "{line}")?;
        }
        out.flush()
    }

    /// A heading, bold where colour is welcome.
    pub fn heading(&self, text: &str) -> String {
        if self.color { format!("{BOLD}{text}{RESET}") } else { text.to_owned() }
    }

    /// Tells people something beside the answer, on standard error.
    pub fn note(&self, kind: &str, text: &str) {
        let _ = writeln!(io::stderr(), "capstan: {kind}: {text}");
    }
}

/// <https://no-color.org>, and terminals that can't.
fn colour_is_welcome() -> bool {
    let forbidden = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    !forbidden && !dumb
}

/// Dims what people skip: the envelope and the anchors before lines.
fn coloured(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 4);
    for line in text.split_inclusive('\n') {
        let dim = dim_length(line);
        if dim > 0 {
            out.push_str(DIM);
            out.push_str(&line[..dim]);
            out.push_str(RESET);
        }
        out.push_str(&line[dim..]);
    }
    out
}

/// How many bytes at the start of a line are for programs.
fn dim_length(line: &str) -> usize {
    if line.starts_with("[result ") {
        return line.trim_end().len();
    }
    let prefix = line.find('│').map(|bar| &line[..bar]).filter(|prefix| is_anchor(prefix));
    prefix.map_or(0, |prefix| prefix.len() + '│'.len_utf8())
}

/// Whether `text` is what stands before shown lines: `12#A4F0`, a line number, or the number of a
/// match and its line.
fn is_anchor(text: &str) -> bool {
    let digits = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    let is_word = |word: &str| match word.split_once('#') {
        Some((line, hash)) => digits(line) && hash.bytes().all(|byte| byte.is_ascii_hexdigit()),
        None => digits(word),
    };
    let mut words = text.split_ascii_whitespace();
    words.next().is_some_and(is_word) && words.all(is_word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn envelopes_and_anchors_are_dimmed() {
        let text = "[result 6f0c]\n12#A4F0│let x│y\nplain│line\n7│n\n1 12│m\n";
        assert_eq!(
            coloured(text).replace(DIM, "<").replace(RESET, ">"),
            "<[result 6f0c]>\n<12#A4F0│>let x│y\nplain│line\n<7│>n\n<1 12│>m\n"
        );
    }
}
