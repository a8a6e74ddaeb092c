//! What Hostler does to the world outside: it carries out what the core has decided.

pub mod tools;
