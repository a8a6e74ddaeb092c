//! Sessions and the sub-agents that they open: what one has for the other is carried over at once, in the same batch.
//!
//! Depth is one: a sub-agent is not offered the tool that would open another.

use super::{Effect, Workspace};
use crate::machine::Effects;
use crate::record::CancelScope;
use crate::session::{self, Crossing, Durable, Report, Task};
use crate::time::Timestamp;

impl Workspace {
    /// Carries over what one session has for another.
    pub(super) fn cross(&mut self, now: Timestamp, crossing: Crossing, out: &mut Effects<Effect>) {
        match crossing {
            Crossing::Open(task) => self.open_child(now, *task, out),
            Crossing::Stop { child, reason } => {
                self.with(
                    &child,
                    |open, decisions| drop(open.stop(now, CancelScope::Session, reason, decisions)),
                    now,
                    out,
                );
                self.let_go(&child, out);
            }
            Crossing::Ended(report) => self.child_ended(now, *report, out),
            Crossing::Ask { root, question } => {
                self.with(&root, |open, decisions| open.put(now, *question, decisions), now, out);
            }
            Crossing::Decided { child, call, decided } => {
                self.with(&child, |open, decisions| open.hear(now, call, *decided, decisions), now, out);
                self.let_go(&child, out);
            }
            Crossing::Withdraw { root, ask } => {
                self.with(&root, |open, decisions| open.withdraw_one(now, &ask, decisions), now, out);
            }
        }
    }

    fn open_child(&mut self, now: Timestamp, task: Task, out: &mut Effects<Effect>) {
        let child = task.session();
        self.insert(Durable::new(child.clone()));
        self.with(&child, |open, decisions| open.begin_task(now, task, decisions), now, out);
        self.let_go(&child, out);
    }

    /// The parent is let go by whoever has fed the session that it hears of: that may still be at work in it.
    fn child_ended(&mut self, now: Timestamp, report: Report, out: &mut Effects<Effect>) {
        let parent = report.parent.session.clone();
        self.with(&parent, |open, decisions| open.sub_agent_ended(now, report, decisions), now, out);
    }

    /// A process that is gone had this sub-agent: it ends before the session that opened it does.
    pub(super) fn recover_child(&mut self, now: Timestamp, child: Durable, out: &mut Effects<Effect>) {
        let id = child.id.clone();
        self.insert(child);
        self.with(&id, |open, decisions| open.decide(now, session::Input::Opened, decisions), now, out);
        self.let_go(&id, out);
    }
}
