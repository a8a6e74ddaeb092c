//! Measures a built `hostler` from outside, beside `curl` doing what it can of the same.
//!
//! Usage: `bench HOSTLER [RUNS]`; prints a Markdown table. What the figures mean and how they come about: `README.md`
//! beside this file. Nothing here asserts anything: it is a measurement and not a test.

mod answers;
mod figures;
mod place;
mod server;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use answers::{CALLS, DELTAS};
use figures::{Row, Sample, table};
use place::Place;
use server::Server;

/// How often everything is measured unless the command line says otherwise.
const RUNS: usize = 21;

type Measured<T> = Result<T, String>;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let runs = |text: String| text.parse().ok().filter(|runs| *runs > 0);
    match (arguments.next(), arguments.next().map_or(Some(RUNS), runs)) {
        (Some(program), Some(runs)) => match measure(program.into(), runs) {
            Ok(report) => {
                println!("{report}");
                ExitCode::SUCCESS
            }
            Err(problem) => {
                eprintln!("bench: {problem}");
                ExitCode::FAILURE
            }
        },
        _ => {
            eprintln!("usage: bench HOSTLER [RUNS], such as bench target/dist/hostler");
            ExitCode::from(2)
        }
    }
}

fn measure(program: PathBuf, runs: usize) -> Measured<String> {
    let bench = Bench { server: Server::start()?, place: Place::new(program)?, runs };
    let rows = [
        bench.version()?,
        bench.start(true)?,
        bench.start(false)?,
        bench.deltas("each delta written by itself", answers::deltas())?,
        bench.deltas("all written at once", answers::deltas().in_one_piece())?,
        bench.calls()?,
        bench.memory("a 4,000-delta answer", || vec![answers::deltas()])?,
        bench.memory("50 tool calls", answers::calls)?,
        bench.size()?,
    ];
    let (machine, version) = (figures::machine(), bench.place.version()?);
    Ok(format!("{}\n{version}, {runs} runs each: median (90th percentile). {machine}", table(&rows)))
}

struct Bench {
    server: Server,
    place: Place,
    runs: usize,
}

impl Bench {
    fn version(&self) -> Measured<Row> {
        let (mut ours, mut theirs) = (Sample::default(), Sample::default());
        for _ in 0..self.runs {
            ours.add(timed(|| self.place.version())?.1);
            theirs.add(timed(|| self.place.curl(&["--version"]))?.1);
        }
        Ok(Row::beside("`--version`", ours, "`curl --version`", theirs, "5 ms"))
    }

    /// From before the process exists to the first byte of its request.
    fn start(&self, fresh: bool) -> Measured<Row> {
        let mut ours = Sample::default();
        self.run_once(vec![answers::short()])?;
        for _ in 0..self.runs {
            if fresh {
                self.place.forget()?;
            }
            let began = Instant::now();
            self.run_once(vec![answers::short()])?;
            let first = self.server.first_byte().ok_or("the program made no request")?;
            ours.add(first.duration_since(began));
        }
        let what = if fresh { "in a directory for the first time" } else { "in a directory with sessions" };
        Ok(Row::alone(format!("start to first byte of the request, {what}"), ours, "10 ms"))
    }

    fn deltas(&self, how: &str, response: server::Response) -> Measured<Row> {
        let (mut ours, mut theirs) = (Sample::default(), Sample::default());
        for _ in 0..self.runs {
            let (answer, took) = timed(|| self.run_once(vec![response.clone()]))?;
            if answer.trim_end() != answers::delta_text().trim_end() {
                return Err("the answer of many deltas is not what was sent".to_owned());
            }
            ours.add(took);
            theirs.add(self.curl_reads(vec![response.clone()])?);
        }
        Ok(Row::beside(
            format!("answer of {DELTAS} deltas, {how}"),
            ours,
            "`curl -N`",
            theirs,
            "at most 1.5 × curl",
        ))
    }

    fn calls(&self) -> Measured<Row> {
        let (mut ours, mut theirs) = (Sample::default(), Sample::default());
        for _ in 0..self.runs {
            ours.add(timed(|| self.run_once(answers::calls()))?.1);
            let curl = self.curl_reads(answers::calls())?;
            let shells = timed(|| (0..CALLS).try_for_each(|n| self.place.shell(&answers::command(n))))?.1;
            theirs.add(curl + shells);
        }
        let beside = "`curl -N`, then 50 × `bash -c`";
        Ok(Row::beside(format!("{CALLS} `bash` calls in a row"), ours, beside, theirs, "500 ms"))
    }

    fn memory(&self, what: &str, script: impl Fn() -> Vec<server::Response>) -> Measured<Row> {
        let mut ours = Sample::default();
        for _ in 0..self.runs {
            self.server.load(script());
            ours.add_bytes(self.place.peak_memory(&self.server.base_url())?);
        }
        Ok(Row::alone(format!("peak memory, {what}"), ours, "20 MB"))
    }

    fn size(&self) -> Measured<Row> {
        let mut ours = Sample::default();
        let (bytes, stripped) = self.place.size()?;
        ours.add_bytes(bytes);
        let what = if stripped { "size of the stripped binary" } else { "size of the binary (NOT stripped)" };
        Ok(Row::alone(what, ours, "20 MB"))
    }

    fn run_once(&self, script: Vec<server::Response>) -> Measured<String> {
        self.server.load(script);
        self.place.run(&self.server.base_url())
    }

    fn curl_reads(&self, script: Vec<server::Response>) -> Measured<Duration> {
        let url = format!("{}/chat/completions", self.server.base_url());
        let mut arguments = vec!["-sSfN", "-d", "{}"];
        arguments.extend(std::iter::repeat_n(url.as_str(), script.len()));
        self.server.load(script);
        Ok(timed(|| self.place.curl(&arguments))?.1)
    }
}

fn timed<T>(work: impl FnOnce() -> Measured<T>) -> Measured<(T, Duration)> {
    let began = Instant::now();
    let done = work()?;
    Ok((done, began.elapsed()))
}
