//! The flight record that a driver would write.

use hostler_core::flight::{self, Batch, FORMAT, Header};
use hostler_core::machine::Effects;
use hostler_core::time::Timestamp;
use hostler_core::workspace::{Effect, Input, Workspace};

/// A header and the batches since.
pub(crate) struct Tape {
    header: Header,
    batches: Vec<Batch>,
}

impl Tape {
    pub(crate) fn begin(at: Timestamp, machine: &Workspace) -> Self {
        let header = Header { format: FORMAT, version: "test".into(), at, state: machine.clone() };
        Self { header, batches: Vec::new() }
    }

    pub(crate) fn note(&mut self, at: Timestamp, inputs: Vec<Input>, out: &Effects<Effect>) {
        let batch = self.batches.len() as u64 + 1;
        self.batches.push(Batch { at, batch, inputs, digest: flight::digest(out) });
    }

    pub(crate) fn text(&self) -> String {
        let batches =
            self.batches.iter().map(|batch| serde_json::to_string(batch).expect("it is plain data"));
        let header = serde_json::to_string(&self.header).expect("it is plain data");
        let lines: Vec<_> = std::iter::once(header).chain(batches).collect();
        lines.join("\n") + "\n"
    }
}
