//! The command line.

use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue};
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use hostler_core::client::one_line;

/// Hostler, a coding agent for the terminal.
#[derive(Debug, Parser)]
#[command(name = "hostler", version, about, long_about = LONG, after_help = EXAMPLES, subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Cli {
    /// Work in that directory.
    #[arg(long, global = true, value_name = "DIR", help_heading = "Everywhere")]
    pub(crate) cwd: Option<PathBuf>,
    /// Keep sessions and what is trusted in that directory.
    #[arg(long, global = true, value_name = "DIR", help_heading = "Everywhere")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Say on standard error what is done: -v requests, tools and waits, -vv also what is recorded, -vvv all.
    #[arg(long, short, global = true, action = clap::ArgAction::Count, help_heading = "Everywhere")]
    pub(crate) verbose: u8,
    #[command(subcommand)]
    pub(crate) command: Command,
}

const LONG: &str = "\
Hostler works on the files of the current directory with a language model: it reads, searches, edits and runs what the \
task needs, and keeps every step in a log from which it can be resumed, replayed and explained.";

const EXAMPLES: &str = "\
Examples:
  hostler run --model rehearsal \"What is in this repository?\"     needs no key and no network
  hostler run --model openai/gpt-5 \"Why does the build fail?\"     OPENAI_API_KEY is set
  hostler run --continue --yolo \"Fix it and run the tests\"        in the last session, allowing every tool
  git diff | hostler run --model openai/gpt-5 \"Review this\"       standard input goes before the prompt
  hostler sessions list

Environment:
  ANTHROPIC_API_KEY    the key for anthropic/... models
  ANTHROPIC_BASE_URL   another server that speaks Anthropic's Messages
  GEMINI_API_KEY       the key for gemini/... models
  GEMINI_BASE_URL      another server that speaks Gemini's protocol
  OPENAI_API_KEY       the key for openai/... and openai-responses/... models
  OPENAI_BASE_URL      another server that speaks as they do, such as http://127.0.0.1:11434/v1
  OPENROUTER_API_KEY   the key for openrouter/... models; likewise DEEPSEEK, GROQ, MISTRAL and XAI
  HOSTLER_LOG          what goes to the log files (`hostler dirs` says where they are): info, or another level
  HOSTLER_MODEL        the model to use when --model is not given
  XDG_CONFIG_HOME      where your configuration is (default: ~/.config), under hostler/
  XDG_STATE_HOME       where sessions are kept (default: ~/.local/state), under hostler/";

/// Reads the command line; gives also the names of what was said on it, in the order of the help.
pub(crate) fn read() -> Result<(Cli, Vec<String>), clap::Error> {
    let mut command = Cli::command();
    let matches = command.try_get_matches_from_mut(std::env::args_os())?;
    let mut said = Vec::new();
    name(&command, &matches, &mut said);
    let cli = Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))?;
    Ok((cli, said))
}

/// Makes what an error quotes of the command line one line each that a terminal only shows, so that nothing on it can pass
/// for a line of ours.
pub(crate) fn tame(error: &mut clap::Error) {
    let tamed: Vec<_> = error.context().filter_map(|(kind, value)| Some((kind, tamed(value)?))).collect();
    if !tamed.is_empty() {
        // It quotes the same once more.
        error.remove(ContextKind::Suggested);
    }
    for (kind, value) in tamed {
        error.insert(kind, value);
    }
}

/// The value, if it has to be another one.
fn tamed(value: &ContextValue) -> Option<ContextValue> {
    let tamed = match value {
        ContextValue::String(text) => ContextValue::String(one_line(text)),
        ContextValue::Strings(texts) => {
            ContextValue::Strings(texts.iter().map(|text| one_line(text)).collect())
        }
        // What clap says itself.
        _ => return None,
    };
    (tamed != *value).then_some(tamed)
}

/// Collects the names of a command's arguments that were said, and of the command below it.
fn name(command: &clap::Command, matches: &ArgMatches, said: &mut Vec<String>) {
    let ids = command.get_arguments().map(|argument| argument.get_id().as_str());
    let typed = |id: &&str| matches.value_source(id) == Some(ValueSource::CommandLine);
    said.extend(ids.filter(typed).map(str::to_owned));
    if let Some((below, matches)) = matches.subcommand() {
        said.push(below.to_owned());
        if let Some(command) = command.find_subcommand(below) {
            name(command, matches, said);
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run one prompt to its end and print the answer.
    #[command(long_about = RUN)]
    Run(Box<RunArgs>),
    /// List, show, rename, fork, delete and export the sessions of this directory.
    Sessions {
        #[command(subcommand)]
        command: Sessions,
    },
    /// List runs and show how they ended.
    Runs {
        #[command(subcommand)]
        command: Runs,
    },
    /// Show what is configured and by whom, and change it.
    #[command(long_about = CONFIG)]
    Config {
        #[command(subcommand)]
        command: Config,
    },
    /// Print the JSON Schema of the configuration or of what hostler prints.
    Schema {
        /// Of what.
        #[arg(value_enum)]
        what: SchemaOf,
    },
    /// Let this project's own configuration count in full.
    #[command(long_about = TRUST)]
    Trust(TrustArgs),
    /// List models: what they can do and cost, and which can be asked.
    Models(ModelsArgs),
    /// Print where configuration, sessions and log files are.
    Dirs {
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Check that hostler can do its work here.
    #[command(long_about = DOCTOR)]
    Doctor {
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Feed a flight record to the decisions again and compare.
    #[command(long_about = REPLAY)]
    Replay {
        /// The flight record; they lie beside the log, in flight/.
        file: PathBuf,
        /// Show what happened in that batch, what it led to, and the state behind it; 0 is the beginning.
        #[arg(long, value_name = "N", conflicts_with = "export")]
        at: Option<u64>,
        /// Write the record to a new file with its texts hidden, so that it can be shown to others.
        #[arg(long, value_name = "OUT")]
        export: Option<PathBuf>,
    },
    /// Print what makes a shell complete hostler's command line.
    Completions {
        /// The shell.
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// Print the manual page of hostler or of one of its commands.
    Man {
        /// The command, such as "sessions list".
        command: Vec<String>,
    },
}

const REPLAY: &str = "\
Feed a flight record to the decisions again and compare. Every process notes what it was fed and a digest of what it \
decided; replaying that names the first batch that is decided differently, or says that none is.

With --export, what people, models and tools wrote (prompts, answers, paths, arguments, output, messages of errors) is \
replaced by placeholders: the same one for the same text, as long as the text. Names of tools, models and sessions, ids, \
numbers and the shape of JSON stay, and so does what was decided: the new record replays like the old one.";

const CONFIG: &str = "\
Show what is configured and by whom, and change it.

From the weakest to the strongest: the defaults; your own file, config.json or config.jsonc in ~/.config/hostler; the \
project's file, .hostler/config.json, the nearest from the current directory up to the root of its repository; the \
environment; the command line. Files are JSON with comments. `hostler schema config` describes all keys.";

#[derive(Debug, Subcommand)]
pub(crate) enum Config {
    /// Show what holds.
    Show {
        /// Show also who said it.
        #[arg(long)]
        origin: bool,
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Set a key in your own file; comments and layout stay.
    Set {
        /// The key, such as model, limits.max_steps or providers.openai.base_url.
        key: String,
        /// Its value: a text, or JSON.
        value: String,
        /// Set it in the project's file.
        #[arg(long)]
        project: bool,
    },
    /// Take a key out of your own file; comments and layout stay.
    Unset {
        /// The key, such as model, limits.max_steps or providers.openai.base_url.
        key: String,
        /// Take it out of the project's file.
        #[arg(long)]
        project: bool,
    },
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum SchemaOf {
    /// The configuration.
    Config,
    /// A line of `hostler run --format jsonl`.
    Run,
}

const TRUST: &str = "\
Let this project's own configuration count in full.

A project's file comes with the project, so whoever wrote that wrote this. Until you trust its directory it can add \
rules that forbid something and set lower limits. It cannot choose the model, say where providers are, give keys or \
commands that print them, allow tools, or name files to be read.

Trust is for one directory, not for those below it. Without DIR it is the one whose configuration counts here.";

#[derive(Args, Debug)]
pub(crate) struct TrustArgs {
    /// The directory that has the project's .hostler.
    pub(crate) dir: Option<PathBuf>,
    /// Trust it no longer.
    #[arg(long)]
    pub(crate) revoke: bool,
    /// List what is trusted.
    #[arg(long, conflicts_with_all = ["dir", "revoke"])]
    pub(crate) list: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct ModelsArgs {
    /// Only those whose PROVIDER/NAME contains that.
    pub(crate) filter: Option<String>,
    /// Also those of providers that are not configured.
    #[arg(long)]
    pub(crate) all: bool,
    /// Print JSON, one object a line.
    #[arg(long)]
    pub(crate) json: bool,
}

const DOCTOR: &str = "\
Check that hostler can do its work here: that the configuration can be used, that a provider is configured and answers, \
that sessions can be written, and that the log of this directory is sound. Configured providers are asked for the list of \
their models, which costs nothing. Exits with 1 if something is wrong.";

#[derive(Debug, Subcommand)]
pub(crate) enum Sessions {
    /// List the sessions of this directory, the one that changed last first.
    List {
        /// Print JSON, one object a line.
        #[arg(long)]
        json: bool,
        /// List at most so many.
        #[arg(long, default_value_t = 50)]
        limit: u32,
    },
    /// Show the messages of a session.
    Show {
        /// The session's id or its beginning.
        id: String,
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Give a session another title.
    Rename {
        /// The session's id or its beginning.
        id: String,
        /// The title; words are joined by spaces.
        #[arg(required = true)]
        title: Vec<String>,
    },
    /// Make a copy of a session, to go on from there and leave the session as it is.
    Fork {
        /// The session's id or its beginning.
        id: String,
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Delete a session and its sub-agents, if nothing is under way in it. Flight records keep what processes were fed.
    Delete {
        /// The session's id or its beginning.
        id: String,
    },
    /// Print a session as a document.
    Export {
        /// The session's id or its beginning.
        id: String,
        /// What kind of document.
        #[arg(long, value_enum, default_value_t = Document::Markdown)]
        format: Document,
    },
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Document {
    /// For people.
    Markdown,
    /// All that is kept, as one JSON object.
    Json,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Runs {
    /// List the runs of this directory, the one that was accepted last first.
    List {
        /// Print JSON, one object a line.
        #[arg(long)]
        json: bool,
        /// List at most so many.
        #[arg(long, default_value_t = 50)]
        limit: u32,
    },
    /// Show one run: its prompt, and how it ended.
    Show {
        /// The run's id or its beginning.
        id: String,
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
    },
}

const RUN: &str = "\
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
    /// Go on with the session that changed last.
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
    /// Also write the answer to this file, all of it or nothing.
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
    /// Stop after that time, such as 90s, 10m or 1h.
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) timeout: Option<u64>,
    /// Wait at most so long when a provider asks to wait before the next request.
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

/// Reads how many.
fn count(text: &str) -> Result<u32, String> {
    let number: Option<u32> = text.parse().ok();
    let bad = || format!("{text:?} is not a number above zero; write one such as 20");
    number.filter(|number| *number > 0).ok_or_else(bad)
}

/// Reads a duration and gives it in milliseconds.
fn duration(text: &str) -> Result<u64, String> {
    let split = text.find(|char: char| !char.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let factor = match unit {
        "ms" => 1,
        "" | "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => {
            return Err(format!("{text:?} is not a duration; write a number and ms, s, m or h, such as 90s"));
        }
    };
    let number: Option<u64> = number.parse().ok();
    let millis = number.and_then(|number| number.checked_mul(factor)).filter(|millis| *millis > 0);
    millis.ok_or_else(|| format!("{text:?} is not a duration above zero; write one such as 90s or 10m"))
}

/// Reads an amount of dollars and gives it in millionths of one.
fn micro_dollars(text: &str) -> Result<u64, String> {
    let bad = || format!("{text:?} is not an amount of dollars above zero; write one such as 2 or 0.50");
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(part) || part.len() > 6 {
        return Err(bad());
    }
    let millionths: Option<u64> = format!("{part:0<6}").parse().ok();
    let dollars: Option<u64> = whole.parse().ok();
    let all =
        dollars.zip(millionths).and_then(|(dollars, part)| dollars.checked_mul(1_000_000)?.checked_add(part));
    all.filter(|micro| *micro > 0).ok_or_else(bad)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    /// The help of a command and of all below it.
    fn help(command: &mut clap::Command, text: &mut String) {
        let name = command.get_bin_name().unwrap_or("hostler").to_owned();
        *text += &format!("==== {name}\n\n{}\n", command.render_long_help());
        command.get_subcommands_mut().for_each(|below| help(below, text));
    }

    /// With HOSTLER_RENEW set, `cargo test -p hostler --lib help` writes the file anew.
    #[test]
    #[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    fn the_help_is_as_it_was_looked_at() {
        let file = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/help.txt"));
        let mut command = Cli::command().term_width(100);
        command.build();
        let mut text = String::new();
        help(&mut command, &mut text);
        if std::env::var_os("HOSTLER_RENEW").is_some() {
            std::fs::write(file, &text).unwrap();
        }
        let seen = std::fs::read_to_string(file).unwrap();
        assert!(text == seen, "the help has changed; look at it with HOSTLER_RENEW=1 and git diff");
    }

    #[test]
    fn durations_and_amounts_are_numbers() {
        for (text, millis) in
            [("5", 5_000), ("90s", 90_000), ("10m", 600_000), ("1h", 3_600_000), ("20ms", 20)]
        {
            assert_eq!(duration(text), Ok(millis), "{text}");
        }
        for (text, micro) in [("2", 2_000_000), ("0.50", 500_000), ("1.000001", 1_000_001)] {
            assert_eq!(micro_dollars(text), Ok(micro), "{text}");
        }
        for text in ["", "0", "0.0", ".5", "1.", "-1", "1e3", "0.0000001", "1,5", "99999999999999999999"] {
            assert!(micro_dollars(text).is_err(), "{text}");
        }
        for text in ["", "s", "0", "-1s", "1.5s", "1 s", "1d", "99999999999999999999h"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
