//! Simulates hostler: the machines of the core run under a simulated clock, disk, provider, tools and people, and every
//! race is replayed from a seed.
//!
//! [`options`] says what a seed is like, [`plan`] what is done, [`world`] how it goes, [`oracles`] what must hold, and
//! [`mod@reference`] what should become of every prompt. [`campaign`] runs many seeds, [`shrink`] makes a failure small, and
//! [`explore`] tries every order of a few things instead of some orders of many, and a [`script`] is one order, told step
//! by step.

pub mod campaign;
pub mod canon;
pub mod cli;
pub mod coverage;
pub mod dice;
pub mod explore;
pub mod failure;
pub mod marks;
pub mod options;
pub mod oracles;
pub mod order;
pub mod plan;
pub mod profile;
pub mod reference;
pub mod repro;
pub mod script;
pub mod shared;
pub mod shrink;
pub mod timeline;
pub mod world;
