//! Random trees with random rules: the walk must agree with git, and with ripgrep where it is
//! installed (point `CAPSTAN_RG` at it, or have `rg` on the path).

use std::process::Command;

use super::fixture::Tree;
use crate::walk::WalkOptions;

/// A small generator of random numbers (splitmix64), so that a failure repeats.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((x ^ (x >> 31)) % bound as u64) as usize
    }

    pub(crate) fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

const NAMES: &[&str] = &["a", "b", "ab", "a.o", "b.o", "c.log", "x y", "a{b", "[", "é", "b.tar.o"];
const FOLDERS: &[&str] = &["a", "b", "d", "build", "a.o"];
const PIECES: &[&str] = &[
    "a",
    "b",
    "d",
    "*",
    "?",
    "**",
    "/",
    "/",
    "*.o",
    ".o",
    "[ab]",
    "[!a]",
    "[^b]*",
    "[[:alpha:]]",
    "\\",
    "[",
    "{a,b}",
    "build",
    "é",
    " ",
    "\\ ",
    "c.log",
    "]",
    "-",
];

fn pattern(random: &mut Random) -> String {
    let mut pattern = String::new();
    if random.below(4) == 0 {
        pattern.push('!');
    }
    for _ in 0..=random.below(4) {
        pattern.push_str(random.pick(PIECES));
    }
    if random.below(4) == 0 {
        pattern.push('/');
    }
    pattern
}

fn tree(random: &mut Random, ignore_names: &[&str]) -> Tree {
    let tree = Tree::new(&[]);
    let mut folders = vec![String::new()];
    for _ in 0..6 {
        let parent = folders[random.below(folders.len())].clone();
        folders.push(format!("{parent}{}/", random.pick(FOLDERS)));
    }
    for folder in &folders {
        let path = tree.root().join(folder);
        // A name may already be a file there.
        if std::fs::create_dir_all(&path).is_err() {
            continue;
        }
        for _ in 0..5 {
            drop(std::fs::write(path.join(random.pick(NAMES)), "x"));
        }
        if random.below(2) == 0 {
            let rules: Vec<String> = (0..=random.below(4)).map(|_| pattern(random)).collect();
            std::fs::write(path.join(random.pick(ignore_names)), rules.join("\n")).unwrap();
        }
    }
    tree
}

/// All rules in the tree, for the message of a failure.
fn rules_of(tree: &Tree) -> String {
    let all = WalkOptions { hidden: true, ignored: true, ..WalkOptions::default() };
    let (paths, _) = tree.walk(&[""], &all);
    let rules = paths.iter().filter(|path| path.ends_with("ignore"));
    rules.map(|p| format!("{p}: {:?}\n", std::fs::read_to_string(tree.root().join(p)))).collect()
}

#[test]
fn agrees_with_git() {
    for seed in 0..120 {
        let mut random = Random(seed);
        let tree = tree(&mut random, &[".gitignore"]);
        tree.git_init("");
        let exclude = pattern(&mut random);
        std::fs::write(tree.root().join(".git/info/exclude"), exclude).unwrap();
        let listed = tree.git(&tree.root(), &["ls-files", "-co", "--exclude-standard", "-z"]);
        let mut expected: Vec<String> = listed
            .split(|b| *b == 0)
            .filter(|path| !path.is_empty())
            .map(|path| String::from_utf8_lossy(path).into_owned())
            .collect();
        expected.sort();
        let options = WalkOptions { hidden: true, ..WalkOptions::default() };
        let (mut paths, _) = tree.walk(&[""], &options);
        paths.sort();
        assert_eq!(paths, expected, "seed {seed}\n{}", rules_of(&tree));
    }
}

/// The ripgrep to compare with; says so when there is none.
pub(crate) fn ripgrep() -> Option<Command> {
    let rg = std::env::var_os("CAPSTAN_RG").unwrap_or_else(|| "rg".into());
    let works = Command::new(&rg).arg("--version").output().is_ok_and(|o| o.status.success());
    if !works {
        println!("skipped: no ripgrep here (set CAPSTAN_RG to compare with one)");
        return None;
    }
    let mut command = Command::new(rg);
    command.arg("--no-config");
    Some(command)
}

#[test]
fn agrees_with_ripgrep() {
    // Where globs of ripgrep and git differ we follow git, so the odd characters stay out.
    for seed in 0..80 {
        let Some(mut rg) = ripgrep() else { return };
        let mut random = Random(1_000_000 + seed);
        let tree = tree(&mut random, &[".gitignore", ".ignore", ".rgignore"]);
        let odd = ["\\", "[", "{", "**", "!/", "]"];
        if odd.iter().any(|odd| rules_of(&tree).contains(odd)) {
            continue;
        }
        if random.below(2) == 0 {
            tree.git_init("");
        }
        let hidden = random.below(2) == 0;
        rg.args(["--files", "--null"]).current_dir(tree.root());
        rg.env("HOME", tree.home.home.as_ref().unwrap()).env_remove("XDG_CONFIG_HOME");
        if hidden {
            rg.args(["--hidden", "-g", "!.git"]);
        }
        let listed = rg.output().unwrap().stdout;
        let mut expected: Vec<String> = listed
            .split(|b| *b == 0)
            .filter(|path| !path.is_empty())
            .map(|path| String::from_utf8_lossy(path).into_owned())
            .collect();
        expected.sort();
        let (mut paths, _) = tree.walk(&[""], &WalkOptions { hidden, ..WalkOptions::default() });
        paths.sort();
        assert_eq!(paths, expected, "seed {seed}\n{}", rules_of(&tree));
    }
}
