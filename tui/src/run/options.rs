//! What the command line asks of a run, in the words of the decisions.

use std::io::IsTerminal;

use hostler_core::client::{Earlier, Format, Options, Which, Wishes};
use hostler_core::config::Config;
use hostler_core::ids::{ClientId, PromptId, RunId, SessionId};
use hostler_core::prompt::{PermissionMode, Prompt};
use hostler_core::tools::{Action, Rule};
use uuid::Uuid;

use crate::cli::{FormatArg, RunArgs};
use crate::failure::Failure;

/// The options of a run, as far as the command line says them: where it is and what is configured there is not known yet.
pub(super) fn options(args: &RunArgs, wishes: Wishes) -> Result<Options, Failure> {
    let run = id();
    let (terms, timeout) = wishes.settle(&Config::bare(), Vec::new());
    let prompt = Prompt {
        id: PromptId::new(run.clone()),
        run: Some(RunId::new(run)),
        client: ClientId::new(id()),
        text: String::new(),
        attachments: Vec::new(),
        terms,
    };
    let terminal = std::io::stdout().is_terminal();
    Ok(Options {
        prompt,
        session: session(args)?,
        earlier: Earlier::Reachable,
        fork: args.fork.then(|| SessionId::new(id())),
        keeps: args.output.is_some(),
        format: match args.format {
            FormatArg::Text => Format::Text,
            FormatArg::Json => Format::Json,
            FormatArg::Jsonl => Format::Jsonl,
        },
        live: args.live || terminal,
        terminal,
        quiet: args.quiet,
        fail_on_tool_error: args.fail_on_tool_error,
        timeout,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        cwd: String::new(),
        warnings: Vec::new(),
    })
}

fn session(args: &RunArgs) -> Result<Which, Failure> {
    match (&args.session, args.continue_last) {
        (Some(prefix), _) => Ok(Which::Prefix(prefix.clone())),
        (None, true) => Ok(Which::Latest(SessionId::new(id()))),
        (None, false) if args.fork => {
            Err(Failure::usage("There is nothing to fork; name a session with --session, or add --continue."))
        }
        (None, false) => Ok(Which::New(SessionId::new(id()))),
    }
}

/// What the command line says about the terms of a run. A rule that makes no sense is a mistake in it.
pub(super) fn wishes(args: &RunArgs) -> Result<Wishes, Failure> {
    Ok(Wishes {
        model: args.model.clone(),
        small_model: args.small_model.clone(),
        permission: mode(args),
        rules: rules(args)?,
        append_system: args.append_system.clone(),
        max_steps: args.max_steps,
        max_cost: args.max_cost,
        max_wait: args.max_wait,
        timeout: args.timeout,
    })
}

fn mode(args: &RunArgs) -> PermissionMode {
    match (args.plan, args.yolo) {
        (true, _) => PermissionMode::Plan,
        (false, true) => PermissionMode::Yolo,
        (false, false) => PermissionMode::Headless,
    }
}

fn rules(args: &RunArgs) -> Result<Vec<Rule>, Failure> {
    let home = std::env::var("HOME").ok().filter(|home| home.starts_with('/'));
    let read = |action| move |text| (action, text);
    let allowed = args.allow.iter().map(read(Action::Allow));
    let written = allowed.chain(args.deny.iter().map(read(Action::Deny)));
    let rules = written.map(|(action, text)| Rule::parse(action, text, home.as_deref()));
    rules.collect::<Result<_, _>>().map_err(Failure::usage)
}

fn id() -> String {
    Uuid::new_v4().to_string()
}
