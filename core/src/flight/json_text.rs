//! JSON within a text, such as the arguments of a tool call: its strings are hidden, and its shape stays.
//!
//! It works on the letters and not on what they mean, because models write JSON that is none, and what such a text is
//! refused with must stay the same as well. The result is as long as the text in bytes, place by place.

use alloc::collections::BTreeSet;
use alloc::string::String;

use serde_json::Value;

use super::placeholder::Placeholders;

/// Hides the strings in JSON that are not keys.
pub(super) fn hide(text: &str, placeholders: &mut Placeholders) -> String {
    let mut hidden = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (token, after) = rest.split_at(token_end(rest, first));
        match first {
            '"' if is_key(after) => hidden.push_str(token),
            '"' => hide_string(token, placeholders, &mut hidden),
            _ if is_plain(token) => hidden.push_str(token),
            _ => hidden.push_str(&placeholders.hide(token)),
        }
        rest = after;
    }
    hidden
}

/// Where the first token of a text ends.
fn token_end(text: &str, first: char) -> usize {
    if first == '"' {
        return string_end(text);
    }
    let ends = |char: char| char == '"' || is_structure(char);
    if is_structure(first) { first.len_utf8() } else { text.find(ends).unwrap_or(text.len()) }
}

fn is_structure(char: char) -> bool {
    matches!(char, '{' | '}' | '[' | ']' | ':' | ',') || char.is_whitespace()
}

fn string_end(text: &str) -> usize {
    let mut escaped = false;
    for (at, char) in text.char_indices().skip(1) {
        match char {
            '"' if !escaped => return at + 1,
            _ => escaped = char == '\\' && !escaped,
        }
    }
    text.len()
}

fn is_key(after: &str) -> bool {
    after.trim_start().starts_with(':')
}

/// Whether a token says nothing of anybody: structure, a number or a word of JSON.
fn is_plain(token: &str) -> bool {
    let number = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E');
    token.starts_with(is_structure) || matches!(token, "true" | "false" | "null") || token.bytes().all(number)
}

/// One character of a string, as it is written.
struct Letter<'a> {
    written: &'a str,
    means: char,
}

fn hide_string(token: &str, placeholders: &mut Placeholders, hidden: &mut String) {
    let body = token.strip_prefix('"').unwrap_or(token);
    let closed = body.strip_suffix('"').filter(|body| escapes_nothing(body));
    let (body, end) = closed.map_or((body, ""), |body| (body, "\""));
    let letters = letters(body);
    let text: String = letters.iter().map(|letter| letter.means).collect();
    hidden.push('"');
    if placeholders.words.contains(&text) {
        hidden.push_str(body);
    } else {
        let stands = placeholders.hide(&text);
        letters.iter().zip(stands.chars()).for_each(|(letter, stands)| write(letter, stands, hidden));
    }
    hidden.push_str(end);
}

/// Whether the backslashes at the end of a string escape each other and not what comes behind.
fn escapes_nothing(body: &str) -> bool {
    (body.len() - body.trim_end_matches('\\').len()).is_multiple_of(2)
}

fn letters(body: &str) -> alloc::vec::Vec<Letter<'_>> {
    let mut letters = alloc::vec::Vec::new();
    let mut rest = body;
    while let Some((length, means)) = next_letter(rest) {
        let (written, after) = rest.split_at(length);
        letters.push(Letter { written, means });
        rest = after;
    }
    letters
}

/// How long the first letter is as it is written, and what it means.
fn next_letter(text: &str) -> Option<(usize, char)> {
    let first = text.chars().next()?;
    if first != '\\' {
        return Some((first.len_utf8(), first));
    }
    let short = match text.as_bytes().get(1) {
        Some(b'n') => '\n',
        Some(b't') => '\t',
        Some(b'r') => '\r',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'"') => '"',
        Some(b'u') => return Some(long_letter(text)),
        // What is escaped for no reason stays as it is, like a backslash.
        Some(byte) if byte.is_ascii() => '\\',
        Some(_) | None => return Some((1, '\\')),
    };
    Some((2, short))
}

/// A character that is written as one or two numbers.
fn long_letter(text: &str) -> (usize, char) {
    let Some(first) = unit(text) else { return (2, '\\') };
    if let Some(char) = char::from_u32(u32::from(first)) {
        return (6, char);
    }
    let second = text.get(6..).filter(|rest| rest.starts_with("\\u")).and_then(unit);
    let pair = second.and_then(|second| char::decode_utf16([first, second]).next()?.ok());
    // Half a character means nothing and stays as it is.
    pair.map_or((6, '\\'), |char| (12, char))
}

fn unit(text: &str) -> Option<u16> {
    let digits = text.get(2..6).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    u16::from_str_radix(digits, 16).ok()
}

/// Writes what stands for a letter in the way in which that was written.
fn write(letter: &Letter<'_>, stands: char, hidden: &mut String) {
    let same = letter.means == stands;
    match (letter.written.len(), letter.written.starts_with('\\')) {
        (6 | 12, true) if !same => {
            let mut units = [0; 2];
            for unit in stands.encode_utf16(&mut units) {
                hidden.push_str(&alloc::format!("\\u{unit:04x}"));
            }
        }
        (_, true) => hidden.push_str(letter.written),
        (_, false) => hidden.push(stands),
    }
}

/// The words that a tool's schema lists as values: what a parameter is called or may be.
pub(super) fn words(schema: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    if let Ok(schema) = serde_json::from_str(schema) {
        collect(&schema, &mut words);
    }
    words
}

fn collect(schema: &Value, words: &mut BTreeSet<String>) {
    match schema {
        Value::Object(map) => {
            for (key, value) in map {
                if matches!(key.as_str(), "type" | "enum" | "required") {
                    let values = value.as_array().map_or(core::slice::from_ref(value), |list| list);
                    words.extend(values.iter().filter_map(Value::as_str).map(String::from));
                }
                collect(value, words);
            }
        }
        Value::Array(list) => list.iter().for_each(|value| collect(value, words)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> String {
        let hidden = hide(text, &mut Placeholders::default());
        assert_eq!(hidden.len(), text.len(), "{text}");
        let error = |text: &str| serde_json::from_str::<Value>(text).err().map(|error| error.to_string());
        assert_eq!(error(&hidden), error(text), "{text} became {hidden}");
        hidden
    }

    #[test]
    fn strings_are_hidden_and_the_shape_stays() {
        let hidden = check(r#"{"command": "make all", "timeout": 30, "list": ["a", true, null, -1.5e3]}"#);
        assert_eq!(hidden, r#"{"command": "xxxxxxxx", "timeout": 30, "list": ["x", true, null, -1.5e3]}"#);
    }

    #[test]
    fn escapes_stay_as_long_as_they_are() {
        assert_eq!(check(r#"["a\nb\"c\\"]"#), r#"["x\nx\"x\\"]"#);
        let hidden = check(r#"["\u00e9\ud83d\ude00é😀\/\ud83d"]"#.replace("\\ud83d\"", "\"").as_str());
        assert!(!hidden.contains("e9") && !hidden.contains('é') && hidden.contains("\\u"), "{hidden}");
    }

    #[test]
    fn what_is_no_json_is_refused_in_the_same_way() {
        for text in [
            "",
            "{",
            r#"{"command": "rm -rf"#,
            r#"{"command": "rm\"#,
            r#"{"command": "rm\\"#,
            r#"{"command": "a" "b"}"#,
            "\"a\nb\"",
            r#"["\u00g0"]"#,
            r#"["\ud83d"]"#,
            r#"["\q"]"#,
            "secret",
            "{secret}",
        ] {
            let hidden = check(text);
            assert!(!hidden.contains("rm") && !hidden.contains("secret"), "{hidden}");
        }
    }

    #[test]
    fn words_of_a_schema_are_what_it_lists() {
        let schema = r#"{"type":"object","required":["mode"],"properties":{"mode":{"enum":["fast"],"description":"How."}}}"#;
        assert_eq!(words(schema), BTreeSet::from(["object", "mode", "fast"].map(String::from)));
    }
}
