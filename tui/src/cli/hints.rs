//! What somebody meant who wrote what is not there: a prompt without `run`, a slip, or a word of another program's command
//! line. clap's own hint is how to pass the word as a value, which hardly anybody wants.

use std::ffi::OsStr;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory};
use hostler_core::client::one_line;
use hostler_core::config::nearest::nearest;
use hostler_core::tools::line;

use super::Cli;

/// Words in the place of a command, and what is said of them.
const COMMANDS: &[(&[&str], &str)] = &[
    (&["version"], "the version is told by: hostler --version"),
    (
        &["exec", "ask", "chat", "prompt", "agent"],
        "to have something done: hostler run \"what is to be done\"",
    ),
    (&["resume", "continue"], "to go on in the last session: hostler run --continue \"what is to be done\""),
    (&["ls", "list", "history"], "what was done here is listed by: hostler sessions list"),
    (
        &["login", "auth", "logout"],
        "keys are in the environment, such as OPENAI_API_KEY, or in the configuration; `hostler doctor` says what is missing",
    ),
];

/// Words in the place of a command below another, and what they are called here. The first one that exists counts.
const BELOW: &[(&[&str], &[&str])] = &[
    (&["ls"], &["list"]),
    (&["rm", "remove", "del"], &["delete", "unset"]),
    (&["get", "cat", "view", "info"], &["show"]),
    (&["list", "ls"], &["show"]),
    (&["mv", "title"], &["rename"]),
    (&["cp", "copy", "clone"], &["fork"]),
    (&["add", "put"], &["set"]),
];

/// Options that `run` does not have, and what is said of them. One that ends in a dash stands for all that begin so.
const OPTIONS: &[(&[&str], &str)] = &[
    (
        &["-p", "--print", "--prompt", "--message"],
        "the prompt is written without an option: hostler run \"what is to be done\"",
    ),
    (
        &["--yes", "--dangerously-", "--auto-approve", "--full-auto", "--force", "--allow-all"],
        "every tool is allowed that no rule denies with: hostler run --yolo",
    ),
    (
        &["--resume", "-r", "-c"],
        "to go on in the last session: hostler run --continue; in another one: hostler run --session ID",
    ),
    (
        &["--system-prompt", "--system-prompt-file"],
        "the system prompt is read from a file: hostler run --system FILE",
    ),
    (&["--append-system-prompt"], "to add to the system prompt: hostler run --append-system TEXT"),
    (&["--max-turns"], "steps are limited with: hostler run --max-steps N"),
    (&["--allowed-tools", "--allowedTools"], "to allow what a rule says: hostler run --allow RULE"),
    (&["--disallowed-tools", "--disallowedTools"], "to deny what a rule says: hostler run --deny RULE"),
];

/// Options that no command has, and what is said of them.
const EVERYWHERE: &[(&[&str], &str)] = &[
    (&["--version", "-V"], "the version is told by: hostler --version"),
    (&["-o", "--output", "--out"], "to write it into a file: > FILE behind the command"),
    (&["--cd", "--dir", "--directory", "--workdir"], "to work in another directory: --cwd DIR"),
];

/// What others call the option that says in which form something is printed.
const FORMS: &[&str] = &["--json", "--jsonl", "--format", "--output-format", "--stream-json"];

/// How long a prompt may be that is written out in a hint.
const PROMPT_CHARS: usize = 200;

/// Says of a mistake what was likely meant, in the place of what clap says about it.
pub(super) fn add<'w>(error: &mut clap::Error, words: impl Iterator<Item = &'w OsStr>) {
    let words: Vec<_> = words.map(|word| word.to_string_lossy().into_owned()).collect();
    let mut hostler = Cli::command();
    hostler.build();
    let command = spoken_of(&hostler, &words);
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let wrong = wrong_word(error, ContextKind::InvalidSubcommand);
            match command_meant(command, &wrong, &words) {
                Some(Meant::Command(name)) => {
                    suggest(error, ContextKind::SuggestedSubcommand, ContextValue::String(name));
                }
                Some(Meant::Other(hint)) => tip(error, &hint),
                None => {}
            }
        }
        ErrorKind::UnknownArgument => {
            let wrong = wrong_word(error, ContextKind::InvalidArg);
            match option_meant(command, &wrong) {
                Some(hint) => tip(error, &hint),
                None if !wrong.contains(char::is_whitespace) => forget_values(error),
                None => {}
            }
        }
        ErrorKind::MissingRequiredArgument => {
            let choices = choices(command);
            if !choices.is_empty() {
                tip(error, &choices);
            }
        }
        _ => {}
    }
}

/// What was meant in the place of a command.
#[derive(Debug, PartialEq, Eq)]
enum Meant {
    /// A command at the same place.
    Command(String),
    /// Something else, which is said.
    Other(String),
}

/// The command that the words have come to.
fn spoken_of<'c>(hostler: &'c Command, words: &[String]) -> &'c Command {
    let mut command = hostler;
    for word in words.iter().filter(|word| !word.starts_with('-')) {
        // What stands behind another word is a part of what that one is: a prompt, the value of an option.
        let Some(below) = command.find_subcommand(word) else { break };
        command = below;
    }
    command
}

fn wrong_word(error: &clap::Error, kind: ContextKind) -> String {
    match error.get(kind) {
        Some(ContextValue::String(word)) => word.clone(),
        _ => String::new(),
    }
}

fn command_meant(command: &Command, wrong: &str, words: &[String]) -> Option<Meant> {
    let is_root = command.get_name() == "hostler";
    if is_root && wrong.contains(char::is_whitespace) {
        return Some(Meant::Other(to_run(wrong, words)));
    }
    if is_root && let Some(hint) = said_of(COMMANDS, wrong) {
        return Some(Meant::Other(hint.to_owned()));
    }
    let called = BELOW.iter().filter(|(written, _)| !is_root && written.contains(&wrong));
    let mut called = called.flat_map(|(_, names)| names.iter().copied());
    let there = called.find(|name| command.find_subcommand(name).is_some());
    let names = command.get_subcommands().map(Command::get_name);
    match there.or_else(|| nearest(wrong, names)) {
        Some(name) => Some(Meant::Command(name.to_owned())),
        None => is_root.then(|| Meant::Other(to_run(wrong, words))),
    }
}

/// How to have done what stands on the command line without `run`.
fn to_run(wrong: &str, words: &[String]) -> String {
    let rest = words.iter().map(|word| one_line(word)).skip_while(|word| word != wrong);
    let prompt: Vec<_> = rest.take_while(|word| !word.starts_with('-')).collect();
    let prompt = if prompt.is_empty() { wrong.to_owned() } else { prompt.join(" ") };
    let prompt = match prompt {
        long if long.chars().count() > PROMPT_CHARS => "\"what is to be done\"".to_owned(),
        text if text.contains(['"', '$', '`', '\\', '!']) => line(&[text]),
        text => format!("\"{text}\""),
    };
    format!("to have it done: hostler run {prompt}")
}

fn option_meant(command: &Command, wrong: &str) -> Option<String> {
    let option = wrong.split('=').next().unwrap_or_default();
    if FORMS.contains(&option)
        && let Some(form) = form(command)
    {
        return Some(form);
    }
    let of_run = matches!(command.get_name(), "hostler" | "run");
    let said = of_run.then(|| said_of(OPTIONS, option)).flatten().or_else(|| said_of(EVERYWHERE, option));
    let run = command.find_subcommand("run").filter(|run| has(run, option));
    said.map(str::to_owned).or_else(|| run.map(|_| format!("that is an option of: hostler run {option}")))
}

fn has(command: &Command, option: &str) -> bool {
    let long = |argument: &clap::Arg| {
        argument.get_long().is_some_and(|long| option.strip_prefix("--") == Some(long))
    };
    let short =
        |argument: &clap::Arg| argument.get_short().is_some_and(|short| option == format!("-{short}"));
    command.get_arguments().any(|argument| long(argument) || short(argument))
}

/// How a command is told to print JSON.
fn form(command: &Command) -> Option<String> {
    let has = |name| command.get_arguments().find(|argument| argument.get_long() == Some(name));
    if let Some(format) = has("format") {
        let values = format.get_possible_values();
        let values = values.iter().map(|value| value.get_name()).filter(|name| name.starts_with("json"));
        let all: Vec<_> = values.map(|name| format!("--format {name}")).collect();
        return Some(format!("JSON is printed with {}", all.join(" or ")));
    }
    has("json").map(|_| "JSON is printed with --json".to_owned())
}

fn said_of(table: &[(&[&str], &'static str)], wrong: &str) -> Option<&'static str> {
    let is_said_of = |all: &[&str]| all.iter().any(|written| stands_for(written, wrong));
    table.iter().find(|(all, _)| is_said_of(all)).map(|(_, hint)| *hint)
}

fn stands_for(written: &str, wrong: &str) -> bool {
    written == wrong || (written.ends_with('-') && wrong.starts_with(written))
}

/// What the arguments can be that a command needs, where they are some of few.
fn choices(command: &Command) -> String {
    let needed = command.get_positionals().filter(|argument| argument.is_required_set());
    let choice = needed.filter_map(|argument| {
        let values = argument.get_possible_values();
        let names: Vec<_> = values.iter().map(|value| value.get_name()).collect();
        let name = argument.get_id().as_str().to_uppercase();
        (!names.is_empty()).then(|| format!("{name} is one of {}", names.join(", ")))
    });
    choice.collect::<Vec<_>>().join("; ")
}

fn tip(error: &mut clap::Error, hint: &str) {
    suggest(error, ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(hint.to_owned())]));
}

/// Puts this in the place of all that is suggested.
fn suggest(error: &mut clap::Error, kind: ContextKind, value: ContextValue) {
    for kind in [ContextKind::Suggested, ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand] {
        error.remove(kind);
    }
    error.insert(kind, value);
}

/// Takes back how the word is passed as a value. Of a prompt that begins with a dash that may be meant, of an option it is not.
fn forget_values(error: &mut clap::Error) {
    let Some(ContextValue::StyledStrs(tips)) = error.get(ContextKind::Suggested) else { return };
    let left: Vec<_> = tips.iter().filter(|tip| !tip.to_string().contains("as a value")).cloned().collect();
    error.remove(ContextKind::Suggested);
    if !left.is_empty() {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(left));
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    /// What is said of a command line that is not understood.
    fn said(words: &[&str]) -> String {
        let mut error = Cli::command().try_get_matches_from([&["hostler"], words].concat()).unwrap_err();
        add(&mut error, words.iter().map(OsStr::new));
        assert_eq!(error.exit_code(), 2);
        error.render().to_string()
    }

    #[track_caller]
    fn hints(words: &[&str], hint: &str) {
        let said = said(words);
        assert!(said.contains(hint), "{words:?}: {said}");
        assert!(said.matches("tip: ").count() == 1 && !said.contains("use '-- "), "{words:?}: {said}");
    }

    #[test]
    fn a_prompt_without_run_is_taken_for_one() {
        hints(&["fix the bug"], "to have it done: hostler run \"fix the bug\"\n");
        hints(&["fix", "the", "bug", "--model", "x"], "hostler run \"fix the bug\"\n");
        hints(&["say \"$HOME\" isn't"], "hostler run 'say \"$HOME\" isn'\\''t'\n");
        hints(&["please", "run", "the", "tests"], "hostler run \"please run the tests\"\n");
        hints(&["describe", "the", "sessions", "table"], "hostler run \"describe the sessions table\"\n");
        hints(&["zzzzzz"], "hostler run \"zzzzzz\"\n");
        hints(&[&"long ".repeat(1_000)], "hostler run \"what is to be done\"\n");
    }

    #[test]
    fn words_of_other_programs_lead_to_ours() {
        hints(&["version"], "hostler --version\n");
        hints(&["exec", "fix"], "hostler run \"what");
        hints(&["rnu"], "a similar subcommand exists: 'run'\n");
        hints(&["session"], "'sessions'\n");
        hints(&["sessions", "ls"], "'list'\n");
        hints(&["sessions", "rm", "x"], "'delete'\n");
        hints(&["config", "get", "x"], "'show'\n");
        hints(&["config", "rm", "x"], "'unset'\n");
        for words in [["run", "-p"], ["run", "--print"], ["run", "--prompt"], ["-p", "Hi"]] {
            hints(&words, "the prompt is written without an option: hostler run");
        }
        for option in ["--yes", "--dangerously-skip-permissions", "--dangerously-bypass=x"] {
            hints(&["run", option, "Hi"], "--yolo\n");
        }
        hints(&["run", "--resume"], "hostler run --continue");
        hints(&["--resume"], "hostler run --continue");
        hints(&["run", "--version"], "hostler --version");
    }

    #[test]
    fn how_json_is_printed_is_told_by_each_command_as_it_is_there() {
        for option in ["--json", "--output-format", "--jsonl"] {
            hints(&["run", option], "--format json or --format jsonl\n");
            hints(&["sessions", "export", "a", option], "JSON is printed with --format json\n");
        }
        hints(&["sessions", "export", "a", "-o", "f.md"], "> FILE");
        for words in [&["sessions", "list"][..], &["runs", "show", "a"], &["models"], &["doctor"]] {
            hints(&[words, &["--format", "json"]].concat(), "JSON is printed with --json\n");
        }
    }

    #[test]
    fn what_is_one_of_few_is_listed() {
        hints(&["schema"], "WHAT is one of config, run\n");
        hints(&["completions"], "SHELL is one of bash, ");
        assert!(!said(&["sessions", "show"]).contains("tip"));
    }

    #[test]
    fn nothing_is_said_of_what_nobody_knows() {
        assert!(!said(&["run", "--zzz", "Hi"]).contains("tip"));
        assert!(said(&["run", "- fix it"]).contains("as a value"), "it may be a prompt");
        hints(&["run", "--modle", "x"], "'--model'");
        hints(&["--continue", "Hi"], "hostler run --continue\n");
        hints(&["-m", "x", "Hi"], "hostler run -m\n");
    }
}
