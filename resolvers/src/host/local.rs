//! This machine.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anchors::Cancel;
use rustix::fs::{Access, AtFlags, CWD, Mode, OFlags};

use super::{DirEntry, FileBytes, Host, Kind, Listing, OpenFile, ReadError, Stat};

mod write;

/// The files, clock and environment of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct LocalHost;

/// Bytes between two looks at the cancel flag: about a millisecond of page cache.
const CHUNK_BYTES: u64 = 4 * 1024 * 1024;
/// How often a file that changes under our eyes is read again before it is returned unsettled.
const STABLE_ATTEMPTS: usize = 3;

impl Host for LocalHost {
    fn stat(&self, path: &Path) -> io::Result<Stat> {
        Ok(rustix::fs::stat(path)?.into())
    }

    fn lstat(&self, path: &Path) -> io::Result<Stat> {
        Ok(rustix::fs::lstat(path)?.into())
    }

    fn realpath(&self, path: &Path) -> io::Result<PathBuf> {
        std::fs::canonicalize(path)
    }

    fn open(&self, path: &Path) -> Result<OpenFile, ReadError> {
        let (file, stat) = open_checked(path)?;
        Ok(OpenFile { stat, reader: Box::new(file) })
    }

    fn read_into(
        &self,
        path: &Path,
        buffer: &mut Vec<u8>,
        max_bytes: u64,
        cancel: &Cancel,
    ) -> Result<Stat, ReadError> {
        let (mut file, stat) = open_regular(path)?;
        read_whole(path, &mut file, &stat, Sink { buffer, max_bytes }, cancel)?;
        Ok(stat)
    }

    fn read(&self, path: &Path, max_bytes: u64, cancel: &Cancel) -> Result<FileBytes, ReadError> {
        let (mut file, mut stat) = open_checked(path)?;
        let mut bytes = Vec::new();
        for _ in 0..STABLE_ATTEMPTS {
            let started = self.now();
            let buffer = &mut bytes;
            read_whole(path, &mut file, &stat, Sink { buffer, max_bytes }, cancel)?;
            let after = fstat(path, &file)?;
            if after.same_revision(&stat) {
                return Ok(FileBytes { bytes, stat, settled: stat.settled_at(started) });
            }
            stat = after;
            file.seek(SeekFrom::Start(0)).map_err(|error| ReadError::io(path, error))?;
        }
        let buffer = &mut bytes;
        read_whole(path, &mut file, &stat, Sink { buffer, max_bytes }, cancel)?;
        Ok(FileBytes { bytes, stat, settled: false })
    }

    fn read_range(
        &self,
        path: &Path,
        start: u64,
        len: u64,
        cancel: &Cancel,
    ) -> Result<FileBytes, ReadError> {
        let (mut file, stat) = open_checked(path)?;
        let started = self.now();
        file.seek(SeekFrom::Start(start)).map_err(|error| ReadError::io(path, error))?;
        let mut bytes = Vec::new();
        read_up_to(path, &mut file, Sink { buffer: &mut bytes, max_bytes: len }, cancel)?;
        let settled = fstat(path, &file)?.same_revision(&stat) && stat.settled_at(started);
        Ok(FileBytes { bytes, stat, settled })
    }

    fn read_dir(
        &self,
        path: &Path,
        max_entries: usize,
        cancel: &Cancel,
    ) -> Result<Listing, ReadError> {
        let io = |error| ReadError::io(path, error);
        let mut listing = Listing { entries: Vec::new(), complete: true };
        for entry in std::fs::read_dir(path).map_err(io)? {
            cancel.check()?;
            let entry = entry.map_err(io)?;
            if listing.entries.len() == max_entries {
                listing.complete = false;
                break;
            }
            // An entry may vanish between the listing and the look at it.
            let kind = entry.file_type().map_or(Kind::Other, Kind::from);
            listing.entries.push(DirEntry { name: entry.file_name(), kind });
        }
        Ok(listing)
    }

    fn read_link(&self, path: &Path) -> io::Result<PathBuf> {
        std::fs::read_link(path)
    }

    fn check_writable(&self, path: &Path) -> io::Result<()> {
        Ok(rustix::fs::accessat(CWD, path, Access::WRITE_OK, AtFlags::EACCESS)?)
    }

    #[cfg(target_os = "linux")]
    fn is_mount_point(&self, path: &Path) -> bool {
        use rustix::fs::{StatxAttributes, StatxFlags};
        let flags = AtFlags::SYMLINK_NOFOLLOW;
        let told = rustix::fs::statx(CWD, path, flags, StatxFlags::empty());
        told.is_ok_and(|told| told.stx_attributes.contains(StatxAttributes::MOUNT_ROOT))
    }

    #[cfg(not(target_os = "linux"))]
    fn is_mount_point(&self, _: &Path) -> bool {
        false
    }

    fn env(&self, name: &OsStr) -> Option<OsString> {
        std::env::var_os(name)
    }

    fn home_dir(&self) -> Option<PathBuf> {
        std::env::home_dir().filter(|home| home.is_absolute())
    }

    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    fn uid(&self) -> u32 {
        rustix::process::geteuid().as_raw()
    }

    #[cfg(target_os = "linux")]
    fn boot_id(&self) -> Option<u128> {
        let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        let digits: String = text.chars().filter(char::is_ascii_hexdigit).collect();
        u128::from_str_radix(&digits, 16).ok()
    }

    #[cfg(not(target_os = "linux"))]
    fn boot_id(&self) -> Option<u128> {
        None
    }
}

/// Where content goes, and how much of it.
struct Sink<'a> {
    buffer: &'a mut Vec<u8>,
    max_bytes: u64,
}

/// Looks before it opens: opening some devices has effects (it rewinds a tape, arms a watchdog).
fn open_checked(path: &Path) -> Result<(File, Stat), ReadError> {
    let stat: Stat = rustix::fs::stat(path).map_err(|error| ReadError::io(path, error))?.into();
    check_regular(path, &stat)?;
    open_regular(path)
}

/// Never blocks: a pipe or device opens at once with `NONBLOCK` and is then refused.
fn open_regular(path: &Path) -> Result<(File, Stat), ReadError> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let file = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        // A socket cannot be opened at all.
        Err(rustix::io::Errno::NXIO) => {
            return Err(ReadError::NotAFile { path: path.to_owned(), kind: Kind::Socket });
        }
        Err(error) => return Err(ReadError::io(path, error)),
    };
    let stat = fstat(path, &file)?;
    check_regular(path, &stat)?;
    Ok((file, stat))
}

fn check_regular(path: &Path, stat: &Stat) -> Result<(), ReadError> {
    match stat.kind {
        Kind::File => Ok(()),
        kind => Err(ReadError::NotAFile { path: path.to_owned(), kind }),
    }
}

fn fstat(path: &Path, file: &File) -> Result<Stat, ReadError> {
    Ok(rustix::fs::fstat(file).map_err(|error| ReadError::io(path, error))?.into())
}

/// Reads to the end; files of `/proc` say size 0 and have content, so only the bytes count.
fn read_whole(
    path: &Path,
    file: &mut File,
    stat: &Stat,
    into: Sink<'_>,
    cancel: &Cancel,
) -> Result<(), ReadError> {
    let max = into.max_bytes;
    let too_large = |size| ReadError::TooLarge { path: path.to_owned(), size, max };
    if stat.size > max {
        return Err(too_large(stat.size));
    }
    let Sink { buffer, .. } = into;
    buffer.clear();
    let capacity = usize::try_from(stat.size).unwrap_or(usize::MAX).saturating_add(1);
    buffer
        .try_reserve_exact(capacity)
        .map_err(|error| ReadError::io(path, io::Error::other(error)))?;
    // One byte more than allowed tells a file that grew from one that fits.
    read_up_to(path, file, Sink { buffer, max_bytes: max.saturating_add(1) }, cancel)?;
    let size = buffer.len() as u64;
    if size > max { Err(too_large(size)) } else { Ok(()) }
}

/// Appends bytes until the end of the file or the bound.
fn read_up_to(
    path: &Path,
    file: &mut File,
    into: Sink<'_>,
    cancel: &Cancel,
) -> Result<(), ReadError> {
    let Sink { buffer, max_bytes: mut left } = into;
    while left > 0 {
        cancel.check()?;
        let chunk = left.min(CHUNK_BYTES);
        let read = file
            .by_ref()
            .take(chunk)
            .read_to_end(buffer)
            .map_err(|error| ReadError::io(path, error))? as u64;
        if read < chunk {
            break;
        }
        left -= read;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
