//! The new text of an edit: from an option, a file or standard input.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use protocol::names::MAX_LINE_BYTES;

use super::CliError;
use super::args::Text;

/// The text that the options or a `-` among the sources name; the `-` is taken out.
///
/// # Errors
/// [`CliError::Usage`]: none or two are named, or it can't be read.
pub fn take(text: &Text, sources: &mut Vec<OsString>) -> Result<String, CliError> {
    let dashes = sources.iter().filter(|source| *source == "-").count();
    sources.retain(|source| source != "-");
    let named = usize::from(text.text.is_some()) + usize::from(text.text_file.is_some()) + dashes;
    if named != 1 {
        let usage =
            "name the text once: `--text TEXT`, `--text-file FILE`, or `-` for standard input";
        return Err(CliError::Usage(usage.to_owned()));
    }
    match (&text.text, &text.text_file) {
        (Some(text), _) => Ok(text.clone()),
        (None, Some(path)) if path.as_os_str() != "-" => {
            let file = File::open(path).map_err(|error| unreadable(path, &error))?;
            read(file, path)
        }
        _ => standard_input(),
    }
}

/// All of standard input.
///
/// # Errors
/// [`CliError::Usage`] when it can't be read, is too long or is not UTF-8.
pub fn standard_input() -> Result<String, CliError> {
    read(io::stdin().lock(), Path::new("standard input"))
}

fn read(from: impl Read, name: &Path) -> Result<String, CliError> {
    let mut bytes = Vec::new();
    let bound = MAX_LINE_BYTES as u64;
    from.take(bound + 1).read_to_end(&mut bytes).map_err(|error| unreadable(name, &error))?;
    if bytes.len() as u64 > bound {
        let megabytes = bound / 1024 / 1024;
        return Err(CliError::Usage(format!("`{}` has more than {megabytes} MiB", name.display())));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        CliError::Usage(format!("`{}` is not UTF-8 after {at} bytes", name.display()))
    })
}

fn unreadable(path: &Path, error: &io::Error) -> CliError {
    CliError::Usage(format!("could not read `{}`: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_one_text_is_wanted() {
        let text = |text: Option<&str>, sources: &[&str]| {
            let options = Text { text: text.map(ToOwned::to_owned), text_file: None };
            let mut sources = sources.iter().map(OsString::from).collect();
            take(&options, &mut sources).map(|text| (text, sources.len()))
        };
        assert_eq!(text(Some("x"), &["a"]).unwrap(), ("x".to_owned(), 1));
        assert!(matches!(text(Some("x"), &["a", "-"]), Err(CliError::Usage(_))));
        assert!(matches!(text(None, &["a"]), Err(CliError::Usage(_))));
    }

    #[test]
    fn text_is_utf8() {
        assert_eq!(read("é".as_bytes(), Path::new("f")).unwrap(), "é");
        let error = read(&b"a\xff"[..], Path::new("f")).unwrap_err();
        assert_eq!(error.to_string(), "`f` is not UTF-8 after 1 bytes");
    }
}
