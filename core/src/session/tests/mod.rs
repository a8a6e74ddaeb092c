//! One session from the outside: what each input leads to, in each state in which it can come.

mod admission;
mod asks;
mod cancel;
mod cost;
mod plan;
mod queue;
mod recovery;
mod retries;
mod steps;
mod streaming;
mod summary;
mod titles;
mod tools;
