//! The command lines of what concerns configuration, trust and models, and the longer helps of other commands.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

pub(super) const REPLAY: &str = "\
Feed a flight record to the decisions again and compare. Every process notes what it was fed and a digest of what it \
decided; replaying that names the first batch that is decided differently, or says that none is.

With --export, what people, models and tools wrote (prompts, answers, paths, arguments, output, messages of errors) is \
replaced by placeholders: the same one for the same text, as long as the text. Names of tools, models and sessions, ids, \
numbers and the shape of JSON stay, and so does what was decided: the new record replays like the old one.";

pub(super) const CONFIG: &str = "\
Show what is configured and by whom, and change it.

From the weakest to the strongest: the defaults; your own file, config.json or config.jsonc in ~/.config/hostler; the \
project's file, .hostler/config.json, the nearest from the current directory up to the root of its repository; the \
environment; the command line. Files are JSON with comments. `hostler schema config` describes all keys.";

#[derive(Debug, Subcommand)]
pub(crate) enum Config {
    /// Show what holds.
    Show {
        /// Only that key and what is below it, such as model or limits.
        key: Option<String>,
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

pub(super) const TRUST: &str = "\
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

pub(super) const DOCTOR: &str = "\
Check that hostler can do its work here: that the configuration can be used, that a provider is configured and answers, \
that sessions can be written, and that the log of this directory is sound. Configured providers are asked for the list of \
their models, which costs nothing. Exits with 1 if something is wrong.";
