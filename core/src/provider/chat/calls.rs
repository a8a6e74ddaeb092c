//! Which tool call a delta belongs to, among servers that number their calls and servers that do not.
//!
//! Only finds the call; what is made of the delta is in `decode`.

use alloc::string::String;
use alloc::vec::Vec;

/// A call that has been heard of.
#[derive(Clone, Debug, Default)]
pub(super) struct PartialCall {
    /// Its number, if it has one.
    index: Option<u64>,
    /// Its id, if it has come.
    pub(super) id: String,
    /// Its block, once its name is known.
    pub(super) block: Option<u32>,
    /// The arguments that came before the name.
    pub(super) pending: String,
}

/// The calls of an answer, in the order in which they were heard of.
#[derive(Clone, Debug, Default)]
pub(super) struct Calls {
    list: Vec<PartialCall>,
}

impl Calls {
    /// All of them.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut PartialCall> {
        self.list.iter_mut()
    }

    /// The call that a delta with these marks belongs to, which may be a new one.
    pub(super) fn place(&mut self, index: Option<u64>, id: &str, name: &str) -> &mut PartialCall {
        let at = self.find(index, id, name).unwrap_or(self.list.len());
        if at == self.list.len() {
            self.list.push(PartialCall { index, ..PartialCall::default() });
        }
        let call = &mut self.list[at];
        if call.id.is_empty() {
            call.id.push_str(id);
        }
        call
    }

    fn find(&self, index: Option<u64>, id: &str, name: &str) -> Option<usize> {
        let last = self.list.len().checked_sub(1);
        match index {
            Some(_) => {
                let at = self.list.iter().rposition(|call| call.index == index)?;
                (!self.list[at].is_another(id, name)).then_some(at)
            }
            None if !id.is_empty() => self.list.iter().rposition(|call| call.id == id),
            None if name.is_empty() => last,
            None => last.filter(|&at| self.list[at].block.is_none()),
        }
    }
}

impl PartialCall {
    /// Whether a delta with the same number begins another call all the same: Gemini and older Ollamas number every
    /// call 0. A new id alone is no sign, since some servers make one up for each delta.
    fn is_another(&self, id: &str, name: &str) -> bool {
        self.block.is_some() && !name.is_empty() && !id.is_empty() && !self.id.is_empty() && self.id != id
    }
}
