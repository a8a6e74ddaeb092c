//! Variables that are set. Most are harmless; some decide which program a name means, or what programs do.

use tree_sitter::Node;

use super::Found;
use super::known;
use super::syntax::{self, child};
use super::word::Word;

impl Found {
    /// `NAME=value`, alone or before a command.
    pub(super) fn assignment(&mut self, node: Node<'_>, source: &str) {
        match child(node, "variable_name").map(|name| source.get(name.byte_range()).unwrap_or_default()) {
            Some(name) => self.assigned(name),
            // An element of an array, whose number is an expression.
            None => self.unsure(),
        }
        let mut cursor = node.walk();
        let values: Vec<_> = node.named_children(&mut cursor).skip(1).collect();
        for value in values {
            if value.kind() == "array" {
                self.array(value, source);
            } else {
                self.expansion(value, source);
            }
        }
    }

    fn array(&mut self, node: Node<'_>, source: &str) {
        let mut cursor = node.walk();
        let values: Vec<_> = node.named_children(&mut cursor).collect();
        for value in values {
            if syntax::is_word(value.kind()) && value.kind() != "variable_assignment" {
                self.expansion(value, source);
            } else {
                self.unsure();
            }
        }
    }

    /// A variable of that name gets a value.
    pub(super) fn assigned(&mut self, name: &str) {
        if !known::is_harmless_variable(name) {
            self.unsure();
        }
    }

    /// `export`, `local`, `unset` and the like.
    pub(super) fn declaration(&mut self, node: Node<'_>, source: &str) {
        let mut cursor = node.walk();
        let children: Vec<_> = node.children(&mut cursor).collect();
        let mut words = Vec::new();
        for child in children {
            let written = source.get(child.byte_range()).unwrap_or_default();
            match child.kind() {
                "variable_assignment" => self.assignment(child, source),
                "variable_name" => self.assigned(written),
                // Other options make a variable another name of one, or its value an expression.
                "word" if !matches!(written, "-x" | "-r" | "-g" | "-p") => self.unsure(),
                "word" | "comment" => {}
                _ if !child.is_named() => {}
                _ => {
                    self.unsure();
                    self.expansion(child, source);
                }
            }
            words.push(Word::known(written));
        }
        self.record(&words);
    }
}
