//! The facts about the machine that a reader needs to make sense of absolute figures.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

/// What was found out. Unknown things are `?`.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Cores that this process may use.
    pub cores: usize,
    /// The processor's name.
    pub processor: String,
    /// The kernel's release.
    pub kernel: String,
    /// Memory in MiB.
    pub memory_mib: u64,
    /// The file system of the work folder, with the name of its device.
    pub file_system: String,
    /// Load average of the last minute when the benches started: other work beside them.
    pub load: String,
    /// The version line of ripgrep.
    pub ripgrep: String,
    /// The version line of sed.
    pub sed: String,
}

impl Machine {
    /// Looks around. `work` is the folder whose file system counts.
    pub fn look(work: &Path, rg: Option<&Path>) -> Self {
        let proc = |name: &str| std::fs::read_to_string(Path::new("/proc").join(name)).ok();
        let field = |text: Option<String>, name: &str| {
            let text = text?;
            let line = text.lines().find(|line| line.starts_with(name))?;
            line.split_once(':').map(|(_, value)| value.trim().to_owned())
        };
        let memory = field(proc("meminfo"), "MemTotal").and_then(|value| {
            value.split_whitespace().next()?.parse::<u64>().ok().map(|kib| kib / 1024)
        });
        let unknown = || "?".to_owned();
        Self {
            cores: std::thread::available_parallelism().map_or(0, usize::from),
            processor: field(proc("cpuinfo"), "model name").unwrap_or_else(unknown),
            kernel: proc("sys/kernel/osrelease")
                .map_or_else(unknown, |text| text.trim().to_owned()),
            memory_mib: memory.unwrap_or_default(),
            file_system: proc("self/mountinfo")
                .and_then(|mounts| file_system(&mounts, work))
                .unwrap_or_else(unknown),
            load: proc("loadavg")
                .and_then(|text| text.split_whitespace().next().map(ToOwned::to_owned))
                .unwrap_or_else(unknown),
            ripgrep: rg.and_then(version).unwrap_or_else(unknown),
            sed: version(Path::new("sed")).unwrap_or_else(unknown),
        }
    }

    /// As JSON.
    pub fn json(&self) -> Value {
        json!({
            "cores": self.cores, "processor": self.processor, "kernel": self.kernel,
            "memory_mib": self.memory_mib, "file_system": self.file_system, "load": self.load,
            "ripgrep": self.ripgrep, "sed": self.sed,
        })
    }
}

impl std::fmt::Display for Machine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(
            f,
            "{} cores ({}), {} MiB, Linux {}, {}, load {} at the start",
            self.cores, self.processor, self.memory_mib, self.kernel, self.file_system, self.load
        )?;
        write!(f, "peers: {}; {}", self.ripgrep, self.sed)
    }
}

/// The first line that a program prints for `--version`.
pub fn version(program: &Path) -> Option<String> {
    let output = Command::new(program).arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().next().map(ToOwned::to_owned)
}

/// Type and device of the mount that holds `path`, from the text of `mountinfo`.
fn file_system(mounts: &str, path: &Path) -> Option<String> {
    let path = path.canonicalize().ok()?;
    let holds = mounts.lines().filter_map(|line| {
        let (left, right) = line.split_once(" - ")?;
        let point = left.split(' ').nth(4)?;
        let mut right = right.split(' ');
        let (kind, device) = (right.next()?, right.next()?);
        path.starts_with(point).then(|| (point.len(), format!("{kind} on {device}")))
    });
    // The last of equals: it was mounted over the others.
    holds.max_by_key(|(length, _)| *length).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_mount_counts() {
        let mounts =
            "1 0 8:1 / / rw - ext4 /dev/vda rw\n2 1 0:5 / /usr rw,x shared:1 - tmpfs none rw\n";
        assert_eq!(file_system(mounts, Path::new("/usr/bin")).as_deref(), Some("tmpfs on none"));
        assert_eq!(file_system(mounts, Path::new("/")).as_deref(), Some("ext4 on /dev/vda"));
    }
}
