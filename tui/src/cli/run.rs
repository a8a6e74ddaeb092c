//! The command line of `hostler run`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::values::{count, duration, micro_dollars};

pub(super) const RUN: &str = "\
Run one prompt to its end and print the answer.

The answer goes to standard output and everything else to standard error. Reading, listing and searching inside the \
current directory needs no permission; everything else is denied unless --allow or --yolo allows it, because nobody can be \
asked. What was permitted for always in this directory holds as well. With --cwd it is as if hostler had been started there: \
paths in other options are relative to that directory.

Exit codes: 0 the answer is complete; 1 something failed; 2 bad usage or unknown session or model; 3 no provider or \
credentials refused; 4 a limit ended it; 5 every tool call was denied; 7 cancelled by another \
client; 129, 130, 141, 143 ended by SIGHUP, SIGINT, a \
closed standard output, SIGTERM. The first Ctrl-C cancels and settles; the second ends at once.";

#[derive(Args, Debug)]
pub(crate) struct RunArgs {
    /// The prompt; words are joined by spaces. "-" reads it from standard input.
    #[arg(value_name = "PROMPT")]
    pub(crate) prompt: Vec<String>,
    /// Read the prompt from standard input to its end.
    #[arg(long)]
    pub(crate) stdin: bool,
    /// The model: PROVIDER/NAME such as openai/gpt-5 (`hostler models --all` lists them), rehearsal (a script, no network), or rehearsal:FILE (plays a scenario).
    #[arg(long, short, env = "HOSTLER_MODEL", hide_env = true)]
    pub(crate) model: Option<String>,
    /// Attach a file: a text or a picture (PNG, JPEG, GIF, WebP); of a PDF the model is told no more than the name. May be given more than once.
    #[arg(long, short, value_name = "PATH")]
    pub(crate) file: Vec<PathBuf>,
    /// The model that gives a new session its title; without it the title is the beginning of the prompt.
    #[arg(long, value_name = "MODEL")]
    pub(crate) small_model: Option<String>,
    /// Put the text of this file in the place of hostler's own system prompt.
    #[arg(long, value_name = "FILE")]
    pub(crate) system: Option<PathBuf>,
    /// Add this to the end of the system prompt.
    #[arg(long, value_name = "TEXT")]
    pub(crate) append_system: Option<String>,
    /// The answer must be JSON that satisfies the JSON Schema in this file; if it does not, it is asked for again, at most twice.
    #[arg(long, value_name = "FILE")]
    pub(crate) schema: Option<PathBuf>,
    /// Go on with the session whose id begins so.
    #[arg(long, short, value_name = "ID", conflicts_with = "continue_last")]
    pub(crate) session: Option<String>,
    /// Go on with the session that changed last, however its last run ended; begin one if there is none.
    #[arg(long = "continue", short = 'C')]
    pub(crate) continue_last: bool,
    /// Go on in a copy of the session that --session or --continue names, and leave that as it is.
    #[arg(long)]
    pub(crate) fork: bool,
    /// Keep nothing of the run: no session, no log, no flight record.
    #[arg(long, conflicts_with_all = ["session", "continue_last"])]
    pub(crate) ephemeral: bool,
    /// Allow every tool call that no rule denies.
    #[arg(long, short, conflicts_with = "plan")]
    pub(crate) yolo: bool,
    /// Change nothing and execute nothing: the model is offered only tools that read.
    #[arg(long)]
    pub(crate) plan: bool,
    /// Allow what the rule says, such as "bash(git log *)", "write(src/**)", "host(example.com)" or "edit"; may be given more than once.
    #[arg(long, value_name = "RULE")]
    pub(crate) allow: Vec<String>,
    /// Deny what the rule says, also with --yolo; may be given more than once.
    #[arg(long, value_name = "RULE")]
    pub(crate) deny: Vec<String>,
    /// What to print: the answer, one JSON object at the end, or a JSON object a line as it happens.
    #[arg(long, value_enum, default_value_t = FormatArg::Text)]
    pub(crate) format: FormatArg,
    /// Also write what is printed as the answer to this file, also if a limit or a signal ended the run; the file is replaced whole or left as it was.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Print text as it comes even if standard output is not a terminal.
    #[arg(long)]
    pub(crate) live: bool,
    /// Do not print progress on standard error.
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// Stop after so many steps (answers of the model).
    #[arg(long, value_name = "N", value_parser = count)]
    pub(crate) max_steps: Option<u32>,
    /// Stop once the run has cost so many dollars, such as 0.50; the model's prices must be known.
    #[arg(long, value_name = "USD", value_parser = micro_dollars)]
    pub(crate) max_cost: Option<u64>,
    /// Stop after that time, such as 90s, 10m or 1h; a number alone is seconds.
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) timeout: Option<u64>,
    /// Wait at most so long when a provider asks to wait before the next request; a number alone is seconds.
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) max_wait: Option<u64>,
    /// Exit with 1 if a tool failed.
    #[arg(long)]
    pub(crate) fail_on_tool_error: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum FormatArg {
    /// The answer.
    Text,
    /// One JSON object at the end.
    Json,
    /// A JSON object a line.
    Jsonl,
}
