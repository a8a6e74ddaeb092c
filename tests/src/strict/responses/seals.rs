//! Seals: the encrypted content of reasoning, which stands in the place of thoughts that only the provider can read.
//!
//! A seal is made of all that belongs to the thought, so that one that comes back changed in whatever way is known
//! without anything having been kept. The real provider tells only that the seal itself is unchanged.

use super::stream::Names;
use crate::strict::{
    answer::{Answer, Piece},
    record::Recorded,
    reject::{Check, Rejection},
    seal::{self, Issued},
};
use serde_json::{Value, json};

const ENCRYPTED: &str = "reasoning.encrypted_content";

/// A thought, by all that its seal is made of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Thought<'a> {
    pub(super) model: &'a str,
    /// The id of the item.
    pub(super) id: &'a str,
    /// The texts of its summary.
    pub(super) summary: &'a [&'a str],
}

impl Thought<'_> {
    /// What it is sealed with.
    pub(super) fn seal(&self) -> String {
        seal::seal(self.model, &[&[self.id], self.summary].concat())
    }

    /// Checks that `given` is the seal of this thought.
    pub(super) fn verify(&self, given: &str) -> Check {
        if given == self.seal() {
            return Ok(());
        }
        let message = format!(
            "The encrypted content for item {} could not be verified. Reason: Encrypted content could not be decrypted \
             or parsed.",
            self.id
        );
        Err(Rejection::new(400, message).code("invalid_encrypted_content"))
    }
}

/// Whether a request wants thoughts sealed; otherwise nobody gets to see them.
pub(super) fn wanted(body: &Value) -> bool {
    body["include"].as_array().is_some_and(|names| names.iter().any(|name| name == ENCRYPTED))
}

/// The sealed thoughts of `answer`, by their items' ids. One that nothing follows belongs to nothing and cannot go back.
pub(super) fn issued(answer: &Answer, request: &Recorded) -> Issued {
    let calls = answer.calls().filter_map(|call| call.id.clone()).collect();
    if !wanted(&request.body) {
        return Issued::new(request, calls, Vec::new());
    }
    let mut names = Names::new(request);
    let (mut seals, mut pending) = (Vec::new(), Vec::new());
    for piece in &answer.pieces {
        match piece {
            Piece::Sealed(_) => pending.push(json!(names.sealed())),
            Piece::Text(_) | Piece::Refusal(_) | Piece::Call(_) => seals.append(&mut pending),
            Piece::Reasoning(_) | Piece::Error(_) | Piece::Event(_) | Piece::Raw(_) | Piece::Step(_) => {}
        }
    }
    Issued::new(request, calls, seals)
}

/// Checks that the thoughts behind calls come back, which the real provider leaves to its clients. They may be given up,
/// as they must be when they are refused; but then all that came before as well, and never a part of an answer's.
pub(super) fn check(request: &Recorded, issued: &[Issued]) -> Check {
    let items = request.body["input"].as_array().map_or(&[][..], Vec::as_slice);
    let of = |kind: &'static str| items.iter().filter(move |item| item["type"] == kind);
    let thoughts: Vec<_> = of("reasoning").map(|item| &item["id"]).collect();
    let mut any = false;
    for call in of("function_call").filter_map(|item| item["call_id"].as_str()) {
        // An answer that broke off may have been given again; one that came back whole is enough.
        let came_back = seal::of_calls(issued, request, &[call]).into_iter().map(|answer| {
            let count = answer.seals.iter().filter(|id| thoughts.contains(id)).count();
            (count == answer.seals.len(), count > 0)
        });
        let (whole, some) = came_back.fold((None, false), |(whole, some), (is_whole, is_some)| {
            (Some(whole == Some(true) || is_whole), some || is_some)
        });
        if whole == Some(false) && (any || some) {
            let message =
                format!("the reasoning behind the call '{call}' is missing, and other reasoning is not.");
            return Err(Rejection::house("input", &message));
        }
        any |= some;
    }
    Ok(())
}
