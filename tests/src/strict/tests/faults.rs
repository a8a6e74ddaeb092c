//! Faults: cuts, resets, refusals, dribbles, delays, gates and stalls.

use super::{
    PATIENCE,
    client::{Client, End, Response, post},
    least,
};
use crate::strict::{Answer, Gate, StrictProvider};
use std::time::Duration;

fn play(answer: Answer) -> Result<Response, End> {
    let provider = StrictProvider::start(answer);
    let response = post(&provider, &least("x"));
    provider.assert_clean();
    response
}

#[test]
fn answers_without_a_byte() {
    assert_eq!(play(Answer::close()).unwrap_err(), End::Closed);
    assert_eq!(play(Answer::reset()).unwrap_err(), End::Reset);
}

#[test]
fn answers_with_a_status() {
    let limited = play(Answer::rate_limited("7")).unwrap();
    assert_eq!((limited.status, limited.header("retry-after")), (429, Some("7")));
    assert_eq!(limited.json()["error"]["code"], "rate_limit_exceeded");
    let gateway =
        play(Answer::status(502, "<html>Bad Gateway</html>").header("Content-Type", "text/html")).unwrap();
    assert_eq!((gateway.status, gateway.header("content-type")), (502, Some("text/html")));
    assert_eq!(gateway.text(), "<html>Bad Gateway</html>");
    assert_eq!(play(Answer::error(500, "Oops.")).unwrap().error(), "Oops.");
    assert_eq!(play(Answer::context_exceeded()).unwrap().json()["error"]["code"], "context_length_exceeded");
    assert_eq!(play(Answer::wrong_key()).unwrap().status, 401);
    assert_eq!(play(Answer::unknown_model()).unwrap().json()["error"]["code"], "model_not_found");
}

/// Cuts the same answer at every kind of place; `cut` says how.
fn check_cut(cut: fn(Answer, usize) -> Answer, end: End) {
    let whole = play(Answer::say("hello")).unwrap().body;
    for at in [0, 1, 10, whole.len() / 2, whole.len() - 1, whole.len(), usize::MAX] {
        let response = play(cut(Answer::say("hello"), at)).unwrap();
        assert_eq!((response.status, response.end), (200, end), "at {at}");
        assert_eq!(response.body, whole[..at.min(whole.len())], "at {at}");
    }
}

#[test]
fn cuts_between_chunks() {
    check_cut(Answer::cut_at, End::Closed);
}

#[test]
fn cuts_inside_a_chunk() {
    check_cut(Answer::truncate_chunk_at, End::Closed);
}

#[test]
fn resets() {
    check_cut(Answer::reset_at, End::Reset);
}

#[test]
fn dribbles() {
    let whole = play(Answer::say("hello")).unwrap();
    let drops = play(Answer::say("hello").dribble()).unwrap();
    assert_eq!((&drops.body, drops.end), (&whole.body, End::Complete));
    assert_eq!(drops.chunks, vec![1; whole.body.len()]);
    let cups = play(Answer::say("hello").chunks_of(7)).unwrap();
    assert_eq!(cups.body, whole.body);
    assert!(cups.chunks.iter().all(|size| *size <= 7));
    let random = play(Answer::say("hello").chunks_at_random(5)).unwrap();
    assert_eq!(random.body, whole.body);
    assert_eq!(random.chunks, play(Answer::say("hello").chunks_at_random(5)).unwrap().chunks);
    assert_ne!(random.chunks, play(Answer::say("hello").chunks_at_random(6)).unwrap().chunks);
}

#[test]
fn delays() {
    let moment = Duration::from_millis(1);
    let answer = Answer::say("a").pause(moment).text("b");
    let response = play(answer.delay_headers(moment).delay_first(moment).gap(moment)).unwrap();
    assert_eq!((response.joined("content").as_str(), response.end), ("ab", End::Complete));
}

#[test]
fn waits_at_a_gate() {
    let gate = Gate::new();
    let provider = StrictProvider::start(Answer::say("before").gate(&gate).text("after"));
    let mut client = Client::connect(&provider);
    client.post(&least("x"));
    assert!(gate.wait_reached(PATIENCE));
    client.read_until("before");
    gate.open();
    let response = client.receive().unwrap();
    assert_eq!(response.joined("content"), "beforeafter");
    assert_eq!(gate.reached(), 1);
}

/// A gate at a place given by number: what has arrived when it is reached.
fn check_gate_at(n: usize, arrived: &str) {
    let gate = Gate::new();
    let provider = StrictProvider::start(Answer::new().deltas(["one", "two"]).gate_at(n, &gate));
    let mut client = Client::connect(&provider);
    client.post(&least("x"));
    assert!(gate.wait_reached(PATIENCE));
    client.read_until(arrived);
    gate.open();
    assert_eq!(client.receive().unwrap().joined("content"), "onetwo");
}

#[test]
fn waits_before_any_event() {
    check_gate_at(0, "\r\n\r\n");
    check_gate_at(1, "role");
    check_gate_at(2, "one");
    check_gate_at(3, "two");
    check_gate_at(4, "stop");
    check_gate_at(5, "[DONE]");
    check_gate_at(99, "[DONE]");
}

#[test]
fn waits_before_the_head() {
    let gate = Gate::new();
    let provider = StrictProvider::start(Answer::error(500, "Oops.").gate_headers(&gate));
    let mut client = Client::connect(&provider);
    client.post(&least("x"));
    assert!(gate.wait_reached(PATIENCE));
    gate.open();
    assert_eq!(client.receive().unwrap().status, 500);
}

/// The client hangs up on a stalled answer, and the provider notices.
fn check_stall(answer: Answer, arrived: &str) {
    let provider = StrictProvider::start([Answer::say("first"), answer]);
    let mut client = Client::connect(&provider);
    client.post(&least("x"));
    client.receive().unwrap();
    client.post(&least("y"));
    assert!(provider.wait_for_requests(2, PATIENCE));
    client.read_until(arrived);
    assert!(provider.hang_ups().is_empty());
    drop(client);
    assert!(provider.wait_for_hang_ups(1, PATIENCE));
    assert_eq!(provider.hang_ups(), [1]);
    provider.assert_clean();
}

#[test]
fn stalls() {
    check_stall(Answer::say("before").stall().text("after"), "before");
    check_stall(Answer::say("never").stall_at(1), "role");
    check_stall(Answer::say("never").stall_at(0), "\r\n\r\n");
    check_stall(Answer::say("never").stall_headers(), "");
}
