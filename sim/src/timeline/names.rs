//! What oracles and the code call things, as it can be read by somebody who has never seen the code.

use crate::world::START;

/// A text with sub-agents by names that can be read: `s0.2$$t1.s1.c1` is the sub-agent of call t1.s1.c1 in s0.
pub(super) fn named(text: &str) -> String {
    let mut named = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("$$") {
        let (before, after) = (&rest[..at], &rest[at + 2..]);
        let is_name = |char: char| char.is_ascii_alphanumeric() || matches!(char, '.' | '-' | '_');
        let begin = before.rfind(|char| !is_name(char)).map_or(0, |at| at + 1);
        let end = after.find(|char| !is_name(char)).unwrap_or(after.len());
        let call = after[..end].trim_end_matches('.');
        // Behind the last point stands the number of the message with the call, if there is one.
        let (session, _) = before[begin..].rsplit_once('.').unwrap_or((&before[begin..], ""));
        named.push_str(&before[..begin]);
        named.push_str(&format!("sub-agent {call} of {session}"));
        rest = &after[call.len()..];
    }
    named + rest
}

/// What the second account of the rules says about prompts, in words.
pub(super) fn fates(message: &str) -> String {
    let words = [
        ("Ends(", "the end of "),
        ("Begins(", "the beginning of "),
        ("Joins(", "the joining of "),
        ("Returns(", "the return of "),
        ("Accepted(", "the acceptance of "),
        ("Asks(", "a question about "),
        ("Decides(", "a decision about "),
        ("Withdraws(", "the end of a question about "),
    ];
    let told = words.iter().fold(plain(message), |told, (name, words)| told.replace(name, words));
    let told = told
        .replace("[]", "nothing")
        .replace([')', '[', ']'], "")
        .replace(", Error", " with an error")
        .replace(", Ok", " with success")
        .replace(", Cancelled", " as cancelled")
        .replace(", Denied", " as denied")
        .replace(", Limit", " at a limit");
    let told = told.replacen("expected ", "by the rules there must be: ", 1);
    named(&told.replacen(", and recorded is ", "; decided was: ", 1))
}

/// A message with times by how long after the beginning they are.
fn timed(message: &str) -> String {
    let mut parts = message.split("Timestamp(");
    let mut timed = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (time, rest) = part.split_once(')').unwrap_or((part, ""));
        let millis = time.parse().map_or(0, |time: u64| time.saturating_sub(START));
        timed.push_str(&format!("{}.{:03} s{rest}", millis / 1_000, millis % 1_000));
    }
    timed
}

/// A message without the names of types around ids and times.
pub(super) fn plain(message: &str) -> String {
    let message = timed(message);
    let message = message.as_str();
    let mut plain = String::with_capacity(message.len());
    let mut rest = message;
    while let Some(at) = rest.find("Id(\"") {
        let (before, after) = rest.split_at(at);
        let name = before.trim_end_matches(|char: char| char.is_ascii_alphanumeric());
        let (id, behind) = after[4..].split_once("\")").unwrap_or((&after[4..], ""));
        plain.push_str(name);
        plain.push_str(id);
        rest = behind;
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sub_agents_have_names_that_can_be_read() {
        assert_eq!(named("s0.2$$t1.s1.c1: turn t1"), "sub-agent t1.s1.c1 of s0: turn t1");
        assert_eq!(named("the end of s0$$t1.s2.c3."), "the end of sub-agent t1.s2.c3 of s0.");
        assert_eq!(
            named("two: a.1$$t1.s1.c1 b.2$$t3.s1.c1"),
            "two: sub-agent t1.s1.c1 of a sub-agent t3.s1.c1 of b"
        );
        assert_eq!(named("costs $5"), "costs $5");
    }

    #[test]
    fn what_the_second_account_says_is_a_sentence() {
        let said = "expected [Ends(PromptId(\"p1\"), Cancelled)], and recorded is []";
        assert_eq!(
            fates(said),
            "by the rules there must be: the end of p1 as cancelled; decided was: nothing"
        );
    }
}
