//! Files that are hard to change right: what `edit`, `multiedit` and `write` do with each of them.

use std::fs::{self, File, Permissions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::thread;

use hostler_core::content::ToolStatus;
use hostler_core::tools::{EditInput, MultiEditInput, Replace, ViewInput, WriteInput};

use super::outcome::{Outcome, settle};
use super::threads::Stop;
use super::*;

fn look(workspace: &Workspace, path: &str) -> String {
    let input = ViewInput { file_path: path.into(), offset: None, limit: None };
    settle(view::view(workspace, &input, &Stop::default())).text
}

fn replacing(old: &str, new: &str) -> Replace {
    Replace { old_string: old.into(), new_string: new.into(), replace_all: false }
}

/// Each way to change a file in which there is an `a`, to have a `b` in its place.
fn ways(workspace: &Workspace, path: &str) -> [Outcome; 3] {
    let Replace { old_string, new_string, replace_all } = replacing("a", "b");
    let file_path = || path.to_owned();
    [
        edit::edit(workspace, &EditInput { file_path: file_path(), old_string, new_string, replace_all }),
        multiedit::multiedit(
            workspace,
            &MultiEditInput { file_path: file_path(), edits: vec![replacing("a", "b")] },
        ),
        write::write(workspace, &WriteInput { file_path: file_path(), content: "b".into() }),
    ]
}

fn place() -> (tempfile::TempDir, Workspace) {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().join("work");
    fs::create_dir(&root).unwrap();
    let workspace = Workspace::open(&root).unwrap();
    (directory, workspace)
}

fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<_> = directory
        .read_dir()
        .unwrap()
        .flatten()
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn what_is_no_regular_file_is_left_alone() {
    let (_directory, workspace) = place();
    let root = workspace.root();
    fs::create_dir(root.join("directory")).unwrap();
    let _socket = UnixListener::bind(root.join("socket")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(root.join("pipe")).status().unwrap();
    assert!(made.success());
    symlink("loop", root.join("loop")).unwrap();
    symlink("there", root.join("back")).unwrap();
    symlink("back", root.join("there")).unwrap();
    symlink("/dev/null", root.join("null")).unwrap();
    for (path, why) in [
        ("directory", "directory is a directory; use ls to list it."),
        ("socket", "socket is a socket, which cannot be read as a file; use bash if you need it."),
        ("pipe", "pipe is a pipe, which cannot be read as a file; use bash if you need it."),
        ("loop", "loop leads through too many links; give another path."),
        ("there/a", "there/a leads through too many links; give another path."),
        (
            "null",
            "/dev/null is a device or another special file, which cannot be read as a file; use bash if you need it.",
        ),
        (
            "/dev/zero",
            "/dev/zero is a device or another special file, which cannot be read as a file; use bash if you need it.",
        ),
        ("", "The path is empty; give the path of a file or directory."),
        ("a\0b", "a\\u{0}b has a NUL character in it, which no path can have."),
    ] {
        assert_eq!(look(&workspace, path), why);
        for outcome in ways(&workspace, path) {
            assert_eq!(outcome.unwrap_err().sentence(), why);
        }
    }
    assert_eq!(names(root), ["back", "directory", "loop", "null", "pipe", "socket", "there"]);
}

#[test]
fn a_name_that_is_too_long_says_so() {
    let (_directory, workspace) = place();
    for outcome in ways(&workspace, &"x".repeat(300)) {
        let failure = outcome.unwrap_err();
        assert!(failure.sentence().contains("File name too long"), "{}", failure.sentence());
    }
}

#[test]
fn a_file_that_is_too_large_is_left_alone() {
    let (_directory, workspace) = place();
    let path = workspace.root().join("large");
    let mut file = File::create(&path).unwrap();
    let megabyte = "a line of text.\n".repeat(1 << 16);
    (0..100).for_each(|_| file.write_all(megabyte.as_bytes()).unwrap());
    assert!(look(&workspace, "large").starts_with("     1\ta line of text.\n"));
    for outcome in ways(&workspace, "large") {
        assert_eq!(outcome.unwrap_err().sentence(), "large is larger than 16 MiB; change it with bash.");
    }
    assert_eq!(path.metadata().unwrap().len(), 100 << 20);
}

#[test]
fn a_file_never_becomes_too_large_to_be_changed_again() {
    let (_directory, workspace) = place();
    let path = workspace.root().join("f");
    // In UTF-16 each letter has two bytes.
    fs::write(&path, b"\xff\xfea\0").unwrap();
    look(&workspace, "f");
    let input = WriteInput { file_path: "f".into(), content: "b".repeat(9 << 20) };
    let failure = write::write(&workspace, &input).unwrap_err();
    assert_eq!(failure.sentence(), "f would be larger than 16 MiB; write it with bash.");
    assert_eq!(fs::read(&path).unwrap(), b"\xff\xfea\0");
}

#[test]
fn line_ends_encodings_and_the_end_of_a_file_stay() {
    for (before, after) in [
        (&b"x\r\na\r\n"[..], &b"x\r\nb\r\n"[..]),
        (b"x\na\r\ny\n", b"x\nb\r\ny\n"),
        (b"x\ra\ry", b"x\rb\ry"),
        (b"a", b"b"),
        (b"x\na", b"x\nb"),
        (b"\xef\xbb\xbfa\n", b"\xef\xbb\xbfb\n"),
        (b"\xff\xfea\0\n\0", b"\xff\xfeb\0\n\0"),
        (b"\xfe\xff\0a\0\r\0\n", b"\xfe\xff\0b\0\r\0\n"),
    ] {
        for way in [0, 1] {
            let (_directory, workspace) = place();
            let path = workspace.root().join("f");
            fs::write(&path, before).unwrap();
            look(&workspace, "f");
            if way == 0 {
                let input = EditInput {
                    file_path: "f".into(),
                    old_string: "a".into(),
                    new_string: "b".into(),
                    replace_all: false,
                };
                edit::edit(&workspace, &input).unwrap();
            } else {
                let input = MultiEditInput {
                    file_path: "f".into(),
                    edits: vec![replacing("a", "c"), replacing("c", "b")],
                };
                multiedit::multiedit(&workspace, &input).unwrap();
            }
            assert_eq!(fs::read(&path).unwrap(), after);
        }
    }
}

#[test]
fn mode_and_links_are_what_they_were() {
    for mode in [0o600, 0o644, 0o755, 0o640, 0o4750] {
        for way in 0..3 {
            let (directory, workspace) = place();
            let target = directory.path().join("target");
            fs::write(&target, "a").unwrap();
            fs::set_permissions(&target, Permissions::from_mode(mode)).unwrap();
            fs::hard_link(&target, directory.path().join("other")).unwrap();
            symlink("../target", workspace.root().join("link")).unwrap();
            look(&workspace, "link");
            let outcome = match way {
                0 => edit::edit(
                    &workspace,
                    &EditInput {
                        file_path: "link".into(),
                        old_string: "a".into(),
                        new_string: "b".into(),
                        replace_all: false,
                    },
                ),
                1 => multiedit::multiedit(
                    &workspace,
                    &MultiEditInput { file_path: "link".into(), edits: vec![replacing("a", "b")] },
                ),
                _ => write::write(&workspace, &WriteInput { file_path: "link".into(), content: "b".into() }),
            };
            assert_eq!(settle(outcome).status, ToolStatus::Ok);
            assert!(workspace.root().join("link").is_symlink());
            assert_eq!(fs::read(&target).unwrap(), b"b");
            assert_eq!(target.metadata().unwrap().mode() & 0o7777, mode);
            // A second name of the file keeps what it had.
            assert_eq!(fs::read(directory.path().join("other")).unwrap(), b"a");
            assert_eq!(names(directory.path()), ["other", "target", "work"]);
        }
    }
}

#[test]
fn what_is_read_only_stays_as_it_is() {
    if rustix::process::geteuid().is_root() {
        println!("skipped: nothing is read-only for this user");
        return;
    }
    let (_directory, workspace) = place();
    let root = workspace.root();
    fs::create_dir(root.join("fixed")).unwrap();
    for path in ["file", "fixed/file"] {
        fs::write(root.join(path), "a").unwrap();
        look(&workspace, path);
    }
    fs::set_permissions(root.join("file"), Permissions::from_mode(0o444)).unwrap();
    fs::set_permissions(root.join("fixed"), Permissions::from_mode(0o555)).unwrap();
    for path in ["file", "fixed/file"] {
        for outcome in ways(&workspace, path) {
            let failure = outcome.unwrap_err();
            assert!(failure.sentence().contains("Permission denied"), "{}", failure.sentence());
        }
        assert_eq!(fs::read(root.join(path)).unwrap(), b"a");
    }
    assert_eq!(names(&root.join("fixed")), ["file"]);
    fs::set_permissions(root.join("fixed"), Permissions::from_mode(0o755)).unwrap();
}

/// Two that do not know of each other count in one file; each looks again when it is told that the file has changed.
#[test]
fn two_editors_of_one_file_never_undo_each_other() {
    const EACH: usize = 40;
    let (_directory, workspace) = place();
    fs::write(workspace.root().join("count"), "0").unwrap();
    let root = workspace.root();
    let count = || {
        let own = Workspace::open(root).unwrap();
        let mut done = 0;
        while done < EACH {
            let seen = look(&own, "count");
            let number: usize = seen.trim().trim_start_matches("1\t").parse().unwrap();
            let input = EditInput {
                file_path: "count".into(),
                old_string: number.to_string(),
                new_string: (number + 1).to_string(),
                replace_all: false,
            };
            match edit::edit(&own, &input) {
                Ok(_) => done += 1,
                Err(failure) => {
                    assert!(failure.sentence().contains("has changed since it was viewed"), "{failure:?}")
                }
            }
        }
    };
    thread::scope(|scope| {
        scope.spawn(count);
        scope.spawn(count);
    });
    assert_eq!(fs::read_to_string(root.join("count")).unwrap(), (2 * EACH).to_string());
    assert_eq!(names(root), ["count"]);
}
