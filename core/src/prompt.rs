//! What is submitted: a prompt and the terms on which it is run.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::content::Attachment;
use crate::ids::{ClientId, PromptId, RunId};
use crate::tools::Rule;

/// A prompt as it was submitted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prompt {
    /// Its name, given by whoever submits it.
    pub id: PromptId,
    /// The caller's name for the run, if the caller wants to follow it; such a prompt is a turn of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// Who submits it, and so whom its text goes back to if it is not run.
    pub client: ClientId,
    /// What was written.
    pub text: String,
    /// What was attached.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
    /// The terms on which it is run.
    pub terms: Terms,
}

impl Prompt {
    /// The id of its run: the caller's, else its own.
    pub fn run_id(&self) -> RunId {
        self.run.clone().unwrap_or_else(|| RunId::from(&self.id))
    }

    /// How many bytes it has, with what is attached.
    pub fn bytes(&self) -> usize {
        self.text.len() + self.attachments.iter().map(|attachment| attachment.data.len()).sum::<usize>()
    }

    /// Whether it joins a turn that is under way instead of waiting for one of its own.
    pub fn folds(&self) -> bool {
        match self.terms.delivery {
            Delivery::Fold => true,
            Delivery::OwnTurn => false,
            Delivery::Auto => self.run.is_none() && self.terms.answer_schema.is_none(),
        }
    }
}

/// The terms on which a prompt is run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terms {
    /// The model, as written; the one that the session had last if none, or else one that can be found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Whether that is only what is usual, and nobody asked for it: a session that has had a model goes on with that one.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub usual_model: bool,
    /// Who decides about tool calls.
    pub permission: PermissionMode,
    /// What else is said about tool calls: allowed, asked about or denied. Their order does not matter.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<Rule>,
    /// Whether a model is asked for a title if the session is new.
    #[serde(default)]
    pub title: bool,
    /// The model that is asked for small things such as titles, as written; the run's own model if none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub small_model: Option<String>,
    /// What stands in the place of the principles in the system prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// What is added to the end of the system prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub append_system: Option<String>,
    /// The JSON Schema that the answer must satisfy, as JSON text. Such a prompt is a turn of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer_schema: Option<String>,
    /// How it meets a turn that is under way.
    #[serde(default)]
    pub delivery: Delivery,
    /// How many steps its turn may have.
    pub max_steps: u32,
    /// The longest single wait that a provider may ask for, in milliseconds.
    pub max_wait: u64,
    /// What its run may cost, sub-agents and failed attempts included, in micro-dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_cost: Option<u64>,
    /// Whether whoever submits it stays for more: a conversation that has become too long is then summed up as soon as
    /// the run is over, and not when the next prompt waits for that.
    #[serde(default)]
    pub stays: bool,
}

/// How many steps a turn may have unless its prompt says otherwise.
pub const MAX_STEPS: u32 = 500;

/// How many bytes a prompt may have. It is sent again with every later request, and providers refuse a message of more
/// than 10 MiB, so that a longer one would be the end of its session.
pub const PROMPT_BYTES: usize = 8 << 20;

/// How long a provider may ask a `hostler run` to wait before trying again, in milliseconds.
pub const MAX_WAIT_HEADLESS: u64 = 60_000;

impl Terms {
    /// The terms of a run without anybody to ask.
    pub fn headless() -> Self {
        Self {
            model: None,
            usual_model: false,
            permission: PermissionMode::Headless,
            rules: Vec::new(),
            title: false,
            small_model: None,
            system: None,
            append_system: None,
            answer_schema: None,
            delivery: Delivery::Auto,
            max_steps: MAX_STEPS,
            max_wait: MAX_WAIT_HEADLESS,
            max_cost: None,
            stays: false,
        }
    }
}

/// How a prompt meets a turn that is under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Delivery {
    /// With a run id or a schema for its answer as a turn of its own, else by joining.
    #[default]
    Auto,
    /// It joins at the next step; refused together with a run id or a schema.
    Fold,
    /// It waits for a turn of its own.
    OwnTurn,
}

/// Who decides about tool calls that no rule decides about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PermissionMode {
    /// Nobody can be asked: what would ask is denied.
    Headless,
    /// What would ask is allowed; what a rule denies is not.
    Yolo,
    /// A person is asked.
    Interactive,
    /// Nothing is changed or executed: only tools that read may be used, and what would ask is denied.
    Plan,
}
