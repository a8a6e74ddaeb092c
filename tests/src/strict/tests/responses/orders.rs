//! Orders: what may stand beside what, and that calls and outputs are pairs.

use super::{call, check, check_accepted, input, output, thought};
use serde_json::{Value, json};

#[test]
fn refuses_bad_pairs() {
    check(&[
        ("no output", |b| drop(input(b).remove(5)), "No tool output found for function call b"),
        (
            "no call",
            |b| drop(input(b).remove(3)),
            "No tool call found for function call output with call_id b",
        ),
        (
            "output before the call",
            |b| input(b).swap(3, 5),
            "No tool call found for function call output with call_id b",
        ),
        ("output twice", |b| input(b).insert(6, output("b", "again")), "another output with the id 'b'"),
        ("call twice", |b| input(b)[3] = call("a", "read", "{}"), "another call with the id 'a'"),
        (
            "call at the end",
            |b| input(b).push(call("c", "read", "{}")),
            "No tool output found for function call c",
        ),
        (
            "item twice",
            |b| input(b).extend([thought("rs_1", "Hm."), said(), asked()]),
            "Duplicate item found with id rs_1",
        ),
    ]);
}

#[test]
fn refuses_thoughts_alone() {
    let fragment = "of type 'reasoning' was provided without its required following item";
    check(&[
        ("before an output", |b| input(b).swap(1, 3), fragment),
        ("before a user", |b| input(b).insert(7, thought("rs_2", "So.")), fragment),
        ("at the end", |b| input(b).push(thought("rs_2", "So.")), fragment),
    ]);
}

#[test]
fn refuses_bad_neighbours() {
    check(&[
        (
            "an answer first",
            |b| drop(input(b).remove(0)),
            "the first item after instructions must be of the user",
        ),
        (
            "late instructions",
            |b| input(b).insert(7, json!({"role": "system", "content": "x"})),
            "instructions must come before",
        ),
        ("two users", |b| input(b).push(asked()), "a user message must not follow"),
        (
            "user among calls",
            |b| input(b).insert(4, asked()),
            "nothing may stand between calls and their outputs",
        ),
        ("answer among outputs", |b| input(b).insert(5, said()), "nothing may stand between the outputs"),
        ("answer last", |b| drop(input(b).pop()), "the last item must be of the user or an output"),
    ]);
}

#[test]
fn accepts_what_is_allowed() {
    check_accepted(&[
        ("ends with an output", |b| input(b).truncate(6)),
        ("outputs in another order", |b| input(b).swap(4, 5)),
        ("user after outputs", |b| drop(input(b).remove(6))),
        ("text with calls", |b| input(b).insert(2, said())),
        ("text behind calls", |b| input(b).insert(4, said())),
        ("text in two items", |b| input(b).insert(6, said())),
        ("thoughts behind each other", |b| input(b).insert(2, thought("rs_2", "So."))),
        ("no thoughts", |b| drop(input(b).remove(1))),
    ]);
}

fn said() -> Value {
    json!({"type": "message", "role": "assistant", "content": "Well."})
}

fn asked() -> Value {
    json!({"role": "user", "content": "And?"})
}
