//! Rendering: from the pieces of an answer to the events of a stream.

use super::{failures, object::Status, part::Part, seals, stream::Stream};
use crate::strict::{
    answer::{Answer, Call, Piece, Step},
    record::Recorded,
};

/// The steps that answer `request`.
pub(super) fn steps(answer: &Answer, request: &Recorded) -> Vec<Step> {
    let mut stream = Stream::new(request, answer.id);
    if answer.role {
        stream.begin();
    }
    let encrypted = seals::wanted(&request.body);
    for piece in &answer.pieces {
        match piece {
            Piece::Text(text) => stream.say(Part::Text, text),
            Piece::Refusal(text) => stream.say(Part::Refusal, text),
            Piece::Reasoning(text) => stream.say(Part::Thought, text),
            Piece::Sealed(text) => {
                stream.open(Part::Sealed { encrypted });
                if !text.is_empty() {
                    stream.delta(text);
                }
            }
            Piece::Call(call) => self::call(&mut stream, call),
            Piece::Error(message) => stream.send(failures::event(message)),
            Piece::Event(data) => stream.step(Step::named(data)),
            Piece::Raw(text) => stream.step(Step::Send(text.clone())),
            Piece::Step(step) => stream.step(step.clone()),
        }
    }
    if answer.tail {
        stream.end(status(answer.finish_reason()), answer.usage);
    }
    stream.finish()
}

fn call(stream: &mut Stream<'_>, call: &Call) {
    stream.open(Part::Call { id: call.id.clone(), name: call.name.clone() });
    match call.argument_pieces() {
        Some(pieces) => pieces.into_iter().for_each(|piece| stream.delta(piece)),
        None => stream.add_silently(&call.arguments),
    }
}

/// How a response ends that ends for this reason.
fn status(reason: &str) -> Status<'_> {
    match reason {
        "stop" | "tool_calls" => Status::Completed,
        "length" => Status::Incomplete("max_output_tokens"),
        other => Status::Incomplete(other),
    }
}
