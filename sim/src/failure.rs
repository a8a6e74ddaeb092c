//! What went wrong.

use std::fmt;

/// The kind of a failure. Its number is the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Something happened that must not.
    Safety = 2,
    /// Something did not happen that must, or a campaign never got where it should.
    Liveness = 3,
    /// The outcome is another than the reference model says.
    Model = 4,
    /// The same seed went two ways.
    Nondeterminism = 5,
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Class::Safety => "safety",
            Class::Liveness => "liveness",
            Class::Model => "model",
            Class::Nondeterminism => "nondeterminism",
        })
    }
}

/// What went wrong, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The kind.
    pub class: Class,
    /// Who noticed.
    pub oracle: String,
    /// What is wrong.
    pub message: String,
    /// After how many events.
    pub event: u64,
}

impl Failure {
    /// Whether it is the same failure, found in another run.
    pub fn is_like(&self, other: &Failure) -> bool {
        self.class == other.class && self.oracle == other.oracle
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}): {}", self.class, self.oracle, self.message)
    }
}
