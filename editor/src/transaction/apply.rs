//! The steps that change one file, each with its way back. Used by commits and by recovery.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use anchors::{Cancel, Cancelled, ContentHash};
use resolvers::host::{HostWrite, Kind, Stat};
use xxhash_rust::xxh3::Xxh3;

use crate::limits;

mod item;

pub(super) use item::{Item, State};

/// What every staged file of ours begins with.
pub(super) const STAGED_PREFIX: &str = ".capstan-";
/// Mode of files that nobody but the owner may see before they are complete.
const PRIVATE: u32 = 0o600;

/// The names that one change needs, all in one folder.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) path: PathBuf,
    pub(super) folder: PathBuf,
    pub(super) name: OsString,
    /// Where new content is staged and, after the exchange, the old file is kept.
    pub(super) spare: OsString,
    /// A second name of the old file while the exchange is done in several steps.
    pub(super) backup: OsString,
}

impl Place {
    /// `number` is that of the file in transaction `id`. `path` ends in a name.
    pub(super) fn new(path: &Path, id: u64, number: usize) -> Self {
        let stem = format!("{STAGED_PREFIX}{id:016x}-{number}");
        Self {
            path: path.to_owned(),
            folder: path.parent().unwrap_or(Path::new("/")).to_owned(),
            name: path.file_name().unwrap_or_default().to_owned(),
            spare: format!("{stem}.tmp").into(),
            backup: format!("{stem}.old").into(),
        }
    }
}

/// The folder that was used last stays open: files come sorted, so that each folder is opened once
/// a pass and never more than one is held.
pub(super) struct Folder<'a, H: HostWrite> {
    host: &'a H,
    open: Option<(PathBuf, H::Dir)>,
}

impl<'a, H: HostWrite> Folder<'a, H> {
    pub(super) fn new(host: &'a H) -> Self {
        Self { host, open: None }
    }

    pub(super) fn at(&mut self, path: &Path) -> io::Result<&H::Dir> {
        let open = match self.open.take() {
            Some((opened, dir)) if opened == path => (opened, dir),
            _ => (path.to_owned(), self.host.open_dir(path)?),
        };
        Ok(&self.open.insert(open).1)
    }
}

/// Writes `bytes` from the start, in pieces; looks at `cancel` between them.
pub(super) fn write_all<H: HostWrite>(
    host: &H,
    file: &H::File,
    bytes: &[u8],
    cancel: Option<&Cancel>,
) -> io::Result<Result<(), Cancelled>> {
    let mut offset = 0;
    for piece in bytes.chunks(limits::CHUNK_BYTES) {
        if let Some(Err(cancelled)) = cancel.map(Cancel::check) {
            return Ok(Err(cancelled));
        }
        host.write_at(file, offset, piece)?;
        offset += piece.len() as u64;
    }
    Ok(Ok(()))
}

/// Replaces the content of an open file without giving up its inode. Space is reserved first, so
/// that a full disk is noticed while the old content is still whole.
pub(super) fn overwrite<H: HostWrite>(host: &H, file: &H::File, bytes: &[u8]) -> io::Result<()> {
    let stat = host.stat_file(file)?;
    host.reserve(file, bytes.len() as u64)?;
    let _ = write_all(host, file, bytes, None)?;
    if stat.size > bytes.len() as u64 {
        host.truncate(file, bytes.len() as u64)?;
    }
    if host.stat_file(file)?.mode != stat.mode {
        host.set_mode(file, stat.mode)?; // writing clears set-id bits
    }
    Ok(())
}

/// Hash of the content of a regular file in an open folder, not followed.
pub(super) fn hash_in<H: HostWrite>(
    host: &H,
    dir: &H::Dir,
    name: &OsStr,
) -> io::Result<ContentHash> {
    let file = host.open_in(dir, name, false)?;
    let size = usize::try_from(host.stat_file(&file)?.size).unwrap_or(usize::MAX);
    let mut buffer = vec![0; size.saturating_add(1).min(limits::CHUNK_BYTES)];
    let (mut hasher, mut offset) = (Xxh3::new(), 0);
    loop {
        match host.read_at(&file, offset, &mut buffer)? {
            0 => return Ok(ContentHash(hasher.digest128())),
            len => {
                hasher.update(&buffer[..len]);
                offset += len as u64;
            }
        }
    }
}

/// The stat of `name`, or nothing if there is nothing.
pub(super) fn look<H: HostWrite>(host: &H, dir: &H::Dir, name: &OsStr) -> io::Result<Option<Stat>> {
    match host.stat_in(dir, name) {
        Ok(stat) => Ok(Some(stat)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Removes `name`; already gone is fine.
pub(super) fn remove<H: HostWrite>(host: &H, dir: &H::Dir, name: &OsStr) -> io::Result<()> {
    match host.unlink(dir, name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

/// Whether content and identity are the same; a rename alters `ctime`, so that does not count.
pub(super) fn same_content(a: &Stat, b: &Stat) -> bool {
    a.same_object(b) && a.kind == b.kind && a.size == b.size && a.mtime_ns == b.mtime_ns
}

/// Swaps what name and spare mean. Where the file system can't do that in one step, the old file
/// gets a second name for a moment; [`settle`] completes whatever a crash leaves.
pub(super) fn swap<H: HostWrite>(host: &H, dir: &H::Dir, place: &Place) -> io::Result<()> {
    match host.exchange(dir, &place.spare, &place.name) {
        Err(error) if error.kind() == io::ErrorKind::Unsupported => {}
        result => return result,
    }
    match host.hard_link(dir, &place.name, &place.backup) {
        Ok(()) => {
            let moved = still_backed_up(host, dir, place)
                .and_then(|()| host.rename(dir, &place.spare, &place.name));
            if let Err(error) = moved {
                remove(host, dir, &place.backup)?;
                return Err(error);
            }
        }
        // No hard links either: for a moment the name means nothing.
        Err(error) if no_links(&error) => {
            rename_new(host, dir, &place.name, &place.backup)?;
            if let Err(error) = rename_new(host, dir, &place.spare, &place.name) {
                rename_new(host, dir, &place.backup, &place.name)?;
                return Err(error);
            }
        }
        Err(error) => return Err(error),
    }
    host.rename(dir, &place.backup, &place.spare)
}

/// Without an exchange there is a moment in which somebody else's new file could be replaced: look
/// as late as possible.
fn still_backed_up<H: HostWrite>(host: &H, dir: &H::Dir, place: &Place) -> io::Result<()> {
    let backup = host.stat_in(dir, &place.backup)?;
    let same = host.stat_in(dir, &place.name)?.same_object(&backup);
    if same { Ok(()) } else { Err(io::ErrorKind::NotFound.into()) }
}

/// Completes or takes back a swap of several steps that was interrupted.
pub(super) fn settle<H: HostWrite>(host: &H, dir: &H::Dir, place: &Place) -> io::Result<()> {
    let Some(backup) = look(host, dir, &place.backup)? else { return Ok(()) };
    match look(host, dir, &place.name)? {
        Some(stat) if stat.same_object(&backup) => remove(host, dir, &place.backup),
        None => rename_new(host, dir, &place.backup, &place.name),
        Some(_) if look(host, dir, &place.spare)?.is_none() => {
            rename_new(host, dir, &place.backup, &place.spare)
        }
        // Both taken: the staged file never got the name, and somebody else's file has it.
        Some(_) => Err(io::ErrorKind::AlreadyExists.into()),
    }
}

/// Renames unless `to` exists, in as few steps as the file system allows.
pub(super) fn rename_new<H: HostWrite>(
    host: &H,
    dir: &H::Dir,
    from: &OsStr,
    to: &OsStr,
) -> io::Result<()> {
    match host.rename_new(dir, from, to) {
        Err(error) if error.kind() == io::ErrorKind::Unsupported => {}
        result => return result,
    }
    match host.hard_link(dir, from, to) {
        Ok(()) => host.unlink(dir, from),
        Err(error) if no_links(&error) => match look(host, dir, to)? {
            None => host.rename(dir, from, to),
            Some(_) => Err(io::ErrorKind::AlreadyExists.into()),
        },
        Err(error) => Err(error),
    }
}

/// What file systems without hard links answer.
fn no_links(error: &io::Error) -> bool {
    use io::ErrorKind::{PermissionDenied, TooManyLinks, Unsupported};
    matches!(error.kind(), PermissionDenied | TooManyLinks | Unsupported)
}

/// Makes one folder with `mode`, subject to the umask; there already is fine.
pub(super) fn make_folder<H: HostWrite>(
    host: &H,
    folders: &mut Folder<'_, H>,
    path: &Path,
    mode: u32,
) -> io::Result<()> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Ok(()) };
    let dir = folders.at(parent)?;
    match host.make_dir(dir, name, mode) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            match host.stat_in(dir, name)?.kind {
                Kind::Dir => Ok(()),
                _ => Err(error),
            }
        }
        result => result,
    }
}

/// Removes the folders that a transaction made, children first, as far as they are empty.
pub(super) fn remove_folders<H: HostWrite>(
    host: &H,
    folders: &mut Folder<'_, H>,
    made: &[PathBuf],
) -> io::Result<()> {
    for path in made.iter().rev() {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { continue };
        let result = folders.at(parent).and_then(|dir| host.remove_dir(dir, name));
        match result {
            Ok(()) => {}
            // Somebody else uses it by now, or it was never made.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::DirectoryNotEmpty
                        | io::ErrorKind::NotFound
                        | io::ErrorKind::AlreadyExists
                        | io::ErrorKind::NotADirectory
                ) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
