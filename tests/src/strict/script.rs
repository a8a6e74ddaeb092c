//! The script: which answers a provider gives, in which order, and which keys and models it knows.
//!
//! Only a request that passes every check takes an answer, so a refused request leaves the script where it was.

use super::{answer::Answer, lock, protocol::Rules, record::Recorded, reject::Rejection};
use std::{
    collections::VecDeque,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Mutex,
};

type Decide = Box<dyn FnMut(&Recorded) -> Answer + Send>;

/// What a provider answers.
#[derive(Default)]
pub struct Script {
    pub(super) rules: Rules,
    pub(super) models_answer: Option<Answer>,
    pub(super) source: Source,
}

impl Script {
    /// One answer for each accepted request, in order; a request after the last is answered with status 500.
    pub fn new(answers: impl IntoIterator<Item = Answer>) -> Self {
        let queue = answers.into_iter().collect();
        Self { source: Source { queue, decide: None }, ..Self::default() }
    }

    /// An answer decided on each accepted request, one request at a time.
    ///
    /// The closure must not wait for another request: hold an answer at a [`Gate`](super::Gate) instead. It may
    /// assert: a panic is answered with status 500 and recorded as a rejection.
    pub fn each(decide: impl FnMut(&Recorded) -> Answer + Send + 'static) -> Self {
        Self::new([]).then(decide)
    }

    /// The same answer to every accepted request.
    pub fn always(answer: Answer) -> Self {
        Self::each(move |_| answer.clone())
    }

    /// Decides as [`Script::each`] does once the listed answers are used up.
    pub fn then(mut self, decide: impl FnMut(&Recorded) -> Answer + Send + 'static) -> Self {
        self.source.decide = Some(Box::new(decide));
        self
    }

    /// Accepts only this API key; any other is answered with status 401.
    pub fn key(mut self, key: &str) -> Self {
        self.rules.key = Some(key.to_owned());
        self
    }

    /// Knows only these models; any other is answered with status 404.
    pub fn models<S: Into<String>>(mut self, models: impl IntoIterator<Item = S>) -> Self {
        self.rules.models = Some(models.into_iter().map(Into::into).collect());
        self
    }

    /// Accepts these fields beyond the reference, in the request and in its messages.
    pub fn allow<S: Into<String>>(mut self, fields: impl IntoIterator<Item = S>) -> Self {
        self.rules.extra.extend(fields.into_iter().map(Into::into));
        self
    }

    /// Answers requests for the list of models with this answer rather than with the list of models.
    pub fn models_answer(mut self, answer: Answer) -> Self {
        self.models_answer = Some(answer);
        self
    }
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Script")
            .field("rules", &self.rules)
            .field("queue", &self.source.queue)
            .finish_non_exhaustive()
    }
}

impl From<Answer> for Script {
    fn from(answer: Answer) -> Self {
        Self::new([answer])
    }
}

impl From<Vec<Answer>> for Script {
    fn from(answers: Vec<Answer>) -> Self {
        Self::new(answers)
    }
}

impl<const N: usize> From<[Answer; N]> for Script {
    fn from(answers: [Answer; N]) -> Self {
        Self::new(answers)
    }
}

/// Where the next answer comes from: the list first, then the closure.
#[derive(Default)]
pub(super) struct Source {
    queue: VecDeque<Answer>,
    decide: Option<Decide>,
}

impl Source {
    /// The answer to `request`.
    pub(super) fn next(&mut self, request: &Recorded) -> Result<Answer, Rejection> {
        if let Some(answer) = self.queue.pop_front() {
            return Ok(answer);
        }
        let Some(decide) = &mut self.decide else {
            return Err(Rejection::new(500, "The script has no answer left for this request."));
        };
        catch_unwind(AssertUnwindSafe(|| decide(request)))
            .map_err(|panic| Rejection::new(500, format!("The script panicked: {}", panic_text(&*panic))))
    }

    /// Adds an answer to the end of the list.
    pub(super) fn push(source: &Mutex<Self>, answer: Answer) {
        lock(source).queue.push_back(answer);
    }

    /// How many listed answers are left.
    pub(super) fn remaining(source: &Mutex<Self>) -> usize {
        lock(source).queue.len()
    }
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}
