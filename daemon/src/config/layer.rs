//! One layer: the entries that hold, and the mistakes among them.

use std::path::Path;

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::Config;
use super::problem::{ConfigProblem, Origin, Position, closest, quoted};
use super::settings::{MODULES, SETTINGS, Setting, Value, Written, switch};
use crate::limits::MAX_CONFIG_PROBLEMS;

/// How the ids of guards start.
const GUARDS: &str = "guard.";

/// What one layer says.
#[derive(Debug, Default)]
pub struct Layer {
    settings: Vec<(&'static Setting, Value, Place)>,
    modules: Vec<(String, bool, Place)>,
    problems: Vec<ConfigProblem>,
}

/// Where an entry was read.
#[derive(Clone, Debug)]
struct Place {
    origin: Origin,
    position: Option<Position>,
}

impl Place {
    fn problem(
        &self,
        key: &str,
        message: impl Into<String>,
        expected: impl Into<String>,
    ) -> ConfigProblem {
        ConfigProblem {
            origin: self.origin.clone(),
            position: self.position,
            key: quoted(key),
            message: message.into(),
            expected: expected.into(),
        }
    }
}

impl Layer {
    /// Reads the text of a file. What does not parse costs as little of the rest as the parser can
    /// make out.
    pub fn from_toml(path: &Path, text: &str, modules: &[&str]) -> Self {
        let mut reader = Reader { path, text, modules, broken: Vec::new(), layer: Self::default() };
        let (document, errors) = DeTable::parse_recoverable(text);
        for error in errors {
            let place = reader.place(error.span().map_or(0, |span| span.start));
            reader.broken.extend(place.position.map(|position| position.line));
            reader.layer.problems.push(place.problem("", error.message().trim(), ""));
        }
        for (table, value) in document.get_ref() {
            reader.table(table, value);
        }
        let problems = &mut reader.layer.problems;
        // Parse errors were found first; people read files from the top.
        problems.sort_by_key(|problem| problem.position.map(|place| (place.line, place.column)));
        if problems.len() > MAX_CONFIG_PROBLEMS {
            let more = problems.len() - MAX_CONFIG_PROBLEMS;
            problems.truncate(MAX_CONFIG_PROBLEMS);
            let place = Place { origin: Origin::File(path.to_owned()), position: None };
            problems.push(place.problem("", format!("{more} more mistakes"), ""));
        }
        reader.layer
    }

    /// A layer that consists of a mistake.
    pub fn broken(problem: ConfigProblem) -> Self {
        Self { problems: vec![problem], ..Self::default() }
    }

    /// Adds `text` for a setting, from the environment or a flag.
    pub fn add(&mut self, setting: &'static Setting, text: &str, origin: Origin) {
        let place = Place { origin, position: None };
        match setting.kind.parse(text) {
            Some(value) => self.settings.push((setting, value, place)),
            None => self.problems.push(place.problem(
                &setting.name(),
                "has a value that does not fit",
                setting.kind.expected(),
            )),
        }
    }

    /// Adds switches of modules, written `id=on,other=off`.
    pub fn add_modules(&mut self, text: &str, origin: &Origin, known: &[&str]) {
        let place = Place { origin: origin.clone(), position: None };
        for entry in text.split(',').map(str::trim).filter(|entry| !entry.is_empty()) {
            let (id, on) = entry.split_once('=').unwrap_or((entry, ""));
            let key = format!("{MODULES}.{id}");
            match (known.contains(&id), switch(on)) {
                (true, Some(on)) => self.modules.push((id.to_owned(), on, place.clone())),
                (true, None) => {
                    self.problems.push(place.problem(
                        &key,
                        "has a value that does not fit",
                        "`id=on` or `id=off`",
                    ));
                }
                (false, _) => self.problems.push(unknown_module(&place, id, known)),
            }
        }
    }

    /// Puts the layer over `config`. A project's layer is held to what a project may do.
    pub fn apply(self, config: &mut Config, is_project: bool) {
        config.problems.extend(self.problems);
        for (setting, value, place) in self.settings {
            match setting.check_project(&value) {
                Err((message, expected)) if is_project => {
                    config.problems.push(place.problem(&setting.name(), message, expected));
                }
                _ => setting.apply(config, &value),
            }
        }
        for (id, on, place) in self.modules {
            match refusal(&id, on, config).filter(|_| is_project) {
                Some(message) => {
                    let key = format!("{MODULES}.{id}");
                    config.problems.push(place.problem(&key, message, ""));
                }
                None => {
                    config.modules.insert(id, on);
                }
            }
        }
    }
}

/// Why a project's file may not switch a module so.
fn refusal(id: &str, on: bool, config: &Config) -> Option<&'static str> {
    if on && config.modules.get(id) == Some(&false) {
        return Some("a project's file can't switch on what you have switched off");
    }
    (!on && id.starts_with(GUARDS)).then_some("a project's file can't switch off a guard")
}

struct Reader<'a> {
    path: &'a Path,
    text: &'a str,
    modules: &'a [&'a str],
    /// Lines that do not parse; what the parser makes of them is a guess, and not used.
    broken: Vec<usize>,
    layer: Layer,
}

impl Reader<'_> {
    fn place(&self, offset: usize) -> Place {
        let position = Some(Position::of(self.text, offset));
        Place { origin: Origin::File(self.path.to_owned()), position }
    }

    fn table(&mut self, name: &Spanned<DeString<'_>>, value: &Spanned<DeValue<'_>>) {
        let place = self.place(name.span().start);
        let table = name.get_ref().as_ref();
        let known = table == MODULES || SETTINGS.iter().any(|setting| setting.table == table);
        if !known {
            self.layer.problems.push(unknown_table(&place, table));
            return;
        }
        let Some(entries) = value.get_ref().as_table() else {
            let expected = format!("a table `[{table}]`");
            self.layer.problems.push(place.problem(table, "is not a table", expected));
            return;
        };
        for (key, value) in entries {
            let place = self.place(key.span().start);
            let key = key.get_ref().as_ref();
            if place.position.is_some_and(|position| self.broken.contains(&position.line)) {
                continue;
            }
            if table == MODULES {
                self.module(&place, key, value.get_ref());
            } else {
                self.setting(&place, table, key, value);
            }
        }
    }

    fn setting(&mut self, place: &Place, table: &str, key: &str, value: &Spanned<DeValue<'_>>) {
        let Some(setting) = Setting::find(table, key) else {
            self.layer.problems.push(unknown_key(place, table, key));
            return;
        };
        let written = written(value.get_ref());
        match setting.kind.read(written) {
            Some(value) => self.layer.settings.push((setting, value, place.clone())),
            None => {
                let place = self.place(value.span().start);
                let message = format!("{} does not fit", describe(written));
                let expected = setting.kind.expected();
                self.layer.problems.push(place.problem(&setting.name(), message, expected));
            }
        }
    }

    /// An entry of `[modules]`. Ids have dots, so `read.web = false` arrives as nested tables.
    fn module(&mut self, place: &Place, id: &str, value: &DeValue<'_>) {
        match value {
            DeValue::Boolean(on) if self.modules.contains(&id) => {
                self.layer.modules.push((id.to_owned(), *on, place.clone()));
            }
            DeValue::Table(inner) => {
                for (key, value) in inner {
                    let place = self.place(key.span().start);
                    self.module(&place, &format!("{id}.{}", key.get_ref()), value.get_ref());
                }
            }
            _ if self.modules.contains(&id) => {
                let key = format!("{MODULES}.{id}");
                let message = format!("{} does not fit", describe(written(value)));
                self.layer.problems.push(place.problem(&key, message, "`true` or `false`"));
            }
            _ => self.layer.problems.push(unknown_module(place, id, self.modules)),
        }
    }
}

fn unknown_table(place: &Place, table: &str) -> ConfigProblem {
    let tables = || SETTINGS.iter().map(|setting| setting.table).chain([MODULES]);
    let mut names: Vec<&str> = tables().collect();
    names.dedup();
    let expected = match closest(table, tables()) {
        Some(name) => format!("`[{name}]`"),
        None => format!("one of {}", listed(&names)),
    };
    place.problem(table, "is no table that Capstan knows", expected)
}

fn unknown_key(place: &Place, table: &str, key: &str) -> ConfigProblem {
    let keys =
        || SETTINGS.iter().filter(|setting| setting.table == table).map(|setting| setting.key);
    let expected = match closest(key, keys()) {
        Some(name) => format!("`{name}`"),
        None => format!("one of {}", listed(&keys().collect::<Vec<_>>())),
    };
    place.problem(&format!("{table}.{key}"), "is no setting that Capstan knows", expected)
}

fn unknown_module(place: &Place, id: &str, known: &[&str]) -> ConfigProblem {
    let expected = closest(id, known.iter().copied())
        .map_or_else(|| "an id from `capstan status`".to_owned(), |name| format!("`{name}`"));
    place.problem(&format!("{MODULES}.{id}"), "is no module that Capstan has", expected)
}

fn listed(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

fn written<'a>(value: &'a DeValue<'_>) -> Written<'a> {
    match value {
        DeValue::Boolean(on) => Written::Bool(*on),
        DeValue::String(text) => Written::Text(text),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .ok()
            .and_then(|number| number.to_string().parse().ok())
            .map_or(Written::Other("a number out of range"), Written::Number),
        DeValue::Float(number) => {
            number.as_str().parse().map_or(Written::Other("a number out of range"), Written::Number)
        }
        DeValue::Datetime(_) => Written::Other("a date"),
        DeValue::Array(_) => Written::Other("an array"),
        DeValue::Table(_) => Written::Other("a table"),
    }
}

/// A value in words; never quoted, as a file may hold anything.
fn describe(written: Written<'_>) -> &'static str {
    match written {
        Written::Bool(true) => "`true`",
        Written::Bool(false) => "`false`",
        Written::Number(_) => "this number",
        Written::Text(_) => "this string",
        Written::Other(what) => what,
    }
}
