//! What is checked of every run, beside what its test is about.

use super::command::Hostler;
use super::running::Finished;
use super::{Lines, contract, flights, processes, schema};

/// Checks a program that ended by itself.
pub(super) fn ended(command: &Hostler<'_>, finished: &Finished) {
    let code = finished
        .code
        .unwrap_or_else(|| panic!("it was ended by signal {:?}: {}", finished.signal, finished.err));
    if reports_in_lines(command, finished) {
        let verdict = contract::whole(&finished.out, code, command.abandoned)
            .and_then(|()| schema::check(&Lines::whole(&finished.out)));
        verdict.unwrap_or_else(|why| panic!("{why}; printed was:\n{}\n{}", finished.out, finished.err));
    }
    processes::wait_gone(&command.mark);
    decided(command, finished);
}

/// Checks a program that ended although nobody read what it printed.
pub(super) fn unread(command: &Hostler<'_>, finished: &Finished) {
    contract::cut(&finished.out).unwrap_or_else(|why| panic!("{why}; printed was:\n{}", finished.out));
    assert!(finished.out.ends_with('\n'), "a line is cut short");
    processes::wait_gone(&command.mark);
    decided(command, finished);
}

/// Checks a program that was killed. What its tools had started ends all the same.
pub(super) fn killed(command: &Hostler<'_>, finished: &Finished) {
    if reports_in_lines(command, finished) {
        contract::cut(&finished.out).unwrap_or_else(|why| panic!("{why}; printed was:\n{}", finished.out));
    }
    processes::wait_gone(&command.mark);
    decided(command, finished);
}

/// Whether the output is the lines of a run. A command line that cannot be parsed prints none, and a reader that goes
/// away does not see the last.
fn reports_in_lines(command: &Hostler<'_>, finished: &Finished) -> bool {
    let asked = command.words.iter().any(|word| word == "jsonl");
    asked && command.most.is_none() && !command.left && !(finished.code == Some(2) && finished.out.is_empty())
}

fn decided(command: &Hostler<'_>, finished: &Finished) {
    if let Some(provider) = command.provider {
        provider.0.assert_clean();
    }
    let records = flights::replay(&command.home.root());
    let told = command.words.iter().any(|word| word == "jsonl")
        && Lines::whole(&finished.out).all().iter().any(|line| !line["cursor"].is_null());
    assert!(!told || records > 0, "there is no flight record of {:?}", command.words);
}
