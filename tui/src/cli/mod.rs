//! The command line: what there is to say on it, and what was said.

mod hints;
mod kept;
mod run;
mod setup;
mod values;

use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue};
use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};
use hostler_core::client::one_line;

pub(crate) use kept::{Document, Runs, Sessions};
pub(crate) use run::{FormatArg, RunArgs};
pub(crate) use setup::{Config, ModelsArgs, SchemaOf, TrustArgs};

use run::RUN;
use setup::{CONFIG, DOCTOR, REPLAY, TRUST};

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
/// for a line of ours; and says what was likely meant.
pub(crate) fn tame(error: &mut clap::Error) {
    let tamed: Vec<_> = error.context().filter_map(|(kind, value)| Some((kind, tamed(value)?))).collect();
    if !tamed.is_empty() {
        // It quotes the same once more.
        error.remove(ContextKind::Suggested);
    }
    for (kind, value) in tamed {
        error.insert(kind, value);
    }
    let words: Vec<_> = std::env::args_os().skip(1).collect();
    hints::add(error, words.iter().map(std::ffi::OsString::as_os_str));
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
}
