//! What is said of a message in every form that is for people.

use hostler_core::client::printable;
use hostler_core::content::Finish;

/// How an answer ended, if not as answers do.
pub(super) fn finish(finish: Option<&Finish>) -> Option<String> {
    Some(match finish {
        None => "still being answered".to_owned(),
        Some(Finish::EndTurn | Finish::ToolUse | Finish::Unknown) => return None,
        Some(Finish::MaxTokens) => "cut by the model's output limit".to_owned(),
        Some(Finish::ContentFilter) => "withheld by the provider".to_owned(),
        Some(Finish::Cancelled) => "cancelled".to_owned(),
        Some(Finish::Interrupted) => "interrupted: the program stopped".to_owned(),
        Some(Finish::Error(error)) => format!("failed: {}", printable(&error.message)),
    })
}
