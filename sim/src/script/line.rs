//! The words of a line, one after the other, and the steps that they become.

use hostler_core::ids::PromptId;

use super::expect::Expect;
use crate::plan::What;
use crate::world::seen::{About, Whom};
use crate::world::staged::{Says, StagedAnswer, StagedPreparation, StagedTool};

/// One line of a script.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// An option is set.
    Set(String, u64),
    /// The next model call answers so.
    Answer(StagedAnswer),
    /// The next tool does this.
    Tool(StagedTool),
    /// The next preparation comes to this.
    Prepare(StagedPreparation),
    /// The next look at a call takes so long, or never ends.
    Look(Option<u64>),
    /// Somebody does something.
    Do(What),
    /// Somebody answers a question.
    Say(Says),
    /// The sub-agent of that number is cancelled through a process.
    CancelAgent(u64, u64),
    /// Nothing happens in a process.
    Hold(usize),
    /// Things happen in it again.
    Release(usize),
    /// Things happen until something is so.
    Until(Until),
    /// Things happen for so long.
    Wait(u64),
    /// Things happen until nothing is under way.
    Drain,
    /// Something must be so.
    Expect(Expect),
}

/// What is waited for.
#[derive(Clone, Debug)]
pub(super) enum Until {
    /// A record is in the log, and what follows from it has begun.
    Logged(About),
    /// A record is decided and not committed.
    Decided(About),
    /// A record is committed, and nothing that follows from it has begun.
    Committed(About),
    /// An input of that kind has reached a process and is not handled.
    Waiting(String),
}

/// The words that have not been read.
pub(super) struct Line<'a> {
    words: &'a [String],
}

impl<'a> Line<'a> {
    pub(super) fn new(words: &'a [String]) -> Self {
        Self { words }
    }

    pub(super) fn next(&mut self) -> Option<&'a str> {
        let (first, rest) = self.words.split_first()?;
        self.words = rest;
        Some(first)
    }

    pub(super) fn word(&mut self) -> Result<&'a str, String> {
        self.next().ok_or_else(|| "something is missing at the end".to_owned())
    }

    pub(super) fn number(&mut self) -> Result<u64, String> {
        let word = self.word()?;
        word.parse().map_err(|_| format!("{word:?} is not a number"))
    }

    /// Passes over a word if it comes next.
    pub(super) fn skip(&mut self, word: &str) -> bool {
        let comes = self.words.first().is_some_and(|first| first == word);
        if comes {
            self.next();
        }
        comes
    }

    /// The place of the next word in a list.
    pub(super) fn one_of(&mut self, list: &[&str]) -> Result<u64, String> {
        let word = self.word()?;
        let place = list.iter().position(|known| *known == word);
        place.map(|at| at as u64).ok_or_else(|| format!("{word:?} is none of: {}", list.join(", ")))
    }

    /// The number of a prompt such as `p3`.
    pub(super) fn prompt(&mut self) -> Result<u64, String> {
        let word = self.word()?;
        let number = word.strip_prefix('p').and_then(|number| number.parse().ok());
        number.ok_or_else(|| format!("{word:?} is not a prompt"))
    }

    /// The number of a sub-agent such as `a1`, if one comes next.
    pub(super) fn maybe_agent(&mut self) -> Option<u64> {
        let number = self.words.first()?.strip_prefix('a')?.parse().ok()?;
        self.next();
        Some(number)
    }

    /// A prompt or a sub-agent, if one comes next.
    pub(super) fn maybe_whom(&mut self) -> Option<Whom> {
        if let Some(agent) = self.maybe_agent() {
            return Some(Whom::Agent(agent));
        }
        let before = self.words;
        let prompt = self.prompt().ok();
        if prompt.is_none() {
            self.words = before;
        }
        prompt.map(|number| Whom::Prompt(PromptId::new(format!("p{number}"))))
    }

    /// All that is left, as one text.
    pub(super) fn rest(&mut self) -> String {
        std::mem::take(&mut self.words).join(" ")
    }

    /// Nothing must be left.
    pub(super) fn end(&self) -> Result<(), String> {
        if self.words.is_empty() { Ok(()) } else { Err(format!("{:?} is too much", self.words.join(" "))) }
    }
}
