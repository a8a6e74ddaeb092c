//! What is known of a record by its type: its name in the log, how safe its commit must be, and what it stands for there.

use super::Record;

/// How safe a commit must be before anybody is told of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strength {
    /// It survives the end of the process.
    Normal,
    /// It survives the loss of power.
    Full,
}

impl Record {
    /// Streamed pieces of what a later record states whole: they may be deleted once that is there.
    pub fn is_chunk(&self) -> bool {
        matches!(
            self,
            Record::TextAppended { .. }
                | Record::ReasoningAppended { .. }
                | Record::ToolOutputAppended { .. }
        )
    }

    /// Whether nothing is under way in its session behind it, so that it is a good time to save the session's state.
    pub fn is_rest(&self) -> bool {
        matches!(self, Record::TurnFinished { .. })
    }

    /// How safe its commit must be. Acceptance is promised across the network only by a server.
    pub fn strength(&self, serving: bool) -> Strength {
        match self {
            Record::RunFinished(_) => Strength::Full,
            Record::PromptAccepted { .. } if serving => Strength::Full,
            _ => Strength::Normal,
        }
    }

    /// Reads a record as it stands in a log. None if its type is not known, which is no error: a newer version wrote
    /// it.
    pub fn read(body: &str) -> Result<Option<Self>, serde_json::Error> {
        match serde_json::from_str(body) {
            Ok(record) => Ok(Some(record)),
            Err(error) if Self::is_known(body) => Err(error),
            Err(_) => Ok(None),
        }
    }

    fn is_known(body: &str) -> bool {
        let Some(rest) = body.trim_start().strip_prefix("{\"") else { return true };
        let Some((kind, _)) = rest.split_once('"') else { return true };
        KINDS.contains(&kind)
    }

    /// The name of its type, as it stands in the log.
    pub fn kind(&self) -> &'static str {
        KINDS[self.kind_index()]
    }

    /// The names of all types.
    pub fn kinds() -> impl Iterator<Item = &'static str> {
        KINDS.into_iter()
    }

    fn kind_index(&self) -> usize {
        match self {
            Record::SessionCreated { .. } => 0,
            Record::PromptAccepted { .. } => 1,
            Record::PromptQueued { .. } => 2,
            Record::PromptFolded { .. } => 3,
            Record::PromptReturned { .. } => 4,
            Record::Prepared { .. } => 5,
            Record::TurnStarted { .. } => 6,
            Record::StepStarted { .. } => 7,
            Record::AttemptStarted { .. } => 8,
            Record::TextAppended { .. } => 9,
            Record::ReasoningAppended { .. } => 10,
            Record::AttemptFailed { .. } => 11,
            Record::MessageFinished { .. } => 12,
            Record::PermissionDecided { .. } => 13,
            Record::ToolCallStarted { .. } => 14,
            Record::ToolOutputAppended { .. } => 15,
            Record::ToolCallFinished { .. } => 16,
            Record::StepFinished { .. } => 17,
            Record::CancelAccepted { .. } => 18,
            Record::TurnFinished { .. } => 19,
            Record::RunFinished(_) => 20,
            Record::SummaryStarted { .. } => 21,
            Record::SummaryFinished { .. } => 22,
            Record::TurnContinued { .. } => 23,
            Record::SubAgentFinished { .. } => 24,
            Record::TodosChanged { .. } => 25,
            Record::PermissionAsked { .. } => 26,
            Record::PermissionWithdrawn { .. } => 27,
            Record::TitleChanged { .. } => 28,
            Record::SessionForked { .. } => 29,
            Record::AnswerRefused { .. } => 30,
        }
    }
}

const KINDS: [&str; 31] = [
    "SessionCreated",
    "PromptAccepted",
    "PromptQueued",
    "PromptFolded",
    "PromptReturned",
    "Prepared",
    "TurnStarted",
    "StepStarted",
    "AttemptStarted",
    "TextAppended",
    "ReasoningAppended",
    "AttemptFailed",
    "MessageFinished",
    "PermissionDecided",
    "ToolCallStarted",
    "ToolOutputAppended",
    "ToolCallFinished",
    "StepFinished",
    "CancelAccepted",
    "TurnFinished",
    "RunFinished",
    "SummaryStarted",
    "SummaryFinished",
    "TurnContinued",
    "SubAgentFinished",
    "TodosChanged",
    "PermissionAsked",
    "PermissionWithdrawn",
    "TitleChanged",
    "SessionForked",
    "AnswerRefused",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::PromptId;

    #[test]
    fn a_record_is_named_in_the_log_as_by_kind() {
        let record = Record::PromptQueued { prompt: PromptId::new("p") };
        let body = serde_json::to_string(&record).unwrap_or_default();
        assert!(body.starts_with("{\"PromptQueued\":"), "{body}");
        assert_eq!(record.kind(), "PromptQueued");
        assert_eq!(Record::read(&body).ok(), Some(Some(record)));
    }

    #[test]
    fn an_unknown_type_is_skipped_and_a_broken_known_one_is_an_error() {
        assert_eq!(Record::read(r#"{"ComesLater":{"x":1}}"#).ok(), Some(None));
        assert!(Record::read(r#"{"PromptQueued":{"x":1}}"#).is_err());
        assert!(Record::read("nonsense").is_err());
    }

    #[test]
    fn fields_that_come_later_do_not_matter() {
        let read = Record::read(r#"{"PromptQueued":{"prompt":"p","later":1}}"#);
        assert_eq!(read.ok(), Some(Some(Record::PromptQueued { prompt: PromptId::new("p") })));
    }
}
