//! `hostler run`: ties the decisions of `client::Headless` to signals, standard input and output, and the door.

mod aside;
mod attach;
mod closed;
mod gather;
mod keep;
mod opening;
mod options;
mod output;
mod prompt;
mod replies;
mod signals;
mod whole;

use std::collections::VecDeque;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use hostler_core::client::{Effect, Headless, Input, Options, Wishes};
use hostler_core::config::Config;
use hostler_core::machine::{Effects, Machine};
use hostler_core::protocol::{Refusal, RefusalKind, Reply, Request};
use hostler_shell::clock::Clock;
use hostler_shell::door::{Door, DoorError, InProcess, Subscription};
use hostler_shell::rules;
use tokio::runtime::Runtime;

use crate::cli::RunArgs;
use crate::failure::Failure;
use crate::place::Place;
use crate::room::{self, no_room};
use keep::Keeping;
use opening::{Opened, Opening};
use output::{Lost, Output};
use replies::Replies;
use signals::Signals;

/// How many pieces of output may wait for a slow reader before events wait too.
const QUEUED: usize = 64;

/// How long the end of what is under way is waited for once everything is said.
const CLOSING: Duration = Duration::from_secs(2);

/// What a run has before anything else: signals that come while the command line and the configuration are read are the
/// run's as well.
pub(crate) struct Watch {
    runtime: Runtime,
    signals: Signals,
}

impl Watch {
    /// Watches for signals from here on; else says why that cannot be.
    pub(crate) fn begin() -> Result<Self, Failure> {
        let runtime = room::runtime()?;
        let signals = {
            let _inside = runtime.enter();
            Signals::watch()
        };
        let signals =
            signals.map_err(|error| Failure::error(no_room("Signals cannot be watched", &error)))?;
        Ok(Self { runtime, signals })
    }
}

/// Runs a prompt to its end.
pub(crate) fn run(args: RunArgs, Watch { runtime, signals }: Watch) -> Result<ExitCode, Failure> {
    let code = runtime.block_on(async {
        let run = Run::new(&args, signals)?;
        Ok::<u8, Failure>(run.until_over(args).await)
    })?;
    // Threads that wait for a lock or for standard input cannot be ended; they go with the process.
    runtime.shutdown_background();
    Ok(ExitCode::from(code))
}

struct Run {
    machine: Headless,
    /// The models that it names, on the command line or where it is configured.
    models: Vec<String>,
    clock: Clock,
    /// Where it runs and what is configured there.
    place: Result<(Arc<Place>, Arc<Config>), Refusal>,
    /// Whether what happens is kept.
    keeps: bool,
    /// The file that the answer goes to, and what becomes of that.
    keeping: Keeping,
    signals: Signals,
    output: Output,
    queue: VecDeque<String>,
    errors: Output,
    told: VecDeque<String>,
    /// Whether both outputs lead to the same terminal, where one writer keeps all in order.
    together: bool,
    opening: Opening,
    door: Option<InProcess>,
    replies: Replies,
    events: Option<Subscription>,
    code: Option<u8>,
}

/// What the loop has waited for.
enum Woken {
    Input(Input),
    Opened(Opened),
    Written,
}

impl Run {
    fn new(args: &RunArgs, signals: Signals) -> Result<Self, Failure> {
        let clock = Clock::start();
        let wishes = options::wishes(args)?;
        let mut options = options::options(args, wishes.clone())?;
        tracing::info!(run = %options.prompt.id, "a run begins");
        let place = configured(args, wishes, &mut options);
        let terms = &options.prompt.terms;
        let models = [&terms.model, &terms.small_model].into_iter().flatten().cloned().collect();
        Ok(Self {
            machine: Headless::new(options, clock.now()),
            models,
            clock,
            place,
            keeps: !args.ephemeral,
            keeping: Keeping::new(args.output.clone()),
            signals,
            output: Output::watched(std::io::stdout()),
            queue: VecDeque::new(),
            errors: Output::start(std::io::stderr()),
            told: VecDeque::new(),
            together: output::on_one_terminal(&std::io::stdout(), &std::io::stderr()),
            opening: Opening::default(),
            door: None,
            replies: Replies::default(),
            events: None,
            code: None,
        })
    }

    async fn until_over(mut self, args: RunArgs) -> u8 {
        self.feed(Input::Begin);
        if closed::was_closed() {
            self.feed(Input::OutputClosed);
        }
        if let Some(error) = self.output.hindrance().or_else(|| self.errors.hindrance()) {
            let message = no_room("The program cannot go on", &error);
            self.feed(Input::Unavailable(Refusal::new(RefusalKind::Storage, message)));
        }
        if let Err(refusal) = &self.place {
            self.feed(Input::Unavailable(refusal.clone()));
        }
        let place = self.place.as_ref().ok().cloned();
        let mut gathering = gather::start(args, std::mem::take(&mut self.models), place);
        while self.code.is_none() {
            let (room, room_for_errors) = (self.output.ready(), self.errors.ready());
            let woken = tokio::select! {
                biased;
                signal = self.signals.next() => Woken::Input(Input::Signal(signal)),
                lost = self.output.lost() => Woken::Input(input_of(lost)),
                () = wait(&self.clock, self.machine.deadline()) => Woken::Input(Input::Tick),
                () = room, if !self.queue.is_empty() => Woken::Written,
                () = room_for_errors, if !self.told.is_empty() => Woken::Written,
                reply = self.replies.next() => answered(reply),
                input = gathering.ready() => Woken::Input(input),
                opened = self.opening.ready() => Woken::Opened(opened),
                kept = self.keeping.done() => Woken::Input(Input::Kept(kept)),
                event = next(&mut self.events), if self.queue.len() < QUEUED => match event {
                    Ok(event) => Woken::Input(Input::Event(Box::new((*event).clone()))),
                    Err(error) => unavailable(&error),
                },
            };
            match woken {
                Woken::Input(input) => self.feed(input),
                Woken::Opened(opened) => self.opened(opened),
                Woken::Written => self.write(),
            }
        }
        self.finish().await
    }

    fn feed(&mut self, input: Input) {
        note(&input);
        let mut out = Effects::new();
        self.machine.handle(self.clock.now(), input, &mut out);
        let (_, effects) = out.into_parts();
        for effect in effects {
            match effect {
                Effect::Open => self.open(),
                Effect::Request(request) => self.request(*request),
                Effect::Keep(text) => self.keeping.start(text),
                Effect::Out(text) => self.queue.push_back(text),
                Effect::Err(text) if self.together => self.queue.push_back(text),
                Effect::Err(text) => self.told.push_back(text),
                Effect::Exit(code) => {
                    tracing::info!(code, "the run is over for its client");
                    self.code = Some(code);
                }
            }
        }
        self.write();
    }

    /// Hands over what the writers have room for.
    fn write(&mut self) {
        hand_over(&mut self.queue, &self.output);
        hand_over(&mut self.told, &self.errors);
    }

    fn open(&mut self) {
        // Without a place the run has ended already.
        let Ok((place, config)) = &self.place else { return };
        self.opening.start(place.clone(), self.clock, config.clone(), self.keeps);
    }

    fn opened(&mut self, opened: Opened) {
        match opened {
            Ok((door, events)) => {
                (self.door, self.events) = (Some(door), Some(events));
                self.feed(Input::Opened);
            }
            Err(refusal) => self.feed(Input::Unavailable(refusal)),
        }
    }

    /// Asks at the door, which is open before anything is asked.
    fn request(&mut self, request: Request) {
        let Some(door) = self.door.clone() else { return };
        self.replies.expect(async move { door.request(request).await });
    }

    /// Says what is left to say and lets everything end, within the bound that a signal sets, also one that comes now.
    async fn finish(mut self) -> u8 {
        let said = loop {
            let until = self.machine.must_end_by().map(|at| self.clock.instant(at));
            let (output, queue) = (&mut self.output, &mut self.queue);
            let woken = tokio::select! {
                biased;
                signal = self.signals.next() => Err(signal),
                said = say_rest(output, queue) => Ok(said.map(input_of)),
                // A reader that takes nothing is not waited for; whether it is gone is not known then.
                () = until_then(until) => Ok(Some(Input::Undelivered)),
            };
            match woken {
                Ok(said) => break said,
                Err(signal) => self.feed(Input::Signal(signal)),
            }
        };
        if let Some(lost) = said {
            self.feed(lost);
        }
        self.close().await;
        self.code.unwrap_or(1)
    }

    /// Lets what is under way end; what does not end in time goes with the process.
    async fn close(&mut self) {
        let most = tokio::time::Instant::now() + CLOSING;
        let until = self.machine.must_end_by().map_or(most, |at| self.clock.instant(at).min(most));
        let (errors, told) = (&mut self.errors, &mut self.told);
        let closing = async {
            // With standard error gone there is nobody to tell.
            say_rest(errors, told).await;
            if let Some(door) = &self.door {
                door.close().await;
            }
        };
        // A door that does not close in time is left open.
        let _ = tokio::time::timeout_at(until, closing).await;
    }
}

/// Notes in the log files what comes from outside.
fn note(input: &Input) {
    match input {
        Input::Signal(signal) => tracing::info!(?signal, "a signal came"),
        Input::Undelivered => tracing::info!("standard output was not read to its end in time"),
        Input::OutputClosed => tracing::info!("the reader of standard output is gone"),
        Input::OutputFailed(why) => tracing::info!(why, "standard output cannot be written"),
        Input::Unavailable(refusal) => tracing::info!(kind = ?refusal.kind, "the workspace is not to be had"),
        Input::ServerLost(_) => tracing::info!("the server is lost"),
        Input::Mistake(_) | Input::UnknownModel(_) => tracing::info!("what was asked for makes no sense"),
        Input::Begin
        | Input::Opened
        | Input::Ready(_)
        | Input::Reply(_)
        | Input::Event(_)
        | Input::Kept(_)
        | Input::Tick => {}
    }
}

/// Hands over what a writer has room for.
fn hand_over(queue: &mut VecDeque<String>, output: &Output) {
    while let Some(text) = queue.pop_front() {
        if let Some(text) = output.offer(text) {
            queue.push_front(text);
            return;
        }
    }
}

fn input_of(lost: Lost) -> Input {
    match lost {
        Lost::Closed => Input::OutputClosed,
        Lost::Failed(why) => Input::OutputFailed(why),
    }
}

/// Writes what is left; says why if it cannot be.
async fn say_rest(output: &mut Output, queue: &mut VecDeque<String>) -> Option<Lost> {
    while !queue.is_empty() {
        output.ready().await;
        hand_over(queue, output);
    }
    output.finish().await
}

async fn until_then(until: Option<tokio::time::Instant>) {
    match until {
        Some(until) => tokio::time::sleep_until(until).await,
        None => std::future::pending().await,
    }
}

fn answered(reply: Result<Reply, DoorError>) -> Woken {
    match reply {
        Ok(reply) => Woken::Input(Input::Reply(Box::new(reply))),
        Err(error) => unavailable(&error),
    }
}

fn unavailable(error: &DoorError) -> Woken {
    Woken::Input(Input::Unavailable(Refusal::new(RefusalKind::Storage, error.to_string())))
}

async fn next(
    events: &mut Option<Subscription>,
) -> Result<std::sync::Arc<hostler_core::protocol::Event>, DoorError> {
    match events {
        Some(events) => events.next().await,
        None => std::future::pending().await,
    }
}

async fn wait(
    clock: &Clock,
    deadline: Option<(hostler_core::time::Timestamp, hostler_core::time::Deadline)>,
) {
    match deadline {
        Some((at, _)) => tokio::time::sleep_until(clock.instant(at)).await,
        None => std::future::pending().await,
    }
}

/// Finds out where the run is and what is configured there.
fn configured(
    args: &RunArgs,
    wishes: Wishes,
    options: &mut Options,
) -> Result<(Arc<Place>, Arc<Config>), Refusal> {
    let place = Place::here().map_err(|message| Refusal::new(RefusalKind::Storage, message))?;
    options.cwd = place.root.display().to_string();
    options.earlier = place.earlier.clone();
    if !place.root.is_dir() {
        options.warnings.push(format!(
            "The current directory {} was deleted, so no tool can work in it; change to one that exists.",
            options.cwd
        ));
    }
    if !args.ephemeral {
        // Where nothing is kept it does not matter where it would be.
        options.warnings.extend(place.warning.clone());
    }
    let loaded = place.configuration().map_err(|message| Refusal::new(RefusalKind::Invalid, message))?;
    options.warnings.extend(loaded.warnings);
    (options.prompt.terms, options.timeout) = wishes.settle(&loaded.config, loaded.rules);
    let terms = &mut options.prompt.terms;
    let met = rules::meet(std::mem::take(&mut terms.rules), &place.root);
    terms.rules = met.rules;
    options.warnings.extend(met.warnings);
    Ok((Arc::new(place), Arc::new(loaded.config)))
}
