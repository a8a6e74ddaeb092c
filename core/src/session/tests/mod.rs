//! One session from the outside: what each input leads to, in each state in which it can come.

mod admission;
mod asks;
mod cancel;
mod cost;
mod figures;
mod overtime;
mod plan;
mod queue;
mod recovery;
mod retries;
mod schema;
mod seals;
mod steps;
mod streaming;
mod summary;
mod summary_ahead;
mod titles;
mod tools;
