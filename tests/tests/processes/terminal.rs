//! A terminal that hostler has is out of a command's reach, and what is typed there reaches hostler alone.

use std::fs::File;
use std::io::{Read, Write};
use std::thread;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::place::{Place, Run, program};

/// A new terminal: the end of whoever sits there, and the program's.
fn terminal() -> (File, File) {
    let person = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&person).and_then(|()| unlockpt(&person)).unwrap();
    let name = ptsname(&person, Vec::new()).unwrap();
    let program = File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
    (File::from(person), program)
}

/// Starts the program at a terminal.
fn start<'a>(place: &'a Place, terminal: File, commands: &[&str]) -> Run<'a> {
    let words: Vec<&str> = ["setsid", "--ctty"].into_iter().chain(program()).collect();
    let mut command = place.command(&words, commands);
    command.stdin(terminal);
    place.spawn(command)
}

#[test]
fn a_command_cannot_write_to_it() {
    let (place, (mut person, program)) = (Place::new(), terminal());
    let mut run = start(&place, program, &["echo secret > /dev/tty; echo $?; ps -o tty= -p $$"]);
    let result = run.result(1);
    let output = result["output"].as_str().unwrap();
    assert!(
        output.starts_with("bash: ") && output.ends_with("/dev/tty: No such device or address\n1\n?"),
        "{output}"
    );
    drop(run);
    let seen = thread::spawn(move || {
        let mut seen = Vec::new();
        // The end is an error here: nobody has the other end any more.
        let _ = person.read_to_end(&mut seen);
        seen
    });
    assert_eq!(String::from_utf8_lossy(&seen.join().unwrap()), "");
}

#[test]
fn an_interrupt_typed_there_reaches_hostler_and_ends_the_command_in_order() {
    let (place, (mut person, program)) = (Place::new(), terminal());
    let command =
        "trap 'echo interrupted' INT; trap 'echo told; exit' TERM; touch begun; while :; do :; done";
    let mut run = start(&place, program, &[command]);
    run.until_file("begun");
    person.write_all(b"\x03").unwrap();
    assert_eq!(run.wait().code(), Some(130));
    assert_eq!(run.results()[0]["output"], "told\n[cancelled]");
}
