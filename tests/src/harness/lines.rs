//! The lines of a run that reports in JSON.

use serde_json::Value;

/// Lines in order.
#[derive(Clone, Debug, Default)]
pub struct Lines(Vec<Value>);

impl Lines {
    /// The lines of a text that are whole: a program that is running may be in the middle of one.
    pub fn whole(text: &str) -> Self {
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let parse =
            |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{line:?}: {error}"));
        Self(whole.lines().map(parse).collect())
    }

    /// All of them.
    pub fn all(&self) -> &[Value] {
        &self.0
    }

    /// Those of a type.
    pub fn of(&self, kind: &str) -> Vec<&Value> {
        self.0.iter().filter(|line| line["type"] == kind).collect()
    }

    /// The first of a type.
    pub fn first(&self, kind: &str) -> Option<&Value> {
        self.0.iter().find(|line| line["type"] == kind)
    }

    /// The types, in order; those that follow their like are left out.
    pub fn kinds(&self) -> Vec<&str> {
        let mut kinds: Vec<_> = self.0.iter().map(|line| line["type"].as_str().unwrap_or_default()).collect();
        kinds.dedup();
        kinds
    }

    /// The line that ends them.
    ///
    /// # Panics
    ///
    /// When there is none.
    pub fn finished(&self) -> &Value {
        self.first("run.finished").unwrap_or_else(|| panic!("there is no run.finished in {:#?}", self.0))
    }

    /// The id of the run.
    pub fn run(&self) -> String {
        text(&self.0.first().expect("there is a line")["run"])
    }

    /// The id of the session, as the last line knows it.
    pub fn session(&self) -> String {
        text(&self.0.last().expect("there is a line")["session"])
    }

    /// The text of a message as it was streamed, without what failed attempts had said.
    pub fn streamed(&self, message: &Value) -> String {
        let mut streamed = String::new();
        for line in self.0.iter().filter(|line| line["message_id"] == *message) {
            match line["type"].as_str() {
                Some("attempt.reset") => streamed.clear(),
                Some("text.delta") => streamed.push_str(line["text"].as_str().unwrap_or_default()),
                _ => {}
            }
        }
        streamed
    }

    /// The names and statuses of the tool calls that ended, in that order.
    pub fn tools(&self) -> Vec<(String, String)> {
        self.of("tool.finished").iter().map(|line| (text(&line["name"]), text(&line["status"]))).collect()
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
