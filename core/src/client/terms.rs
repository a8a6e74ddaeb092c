//! On which terms a run is: what its command line says, else what is configured where it is, else what is usual.

use alloc::string::String;
use alloc::vec::Vec;

use crate::config::Config;
use crate::prompt::{PermissionMode, Terms};
use crate::tools::Rule;

/// What a command line says about the terms of a run; none where it says nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wishes {
    /// The model, as written.
    pub model: Option<String>,
    /// The model for small things such as titles, as written.
    pub small_model: Option<String>,
    /// Who decides about tool calls that no rule decides about.
    pub permission: PermissionMode,
    /// What else is said about tool calls.
    pub rules: Vec<Rule>,
    /// What is added to the end of the system prompt.
    pub append_system: Option<String>,
    /// How many steps it may have.
    pub max_steps: Option<u32>,
    /// What it may cost, in micro-dollars.
    pub max_cost: Option<u64>,
    /// The longest single wait that a provider may ask for, in milliseconds.
    pub max_wait: Option<u64>,
    /// How long it may take, in milliseconds.
    pub timeout: Option<u64>,
}

impl Wishes {
    /// The terms of a run for which that is configured, beside it these rules; and how long it may take, in milliseconds.
    ///
    /// The command line has the last word about everything but rules, which hold together wherever they were written: a
    /// command line cannot take back what a file forbids.
    pub fn settle(self, config: &Config, rules: Vec<Rule>) -> (Terms, Option<u64>) {
        let (usual, limits) = (Terms::headless(), config.limits);
        let small_model = self.small_model.or_else(|| config.small_model.clone());
        let terms = Terms {
            usual_model: self.model.is_none(),
            model: self.model.or_else(|| config.model.clone()),
            permission: self.permission,
            rules: self.rules.into_iter().chain(rules).collect(),
            // A title of a model's making costs something, so it is made only if somebody asks for it.
            title: small_model.is_some(),
            small_model,
            append_system: self.append_system,
            max_steps: self.max_steps.or(limits.max_steps).unwrap_or(usual.max_steps),
            max_wait: self.max_wait.or(limits.max_wait).unwrap_or(usual.max_wait),
            max_cost: self.max_cost.or(limits.max_cost),
            ..usual
        };
        (terms, self.timeout.or(limits.timeout))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Limits;
    use crate::prompt::{MAX_STEPS, MAX_WAIT_HEADLESS};
    use crate::tools::Action;

    fn silent() -> Wishes {
        Wishes {
            model: None,
            small_model: None,
            permission: PermissionMode::Headless,
            rules: Vec::new(),
            append_system: None,
            max_steps: None,
            max_cost: None,
            max_wait: None,
            timeout: None,
        }
    }

    fn wishes() -> Wishes {
        Wishes {
            model: Some("p/said".into()),
            small_model: Some("p/small".into()),
            max_steps: Some(7),
            max_cost: Some(70),
            max_wait: Some(700),
            timeout: Some(7_000),
            ..silent()
        }
    }

    fn configured() -> Config {
        let limits =
            Limits { max_steps: Some(3), max_cost: Some(30), max_wait: Some(300), timeout: Some(3_000) };
        Config {
            model: Some("p/configured".into()),
            small_model: Some("p/tiny".into()),
            limits,
            ..Config::bare()
        }
    }

    fn numbers(wishes: Wishes, config: &Config) -> (u32, Option<u64>, u64, Option<u64>) {
        let (terms, timeout) = wishes.settle(config, Vec::new());
        (terms.max_steps, terms.max_cost, terms.max_wait, timeout)
    }

    #[test]
    fn the_command_line_has_the_last_word_and_what_is_usual_the_first() {
        assert_eq!(numbers(silent(), &Config::bare()), (MAX_STEPS, None, MAX_WAIT_HEADLESS, None));
        assert_eq!(numbers(silent(), &configured()), (3, Some(30), 300, Some(3_000)));
        for config in [configured(), Config::bare()] {
            assert_eq!(numbers(wishes(), &config), (7, Some(70), 700, Some(7_000)));
        }
    }

    #[test]
    fn models_are_chosen_one_by_one() {
        let models = |wishes: Wishes, config: &Config| {
            let (terms, _) = wishes.settle(config, Vec::new());
            (terms.model, terms.usual_model, terms.small_model)
        };
        let some = |name: &str| Some(String::from(name));
        assert_eq!(models(silent(), &configured()), (some("p/configured"), true, some("p/tiny")));
        let only_large = Wishes { model: some("p/said"), ..silent() };
        assert_eq!(models(only_large, &configured()), (some("p/said"), false, some("p/tiny")));
        assert_eq!(models(wishes(), &configured()), (some("p/said"), false, some("p/small")));
        assert_eq!(models(silent(), &Config::bare()), (None, true, None));
    }

    #[test]
    fn a_title_is_made_where_somebody_has_named_a_model_for_it() {
        let titled = |wishes: Wishes, config: &Config| wishes.settle(config, Vec::new()).0.title;
        assert!(!titled(silent(), &Config::bare()));
        assert!(!titled(Wishes { model: Some("p/said".into()), ..silent() }, &Config::bare()));
        assert!(titled(silent(), &configured()) && titled(wishes(), &Config::bare()));
    }

    #[test]
    fn what_a_file_forbids_is_not_taken_back_by_the_command_line() {
        let rule = |action, text: &str| Rule::parse(action, text, None).expect("a rule");
        let (said, kept) = (rule(Action::Allow, "bash"), rule(Action::Deny, "bash(rm *)"));
        let wishes =
            Wishes { rules: alloc::vec![said.clone()], permission: PermissionMode::Yolo, ..silent() };
        let (terms, _) = wishes.settle(&configured(), alloc::vec![kept.clone()]);
        assert_eq!((terms.rules, terms.permission), (alloc::vec![said, kept], PermissionMode::Yolo));
    }
}
