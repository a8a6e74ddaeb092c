//! A text to a tree, and whether the tree is known to be what bash makes of the text.
//!
//! Everything here is about the differences between the two. A text that could be read in two ways is not relied on; that
//! costs a question, while a wrong tree would cost more.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use tree_sitter::{Node, ParseOptions, Parser, Tree};

/// How long a command may be that is taken apart.
const MAX_BYTES: usize = 128 << 10;
/// How long taking it apart may take. It is a matter of milliseconds, except for texts made to take longer.
const PATIENCE: Duration = Duration::from_millis(500);

/// The tree of a text, if one can be had.
pub(super) fn parse(source: &str) -> Option<Tree> {
    if source.len() > MAX_BYTES {
        return None;
    }
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    let begun = Instant::now();
    let mut progress = |_: &tree_sitter::ParseState| {
        if begun.elapsed() > PATIENCE { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let masked = masked(source);
    let mut read = |offset: usize, _| masked.get(offset..).unwrap_or_default();
    parser.parse_with_options(&mut read, None, Some(ParseOptions::new().progress_callback(&mut progress)))
}

/// The text with a letter of no meaning in place of each byte of other letters than those of ASCII. To bash they are parts of
/// words and nothing else, while the grammar's scanner asks the C library about them in a way that may end the process.
fn masked(source: &str) -> Vec<u8> {
    source.bytes().map(|byte| if byte.is_ascii() { byte } else { b'%' }).collect()
}

/// Whether bash would read the text as the tree does.
pub(super) fn is_certain(source: &str, tree: &Tree) -> bool {
    !tree.root_node().has_error()
        && source.chars().all(is_ordinary)
        && no_word_is_continued(source)
        && is_whole(tree.root_node(), source)
}

/// Whether a letter is what it seems to be: other blanks and control characters separate words for one and not the other.
fn is_ordinary(letter: char) -> bool {
    matches!(letter, ' ' | '\t' | '\n')
        || !(letter.is_whitespace() || letter.is_control() || letter == '\u{feff}')
}

/// Whether each line that goes on does so between words: bash joins what stands on both sides of the end of the line.
fn no_word_is_continued(source: &str) -> bool {
    let bytes = source.as_bytes();
    let is_blank = |byte: Option<&u8>| matches!(byte, Some(b' ' | b'\t'));
    bytes.windows(2).enumerate().all(|(at, pair)| {
        pair != b"\\\n" || at.checked_sub(1).is_some_and(|before| is_blank(bytes.get(before)))
    })
}

/// Whether every node is what it seems to be, and nothing is between the tokens. It does not recurse, since trees may be
/// deep.
fn is_whole(root: Node<'_>, source: &str) -> bool {
    let mut cursor = root.walk();
    let mut end = 0;
    let mut lines = BTreeSet::new();
    loop {
        let node = cursor.node();
        if !is_plausible(node, source, &mut lines) {
            return false;
        }
        if cursor.goto_first_child() {
            continue;
        }
        if !source.get(end.min(node.start_byte())..node.start_byte()).is_some_and(is_gap) {
            return false;
        }
        end = end.max(node.end_byte());
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return source.get(end..).is_some_and(is_gap);
            }
        }
    }
}

fn is_gap(text: &str) -> bool {
    text.replace("\\\n", "").chars().all(|letter| matches!(letter, ' ' | '\t' | '\n'))
}

fn is_plausible(node: Node<'_>, source: &str, lines: &mut BTreeSet<usize>) -> bool {
    let text = source.get(node.byte_range()).unwrap_or_default();
    match node.kind() {
        "comment" => begins_a_comment(&source[..node.start_byte()]),
        // Inside backquotes, bash takes quotes, backslashes and comments apart differently.
        "command_substitution" => {
            !text.starts_with('`') || !text.contains(['\\', '#', '\'', '"', '<']) && text.ends_with('`')
        }
        "heredoc_redirect" => here_document(node, source, lines).is_some(),
        "command" | "redirected_statement" | "file_redirect" | "for_statement" | "declaration_command" => {
            words_are_apart(node)
        }
        "word" | "raw_string" | "ansi_c_string" | "string" | "concatenation" => ends_a_word(node, source),
        _ => true,
    }
}

/// Whether a word is over where its node is: what touches it behind would be a part of it for bash.
fn ends_a_word(node: Node<'_>, source: &str) -> bool {
    if node.parent().is_some_and(|parent| parent.kind() == "concatenation") {
        return true;
    }
    let behind = source.as_bytes().get(node.end_byte());
    behind.is_none_or(|byte| {
        matches!(byte, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')' | b'`')
    })
}

fn begins_a_comment(before: &str) -> bool {
    before
        .chars()
        .next_back()
        .is_none_or(|letter| matches!(letter, ' ' | '\t' | '\n' | ';' | '&' | '|' | '(' | ')'))
}

/// Whether something is between every two words.
fn words_are_apart(node: Node<'_>) -> bool {
    let mut cursor = node.walk();
    let children: Vec<_> = node.children(&mut cursor).collect();
    children.iter().zip(children.iter().skip(1)).all(|(first, second)| {
        let touch = first.end_byte() == second.start_byte();
        match (first.kind(), second.kind()) {
            // `2 >x` is a word and a redirection, and `2>x` is not.
            ("file_descriptor", _) => touch,
            ("number", "file_redirect") | ("$", _) => !touch,
            (first, second) => !(touch && is_word(first) && (is_word(second) || second == "subshell")),
        }
    })
}

/// Whether a node of that kind is a word or a part of one.
pub(super) fn is_word(kind: &str) -> bool {
    matches!(
        kind,
        "word"
            | "number"
            | "string"
            | "raw_string"
            | "ansi_c_string"
            | "translated_string"
            | "concatenation"
            | "simple_expansion"
            | "expansion"
            | "command_substitution"
            | "process_substitution"
            | "arithmetic_expansion"
            | "brace_expression"
            | "command_name"
            | "variable_assignment"
            | "variable_name"
            | "extglob_pattern"
            | "regex"
    )
}

/// Checks that a here-document ends where bash ends it, and that nothing in it is executed unseen.
fn here_document(node: Node<'_>, source: &str, lines: &mut BTreeSet<usize>) -> Option<()> {
    let start = child(node, "heredoc_start")?;
    let end = child(node, "heredoc_end")?;
    let written = source.get(start.byte_range())?;
    let quoted = ["'", "\""].iter().find_map(|quote| written.strip_prefix(quote)?.strip_suffix(quote));
    let delimiter = quoted.unwrap_or(written);
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    if delimiter.is_empty() || !delimiter.chars().all(is_name) || !lines.insert(start.start_position().row) {
        return None;
    }
    let rest = &source[start.end_byte()..];
    let (line, below) = rest.split_once('\n')?;
    if line.contains(['\'', '"', '`', '\\', '#', '$', '(', ')', '{', '}']) {
        return None;
    }
    let tabs = child(node, "<<-").is_some();
    let mut at = source.len() - below.len();
    for line in below.split('\n') {
        let bare = if tabs { line.trim_start_matches('\t') } else { line };
        if bare == delimiter {
            let body = &source[source.len() - below.len()..at];
            let is_end =
                end.start_byte() == at + (line.len() - bare.len()) && end.end_byte() == at + line.len();
            let is_data =
                quoted.is_some() || !["`", "$(", "${", "$[", "\\"].iter().any(|begin| body.contains(begin));
            return (is_end && is_data).then_some(());
        }
        at += line.len() + 1;
    }
    None
}

/// The first child of that kind.
pub(super) fn child<'tree>(node: Node<'tree>, kind: &str) -> Option<Node<'tree>> {
    let mut cursor = node.walk();
    node.children(&mut cursor).find(|child| child.kind() == kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_far_from_ascii_are_parts_of_words_and_do_no_harm() {
        for letter in ['\u{e9}', '\u{2003}', '\u{10000}', '\u{1f600}', '\u{f0000}', '\u{10ffff}'] {
            for text in
                [format!("{{{letter}"), format!("{{ {letter}; }}"), format!("cat <<{letter}\n{letter}\n")]
            {
                assert!(parse(&text).is_some(), "{text:?}");
            }
        }
        let certain = |text: &str| parse(text).is_some_and(|tree| is_certain(text, &tree));
        assert!(certain("git commit -m 'na\u{ef}ve'"));
        assert!(certain("\u{e9}=1 ls"), "that is a command and no assignment");
    }

    #[test]
    fn what_touches_a_word_is_a_part_of_it() {
        let certain = |text: &str| parse(text).is_some_and(|tree| is_certain(text, &tree));
        assert!(certain("alpha > b; beta"));
        assert!(!certain(r"alpha > $'\x62'\e\t\a"));
    }
}
