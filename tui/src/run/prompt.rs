//! The prompt: what stands on the command line, and what comes on standard input.

use std::io::{IsTerminal, Read};

use hostler_core::prompt::PROMPT_BYTES;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// How long a pipe that says nothing is given before it is left alone.
const SILENCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 200_000_000 };

/// Puts the prompt together; also says what there is to say about how. May wait for standard input to end.
pub(super) fn gather(words: &[String], stdin: bool) -> (String, Option<String>) {
    let dash = words.len() == 1 && words.iter().any(|word| word == "-");
    let words = if dash { String::new() } else { words.join(" ") };
    let wants = stdin || dash;
    let stdin = std::io::stdin();
    if !wants && stdin.is_terminal() {
        return (words, None);
    }
    // Without words what is piped in is the prompt, and is waited for.
    if !wants && !words.trim().is_empty() && !has_input(&stdin) {
        let text = "Standard input is open and silent, so it was not read; use --stdin to wait for it.";
        return (words, Some(text.to_owned()));
    }
    match slurp(stdin) {
        Ok(text) => (join(&text, &words), None),
        Err(error) => (
            words,
            Some(format!("Standard input could not be read ({error}), so nothing of it is in the prompt.")),
        ),
    }
}

/// Whether something comes, or the end of it, within a moment.
fn has_input(stdin: &std::io::Stdin) -> bool {
    let mut fds = [PollFd::new(stdin, PollFlags::IN)];
    poll(&mut fds, Some(&SILENCE)).map_or(true, |ready| ready > 0)
}

fn slurp(stdin: std::io::Stdin) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    // One byte too many is enough for the prompt to be refused.
    stdin.take(PROMPT_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// What was piped in goes before the words, with a blank line between.
fn join(piped: &str, words: &str) -> String {
    match (piped.trim().is_empty(), words.trim().is_empty()) {
        (true, _) => words.to_owned(),
        (false, true) => piped.to_owned(),
        (false, false) => format!("{}\n\n{words}", piped.trim_end_matches('\n')),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_piped_in_goes_before_the_words() {
        for (piped, words, prompt) in
            [("", "a", "a"), ("x\n", "a", "x\n\na"), ("x\n", "", "x\n"), (" \n", "a", "a"), ("", "", "")]
        {
            assert_eq!(join(piped, words), prompt);
        }
    }
}
