//! The stream: numbered events about items that are opened, added to and closed, one after the other.

use super::{
    object::{Status, response},
    part::{Part, Place},
};
use crate::strict::{
    answer::{Step, Usage},
    record::Recorded,
    seal::seal,
};
use serde_json::{Value, json};

/// The ids of a response and of its items.
///
/// They are made of all that was asked, so that no two answers of a conversation share one, whichever server gave them.
pub(super) struct Names {
    response: String,
    sealed: usize,
}

impl Names {
    /// The names in the response to `request`.
    pub(super) fn new(request: &Recorded) -> Self {
        // Without what seals begin with, so that nobody takes one for a seal.
        let digest = seal("response", &[&request.text]).split_off(8);
        let response = format!("{digest}{:04}", request.index);
        Self { response, sealed: 0 }
    }

    /// The id of the response.
    pub(super) fn response(&self) -> String {
        format!("resp_{}", self.response)
    }

    /// The id of an item with this prefix, the one of the output with this number.
    pub(super) fn item(&self, prefix: &str, index: usize) -> String {
        format!("{prefix}_{}{index:04}", self.response)
    }

    /// The id of the next item whose content is sealed.
    pub(super) fn sealed(&mut self) -> String {
        self.sealed += 1;
        format!("rs_{}s{:04}", self.response, self.sealed)
    }
}

/// A stream that is being written.
pub(super) struct Stream<'a> {
    request: &'a Recorded,
    pub(super) names: Names,
    /// Whether the response tells its id.
    id: bool,
    sequence: u64,
    steps: Vec<Step>,
    /// The items that are closed.
    output: Vec<Value>,
    open: Option<Open>,
}

/// The item that is being said.
struct Open {
    part: Part,
    id: String,
    /// What of it has been said.
    text: String,
}

impl<'a> Stream<'a> {
    pub(super) fn new(request: &'a Recorded, id: bool) -> Self {
        let names = Names::new(request);
        Self { request, names, id, sequence: 0, steps: Vec::new(), output: Vec::new(), open: None }
    }

    /// Says that the response has been begun.
    pub(super) fn begin(&mut self) {
        let response = self.response(Status::InProgress, None);
        self.send(json!({"type": "response.created", "response": response}));
        self.send(json!({"type": Status::InProgress.event(), "response": response}));
    }

    /// Adds `text` to the item that is open if it is of this kind, and to a new one otherwise.
    pub(super) fn say(&mut self, part: Part, text: &str) {
        if self.open.as_ref().is_none_or(|open| open.part != part) {
            self.open(part);
        }
        self.delta(text);
    }

    /// Closes what is open and opens an item.
    pub(super) fn open(&mut self, part: Part) {
        self.close("completed");
        let id = match &part {
            Part::Sealed { .. } => self.names.sealed(),
            _ => self.names.item(part.prefix(), self.output.len()),
        };
        let item = part.item(&id, "in_progress", "", &self.request.model);
        self.send(
            json!({"type": "response.output_item.added", "output_index": self.output.len(), "item": item}),
        );
        self.open = Some(Open { part, id, text: String::new() });
    }

    /// Adds to what is open. The part that it is added to begins with the first addition.
    pub(super) fn delta(&mut self, text: &str) {
        let Some(open) = &mut self.open else { return };
        let place = Place { item: &open.id, output: self.output.len() };
        let mut events = Vec::new();
        if open.text.is_empty() {
            events.extend(open.part.begun(&place));
        }
        events.push(open.part.delta(&place, text));
        open.text.push_str(text);
        events.into_iter().for_each(|event| self.send(event));
    }

    /// Adds to what is open without a word: the whole is told when it is closed.
    pub(super) fn add_silently(&mut self, text: &str) {
        if let Some(open) = &mut self.open {
            open.text.push_str(text);
        }
    }

    /// Closes what is open.
    pub(super) fn close(&mut self, status: &str) {
        let Some(open) = self.open.take() else { return };
        let place = Place { item: &open.id, output: self.output.len() };
        for event in open.part.ended(&place, &open.text) {
            self.send(event);
        }
        let item = open.part.item(&open.id, status, &open.text, &self.request.model);
        self.send(
            json!({"type": "response.output_item.done", "output_index": self.output.len(), "item": item}),
        );
        self.output.push(item);
    }

    /// Says how the response ended.
    pub(super) fn end(&mut self, status: Status<'_>, usage: Option<Usage>) {
        self.close(match status {
            Status::Incomplete(_) => "incomplete",
            Status::InProgress | Status::Completed => "completed",
        });
        let response = self.response(status, usage);
        self.send(json!({"type": status.event(), "response": response}));
    }

    /// Sends an event with the next number.
    pub(super) fn send(&mut self, mut event: Value) {
        event["sequence_number"] = json!(self.sequence);
        self.sequence += 1;
        self.step(Step::named(&event));
    }

    /// Takes a step as it is.
    pub(super) fn step(&mut self, step: Step) {
        self.steps.push(step);
    }

    /// All steps.
    pub(super) fn finish(self) -> Vec<Step> {
        self.steps
    }

    fn response(&self, status: Status<'_>, usage: Option<Usage>) -> Value {
        let mut response = response(self.request, status, &self.output, usage);
        if self.id {
            response.insert("id".to_owned(), json!(self.names.response()));
        }
        Value::Object(response)
    }
}
