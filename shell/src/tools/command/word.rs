//! A word to its text, if that is literally there. What is expanded by the shell has a text that is not known, and what is
//! executed to expand it is looked at.

use tree_sitter::Node;

use super::Found;
use super::syntax::child;

/// A word of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    /// What it says, or as it is written if that is not known.
    pub(super) text: String,
    /// Whether that is what the program gets, as one word.
    pub(super) known: bool,
}

impl Word {
    pub(super) fn known(text: impl Into<String>) -> Self {
        Self { text: text.into(), known: true }
    }

    pub(super) fn unknown(text: impl Into<String>) -> Self {
        Self { text: text.into(), known: false }
    }

    /// The text, if it is known.
    pub(super) fn literal(&self) -> Option<&str> {
        self.known.then_some(self.text.as_str())
    }
}

impl Found {
    /// The text of a word.
    pub(super) fn word(&mut self, node: Node<'_>, source: &str) -> Word {
        let written = source.get(node.byte_range()).unwrap_or_default();
        match self.literal(node, source) {
            Some(text) => Word::known(text),
            None => Word::unknown(written),
        }
    }

    fn literal(&mut self, node: Node<'_>, source: &str) -> Option<String> {
        let written = source.get(node.byte_range())?;
        match node.kind() {
            "word" => bare(written, Position::Alone),
            "number" if node.child_count() == 0 => Some(written.to_owned()),
            "raw_string" => Some(written.strip_prefix('\'')?.strip_suffix('\'')?.to_owned()),
            "ansi_c_string" => ansi(written.strip_prefix("$'")?.strip_suffix('\'')?),
            "string" => self.string(node, written, source),
            "concatenation" => self.joined(node, source),
            "command_name" if node.child_count() == 1 => self.literal(node.child(0)?, source),
            _ => {
                self.expansion(node, source);
                None
            }
        }
    }

    fn string(&mut self, node: Node<'_>, written: &str, source: &str) -> Option<String> {
        let inner = written.strip_prefix('"')?.strip_suffix('"')?;
        if let Some(text) = quoted(inner) {
            return Some(text);
        }
        self.expansions(node, source);
        here_text(node, source)
    }

    /// Parts that touch are one word.
    fn joined(&mut self, node: Node<'_>, source: &str) -> Option<String> {
        let mut cursor = node.walk();
        let parts: Vec<_> = node.children(&mut cursor).collect();
        let apart = parts.windows(2).any(|pair| pair[0].end_byte() != pair[1].start_byte());
        let mut text = Some(String::new());
        for (index, part) in parts.iter().enumerate() {
            let bit = match (part.kind(), source.get(part.byte_range())) {
                ("word", Some(bit)) if index > 0 => bare(bit, Position::Within),
                _ => self.literal(*part, source),
            };
            text = text.zip(bit).map(|(text, bit)| text + &bit);
        }
        // In braces are several words; `{}` is the only pair that is nothing else.
        let bits = parts.iter().filter(|part| part.kind() == "word").map(|part| &source[part.byte_range()]);
        let braces = bits.collect::<String>().replace("{}", "").contains(['{', '}']);
        text.filter(|_| !apart && !braces)
    }

    /// Looks at what is executed in a part of a word.
    pub(super) fn expansion(&mut self, node: Node<'_>, source: &str) {
        match node.kind() {
            "command_substitution" | "process_substitution" => {
                self.within(|found| found.children(node, source))
            }
            "simple_expansion" | "string_content" | "word" | "raw_string" | "number" | "ansi_c_string" => {}
            "string" | "concatenation" => self.expansions(node, source),
            "expansion" if node.named_child_count() == 1 && node.child_count() == 3 => {
                // `${name}`; other forms can assign, and take text for code.
                if child(node, "variable_name").is_none() && child(node, "special_variable_name").is_none() {
                    self.unsure();
                }
            }
            _ => {
                self.unsure();
                self.expansions(node, source);
            }
        }
    }

    fn expansions(&mut self, node: Node<'_>, source: &str) {
        let mut cursor = node.walk();
        let parts: Vec<_> = node.named_children(&mut cursor).collect();
        self.within(|found| parts.into_iter().for_each(|part| found.expansion(part, source)));
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Position {
    /// The word is alone, or begins with this.
    Alone,
    /// Something stands before it.
    Within,
}

/// The text of a word without quotes, unless the shell would expand it.
fn bare(written: &str, position: Position) -> Option<String> {
    let mut text = String::with_capacity(written.len());
    let mut letters = written.chars();
    let mut before = if position == Position::Alone { None } else { Some('x') };
    let mut brace = false;
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next()? {
                '\n' => return None,
                escaped => text.push(escaped),
            },
            '*' | '?' | '[' | '$' | '`' | '"' | '\'' => return None,
            // No word has these without quotes, whatever the tree says.
            ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')' => return None,
            '~' if matches!(before, None | Some('=' | ':')) => return None,
            '{' => {
                brace = true;
                text.push(letter);
            }
            ',' | '.' if brace => return None,
            _ => text.push(letter),
        }
        before = Some(letter);
    }
    Some(text)
}

/// What stands between double quotes, unless something in it is expanded.
fn quoted(inner: &str) -> Option<String> {
    let mut text = String::with_capacity(inner.len());
    let mut letters = inner.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' | '`' => return None,
            '$' if letters.peek().is_some_and(|next| !matches!(next, ' ' | ',' | '.' | '/')) => return None,
            '\\' => match letters.next()? {
                escaped @ ('"' | '\\' | '$' | '`') => text.push(escaped),
                '\n' => {}
                other => text.extend(['\\', other]),
            },
            _ => text.push(letter),
        }
    }
    Some(text)
}

/// What stands in `$'...'`, of the escapes that everybody agrees on.
fn ansi(inner: &str) -> Option<String> {
    let mut text = String::with_capacity(inner.len());
    let mut letters = inner.chars();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            text.push(letter);
            continue;
        }
        match letters.next()? {
            'n' => text.push('\n'),
            't' => text.push('\t'),
            'r' => text.push('\r'),
            'a' => text.push('\u{7}'),
            'b' => text.push('\u{8}'),
            'e' => text.push('\u{1b}'),
            same @ ('\\' | '\'' | '"') => text.push(same),
            'x' => text.push(code(&mut letters, None, 2, 16)?),
            digit @ '0'..='7' => text.push(code(&mut letters, Some(digit), 2, 8)?),
            _ => return None,
        }
    }
    Some(text)
}

/// A letter of ASCII by its number. Control characters have meanings inside bash, which loses some of them.
fn code(letters: &mut std::str::Chars<'_>, first: Option<char>, more: usize, radix: u32) -> Option<char> {
    let mut value = first.and_then(|digit| digit.to_digit(radix));
    for _ in 0..more {
        let Some(digit) = letters.clone().next().and_then(|letter| letter.to_digit(radix)) else { break };
        letters.next();
        value = Some(value.unwrap_or(0) * radix + digit);
    }
    value.filter(|value| (32..127).contains(value)).and_then(char::from_u32)
}

/// The text of `"$(cat <<'END' ... END)"`, which is how longer texts are passed in one word.
fn here_text(string: Node<'_>, source: &str) -> Option<String> {
    fn only(node: Node<'_>) -> Option<Node<'_>> {
        if node.named_child_count() == 1 { node.named_child(0) } else { None }
    }
    let substitution = only(string).filter(|node| node.kind() == "command_substitution")?;
    // Nothing else is between the quotes.
    let is_all = string.start_byte() + 1 == substitution.start_byte()
        && substitution.end_byte() + 1 == string.end_byte();
    let statement = only(substitution).filter(|node| is_all && node.kind() == "redirected_statement")?;
    let redirect = statement.named_child(1).filter(|_| statement.named_child_count() == 2)?;
    let is_here = redirect.kind() == "heredoc_redirect" && redirect.named_child_count() == 3;
    let is_cat = source.get(statement.named_child(0)?.byte_range()) == Some("cat");
    let is_quoted = source.get(child(redirect, "heredoc_start")?.byte_range())?.starts_with(['\'', '"']);
    let is_plain = child(redirect, "<<").is_some();
    let body = source.get(child(redirect, "heredoc_body")?.byte_range())?;
    (is_here && is_cat && is_quoted && is_plain).then(|| body.trim_end_matches('\n').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_known_only_if_it_is_literally_there() {
        for (written, text) in [
            ("a\\ b", Some("a b")),
            ("a~b", Some("a~b")),
            ("~", None),
            ("--x=~/a", None),
            ("a*", None),
            (r"a\*", Some("a*")),
            ("a{b,c}", None),
            ("{1..3}", None),
            ("a,b", Some("a,b")),
        ] {
            assert_eq!(bare(written, Position::Alone).as_deref(), text, "{written}");
        }
        assert_eq!(quoted(r#"a \" \x $ b"#).as_deref(), Some(r#"a " \x $ b"#));
        assert_eq!(quoted("a$b"), None);
        assert_eq!(quoted("a`b`"), None);
        assert_eq!(ansi(r"\x72\155\n\'").as_deref(), Some("rm\n'"));
        assert_eq!(ansi(r"\u0072"), None);
        assert_eq!(ansi(r"\0"), None);
        assert_eq!(ansi(r"\1a"), None);
    }
}
