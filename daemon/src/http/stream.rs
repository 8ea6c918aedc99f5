//! Turning the messages of one client into an HTTP response: JSON when the answer comes alone, a
//! stream of server-sent events when something precedes it.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse as _, Response};
use futures_core::Stream;
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::time::{Interval, MissedTickBehavior, interval_at};

use crate::limits::{HTTP_KEEP_ALIVE, MAX_HTTP_QUEUE};
use crate::server::outlet::Outlet;

/// A message on its way to an HTTP client.
#[derive(Debug)]
pub(super) enum Outgoing {
    /// The answer to a request.
    Answer(Vec<u8>),
    /// Anything else.
    Notice(Vec<u8>),
}

/// The server's end of one response.
pub(super) struct Channel(Sender<Outgoing>);

impl Channel {
    /// Both ends.
    pub(super) fn open() -> (Arc<Self>, Receiver<Outgoing>) {
        let (sender, receiver) = mpsc::channel(MAX_HTTP_QUEUE);
        (Arc::new(Self(sender)), receiver)
    }
}

impl Outlet for Channel {
    fn answer(&self, message: Vec<u8>) {
        // Notices leave room for the one answer; a closed channel means that the client is gone.
        let _ = self.0.try_send(Outgoing::Answer(message));
    }

    fn notify(&self, message: Vec<u8>) {
        if self.0.capacity() > 1 {
            let _ = self.0.try_send(Outgoing::Notice(message));
        }
    }
}

/// Runs its closure when it is dropped: with the response, sent or broken off.
pub(super) struct OnDrop<F: FnMut()>(pub F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// The messages of a channel as server-sent events, with a comment now and then so that nothing in
/// between takes the connection for dead. `kept` is dropped with the response.
pub(super) fn events<G: Send + 'static>(
    first: Option<Outgoing>,
    rest: Receiver<Outgoing>,
    kept: G,
) -> Response {
    let mut beat = interval_at(tokio::time::Instant::now() + HTTP_KEEP_ALIVE, HTTP_KEEP_ALIVE);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let body = Body::from_stream(Events { first, rest, beat, _kept: Box::new(kept) });
    let headers = [(CONTENT_TYPE, "text/event-stream"), (CACHE_CONTROL, "no-cache")];
    (StatusCode::OK, headers, body).into_response()
}

/// One JSON answer.
pub(super) fn json(status: StatusCode, message: Vec<u8>) -> Response {
    (status, [(CONTENT_TYPE, "application/json")], message).into_response()
}

struct Events<G> {
    first: Option<Outgoing>,
    rest: Receiver<Outgoing>,
    beat: Interval,
    _kept: Box<G>,
}

impl<G: Send> Stream for Events<G> {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        let next = match this.first.take() {
            Some(first) => Poll::Ready(Some(first)),
            None => this.rest.poll_recv(context),
        };
        match next {
            Poll::Ready(Some(Outgoing::Answer(message) | Outgoing::Notice(message))) => {
                let event = [b"data: ", message.as_slice(), b"\n\n"].concat();
                Poll::Ready(Some(Ok(event.into())))
            }
            Poll::Ready(None) => Poll::Ready(None),
            Poll::Pending => this
                .beat
                .poll_tick(context)
                .map(|_| Some(Ok(Bytes::from_static(b": still here\n\n")))),
        }
    }
}
