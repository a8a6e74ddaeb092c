//! A session's messages, put together from their rows, the outcomes of their calls and, for a message that is still
//! being streamed, its chunks.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use hostler_core::content::{AssistantMessage, Block, Message, MessageBody, Reasoning, ToolOutcome};
use hostler_core::ids::{CallId, MessageId, SessionId};
use hostler_core::protocol::TranscriptMessage;
use hostler_core::record::Record;
use rusqlite::Connection;

use super::error::Fault;
use super::info::time;
use super::load::{each, entry};
use super::number;
use super::project::from_json;

type Outcomes = BTreeMap<(MessageId, CallId), ToolOutcome>;

/// The session's messages in order.
pub(super) fn messages(read: &Connection, session: i64) -> Result<Vec<TranscriptMessage>, Fault> {
    let mut outcomes = outcomes(read, session)?;
    let sql = "SELECT body, at, finished, start FROM messages WHERE session = ?1 ORDER BY number";
    let mut found = Vec::new();
    each(read, sql, [session], |row| {
        let mut message: Message =
            from_json("message", row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?)?;
        if let MessageBody::Assistant(answer) = &mut message.body {
            if !row.get::<_, bool>(2)? {
                answer.blocks = streamed(read, session, message.id, row.get(3)?)?;
            }
            join(message.id, answer, &mut outcomes);
        }
        found.push(TranscriptMessage { at: time(row.get(1)?), message });
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(found)
}

fn outcomes(read: &Connection, session: i64) -> Result<Outcomes, Fault> {
    let mut found = Outcomes::new();
    each(read, "SELECT message, call, body FROM outcomes WHERE session = ?1", [session], |row| {
        let call: String = row.get(1)?;
        if let Ok(call) = call.parse() {
            let outcome = from_json("outcome", row.get_ref(2)?.as_str().map_err(rusqlite::Error::from)?)?;
            found.insert((MessageId(number(row.get(0)?)), call), outcome);
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(found)
}

fn join(message: MessageId, answer: &mut AssistantMessage, outcomes: &mut Outcomes) {
    for block in &mut answer.blocks {
        if let Block::Call(call) = block
            && let Some(outcome) = outcomes.remove(&(message, call.id))
        {
            call.outcome = Some(outcome);
        }
    }
}

/// What a message that has no end says up to the last chunk. An attempt that failed voids what it had streamed.
fn streamed(read: &Connection, session: i64, message: MessageId, start: i64) -> Result<Vec<Block>, Fault> {
    let sql = "SELECT seq, at, body FROM records WHERE session = ?1 AND seq > ?2
        AND kind IN ('TextAppended', 'ReasoningAppended', 'AttemptFailed') ORDER BY seq";
    let mut blocks = BTreeMap::new();
    each(read, sql, [session, start], |row| {
        if let Some((_, entry)) = entry(row, SessionId::new(""))? {
            append(&mut blocks, message, entry.record);
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(blocks.into_values().collect())
}

fn append(blocks: &mut BTreeMap<u32, Block>, id: MessageId, record: Record) {
    match record {
        Record::TextAppended { message, block, text } if message == id => {
            if let Block::Text(all) = blocks.entry(block).or_insert_with(|| Block::Text(String::new())) {
                all.push_str(&text);
            }
        }
        Record::ReasoningAppended { message, block, text } if message == id => {
            if let Block::Reasoning(all) =
                blocks.entry(block).or_insert_with(|| Block::Reasoning(Reasoning::default()))
            {
                all.text.push_str(&text);
            }
        }
        Record::AttemptFailed { message, .. } if message == id => blocks.clear(),
        _ => {}
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
mod tests {
    use hostler_core::content::{Finish, ToolStatus, UserMessage};
    use hostler_core::ids::{PromptId, TurnId};
    use hostler_core::machine::Entry;
    use hostler_core::protocol::{Activity, Query, Reply};
    use hostler_core::record::Strength;
    use hostler_core::time::Timestamp;

    use super::super::{Store, fixture};
    use super::*;

    fn transcript(store: &Store) -> Vec<TranscriptMessage> {
        let query = Query::Session { session: SessionId::new("s") };
        match store.query(&query, &|_, _| Activity::Idle).unwrap() {
            Reply::Transcript(transcript) => transcript.messages,
            other => panic!("{other:?}"),
        }
    }

    fn user(id: u64, turn: u32, prompt: &str) -> Message {
        let (prompt, text) = (PromptId::new(prompt), format!("say {prompt}"));
        Message {
            id: MessageId(id),
            body: MessageBody::User(UserMessage {
                turn: TurnId(turn),
                prompt,
                text,
                attachments: Vec::new(),
            }),
        }
    }

    fn answer(id: u64, turn: u32, blocks: Vec<Block>, finish: Option<Finish>) -> Message {
        let (step, model) = (fixture::step_id(turn), fixture::model());
        Message {
            id: MessageId(id),
            body: MessageBody::Assistant(AssistantMessage { step, model, blocks, finish }),
        }
    }

    fn reasoning(message: u64, block: u32, text: &str) -> Entry {
        let record = Record::ReasoningAppended { message: MessageId(message), block, text: text.to_string() };
        fixture::entry("s", record)
    }

    fn check(entries: &[Entry], expected: &[Message]) {
        let temp = tempfile::tempdir().unwrap();
        let mut store = Store::open(temp.path()).unwrap();
        store.commit(entries, Strength::Normal).unwrap();
        let found: Vec<Message> = transcript(&store).into_iter().map(|message| message.message).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn questions_and_answers_are_there_in_order_and_again_after_their_chunks_are_gone() {
        let entries = [fixture::run("s", "one", 1), fixture::run("s", "two", 2)].concat();
        let says = |run: &str| vec![Block::Text(format!("{run} said"))];
        let expected = [
            user(1, 1, "one"),
            answer(2, 1, says("one"), Some(Finish::EndTurn)),
            user(3, 2, "two"),
            answer(4, 2, says("two"), Some(Finish::EndTurn)),
        ];
        check(&entries, &expected);
    }

    #[test]
    fn a_call_has_its_outcome_once_there_is_one() {
        let blocks = vec![Block::Call(fixture::call(1, 1)), Block::Call(fixture::call(1, 2))];
        let entries = [
            fixture::accepted("s", "p", 1),
            fixture::turn("s", "p", 1, 1),
            fixture::step("s", 1, 2),
            fixture::finished("s", 2, blocks, Finish::ToolUse),
            fixture::outcome("s", 2, fixture::call_id(1, 2), "done"),
        ];
        let mut done = fixture::call(1, 2);
        done.outcome = Some(ToolOutcome::text(ToolStatus::Ok, "done"));
        let expected = vec![Block::Call(fixture::call(1, 1)), Block::Call(done)];
        check(&entries, &[user(1, 1, "p"), answer(2, 1, expected, Some(Finish::ToolUse))]);
    }

    #[test]
    fn an_open_message_says_what_was_streamed_since_the_last_failure() {
        let mut entries = vec![
            fixture::accepted("s", "p", 1),
            fixture::turn("s", "p", 1, 1),
            fixture::step("s", 1, 2),
            fixture::text("s", 2, "void"),
            reasoning(2, 4, "void"),
            fixture::attempt_failed("s", 1, 2),
        ];
        check(&entries, &[user(1, 1, "p"), answer(2, 1, Vec::new(), None)]);
        entries.extend([
            reasoning(2, 3, "be"),
            fixture::text("s", 2, "Hel"),
            fixture::text("s", 7, "another message"),
            reasoning(2, 3, "cause"),
            fixture::text("s", 2, "lo"),
        ]);
        let because = Reasoning { text: "because".to_string(), opaque: None };
        let streamed = vec![Block::Text("Hello".to_string()), Block::Reasoning(because)];
        check(&entries, &[user(1, 1, "p"), answer(2, 1, streamed, None)]);
        let says = vec![Block::Text("Hello!".to_string())];
        entries.push(fixture::finished("s", 2, says.clone(), Finish::Cancelled));
        check(&entries, &[user(1, 1, "p"), answer(2, 1, says, Some(Finish::Cancelled))]);
    }

    #[test]
    fn a_prompt_that_joined_a_turn_is_a_message_of_it() {
        let folded =
            Record::PromptFolded { prompt: PromptId::new("q"), turn: TurnId(1), message: MessageId(2) };
        let entries = [
            fixture::accepted("s", "p", 1),
            fixture::turn("s", "p", 1, 1),
            fixture::accepted("s", "q", 2),
            fixture::entry("s", folded),
            fixture::run_finished("s", "p"),
        ];
        check(&entries, &[user(1, 1, "p"), user(2, 1, "q")]);
    }

    #[test]
    fn records_that_fit_nothing_do_no_harm() {
        let blocks = vec![Block::Text("x".to_string())];
        let entries = [
            fixture::turn("s", "never accepted", 1, 1),
            fixture::finished("s", 1, blocks.clone(), Finish::EndTurn),
            fixture::finished("s", 9, blocks, Finish::EndTurn),
            fixture::outcome("s", 9, fixture::call_id(1, 1), "of nothing"),
            fixture::run_finished("s", "never begun"),
        ];
        let empty = UserMessage {
            turn: TurnId(1),
            prompt: PromptId::new("never accepted"),
            text: String::new(),
            attachments: Vec::new(),
        };
        check(&entries, &[Message { id: MessageId(1), body: MessageBody::User(empty) }]);
    }

    #[test]
    fn a_message_is_dated_by_its_end_or_until_then_by_its_beginning() {
        let temp = tempfile::tempdir().unwrap();
        let mut store = Store::open(temp.path()).unwrap();
        let date = |store: &Store| transcript(store).first().map(|message| message.at);
        store.commit(&[fixture::at(5, fixture::step("s", 1, 1))], Strength::Normal).unwrap();
        assert_eq!(date(&store), Some(Timestamp::from_millis(5)));
        let end = fixture::finished("s", 1, Vec::new(), Finish::EndTurn);
        store.commit(&[fixture::at(9, end)], Strength::Normal).unwrap();
        assert_eq!(date(&store), Some(Timestamp::from_millis(9)));
    }
}
