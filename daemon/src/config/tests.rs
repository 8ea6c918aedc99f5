//! The layers together, on real files.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::*;

const MODULES: &[&str] = &["read.core", "read.web", "search.core", "guard.overwrite"];

struct World {
    home: tempfile::TempDir,
    store: ConfigStore,
}

impl World {
    fn new(variables: &[(&str, &str)], flags: &[(&'static str, &str)]) -> Self {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir_all(home.path().join("p/.capstan")).unwrap();
        let store = ConfigStore::new(ConfigSources {
            user_file: Some(home.path().join("user.toml")),
            variables: variables.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
            flags: flags.iter().map(|(k, v)| (*k, (*v).to_owned())).collect(),
            modules: MODULES.to_vec(),
        });
        Self { home, store }
    }

    fn user(&self, text: &str) {
        fs::write(self.home.path().join("user.toml"), text).unwrap();
    }

    fn project_file(&self) -> std::path::PathBuf {
        self.home.path().join("p/.capstan/config.toml")
    }

    fn project(&self, text: &str) {
        fs::write(self.project_file(), text).unwrap();
    }

    fn current(&self) -> Arc<Config> {
        self.store.current(Some(&self.home.path().join("p")))
    }

    fn problems(&self) -> String {
        let lines: Vec<String> = self.current().problems.iter().map(ToString::to_string).collect();
        lines.join("\n").replace(self.home.path().to_str().unwrap(), "HOME")
    }
}

#[test]
fn without_files_the_defaults_hold() {
    assert_eq!(*World::new(&[], &[]).current(), Config::default());
}

#[test]
fn later_layers_win() {
    let world = World::new(&[("CAPSTAN_SEARCH_LIMIT", "7")], &[("daemon.http", "127.0.0.1:0")]);
    world.user("[search]\nlimit = 5\ntimeout-ms = 1\n[daemon]\nidle-exit-minutes = 0.5\nhttp = \"[::1]:80\"\n");
    world.project("[search]\nlimit = 6\ntimeout-ms = 2_000\n");
    let config = world.current();
    assert_eq!(config.problems, []);
    assert_eq!(config.search, SearchConfig { timeout: Duration::from_secs(2), limit: 7 });
    assert_eq!(config.daemon.idle_exit, Some(Duration::from_secs(30)));
    assert_eq!(config.daemon.http, Some("127.0.0.1:0".parse().unwrap()));
    assert_eq!(world.store.current(None).search.timeout, Duration::from_millis(1));
}

#[test]
fn mistakes_are_named_and_cost_only_themselves() {
    let world =
        World::new(&[("CAPSTAN_SEARCH_TIMEOUT_MS", "soon")], &[("daemon.idle-exit-minutes", "-1")]);
    world.user(
        "[search]\ntimeoutms = 5\nlimit = 20\n\n[editor]\nrebase = \"always\"\noverwrite-guard = 1\n\
         [terminal]\nx = 1\n[serach]\nlimit = 1\n",
    );
    let config = world.current();
    assert_eq!(config.search.limit, 20);
    assert_eq!(config.editor, EditorConfig::default());
    expect_test::expect![[r#"
        HOME/user.toml:2:1: `search.timeoutms`: is no setting that Capstan knows; expected `timeout-ms`
        HOME/user.toml:6:10: `editor.rebase`: this string does not fit; expected `"proven"` or `"never"`
        HOME/user.toml:7:19: `editor.overwrite-guard`: this number does not fit; expected `true` or `false`
        HOME/user.toml:8:2: `terminal`: is no table that Capstan knows; expected one of `daemon`, `search`, `editor`, `modules`
        HOME/user.toml:10:2: `serach`: is no table that Capstan knows; expected `[search]`
        environment variable `CAPSTAN_SEARCH_TIMEOUT_MS`: `search.timeout-ms`: has a value that does not fit; expected a whole number from 1 to 3600000
        flag `--idle-exit-minutes`: `daemon.idle-exit-minutes`: has a value that does not fit; expected a number of minutes, 0 for never"#]]
    .assert_eq(&world.problems());
}

#[test]
fn what_does_not_parse_leaves_the_rest() {
    let world = World::new(&[], &[]);
    world.user("[search]\nlimit = = 5\ntimeout-ms = 9\n");
    assert_eq!(world.current().search.timeout, Duration::from_millis(9));
    assert!(world.current().problems.iter().all(|problem| problem.position.unwrap().line == 2));
    assert!(world.problems().starts_with("HOME/user.toml:2:9: extra `=`"), "{}", world.problems());
}

#[test]
fn a_project_can_only_tighten() {
    let world = World::new(&[], &[]);
    world.user("[modules]\nread.web = false\n\"read.core\" = true\n");
    world.project(
        "[daemon]\nhttp = \"127.0.0.1:1\"\n[editor]\noverwrite-guard = false\nrebase = \"never\"\n\
         [modules]\nread.web = true\nsearch.core = false\nread.wab = true\nguard.overwrite = false\n",
    );
    let config = world.current();
    assert_eq!(config.daemon, DaemonConfig::default());
    assert_eq!(config.editor, EditorConfig { rebase: Rebase::Never, overwrite_guard: true });
    let modules: Vec<_> = config.modules.iter().map(|(id, on)| (id.as_str(), *on)).collect();
    assert_eq!(modules, [("read.core", true), ("read.web", false), ("search.core", false)]);
    expect_test::expect![[r#"
        HOME/p/.capstan/config.toml:9:6: `modules.read.wab`: is no module that Capstan has; expected `read.web`
        HOME/p/.capstan/config.toml:2:1: `daemon.http`: a project's file can't set this; expected it in your own configuration file
        HOME/p/.capstan/config.toml:4:1: `editor.overwrite-guard`: a project's file can only make this stricter; expected `true`
        HOME/p/.capstan/config.toml:10:7: `modules.guard.overwrite`: a project's file can't switch off a guard
        HOME/p/.capstan/config.toml:7:6: `modules.read.web`: a project's file can't switch on what you have switched off"#]]
    .assert_eq(&world.problems());
}

#[test]
fn modules_come_from_the_environment_too() {
    let world =
        World::new(&[("CAPSTAN_MODULES", "read.web=off, search.core=maybe,nothing=on")], &[]);
    assert_eq!(world.current().modules.get("read.web"), Some(&false));
    assert_eq!(world.current().problems.len(), 2);
}

#[test]
fn changes_are_seen_at_once() {
    let world = World::new(&[], &[]);
    for limit in 100..140 {
        // Same size, and faster than any file time ticks.
        world.user(&format!("[search]\nlimit = {limit}\n"));
        assert_eq!(world.current().search.limit, limit);
    }
    fs::remove_file(world.home.path().join("user.toml")).unwrap();
    assert_eq!(world.current().search.limit, 50);
}

#[test]
fn a_change_is_announced_once() {
    let world = World::new(&[], &[]);
    let count = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let counter = Arc::clone(&count);
    world.store.listen(Box::new(move |_| {
        counter.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    }));
    world.current();
    world.user("[search]\nlimit = 5\n");
    world.current();
    world.current();
    world.user("# the same\n[search]\nlimit = 5\n");
    world.current();
    assert_eq!(count.load(std::sync::atomic::Ordering::Relaxed), 1);
}

#[test]
fn hostile_files_neither_hang_nor_leak() {
    let world = World::new(&[], &[]);
    let file = world.project_file();
    let expect = |part: &str| assert!(world.problems().contains(part), "{}", world.problems());
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &file,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RWXU,
        0,
    )
    .unwrap();
    expect("is not a regular file");
    fs::remove_file(&file).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", &file).unwrap();
    expect("it is a symbolic link");
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    expect("is not a regular file");
    fs::remove_dir(&file).unwrap();
    fs::write(&file, vec![b'#'; 2 << 20]).unwrap();
    expect("is larger than 1024 KiB");
    fs::write(&file, b"[search]\nlimit = \"\xff\"\n").unwrap();
    expect("config.toml:2:10: is not UTF-8");
    fs::write(&file, "x = 1\n".repeat(1000)).unwrap();
    assert!(world.current().problems.len() <= crate::limits::MAX_CONFIG_PROBLEMS + 1);
}

#[test]
fn asking_is_cheap() {
    let world = World::new(&[], &[]);
    world.user("[search]\nlimit = 5\n");
    std::thread::sleep(2 * crate::limits::CONFIG_SETTLE);
    let root = world.home.path().join("p");
    let first = world.store.current(Some(&root));
    let start = Instant::now();
    const ASKED: u32 = 1000;
    for _ in 0..ASKED {
        assert!(Arc::ptr_eq(&first, &world.store.current(Some(Path::new(&root)))));
    }
    let each = start.elapsed() / ASKED;
    // 4 µs here; the bound is for a busy machine.
    assert!(each < Duration::from_micros(200), "{each:?}");
}
