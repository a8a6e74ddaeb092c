//! Planning: a run in which nothing is changed and nothing is executed.

use crate::content::ToolStatus;
use crate::prompt::{PermissionMode, Prompt, Terms};
use crate::rig::Rig;
use crate::rig::words::{call_id, prompt};
use crate::tools::{Action, Rule};

fn planning(id: &str) -> Prompt {
    let asked = prompt(id, "How would you do it?");
    Prompt { terms: Terms { permission: PermissionMode::Plan, ..asked.terms.clone() }, ..asked }
}

fn offered(rig: &Rig) -> Vec<&str> {
    let request = &rig.asked.last().expect("a model was asked").1;
    request.tools.iter().map(|tool| tool.name.as_str()).collect()
}

#[test]
fn only_tools_that_change_nothing_are_on_offer() {
    let mut rig = Rig::new();
    rig.begin(planning("p"));
    assert_eq!(offered(&rig), ["agent", "glob", "grep", "ls", "todos", "view"]);
    rig.call(&[("bash", r#"{"command":"rm x"}"#), ("ls", "{}")]);
    let (status, text) = rig.outcome(call_id(1, 1, 1));
    assert!(status == ToolStatus::Error && text.contains("ls"), "{text}");
    rig.run_tool(2, "a");
    rig.answer("So.");
    rig.begin(prompt("q", "Do it."));
    assert!(offered(&rig).contains(&"bash"), "the next run may do more");
}

#[test]
fn no_rule_makes_a_plan_act() {
    let mut asked = planning("p");
    asked.terms.rules = vec![Rule::parse(Action::Allow, "bash", None).expect("a rule")];
    let mut rig = Rig::new();
    rig.begin(asked);
    assert!(!offered(&rig).contains(&"bash"));
}
