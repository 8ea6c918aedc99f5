//! A receipt as text.

use std::fmt::Write as _;

use anchors::SourceId;

use super::diff::plural;
use super::{Change, Effect, FileReceipt, Receipt};
use crate::limits;

impl Receipt {
    /// The receipt for people and agents; ends without a line break. `name_of` gives the name that
    /// the caller knows a file by.
    pub fn render(&self, name_of: impl Fn(&SourceId) -> String) -> String {
        let mut text = String::new();
        if self.files.is_empty() {
            return "No change: nothing is selected.".to_owned();
        }
        if self.files.len() > 1 {
            self.summary(&mut text);
        }
        for (at, file) in self.files.iter().enumerate() {
            if text.len() >= limits::RECEIPT_TOTAL_BYTES {
                let more = self.files.len() - at;
                let _ = writeln!(text, "… {more} more {}", plural(more, "file"));
                break;
            }
            let _ = writeln!(text, "{}: {}", name_of(&file.source), file.summary());
            text.push_str(file.diff.text());
        }
        text.truncate(text.trim_end_matches('\n').len());
        text
    }

    fn summary(&self, text: &mut String) {
        let changed = self.files.iter().filter(|file| file.change != Change::None);
        let (files, changes) =
            changed.fold((0, 0), |(files, changes), file| (files + 1, changes + file.replacements));
        let verb = match self.effect() {
            _ if files == 0 => "No change",
            Effect::Applied => "Applied",
            Effect::NotApplied => "Not applied",
            Effect::Pending => "Pending",
            Effect::Unknown => "Outcome unknown",
        };
        let (change_word, file_word) = (plural(changes, "change"), plural(files, "file"));
        let _ = match files {
            0 => writeln!(text, "{verb} in {} files.", self.files.len()),
            _ => writeln!(text, "{verb}: {changes} {change_word} in {files} {file_word}."),
        };
    }
}

impl FileReceipt {
    /// What happened to the file, without its name.
    fn summary(&self) -> String {
        let mut words = Vec::new();
        match self.effect {
            Effect::Applied => {}
            Effect::Pending => words.push("pending".to_owned()),
            Effect::NotApplied => return "not applied".to_owned(),
            Effect::Unknown => return "outcome unknown; read the file before going on".to_owned(),
        }
        match self.change {
            Change::None => words.push("no change, the text is already so".to_owned()),
            Change::Created => words.push(format!("created, {}", self.size())),
            Change::Replaced => words.push(format!("replaced, {}", self.size())),
            Change::Edited => self.edited(&mut words),
        }
        if let Some(rebased) = self.rebased {
            words.push(format!("rebased from line {} to line {}", rebased.from, rebased.to));
        }
        words.join(", ")
    }

    fn edited(&self, words: &mut Vec<String>) {
        if self.replacements != 1 {
            words.push(format!("{} changes", self.replacements));
        }
        let counts = [('+', self.added), ('-', self.removed)]
            .map(|(sign, count)| if count > 0 { format!("{sign}{count}") } else { String::new() });
        let counts = counts.join(" ");
        match self.final_newline {
            Some(true) => words.push("final newline added".to_owned()),
            Some(false) => words.push("final newline removed".to_owned()),
            None if self.added + self.removed == 0 => words.push("line endings only".to_owned()),
            None => {}
        }
        if self.added + self.removed > 0 {
            words.insert(
                words.len() - usize::from(self.final_newline.is_some()),
                counts.trim().to_owned(),
            );
        }
        if self.bytes == 0 || self.lines == 0 {
            words.push("now empty".to_owned());
        }
    }

    fn size(&self) -> String {
        let (lines, bytes) = (self.lines, self.bytes);
        format!("{lines} {}, {bytes} {}", plural(lines, "line"), plural(bytes, "byte"))
    }
}
