//! What the rehearsal model does, moment by moment, and how an answer is put together from it.
//!
//! Knows blocks and pieces, and not what is said: that is in `play` for scenarios and in `tour`.

use alloc::string::String;
use alloc::vec::Vec;

use crate::content::Usage;
use crate::model::{CallError, FinishReason, ModelEvent};

/// One moment of a rehearsed answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Cue {
    /// Let that many milliseconds pass.
    Wait(u64),
    /// Say that.
    Say(ModelEvent),
    /// Say nothing more, for ever.
    Hang,
}

/// What is said aloud, and what is thought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Voice {
    Text,
    Reasoning,
}

/// How long the tour waits between two pieces, in milliseconds.
const PAUSE: u64 = 12;

/// Into how many pieces the tour cuts a text at most, so that a long one does not take long.
const PIECES: usize = 80;

/// Puts an answer together.
pub(super) struct Teller {
    cues: Vec<Cue>,
    blocks: u32,
    open: Option<(Voice, u32)>,
    calls: u32,
}

impl Teller {
    /// An answer that has been begun.
    pub(super) fn new() -> Self {
        Self { cues: Vec::from([Cue::Say(ModelEvent::Connected)]), blocks: 0, open: None, calls: 0 }
    }

    /// Says a piece; it goes on with the block before if that is of the same kind.
    pub(super) fn say(&mut self, voice: Voice, piece: &str) {
        let block = match self.open {
            Some((open, block)) if open == voice => block,
            _ => self.next_block(),
        };
        self.open = Some((voice, block));
        let text = String::from(piece);
        self.event(match voice {
            Voice::Text => ModelEvent::Text { block, text },
            Voice::Reasoning => ModelEvent::Reasoning { block, text },
        });
    }

    /// Says a text in at most that many pieces of about the same size.
    pub(super) fn pieces(&mut self, voice: Voice, text: &str, pieces: usize) {
        let size = text.chars().count().div_ceil(pieces.max(1)).max(1);
        let mut rest = text;
        while !rest.is_empty() {
            let end = rest.char_indices().nth(size).map_or(rest.len(), |(at, _)| at);
            self.say(voice, &rest[..end]);
            rest = &rest[end..];
        }
    }

    /// Says a text word by word with little waits, as a model would.
    pub(super) fn words(&mut self, voice: Voice, text: &str) {
        let words: Vec<&str> = text.split_inclusive(' ').collect();
        for piece in words.chunks(words.len().div_ceil(PIECES).max(1)) {
            self.say(voice, &piece.concat());
            self.wait(PAUSE);
        }
    }

    /// Calls a tool.
    pub(super) fn call(&mut self, id: String, name: &str, input: &str) {
        let block = self.next_block();
        self.open = None;
        self.calls += 1;
        self.event(ModelEvent::Call { block, id, name: name.into() });
        if !input.is_empty() {
            self.event(ModelEvent::Input { block, text: input.into() });
        }
    }

    /// How many tools it has called so far.
    pub(super) fn calls(&self) -> u32 {
        self.calls
    }

    /// Lets time pass.
    pub(super) fn wait(&mut self, millis: u64) {
        self.cues.push(Cue::Wait(millis));
    }

    /// Ends the answer for that reason; without one for the reason that its calls give.
    pub(super) fn finish(mut self, usage: Usage, reason: Option<FinishReason>) -> Vec<Cue> {
        let derived = if self.calls > 0 { FinishReason::ToolCalls } else { FinishReason::Stop };
        self.event(ModelEvent::Usage(usage));
        self.event(ModelEvent::Finished(reason.unwrap_or(derived)));
        self.cues
    }

    /// Ends the answer with a failure.
    pub(super) fn fail(mut self, error: CallError) -> Vec<Cue> {
        self.event(ModelEvent::Failed(error));
        self.cues
    }

    /// Ends the answer with silence.
    pub(super) fn hang(mut self) -> Vec<Cue> {
        self.cues.push(Cue::Hang);
        self.cues
    }

    fn event(&mut self, event: ModelEvent) {
        self.cues.push(Cue::Say(event));
    }

    fn next_block(&mut self) -> u32 {
        let block = self.blocks;
        self.blocks += 1;
        block
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A cue in a few characters.
    pub(crate) fn show(cue: &Cue) -> String {
        match cue {
            Cue::Wait(millis) => format!("wait {millis}"),
            Cue::Hang => "hang".into(),
            Cue::Say(ModelEvent::Text { block, text }) => format!("{block} text {text}"),
            Cue::Say(ModelEvent::Reasoning { block, text }) => format!("{block} thought {text}"),
            Cue::Say(ModelEvent::Call { block, id, name }) => format!("{block} call {name} {id}"),
            Cue::Say(ModelEvent::Input { block, text }) => format!("{block} input {text}"),
            Cue::Say(ModelEvent::Usage(usage)) => format!("usage {} {}", usage.input, usage.output),
            Cue::Say(ModelEvent::Failed(error)) => format!("failed {:?} {}", error.kind, error.message),
            Cue::Say(other) => format!("{other:?}"),
        }
    }

    fn check(text: &str, pieces: usize, expected: &[&str]) {
        let mut teller = Teller::new();
        teller.pieces(Voice::Text, text, pieces);
        let shown: Vec<_> = teller.cues[1..].iter().map(show).collect();
        assert_eq!(shown, expected, "{text:?} in {pieces}");
    }

    #[test]
    fn texts_are_cut_into_pieces() {
        check("abcd", 1, &["0 text abcd"]);
        check("abcde", 2, &["0 text abc", "0 text de"]);
        check("éà", 9, &["0 text é", "0 text à"]);
        check("", 3, &[]);
    }

    #[test]
    fn a_long_text_takes_no_longer_than_a_page() {
        let text = "word ".repeat(5000);
        let mut teller = Teller::new();
        teller.words(Voice::Text, &text);
        assert!(teller.cues.len() <= 1 + 2 * PIECES);
        let said =
            teller.cues.iter().map(show).filter_map(|cue| cue.strip_prefix("0 text ").map(String::from));
        assert_eq!(said.collect::<String>(), text);
    }
}
