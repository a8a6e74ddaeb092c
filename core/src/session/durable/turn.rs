//! The turn that is under way.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::super::repetition::Trail;
use crate::content::{Block, Usage};
use crate::ids::{MessageId, RunId, StepId, TurnId};
use crate::record::{Reason, Totals};

/// The turn that is under way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    /// Its number.
    pub id: TurnId,
    /// The run that it belongs to; empty if it belongs to none, and then it has no prompts.
    pub run: RunId,
    /// What it is for.
    pub purpose: Purpose,
    /// The sequences of the prompt that it answers and of those that joined it.
    pub prompts: Vec<u64>,
    /// The number of its step that came last; 0 before the first.
    pub step: u32,
    /// The number of that step's attempt that came last.
    pub attempt: u32,
    /// The message of that step, until the step is finished.
    pub message: Option<MessageId>,
    /// What has been streamed of that message and recorded, by the number of its block.
    pub streamed: BTreeMap<u32, Block>,
    /// What the answer of the step that is under way used.
    pub usage: Usage,
    /// Why it is being cancelled, if it is.
    pub cancelling: Option<Reason>,
    /// Whether a person has denied one of its calls, so that nothing of it starts any more.
    pub stopped: bool,
    /// How many steps in a row consisted of nothing but denied calls.
    pub denied_steps: u32,
    /// How many summaries in a row have left the conversation too long.
    pub crowded: u32,
    /// How often its run was asked again for an answer that satisfies its schema.
    #[serde(default)]
    pub repairs: u32,
    /// What its last steps did.
    pub trail: Trail,
    /// The last message with text.
    pub answer: Option<MessageId>,
    /// What it has used.
    pub totals: Totals,
}

/// What a turn is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Purpose {
    /// To do what its prompt asks for.
    Work,
    /// To sum the conversation up.
    Summary {
        /// About how many tokens the model is shown of it.
        budget: u64,
        /// How often even that was refused as too long.
        refused: u32,
    },
}

impl Turn {
    pub(super) fn new(id: TurnId, run: RunId, prompts: Vec<u64>) -> Self {
        Self {
            id,
            run,
            purpose: Purpose::Work,
            prompts,
            step: 0,
            attempt: 0,
            message: None,
            streamed: BTreeMap::new(),
            usage: Usage::default(),
            cancelling: None,
            stopped: false,
            denied_steps: 0,
            crowded: 0,
            repairs: 0,
            trail: Trail::default(),
            answer: None,
            totals: Totals::default(),
        }
    }

    /// The id of its step that came last.
    pub fn step_id(&self) -> StepId {
        StepId { turn: self.id, step: self.step }
    }
}
