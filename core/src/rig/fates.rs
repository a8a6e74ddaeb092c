//! What becomes of prompts and runs: each accepted prompt has exactly one fate at any time and one end, and a cancel
//! does what it covers and nothing else.

use std::collections::{BTreeMap, BTreeSet};

use hostler_core::ids::{PromptId, RunId, TurnId};
use hostler_core::machine::Entry;
use hostler_core::record::{CancelScope, Reason, Record, ReturnReason, RunFinished, RunStatus};
use hostler_core::session::{Durable, Phase};
use hostler_core::time::Timestamp;

/// What has become of a session's prompts and runs.
#[derive(Default)]
pub(crate) struct Fates {
    accepted: BTreeSet<PromptId>,
    returned: BTreeSet<PromptId>,
    ended: BTreeSet<RunId>,
    /// What cancels have covered.
    covered: BTreeSet<PromptId>,
    covered_turns: BTreeSet<TurnId>,
    /// By when what a cancel covers must have ended.
    bounds: BTreeMap<PromptId, Timestamp>,
    /// Whether the process has ended since the session was in use.
    crashed: bool,
    /// Whether the batch has an input that clears the queue.
    pub(crate) cleared: bool,
    open: usize,
}

impl Fates {
    /// Whether a record may follow.
    pub(crate) fn before(&mut self, durable: &Durable, entry: &Entry, settle: u64) {
        match &entry.record {
            Record::PromptAccepted { sequence, prompt } => {
                assert_eq!(*sequence, durable.sequence + 1, "sequences rise by one");
                assert!(self.accepted.insert(prompt.id.clone()), "{} is accepted twice", prompt.id);
                // Whatever came before the crash is decided when the session is opened.
                self.crashed = false;
            }
            Record::PromptQueued { prompt } => {
                assert!(durable.turn.is_some(), "{prompt} is queued behind nothing");
                self.is_in(durable, prompt, &[Phase::Preparing]);
            }
            Record::PromptFolded { prompt, turn, .. } => self.folds(durable, prompt, *turn),
            Record::PromptReturned { prompt, reason, .. } => self.goes_back(durable, prompt, *reason),
            Record::TurnStarted { prompt, turn, .. } => self.begins(durable, prompt, *turn),
            Record::StepStarted { step, .. } => self.may_go_on(step.turn),
            Record::AttemptStarted { attempt } => self.may_go_on(attempt.step.turn),
            Record::ToolCallStarted { call, .. } => self.may_go_on(call.step.turn),
            Record::CancelAccepted { scope, watermark, .. } => {
                self.covers(durable, scope, *watermark, entry.at.plus(settle));
            }
            Record::RunFinished(finished) => self.ends(durable, finished),
            _ => {}
        }
    }

    fn is_in(&self, durable: &Durable, prompt: &PromptId, phases: &[Phase]) {
        let phase = durable.find_open(prompt).map(|(_, open)| open.phase);
        assert!(phase.is_some_and(|phase| phases.contains(&phase)), "{prompt} is {phase:?}, not {phases:?}");
    }

    fn folds(&self, durable: &Durable, prompt: &PromptId, turn: TurnId) {
        self.is_in(durable, prompt, &[Phase::Queued]);
        self.may_go_on(turn);
        assert_eq!(durable.turn.as_ref().map(|turn| turn.id), Some(turn), "{prompt} joins another turn");
        let (_, open) = durable.find_open(prompt).expect("it is queued");
        assert!(open.prompt.folds(), "{prompt} joins a turn and was to have its own");
        assert!(!self.covered.contains(prompt), "{prompt} is cancelled and joins a turn");
    }

    fn goes_back(&mut self, durable: &Durable, prompt: &PromptId, reason: ReturnReason) {
        self.is_in(durable, prompt, &[Phase::Preparing, Phase::Queued]);
        match reason {
            ReturnReason::Cancelled => assert!(self.covered.contains(prompt), "nobody cancelled {prompt}"),
            ReturnReason::Cleared => {
                self.is_in(durable, prompt, &[Phase::Queued]);
                assert!(self.cleared, "nobody cleared the queue of {prompt}");
            }
            ReturnReason::Interrupted => {}
        }
        assert!(self.returned.insert(prompt.clone()), "{prompt} goes back twice");
    }

    fn begins(&mut self, durable: &Durable, prompt: &PromptId, turn: TurnId) {
        self.is_in(durable, prompt, &[Phase::Preparing, Phase::Queued]);
        assert_eq!(durable.turn, None, "two turns at once");
        assert!(turn > durable.last_turn, "{turn} is used again");
        let (sequence, _) = durable.find_open(prompt).expect("it waits");
        let earlier =
            durable.open.range(..sequence).find(|(_, open)| !self.covered.contains(&open.prompt.id));
        if self.covered.contains(prompt) {
            self.covered_turns.insert(turn);
        } else {
            assert_eq!(earlier.map(|(_, open)| &open.prompt.id), None, "{prompt} overtakes it");
        }
    }

    /// Nothing that a cancel covers starts any more.
    pub(crate) fn may_go_on(&self, turn: TurnId) {
        assert!(!self.covered_turns.contains(&turn), "{turn} is cancelled and goes on");
    }

    fn covers(&mut self, durable: &Durable, scope: &CancelScope, watermark: u64, until: Timestamp) {
        let of_turn =
            |sequence: &u64| durable.turn.as_ref().is_some_and(|turn| turn.prompts.contains(sequence));
        let turn = durable.turn.as_ref().filter(|turn| match scope {
            CancelScope::Session => true,
            CancelScope::Run(run) => turn.run == *run,
        });
        let covered = durable.open.iter().filter(|(sequence, open)| match scope {
            CancelScope::Session => true,
            CancelScope::Run(_) if of_turn(sequence) => turn.is_some(),
            CancelScope::Run(run) => open.prompt.run_id() == *run,
        });
        let covered: Vec<_> = covered.map(|(sequence, open)| (*sequence, open.prompt.id.clone())).collect();
        let highest = covered.iter().map(|(sequence, _)| *sequence).max();
        // A turn that belongs to no run stands behind everything accepted before it.
        let of_no_run = turn.is_some_and(|turn| turn.prompts.is_empty()).then_some(durable.sequence);
        assert_eq!(highest.or(of_no_run), Some(watermark), "a cancel reaches as far as what it covers");
        self.covered_turns.extend(turn.map(|turn| turn.id));
        for (_, prompt) in covered {
            self.bounds.entry(prompt.clone()).or_insert(until);
            self.covered.insert(prompt);
        }
    }

    fn ends(&mut self, durable: &Durable, finished: &RunFinished) {
        let RunFinished { run, prompt, status, reason, .. } = finished;
        let (sequence, open) = durable.find_open(prompt).expect("only what is open ends");
        assert_eq!(open.prompt.run_id(), *run, "{prompt} ends under another run");
        assert!(self.ended.insert(run.clone()), "{run} ends twice");
        assert_eq!(
            *reason == Reason::Returned,
            self.returned.contains(prompt) && *reason != Reason::Interrupted
        );
        let in_turn = durable.turn.as_ref().is_some_and(|turn| turn.prompts.contains(&sequence));
        assert!(in_turn || self.returned.contains(prompt), "{prompt} ends and never began");
        if *status == RunStatus::Cancelled && !self.returned.contains(prompt) {
            assert!(self.covered.contains(prompt), "nobody cancelled {prompt}");
        }
        self.bounds.remove(prompt);
    }

    /// Each accepted prompt is exactly one of preparing, queued, in a turn, or over.
    pub(crate) fn after(&mut self, durable: &Durable) {
        let open: BTreeSet<_> = durable.open.values().map(|open| open.prompt.id.clone()).collect();
        assert_eq!(open.len(), durable.open.len(), "a prompt is open twice");
        for prompt in &self.accepted {
            let (open, closed) = (open.contains(prompt), durable.closed.contains_key(prompt));
            assert!(open != closed, "{prompt}: open {open}, closed {closed}");
        }
        assert_eq!(self.accepted.len(), open.len() + durable.closed.len(), "a prompt came from nowhere");
        let in_turn = durable.open.iter().filter(|(_, open)| open.phase == Phase::InTurn);
        let in_turn: Vec<_> = in_turn.map(|(sequence, _)| *sequence).collect();
        let of_turn =
            durable.turn.iter().flat_map(|turn| &turn.prompts).filter(|own| durable.open.contains_key(own));
        let of_turn: BTreeSet<_> = of_turn.copied().collect();
        assert_eq!(in_turn, of_turn.into_iter().collect::<Vec<_>>(), "the turn is not what its prompts say");
        self.open = durable.open.len();
    }

    /// What a cancel covers ends within a fixed bound.
    pub(crate) fn in_time(&self, now: Timestamp) {
        for (prompt, until) in &self.bounds {
            assert!(now <= *until, "{prompt} was cancelled and has not ended in time");
        }
    }

    /// A session that is not in use has nothing open, unless its process has ended.
    pub(crate) fn all_ended_unless_crashed(&self) {
        assert!(self.crashed || self.open == 0, "a session was closed with {} open prompts", self.open);
    }

    pub(crate) fn crash(&mut self) {
        self.crashed = true;
        self.bounds.clear();
    }

    /// Whether every accepted prompt has its end.
    pub(crate) fn all_ended(&self) -> bool {
        self.open == 0 && self.ended.len() == self.accepted.len()
    }
}
