//! Tool calls: how one call is spelt in a stream, well or badly.

use crate::strict::sse;
use serde_json::{Value, json};

/// One tool call of an answer.
#[derive(Clone, Debug)]
pub struct Call {
    id: Option<String>,
    name: String,
    arguments: String,
    index: Option<usize>,
    piece: Option<usize>,
    repeat_head: bool,
}

impl Call {
    /// A call with JSON arguments, streamed in one delta after the one that opens it.
    pub fn new(id: &str, name: &str, arguments: Value) -> Self {
        Self::raw(id, name, &arguments.to_string())
    }

    /// A call whose arguments are this text, which need not be JSON.
    pub fn raw(id: &str, name: &str, arguments: &str) -> Self {
        let arguments = arguments.to_owned();
        let piece = Some(usize::MAX);
        Self {
            id: Some(id.to_owned()),
            name: name.to_owned(),
            arguments,
            index: None,
            piece,
            repeat_head: false,
        }
    }

    /// Streams the arguments in pieces of at most `size` bytes.
    pub fn pieces(self, size: usize) -> Self {
        Self { piece: Some(size), ..self }
    }

    /// Sends the whole call in one delta, as some providers do.
    pub fn whole(self) -> Self {
        Self { piece: None, ..self }
    }

    /// Leaves the call's id out.
    pub fn no_id(self) -> Self {
        Self { id: None, ..self }
    }

    /// Claims this index rather than its place among the calls.
    pub fn index(self, index: usize) -> Self {
        Self { index: Some(index), ..self }
    }

    /// Repeats the id and the name in every delta, as some providers do.
    pub fn repeat_head(self) -> Self {
        Self { repeat_head: true, ..self }
    }

    /// The deltas that spell the call, which is the `place`th of its answer.
    pub(super) fn deltas(&self, place: usize) -> Vec<Value> {
        let index = self.index.unwrap_or(place);
        let Some(size) = self.piece else { return vec![self.head(index, &self.arguments)] };
        let mut deltas = vec![self.head(index, "")];
        for piece in sse::pieces(&self.arguments, size) {
            let rest = json!({"index": index, "function": {"arguments": piece}});
            deltas.push(if self.repeat_head { self.head(index, piece) } else { rest });
        }
        deltas
    }

    fn head(&self, index: usize, arguments: &str) -> Value {
        let function = json!({"name": self.name, "arguments": arguments});
        match &self.id {
            Some(id) => json!({"index": index, "id": id, "type": "function", "function": function}),
            None => json!({"index": index, "type": "function", "function": function}),
        }
    }
}
