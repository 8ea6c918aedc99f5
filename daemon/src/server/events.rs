//! The typed event stream behind `capstan/events.subscribe`.
//!
//! Publishing never waits. A subscriber that falls behind loses the oldest events and is told how
//! many.

use protocol::capstan::Event;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::broadcast::{self, Receiver, Sender};

use crate::limits::MAX_QUEUED_EVENTS;

/// The hub that all events of the daemon pass.
#[derive(Debug)]
pub struct Events(Sender<Event>);

impl Default for Events {
    fn default() -> Self {
        Self(broadcast::channel(MAX_QUEUED_EVENTS).0)
    }
}

impl Events {
    /// Tells all subscribers. The event is only made when there are any.
    pub fn publish(&self, event: impl FnOnce() -> Event) {
        if self.0.receiver_count() > 0 {
            // It fails only when the last subscriber left just now.
            let _ = self.0.send(event());
        }
    }

    /// Subscribes to what is published from now on.
    pub fn subscribe(&self) -> Subscription {
        Subscription(self.0.subscribe())
    }
}

/// One subscriber's place in the stream.
#[derive(Debug)]
pub struct Subscription(Receiver<Event>);

impl Subscription {
    /// The next event; `None` when the daemon ends.
    pub async fn next(&mut self) -> Option<Event> {
        match self.0.recv().await {
            Ok(event) => Some(event),
            Err(RecvError::Lagged(missed)) => Some(Event::Lagged { missed }),
            Err(RecvError::Closed) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_slow_subscriber_is_told_what_it_missed() {
        let events = Events::default();
        events.publish(|| unreachable!("nobody listens"));
        let mut subscription = events.subscribe();
        for problems in 0..MAX_QUEUED_EVENTS + 10 {
            events.publish(|| Event::ConfigReloaded { problems });
        }
        assert_eq!(subscription.next().await, Some(Event::Lagged { missed: 10 }));
        assert_eq!(subscription.next().await, Some(Event::ConfigReloaded { problems: 10 }));
    }
}
