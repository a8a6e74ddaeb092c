//! Texts that come in pieces: what is hidden is the whole, and each piece gets its part of what stands for that.

use alloc::collections::BTreeMap;
use alloc::string::String;

use super::json_text;
use super::placeholder::Placeholders;
use crate::ids::{AttemptId, SessionId};
use crate::model::ModelEvent;

/// The texts that are streamed in a record, by session, attempt and block.
#[derive(Debug, Default)]
pub(super) struct StreamTexts {
    texts: BTreeMap<(SessionId, AttemptId, u32), StreamText>,
    /// Whether they are complete and hidden.
    hidden: bool,
}

#[derive(Debug, Default)]
struct StreamText {
    text: String,
    /// Whether it is JSON: the arguments of a call.
    is_json: bool,
    /// How many bytes of what stands for it have been given out.
    given: usize,
}

impl StreamTexts {
    /// Replaces what an event adds to a block; as long as texts are being gathered it only notes it. Returns whether it
    /// adds to one.
    pub(super) fn event(&mut self, session: &SessionId, attempt: AttemptId, event: &mut ModelEvent) -> bool {
        let (block, is_json, text) = match event {
            ModelEvent::Text { block, text } | ModelEvent::Reasoning { block, text } => (*block, false, text),
            ModelEvent::Input { block, text } => (*block, true, text),
            ModelEvent::Connected
            | ModelEvent::Opaque { .. }
            | ModelEvent::Call { .. }
            | ModelEvent::Usage(_)
            | ModelEvent::Ending(_)
            | ModelEvent::Finished(_)
            | ModelEvent::Failed(_) => return false,
        };
        self.piece((session.clone(), attempt, block), is_json, text);
        true
    }

    /// The same for a piece that is already part of the state in which a record begins.
    pub(super) fn piece(&mut self, place: (SessionId, AttemptId, u32), is_json: bool, text: &mut String) {
        let whole = self.texts.entry(place).or_default();
        if !self.hidden {
            whole.text.push_str(text);
            whole.is_json |= is_json;
            return;
        }
        let end = whole.given + text.len();
        *text = whole.text.get(whole.given..end).map(String::from).unwrap_or_default();
        whole.given = end;
    }

    /// The texts are complete.
    pub(super) fn hide(&mut self, placeholders: &mut Placeholders) {
        self.hidden = true;
        for whole in self.texts.values_mut() {
            whole.text = if whole.is_json {
                json_text::hide(&whole.text, placeholders)
            } else {
                placeholders.hide(&whole.text)
            };
        }
    }
}
