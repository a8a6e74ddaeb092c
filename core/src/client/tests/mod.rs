//! A `hostler run` from the outside: what it prints and how it ends, for scripted events.

mod elsewhere;
mod endings;
mod formats;
mod keeping;
mod stand;
mod start;
