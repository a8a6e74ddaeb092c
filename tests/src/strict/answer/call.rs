//! Tool calls: how one call is spelt in a stream, well or badly.

use crate::strict::sse;
use serde_json::Value;

/// One tool call of an answer.
#[derive(Clone, Debug)]
pub struct Call {
    pub(in crate::strict) id: Option<String>,
    pub(in crate::strict) name: String,
    pub(in crate::strict) arguments: String,
    pub(in crate::strict) index: Option<usize>,
    piece: Option<usize>,
    pub(in crate::strict) repeat_head: bool,
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

    /// Sends the whole call at once, as some providers do; Gemini always does.
    pub fn whole(self) -> Self {
        Self { piece: None, ..self }
    }

    /// Leaves the call's id out.
    pub fn no_id(self) -> Self {
        Self { id: None, ..self }
    }

    /// Claims this index rather than its place among the calls. In chat completions alone.
    pub fn index(self, index: usize) -> Self {
        Self { index: Some(index), ..self }
    }

    /// Repeats the id and the name in every delta, as some providers of chat completions do.
    pub fn repeat_head(self) -> Self {
        Self { repeat_head: true, ..self }
    }

    /// The arguments in the pieces in which they are streamed; nothing when the call comes whole.
    pub(in crate::strict) fn argument_pieces(&self) -> Option<Vec<&str>> {
        self.piece.map(|size| sse::pieces(&self.arguments, size))
    }
}
