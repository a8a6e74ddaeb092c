//! One open session as the reference sees it.

use hostler_core::ids::{AttemptId, CallId, PromptId, RunId, StepId, TurnId};
use hostler_core::model::{CallError, CallErrorKind, FinishReason, ModelEvent, Preparation};
use hostler_core::prompt::Prompt;
use hostler_core::record::{Reason, RunStatus};
use hostler_core::session::{Input, Settings};
use hostler_core::time::Timestamp;

use super::Fate;
use super::answers::Block;
use super::family::Word;
use super::past::Past;
use super::tools::Call;

/// A session that is open.
#[derive(Clone, Debug)]
pub(super) struct Story {
    pub(super) settings: Settings,
    pub(super) past: Past,
    waiting: Vec<Waiting>,
    pub(super) turn: Option<Turn>,
    /// What is a matter of counting, and read from the records.
    pub(super) read: Read,
    /// Whether it is a sub-agent's.
    pub(super) is_agent: bool,
    /// Whether a key that is refused can be found out anew.
    pub(super) renews: bool,
    /// What it has for other sessions.
    pub(super) words: Vec<Word>,
    /// Until when a model is waited for that makes a title, if one does.
    titling: Option<Timestamp>,
}

/// What the reference does not work out by itself, because it is a matter of counting bytes or of each call's clock.
#[derive(Clone, Debug, Default)]
pub(super) struct Read {
    /// How often the conversation has become too long for the next step.
    pub(super) crowded: u32,
    /// Whether it is too long even after its summary.
    pub(super) still_crowded: bool,
    /// Whether a request for a summary that was refused cannot be made shorter.
    pub(super) spent: bool,
    /// The calls that were waited for too long.
    pub(super) late: Vec<CallId>,
    /// Whether the turn goes round in circles.
    pub(super) circles: bool,
    /// Whether what is refused are seals that were sent along.
    pub(super) seals: bool,
    /// Whether the run has cost as much as it may.
    pub(super) costly: bool,
}

/// A prompt that has not begun.
#[derive(Clone, Debug)]
struct Waiting {
    prompt: Prompt,
    /// Until when it is prepared.
    until: Timestamp,
    /// Whether that went well; none while it lasts.
    ready: Option<bool>,
    queued: bool,
}

/// The turn that is under way.
#[derive(Clone, Debug)]
pub(super) struct Turn {
    pub(super) prompts: Vec<Prompt>,
    pub(super) attempt: AttemptId,
    pub(super) doing: Doing,
    /// With which attempt of the step its key was found out anew.
    pub(super) renewed: Option<u32>,
    pub(super) denied: u32,
    /// How many steps its run has had.
    pub(super) steps: u32,
    /// If it sums the conversation up, how often that was refused.
    pub(super) summary: Option<u32>,
    /// How many summaries in a row have left the conversation too long.
    pub(super) crowded: u32,
    /// Whether its run has said anything since an answer of it was refused.
    pub(super) said: bool,
    /// How many answers of its run were refused.
    pub(super) repairs: u32,
    /// Whether a person has said no to one of its calls.
    pub(super) stopped: bool,
    /// By when its tools must have ended, once it is cancelled, and how it ends then.
    pub(super) settle: Option<(Timestamp, RunStatus)>,
}

#[derive(Clone, Debug)]
pub(super) enum Doing {
    /// A model is asked; silence lasts until then. Blocks with their texts, and for calls their tools; and how the answer
    /// ends, once its provider has said that it is all.
    Asking { until: Timestamp, connected: bool, bytes: usize, blocks: Vec<Block>, done: Option<FinishReason> },
    /// The next attempt is made then.
    Waiting(Timestamp),
    /// The answer of that step is held against its schema until then.
    Checking(StepId, Timestamp),
    /// Tools are run, and how the answer ended.
    Running(Vec<(String, Call)>, FinishReason),
}

impl Story {
    pub(super) fn new(past: Past, settings: Settings) -> Self {
        let (waiting, words) = (Vec::new(), Vec::new());
        let (read, is_agent, renews, titling) = (Read::default(), false, false, None);
        Self { settings, past, waiting, turn: None, read, is_agent, renews, words, titling }
    }

    pub(super) fn is_over(&self) -> bool {
        self.turn.is_none() && self.waiting.is_empty() && self.titling.is_none()
    }

    /// When something is due that is waited for, as far as it is known here.
    pub(super) fn deadline(&self) -> Option<Timestamp> {
        let turn = self.turn.as_ref().and_then(|turn| match turn.doing {
            Doing::Asking { until, .. } | Doing::Waiting(until) | Doing::Checking(_, until) => Some(until),
            Doing::Running(..) => turn.settle.map(|(until, _)| until),
        });
        let prepares = |waiting: &Waiting| waiting.ready.is_none().then_some(waiting.until);
        self.waiting.iter().filter_map(prepares).chain(turn).chain(self.titling).min()
    }

    pub(super) fn has_run(&self, run: &RunId) -> bool {
        self.past.known.values().any(|(_, known)| known == run)
    }

    /// Whoever had the session before is gone.
    pub(super) fn recover(&mut self, now: Timestamp, fates: &mut Vec<Fate>) {
        let in_turn = self.past.turn.take().unwrap_or_default();
        self.withdraw(|_| true, fates);
        self.past.spoken |= self.past.streamed && !in_turn.is_empty() && !self.past.summing;
        let ends =
            in_turn.iter().map(|prompt| Fate::Ends(super::family::plain_prompt(prompt), RunStatus::Error));
        fates.extend(ends);
        let open = std::mem::take(&mut self.past.open);
        for open in open.into_iter().filter(|open| !in_turn.contains(&open.prompt.id)) {
            if self.settings.serving && !self.is_agent && now.since(open.accepted) < self.settings.restart_age
            {
                self.wait(now, open.prompt, open.queued);
            } else {
                fates.push(Fate::Returns(open.prompt.id));
            }
        }
    }

    fn wait(&mut self, now: Timestamp, prompt: Prompt, queued: bool) {
        let until = now.plus(self.settings.prepare);
        self.waiting.push(Waiting { prompt, until, ready: None, queued });
    }

    /// A person says what the session is called.
    pub(super) fn rename(&mut self, title: &str) {
        let title = title.trim().chars().filter(|letter| !letter.is_control()).count();
        self.past.titled |= (1..=200).contains(&title);
    }

    pub(super) fn submit(&mut self, now: Timestamp, prompt: &Prompt, fates: &mut Vec<Fate>) {
        let alone = prompt.run.is_some() || prompt.terms.answer_schema.is_some();
        let contradictory = alone && prompt.terms.delivery == hostler_core::prompt::Delivery::Fold;
        let run = prompt.run_id();
        let taken = self.has_run(&run);
        let known = self.past.known.contains_key(&prompt.id);
        let empty = prompt.text.trim().is_empty() && prompt.attachments.is_empty();
        if !empty && !contradictory && !known && !taken {
            self.past.known.insert(prompt.id.clone(), (prompt.text.clone(), run));
            self.past.created = true;
            fates.push(Fate::Accepted(prompt.id.clone()));
            self.wait(now, prompt.clone(), false);
        }
        self.go_on(now, fates);
    }

    /// Whatever can begin begins; the rest queues up, each in its order.
    fn go_on(&mut self, now: Timestamp, fates: &mut Vec<Fate>) {
        loop {
            let busy = self.turn.is_some();
            let Some(at) = self.waiting.iter().position(|waiting| !(busy && waiting.queued)) else { return };
            let Some(ready) = self.waiting[at].ready else { return };
            if busy {
                self.waiting[at].queued = true;
                continue;
            }
            let prompt = self.waiting.remove(at).prompt;
            fates.push(Fate::Begins(prompt.id.clone()));
            self.past.begin();
            if ready {
                self.begin(now, prompt, fates);
            } else {
                fates.push(Fate::Ends(prompt.id, RunStatus::Error));
            }
        }
    }

    /// A sub-agent begins with its task.
    pub(super) fn begin_task(&mut self, now: Timestamp, prompt: Prompt, fates: &mut Vec<Fate>) {
        fates.push(Fate::Begins(prompt.id.clone()));
        self.past.begin();
        self.begin(now, prompt, fates);
    }

    fn begin(&mut self, now: Timestamp, prompt: Prompt, fates: &mut Vec<Fate>) {
        if prompt.terms.title && !self.is_agent && self.past.turns == 1 && !self.past.titled {
            self.titling = Some(now.plus(self.settings.title));
        }
        let step = StepId { turn: TurnId(self.past.turns), step: 0 };
        let attempt = AttemptId { step, attempt: 0 };
        let doing = Doing::Waiting(now);
        let (prompts, summary, settle, stopped) = (vec![prompt], None, None, false);
        let (denied, steps, crowded, renewed) = (0, 0, 0, None);
        let (said, repairs) = (false, 0);
        self.turn = Some(Turn {
            prompts,
            attempt,
            doing,
            renewed,
            denied,
            steps,
            summary,
            crowded,
            said,
            repairs,
            stopped,
            settle,
        });
        self.step(now, fates);
    }

    /// The next step, unless there were enough.
    pub(super) fn step(&mut self, now: Timestamp, fates: &mut Vec<Fate>) {
        let Some(turn) = self.turn.as_mut() else { return };
        if turn.steps >= turn.prompts[0].terms.max_steps {
            return self.end(now, RunStatus::Limit, fates);
        }
        if std::mem::take(&mut self.read.costly) {
            return self.end(now, RunStatus::Limit, fates);
        }
        if self.read.crowded > 0 && self.past.is_worth_a_summary() {
            return self.next_turn(now, true);
        }
        let (joining, staying): (Vec<_>, Vec<_>) =
            self.waiting.drain(..).partition(|waiting| waiting.queued && waiting.prompt.folds());
        self.waiting = staying;
        for joined in joining {
            fates.push(Fate::Joins(joined.prompt.id.clone()));
            self.past.prompted.push(turn.attempt.step.turn.0);
            turn.prompts.push(joined.prompt);
        }
        self.begin_step(now);
    }

    fn begin_step(&mut self, now: Timestamp) {
        if let Some(turn) = self.turn.as_mut() {
            turn.steps += 1;
            turn.attempt.step.step += 1;
            turn.attempt.attempt = 0;
            turn.renewed = None;
        }
        self.ask(now);
    }

    /// The run goes on with another turn; one that sums up begins with its step at once.
    pub(super) fn next_turn(&mut self, now: Timestamp, sums_up: bool) {
        self.read.crowded = self.read.crowded.saturating_sub(u32::from(sums_up));
        self.past.turns += 1;
        let Some(turn) = self.turn.as_mut() else { return };
        turn.attempt.step = StepId { turn: TurnId(self.past.turns), step: 0 };
        turn.summary = sums_up.then_some(0);
        if sums_up {
            self.begin_step(now);
        }
    }

    fn ask(&mut self, now: Timestamp) {
        let until = now.plus(self.settings.connect).plus(self.settings.first_event);
        if let Some(turn) = self.turn.as_mut() {
            turn.attempt.attempt += 1;
            turn.doing = Doing::Asking { until, connected: false, bytes: 0, blocks: Vec::new(), done: None };
        }
    }

    pub(super) fn end(&mut self, now: Timestamp, status: RunStatus, fates: &mut Vec<Fate>) {
        let Some(turn) = self.turn.take() else { return };
        if let Doing::Asking { blocks, .. } = &turn.doing
            && turn.summary.is_none()
        {
            self.past.spoken |= blocks.iter().any(|block| block.tool.is_none() && block.says_something());
        }
        let stays = self.settings.serving || turn.prompts.first().is_some_and(|prompt| prompt.terms.stays);
        fates.extend(turn.prompts.into_iter().map(|prompt| Fate::Ends(prompt.id, status)));
        if self.is_agent {
            self.words.push(Word::Ended);
        }
        if status == RunStatus::Ok
            && stays
            && !self.is_agent
            && self.read.crowded > 0
            && self.waiting.is_empty()
        {
            self.sum_up_ahead(now);
        }
        self.go_on(now, fates);
    }

    /// The conversation is summed up for no run.
    fn sum_up_ahead(&mut self, now: Timestamp) {
        let step = StepId { turn: TurnId(self.past.turns), step: 0 };
        let attempt = AttemptId { step, attempt: 0 };
        let (prompts, doing) = (Vec::new(), Doing::Waiting(now));
        self.turn = Some(Turn {
            prompts,
            attempt,
            doing,
            renewed: None,
            denied: 0,
            steps: 0,
            summary: None,
            crowded: 0,
            said: false,
            repairs: 0,
            stopped: false,
            settle: None,
        });
        self.next_turn(now, true);
    }

    pub(super) fn hear(&mut self, now: Timestamp, input: &Input, fates: &mut Vec<Fate>) {
        match input {
            Input::Prepared { prompt, result } => {
                self.renews = result.as_ref().as_ref().map_or(self.renews, |found| found.renewable);
                self.prepared(now, prompt, result.as_ref().as_ref().ok(), fates);
            }
            Input::Model { attempt, event } => self.model(now, *attempt, event, fates),
            Input::Inspected { call, intent } => self.inspected(now, *call, intent, fates),
            Input::Title { event: ModelEvent::Finished(_) | ModelEvent::Failed(_) } => self.titling = None,
            Input::ToolFinished { call, .. } => self.tool_ended(now, *call, fates),
            Input::Checked { step, verdict } => self.checked(now, *step, verdict, fates),
            _ => {}
        }
    }

    /// A run whose cost is limited is not begun where nobody knows what it costs.
    fn prepared(
        &mut self,
        now: Timestamp,
        prompt: &PromptId,
        found: Option<&Preparation>,
        fates: &mut Vec<Fate>,
    ) {
        let waiting = self.waiting.iter_mut().find(|waiting| waiting.prompt.id == *prompt);
        if let Some(waiting) = waiting.filter(|waiting| waiting.ready.is_none()) {
            let limited = waiting.prompt.terms.max_cost.is_some();
            waiting.ready = Some(found.is_some_and(|found| !limited || found.prices.is_some()));
            self.go_on(now, fates);
        }
    }

    pub(super) fn clear(&mut self, now: Timestamp, fates: &mut Vec<Fate>) {
        let cleared = self.waiting.iter().filter(|waiting| waiting.queued);
        fates.extend(cleared.map(|waiting| Fate::Returns(waiting.prompt.id.clone())));
        self.waiting.retain(|waiting| !waiting.queued);
        self.go_on(now, fates);
    }

    pub(super) fn cancel(
        &mut self,
        now: Timestamp,
        run: Option<&RunId>,
        reason: Reason,
        fates: &mut Vec<Fate>,
    ) {
        let status = if reason == Reason::Timeout { RunStatus::Limit } else { RunStatus::Cancelled };
        let covers = |prompt: &Prompt| run.is_none_or(|run| prompt.run_id() == *run);
        let turn = self.turn.as_ref().is_some_and(|turn| turn.prompts.first().map_or(run.is_none(), covers));
        let (covered, kept): (Vec<_>, Vec<_>) =
            self.waiting.drain(..).partition(|waiting| covers(&waiting.prompt));
        self.waiting = kept;
        if covered.is_empty() && !turn {
            return;
        }
        for waiting in covered {
            if self.turn.is_none() && !waiting.queued {
                self.past.begin();
                fates.push(Fate::Begins(waiting.prompt.id.clone()));
                fates.push(Fate::Ends(waiting.prompt.id, status));
            } else {
                fates.push(Fate::Returns(waiting.prompt.id));
            }
        }
        if turn {
            self.cancel_turn(now, status, fates);
        }
        self.go_on(now, fates);
    }

    fn cancel_turn(&mut self, now: Timestamp, status: RunStatus, fates: &mut Vec<Fate>) {
        let settle = now.plus(self.settings.settle);
        let Some(turn) = self.turn.as_mut().filter(|turn| turn.settle.is_none()) else { return };
        turn.settle = Some((settle, status));
        self.withdraw(|_| true, fates);
        let Some(turn) = self.turn.as_mut() else { return };
        match &mut turn.doing {
            Doing::Running(..) => {
                self.stop_calls();
                self.after_tools(now, fates);
            }
            Doing::Asking { .. } | Doing::Waiting(_) | Doing::Checking(..) => self.end(now, status, fates),
        }
    }

    pub(super) fn tick(&mut self, now: Timestamp, fates: &mut Vec<Fate>) {
        self.titling = self.titling.filter(|until| *until > now);
        match self.turn.as_ref().map(|turn| &turn.doing) {
            Some(Doing::Waiting(until)) if *until <= now => self.ask(now),
            Some(Doing::Asking { until, done: Some(reason), .. }) if *until <= now => {
                let reason = *reason;
                self.answered(now, reason, fates);
            }
            Some(Doing::Asking { until, .. }) if *until <= now => {
                let kind = CallErrorKind::Transport;
                let silence =
                    CallError { kind, message: String::new(), retry_after: None, should_retry: None };
                self.failed(now, &silence, fates);
            }
            _ => {}
        }
        self.give_up(now, fates);
        let settle = self.turn.as_ref().and_then(|turn| turn.settle);
        if let Some((_, status)) = settle.filter(|(until, _)| *until <= now) {
            self.end(now, status, fates);
        }
        while let Some(late) =
            self.waiting.iter_mut().find(|waiting| waiting.ready.is_none() && waiting.until <= now)
        {
            late.ready = Some(false);
            self.go_on(now, fates);
        }
        if matches!(self.turn.as_ref().map(|turn| &turn.doing), Some(Doing::Checking(_, until)) if *until <= now)
        {
            self.end(now, RunStatus::Error, fates);
        }
    }
}
