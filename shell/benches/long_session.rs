//! Measures a session of 10,000 messages: how long it takes to open and how much memory, and whether deciding about an
//! input takes longer the longer the session is.
//!
//! `cargo bench -p hostler-shell --bench long_session`. It asserts nothing: it is a measurement and not a test. Opening is
//! measured in a process of its own, so that its memory is that of a process that does nothing else.

use std::error::Error;
use std::path::Path;
use std::process::Command as Process;
use std::time::{Duration, Instant};

use hostler_core::content::Usage;
use hostler_core::ids::{AttemptId, ClientId, PromptId, RequestId, RunId, SessionId, StepId, TurnId};
use hostler_core::machine::{Effects, Machine};
use hostler_core::model::{FinishReason, ModelEvent, ModelRef, Preparation};
use hostler_core::prompt::{Prompt, Terms};
use hostler_core::protocol::{Command, SessionChoice};
use hostler_core::record::Strength;
use hostler_core::session::{self, Durable, FOLD_VERSION, Settings, snapshot_is_due};
use hostler_core::time::Timestamp;
use hostler_core::workspace::{Input, Opened, Workspace};
use hostler_shell::store::Store;

/// How many prompts are answered: each becomes a message, and so does its answer.
const PROMPTS: u32 = 5_000;

/// How many of the first and of the last prompts are compared.
const COMPARED: usize = 500;

type Measured<T> = Result<T, Box<dyn Error>>;

fn main() -> Measured<()> {
    let arguments: Vec<_> = std::env::args().collect();
    if let Some(at) = arguments.iter().position(|argument| argument == "--open") {
        return open(Path::new(arguments.get(at + 1).ok_or("where is it?")?));
    }
    for snapshots in [true, false] {
        let dir = tempfile::tempdir()?;
        let times = fill(dir.path(), snapshots)?;
        let (first, last) = (&times[..COMPARED], &times[times.len() - COMPARED..]);
        println!(
            "{} messages, {}",
            2 * PROMPTS,
            if snapshots { "with snapshots" } else { "without snapshots" }
        );
        println!("  deciding about one prompt and its answer: first {} last {}", spread(first), spread(last));
        for _ in 0..3 {
            let opened = Process::new(std::env::current_exe()?).arg("--open").arg(dir.path()).output()?;
            print!("  {}", String::from_utf8_lossy(&opened.stdout));
        }
    }
    Ok(())
}

/// The median and the ninetieth percentile.
fn spread(times: &[Duration]) -> String {
    let mut times = times.to_vec();
    times.sort_unstable();
    format!("{:?} ({:?});", times[times.len() / 2], times[times.len() * 9 / 10])
}

fn id() -> SessionId {
    SessionId::new("s")
}

/// Opens the session as a driver does.
fn open(dir: &Path) -> Measured<()> {
    let began = Instant::now();
    let store = Store::open(dir)?;
    let loaded = store.load(&id(), FOLD_VERSION)?.ok_or("there is no session")?;
    let mut durable = match &loaded.snapshot {
        Some((_, body)) => serde_json::from_str(body)?,
        None => Durable::new(id()),
    };
    let (snapshot, tail) = (loaded.snapshot.is_some(), loaded.tail.len());
    loaded.tail.into_iter().for_each(|(_, entry)| durable.evolve(entry.at, &entry.record));
    let took = began.elapsed();
    let status = std::fs::read_to_string("/proc/self/status")?;
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("VmHWM unknown");
    println!(
        "opened in {took:?}, {peak}: {} messages, snapshot {snapshot}, {tail} records behind it",
        durable.messages.len()
    );
    Ok(())
}

/// A session under way.
struct Session<'a> {
    machine: Workspace,
    store: Store,
    dir: &'a Path,
    now: u64,
    snapshots: bool,
    deciding: Duration,
}

impl Session<'_> {
    fn happens(&mut self, input: Input) -> Measured<()> {
        self.now += 40;
        let mut out = Effects::new();
        let began = Instant::now();
        self.machine.handle(Timestamp::from_millis(self.now), input, &mut out);
        self.deciding += began.elapsed();
        let (entries, _) = out.into_parts();
        let rests = entries.iter().any(|entry| entry.record.is_rest());
        let committed = self.store.commit(&entries, Strength::Normal)?;
        if let (true, true, Some(last)) = (rests, self.snapshots, committed.last()) {
            self.save(last.seq)?;
        }
        Ok(())
    }

    fn save(&mut self, seq: u64) -> Measured<()> {
        let (tail, before) = self.store.tail_bytes(&id(), FOLD_VERSION)?;
        if let Some(durable) = self.machine.durable(&id()).filter(|_| snapshot_is_due(tail, before)) {
            let body = serde_json::to_string(durable)?;
            self.store.save_snapshot(&id(), FOLD_VERSION, seq, &body)?;
        }
        Ok(())
    }

    fn said(&mut self, turn: u32, event: ModelEvent) -> Measured<()> {
        let attempt = AttemptId { step: StepId { turn: TurnId(turn), step: 1 }, attempt: 1 };
        self.happens(Input::Session { session: id(), input: session::Input::Model { attempt, event } })
    }

    /// A prompt is submitted and prepared.
    fn submit(&mut self, number: u32) -> Measured<()> {
        let prompt = Prompt {
            id: PromptId::new(format!("0195f0c2-7e1a-7b4c-9d3e-{number:012}")),
            run: Some(RunId::new(format!("run-{number}"))),
            client: ClientId::new("bench"),
            text: format!(
                "What does function number {number} do, and who calls it? Say it in a few sentences."
            ),
            attachments: Vec::new(),
            terms: Terms::headless(),
        };
        let name = prompt.id.clone();
        let command = Command::Submit { session: SessionChoice::New { id: id() }, prompt };
        self.happens(Input::Request {
            id: RequestId(u64::from(number)),
            command,
            taken: None,
            source: None,
        })?;
        if number == 1 {
            self.happens(Input::SessionOpened {
                session: id(),
                opened: Opened::Ready(None),
                children: Vec::new(),
                taken: Vec::new(),
            })?;
        }
        let found = Preparation {
            model: ModelRef { provider: "p".to_owned(), model: "m".to_owned() },
            system: "You are measured.".to_owned(),
            answer_schema: None,
            tools: Vec::new(),
            context_window: None,
            prices: None,
            notices: Vec::new(),
            small: None,
            renewable: false,
        };
        let input = session::Input::Prepared { prompt: name, result: Box::new(Ok(found)) };
        self.happens(Input::Session { session: id(), input })
    }

    /// The answer to the prompt of that turn.
    fn answer(&mut self, turn: u32) -> Measured<()> {
        self.said(turn, ModelEvent::Connected)?;
        for piece in 0..12 {
            let text = format!("Piece {piece} of answer {turn} says a little more about it. ");
            self.said(turn, ModelEvent::Text { block: 0, text })?;
        }
        self.said(turn, ModelEvent::Usage(Usage { input: 1_000, output: 150, ..Usage::default() }))?;
        self.said(turn, ModelEvent::Finished(FinishReason::Stop))
    }
}

/// Fills a log; returns how long the decisions about each prompt took.
fn fill(dir: &Path, snapshots: bool) -> Measured<Vec<Duration>> {
    let machine = Workspace::new(Settings::default());
    let (store, deciding) = (Store::open(dir)?, Duration::ZERO);
    let mut session = Session { machine, store, dir, now: 1_000_000, snapshots, deciding };
    let mut times = Vec::new();
    session.submit(1)?;
    for turn in 1..=PROMPTS {
        session.deciding = Duration::ZERO;
        // The next one waits already, so that the session is never closed.
        session.submit(turn + 1)?;
        session.answer(turn)?;
        times.push(session.deciding);
    }
    session.store.maintain()?;
    println!("{}: {} bytes", session.dir.display(), std::fs::metadata(session.dir.join("hostler.db"))?.len());
    Ok(times)
}
