//! What people read about flight records and rules that cannot be used: every variant, looked at one by one. One that is
//! added does not compile until it stands here.

use hostler_core::flight::{FlightError, RedactError};
use hostler_core::tools::BadRule;

#[test]
fn a_flight_record_that_cannot_be_used_is_said_so() {
    let flight = |error: &FlightError| match error {
        FlightError::Header(_) => {
            "this is no flight record (it is empty); name a file of a directory flight/"
        }
        FlightError::Format(_) => {
            "the flight record has format 7, and this program reads format 6; take the version of hostler that wrote it"
        }
        FlightError::NoBatch { .. } => "there is no batch 9; name one of 1 to 3, or 0 for the beginning",
        FlightError::Line { .. } => {
            "line 4 of the flight record cannot be read (it is cut short); take a copy that is whole"
        }
    };
    for error in [
        FlightError::Header("it is empty".to_owned()),
        FlightError::Format(7),
        FlightError::NoBatch { number: 9, first: 1, last: 3 },
        FlightError::Line { line: 4, problem: "it is cut short".to_owned() },
    ] {
        assert_eq!(
            error.to_string(),
            flight(&error).replace("format 6", &format!("format {}", hostler_core::flight::FORMAT))
        );
        assert_eq!(RedactError::Flight(error.clone()).to_string(), error.to_string());
    }
    let redact = |error: &RedactError| match error {
        RedactError::Flight(_) => unreachable!(),
        RedactError::Differs(_) => {
            "batch 2 is decided differently here; redact it with the version of the program that wrote it"
        }
        RedactError::Changes(_) => {
            "batch 2 would be decided differently if its texts were hidden; look through it and show it as it is"
        }
    };
    for error in [RedactError::Differs(2), RedactError::Changes(2)] {
        assert_eq!(error.to_string(), redact(&error));
    }
}

#[test]
fn a_rule_that_makes_no_sense_is_said_so() {
    let expected = |error: &BadRule| match error {
        BadRule::Shape(_) => {
            "\"x y\" is not a rule; write a tool's name, bash(COMMAND), read(PATH), write(PATH), path(PATH) or host(NAME)."
        }
        BadRule::Near { .. } => "\"Bash\" is not a rule; did you mean \"bash\"?",
        BadRule::UnknownTool { .. } => {
            "There is no tool named \"shell\" to make a rule about; the tools are: bash, view."
        }
        BadRule::Kind(_) => {
            "\"view(x)\" is not a rule; what stands in parentheses is a command after bash, a path after read, write or path, and a name after host."
        }
        BadRule::Pattern { .. } => "The rule \"host()\" would never apply: it is empty.",
    };
    for error in [
        BadRule::Shape("x y".to_owned()),
        BadRule::Near { written: "Bash".to_owned(), meant: "bash".to_owned() },
        BadRule::UnknownTool { name: "shell".to_owned(), known: "bash, view".to_owned() },
        BadRule::Kind("view(x)".to_owned()),
        BadRule::Pattern { rule: "host()".to_owned(), problem: "it is empty" },
    ] {
        assert_eq!(error.to_string(), expected(&error));
    }
}
