//! Everything about a file but its content, carried from the old file to the new one.

use std::io;
use std::path::Path;

use resolvers::host::{HostWrite, Stat};

/// Mode and owner that a new file is to have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Keep {
    pub(super) mode: u32,
    pub(super) uid: u32,
    pub(super) gid: u32,
}

impl Keep {
    pub(super) fn of(stat: &Stat) -> Self {
        Self { mode: stat.mode, uid: stat.uid, gid: stat.gid }
    }
}

/// Attributes that describe the old content, not the file, or that the system sets by itself. A
/// write drops capabilities and measurements too.
const NOT_CARRIED: [&[u8]; 3] = [b"security.capability", b"security.ima", b"security.evm"];
const SET_ID_BITS: u32 = 0o6000;

/// Gives `file` the mode, owner and extended attributes of the file at `old`. What only a
/// privileged process may set is kept where it is permitted.
pub(super) fn carry<H: HostWrite>(
    host: &H,
    old: &Path,
    keep: Keep,
    file: &H::File,
) -> io::Result<()> {
    let made = host.stat_file(file)?;
    let mut mode = keep.mode;
    if !own(host, keep, file, &made)? {
        mode &= !SET_ID_BITS; // never lend an identity that is not the file's own
    }
    carry_xattrs(host, old, file)?;
    // Last: setting an owner clears set-id bits, setting an access control list alters the mode.
    if host.stat_file(file)?.mode != mode {
        host.set_mode(file, mode)?;
    }
    Ok(())
}

/// Whether owner and group are now those of the old file.
fn own<H: HostWrite>(host: &H, keep: Keep, file: &H::File, made: &Stat) -> io::Result<bool> {
    let uid = (made.uid != keep.uid).then_some(keep.uid);
    let gid = (made.gid != keep.gid).then_some(keep.gid);
    if uid.is_none() && gid.is_none() {
        return Ok(true);
    }
    // An id without a name in this user namespace is invalid rather than forbidden.
    let refused = |error: &io::Error| {
        matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::InvalidInput)
    };
    match host.set_owner(file, uid, gid) {
        Ok(()) => Ok(true),
        Err(error) if refused(&error) => match host.set_owner(file, None, gid) {
            Err(error) if !refused(&error) => Err(error),
            _ => Ok(false),
        },
        Err(error) => Err(error),
    }
}

fn carry_xattrs<H: HostWrite>(host: &H, old: &Path, file: &H::File) -> io::Result<()> {
    let wanted = host.xattrs(old)?;
    // A default access control list of the folder may have given the new file what the old lacks.
    for name in host.xattr_names(file)? {
        if !privileged(&name) && !wanted.iter().any(|(other, _)| *other == name) {
            host.remove_xattr(file, &name)?;
        }
    }
    for (name, value) in &wanted {
        if NOT_CARRIED.contains(&name.as_slice()) {
            continue;
        }
        match host.set_xattr(file, name, value) {
            Err(error) if privileged(name) && !out_of_space(&error) => {}
            result => result?,
        }
    }
    Ok(())
}

fn privileged(name: &[u8]) -> bool {
    [&b"security."[..], b"trusted."].iter().any(|prefix| name.starts_with(prefix))
}

fn out_of_space(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}
