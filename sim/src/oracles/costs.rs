//! What a run costs is what its models cost for what it used, those of its sub-agents too, and it goes on only as long as
//! that is less than it may cost. What it says of itself besides is counted: steps, requests and calls.

use std::collections::BTreeMap;

use hostler_core::content::{ToolStatus, Usage};
use hostler_core::ids::{PromptId, SessionId};
use hostler_core::machine::Entry;
use hostler_core::model::Prices;
use hostler_core::record::{Reason, Record, RunFinished, Totals, TurnOutcome};

use super::{Oracle, Seen};
use crate::sometimes;

/// What a run has come to so far, in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sum {
    cost: Option<u64>,
    steps: u32,
    attempts: u32,
    /// Calls that did what they were asked to, failed, were denied, and the rest.
    calls: [u32; 4],
    context: (u64, bool),
}

#[derive(Clone, Debug, Default)]
struct Session {
    prices: Option<Prices>,
    /// Those of the model that makes titles.
    small: Option<Prices>,
    /// What each open prompt's run may cost.
    limits: BTreeMap<PromptId, Option<u64>>,
    /// The prompt whose run it is.
    first: Option<PromptId>,
    sum: Sum,
    /// What the answer used whose step is not over.
    answer: Usage,
    summing: bool,
}

/// What the runs of all sessions have cost.
#[derive(Clone, Debug, Default)]
pub(super) struct Costs {
    sessions: BTreeMap<SessionId, Session>,
    /// What sub-agents that have ended cost.
    agents: BTreeMap<SessionId, Option<u64>>,
}

/// What that costs in micro-dollars, a part of one for a whole one.
fn cost(prices: Option<Prices>, usage: &Usage) -> Option<u64> {
    let Prices { mut input, mut output, mut cache_read, mut cache_write, long } = prices?;
    if let Some(long) = long.filter(|long| usage.input + usage.cache_read + usage.cache_write > long.above) {
        (input, output, cache_read, cache_write) =
            (long.input, long.output, long.cache_read, long.cache_write);
    }
    let sum = usage.input * input
        + usage.output * output
        + usage.cache_read * cache_read
        + usage.cache_write * cache_write;
    Some(sum.div_ceil(1_000_000))
}

/// The amounts of money in a sentence, in micro-dollars.
fn amounts(text: &str) -> Vec<u64> {
    let number = |word: &str| {
        let (whole, part) = word.trim_end_matches([';', ',']).split_once('.')?;
        let fits = part.len() >= 2 && part.len() <= 6;
        let micro = format!("{part:0<6}").parse::<u64>().ok().filter(|_| fits)?;
        Some(whole.parse::<u64>().ok()? * 1_000_000 + micro)
    };
    text.split_whitespace().filter_map(number).collect()
}

impl Session {
    fn most(&self) -> Option<u64> {
        self.limits.get(self.first.as_ref()?).copied().flatten()
    }

    fn is_spent(&self) -> bool {
        self.most().is_some_and(|most| self.sum.cost.unwrap_or(0) >= most)
    }

    /// What a sub-agent may cost that is opened now.
    fn left(&self) -> Option<u64> {
        let spent = self.sum.cost.unwrap_or(0) + cost(self.prices, &self.answer).unwrap_or(0);
        self.most().map(|most| most.saturating_sub(spent))
    }

    fn add(&mut self, more: Option<u64>) {
        self.sum.cost = match (self.sum.cost, more) {
            (None, None) => None,
            (sum, more) => Some(sum.unwrap_or(0) + more.unwrap_or(0)),
        };
    }

    fn charge(&mut self, usage: &Usage, stated: Option<u64>) -> Result<(), String> {
        let expected = cost(self.prices, usage);
        self.add(expected);
        (stated == expected)
            .then_some(())
            .ok_or(format!("{usage:?} costs {expected:?}, and said is {stated:?}"))
    }

    fn record(&mut self, record: &Record) -> Result<(), String> {
        match record {
            Record::PromptAccepted { prompt, .. } => {
                self.limits.insert(prompt.id.clone(), prompt.terms.max_cost);
            }
            Record::Prepared { preparation } => {
                self.prices = preparation.prices.as_deref().copied();
                self.small = match &preparation.small {
                    Some(small) => small.prices,
                    None => self.prices,
                };
            }
            Record::TurnStarted { prompt, .. } => {
                (self.first, self.sum, self.summing) = (Some(prompt.clone()), Sum::default(), false);
            }
            Record::SummaryStarted { .. } => {
                self.summing = true;
                if self.first.is_none() {
                    self.sum = Sum::default();
                }
            }
            Record::TurnContinued { .. } => self.summing = false,
            Record::StepStarted { step, .. } => {
                self.sum.steps += 1;
                if self.is_spent() && !self.summing {
                    return Err(format!("{step} begins, and the run has cost {:?}", self.sum.cost));
                }
            }
            Record::AttemptStarted { attempt } => {
                self.sum.attempts += 1;
                if self.is_spent() {
                    return Err(format!("{attempt} is made, and the run has cost {:?}", self.sum.cost));
                }
            }
            Record::MessageFinished { usage, .. } => self.answer = *usage,
            Record::AttemptFailed { usage, cost, .. } => self.charge(usage, *cost)?,
            Record::StepFinished { usage, cost, context, estimated, .. } => {
                (self.answer, self.sum.context) = (Usage::default(), (*context, *estimated));
                self.charge(usage, *cost)?;
            }
            Record::TitleChanged { usage, cost: stated, .. } if *usage != Usage::default() => {
                let expected = cost(self.small, usage);
                if *stated != expected {
                    return Err(format!("a title costs {expected:?}, and said is {stated:?}"));
                }
            }
            Record::ToolCallFinished { outcome, .. } => {
                let at = match outcome.status {
                    ToolStatus::Ok => 0,
                    ToolStatus::Error => 1,
                    ToolStatus::Denied => 2,
                    ToolStatus::Cancelled | ToolStatus::Interrupted | ToolStatus::NotReached => 3,
                };
                self.sum.calls[at] += 1;
            }
            Record::TurnFinished { outcome: TurnOutcome::Limited(Reason::MaxCost, text), .. } => {
                sometimes!("run ended by its cost");
                let expected = vec![self.sum.cost.unwrap_or(0), self.most().unwrap_or(0)];
                if !self.is_spent() || amounts(text) != expected {
                    return Err(format!("of {expected:?} micro-dollars it says: {text}"));
                }
            }
            Record::TurnFinished { totals: Some(totals), .. } => {
                let sum = Sum { context: (totals.context, true), ..self.sum };
                self.check(&sum, totals)?;
            }
            Record::RunFinished(finished) => self.ends(finished)?,
            _ => {}
        }
        Ok(())
    }

    fn ends(&mut self, finished: &RunFinished) -> Result<(), String> {
        self.limits.remove(&finished.prompt);
        let own = self.first.as_ref() == Some(&finished.prompt);
        let sum = if own { self.sum } else { Sum::default() };
        if own {
            self.first = None;
        }
        self.check(&sum, &finished.totals)
    }

    fn check(&self, sum: &Sum, totals: &Totals) -> Result<(), String> {
        let tools = totals.tools;
        let stated = Sum {
            cost: totals.cost,
            steps: totals.steps,
            attempts: totals.attempts,
            calls: [tools.ok, tools.failed, tools.denied, tools.cancelled],
            context: (totals.context, totals.estimated),
        };
        (stated == *sum).then_some(()).ok_or(format!("a run came to {sum:?}, and said is {stated:?}"))
    }
}

impl Costs {
    fn log(&mut self, entry: &Entry) -> Result<(), String> {
        let id = &entry.session;
        match &entry.record {
            Record::PromptAccepted { prompt, .. } if id.is_child() => {
                let left = self.sessions.get(&id.root()).and_then(Session::left);
                if prompt.terms.max_cost != left {
                    return Err(format!(
                        "{id}: it may cost {:?}, and left are {left:?}",
                        prompt.terms.max_cost
                    ));
                }
            }
            Record::RunFinished(finished) if id.is_child() => {
                self.agents.insert(id.clone(), finished.totals.cost);
            }
            Record::SubAgentFinished { session: agent, cost, .. } => {
                let said = self.agents.remove(agent).flatten();
                self.sessions.entry(id.clone()).or_default().add(said);
                if said != *cost {
                    return Err(format!("{id}: {agent} has cost {said:?}, and {cost:?} is counted"));
                }
            }
            _ => {}
        }
        let session = self.sessions.entry(id.clone()).or_default();
        session.record(&entry.record).map_err(|what| format!("{id}: {what}"))
    }
}

impl Oracle for Costs {
    fn name(&self) -> &'static str {
        "costs"
    }

    fn see(&mut self, seen: &Seen<'_>) -> Result<(), String> {
        match seen {
            Seen::Log { entry, .. } => self.log(entry),
            _ => Ok(()),
        }
    }

    fn forget(&mut self, session: &SessionId) {
        self.sessions.retain(|id, _| id.root() != *session);
        self.agents.retain(|id, _| id.root() != *session);
    }

    fn fork(&self) -> Box<dyn Oracle> {
        Box::new(self.clone())
    }

    fn memory(&self) -> &dyn std::fmt::Debug {
        // All of it follows from the log.
        &()
    }
}

#[cfg(test)]
mod tests {
    use hostler_core::model::{ModelRef, Preparation};

    use super::super::fixture::{STEP, accepted, attempt, ended, finished, shown, started, step};
    use super::*;

    /// A dollar for a million tokens that are read, ten for those that are written.
    const PRICES: Prices =
        Prices { input: 1_000_000, output: 10_000_000, cache_read: 0, cache_write: 0, long: None };

    fn begun(max_cost: Option<u64>) -> Vec<Record> {
        let mut first = accepted(1, "a");
        if let Record::PromptAccepted { prompt, .. } = &mut first {
            prompt.terms.max_cost = max_cost;
        }
        let preparation = Preparation {
            model: ModelRef { provider: "p".to_owned(), model: "m".to_owned() },
            system: String::new(),
            answer_schema: None,
            tools: Vec::new(),
            context_window: None,
            prices: Some(Box::new(PRICES)),
            notices: Vec::new(),
            small: None,
            renewable: false,
        };
        vec![first, Record::Prepared { preparation }, started(1, "a"), step(1), attempt(1)]
    }

    fn over(input: u64, cost: u64) -> Record {
        let usage = Usage { input, output: 1, ..Usage::default() };
        Record::StepFinished { step: STEP, usage, cost: Some(cost), context: 7, estimated: false }
    }

    fn ends(cost: u64) -> Record {
        let Record::RunFinished(end) = finished("a") else { return finished("a") };
        let totals = Totals { cost: Some(cost), steps: 1, attempts: 1, context: 7, ..Totals::default() };
        Record::RunFinished(RunFinished { totals, ..end })
    }

    fn check(max_cost: Option<u64>, more: &[Record]) -> Result<(), String> {
        shown(&mut Costs::default(), &[&begun(max_cost)[..], more].concat(), &[])
    }

    #[test]
    fn a_run_costs_what_its_steps_cost() {
        assert_eq!(check(None, &[over(5, 15), ends(15)]), Ok(()));
        assert!(check(None, &[over(5, 14), ends(14)]).is_err());
        assert!(check(None, &[over(5, 15), ends(16)]).is_err());
        assert!(check(None, &[over(5, 15), finished("a")]).is_err());
    }

    #[test]
    fn a_run_that_has_cost_as_much_as_it_may_does_not_go_on_and_says_so() {
        assert_eq!(check(Some(16), &[over(5, 15), step(2)]), Ok(()));
        assert!(check(Some(15), &[over(5, 15), step(2)]).is_err());
        let limited = |text: &str| {
            let Record::TurnFinished { turn, totals, .. } = ended(1) else { return ended(1) };
            let outcome = TurnOutcome::Limited(Reason::MaxCost, text.to_owned());
            Record::TurnFinished { turn, outcome, totals }
        };
        let text = "The run has cost 0.000015 dollars, and may cost 0.000015; allow more.";
        assert_eq!(check(Some(15), &[over(5, 15), limited(text)]), Ok(()));
        assert!(check(Some(16), &[over(5, 15), limited(text)]).is_err());
        assert!(check(Some(15), &[over(5, 15), limited("It has cost 15 dollars.")]).is_err());
    }
}
