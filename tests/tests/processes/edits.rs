//! Changes of a file are all or nothing, whatever becomes of the program or the disk in the middle of one.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::place::{Place, program};

/// How many lines the file has that is changed. They are long, so that most of a change is writing.
const LINES: usize = 2_000;
/// How often the program is killed.
const KILLS: u64 = 30;

/// The file with that letter in each of its lines.
fn content(letter: &str) -> String {
    let long = "x".repeat(600);
    (0..LINES).map(|number| format!("line {number} -{letter}- {long}\n")).collect()
}

fn edit(name: &str, from: &str, to: &str) -> Value {
    json!({"file_path": name, "old_string": format!("-{from}-"), "new_string": format!("-{to}-"), "replace_all": true})
}

/// Changes every line there and back, in two ways.
fn changes(name: &str, times: usize) -> Vec<(&'static str, Value)> {
    let step = |from: &str, to: &str| json!({"old_string": format!("-{from}-"), "new_string": format!("-{to}-"), "replace_all": true});
    let back = json!({"file_path": name, "edits": [step("b", "c"), step("c", "a")]});
    let mut calls = vec![("view", json!({"file_path": name, "limit": 1}))];
    for _ in 0..times {
        calls.push(("edit", edit(name, "a", "b")));
        calls.push(("multiedit", back.clone()));
    }
    calls
}

/// The names in a directory that the program made there.
fn litter(directory: &Path, known: &[&str]) -> Vec<String> {
    let names =
        fs::read_dir(directory).unwrap().flatten().map(|entry| entry.file_name().into_string().unwrap());
    names.filter(|name| !known.contains(&name.as_str())).collect()
}

#[test]
fn killed_at_any_time_it_leaves_the_old_or_the_new() {
    let place = Place::new();
    let (a, b) = (content("a"), content("b"));
    fs::create_dir(place.path("sub")).unwrap();
    fs::write(place.path("sub/f"), &a).unwrap();
    // A sequence that is the same in every run; where in a change it strikes is up to the machine.
    let mut seed = 20_261_130_u64;
    let (mut old, mut new) = (0, 0);
    for _ in 0..KILLS {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let run_on = Duration::from_micros(seed >> 45);
        let mut run = place.spawn(place.calling(&program(), &changes("sub/f", 200)));
        run.result(2);
        std::thread::sleep(run_on);
        run.signal(Signal::KILL);
        run.wait();
        let found = fs::read_to_string(place.path("sub/f")).unwrap();
        assert!(found == a || found == b, "neither the old nor the new, killed after {run_on:?}");
        if found == a {
            old += 1
        } else {
            new += 1
        }
        for name in litter(&place.path("sub"), &["f"]) {
            // Whoever is killed between giving a file its name and renaming it leaves a whole one, which the tools do
            // not show and the next change deletes once it is old.
            assert!(name.starts_with(".hostler-") && name.ends_with(".tmp"), "{name}");
            let left = fs::read_to_string(place.path("sub").join(&name)).unwrap();
            assert!(left == a || left == b, "{name} is neither the old nor the new");
            println!("left behind, whole: {name}");
        }
    }
    println!("killed {KILLS} times: the one {old} times, the other {new} times");
}

/// What came of changing a file when there is no room for its new content.
#[track_caller]
fn check_full(place: &Place, program: &[&str], directory: &str, says: &[&str]) {
    let name = format!("{directory}/f");
    let a = content("a");
    fs::write(place.path(&name), &a).unwrap();
    let longer =
        |old: &str, times| json!({"old_string": old, "new_string": "-".repeat(times), "replace_all": true});
    let edits = json!([{"old_string": "", "new_string": "y".repeat(20_000)}, longer("y", 150)]);
    let new = json!({"file_path": format!("{directory}/new"), "edits": edits});
    let mut long = longer("-a-", 600);
    long["file_path"] = json!(&name);
    let calls = [
        ("view", json!({"file_path": &name, "limit": 1})),
        ("edit", long),
        ("multiedit", json!({"file_path": &name, "edits": [longer("-a-", 600)]})),
        ("multiedit", new),
        ("edit", json!({"file_path": &name, "old_string": "line 7 -a-", "new_string": "line 7 -A-"})),
    ];
    let mut run = place.spawn(place.calling(program, &calls));
    run.result(5);
    let results = run.results();
    for result in &results[1..4] {
        let output = result["output"].as_str().unwrap();
        assert_eq!(result["status"], "error", "{output}");
        assert!(says.iter().any(|says| output.contains(says)), "{output}");
    }
    assert_eq!(results[4]["status"], "ok", "what has room goes on: {}", results[4]);
    assert_eq!(fs::read_to_string(place.path(&name)).unwrap(), a.replace("line 7 -a-", "line 7 -A-"));
    assert_eq!(litter(&place.path(directory), &["f"]), [""; 0]);
}

#[test]
fn at_the_limit_of_a_file_s_size_it_leaves_the_old() {
    let place = Place::new();
    fs::create_dir(place.path("sub")).unwrap();
    // In units of 1024 bytes: more than the file has, and less than it would have.
    let limited = ["bash", "-c", "ulimit -f 1800; exec \"$@\"", "bash"];
    let words: Vec<&str> = limited.into_iter().chain(program()).collect();
    check_full(&place, &words, "sub", &["File too large"]);
}

/// A small disk, until it is dropped.
struct Disk<'a>(&'a Path);

impl Drop for Disk<'_> {
    fn drop(&mut self) {
        // It goes with the machine otherwise.
        let _ = Command::new("umount").arg("-l").arg(self.0).status();
    }
}

#[test]
fn on_a_full_disk_it_leaves_the_old() {
    let place = Place::new();
    let path = place.path("small");
    fs::create_dir(&path).unwrap();
    let mounted =
        Command::new("mount").args(["-t", "tmpfs", "-o", "size=3000k", "tmpfs"]).arg(&path).output();
    let why = match &mounted {
        Ok(output) if output.status.success() => None,
        Ok(output) => Some(String::from_utf8_lossy(&output.stderr).into_owned()),
        Err(error) => Some(error.to_string()),
    };
    if let Some(why) = why {
        println!("skipped: a disk cannot be mounted here ({})", why.trim());
        return;
    }
    let _disk = Disk(&path);
    check_full(&place, &program(), "small", &["No space left on device"]);
}
