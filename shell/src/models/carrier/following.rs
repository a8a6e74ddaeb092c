//! Follows an answer as it comes.

use std::task::Poll;

use hostler_core::model::{CallError, CallErrorKind, ModelEvent, join_adjacent};
use hostler_core::provider::stream::Decoder;

use super::super::Sink;
use super::super::mask::{Mask, Sieve};
use super::client::describe;
use super::error;

/// How many bytes of a stream are taken in before what they say is passed on.
const READ_BYTES: usize = 64 << 10;

/// How often the task that reads a connection is given a chance to bring more.
const CHANCES: u32 = 2;

/// Passes the stream on until the answer is complete, broken or over.
pub(super) async fn follow(
    mut response: reqwest::Response,
    mut decoder: Box<dyn Decoder>,
    sink: &Sink,
    mask: &Mask,
) -> Result<(), CallError> {
    let (mut sieve, mut spread) = (mask.sieve(), mask.spread());
    loop {
        let (events, broken) = read(&mut response, &mut sieve, &mut *decoder).await;
        let events = events.into_iter().flat_map(|event| spread.push(event)).collect();
        for event in join_adjacent(events) {
            let last = matches!(event, ModelEvent::Finished(_) | ModelEvent::Failed(_));
            let event = match (event, &broken) {
                (ModelEvent::Failed(failed), Some(why)) if failed.kind == CallErrorKind::Truncated => {
                    ModelEvent::Failed(error(CallErrorKind::Truncated, why))
                }
                (event, _) => event,
            };
            sink.say(mask.event(event)).await;
            if last {
                return Ok(());
            }
        }
    }
}

/// Waits for more of the stream and takes in all that has come, within limits; also says why there will be no more, if
/// the connection broke.
async fn read(
    response: &mut reqwest::Response,
    sieve: &mut Sieve,
    decoder: &mut dyn Decoder,
) -> (Vec<ModelEvent>, Option<String>) {
    let mut events = Vec::new();
    let mut next = Some(response.chunk().await);
    let mut bytes = 0;
    while let Some(chunk) = next {
        match chunk {
            Ok(Some(chunk)) => {
                bytes += chunk.len();
                decoder.push(&sieve.push(chunk), &mut events);
            }
            Ok(None) => {
                decoder.push(&sieve.rest(), &mut events);
                decoder.end(&mut events);
                break;
            }
            Err(error) => {
                decoder.push(&sieve.rest(), &mut events);
                decoder.end(&mut events);
                return (events, Some(describe(error)));
            }
        }
        next = if bytes < READ_BYTES { at_hand(response).await } else { None };
    }
    (events, None)
}

/// The next chunk if it has come already. The connection is read by a task of its own, a chunk at a time, so that task
/// is given a chance.
async fn at_hand(response: &mut reqwest::Response) -> Option<reqwest::Result<Option<bytes::Bytes>>> {
    for _ in 0..CHANCES {
        let chunk = tokio::select! {
            biased;
            chunk = response.chunk() => Some(chunk),
            () = others_first() => None,
        };
        if chunk.is_some() {
            return chunk;
        }
    }
    None
}

/// Lets the tasks run that are ready. Unlike tokio's own yielding it does not look for news from the system first, which
/// would cost more than all the rest.
async fn others_first() {
    let mut had_their_turn = false;
    std::future::poll_fn(|context| {
        if had_their_turn {
            return Poll::Ready(());
        }
        had_their_turn = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
