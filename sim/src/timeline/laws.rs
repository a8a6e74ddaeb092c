//! What each oracle watches over, in a sentence for somebody who has never seen the code.

/// The law that an oracle watches over.
pub(super) fn law(oracle: &str) -> &'static str {
    LAWS.iter().find(|(name, _)| *name == oracle).map_or(OTHER, |(_, law)| law)
}

const OTHER: &str = "The program must keep its promises whatever happens around it.";

/// All laws by the names of their oracles.
const LAWS: [(&str, &str); 45] = [
    ("no circles", "A turn that does the same again and again without getting anywhere is ended."),
    ("effects name what there is", "Whatever is started is about something that the log knows."),
    (
        "conservation",
        "Every prompt that was accepted is in exactly one place until it ends: none is lost and none is doubled.",
    ),
    ("one end", "Every run ends exactly once, and its end is its own and not that of another run."),
    (
        "one turn",
        "A session works on one turn at a time, and every run of a turn has its end before the next turn begins.",
    ),
    ("order", "Prompts begin in the order in which they were accepted."),
    ("sequences", "Numbers that are given out only rise, by one each time, so that nothing is named twice."),
    ("streams", "A finished answer says what was streamed of it: nothing more, nothing less, nothing twice."),
    (
        "titles",
        "A session is called what a person said last, or else what a model, asked once, made of its first prompt.",
    ),
    ("limits", "There are no more steps, attempts and waits than the settings allow."),
    (
        "record before act",
        "Nothing is done before it is on disk that it is going to be done, nothing is done twice, and nothing for what is over.",
    ),
    (
        "nothing after its cancel",
        "Once a cancel is accepted, nothing that it covers starts any more, and what it covers does not end as a success.",
    ),
    (
        "bounded cancel",
        "A turn that was cancelled is over within a few seconds, even if its tools do not listen.",
    ),
    (
        "one answer",
        "Everyone who asks for something is answered exactly once, and what the answer says is so.",
    ),
    (
        "questions",
        "A person is asked about a call once, the call does not run before somebody permits it, and the question goes with it.",
    ),
    ("totals", "What models use is counted with the run that they were asked for, once and all of it."),
    ("one writer", "Only the process that has a session's lock writes to that session and acts for it."),
    ("idle queue", "Where nothing is under way nothing waits: what is queued begins as soon as it can."),
    ("prompts stay", "Whatever people have said is part of what the model is shown from then on."),
    (
        "state is the log",
        "What the program has in memory is what the log on disk amounts to, after every commit.",
    ),
    (
        "legal conversation",
        "At any moment the log amounts to a conversation that every provider accepts, also if the process dies right there.",
    ),
    (
        "reference",
        "What becomes of every prompt is what a second, simpler account of the rules says of the same events.",
    ),
    (
        "answers satisfy",
        "Where an answer must satisfy a schema, a run has one if and only if it ends well, and the model is told at most twice that what it said will not do.",
    ),
    (
        "refusals",
        "Whoever is refused is told so in a sentence that names what it is about, and for a reason that there is.",
    ),
    ("words", "What is told about the end of a run or a call is so, with the numbers that there were."),
    (
        "names",
        "A session is called what the first line of its first prompt, or the model that was asked, says.",
    ),
    ("room", "A conversation is summed up when it leaves its model too little room, and not before."),
    ("costs", "A run is charged with what its models cost, and ends once it has cost as much as it may."),
    ("recorded", "What models and tools say is recorded as it comes, as far as it is to be recorded at all."),
    (
        "refused once",
        "Seals and keys that a provider refuses are left out or had anew, once, and nothing else is.",
    ),
    (
        "models",
        "A run is for the model that it asks for, else for the one that its session had last, else for the usual one.",
    ),
    ("requests", "A model is told and offered what was prepared for it, and a sub-agent only what reads."),
    (
        "forks",
        "A session that is made from another one begins with all that was said there and is over, and with nothing else.",
    ),
    ("effects", "Whatever is started is about something that is still under way."),
    (
        "one last line",
        "A run's output ends with the line that says how the run ended, once, and with nothing behind it.",
    ),
    ("one exit", "A run exits once."),
    ("exit code", "The exit code of a run is the one that its end calls for."),
    ("runs end", "When nothing is under way any more, every run has ended."),
    (
        "quiet",
        "Once trouble has passed, everything that was asked for comes to an end within a bounded time.",
    ),
    ("scan", "Reading the log from its beginning leads to the same state as living through it did."),
    ("locks", "When nothing is under way, no session is locked."),
    ("told", "What anybody was told is so: it is in the log, and it has its end."),
    (
        "after the storm",
        "After any trouble, the next prompt is answered, or fails with a reason that is true.",
    ),
    ("panic", "The program never gives up in the middle of a decision."),
    ("determinism", "The same seed always goes the same way."),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracles::Oracles;
    use hostler_core::session::Settings;

    #[test]
    fn every_oracle_has_its_law() {
        let oracles = Oracles::new(&Settings::default(), 1);
        for name in oracles.names() {
            assert_ne!(law(name), OTHER, "{name}");
        }
        assert_eq!(law("nonsense"), OTHER);
    }
}
