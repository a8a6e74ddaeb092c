//! Requests that are not yet answered. A run may ask for its cancellation while its prompt is not yet accepted, and the
//! answers come in any order.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};

use hostler_core::protocol::Reply;
use hostler_shell::door::DoorError;

type Answer = Result<Reply, DoorError>;

/// The answers that are waited for.
#[derive(Default)]
pub(super) struct Replies(Vec<Pin<Box<dyn Future<Output = Answer>>>>);

impl Replies {
    /// Waits for one more.
    pub(super) fn expect(&mut self, reply: impl Future<Output = Answer> + 'static) {
        self.0.push(Box::pin(reply));
    }

    /// The next answer; never, while none is waited for.
    pub(super) async fn next(&mut self) -> Answer {
        poll_fn(|context| self.poll(context)).await
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Answer> {
        for at in 0..self.0.len() {
            if let Poll::Ready(answer) = self.0[at].as_mut().poll(context) {
                drop(self.0.remove(at));
                return Poll::Ready(answer);
            }
        }
        Poll::Pending
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use tokio::sync::oneshot;

    #[tokio::test]
    async fn answers_come_in_any_order_and_none_is_lost() {
        let mut replies = Replies::default();
        let (first, wait) = oneshot::channel();
        replies.expect(async { wait.await.unwrap() });
        replies.expect(async { Ok(Reply::Runs(Vec::new())) });
        assert_eq!(replies.next().await, Ok(Reply::Runs(Vec::new())));
        first.send(Ok(Reply::Sessions(Vec::new()))).unwrap();
        assert_eq!(replies.next().await, Ok(Reply::Sessions(Vec::new())));
    }
}
