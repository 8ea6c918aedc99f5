//! The writing side of a socket connection: a bounded queue that is skipped while it is empty.
//!
//! Any thread may send. When nothing waits, the bytes go straight to the socket; what the socket
//! does not take joins the queue, which the connection's writer task empties.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::net::UnixStream;
use tokio::sync::Notify;
use tokio::time::timeout;

use super::outlet::Outlet;
use crate::limits::{CROWDED_OUTPUT_BYTES, MAX_OUTPUT_BYTES, WRITE_TIMEOUT};

/// The answers of one connection on their way out.
#[derive(Debug)]
pub struct Output {
    stream: Arc<UnixStream>,
    queue: Mutex<Queue>,
    /// Something was queued, or the output closed.
    changed: Notify,
    /// The queue got shorter, or the output closed.
    shorter: Notify,
}

#[derive(Debug, Default)]
struct Queue {
    lines: VecDeque<Vec<u8>>,
    /// Bytes of the first line that are already out.
    written: usize,
    /// Bytes that wait.
    bytes: usize,
    closed: bool,
}

impl Output {
    /// An output to `stream`.
    pub fn new(stream: Arc<UnixStream>) -> Arc<Self> {
        let (queue, changed, shorter) = Default::default();
        Arc::new(Self { stream, queue, changed, shorter })
    }

    /// Nothing more is sent; what waits is dropped.
    pub fn close(&self) {
        let mut queue = self.lock();
        *queue = Queue { closed: true, ..Queue::default() };
        drop(queue);
        self.changed.notify_waiters();
        self.changed.notify_one();
        self.shorter.notify_waiters();
    }

    /// Whether the client is gone or was given up.
    pub fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// Waits until the queue has room, or the output is closed.
    pub async fn room(&self) {
        self.wait_below(MAX_OUTPUT_BYTES).await;
    }

    /// Waits until notifications are not dropped, or the output is closed.
    pub async fn calm(&self) {
        self.wait_below(CROWDED_OUTPUT_BYTES / 2).await;
    }

    /// Waits until the output is closed.
    pub async fn closed(&self) {
        loop {
            let shorter = self.shorter.notified();
            tokio::pin!(shorter);
            shorter.as_mut().enable();
            if self.is_closed() {
                return;
            }
            shorter.await;
        }
    }

    /// Waits until everything is written, or the output is closed.
    pub async fn flushed(&self) {
        self.wait_below(0).await;
    }

    /// Whether [`Self::room`] would return at once.
    pub fn has_room(&self) -> bool {
        self.lock().bytes <= MAX_OUTPUT_BYTES
    }

    /// Whether everything is written.
    pub fn is_flushed(&self) -> bool {
        self.lock().bytes == 0
    }

    async fn wait_below(&self, bytes: usize) {
        loop {
            let shorter = self.shorter.notified();
            tokio::pin!(shorter);
            shorter.as_mut().enable();
            if self.lock().bytes <= bytes {
                return;
            }
            shorter.await;
        }
    }

    /// Empties the queue until the output is closed, the client gone, or too slow: the output is
    /// closed then.
    pub async fn run(&self) {
        loop {
            let changed = self.changed.notified();
            if self.is_closed() {
                return;
            }
            if self.lock().bytes == 0 {
                changed.await;
                continue;
            }
            let writable = timeout(WRITE_TIMEOUT, self.stream.writable()).await;
            let alive = matches!(writable, Ok(Ok(()))) && self.write_some(&mut self.lock()).is_ok();
            if !alive {
                self.close();
                return;
            }
            self.shorter.notify_waiters();
        }
    }

    /// Writes what the socket takes.
    fn write_some(&self, queue: &mut Queue) -> io::Result<()> {
        while let Some(line) = queue.lines.front() {
            match self.stream.try_write(&line[queue.written..]) {
                Ok(count) => {
                    queue.written += count;
                    queue.bytes -= count;
                    if queue.written >= line.len() {
                        queue.lines.pop_front();
                        queue.written = 0;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn send(&self, mut line: Vec<u8>) {
        line.push(b'\n');
        let mut queue = self.lock();
        if queue.closed {
            return;
        }
        let idle = queue.lines.is_empty();
        queue.bytes += line.len();
        queue.lines.push_back(line);
        if idle && self.write_some(&mut queue).is_err() {
            drop(queue);
            self.close();
            return;
        }
        let wake = idle && !queue.lines.is_empty();
        drop(queue);
        if wake {
            self.changed.notify_one();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        // No code under this lock can panic half-way.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Outlet for Output {
    fn answer(&self, message: Vec<u8>) {
        self.send(message);
    }

    fn notify(&self, message: Vec<u8>) {
        if self.lock().bytes < CROWDED_OUTPUT_BYTES {
            self.send(message);
        }
    }
}
