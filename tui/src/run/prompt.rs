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
        Ok((text, lossy)) => (join(&text, &words), lossy.then(|| NOT_UTF8.to_owned())),
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

/// What is said of bytes that are no text.
const NOT_UTF8: &str = "Standard input is not UTF-8; what is no character of it is \u{fffd} in the prompt, so convert it if that matters.";

/// What standard input has, and whether it was no text as a whole.
fn slurp(stdin: impl Read) -> std::io::Result<(String, bool)> {
    let mut bytes = Vec::new();
    // One byte too many is enough for the prompt to be refused.
    stdin.take(PROMPT_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(match String::from_utf8(bytes) {
        Ok(text) => (text, false),
        Err(error) => (String::from_utf8_lossy(error.as_bytes()).into_owned(), true),
    })
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
    fn what_is_no_text_is_told_of() {
        let read = |bytes: &[u8]| slurp(bytes).ok();
        assert_eq!(read("größer".as_bytes()), Some(("größer".to_owned(), false)));
        assert_eq!(read(b"gr\xf6\xdfer"), Some(("gr\u{fffd}\u{fffd}er".to_owned(), true)));
    }

    #[test]
    fn what_is_piped_in_goes_before_the_words() {
        for (piped, words, prompt) in
            [("", "a", "a"), ("x\n", "a", "x\n\na"), ("x\n", "", "x\n"), (" \n", "a", "a"), ("", "", "")]
        {
            assert_eq!(join(piped, words), prompt);
        }
    }
}
