//! A tree to what is executed. Kinds of nodes that are not listed are not understood; what is below them is looked at
//! nevertheless, for the rules that deny.

use tree_sitter::Node;

use super::Found;
use super::known;
use super::shells::Dialect;
use super::syntax;
use super::word::Word;

/// Words with which something else than a plain command begins.
pub(super) const RESERVED: &[&str] = &[
    "!", "[[", "]]", "{", "}", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for",
    "function", "if", "in", "select", "then", "until", "while",
];

impl Found {
    /// Takes a script apart.
    pub(super) fn script(&mut self, source: &str, dialect: Dialect) {
        let Some(tree) = syntax::parse(source) else { return self.unsure() };
        if !dialect.agrees(source) {
            self.unsure();
        }
        self.within(|found| found.children(tree.root_node(), source));
        if !syntax::is_certain(source, &tree) {
            self.unsure();
            // A text that is read wrongly may hide commands in what looks like data.
            let lines = source.lines().skip(1).filter(|line| !line.trim().is_empty());
            lines.for_each(|line| self.within(|found| found.line(line)));
        }
    }

    fn line(&mut self, source: &str) {
        if let Some(tree) = syntax::parse(source) {
            self.within(|found| found.children(tree.root_node(), source));
        }
    }

    /// Takes everything below a node apart.
    pub(super) fn children(&mut self, node: Node<'_>, source: &str) {
        let mut cursor = node.walk();
        let children: Vec<_> = node.named_children(&mut cursor).collect();
        for child in children {
            self.statement(child, source);
        }
    }

    pub(super) fn statement(&mut self, node: Node<'_>, source: &str) {
        match node.kind() {
            "comment" => {}
            "command" => self.command(node, Vec::new(), source),
            "redirected_statement" => self.redirected(node, source),
            "compound_statement" if node.child(0).is_some_and(|first| first.kind() != "{") => {
                self.not_understood(node, source);
            }
            "list" | "pipeline" | "subshell" | "negated_command" | "if_statement" | "elif_clause"
            | "else_clause" | "compound_statement" => self.within(|found| found.children(node, source)),
            "while_statement" | "do_group" => self.repeatedly(|found| found.children(node, source)),
            "for_statement" => self.repeatedly(|found| found.for_each(node, source)),
            "function_definition" => self.repeatedly(|found| found.function(node, source)),
            "case_statement" | "case_item" => self.within(|found| found.case(node, source)),
            "variable_assignment" => self.assignment(node, source),
            "variable_assignments" => self.within(|found| found.children(node, source)),
            "declaration_command" | "unset_command" => self.declaration(node, source),
            "test_command" => self.within(|found| found.test(node, source)),
            _ => self.not_understood(node, source),
        }
    }

    fn not_understood(&mut self, node: Node<'_>, source: &str) {
        self.unsure();
        self.within(|found| found.children(node, source));
    }

    fn repeatedly(&mut self, look: impl FnOnce(&mut Self)) {
        self.repeated += 1;
        self.within(look);
        self.repeated -= 1;
    }

    /// A command whose redirections the tree has beside it, and with them words that stand after those.
    fn redirected(&mut self, node: Node<'_>, source: &str) {
        let mut cursor = node.walk();
        let children: Vec<_> = node.named_children(&mut cursor).collect();
        let is_redirect = |node: &&Node<'_>| node.kind().ends_with("_redirect");
        let words =
            children.iter().filter(is_redirect).flat_map(|child| self.redirect(*child, source)).collect();
        match children.iter().find(|child| !is_redirect(child)) {
            Some(body) if body.kind() == "command" => {
                self.within(|found| found.command(*body, words, source))
            }
            Some(body) => {
                // Words after the redirections of something that takes none.
                if !words.is_empty() {
                    self.unsure();
                }
                self.within(|found| found.statement(*body, source));
            }
            None if words.is_empty() => {}
            None => self.run(words),
        }
        if children.iter().filter(|child| !is_redirect(child)).count() > 1 {
            self.not_understood(node, source);
        }
    }

    fn command(&mut self, node: Node<'_>, after: Vec<Word>, source: &str) {
        let mut cursor = node.walk();
        let children: Vec<_> = node.children(&mut cursor).collect();
        let mut words = Vec::new();
        for child in children {
            match child.kind() {
                "comment" => {}
                "variable_assignment" => self.assignment(child, source),
                "file_redirect" | "heredoc_redirect" | "herestring_redirect" => {
                    words.extend(self.redirect(child, source))
                }
                "==" | "=~" => words.push(Word::known(child.kind())),
                "subshell" => self.not_understood(child, source),
                kind if child.is_named() && syntax::is_word(kind) => {
                    if kind == "command_name" && is_odd(child, source) {
                        self.unsure();
                    }
                    words.push(self.word(child, source));
                }
                _ => self.not_understood(child, source),
            }
        }
        words.extend(after);
        if !words.is_empty() {
            self.run(words);
        }
    }

    fn for_each(&mut self, node: Node<'_>, source: &str) {
        let mut cursor = node.walk();
        let children: Vec<_> = node.children(&mut cursor).collect();
        for child in children {
            match child.kind() {
                "variable_name" => self.assigned(source.get(child.byte_range()).unwrap_or_default()),
                "for" | "in" | ";" | "\n" => {}
                kind if child.is_named() && syntax::is_word(kind) => {
                    self.word(child, source);
                }
                "do_group" => self.statement(child, source),
                _ => self.not_understood(child, source),
            }
        }
    }

    fn function(&mut self, node: Node<'_>, source: &str) {
        let mut cursor = node.walk();
        let children: Vec<_> = node.named_children(&mut cursor).collect();
        for child in children {
            if child.kind() != "word" {
                self.statement(child, source);
            }
        }
    }

    /// What is compared is not executed; what follows a pattern is.
    fn case(&mut self, node: Node<'_>, source: &str) {
        let mut cursor = node.walk();
        let children: Vec<_> = node.children(&mut cursor).collect();
        let end = if node.kind() == "case_item" { ")" } else { "in" };
        let mut compared = true;
        for child in children {
            match child.kind() {
                kind if kind == end => compared = false,
                kind if compared && syntax::is_word(kind) => self.expansion_of_data(child, source),
                _ if child.is_named() && compared => self.not_understood(child, source),
                _ if child.is_named() => self.statement(child, source),
                _ => {}
            }
        }
    }

    /// `[ ... ]` and `[[ ... ]]`: files are looked at, and nothing is executed but what is substituted.
    fn test(&mut self, node: Node<'_>, source: &str) {
        let mut cursor = node.walk();
        let children: Vec<_> = node.children(&mut cursor).collect();
        for child in children {
            let written = source.get(child.byte_range()).unwrap_or_default();
            match child.kind() {
                // Numbers are expressions, and a variable's name may have one in brackets; those can execute.
                "test_operator" if known::ARITHMETIC_TESTS.contains(&written) => self.unsure(),
                "test_operator" | "(" | ")" | "[" | "]" | "[[" | "]]" | "&&" | "||" | "!" | "=" | "=="
                | "!=" | "=~" => {}
                "binary_expression"
                | "unary_expression"
                | "parenthesized_expression"
                | "negation_expression" => {
                    self.within(|found| found.test(child, source));
                }
                "extglob_pattern" | "regex" if !written.contains(['$', '`']) => {}
                kind if child.is_named() && syntax::is_word(kind) => {
                    let word = self.word(child, source);
                    if let Some(text) = word.literal() {
                        self.places.look_at(text);
                    }
                }
                _ => self.not_understood(child, source),
            }
        }
    }

    /// Looks at what is executed in a word that is only data.
    pub(super) fn expansion_of_data(&mut self, node: Node<'_>, source: &str) {
        if node.kind() != "extglob_pattern" {
            self.expansion(node, source);
        } else if source.get(node.byte_range()).unwrap_or_default().contains(['$', '`']) {
            self.unsure();
        }
    }
}

/// Whether what the tree takes for a program's name may be something else to bash.
fn is_odd(name: Node<'_>, source: &str) -> bool {
    let written = source.get(name.byte_range()).unwrap_or_default();
    RESERVED.contains(&written) || written.contains(['=', '{', '}']) || written.starts_with('#')
}
