//! The format of the specs: parsing, and printing what was parsed.

use std::fmt::Write as _;
use std::path::Path;

/// One Markdown file.
pub(super) struct Spec {
    /// Everything before the first case.
    preamble: String,
    pub(super) cases: Vec<Case>,
}

/// One `##` section.
pub(super) struct Case {
    pub(super) title: String,
    pub(super) blocks: Vec<Block>,
    /// Prose after the last block.
    tail: String,
}

/// One fenced block with the prose before it.
pub(super) struct Block {
    prose: String,
    info: String,
    pub(super) kind: Kind,
    pub(super) body: String,
    /// 1-based line of the opening fence.
    pub(super) line: usize,
}

pub(super) enum Kind {
    File(File),
    Shell,
    Call(String),
    Result,
    After(File),
}

/// A file of the workspace, with what its text in the spec can't show.
pub(super) struct File {
    path: String,
    flags: Vec<String>,
}

const FENCE: &str = "```";

impl Spec {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut spec = Self { preamble: String::new(), cases: Vec::new() };
        let mut prose = String::new();
        let mut lines = text.lines().enumerate();
        while let Some((at, line)) = lines.next() {
            if let Some(title) = line.strip_prefix("## ") {
                spec.settle(&mut prose);
                spec.cases.push(Case {
                    title: title.to_owned(),
                    blocks: Vec::new(),
                    tail: String::new(),
                });
                continue;
            }
            let info = line.strip_prefix(FENCE).map(str::trim);
            let Some(info) = info.filter(|_| !spec.cases.is_empty()) else {
                prose.push_str(line);
                prose.push('\n');
                continue;
            };
            let mut body = String::new();
            for (_, line) in lines.by_ref().take_while(|(_, line)| *line != FENCE) {
                body.push_str(line);
                body.push('\n');
            }
            let kind = kind(info).ok_or_else(|| format!("line {}: what is `{info}`?", at + 1))?;
            let prose = std::mem::take(&mut prose);
            let block = Block { prose, info: info.to_owned(), kind, body, line: at + 1 };
            spec.cases.last_mut().expect("checked above").blocks.push(block);
        }
        spec.settle(&mut prose);
        Ok(spec)
    }

    fn settle(&mut self, prose: &mut String) {
        let prose = std::mem::take(prose);
        match self.cases.last_mut() {
            Some(case) => case.tail = prose,
            None => self.preamble = prose,
        }
    }

    pub(super) fn render(&self) -> String {
        let mut text = self.preamble.clone();
        for case in &self.cases {
            writeln!(text, "## {}", case.title).expect("a string takes all");
            for block in &case.blocks {
                let Block { prose, info, body, .. } = block;
                write!(text, "{prose}{FENCE}{info}\n{body}{FENCE}\n").expect("a string takes all");
            }
            text.push_str(&case.tail);
        }
        text
    }
}

fn kind(info: &str) -> Option<Kind> {
    let mut words = info.split_whitespace();
    let kind = words.next()?;
    let mut file = || {
        let path = words.next()?.to_owned();
        Some(File { path, flags: words.by_ref().map(str::to_owned).collect() })
    };
    Some(match kind {
        "file" => Kind::File(file()?),
        "after" => Kind::After(file()?),
        "shell" => Kind::Shell,
        "call" => Kind::Call(words.next()?.to_owned()),
        "result" => Kind::Result,
        _ => return None,
    })
}

impl File {
    fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|other| other == flag)
    }

    pub(super) fn write(&self, workspace: &Path, body: &str) {
        let path = workspace.join(&self.path);
        std::fs::create_dir_all(path.parent().expect("a path in a folder")).expect("a new folder");
        std::fs::write(path, self.encode(body)).expect("a new file");
    }

    fn encode(&self, body: &str) -> Vec<u8> {
        let mut text = body.to_owned();
        if self.has("no-newline") {
            text.truncate(text.trim_end_matches('\n').len());
        }
        if self.has("crlf") {
            text = text.replace('\n', "\r\n");
        }
        if self.has("latin1") {
            return text.chars().map(|c| u8::try_from(c).expect("latin1 text")).collect();
        }
        if self.has("utf16le") {
            let units = std::iter::once(0xFEFF).chain(text.encode_utf16());
            return units.flat_map(u16::to_le_bytes).collect();
        }
        if self.has("bom") {
            text.insert(0, '\u{FEFF}');
        }
        text.into_bytes()
    }

    /// The file's content as a block with these flags shows it, or what is wrong with it.
    pub(super) fn read(&self, workspace: &Path) -> String {
        let bytes = match std::fs::read(workspace.join(&self.path)) {
            Ok(bytes) => bytes,
            Err(error) => return format!("({})\n", error.kind()),
        };
        let text = if self.has("latin1") {
            bytes.iter().map(|byte| char::from(*byte)).collect()
        } else if self.has("utf16le") {
            let units = bytes.chunks(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
            String::from_utf16_lossy(&units.skip(1).collect::<Vec<u16>>())
        } else {
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let text = text.strip_prefix('\u{FEFF}').unwrap_or(&text).replace("\r\n", "\n");
        let shown = format!("{}\n", text.trim_end_matches('\n'));
        for candidate in [&text, &shown] {
            if self.encode(candidate) == bytes {
                return candidate.clone();
            }
        }
        format!("(not in this form: {:?})\n", String::from_utf8_lossy(&bytes))
    }
}
