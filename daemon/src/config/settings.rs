//! The one table of what can be set.
//!
//! A new setting is one entry here and one field in [`Config`].

use std::net::SocketAddr;
use std::time::Duration;

use super::{Config, Rebase};

/// One setting.
#[derive(Debug)]
pub struct Setting {
    /// Its table.
    pub table: &'static str,
    /// Its key in the table.
    pub key: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// What a project's file may do to it.
    pub project: Project,
    /// One sentence for the reference.
    pub meaning: &'static str,
    /// Puts a value, which [`Kind`] has let through, into the configuration.
    set: fn(&mut Config, &Value),
}

/// What a setting takes.
#[derive(Debug)]
pub enum Kind {
    /// `true` or `false`.
    Switch,
    /// A whole number from the first to the second.
    Whole(u64, u64),
    /// A number of minutes, fractions too, 0 for never.
    Minutes,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A loopback address with port, or `off`.
    Address,
}

/// A value that was let through by its kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Of [`Kind::Switch`].
    Switch(bool),
    /// Of [`Kind::Whole`].
    Whole(u64),
    /// Of [`Kind::Minutes`]; `None` for never.
    Time(Option<Duration>),
    /// Of [`Kind::Word`].
    Word(&'static str),
    /// Of [`Kind::Address`]; `None` for off.
    Address(Option<SocketAddr>),
}

/// A value as it was written.
#[derive(Clone, Copy, Debug)]
pub enum Written<'a> {
    /// A boolean.
    Bool(bool),
    /// A number.
    Number(f64),
    /// A string.
    Text(&'a str),
    /// An array, a table, a date.
    Other(&'static str),
}

/// What a project's file may do to a setting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Project {
    /// Set it as it likes.
    Free,
    /// Set this, the strictest value, only.
    Tighten(Strict),
    /// Nothing.
    Never,
}

/// The strictest value of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strict {
    /// `true`.
    On,
    /// This word.
    Word(&'static str),
}

/// Every setting, in the order of the reference.
pub const SETTINGS: &[Setting] = &[
    Setting {
        table: "daemon",
        key: "idle-exit-minutes",
        kind: Kind::Minutes,
        project: Project::Never,
        meaning: "How long the daemon stays when nobody is connected and nothing runs; 0 is for ever.",
        set: |config, value| {
            if let Value::Time(time) = value {
                config.daemon.idle_exit = *time;
            }
        },
    },
    Setting {
        table: "daemon",
        key: "http",
        kind: Kind::Address,
        project: Project::Never,
        meaning: "The loopback address that serves MCP over HTTP behind a token; port 0 picks a free one.",
        set: |config, value| {
            if let Value::Address(address) = value {
                config.daemon.http = *address;
            }
        },
    },
    Setting {
        table: "search",
        key: "timeout-ms",
        kind: Kind::Whole(1, 3_600_000),
        project: Project::Free,
        meaning: "How long one search may take, in milliseconds.",
        set: |config, value| {
            if let Value::Whole(number) = value {
                config.search.timeout = Duration::from_millis(*number);
            }
        },
    },
    Setting {
        table: "search",
        key: "limit",
        kind: Kind::Whole(1, 1000),
        project: Project::Free,
        meaning: "How many matches are shown when the call names no limit.",
        set: |config, value| {
            if let Value::Whole(number) = value {
                config.search.limit = usize::try_from(*number).unwrap_or(usize::MAX);
            }
        },
    },
    Setting {
        table: "editor",
        key: "rebase",
        kind: Kind::Word(&["proven", "never"]),
        project: Project::Tighten(Strict::Word("never")),
        meaning: "Whether anchored lines that provably moved as one block are followed.",
        set: |config, value| {
            config.editor.rebase =
                if *value == Value::Word("never") { Rebase::Never } else { Rebase::Proven };
        },
    },
    Setting {
        table: "editor",
        key: "overwrite-guard",
        kind: Kind::Switch,
        project: Project::Tighten(Strict::On),
        meaning: "Whether `write` over a file that the session has not seen is held once.",
        set: |config, value| config.editor.overwrite_guard = *value == Value::Switch(true),
    },
];

/// The table that switches built-in modules; its keys are their ids.
pub const MODULES: &str = "modules";

impl Setting {
    /// The setting of that dotted name.
    pub fn find(table: &str, key: &str) -> Option<&'static Self> {
        SETTINGS.iter().find(|setting| setting.table == table && setting.key == key)
    }

    /// `table.key`.
    pub fn name(&self) -> String {
        format!("{}.{}", self.table, self.key)
    }

    /// The environment variable that sets it.
    pub fn variable(&self) -> String {
        format!("CAPSTAN_{}_{}", self.table, self.key).replace('-', "_").to_ascii_uppercase()
    }

    /// Sets it.
    pub fn apply(&self, config: &mut Config, value: &Value) {
        (self.set)(config, value);
    }

    /// Whether a project's file may set it to `value`; if not, the reason.
    ///
    /// # Errors
    /// A message and what would be right.
    pub fn check_project(&self, value: &Value) -> Result<(), (&'static str, String)> {
        match self.project {
            Project::Free => Ok(()),
            Project::Never => Err((
                "a project's file can't set this",
                "it in your own configuration file".to_owned(),
            )),
            Project::Tighten(strict) => {
                let (allowed, text) = match strict {
                    Strict::On => (*value == Value::Switch(true), "`true`".to_owned()),
                    Strict::Word(word) => (*value == Value::Word(word), format!("`\"{word}\"`")),
                };
                if allowed {
                    Ok(())
                } else {
                    Err(("a project's file can only make this stricter", text))
                }
            }
        }
    }
}

impl Kind {
    /// Reads a value from a file.
    pub fn read(&self, written: Written<'_>) -> Option<Value> {
        match (self, written) {
            (Self::Switch, Written::Bool(on)) => Some(Value::Switch(on)),
            (Self::Whole(least, most), Written::Number(number)) => {
                whole(number).filter(|number| (least..=most).contains(&number)).map(Value::Whole)
            }
            (Self::Minutes, Written::Number(minutes)) => minutes_of(minutes).map(Value::Time),
            (Self::Word(words), Written::Text(text)) => {
                words.iter().find(|word| **word == text).map(|word| Value::Word(word))
            }
            (Self::Address, Written::Text("off")) => Some(Value::Address(None)),
            (Self::Address, Written::Text(text)) => {
                let address: SocketAddr = text.parse().ok()?;
                address.ip().is_loopback().then_some(Value::Address(Some(address)))
            }
            _ => None,
        }
    }

    /// Reads a value from an environment variable or a flag.
    pub fn parse(&self, text: &str) -> Option<Value> {
        let text = text.trim();
        let written = match self {
            Self::Switch => Written::Bool(switch(text)?),
            Self::Whole(..) | Self::Minutes => Written::Number(text.parse().ok()?),
            Self::Word(_) | Self::Address => Written::Text(text),
        };
        self.read(written)
    }

    /// What would be right, in words.
    pub fn expected(&self) -> String {
        match self {
            Self::Switch => "`true` or `false`".to_owned(),
            Self::Whole(least, most) => format!("a whole number from {least} to {most}"),
            Self::Minutes => "a number of minutes, 0 for never".to_owned(),
            Self::Word(words) => {
                let words: Vec<String> = words.iter().map(|word| format!("`\"{word}\"`")).collect();
                words.join(" or ")
            }
            Self::Address => {
                "a loopback address with port such as `\"127.0.0.1:0\"`, or `\"off\"`".to_owned()
            }
        }
    }
}

/// Reads a switch as people write it in an environment variable.
pub fn switch(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "on" | "1" | "yes" => Some(true),
        "false" | "off" | "0" | "no" => Some(false),
        _ => None,
    }
}

fn whole(number: f64) -> Option<u64> {
    // Up to here every whole number is exact, and no setting comes near.
    const MAX_EXACT: f64 = 9_007_199_254_740_992.0;
    let fits = number.fract() == 0.0 && (0.0..MAX_EXACT).contains(&number);
    fits.then(|| number.to_string().parse().ok()).flatten()
}

fn minutes_of(minutes: f64) -> Option<Option<Duration>> {
    // A year; beyond it "never" is meant.
    const MAX_MINUTES: f64 = 366.0 * 24.0 * 60.0;
    if minutes == 0.0 {
        return Some(None);
    }
    let fits = minutes > 0.0 && minutes <= MAX_MINUTES;
    fits.then(|| Some(Duration::from_secs_f64(minutes * 60.0)))
}
