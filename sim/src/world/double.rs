//! Decisions that are wrong on purpose, to see whether they are noticed. A double stands before a machine and twists what
//! reaches it.

use hostler_core::ids::PromptId;
use hostler_core::protocol::Command;
use hostler_core::record::CancelScope;
use hostler_core::session::Input as SessionInput;
use hostler_core::workspace::{Input, Workspace};

/// A cancel of everything covers the turn that is under way and forgets what waits behind it.
pub const FORGETS_THE_QUEUE: u64 = 3;
/// The outcome of a tool that comes in one batch with something else is lost.
pub const LOSES_AN_OUTCOME: u64 = 4;
/// A prompt that is submitted again during its turn is taken for another one.
pub const TAKES_IT_TWICE: u64 = 5;

/// What reaches a machine that decides wrongly in that way. `alone` says whether it is the only input of its batch.
pub(super) fn twist(planted: u64, input: Input, alone: bool, machine: &Workspace) -> Option<Input> {
    match (planted, input) {
        (
            FORGETS_THE_QUEUE,
            Input::Request { id, command: Command::Cancel { session, scope, reason }, taken, source },
        ) => {
            let turn = machine.durable(&session).and_then(|durable| durable.turn.as_ref());
            let scope = turn.map_or(scope, |turn| CancelScope::Run(turn.run.clone()));
            Some(Input::Request { id, command: Command::Cancel { session, scope, reason }, taken, source })
        }
        (LOSES_AN_OUTCOME, Input::Session { input: SessionInput::ToolFinished { .. }, .. }) if !alone => None,
        (
            TAKES_IT_TWICE,
            Input::Request { id, command: Command::Submit { session, mut prompt }, taken, source },
        ) => {
            let durable = machine.durable(session.id());
            if durable
                .is_some_and(|durable| durable.turn.is_some() && durable.find_open(&prompt.id).is_some())
            {
                prompt.id = PromptId::new(format!("{}-again", prompt.id));
            }
            Some(Input::Request { id, command: Command::Submit { session, prompt }, taken, source })
        }
        (_, input) => Some(input),
    }
}
