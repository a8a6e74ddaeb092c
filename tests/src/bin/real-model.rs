//! Uses the built program with a real, very small language model, and checks the shape of what happens.
//!
//! Usage: `real-model BASE_URL`, with `hostler-under-test` built beside it; `.ci/real-model` does all of it.
//!
//! So small a model makes no sense and does not always do what it is told. Nothing is demanded of what it says, and it
//! is given several prompts to call a tool at all; but what the program makes of it must be right in every run.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

/// Asked one after the other, each in a session of its own, until the model calls `bash` and then answers.
const FIRST: [&str; 6] = [
    "Print the file notes.txt",
    "Show the files in this directory",
    "Print the file todo.txt",
    "Where am I?",
    "Show the files in /tmp",
    "Print the file a.txt",
];

/// Asked one after the other, all in the session that the first prompt has begun, until one is answered.
const SECOND: [&str; 5] = [
    "Print the file todo.txt",
    "Show the files in this directory",
    "Where am I?",
    "Print the file notes.txt",
    "Show the files in /etc",
];

/// The programs that the model's commands can find: it writes whatever comes to its mind, and is allowed everything.
const PROGRAMS: [&str; 8] = ["bash", "cat", "file", "head", "ls", "sh", "tail", "wc"];

/// How long the program may take for a run before it is killed; it is told to end by itself well before.
const LIMIT: Duration = Duration::from_secs(60);

type Checked<T> = Result<T, String>;

fn main() -> ExitCode {
    let Some(base_url) = std::env::args().nth(1) else {
        eprintln!("usage: real-model BASE_URL, such as http://127.0.0.1:18080/v1");
        return ExitCode::from(2);
    };
    match check(&base_url) {
        Ok(summary) => {
            println!("{summary}");
            ExitCode::SUCCESS
        }
        Err(problem) => {
            eprintln!("real-model: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn check(base_url: &str) -> Checked<String> {
    let place = Place::new(base_url)?;
    let (first, asked) = ask(&FIRST, |prompt| place.run(&[prompt]), Run::used_bash)?;
    let (second, again) = ask(&SECOND, |prompt| place.run(&["--continue", prompt]), Run::answered)?;
    if first.session() != second.session() {
        return Err(format!("--continue left session {} for {}", first.session(), second.session()));
    }
    let replayed = place.replay_all()?;
    Ok(format!(
        "bash was called and answered from (prompt {asked} of {}), the session went on (prompt {again} of {}), \
         and {replayed} flight records replay as they were recorded",
        FIRST.len(),
        SECOND.len()
    ))
}

/// Asks until a run does what is wanted; fails if none does, or if any breaks the contract. Also says which it was.
fn ask(
    prompts: &[&str],
    run: impl Fn(&str) -> Checked<Run>,
    wanted: fn(&Run) -> bool,
) -> Checked<(Run, usize)> {
    let mut told = Vec::new();
    for (at, prompt) in prompts.iter().enumerate() {
        let run = run(prompt)?;
        run.keeps_the_contract().map_err(|broken| format!("{prompt:?}: {broken}\n{run}"))?;
        println!("{prompt:?}: {}", run.summary());
        if wanted(&run) {
            return Ok((run, at + 1));
        }
        told.push(format!("{prompt:?}\n{run}"));
    }
    Err(format!("none of {} prompts led to what was wanted:\n{}", prompts.len(), told.join("\n")))
}

/// A directory to work in, and what the program is run with.
struct Place {
    dir: TempDir,
    program: PathBuf,
    base_url: String,
}

impl Place {
    fn new(base_url: &str) -> Checked<Self> {
        let me = std::env::current_exe().map_err(|error| format!("where am I? {error}"))?;
        let program = me.with_file_name("hostler-under-test");
        if !program.exists() {
            return Err(format!("{} is not built", program.display()));
        }
        let dir = tempfile::tempdir().map_err(|error| error.to_string())?;
        let place = Self { dir, program, base_url: base_url.to_owned() };
        place
            .link_programs()
            .map_err(|error| format!("the programs for the model cannot be linked: {error}"))?;
        for (name, text) in [("notes.txt", "The key is under the mat.\n"), ("todo.txt", "Feed the horses.\n")]
        {
            write(&place.work(), name, text)?;
        }
        Ok(place)
    }

    fn work(&self) -> PathBuf {
        self.dir.path().join("repository")
    }

    fn programs(&self) -> PathBuf {
        self.dir.path().join("bin")
    }

    fn link_programs(&self) -> std::io::Result<()> {
        fs::create_dir(self.programs())?;
        for name in PROGRAMS {
            let found = ["/bin", "/usr/bin"].map(|dir| Path::new(dir).join(name));
            if let Some(found) = found.iter().find(|path| path.exists()) {
                symlink(found, self.programs().join(name))?;
            }
        }
        Ok(())
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.current_dir(self.work()).env_clear().stdin(Stdio::null());
        command.env("PATH", self.programs());
        command.env("HOME", self.dir.path()).env("XDG_STATE_HOME", self.dir.path().join("state"));
        command.env("OPENAI_BASE_URL", &self.base_url);
        command
    }

    fn run(&self, arguments: &[&str]) -> Checked<Run> {
        let mut command = self.command();
        command.args(["run", "--format", "jsonl", "--yolo", "--model", "openai/tiny", "--max-steps", "8"]);
        command.args(["--timeout", "30s"]).args(arguments);
        let ended = Ended::of(command)?;
        let line =
            |line: &str| serde_json::from_str(line).map_err(|error| format!("{error} in the line {line}"));
        let lines = ended.stdout.lines().map(line).collect::<Checked<_>>()?;
        Ok(Run { lines, code: ended.code, stderr: ended.stderr })
    }

    /// Replays what every process has recorded, and says how many there were.
    fn replay_all(&self) -> Checked<usize> {
        let workspaces = self.dir.path().join("state/hostler/workspaces");
        let mut records = Vec::new();
        for workspace in entries(&workspaces)? {
            records.extend(entries(&workspace.join("flight"))?);
        }
        for record in &records {
            let mut command = self.command();
            command.arg("replay").arg(record);
            let ended = Ended::of(command)?;
            if ended.code != Some(0) {
                return Err(format!(
                    "{} does not replay: {}{}",
                    record.display(),
                    ended.stdout,
                    ended.stderr
                ));
            }
        }
        if records.is_empty() { Err("there is no flight record".to_owned()) } else { Ok(records.len()) }
    }
}

fn write(dir: &Path, name: &str, text: &str) -> Checked<()> {
    let written = fs::create_dir_all(dir).and_then(|()| fs::write(dir.join(name), text));
    written.map_err(|error| format!("{name} cannot be written: {error}"))
}

fn entries(dir: &Path) -> Checked<Vec<PathBuf>> {
    let entries = fs::read_dir(dir).map_err(|error| format!("{}: {error}", dir.display()))?;
    Ok(entries.flatten().map(|entry| entry.path()).collect())
}

/// A process that has ended.
struct Ended {
    stdout: String,
    stderr: String,
    code: Option<i32>,
}

impl Ended {
    /// Waits for a process to end, and kills it if it takes too long.
    fn of(mut command: Command) -> Checked<Self> {
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = child.map_err(|error| format!("the program does not start: {error}"))?;
        let (stdout, stderr) = (collect(child.stdout.take()), collect(child.stderr.take()));
        let Ok(stdout) = stdout.recv_timeout(LIMIT) else {
            return Err(killed(&mut child));
        };
        let code = child.wait().map_err(|error| error.to_string())?.code();
        Ok(Self { stdout, stderr: stderr.recv_timeout(LIMIT).unwrap_or_default(), code })
    }
}

fn killed(child: &mut Child) -> String {
    // It may have ended in the meantime.
    let _ = child.kill().and_then(|()| child.wait());
    format!("the program did not end within {} s", LIMIT.as_secs())
}

fn collect(pipe: Option<impl Read + Send + 'static>) -> mpsc::Receiver<String> {
    let (said, all) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // What has come until it broke is all there is.
            let _ = pipe.read_to_end(&mut bytes);
        }
        let _ = said.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    all
}

/// What one `hostler run --format jsonl` has printed.
struct Run {
    lines: Vec<Value>,
    code: Option<i32>,
    stderr: String,
}

impl Run {
    fn of_type<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Value> {
        self.lines.iter().filter(move |line| line["type"] == kind)
    }

    fn last(&self) -> &Value {
        self.lines.last().unwrap_or(&Value::Null)
    }

    fn session(&self) -> &str {
        self.last()["session"].as_str().unwrap_or_default()
    }

    /// What must be true of every run, however it went.
    fn keeps_the_contract(&self) -> Checked<()> {
        let first = self.lines.first().unwrap_or(&Value::Null);
        demand(first["type"] == "run.started", "the first line is not run.started")?;
        demand(self.last()["type"] == "run.finished", "the last line is not run.finished")?;
        demand(self.of_type("run.finished").count() == 1, "there are several run.finished")?;
        let counted = self.lines.iter().zip(1..).all(|(line, seq)| line["seq"] == seq && line["v"] == 1);
        demand(counted, "seq is not counted from 1 without a gap")?;
        demand(
            self.last()["exit_code"].as_i64() == self.code.map(i64::from),
            "the exit code is another one",
        )?;
        self.calls_add_up()
    }

    /// Each call that starts ends, once; one that did not start cannot have done anything.
    fn calls_add_up(&self) -> Checked<()> {
        let mut open = BTreeSet::new();
        for line in &self.lines {
            let call = text(line, "call");
            match text(line, "type") {
                "tool.started" => demand(open.insert(call), "a call was started twice")?,
                "tool.finished" => {
                    demand(
                        open.remove(call) || line["status"] != "ok",
                        "a call that was not started did something",
                    )?;
                }
                _ => {}
            }
        }
        demand(open.is_empty(), "a call has started and not finished")
    }

    /// Whether it ended with an answer, as far as the program can tell.
    fn answered(&self) -> bool {
        self.last()["status"] == "ok" && self.last()["answer"].is_string()
    }

    /// Whether `bash` was really run, what came of it was given to the model, and that answered.
    fn used_bash(&self) -> bool {
        let ran = |line: &Value| {
            line["type"] == "tool.finished"
                && line["name"] == "bash"
                && (line["status"] == "ok" || line["status"] == "error")
                && self.of_type("tool.started").any(|started| started["call"] == line["call"])
        };
        let mut after = self.lines.iter().skip_while(|line| !ran(line));
        self.answered() && after.any(|line| line["type"] == "step.started")
    }

    fn summary(&self) -> String {
        let call = |line: &Value| {
            format!("{} {} ({})", text(line, "name"), text(line, "input"), text(line, "status"))
        };
        let calls: Vec<_> = self.of_type("tool.finished").map(call).collect();
        let calls = if calls.is_empty() { "no call".to_owned() } else { calls.join(", ") };
        let last = self.last();
        let answer: String = text(last, "answer").chars().take(60).collect();
        format!("{calls}; {} after {} steps: {answer:?}", text(last, "status"), last["steps"])
    }
}

fn text<'a>(line: &'a Value, field: &str) -> &'a str {
    line[field].as_str().unwrap_or_default()
}

fn demand(held: bool, otherwise: &str) -> Checked<()> {
    if held { Ok(()) } else { Err(otherwise.to_owned()) }
}

impl std::fmt::Display for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for line in &self.lines {
            writeln!(f, "  {line}")?;
        }
        write!(f, "  exit code {:?}\n  {}", self.code, self.stderr.trim_end())
    }
}
