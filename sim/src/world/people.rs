//! People: they submit, cancel, clear, and come back when nobody answers. They remember what they were told.

use std::collections::BTreeMap;

use hostler_core::content::Attachment;
use hostler_core::ids::{ClientId, PromptId, RunId, SessionId};
use hostler_core::prompt::{Delivery, PermissionMode, Prompt, Terms};
use hostler_core::protocol::{Answer, AskId, Breadth, Command, RefusalKind, Reply, SessionChoice};
use hostler_core::record::{CancelScope, Reason, Record};

use super::World;
use super::agenda::Happening;
use super::process::Message;
use crate::dice::{Roll, Stream, name};
use crate::plan::Submit;
use crate::sometimes;

/// Something that was asked for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ask {
    /// Through which process.
    pub(super) process: usize,
    /// What.
    pub(super) command: Command,
    /// How often it was asked for.
    pub(super) tries: u64,
    /// Whether the last try was answered; if not, whether it was done is not known.
    pub(super) answered: bool,
    /// Which run asked, if one did.
    pub(super) run: Option<usize>,
}

/// What people know.
#[derive(Clone, Debug, Default)]
pub(super) struct People {
    /// All that was asked for.
    pub(super) asks: Vec<Ask>,
    /// The prompts that were said to be accepted, and where.
    pub(super) accepted: BTreeMap<PromptId, SessionId>,
    /// How the prompts after the storm were answered last; none if they were not.
    pub(super) last: BTreeMap<PromptId, Option<RefusalKind>>,
}

/// What people answer.
const ANSWERS: [Answer; 6] = [
    Answer::Once,
    Answer::Once,
    Answer::Session(Breadth::Exact),
    Answer::Session(Breadth::Directory),
    Answer::Always(Breadth::Exact),
    Answer::Deny,
];

/// What somebody who answered a question was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// Nothing.
    Nothing,
    /// That it counts.
    Heeded,
    /// That there is no such question any more.
    TooLate,
    /// That it is refused.
    Refused,
}

/// How much of what was asked for people remember when they ask for more.
const LATELY: usize = 60;

/// The number of the first prompt after the storm.
pub(super) const AFTER: u64 = 900_000;

/// How often people try in all.
const TRIES: u64 = 4;

/// The id of a session with that number.
pub(super) fn session_id(number: u64) -> SessionId {
    SessionId::new(format!("s{number}"))
}

/// What people call a session; the first of these is no title.
pub fn title(name: u64) -> String {
    let titles = ["", "Mine", " Mine, with\ta tab ", "Ours", "\u{7}"];
    titles[name as usize % titles.len()].to_owned()
}

/// The run that a submission with a run id asks for, or that a prompt's own id names.
pub(super) fn run_id(prompt: u64, named: bool) -> RunId {
    if named { RunId::new(format!("r{prompt}")) } else { RunId::new(format!("p{prompt}")) }
}

/// What answers must be, where they must be anything.
const SCHEMA: &str = "{\"type\": \"object\", \"required\": [\"result\"]}";

/// Which models prompts name, and whether that is only what is usual. Whatever is named, one of two is found.
const MODELS: [(Option<&str>, bool); 5] = [
    (None, false),
    (Some("sim/usual"), true),
    (Some("sim/asked"), false),
    (Some("sim/usual"), true),
    (None, true),
];

/// Whether what a prompt's run may cost is limited.
fn limited(submit: &Submit) -> bool {
    !is_plain(submit.prompt) && submit.prompt % 8 == 2
}

/// The first few are those of worlds in which everything is tried, and of scripts; the last are those that must be answered.
fn is_plain(prompt: u64) -> bool {
    prompt <= 4 || prompt >= AFTER
}

/// What a prompt says: mostly little, and sometimes with a first line that does not fit a title or is none.
fn wording(prompt: u64, plain: bool) -> String {
    match prompt % 12 {
        5 if !plain => format!(
            "\n \u{7}\n  \tDo p{prompt}\u{1b}, and look at all that belongs to it, as far as it is of any use — überall.  \nThen stop."
        ),
        9 if !plain => format!("{:.<60}\nDo it.", format!("Do p{prompt}")),
        11 if !plain => format!("{:.<61}", format!("Do p{prompt}")),
        _ => format!("Do p{prompt}."),
    }
}

/// What comes with a prompt: sometimes a text or a picture.
fn attached(prompt: u64) -> Vec<Attachment> {
    let (media_type, size) = match prompt % 16 {
        3 => ("text/plain", 300),
        6 => ("image/png", 40),
        14 => ("image/png", 6_500),
        _ => return Vec::new(),
    };
    vec![Attachment { name: "a".to_owned(), media_type: media_type.to_owned(), data: "x".repeat(size) }]
}

/// The command of a submission.
pub fn submission(submit: &Submit) -> Command {
    let plain = is_plain(submit.prompt);
    let text = match submit.flaw {
        1 => String::new(),
        2 => format!("Do something else than p{}.", submit.prompt),
        _ => wording(submit.prompt, plain),
    };
    let cost = 1 + (submit.prompt / 8 % 3) as usize;
    let (model, usual_model) = if plain { MODELS[0] } else { MODELS[submit.prompt as usize % MODELS.len()] };
    let terms = Terms {
        model: model.map(str::to_owned),
        usual_model,
        permission: match submit.permission {
            0 => PermissionMode::Headless,
            1 => PermissionMode::Yolo,
            _ => PermissionMode::Interactive,
        },
        delivery: [Delivery::Auto, Delivery::Fold, Delivery::OwnTurn][submit.delivery as usize % 3],
        max_steps: submit.steps as u32,
        max_wait: submit.wait,
        stays: submit.prompt.is_multiple_of(2),
        answer_schema: submit.schema.then(|| SCHEMA.to_owned()),
        title: submit.prompt > 4 && submit.prompt % 2 == 1,
        // Where prices are not known, such a prompt is not begun.
        max_cost: [None, Some(1), Some(1_500), Some(20_000)][if limited(submit) { cost } else { 0 }],
        ..Terms::headless()
    };
    let prompt = Prompt {
        id: PromptId::new(format!("p{}", submit.prompt)),
        run: match submit.flaw {
            3 => Some(run_id(submit.prompt.saturating_sub(1), true)),
            _ => submit.run.then(|| run_id(submit.prompt, true)),
        },
        client: ClientId::new(format!("c{}", submit.process)),
        text,
        attachments: if plain { Vec::new() } else { attached(submit.prompt) },
        terms,
    };
    let id = session_id(submit.session);
    let session = if submit.new { SessionChoice::New { id } } else { SessionChoice::Existing { id } };
    Command::Submit { session, prompt }
}

impl World {
    /// Somebody asks for something.
    pub(super) fn ask(&mut self, process: u64, command: Command) {
        let process = process as usize % self.processes.len();
        self.people.asks.push(Ask { process, command, tries: 0, answered: false, run: None });
        self.try_ask(self.people.asks.len() - 1);
    }

    /// Somebody asks for it again.
    pub(super) fn again(&mut self, ask: usize) {
        sometimes!("person came back", if self.people.asks[ask].tries > 0);
        self.try_ask(ask);
    }

    pub(super) fn try_ask(&mut self, number: usize) {
        let ask = &mut self.people.asks[number];
        ask.tries += 1;
        let (process, command) = (ask.process, ask.command.clone());
        if self.processes[process].alive {
            self.deliver(process, Message::Command(number, command));
        } else {
            self.unheard(number);
        }
    }

    /// Cancels a session, or the run of a prompt.
    pub(super) fn ask_cancel(&mut self, process: u64, session: u64, prompt: Option<u64>) {
        let scope = match prompt {
            None => CancelScope::Session,
            Some(prompt) => CancelScope::Run(self.run_of(prompt)),
        };
        let command = Command::Cancel { session: session_id(session), scope, reason: Reason::User };
        self.ask(process, command);
    }

    /// Whether so much waits in a session that nobody asks for more.
    pub(super) fn is_crowded(&self, session: u64) -> bool {
        if self.options.crowd == 0 {
            return false;
        }
        let session = session_id(session);
        let open = self.disk.folds.get(&session).map_or(0, |durable| durable.open.len());
        let asked = self.people.asks.iter().rev().take(LATELY);
        let unanswered = asked.filter(|ask| {
            let to = matches!(&ask.command, Command::Submit { session: to, .. } if *to.id() == session);
            to && !ask.answered && ask.tries > 0
        });
        open + unanswered.count() >= self.options.crowd as usize
    }

    /// Cancels a sub-agent of a session: one that a person is asked for if there is one, else one that is at work, else the last.
    pub(super) fn stop_agent(&mut self, process: u64, session: u64) {
        let root = session_id(session);
        let own = |(_, durable): &(&SessionId, &hostler_core::session::Durable)| {
            durable.id.is_child() && durable.id.root() == root
        };
        // Ids of one session are the longer and the higher the later.
        let last = self.disk.folds.iter().filter(own);
        let asks = |id: &hostler_core::ids::SessionId| {
            let asks = self.disk.folds.get(&root).map(|durable| &durable.asks);
            asks.is_some_and(|asks| asks.iter().any(|asked| asked.id.session == *id))
        };
        let last =
            last.max_by_key(|(id, durable)| (asks(id), durable.turn.is_some(), id.as_str().len(), *id));
        let Some(session) = last.map(|(id, _)| id.clone()) else { return };
        self.ask(process, Command::Cancel { session, scope: CancelScope::Session, reason: Reason::User });
    }

    fn run_of(&self, prompt: u64) -> RunId {
        let named = self.plan.actions.iter().any(|action| match action.what {
            crate::plan::What::Submit(submit) => submit.prompt == prompt && submit.run,
            _ => false,
        });
        run_id(prompt, named)
    }

    /// What is asked about calls reaches people, of whom some are quick, some slow, and some both answer.
    pub(super) fn hear_asks(&mut self, process: usize, first: usize) {
        // A script says who answers what.
        if self.options.staged > 0 {
            return;
        }
        for at in first..self.disk.log.len() {
            let entry = &self.disk.log[at].1;
            let Record::PermissionAsked { session, call, .. } = &entry.record else { continue };
            let (root, ask) = (entry.session.clone(), AskId { session: session.clone(), call: *call });
            let entity = name(root.as_str()) ^ name(&format!("{}{}", ask.session, ask.call));
            let mut roll = Roll::new(self.seed, Stream::Person, entity);
            let tried = self.options.short > 0;
            let people = if roll.chance(300) || tried { 2 } else { 1 };
            for person in 0..people {
                let (any, some) =
                    (roll.pick(&ANSWERS), roll.pick(&[0, 0, 1, 40, 300, 1_500, 2_999, 60_000, 400_000]));
                // Where every order is tried, two people disagree.
                let both = if person == 0 { Answer::Once } else { Answer::Deny };
                let (answer, after) = if tried { (both, 0) } else { (any, some) };
                let client = ClientId::new(format!("person{person}"));
                let command = Command::Answer { session: root.clone(), ask: ask.clone(), answer, client };
                self.people.asks.push(Ask { process, command, tries: 0, answered: false, run: None });
                self.agenda.push(self.now + after, Happening::Again(self.people.asks.len() - 1));
            }
        }
    }

    /// An asking was answered.
    pub(super) fn answered(&mut self, number: usize, reply: &Reply) {
        self.trace.say(self.now, || format!("asking {number} is answered: {}", super::trace::short(reply)));
        let command = self.people.asks[number].command.clone();
        self.tell(|| super::told::What::Answered {
            command: Box::new(command),
            reply: Box::new(reply.clone()),
        });
        let ask = &mut self.people.asks[number];
        ask.answered = true;
        if let Some(run) = ask.run {
            self.answer_run(run, reply);
        }
        let ask = &self.people.asks[number];
        if let Reply::Cancelled { runs } = reply {
            self.staged.covered = Some(runs.clone());
        }
        if let Command::Answer { client, .. } = &ask.command
            && self.options.staged > 0
        {
            let heard = match reply {
                Reply::Answered { resolved: true } => Heard::Heeded,
                Reply::Answered { resolved: false } => Heard::TooLate,
                _ => Heard::Refused,
            };
            self.staged.heard.insert(client.clone(), heard);
        }
        if let Reply::Answered { resolved } = reply {
            sometimes!("permission answered", if *resolved);
            return sometimes!("permission answered too late", if !*resolved);
        }
        note_errand(&ask.command, reply);
        let Command::Submit { session, prompt } = &ask.command else {
            return sometimes!("cancel with nothing to cancel", if matches!(reply, Reply::Cancelled { runs } if runs.is_empty()));
        };
        let (id, session) = (prompt.id.clone(), session.id().clone());
        match reply {
            Reply::Accepted { .. } => {
                self.people.last.insert(id.clone(), None);
                let ended =
                    self.disk.folds.get(&session).is_some_and(|durable| durable.closed.contains_key(&id));
                if self.people.accepted.insert(id, session).is_some() {
                    sometimes!("prompt submitted again after its end", if ended);
                    sometimes!("prompt submitted again before its end", if !ended);
                }
            }
            Reply::Refused(refusal) => {
                note_refusal(refusal.kind, &prompt.text);
                self.people.last.insert(id, Some(refusal.kind));
                if refusal.kind == RefusalKind::Storage {
                    self.come_back(number, 1);
                }
            }
            _ => {}
        }
    }

    /// Nobody will answer: whether it was done is not known.
    pub(super) fn unheard(&mut self, number: usize) {
        self.people.asks[number].answered = false;
        self.come_back(number, 2);
    }

    /// Whoever submitted a prompt and does not know what became of it may submit it again.
    fn come_back(&mut self, number: usize, why: u64) {
        let ask = &self.people.asks[number];
        let Command::Submit { prompt, .. } = &ask.command else { return };
        // A run does not come back: it says what it was told and ends.
        if ask.run.is_some() {
            return;
        }
        let entity = crate::dice::name(prompt.id.as_str()) ^ ask.tries << 8 ^ why;
        let mut roll = Roll::new(self.seed, Stream::Person, entity);
        let insists = self.is_last(prompt) && self.options.broken != 3;
        let returns = roll.chance(self.options.come_back);
        let after = roll.pick(&[0, 1, 500, 31_000]);
        if insists || (returns && ask.tries < TRIES) {
            let after = if insists { 31_000 } else { after };
            self.agenda.push(self.now + after, Happening::Again(number));
        }
    }
}

fn note_errand(command: &Command, reply: &Reply) {
    let refused = |wanted| matches!(reply, Reply::Refused(refusal) if refusal.kind == wanted);
    match command {
        Command::Rename { .. } => {
            sometimes!("session renamed", if *reply == Reply::Renamed);
            sometimes!("title refused", if refused(RefusalKind::Invalid));
        }
        Command::Fork { .. } => {
            sometimes!("session made from another one", if matches!(reply, Reply::Forked { .. }));
            sometimes!("session to be made there already", if refused(RefusalKind::Conflict));
        }
        Command::Delete { .. } => {
            sometimes!("session forgotten", if *reply == Reply::Deleted);
            sometimes!("session at work not forgotten", if refused(RefusalKind::Conflict));
            sometimes!("session that the disk did not forget", if refused(RefusalKind::Storage));
        }
        Command::Submit { .. } => {
            let gone = |refusal: &hostler_core::protocol::Refusal| refusal.message.contains("being deleted");
            sometimes!(
                "prompt for a session that is being forgotten",
                if matches!(reply, Reply::Refused(refusal) if gone(refusal))
            );
        }
        Command::Cancel { .. } | Command::ClearQueue { .. } | Command::Answer { .. } => {}
    }
}

fn note_refusal(kind: RefusalKind, text: &str) {
    match kind {
        RefusalKind::Invalid if text.is_empty() => sometimes!("prompt refused as empty"),
        RefusalKind::Invalid => sometimes!("prompt refused as contradictory"),
        RefusalKind::Conflict if text.contains("else than") => {
            sometimes!("prompt id reused with another text")
        }
        RefusalKind::Conflict => sometimes!("run id of another refused"),
        RefusalKind::NotFound => sometimes!("session not found"),
        RefusalKind::Cancelled => sometimes!("cancel while the session was opening"),
        _ => {}
    }
}
