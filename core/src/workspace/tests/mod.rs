//! A directory from the outside: sessions that open and close, and what is asked for in between.

mod agents;
mod errands;
mod opening;
mod sessions;
