//! Random stories: what people, providers, tools and machines do, in batches.
//!
//! A story names things by numbers that are taken modulo what is there when it is told, so that every story makes
//! sense and stays one when parts of it are left out.

mod census;
mod closing;
mod stage;

use std::fmt;

use proptest::collection::vec;
use proptest::prelude::*;

pub(crate) use census::Census;
pub(crate) use stage::Stage;

/// What happens, batch by batch.
#[derive(Clone)]
pub(crate) struct Story(pub(crate) Vec<Scene>);

/// What happens between two commits, and how long after the last one.
#[derive(Clone, Debug)]
pub(crate) struct Scene {
    pub(crate) wait: Wait,
    pub(crate) acts: Vec<Act>,
    pub(crate) end: End,
}

/// How much time passes before a scene.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wait {
    Millis(u64),
    UntilTheNextDeadline,
}

/// How a scene ends.
#[derive(Clone, Copy, Debug)]
pub(crate) enum End {
    /// It is committed and its effects start.
    Well,
    /// The process ends before the commit.
    Uncommitted,
    /// The process ends behind the commit.
    Unstarted,
}

/// One thing that happens.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    Submit {
        session: u8,
        prompt: u8,
        own_run: bool,
        yolo: bool,
        stays: bool,
    },
    Cancel {
        session: u8,
    },
    CancelRun {
        session: u8,
        prompt: u8,
        own_run: bool,
    },
    ClearQueue {
        session: u8,
    },
    Open {
        nth: u8,
        fails: bool,
    },
    /// A session that begins with all that was said in another one.
    Fork {
        session: u8,
    },
    Held {
        session: u8,
    },
    Prepared {
        nth: u8,
        fails: bool,
        small: bool,
    },
    Model {
        nth: u8,
        says: Says,
    },
    Answer {
        nth: u8,
        tools: Vec<u8>,
        reason: u8,
    },
    Inspected {
        nth: u8,
        inside: bool,
    },
    ToolOutput {
        nth: u8,
    },
    ToolFinished {
        nth: u8,
        status: u8,
    },
    /// A person answers something that needs permission.
    Permit {
        nth: u8,
        how: u8,
    },
    /// A model that was asked for a title says something.
    Title {
        nth: u8,
        how: u8,
    },
    /// It is found out whether an answer will do.
    Checked {
        nth: u8,
        how: u8,
    },
    /// Whatever is under way comes to something.
    GoOn {
        nth: u8,
        how: u8,
    },
    /// Something that was awaited once.
    Stray {
        session: u8,
        nth: u8,
        what: u8,
    },
}

/// What a provider says.
#[derive(Clone, Debug)]
pub(crate) enum Says {
    Connected,
    Text { block: u8, text: String },
    Reasoning { block: u8 },
    Call { block: u8, tool: u8 },
    Opaque { block: u8 },
    Usage { much: bool },
    Finished { reason: u8 },
    Failed { kind: u8, retry_after: Option<u16> },
}

/// A line a scene, so that a failing story can be read.
impl fmt::Debug for Story {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|scene| write!(f, "\n{:?} {:?} {:?}", scene.wait, scene.acts, scene.end))
    }
}

impl Story {
    /// Stories of which most lead to more than two hundred records.
    pub(crate) fn any() -> impl Strategy<Value = Self> {
        vec(scene(), 80..260).prop_map(Self)
    }
}

fn scene() -> impl Strategy<Value = Scene> {
    let wait = prop_oneof![
        16 => (0..40_u64).prop_map(Wait::Millis),
        1 => (0..6_000_u64).prop_map(Wait::Millis),
        1 => Just(Wait::UntilTheNextDeadline),
    ];
    let end = prop_oneof![60 => Just(End::Well), 1 => Just(End::Uncommitted), 1 => Just(End::Unstarted)];
    (wait, vec(act(), 0..6), end).prop_map(|(wait, acts, end)| Scene { wait, acts, end })
}

fn act() -> impl Strategy<Value = Act> {
    let (session, prompt) = (0..2_u8, 0..80_u8);
    let nth = any::<u8>();
    prop_oneof![
        12 => (session.clone(), prompt.clone(), any::<bool>(), proptest::bool::weighted(0.8), any::<bool>())
            .prop_map(|(session, prompt, own_run, yolo, stays)| Act::Submit { session, prompt, own_run, yolo, stays }),
        1 => session.clone().prop_map(|session| Act::Cancel { session }),
        2 => (session.clone(), prompt, any::<bool>())
            .prop_map(|(session, prompt, own_run)| Act::CancelRun { session, prompt, own_run }),
        1 => session.clone().prop_map(|session| Act::ClearQueue { session }),
        8 => (nth, proptest::bool::weighted(0.05)).prop_map(|(nth, fails)| Act::Open { nth, fails }),
        1 => session.clone().prop_map(|session| Act::Held { session }),
        1 => session.clone().prop_map(|session| Act::Fork { session }),
        12 => (nth, proptest::bool::weighted(0.1), any::<bool>())
            .prop_map(|(nth, fails, small)| Act::Prepared { nth, fails, small }),
        16 => (nth, says()).prop_map(|(nth, says)| Act::Model { nth, says }),
        8 => (nth, vec(any::<u8>(), 0..4), 0..8_u8)
            .prop_map(|(nth, tools, reason)| Act::Answer { nth, tools, reason }),
        16 => (nth, proptest::bool::weighted(0.7)).prop_map(|(nth, inside)| Act::Inspected { nth, inside }),
        3 => nth.prop_map(|nth| Act::ToolOutput { nth }),
        10 => (nth, any::<u8>()).prop_map(|(nth, status)| Act::ToolFinished { nth, status }),
        3 => (nth, any::<u8>()).prop_map(|(nth, how)| Act::Permit { nth, how }),
        2 => (nth, any::<u8>()).prop_map(|(nth, how)| Act::Title { nth, how }),
        4 => (nth, any::<u8>()).prop_map(|(nth, how)| Act::Checked { nth, how }),
        40 => (nth, any::<u8>()).prop_map(|(nth, how)| Act::GoOn { nth, how }),
        2 => (session, nth, any::<u8>()).prop_map(|(session, nth, what)| Act::Stray { session, nth, what }),
    ]
}

fn says() -> impl Strategy<Value = Says> {
    prop_oneof![
        2 => Just(Says::Connected),
        6 => (0..3_u8, "[ a-c\n]{0,4}").prop_map(|(block, text)| Says::Text { block, text }),
        2 => (0..2_u8).prop_map(|block| Says::Reasoning { block }),
        4 => (3..9_u8, any::<u8>()).prop_map(|(block, tool)| Says::Call { block, tool }),
        2 => (0..9_u8).prop_map(|block| Says::Opaque { block }),
        2 => proptest::bool::weighted(0.7).prop_map(|much| Says::Usage { much }),
        2 => (0..8_u8).prop_map(|reason| Says::Finished { reason }),
        1 => (any::<u8>(), proptest::option::of(any::<u16>()))
            .prop_map(|(kind, retry_after)| Says::Failed { kind, retry_after }),
    ]
}
