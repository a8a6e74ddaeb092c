//! Redirections: files that are read and written beside what a command does.

use tree_sitter::Node;

use super::Found;
use super::syntax;
use super::word::Word;

impl Found {
    /// Takes a redirection apart. Words of the command that stand after it, which the tree has in it, are given back.
    pub(super) fn redirect(&mut self, node: Node<'_>, source: &str) -> Vec<Word> {
        match node.kind() {
            "file_redirect" => self.file_redirect(node, source),
            "herestring_redirect" => self.here_string(node, source),
            "heredoc_redirect" => self.here_document(node, source),
            _ => {
                self.unsure();
                Vec::new()
            }
        }
    }

    fn file_redirect(&mut self, node: Node<'_>, source: &str) -> Vec<Word> {
        let mut cursor = node.walk();
        let children: Vec<_> = node.children(&mut cursor).collect();
        let operator = children.iter().find(|child| !child.is_named()).map_or("", |child| child.kind());
        let words: Vec<_> = children
            .iter()
            .filter(|child| child.is_named() && child.kind() != "file_descriptor")
            .map(|child| self.word(*child, source))
            .collect();
        let mut words = words.into_iter();
        if !matches!(operator, "<&-" | ">&-") {
            match words.next() {
                Some(target) => self.redirected_to(operator, &target),
                None => self.unsure(),
            }
        }
        words.collect()
    }

    fn redirected_to(&mut self, operator: &str, target: &Word) {
        let Some(path) = target.literal() else { return self.unsure() };
        let is_descriptor =
            path == "-" || (!path.is_empty() && path.bytes().all(|byte| byte.is_ascii_digit()));
        match operator {
            "<&" | ">&" if is_descriptor => {}
            "<" => self.place(path, |places, path| places.read(path)),
            ">" | ">>" | ">|" | "&>" | "&>>" | ">&" => self.place(path, |places, path| places.write(path)),
            _ => self.unsure(),
        }
    }

    /// Bash itself opens connections for some paths that do not exist.
    fn place(&mut self, path: &str, note: impl FnOnce(&mut super::places::Places, &str)) {
        let network = ["/dev/tcp/", "/dev/udp/"].iter().find_map(|begin| path.strip_prefix(begin));
        match network {
            Some(rest) => self.host(rest.split('/').next().unwrap_or_default()),
            None => note(&mut self.places, path),
        }
    }

    fn here_string(&mut self, node: Node<'_>, source: &str) -> Vec<Word> {
        let mut cursor = node.walk();
        let children: Vec<_> = node.named_children(&mut cursor).collect();
        let mut words = children.iter().filter(|child| child.kind() != "file_descriptor");
        if let Some(text) = words.next() {
            self.expansion_of_data(*text, source);
        }
        words.map(|word| self.word(*word, source)).collect::<Vec<_>>()
    }

    /// In the tree, the rest of the line that a here-document begins on is inside it.
    fn here_document(&mut self, node: Node<'_>, source: &str) -> Vec<Word> {
        let mut cursor = node.walk();
        let children: Vec<_> = node.named_children(&mut cursor).collect();
        let start = syntax::child(node, "heredoc_start").map_or("", |start| &source[start.byte_range()]);
        let is_quoted = start.contains(['\'', '"', '\\']);
        let mut words = Vec::new();
        for child in children {
            match child.kind() {
                "heredoc_start" | "heredoc_end" | "file_descriptor" | "comment" => {}
                "heredoc_body" if is_quoted => {}
                "heredoc_body" => self.here_text(child, source),
                kind if kind.ends_with("_redirect") => words.extend(self.redirect(child, source)),
                kind if syntax::is_word(kind) && kind != "variable_assignment" => {
                    words.push(self.word(child, source))
                }
                _ => self.within(|found| found.statement(child, source)),
            }
        }
        words
    }

    fn here_text(&mut self, node: Node<'_>, source: &str) {
        let mut cursor = node.walk();
        let parts: Vec<_> = node.named_children(&mut cursor).collect();
        for part in parts.into_iter().filter(|part| part.kind() != "heredoc_content") {
            self.expansion(part, source);
        }
        // The tree does not see what stands between backquotes here.
        for script in source[node.byte_range()].split('`').skip(1).step_by(2) {
            self.unsure();
            self.script_of(script);
        }
    }
}
