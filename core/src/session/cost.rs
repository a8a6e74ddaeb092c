//! What a run may cost. It is looked at before every request, so that a run costs at most one answer more than it may,
//! and one answer more for each sub-agent that is at work at that moment.

use alloc::format;
use alloc::string::String;

use super::Session;
use crate::content::{ErrorClass, ErrorInfo, Usage};
use crate::model::{Preparation, PrepareError};
use crate::prompt::Terms;
use crate::record::{Reason, TurnOutcome};

impl Session {
    /// What that usage costs in micro-dollars; none if the model's prices are not known.
    pub(super) fn cost(&self, usage: &Usage) -> Option<u64> {
        let prices = self.durable.preparation.as_ref().and_then(|preparation| preparation.prices.as_ref());
        prices.map(|prices| prices.cost(usage))
    }

    /// How the turn ends if its run has cost as much as it may once so many micro-dollars more are counted.
    pub(super) fn over_cost(&self, more: Option<u64>) -> Option<TurnOutcome> {
        let most = self.terms()?.max_cost?;
        let spent = self.spent().saturating_add(more.unwrap_or_default());
        let text = || {
            format!(
                "The run has cost {} dollars, and may cost {}; ask it to continue, or allow more.",
                dollars(spent),
                dollars(most)
            )
        };
        (spent >= most).then(|| TurnOutcome::Limited(Reason::MaxCost, text()))
    }

    /// What the run may still cost, for a sub-agent of it.
    pub(super) fn cost_left(&self) -> Option<u64> {
        Some(self.terms()?.max_cost?.saturating_sub(self.spent()))
    }

    /// What the run has cost, with the answer whose calls are under way.
    fn spent(&self) -> u64 {
        let Some(turn) = &self.durable.turn else { return 0 };
        turn.totals.cost.unwrap_or_default().saturating_add(self.cost(&turn.usage).unwrap_or_default())
    }
}

/// A run whose cost cannot be known is not begun if it is to be limited: whoever limits it relies on that.
pub(super) fn check(terms: &Terms, preparation: &Preparation) -> Result<(), PrepareError> {
    if terms.max_cost.is_none() || preparation.prices.is_some() {
        return Ok(());
    }
    let text = format!(
        "The prices of {} are not known, so what the run costs cannot be limited; leave --max-cost out or take another model.",
        preparation.model
    );
    Err(ErrorInfo::new(ErrorClass::Usage, text))
}

/// Micro-dollars as dollars, for a sentence.
fn dollars(micro: u64) -> String {
    let text = format!("{}.{:06}", micro / 1_000_000, micro % 1_000_000);
    let short = text.trim_end_matches('0');
    // Cents are always shown.
    let least = text.len() - 4;
    text.get(..short.len().max(least)).unwrap_or(&text).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_shown_with_cents_and_what_is_finer_if_there_is_any() {
        for (micro, text) in [(0, "0.00"), (1, "0.000001"), (500_000, "0.50"), (1_234_500, "1.2345")] {
            assert_eq!(dollars(micro), text);
        }
    }
}
