//! Brings a story to its end: whoever waits is answered, time passes, and then everything must be over.

use hostler_core::content::ToolStatus;
use hostler_core::ids::{ClientId, SessionId};
use hostler_core::model::{FinishReason, ModelEvent};
use hostler_core::protocol::{Answer, AskId, Command};
use hostler_core::session::{self, Verdict};
use hostler_core::workspace::Input;

use super::stage::{Stage, session};
use crate::rig::words;

/// How many rounds of answers everything may take to be over.
const ROUNDS: usize = 2_000;

impl Stage {
    /// Opens each session once more, answers whatever is asked, and checks that all has ended.
    pub(super) fn close(&mut self) {
        for number in 0..2 {
            let prompt = words::run(&format!("last-{number}"), "The last one.");
            self.rig.asks_for(words::submit(&session(number), prompt));
        }
        for _ in 0..ROUNDS {
            let waits = self.rig.deadline().is_some() || !self.asked().is_empty();
            if self.rig.flights.is_empty() && !waits {
                return self.all_is_over();
            }
            self.answer_all();
        }
        panic!("it does not come to an end");
    }

    fn all_is_over(&self) {
        assert!(self.rig.is_idle(), "a session is in use and nothing is under way");
        self.rig.everything_has_ended();
        for number in 0..2 {
            let durable = self.rig.folded(&session(number)).expect("its last prompt was accepted");
            assert_eq!(
                durable,
                *self.rig.durable(&session(number)),
                "the log amounts to what it amounted to"
            );
            assert!(self.rig.ended(&format!("last-{number}")).is_some());
        }
    }

    fn answer_all(&mut self) {
        let mut answers = self.answers();
        answers.extend(self.permissions());
        if answers.is_empty() && self.rig.flights.own_words.is_empty() {
            self.rig.tick();
        } else {
            self.rig.batch(answers);
        }
    }

    /// Somebody answers all that is asked.
    fn permissions(&mut self) -> Vec<Input> {
        let client = ClientId::new("last");
        let answer =
            |(session, ask)| Command::Answer { session, ask, answer: Answer::Once, client: client.clone() };
        self.asked().into_iter().map(answer).map(|command| self.rig.request(command).1).collect()
    }

    fn asked(&self) -> Vec<(SessionId, AskId)> {
        let open = [session(0), session(1)].into_iter().filter(|session| self.rig.is_open(session));
        let asked = open.flat_map(|session| {
            let asks = self.rig.durable(&session).asks.iter().map(|asked| asked.id.clone());
            asks.map(move |ask| (session.clone(), ask)).collect::<Vec<_>>()
        });
        asked.collect()
    }

    fn answers(&self) -> Vec<Input> {
        use session::Input as Said;
        let flights = &self.rig.flights;
        let opens = flights.opens.iter().map(|session| self.rig.opening(session));
        let prepares = flights.prepares.iter().map(|(session, prompt)| {
            let result = Box::new(Ok(words::preparation()));
            words::to(session, Said::Prepared { prompt: prompt.clone(), result })
        });
        let calls = flights.calls.iter().map(|(session, attempt)| {
            let event = ModelEvent::Finished(FinishReason::Length);
            words::to(session, Said::Model { attempt: *attempt, event })
        });
        let inspections = flights.inspections.keys().map(|(session, call)| {
            words::to(session, Said::Inspected { call: *call, intent: words::reading(true) })
        });
        let tools = flights.tools.keys().map(|(session, call)| {
            let outcome = words::outcome(ToolStatus::Ok, "done");
            words::to(session, Said::ToolFinished { call: *call, outcome })
        });
        let titles = flights.titles.iter().map(|session| {
            words::to(session, Said::Title { event: ModelEvent::Finished(FinishReason::Stop) })
        });
        let checks = flights.checks.iter().map(|(session, step)| {
            words::to(session, Said::Checked { step: *step, verdict: Verdict::Satisfied })
        });
        opens
            .chain(titles)
            .chain(checks)
            .chain(prepares)
            .chain(calls)
            .chain(inspections)
            .chain(tools)
            .collect()
    }
}
