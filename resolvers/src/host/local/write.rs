//! Changing files of this machine.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use rustix::buffer::spare_capacity;
use rustix::fs::{AtFlags, FlockOperation, Gid, Mode, OFlags, Uid, XattrFlags};
use rustix::io::Errno;

use super::LocalHost;
use crate::host::{HostWrite, Kind, Stat};

impl HostWrite for LocalHost {
    type Dir = OwnedFd;
    type File = File;

    fn open_dir(&self, path: &Path) -> io::Result<OwnedFd> {
        Ok(open_dir(path)?)
    }

    fn stat_in(&self, dir: &OwnedFd, name: &OsStr) -> io::Result<Stat> {
        Ok(rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)?.into())
    }

    fn stat_file(&self, file: &File) -> io::Result<Stat> {
        Ok(rustix::fs::fstat(file)?.into())
    }

    fn create_new(&self, dir: &OwnedFd, name: &OsStr, mode: u32) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | SAFE;
        Ok(rustix::fs::openat(dir, name, flags, bits(mode))?.into())
    }

    fn open_in(&self, dir: &OwnedFd, name: &OsStr, write: bool) -> io::Result<File> {
        let access = if write { OFlags::RDWR } else { OFlags::RDONLY };
        let file = rustix::fs::openat(dir, name, access | SAFE | OFlags::NONBLOCK, Mode::empty())?;
        match Stat::from(rustix::fs::fstat(&file)?).kind {
            Kind::File => Ok(file.into()),
            _ => Err(Errno::INVAL.into()),
        }
    }

    fn write_at(&self, file: &File, offset: u64, bytes: &[u8]) -> io::Result<()> {
        file.write_all_at(bytes, offset)
    }

    fn append_in(&self, dir: &OwnedFd, name: &OsStr, bytes: &[u8]) -> io::Result<()> {
        let flags = OFlags::WRONLY | OFlags::APPEND | SAFE | OFlags::NONBLOCK;
        let mut file = File::from(rustix::fs::openat(dir, name, flags, Mode::empty())?);
        match Stat::from(rustix::fs::fstat(&file)?).kind {
            Kind::File => io::Write::write_all(&mut file, bytes),
            _ => Err(Errno::INVAL.into()),
        }
    }

    fn read_at(&self, file: &File, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match file.read_at(buffer, offset) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return result,
            }
        }
    }

    fn truncate(&self, file: &File, len: u64) -> io::Result<()> {
        file.set_len(len)
    }

    fn reserve(&self, file: &File, len: u64) -> io::Result<()> {
        reserve(file, len)
    }

    fn sync_file(&self, file: &File) -> io::Result<()> {
        file.sync_all()
    }

    fn sync_dir(&self, dir: &OwnedFd) -> io::Result<()> {
        match rustix::fs::fsync(dir) {
            // Some file systems have nothing to sync about a folder and say so.
            Ok(()) | Err(Errno::INVAL) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn set_mode(&self, file: &File, mode: u32) -> io::Result<()> {
        Ok(rustix::fs::fchmod(file, bits(mode))?)
    }

    fn set_owner(&self, file: &File, uid: Option<u32>, gid: Option<u32>) -> io::Result<()> {
        Ok(rustix::fs::fchown(file, uid.map(Uid::from_raw), gid.map(Gid::from_raw))?)
    }

    fn xattrs(&self, path: &Path) -> io::Result<Vec<(Vec<u8>, Vec<u8>)>> {
        let mut names = Vec::new();
        match grow(&mut names, |names| rustix::fs::llistxattr(path, spare_capacity(names))) {
            Ok(()) => {}
            Err(Errno::NOTSUP | Errno::NOSYS) => return Ok(Vec::new()),
            Err(error) => return Err(error.into()),
        }
        let mut found = Vec::new();
        for name in split(&names) {
            let mut value = Vec::new();
            match grow(&mut value, |value| rustix::fs::lgetxattr(path, name, spare_capacity(value)))
            {
                Ok(()) => found.push((name.to_vec(), value)),
                Err(Errno::NODATA) => {} // removed since it was listed
                Err(error) => return Err(error.into()),
            }
        }
        Ok(found)
    }

    fn set_xattr(&self, file: &File, name: &[u8], value: &[u8]) -> io::Result<()> {
        Ok(rustix::fs::fsetxattr(file, OsStr::from_bytes(name), value, XattrFlags::empty())?)
    }

    fn xattr_names(&self, file: &File) -> io::Result<Vec<Vec<u8>>> {
        let mut names = Vec::new();
        match grow(&mut names, |names| rustix::fs::flistxattr(file, spare_capacity(names))) {
            Ok(()) => Ok(split(&names).map(<[u8]>::to_vec).collect()),
            Err(Errno::NOTSUP | Errno::NOSYS) => Ok(Vec::new()),
            Err(error) => Err(error.into()),
        }
    }

    fn remove_xattr(&self, file: &File, name: &[u8]) -> io::Result<()> {
        Ok(rustix::fs::fremovexattr(file, OsStr::from_bytes(name))?)
    }

    fn rename(&self, dir: &OwnedFd, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::renameat(dir, from, dir, to)?)
    }

    fn rename_new(&self, dir: &OwnedFd, from: &OsStr, to: &OsStr) -> io::Result<()> {
        flagged::rename_new(dir, from, to)
    }

    fn exchange(&self, dir: &OwnedFd, a: &OsStr, b: &OsStr) -> io::Result<()> {
        flagged::exchange(dir, a, b)
    }

    fn hard_link(&self, dir: &OwnedFd, name: &OsStr, new: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::linkat(dir, name, dir, new, AtFlags::empty())?)
    }

    fn unlink(&self, dir: &OwnedFd, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(dir, name, AtFlags::empty())?)
    }

    fn make_dir(&self, dir: &OwnedFd, name: &OsStr, mode: u32) -> io::Result<()> {
        Ok(rustix::fs::mkdirat(dir, name, bits(mode))?)
    }

    fn remove_dir(&self, dir: &OwnedFd, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(dir, name, AtFlags::REMOVEDIR)?)
    }

    fn try_lock(&self, file: &File) -> io::Result<()> {
        Ok(rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive)?)
    }
}

const SAFE: OFlags = OFlags::NOFOLLOW.union(OFlags::CLOEXEC).union(OFlags::NOCTTY);
const DIR: OFlags = OFlags::DIRECTORY.union(OFlags::RDONLY).union(SAFE);
/// First guess of an attribute's or a list's size in bytes; most have none at all.
const XATTR_GUESS_BYTES: usize = 256;

fn bits(mode: u32) -> Mode {
    Mode::from_bits_truncate(narrow(mode))
}

/// The width of mode bits differs between platforms.
fn narrow<T: TryFrom<u32> + Default>(mode: u32) -> T {
    T::try_from(mode).unwrap_or_default()
}

/// The kernel ends each name with NUL.
fn split(names: &[u8]) -> impl Iterator<Item = &[u8]> {
    names.split(|byte| *byte == 0).filter(|name| !name.is_empty())
}

/// Calls `fill` with more and more room until the answer fits.
fn grow(
    buffer: &mut Vec<u8>,
    mut fill: impl FnMut(&mut Vec<u8>) -> Result<usize, Errno>,
) -> Result<(), Errno> {
    buffer.reserve(XATTR_GUESS_BYTES);
    loop {
        match fill(buffer) {
            // The kernel bounds lists and values at 64 KiB.
            Err(Errno::RANGE) if buffer.capacity() < 1 << 20 => {
                buffer.reserve(buffer.capacity() * 2);
            }
            result => return result.map(drop),
        }
    }
}

/// One call that refuses links anywhere in the path; older kernels check the last part only.
#[cfg(target_os = "linux")]
fn open_dir(path: &Path) -> Result<OwnedFd, Errno> {
    use rustix::fs::{CWD, ResolveFlags};
    match rustix::fs::openat2(CWD, path, DIR, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        Err(Errno::NOSYS | Errno::PERM) => rustix::fs::open(path, DIR, Mode::empty()),
        result => result,
    }
}

#[cfg(not(target_os = "linux"))]
fn open_dir(path: &Path) -> Result<OwnedFd, Errno> {
    rustix::fs::open(path, DIR, Mode::empty())
}

#[cfg(target_os = "linux")]
fn reserve(file: &File, len: u64) -> io::Result<()> {
    if len == 0 {
        return Ok(());
    }
    match rustix::fs::fallocate(file, rustix::fs::FallocateFlags::empty(), 0, len) {
        Ok(()) | Err(Errno::NOTSUP | Errno::NOSYS) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn reserve(_: &File, _: u64) -> io::Result<()> {
    Ok(())
}

#[cfg(any(target_os = "linux", target_vendor = "apple"))]
mod flagged {
    use std::ffi::OsStr;
    use std::io;
    use std::os::fd::OwnedFd;

    use rustix::fs::RenameFlags;
    use rustix::io::Errno;

    pub(super) fn rename_new(dir: &OwnedFd, from: &OsStr, to: &OsStr) -> io::Result<()> {
        rename(dir, from, to, RenameFlags::NOREPLACE)
    }

    pub(super) fn exchange(dir: &OwnedFd, a: &OsStr, b: &OsStr) -> io::Result<()> {
        rename(dir, a, b, RenameFlags::EXCHANGE)
    }

    fn rename(dir: &OwnedFd, from: &OsStr, to: &OsStr, flags: RenameFlags) -> io::Result<()> {
        match rustix::fs::renameat_with(dir, from, dir, to, flags) {
            // What file systems without the flag answer; our names are valid otherwise.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                Err(io::ErrorKind::Unsupported.into())
            }
            result => Ok(result?),
        }
    }
}

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
mod flagged {
    use std::ffi::OsStr;
    use std::io;
    use std::os::fd::OwnedFd;

    pub(super) fn rename_new(_: &OwnedFd, _: &OsStr, _: &OsStr) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn exchange(_: &OwnedFd, _: &OsStr, _: &OsStr) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
