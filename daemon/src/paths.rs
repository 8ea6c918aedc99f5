//! Where Capstan keeps its things: socket, state, configuration, cache.
//!
//! Everything comes from the environment once, through [`Paths::from_env`], so that a test gets a
//! world of its own by setting variables. The folder of the socket is private: what another user
//! owns or may write is refused, with the command that puts it right, and never used.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

pub mod private;

pub use private::{check_private_dir, make_private_dir};

/// The longest socket path in bytes: `sockaddr_un` has 108, the last one is the terminator.
pub const MAX_SOCKET_PATH_BYTES: usize = 107;

/// The environment variables that name places.
pub mod variable {
    /// The socket itself.
    pub const SOCKET: &str = "CAPSTAN_SOCKET";
    /// The state folder, instead of `$XDG_STATE_HOME/capstan`.
    pub const STATE_DIR: &str = "CAPSTAN_STATE_DIR";
    /// The configuration folder, instead of `$XDG_CONFIG_HOME/capstan`.
    pub const CONFIG_DIR: &str = "CAPSTAN_CONFIG_DIR";
    /// The cache folder, instead of `$XDG_CACHE_HOME/capstan`.
    pub const CACHE_DIR: &str = "CAPSTAN_CACHE_DIR";
}

/// Why a place can't be used.
#[derive(Debug, thiserror::Error)]
pub enum PathError {
    /// A variable of ours holds no absolute path.
    #[error("`{variable}` is `{}`, which is no absolute path; set it to one or unset it", .path.display())]
    Relative {
        /// The variable.
        variable: &'static str,
        /// What it holds.
        path: PathBuf,
    },
    /// A socket path that the kernel can't take.
    #[error(
        "the socket path `{}` has {} bytes and the system takes {MAX_SOCKET_PATH_BYTES}; \
         set `CAPSTAN_SOCKET` to a shorter one",
        .path.display(), .path.as_os_str().len()
    )]
    TooLong {
        /// The path.
        path: PathBuf,
    },
    /// The folder is a symbolic link, or no folder.
    #[error(
        "`{}` is {what}, not a folder of its own; remove it, or set `CAPSTAN_SOCKET` to another place",
        .path.display()
    )]
    NotADirectory {
        /// The path.
        path: PathBuf,
        /// What it is instead.
        what: &'static str,
    },
    /// Another user owns the folder.
    #[error(
        "`{}` belongs to user {owner}, not to you (user {uid}); \
         set `CAPSTAN_SOCKET` to a place in a folder of your own",
        .path.display()
    )]
    ForeignOwner {
        /// The folder.
        path: PathBuf,
        /// Who owns it.
        owner: u32,
        /// Who asks.
        uid: u32,
    },
    /// Others can write the folder, and so could put their own socket there.
    #[error("others can write `{0}` (mode {mode:04o}); run `chmod go-w {0}`", .path.display())]
    Writable {
        /// The folder.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// The system refused.
    #[error("could not {action} `{}`", .path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// All places of one user. Nothing is created until it is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths {
    /// The daemon's socket.
    pub socket: PathBuf,
    /// What outlives the daemon: logs, journals, undo history.
    pub state_dir: PathBuf,
    /// The folder of `config.toml`; `None` when there is no home to look in.
    pub config_dir: Option<PathBuf>,
    /// What can be made again.
    pub cache_dir: PathBuf,
    /// Whether the socket's folder is ours by name, and so may be tightened to mode 0700.
    pub own_socket_dir: bool,
}

impl Paths {
    /// The places that the environment of this process names.
    ///
    /// # Errors
    /// [`PathError::Relative`], [`PathError::TooLong`].
    pub fn from_env() -> Result<Self, PathError> {
        Self::resolve(&|name| std::env::var_os(name), rustix::process::geteuid().as_raw())
    }

    /// The places for an environment and a user id.
    ///
    /// # Errors
    /// [`PathError::Relative`], [`PathError::TooLong`].
    pub fn resolve(
        variables: &dyn Fn(&str) -> Option<OsString>,
        uid: u32,
    ) -> Result<Self, PathError> {
        let set = |name| variables(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        // The XDG specification wants relative values ignored; ours are refused, being meant for us.
        let xdg = |name| set(name).filter(|path| path.is_absolute());
        let ours = |variable| match set(variable) {
            Some(path) if !path.is_absolute() => Err(PathError::Relative { variable, path }),
            other => Ok(other),
        };
        let home = xdg("HOME");
        let below_home = |folder| home.as_ref().map(|home| home.join(folder));
        let temporary = PathBuf::from(format!("/tmp/capstan-{uid}"));
        let named_socket = ours(variable::SOCKET)?;
        let own_socket_dir = named_socket.is_none();
        let socket = named_socket.unwrap_or_else(|| {
            let folder = xdg("XDG_RUNTIME_DIR").map(|folder| folder.join("capstan"));
            folder.unwrap_or_else(|| temporary.clone()).join("daemon.sock")
        });
        if socket.as_os_str().as_bytes().len() > MAX_SOCKET_PATH_BYTES {
            return Err(PathError::TooLong { path: socket });
        }
        let place = |own, xdg_name, fallback| -> Result<Option<PathBuf>, PathError> {
            let folder = xdg(xdg_name).or_else(|| below_home(fallback));
            Ok(ours(own)?.or_else(|| folder.map(|folder| folder.join("capstan"))))
        };
        let state = place(variable::STATE_DIR, "XDG_STATE_HOME", ".local/state")?;
        let cache = place(variable::CACHE_DIR, "XDG_CACHE_HOME", ".cache")?;
        Ok(Self {
            socket,
            state_dir: state.unwrap_or_else(|| temporary.join("state")),
            config_dir: place(variable::CONFIG_DIR, "XDG_CONFIG_HOME", ".config")?,
            cache_dir: cache.unwrap_or_else(|| temporary.join("cache")),
            own_socket_dir,
        })
    }

    /// The folder of the socket.
    pub fn socket_dir(&self) -> &Path {
        // An absolute path of a file always has a parent; `/` itself can't be bound anyway.
        self.socket.parent().unwrap_or(Path::new("/"))
    }

    /// The file that the one running daemon holds locked.
    pub fn lock_file(&self) -> PathBuf {
        self.beside_socket(".lock")
    }

    /// The file that a client holds locked while it starts a daemon.
    pub fn start_lock_file(&self) -> PathBuf {
        self.beside_socket(".start")
    }

    /// The folder of the logs.
    pub fn log_dir(&self) -> PathBuf {
        self.state_dir.join("logs")
    }

    /// The file with the bearer token of the HTTP door.
    pub fn http_token(&self) -> PathBuf {
        self.state_dir.join("http-token")
    }

    /// The user's configuration file.
    pub fn user_config(&self) -> Option<PathBuf> {
        self.config_dir.as_ref().map(|folder| folder.join("config.toml"))
    }

    fn beside_socket(&self, suffix: &str) -> PathBuf {
        let mut name = self.socket.clone().into_os_string();
        name.push(suffix);
        PathBuf::from(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(variables: &[(&str, &str)]) -> Result<Paths, PathError> {
        let find = |name: &str| {
            variables.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value))
        };
        Paths::resolve(&find, 7)
    }

    #[test]
    fn places_follow_the_environment() {
        let paths = resolve(&[("HOME", "/h"), ("XDG_RUNTIME_DIR", "/run/u")]).unwrap();
        assert_eq!(paths.socket, Path::new("/run/u/capstan/daemon.sock"));
        assert_eq!(paths.lock_file(), Path::new("/run/u/capstan/daemon.sock.lock"));
        assert_eq!(paths.state_dir, Path::new("/h/.local/state/capstan"));
        assert_eq!(paths.user_config().unwrap(), Path::new("/h/.config/capstan/config.toml"));
        assert!(paths.own_socket_dir);

        let paths = resolve(&[
            ("HOME", "/h"),
            ("CAPSTAN_SOCKET", "/s/x"),
            ("XDG_STATE_HOME", "/state"),
            ("CAPSTAN_CACHE_DIR", "/cache"),
        ]);
        let paths = paths.unwrap();
        assert_eq!(paths.socket, Path::new("/s/x"));
        assert_eq!(paths.state_dir, Path::new("/state/capstan"));
        assert_eq!(paths.cache_dir, Path::new("/cache"));
        assert!(!paths.own_socket_dir);
    }

    #[test]
    fn a_missing_home_is_no_obstacle() {
        for variables in [&[][..], &[("HOME", ""), ("XDG_RUNTIME_DIR", "relative")]] {
            let paths = resolve(variables).unwrap();
            assert_eq!(paths.socket, Path::new("/tmp/capstan-7/daemon.sock"));
            assert_eq!(paths.state_dir, Path::new("/tmp/capstan-7/state"));
            assert_eq!(paths.user_config(), None);
        }
    }

    #[test]
    fn bad_places_are_refused() {
        let error = resolve(&[("CAPSTAN_SOCKET", "run/x")]).unwrap_err();
        assert!(error.to_string().contains("`CAPSTAN_SOCKET` is `run/x`"), "{error}");
        let long = format!("/{}", "x".repeat(107));
        let error = resolve(&[("CAPSTAN_SOCKET", &long)]).unwrap_err();
        assert!(error.to_string().contains("has 108 bytes"), "{error}");
        assert!(resolve(&[("CAPSTAN_SOCKET", &long[..107])]).is_ok());
    }
}
