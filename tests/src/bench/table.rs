//! The report for people (one aligned table with footnotes) and for programs (JSON).

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Value, json};

use super::machine::Machine;
use super::row::Row;
use super::{Options, Report};

const HEADINGS: [&str; 9] = ["", "what", "ours", "peer", "peer's", "ratio", "range", "aim", ""];

/// The columns that hold figures and are aligned to the right.
const FIGURES: [usize; 4] = [2, 4, 5, 6];

/// The whole report as text.
pub fn text(machine: &Machine, options: &Options, report: &Report) -> String {
    let mut notes = Footnotes::default();
    let mut cells: Vec<[String; 9]> = vec![HEADINGS.map(ToOwned::to_owned)];
    cells.extend(report.rows.iter().map(|row| columns(row, &mut notes)));
    let mut text = format!("{machine}\n{}\n\n", options.describe());
    let widths: Vec<usize> = (0..HEADINGS.len()).map(|column| widest(&cells, column)).collect();
    for (number, line) in cells.iter().enumerate() {
        push_line(&mut text, line, &widths);
        if number == 0 {
            let rule: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
            text.push_str(&rule.join("  "));
            text.push('\n');
        }
    }
    text.push('\n');
    for (number, note) in notes.ordered() {
        let _ = writeln!(text, "[{number}] {note}");
    }
    for (name, why) in &report.failures {
        let _ = writeln!(text, "FAILED {name}: {why}");
    }
    let judged: Vec<bool> = report.rows.iter().filter_map(Row::is_met).collect();
    let met = judged.iter().filter(|met| **met).count();
    let _ = writeln!(text, "{met} of {} aims met", judged.len());
    let unclear = report.rows.iter().filter(|row| row.is_unclear()).count();
    if unclear > 0 {
        let _ = writeln!(
            text,
            "{unclear} of them unclear (?): met with some daemons, missed with others"
        );
    }
    text
}

/// The whole report as JSON; figures are in seconds and bytes.
pub fn json(machine: &Machine, options: &Options, report: &Report) -> Value {
    let rows: Vec<Value> = report.rows.iter().map(row_json).collect();
    let failures: Vec<Value> =
        report.failures.iter().map(|(name, why)| json!({"bench": name, "error": why})).collect();
    json!({
        "machine": machine.json(), "settings": options.describe(), "rows": rows,
        "failures": failures,
    })
}

fn row_json(row: &Row) -> Value {
    json!({
        "bench": row.bench.to_string(), "name": row.name,
        "ours": row.ours.value(), "unit": row.ours.unit(),
        "peer": row.peer.as_ref().map(|(name, _)| name),
        "peers": row.peer.as_ref().map(|(_, figure)| figure.value()),
        "ratio": row.ratio(), "aim": row.aim.map(|aim| aim.to_string()),
        "range": row.range.map(|(low, high)| [low, high]), "ok": row.is_met(),
        "unclear": row.is_unclear(), "notes": row.notes,
    })
}

fn columns(row: &Row, notes: &mut Footnotes) -> [String; 9] {
    let marks: String = row.notes.iter().map(|note| format!(" [{}]", notes.number(note))).collect();
    let (peer, figure) = match &row.peer {
        Some((name, figure)) => (name.clone(), figure.to_string()),
        None => (String::new(), String::new()),
    };
    let verdict = match (row.is_met(), row.is_unclear()) {
        (Some(true), false) => "ok",
        (Some(true), true) => "ok?",
        (Some(false), false) => "MISSED",
        (Some(false), true) => "MISSED?",
        (None, _) => "",
    };
    let range = row.range.map(|(low, high)| format!("{low:.2}–{high:.2}×"));
    [
        row.bench.to_string(),
        format!("{}{marks}", row.name),
        row.ours.to_string(),
        peer,
        figure,
        row.ratio().map(ratio).unwrap_or_default(),
        range.unwrap_or_default(),
        row.aim.map(|aim| aim.to_string()).unwrap_or_default(),
        verdict.to_owned(),
    ]
}

fn ratio(ratio: f64) -> String {
    if ratio < 100.0 { format!("{ratio:.2}×") } else { format!("{ratio:.0}×") }
}

fn widest(cells: &[[String; 9]], column: usize) -> usize {
    cells.iter().map(|line| line[column].chars().count()).max().unwrap_or_default()
}

fn push_line(text: &mut String, cells: &[String; 9], widths: &[usize]) {
    let padded: Vec<String> = cells
        .iter()
        .zip(widths)
        .enumerate()
        .map(|(column, (cell, width))| {
            if FIGURES.contains(&column) {
                format!("{cell:>width$}")
            } else {
                format!("{cell:<width$}")
            }
        })
        .collect();
    text.push_str(padded.join("  ").trim_end());
    text.push('\n');
}

/// Notes by their text, so that rows share them.
#[derive(Default)]
struct Footnotes(BTreeMap<String, usize>);

impl Footnotes {
    fn number(&mut self, note: &str) -> usize {
        let next = self.0.len() + 1;
        *self.0.entry(note.to_owned()).or_insert(next)
    }

    fn ordered(&self) -> Vec<(usize, &str)> {
        let mut all: Vec<_> =
            self.0.iter().map(|(note, number)| (*number, note.as_str())).collect();
        all.sort_unstable();
        all
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::bench::{Aim, Measure};

    #[test]
    fn rows_that_share_a_note_share_its_number() {
        let mut notes = Footnotes::default();
        let row = |name: &str, note: &str| {
            Row::new('a', name, Measure::Time(Duration::from_millis(3)))
                .against_time("peer", Duration::from_millis(2))
                .aim(Aim::Ratio(1.2))
                .note(note)
        };
        assert_eq!(columns(&row("x", "one"), &mut notes)[1], "x [1]");
        assert_eq!(columns(&row("y", "two"), &mut notes)[1], "y [2]");
        let cells = columns(&row("z", "one"), &mut notes);
        assert_eq!(
            cells,
            ["a", "z [1]", "3.00 ms", "peer", "2.00 ms", "1.50×", "", "≤ 1.2×", "MISSED"]
        );
        assert_eq!(notes.ordered(), [(1, "one"), (2, "two")]);
    }
}
