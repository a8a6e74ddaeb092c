//! The provider's end: dropping it returns whatever its answers wait for, and closes every socket.

use super::{
    PATIENCE,
    client::{Client, End},
    least,
};
use crate::strict::{Answer, Gate, Script, StrictProvider};
use std::time::Duration;

const FOR_EVER: Duration = Duration::from_secs(1_000_000);

/// Drops the provider when it has sent `arrived` of `answer`; a drop that hangs hangs the test.
fn check(answer: Answer, arrived: &str) {
    let provider = StrictProvider::start(answer);
    let mut client = Client::connect(&provider);
    client.post(&least("x"));
    assert!(provider.wait_for_requests(1, PATIENCE));
    client.read_until(arrived);
    drop(provider);
    let ended = client.receive().map_or_else(|end| end, |response| response.end);
    assert_ne!(ended, End::Complete);
}

#[test]
fn ends_while_answers_wait() {
    check(Answer::say("x").stall(), "\"x\"");
    check(Answer::say("x").stall_headers(), "");
    check(Answer::say("x").gate(&Gate::new()), "\"x\"");
    check(Answer::say("x").gate_headers(&Gate::new()), "");
    check(Answer::say("x").pause(FOR_EVER), "\"x\"");
    check(Answer::say("x").gap(FOR_EVER), "role");
    check(Answer::say("x").delay_first(FOR_EVER), "\r\n\r\n");
    check(Answer::say("x").delay_headers(FOR_EVER), "");
}

#[test]
fn ends_while_a_client_does_not_read() {
    check(Answer::new().repeat(64, &"x".repeat(1 << 20)).stall(), "role");
}

#[test]
fn ends_while_connections_are_idle() {
    let provider = StrictProvider::start(Script::always(Answer::say("x")));
    let mut used = Client::connect(&provider);
    used.post(&least("x"));
    used.receive().unwrap();
    let mut halfway = Client::connect(&provider);
    halfway.send(b"POST /v1/chat");
    let mut fresh = Client::connect(&provider);
    drop(provider);
    for client in [&mut used, &mut halfway, &mut fresh] {
        assert_ne!(client.receive().unwrap_err(), End::Complete);
    }
}

#[test]
fn a_gate_outlives_the_provider() {
    let gate = Gate::new();
    check(Answer::say("x").gate(&gate), "\"x\"");
    assert_eq!(gate.reached(), 1);
    gate.open();
    let provider = StrictProvider::start(Answer::say("y").gate(&gate).text("z"));
    let response = super::client::post(&provider, &least("x")).unwrap();
    assert_eq!(response.joined("content"), "yz");
}
