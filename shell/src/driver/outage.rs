//! A log that cannot be written, as the driver meets it; when it is tried again is decided in the core.

use hostler_core::outage::Access;
use hostler_core::protocol::{Refusal, RefusalKind};

use super::Driver;

impl Driver {
    /// Why nothing can be accepted; none if it can.
    pub(super) fn refusal(&mut self) -> Option<Refusal> {
        let now = self.setup.clock.now();
        match self.outage.access(now) {
            Access::Open => None,
            Access::Refuse(refusal) => Some(refusal),
            Access::Try => match self.setup.store.probe() {
                Ok(()) => {
                    self.outage.over();
                    None
                }
                Err(error) => {
                    let message = error.to_string();
                    self.outage.failed(now, &message);
                    Some(Refusal::new(RefusalKind::Storage, message))
                }
            },
        }
    }
}
