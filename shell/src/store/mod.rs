//! The state of a workspace on disk. [`place`] says where it lies; [`lock`] is what keeps two processes from writing to
//! one session.

mod error;
pub mod lock;
pub mod place;

pub use error::StoreError;
