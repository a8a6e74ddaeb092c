//! `kill -9` at random moments, in every protocol: nothing that was acknowledged is lost, nothing runs twice, and the
//! session goes on.

use std::collections::BTreeSet;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hostler_tests::harness::{Finished, Home, Running};
use hostler_tests::strict::{Answer, Protocol, Recorded, Script, StrictProvider};
use serde_json::{Value, json};

use crate::agents::is_sub_agent;
use crate::{PATIENCE, home};

/// How many sessions there are in each protocol, and how often a run of each is killed.
const SESSIONS: u64 = 40;
const KILLS: u64 = 5;

/// How many sessions are worked on at the same time.
const AT_ONCE: usize = 5;

/// How many steps with tools a run has.
const STEPS: usize = 4;

/// Numbers from a seed: splitmix64, whose whole state is one number.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end
    }
}

/// The moment at which a run is killed.
#[derive(Debug)]
enum Moment {
    /// It has printed so many bytes.
    Bytes(usize),
    /// It has made so many requests.
    Requests(usize),
    /// So much time has passed since its start.
    Time(Duration),
}

impl Moment {
    fn random(random: &mut Random) -> Self {
        match random.below(3) {
            0 => Self::Bytes(usize::try_from(random.below(9_000)).unwrap()),
            1 => Self::Requests(1 + usize::try_from(random.below(STEPS as u64 + 1)).unwrap()),
            _ => Self::Time(Duration::from_micros(random.below(60_000))),
        }
    }

    fn wait(&self, run: &Running<'_>, provider: &StrictProvider, before: usize) {
        match self {
            Self::Bytes(bytes) => run.wait_for_bytes(*bytes),
            Self::Requests(requests) => assert!(provider.wait_for_requests(before + requests, PATIENCE)),
            Self::Time(time) => thread::sleep(*time),
        }
    }
}

/// What a sub-agent does: it looks once.
fn looks(request: &Recorded) -> Answer {
    if request.tool_results().is_empty() {
        Answer::say("Looking.").call("call_1", "ls", json!({})).gap(Duration::from_millis(1))
    } else {
        Answer::new().deltas(["Seen ", "it."]).gap(Duration::from_millis(1))
    }
}

/// A model that lets every command leave a token of its own, has a sub-agent look around in every second step, and only
/// sums up when it is asked to go on.
fn worker() -> Script {
    let mut calls = 0;
    Script::each(move |request: &Recorded| {
        if is_sub_agent(request) {
            return looks(request);
        }
        let steps = request.steps_since_user();
        if steps == STEPS || request.last_user_text().starts_with("Go on") {
            return Answer::new().deltas(["All ", "done."]).gap(Duration::from_millis(1));
        }
        let answer =
            Answer::new().sealed("Hm.").text("Working ").text("on it.").gap(Duration::from_millis(1));
        let call = |answer: Answer, pause: &str| {
            calls += 1;
            let command = format!("echo token{calls} >> tokens; {pause}");
            answer.call(&format!("call_{calls}"), "bash", json!({"command": command}))
        };
        let answer = ["true", "sleep 0.01"].into_iter().fold(answer, call);
        if steps % 2 == 1 { answer.call("agent", "agent", json!({"prompt": "Look around."})) } else { answer }
    })
}

/// One session, whose runs are killed again and again.
struct Life {
    protocol: Protocol,
    home: Home,
    provider: StrictProvider,
    /// The tokens of the calls that are known to have ended well.
    ended: BTreeSet<String>,
    /// The prompts that were acknowledged.
    acknowledged: Vec<String>,
    /// The runs that were killed and are in the log.
    killed: Vec<String>,
    /// How many runs were killed between their acceptance and their end.
    interrupted: u64,
}

impl Life {
    fn new(protocol: Protocol) -> Self {
        let (ended, acknowledged) = (BTreeSet::new(), Vec::new());
        let provider = StrictProvider::start(worker());
        Self { protocol, home: home(), provider, ended, acknowledged, killed: Vec::new(), interrupted: 0 }
    }

    /// Lives a whole life, and says how many of its runs were interrupted.
    fn live(mut self, random: &mut Random) -> u64 {
        for kill in 0..KILLS {
            let moment = Moment::random(random);
            println!("kill {kill} at {moment:?}");
            let prompt = format!("Work number {kill}");
            let before = self.provider.requests().len();
            let run =
                self.home.run_as(self.protocol, &self.provider, ["--yolo", "--continue", &prompt]).start();
            moment.wait(&run, &self.provider, before);
            let killed = run.kill();
            self.remember(&killed);
            self.look(&killed, &prompt);
            self.go_on(kill);
        }
        self.settled();
        self.tell_the_tale();
        self.interrupted
    }

    /// Remembers the calls that the killed run said had ended well.
    fn remember(&mut self, killed: &Finished) {
        let ended_well = |line: &&&Value| line["status"] == "ok" && line["name"] == "bash";
        for line in killed.lines().of("tool.finished").iter().filter(ended_well) {
            let input = line["input"].as_str().unwrap();
            let token = input.split_whitespace().find(|word| word.starts_with("token")).unwrap();
            self.ended.insert(token.to_owned());
        }
    }

    /// The log opens, and tells how the run stands.
    fn look(&mut self, killed: &Finished, prompt: &str) {
        let lines = killed.lines();
        let Some(shown) = self.show(&lines) else {
            return assert!(
                lines.first("prompt.started").is_none(),
                "a run that was acknowledged is not in the log"
            );
        };
        assert_eq!(shown["text"], prompt);
        self.killed.push(shown["run"].as_str().unwrap().to_owned());
        if lines.first("prompt.started").is_some() {
            self.acknowledged.push(prompt.to_owned());
        }
        let told_of_its_end = lines.first("run.finished").is_some();
        let (finished, activity) = (&shown["finished"], &shown["activity"]);
        assert!(finished["status"] == "ok" || !told_of_its_end && finished.is_null(), "{shown}");
        assert!(!finished.is_null() || activity == "interrupted", "{shown}");
        self.interrupted += u64::from(finished.is_null());
    }

    /// The run as the log has it; none if it never came that far.
    fn show(&self, lines: &hostler_tests::harness::Lines) -> Option<Value> {
        let run = lines.first("run.started")?["run"].as_str().unwrap().to_owned();
        let shown = self.home.hostler(["runs", "show", &run, "--json"]).finish();
        (shown.code == Some(0)).then(|| serde_json::from_str(&shown.out).unwrap())
    }

    /// The next run is accepted by the provider and finishes.
    fn go_on(&self, kill: u64) {
        let prompt = format!("Go on after kill {kill}");
        let run = self.home.run_as(self.protocol, &self.provider, ["--yolo", "--continue", &prompt]);
        let run = run.finish().expect_code(0);
        assert_eq!(run.last()["answer"], "All done.");
    }

    /// By then the killed runs have an end.
    fn settled(&self) {
        let words = ["runs", "list", "--limit", "1000", "--json"];
        let listed = self.home.hostler(words).finish().expect_code(0).out;
        let runs: Vec<Value> = listed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        for killed in &self.killed {
            let run = runs.iter().find(|run| run["run"] == *killed);
            let reason = run.map(|run| run["finished"]["reason"].clone());
            let reason = reason.as_ref().and_then(Value::as_str);
            assert!(matches!(reason, Some("interrupted" | "completed")), "{killed} in {listed}");
        }
    }

    /// Every acknowledged prompt is in the session, what ended well was done, and nothing was done twice.
    fn tell_the_tale(&self) {
        let listed = self.home.hostler(["sessions", "list", "--json"]).finish().expect_code(0).out;
        assert_eq!(listed.lines().count(), 1, "all of it is one session: {listed}");
        let session: Value = serde_json::from_str(&listed).unwrap();
        let shown = self
            .home
            .hostler(["sessions", "show", session["id"].as_str().unwrap()])
            .finish()
            .expect_code(0)
            .out;
        for prompt in &self.acknowledged {
            assert_eq!(shown.matches(&format!(" user\n{prompt}\n")).count(), 1, "{prompt:?} in {shown}");
        }
        let told = if self.home.has("tokens") { self.home.read("tokens") } else { String::new() };
        let tokens: BTreeSet<_> = told.lines().map(str::to_owned).collect();
        assert_eq!(told.lines().count(), tokens.len(), "something ran twice: {told}");
        assert!(self.ended.is_subset(&tokens), "{:?} is missing", self.ended.difference(&tokens));
    }
}

/// A seed that somebody gave to see a failure again, else another one each time.
fn seed() -> u64 {
    let given = std::env::var("HOSTLER_TEST_SEED").ok().and_then(|text| text.parse().ok());
    given.unwrap_or_else(|| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(now.as_nanos() % u128::from(u64::MAX)).unwrap()
    })
}

/// Kills runs in that protocol, and looks after each whether all is well.
fn survives(protocol: Protocol) {
    let seed = seed();
    let lives: Vec<u64> = (0..SESSIONS).collect();
    let mut interrupted = 0;
    for lives in lives.chunks(AT_ONCE) {
        let live = |life: u64| Life::new(protocol).live(&mut Random(seed.wrapping_add(life << 32)));
        let ended: Vec<_> = thread::scope(|scope| {
            let threads: Vec<_> = lives.iter().map(|life| scope.spawn(move || live(*life))).collect();
            threads.into_iter().map(thread::ScopedJoinHandle::join).collect()
        });
        let failed = ended.iter().filter(|ended| ended.is_err()).count();
        assert_eq!(failed, 0, "sessions failed; HOSTLER_TEST_SEED={seed} kills at the same moments again");
        interrupted += ended.into_iter().flatten().sum::<u64>();
    }
    println!("{interrupted} runs were interrupted");
    assert!(interrupted >= SESSIONS, "hardly any run was killed in the middle, so that little was tested");
}

#[test]
fn nothing_is_lost_and_nothing_runs_twice_in_chat_completions() {
    survives(Protocol::Chat);
}

#[test]
fn nothing_is_lost_and_nothing_runs_twice_in_messages() {
    survives(Protocol::Messages);
}

#[test]
fn nothing_is_lost_and_nothing_runs_twice_in_responses() {
    survives(Protocol::Responses);
}

#[test]
fn nothing_is_lost_and_nothing_runs_twice_in_gemini() {
    survives(Protocol::Gemini);
}
