//! Waiting for the daemon or for the user, whichever comes first.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::{SIGINT, SIGTERM};

/// What happened first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// There is something to read, or the end of it.
    Readable,
    /// The user interrupted.
    Interrupted,
    /// Nothing in time.
    Silence,
}

/// A pipe that the signals INT and TERM write to.
#[derive(Debug)]
pub struct Interrupts(UnixStream);

impl Interrupts {
    /// Catches the signals of this process from now on.
    ///
    /// # Errors
    /// What the system says.
    pub fn catch() -> io::Result<Self> {
        let (reader, writer) = UnixStream::pair()?;
        signal_hook::low_level::pipe::register(SIGINT, writer.try_clone()?)?;
        signal_hook::low_level::pipe::register(SIGTERM, writer)?;
        Ok(Self(reader))
    }
}

/// Waits until `stream` can be read, a signal comes, or the time is over.
///
/// # Errors
/// What the system says.
pub fn wait(
    stream: &UnixStream,
    interrupts: Option<&Interrupts>,
    timeout: Duration,
) -> io::Result<Event> {
    let mut watched = vec![PollFd::new(stream, PollFlags::IN)];
    watched.extend(interrupts.map(|interrupts| PollFd::new(&interrupts.0, PollFlags::IN)));
    let timeout = timespec(timeout);
    let ready = rustix::io::retry_on_intr(|| poll(&mut watched, Some(&timeout)))?;
    // An interrupt counts first: the user does not want the answer any more.
    if watched.get(1).is_some_and(|interrupts| !interrupts.revents().is_empty()) {
        return Ok(Event::Interrupted);
    }
    Ok(if ready == 0 { Event::Silence } else { Event::Readable })
}

/// Waits until `source` can be read, or has ended; whether that was in time.
///
/// # Errors
/// What the system says.
pub fn readable(source: &impl AsFd, timeout: Duration) -> io::Result<bool> {
    let mut watched = [PollFd::new(source, PollFlags::IN)];
    let timeout = timespec(timeout);
    Ok(rustix::io::retry_on_intr(|| poll(&mut watched, Some(&timeout)))? > 0)
}

fn timespec(duration: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(duration.subsec_nanos()),
    }
}
