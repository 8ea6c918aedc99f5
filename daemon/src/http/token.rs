//! The bearer token of the HTTP door: 244 random bits in a file that only its owner reads.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use uuid::Uuid;

/// Bytes of a token file that are looked at; a real one has 65.
const MAX_TOKEN_BYTES: u64 = 1024;

/// Characters of the shortest token that a file may hold.
const MIN_TOKEN_CHARS: usize = 32;

/// The secret. It is never printed by `Debug`.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// A fresh token.
    pub fn random() -> Self {
        Self(format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple()))
    }

    /// The token in `path`, or a fresh one that is stored there with mode 0600.
    ///
    /// # Errors
    /// What the system says, or [`io::ErrorKind::InvalidData`] when others can read the file or it
    /// holds no token.
    pub fn load(path: &Path) -> io::Result<Self> {
        match File::open(path) {
            Ok(file) => Self::read(&file, path),
            Err(error) if error.kind() == io::ErrorKind::NotFound => match Self::create(path) {
                // Another daemon was faster.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    Self::read(&File::open(path)?, path)
                }
                created => created,
            },
            Err(error) => Err(error),
        }
    }

    fn read(file: &File, path: &Path) -> io::Result<Self> {
        let bad = |reason: &str| {
            let hint = "delete it and a fresh one is made";
            io::Error::new(
                io::ErrorKind::InvalidData,
                format!("`{}` {reason}; {hint}", path.display()),
            )
        };
        let metadata = file.metadata()?;
        if metadata.mode() & 0o077 != 0 || metadata.uid() != rustix::process::geteuid().as_raw() {
            return Err(bad("can be read by others"));
        }
        let mut text = String::new();
        file.take(MAX_TOKEN_BYTES).read_to_string(&mut text)?;
        let text = text.trim();
        if text.len() < MIN_TOKEN_CHARS || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(bad("holds no token"));
        }
        Ok(Self(text.to_owned()))
    }

    fn create(path: &Path) -> io::Result<Self> {
        let token = Self::random();
        // Written whole under another name first, so that nobody reads half a token.
        let draft = path.with_extension(Uuid::new_v4().simple().to_string());
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
        let linked = writeln!(file, "{}", token.0).and_then(|()| std::fs::hard_link(&draft, path));
        std::fs::remove_file(&draft)?;
        linked.map(|()| token)
    }

    /// The token as it goes into an `Authorization: Bearer` header.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Whether `candidate` is the token, in a time that depends on its length only.
    pub fn matches(&self, candidate: &[u8]) -> bool {
        let token = self.0.as_bytes();
        let difference =
            token.iter().zip(candidate).fold(0, |sum, (left, right)| sum | (left ^ right));
        std::hint::black_box(difference) == 0 && token.len() == candidate.len()
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(…)")
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_token_is_made_once_and_kept_private() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        let made = Token::load(&path).unwrap();
        let read = Token::load(&path).unwrap();
        assert!(read.matches(made.reveal().as_bytes()));
        assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        assert_eq!(Token::load(&path).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn an_empty_file_is_no_token() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path).unwrap();
        assert_eq!(Token::load(&path).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn only_the_whole_token_matches() {
        let token = Token::random();
        let text = token.reveal().to_owned();
        assert_eq!(text.len(), 64);
        for wrong in ["", &text[1..], &format!("{text}0"), &text.to_uppercase().replace('A', "B")] {
            assert!(!token.matches(wrong.as_bytes()), "{wrong}");
        }
        assert!(!format!("{token:?}").contains(&text));
    }
}
