//! The command lines of what is done with what is kept: sessions and runs.

use clap::{Subcommand, ValueEnum};

use super::values::count;

#[derive(Debug, Subcommand)]
pub(crate) enum Sessions {
    /// List the sessions of this directory, the one that changed last first.
    List {
        /// Print JSON, one object a line.
        #[arg(long)]
        json: bool,
        /// List at most so many.
        #[arg(long, default_value_t = 50, value_parser = count)]
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
    /// Delete sessions and their sub-agents, if nothing is under way in them. Flight records keep what processes were fed.
    Delete {
        /// The ids of the sessions or their beginnings; all must be found before one is deleted.
        #[arg(required = true)]
        id: Vec<String>,
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
        #[arg(long, default_value_t = 50, value_parser = count)]
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
