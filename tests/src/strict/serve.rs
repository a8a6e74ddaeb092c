//! Serving one connection: reading requests, judging each, and playing what it is answered with.

use super::{
    answer::Answer,
    head,
    http::{ReadError, Request, Wire},
    lock,
    play::{Halt, Stage, close_after_refusal, end},
    protocol::Aim,
    record::Recorded,
    reject::{Check, Rejection},
    server::Hub,
};
use std::{net::TcpStream, sync::Arc};

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
    let recorded = Recorded::new(hub.log.len(), request).refused(rejection);
    let body = recorded.protocol.dialect().error_body(rejection);
    hub.log.push(recorded);
    drop(turn);
    let stage = Stage { stream, stop: &hub.stop, keep_alive: false };
    if stage.respond(rejection.status, &body.to_string()).is_ok() {
        close_after_refusal(stream);
    }
}

fn answer(hub: &Hub, stage: &Stage<'_>, request: &Request) -> Result<(), Halt> {
    let (recorded, reply) = judge(hub, request);
    let played = match reply {
        Reply::Refusal(rejection) => {
            let body = recorded.protocol.dialect().error_body(&rejection);
            stage.respond(rejection.status, &body.to_string())
        }
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
    let reply = check(hub, request, &recorded).and_then(|aim| match aim {
        Aim::Models => Ok(models(hub, &recorded)),
        Aim::Answer => {
            let answer = source.next(&recorded)?;
            lock(&hub.issued).push(recorded.protocol.dialect().issued(&answer, &recorded));
            Ok(Reply::Scripted(Box::new(answer)))
        }
    });
    let (recorded, reply) = match reply {
        Ok(reply) => (recorded, reply),
        Err(rejection) => (recorded.refused(&rejection), Reply::Refusal(rejection)),
    };
    hub.log.push(recorded.clone());
    (recorded, reply)
}

fn models(hub: &Hub, recorded: &Recorded) -> Reply {
    match &hub.models_answer {
        Some(answer) => Reply::Scripted(Box::new(answer.clone())),
        None => {
            let models = hub.rules.models.clone().unwrap_or_else(|| vec!["strict-1".to_owned()]);
            Reply::Plain(recorded.protocol.dialect().model_list(&models).to_string())
        }
    }
}

/// What a request that nothing is wrong with is for.
fn check(hub: &Hub, request: &Request, recorded: &Recorded) -> Result<Aim, Rejection> {
    let aim = recorded.protocol.aim(&recorded.method, &recorded.path)?;
    let dialect = recorded.protocol.dialect();
    let key = dialect.key(request)?;
    if hub.rules.key.as_ref().is_some_and(|known| known != key) {
        return Err(dialect.wrong_key());
    }
    match aim {
        Aim::Models => {}
        Aim::Answer => check_answer(hub, request, recorded)?,
    }
    Ok(aim)
}

fn check_answer(hub: &Hub, request: &Request, recorded: &Recorded) -> Check {
    let dialect = recorded.protocol.dialect();
    head::content_type(request.header("content-type"))?;
    head::json(&request.body)?;
    dialect.check(&recorded.body, &hub.rules)?;
    if hub.rules.models.as_ref().is_some_and(|known| !known.contains(&recorded.model)) {
        return Err(dialect.unknown_model(&recorded.model));
    }
    dialect.check_seals(recorded, &lock(&hub.issued))
}
