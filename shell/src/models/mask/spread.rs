//! Takes secrets out of what an answer says. Each piece of it has been through a [`Sieve`] as it came; a server that says a
//! secret in several pieces is only found out once these are put together.

use bytes::Bytes;
use hostler_core::model::ModelEvent;

use super::Sieve;

/// Takes secrets out of the texts of an answer, wherever they are split.
#[derive(Debug)]
pub(in crate::models) struct Spread {
    sieve: Sieve,
    /// What the last piece of text belonged to.
    open: Option<(Kind, u32)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Text,
    Reasoning,
    Input,
}

impl Kind {
    fn event(self, block: u32, text: String) -> ModelEvent {
        match self {
            Self::Text => ModelEvent::Text { block, text },
            Self::Reasoning => ModelEvent::Reasoning { block, text },
            Self::Input => ModelEvent::Input { block, text },
        }
    }
}

impl Spread {
    pub(super) fn new(sieve: Sieve) -> Self {
        Self { sieve, open: None }
    }

    /// What can be passed on with this event.
    pub(in crate::models) fn push(&mut self, event: ModelEvent) -> Vec<ModelEvent> {
        let (kind, block, text) = match event {
            ModelEvent::Text { block, text } => (Kind::Text, block, text),
            ModelEvent::Reasoning { block, text } => (Kind::Reasoning, block, text),
            ModelEvent::Input { block, text } => (Kind::Input, block, text),
            // They may come between any two pieces.
            ModelEvent::Usage(_) | ModelEvent::Connected => return vec![event],
            ModelEvent::Opaque { .. }
            | ModelEvent::Call { .. }
            | ModelEvent::Ending(_)
            | ModelEvent::Finished(_)
            | ModelEvent::Failed(_) => return self.rest().into_iter().chain([event]).collect(),
        };
        let before = if self.open == Some((kind, block)) { None } else { self.rest() };
        self.open = Some((kind, block));
        let is_empty = text.is_empty();
        let said = passed(&self.sieve.push(Bytes::from(text)));
        // What is held back whole says nothing yet.
        let event = (is_empty || !said.is_empty()).then(|| kind.event(block, said));
        before.into_iter().chain(event).collect()
    }

    /// What was held back of the text that is over.
    fn rest(&mut self) -> Option<ModelEvent> {
        let (kind, block) = self.open.take()?;
        let held = self.sieve.rest();
        (!held.is_empty()).then(|| kind.event(block, passed(&held)))
    }
}

fn passed(bytes: &Bytes) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use hostler_core::config::Config;
    use hostler_core::config::merge::merge;
    use hostler_core::config::typed::{Secret, defaults};
    use hostler_core::model::{FinishReason, join_adjacent};
    use proptest::prelude::*;

    use super::super::Mask;
    use super::*;

    const KEY: &str = "sk-4711-that-nobody-may-see";

    fn through(events: Vec<ModelEvent>) -> Vec<ModelEvent> {
        let config = Config::from(&merge(&[defaults()])).unwrap();
        let mut spread = Mask::new(&config.providers["openai"], &[Secret(KEY.to_owned())]).spread();
        let passed = events.into_iter().flat_map(|event| spread.push(event)).collect();
        join_adjacent(passed)
    }

    fn text(block: u32, text: &str) -> ModelEvent {
        ModelEvent::Text { block, text: text.to_owned() }
    }

    #[test]
    fn a_secret_in_several_pieces_is_taken_out_of_each_kind_of_text() {
        let end = || ModelEvent::Finished(FinishReason::Stop);
        let usage = || ModelEvent::Usage(Default::default());
        let (one, two) = KEY.split_at(9);
        let events = vec![text(0, "the key: "), text(0, one), usage(), text(0, two), text(0, "!"), end()];
        assert_eq!(through(events), [text(0, "the key: "), usage(), text(0, "[key]!"), end()]);
        let said =
            |of: fn(u32, String) -> ModelEvent| vec![of(3, one.to_owned()), of(3, two.to_owned()), end()];
        let reasoning = |block, text| ModelEvent::Reasoning { block, text };
        let input = |block, text| ModelEvent::Input { block, text };
        assert_eq!(through(said(reasoning)), [reasoning(3, "[key]".to_owned()), end()]);
        assert_eq!(through(said(input)), [input(3, "[key]".to_owned()), end()]);
    }

    #[test]
    fn what_only_begins_like_a_secret_comes_before_what_follows_it() {
        let call = || ModelEvent::Call { block: 1, id: "a".to_owned(), name: "ls".to_owned() };
        let events = vec![text(0, "desk"), call(), text(2, "s"), text(3, "k-4711")];
        assert_eq!(through(events), [text(0, "desk"), call(), text(2, "s"), text(3, "k-4711")]);
    }

    proptest! {
        #[test]
        fn wherever_a_text_is_split_it_says_the_same_without_its_secrets(
            parts in proptest::collection::vec(
                proptest::sample::select(vec![KEY, "sk-4711-", "s", "ö", "and so on "]), 0..8,
            ),
            sizes in proptest::collection::vec(1..9_usize, 1..8),
        ) {
            let whole = parts.concat() + ".";
            let letters: Vec<_> = whole.chars().collect();
            let (mut events, mut at) = (Vec::new(), 0);
            for size in sizes.iter().cycle() {
                if at >= letters.len() {
                    break;
                }
                let until = letters.len().min(at + size);
                events.push(text(0, &letters[at..until].iter().collect::<String>()));
                at = until;
            }
            events.push(ModelEvent::Finished(FinishReason::Stop));
            let expected = [text(0, &whole.replace(KEY, "[key]")), ModelEvent::Finished(FinishReason::Stop)];
            prop_assert_eq!(through(events), expected);
        }
    }
}
