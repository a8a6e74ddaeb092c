//! A `hostler run` from the outside: what it prints and how it ends, for scripted events.

mod codes;
mod elsewhere;
mod endings;
mod formats;
mod hints;
mod keeping;
mod listed;
mod schema;
mod silence;
mod stand;
mod start;
