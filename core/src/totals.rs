//! What runs use: tokens, money, steps, tool calls.

use serde::{Deserialize, Serialize};

use crate::content::{ToolStatus, Usage};

/// What a run used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Tokens, failed attempts included.
    pub usage: Usage,
    /// How many tokens the conversation had at the end. What is billed is in `usage`.
    pub context: u64,
    /// Whether that is an estimate, because the provider said nothing about it.
    #[serde(default)]
    pub estimated: bool,
    /// Micro-dollars; none if no price is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<u64>,
    /// Steps begun.
    pub steps: u32,
    /// Requests made.
    pub attempts: u32,
    /// Tool calls, by how they ended.
    pub tools: ToolCounts,
}

/// Tool calls, by how they ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCounts {
    /// They did what they were asked to.
    pub ok: u32,
    /// They failed.
    pub failed: u32,
    /// They were not allowed.
    pub denied: u32,
    /// They were cancelled, interrupted or not reached.
    pub cancelled: u32,
}

impl Totals {
    /// Adds what another run used. How long the conversation is, is as the later one says, if it says so.
    pub fn add(&mut self, later: &Totals) {
        self.usage.add(&later.usage);
        if later.context > 0 {
            (self.context, self.estimated) = (later.context, later.estimated);
        }
        self.add_cost(later.cost);
        self.steps = self.steps.saturating_add(later.steps);
        self.attempts = self.attempts.saturating_add(later.attempts);
        self.tools.add(&later.tools);
    }

    /// Adds a cost. What is not known adds nothing.
    pub fn add_cost(&mut self, cost: Option<u64>) {
        self.cost = match (self.cost, cost) {
            (Some(sum), Some(more)) => Some(sum.saturating_add(more)),
            (sum, more) => sum.or(more),
        };
    }
}

impl ToolCounts {
    /// Counts a call that ended so.
    pub fn count(&mut self, status: ToolStatus) {
        match status {
            ToolStatus::Ok => self.ok += 1,
            ToolStatus::Error => self.failed += 1,
            ToolStatus::Denied => self.denied += 1,
            ToolStatus::Cancelled | ToolStatus::Interrupted | ToolStatus::NotReached => self.cancelled += 1,
        }
    }

    fn add(&mut self, later: &ToolCounts) {
        self.ok = self.ok.saturating_add(later.ok);
        self.failed = self.failed.saturating_add(later.failed);
        self.denied = self.denied.saturating_add(later.denied);
        self.cancelled = self.cancelled.saturating_add(later.cancelled);
    }
}
