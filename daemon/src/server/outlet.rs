//! Where messages for a client go: its socket, one HTTP response, or the array of a batch.

use std::sync::{Arc, Mutex, PoisonError};

/// A way to a client. Sending never waits for that client.
pub trait Outlet: Send + Sync {
    /// Sends the answer to a request, as one JSON text without newline.
    fn answer(&self, message: Vec<u8>);

    /// Sends a notification or a request of ours; it may be dropped when the client reads too
    /// slowly.
    fn notify(&self, message: Vec<u8>);
}

/// The answers of one batch. They are sent as one array when the last `BatchSlot` is dropped.
pub struct Batch {
    to: Arc<dyn Outlet>,
    answers: Mutex<Vec<Option<Vec<u8>>>>,
}

impl Batch {
    /// A batch of `size` messages.
    pub fn new(to: Arc<dyn Outlet>, size: usize) -> Arc<Self> {
        Arc::new(Self { to, answers: Mutex::new(vec![None; size]) })
    }

    /// The outlet of the message at `index`.
    pub fn slot(self: &Arc<Self>, index: usize) -> Arc<dyn Outlet> {
        Arc::new(BatchSlot { batch: Arc::clone(self), index })
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        let answers = self.answers.get_mut().unwrap_or_else(PoisonError::into_inner);
        let mut array = Vec::with_capacity(
            answers.iter().flatten().map(|answer| answer.len() + 1).sum::<usize>() + 1,
        );
        for answer in answers.iter().flatten() {
            array.push(if array.is_empty() { b'[' } else { b',' });
            array.extend_from_slice(answer);
        }
        if !array.is_empty() {
            array.push(b']');
            self.to.answer(array);
        }
    }
}

/// The place of one message in a [`Batch`].
struct BatchSlot {
    batch: Arc<Batch>,
    index: usize,
}

impl Outlet for BatchSlot {
    fn answer(&self, message: Vec<u8>) {
        let mut answers = self.batch.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers[self.index] = Some(message);
    }

    fn notify(&self, message: Vec<u8>) {
        self.batch.to.notify(message);
    }
}
