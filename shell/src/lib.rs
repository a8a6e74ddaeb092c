//! What Hostler does: carries out, with files, processes and the network, what the core has decided.
//!
//! Nothing here decides about sessions, turns or clients.

pub mod store;
