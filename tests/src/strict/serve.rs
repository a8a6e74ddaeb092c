//! Serving one connection: reading requests, judging each, and playing what it is answered with.

use super::{
    answer::Answer,
    http::{ReadError, Request, Wire},
    lock,
    play::{Halt, Stage, close_after_refusal, end},
    record::Recorded,
    reject::{Check, Rejection},
    server::Hub,
    sse::model_list,
    validate,
};
use std::{net::TcpStream, sync::Arc};

/// The path that answers conversations.
pub(super) const COMPLETIONS: &str = "/v1/chat/completions";
const MODELS: &str = "/v1/models";

/// What a request is answered with.
enum Reply {
    Refusal(Rejection),
    Plain(String),
    Scripted(Box<Answer>),
}

/// Serves requests until the connection ends.
pub(super) fn serve(hub: &Hub, stream: Arc<TcpStream>) {
    let _ = stream.set_nodelay(true);
    let mut wire = Wire::new(&stream);
    loop {
        let request = match wire.read() {
            Ok(request) => request,
            Err(ReadError::Closed) => return,
            Err(ReadError::Malformed(request, rejection)) => {
                return refuse_malformed(hub, &stream, &request, &rejection);
            }
        };
        let stage = Stage { stream: &stream, stop: &hub.stop, keep_alive: request.keep_alive };
        if let Err(halt) = answer(hub, &stage, &request) {
            return end(&stream, &halt);
        }
        if !request.keep_alive {
            return;
        }
    }
}

fn refuse_malformed(hub: &Hub, stream: &TcpStream, request: &Request, rejection: &Rejection) {
    let turn = lock(&hub.source);
    hub.log.push(Recorded::new(hub.log.len(), request).refused(rejection));
    drop(turn);
    let stage = Stage { stream, stop: &hub.stop, keep_alive: false };
    if stage.respond(rejection.status, &rejection.body()).is_ok() {
        close_after_refusal(stream);
    }
}

fn answer(hub: &Hub, stage: &Stage<'_>, request: &Request) -> Result<(), Halt> {
    let (recorded, reply) = judge(hub, request);
    let played = match reply {
        Reply::Refusal(rejection) => stage.respond(rejection.status, &rejection.body()),
        Reply::Plain(body) => stage.respond(200, &body),
        Reply::Scripted(answer) => stage.play(&answer, &recorded),
    };
    if played == Err(Halt::HungUp) && !hub.stop.is_set() {
        hub.log.hang_up(recorded.index);
    }
    played
}

/// Judges `request` and records it. One at a time, so that the record is in the order of the script.
fn judge(hub: &Hub, request: &Request) -> (Recorded, Reply) {
    let mut source = lock(&hub.source);
    let recorded = Recorded::new(hub.log.len(), request);
    let reply = check(hub, request, &recorded).and_then(|()| {
        if recorded.path == MODELS {
            return Ok(models(hub));
        }
        source.next(&recorded).map(|answer| Reply::Scripted(Box::new(answer)))
    });
    let (recorded, reply) = match reply {
        Ok(reply) => (recorded, reply),
        Err(rejection) => (recorded.refused(&rejection), Reply::Refusal(rejection)),
    };
    hub.log.push(recorded.clone());
    (recorded, reply)
}

fn models(hub: &Hub) -> Reply {
    match &hub.models_answer {
        Some(answer) => Reply::Scripted(Box::new(answer.clone())),
        None => {
            let models = hub.rules.models.clone().unwrap_or_else(|| vec!["strict-1".to_owned()]);
            Reply::Plain(model_list(&models).to_string())
        }
    }
}

fn check(hub: &Hub, request: &Request, recorded: &Recorded) -> Check {
    route(&recorded.method, &recorded.path)?;
    validate::authorization(request.header("authorization"), &hub.rules)?;
    if recorded.path == MODELS {
        return Ok(());
    }
    validate::content_type(request.header("content-type"))?;
    validate::json(&request.body)?;
    validate::completion(&recorded.body, &hub.rules)
}

fn route(method: &str, path: &str) -> Check {
    match (method, path) {
        ("POST", COMPLETIONS) | ("GET", MODELS) => Ok(()),
        (_, COMPLETIONS | MODELS) => Err(Rejection::new(405, format!("Not allowed to {method} on {path}."))),
        _ => Err(Rejection::new(404, format!("Invalid URL ({method} {path})")).code("unknown_url")),
    }
}
