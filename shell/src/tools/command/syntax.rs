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
    let mut read = |offset: usize, _| source.as_bytes().get(offset..).unwrap_or_default();
    parser.parse_with_options(&mut read, None, Some(ParseOptions::new().progress_callback(&mut progress)))
}

/// Whether bash would read the text as the tree does.
pub(super) fn is_certain(source: &str, tree: &Tree) -> bool {
    !tree.root_node().has_error()
        && source.chars().all(is_ordinary)
        && no_word_is_continued(source)
        && Leaves::of(tree.root_node()).check(source)
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

/// A walk over a tree that does not recurse, since trees may be deep.
struct Leaves<'tree> {
    root: Node<'tree>,
}

impl<'tree> Leaves<'tree> {
    fn of(root: Node<'tree>) -> Self {
        Self { root }
    }

    fn check(&self, source: &str) -> bool {
        let mut cursor = self.root.walk();
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
            // What is between two tokens must be nothing that matters.
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
        _ => true,
    }
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
    children.windows(2).all(|pair| {
        let [first, second] = pair else { return true };
        let touch = first.end_byte() == second.start_byte();
        let is_word = |node: &Node<'_>| is_word(node.kind());
        !(touch && is_word(first) && (is_word(second) || second.kind() == "subshell"))
            && !(touch && first.kind() == "$")
            // `2 >x` is a word and a redirection, and `2>x` is not.
            && !(first.kind() == "file_descriptor" && !touch)
            && !(touch && is_word(first) && second.kind() == "file_redirect" && ends_in_digit(first))
    })
}

fn ends_in_digit(node: &Node<'_>) -> bool {
    node.kind() == "number"
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
