//! Whatever the arguments and whatever there is in the directory: a file tool ends with a result of bounded size, and changes
//! nothing that its intent did not name as inside.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use hostler_core::tools::read;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use super::outcome::settle;
use super::threads::Stop;
use super::*;

/// Something in a directory.
#[derive(Clone, Debug)]
enum Thing {
    File(Vec<u8>),
    Directory,
    Link(String),
    Pipe,
}

fn name() -> impl Strategy<Value = String> {
    let odd = [
        "a",
        "b",
        "a.rs",
        ".git",
        ".gitignore",
        "\u{1b}[31m",
        "two\nlines",
        "*",
        "[",
        "-x",
        "\u{202e}x",
        "x y",
    ];
    select(odd.map(str::to_owned).to_vec())
}

fn path() -> impl Strategy<Value = String> {
    let parts = prop::collection::vec(
        prop_oneof![4 => name(), 1 => Just("..".to_owned()), 1 => Just(".".to_owned())],
        1..4,
    );
    prop_oneof![
        8 => parts.prop_map(|parts| parts.join("/")),
        1 => select(vec!["", "/", "..", "~", "~/x", "\0", "a\0b", "../outside/secret", "/dev/zero", "/proc/self/mem"]).prop_map(str::to_owned),
        1 => Just("x".repeat(300)),
        1 => Just("x/".repeat(3000)),
        1 => ".{0,12}",
    ]
}

fn thing() -> impl Strategy<Value = Thing> {
    let contents =
        ["", "a\n", "a\r\nb\r\n", "a\nb\r\nc", "\u{feff}a", "*\n!a\n", "a a a", "/../\n**/**/**\n[\n"];
    prop_oneof![
        4 => select(contents.map(|text| text.as_bytes().to_vec()).to_vec()).prop_map(Thing::File),
        2 => prop::collection::vec(any::<u8>(), 0..50).prop_map(Thing::File),
        2 => Just(Thing::Directory),
        2 => path().prop_map(Thing::Link),
        1 => select(vec!["../outside", "../outside/secret", "/", "/dev/zero", "."]).prop_map(|to| Thing::Link(to.to_owned())),
        1 => Just(Thing::Pipe),
    ]
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        select(vec!["", "a", "\n", "b\r\n", "a\n", "(", "[", "**", "{a,{b,c}}", "\\"])
            .prop_map(str::to_owned),
        ".{0,10}",
    ]
}

fn call() -> impl Strategy<Value = (&'static str, Value)> {
    let number = select(vec![json!(0), json!(1), json!(3), json!(u64::MAX)]);
    let edit = (text(), text(), any::<bool>())
        .prop_map(|(old, new, all)| json!({"old_string": old, "new_string": new, "replace_all": all}))
        .boxed();
    let edited = |(path, edit): (String, Value)| {
        let mut input = edit;
        input["file_path"] = json!(path);
        ("edit", input)
    };
    prop_oneof![
        (path(), number.clone(), number.clone()).prop_map(|(path, offset, limit)| (
            "view",
            json!({"file_path": path, "offset": offset, "limit": limit})
        )),
        path().prop_map(|path| ("view", json!({"file_path": path}))),
        (path(), number).prop_map(|(path, depth)| ("ls", json!({"path": path, "depth": depth}))),
        (prop_oneof![text(), path()], path())
            .prop_map(|(pattern, path)| ("glob", json!({"pattern": pattern, "path": path}))),
        (text(), path(), text(), any::<bool>()).prop_map(|(pattern, path, include, literal)| {
            ("grep", json!({"pattern": pattern, "path": path, "include": include, "literal_text": literal}))
        }),
        (path(), edit.clone()).prop_map(edited),
        (path(), prop::collection::vec(edit, 0..4))
            .prop_map(|(path, edits)| ("multiedit", json!({"file_path": path, "edits": edits}))),
        (path(), text())
            .prop_map(|(path, content)| ("write", json!({"file_path": path, "content": content}))),
    ]
}

fn lay(root: &Path, things: &[(String, Thing)]) {
    for (path, thing) in things {
        // What does not fit to what is there already is left out, and so is what would lie outside.
        let path = root.join(path);
        if path.components().any(|part| part.as_os_str() == "..") || !path.starts_with(root) {
            continue;
        }
        let _ = path.parent().map(fs::create_dir_all);
        let inside = path.parent().and_then(|parent| parent.canonicalize().ok());
        if inside.is_none_or(|parent| !parent.starts_with(root)) || path.symlink_metadata().is_ok() {
            continue;
        }
        let _ = match thing {
            Thing::File(content) => fs::write(&path, content),
            Thing::Directory => fs::create_dir_all(&path),
            Thing::Link(to) => symlink(to, &path),
            Thing::Pipe => {
                let mode = rustix::fs::Mode::from_raw_mode(0o600);
                rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0)
                    .map_err(Into::into)
            }
        };
    }
}

/// All that there is below a directory, without following links.
fn snapshot(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![root.to_owned()];
    while let Some(path) = waiting.pop() {
        let kind = path.symlink_metadata().unwrap().file_type();
        let content = match () {
            () if kind.is_dir() => {
                waiting.extend(fs::read_dir(&path).unwrap().flatten().map(|entry| entry.path()));
                b"directory".to_vec()
            }
            () if kind.is_symlink() => path.read_link().unwrap().into_os_string().into_encoded_bytes(),
            () if kind.is_file() => fs::read(&path).unwrap(),
            () => b"special".to_vec(),
        };
        found.insert(path, content);
    }
    found
}

fn carry_out(workspace: &Workspace, input: &ToolInput) -> ToolOutcome {
    let stop = Stop::default();
    settle(match input {
        ToolInput::Bash(_) => unreachable!("no commands here"),
        ToolInput::View(input) => view::view(workspace, input, &stop),
        ToolInput::Ls(input) => ls::ls(workspace, input, &stop),
        ToolInput::Glob(input) => glob::glob(workspace, input, &stop),
        ToolInput::Grep(input) => grep::grep(workspace, input, &stop),
        ToolInput::Edit(input) => edit::edit(workspace, input),
        ToolInput::MultiEdit(input) => multiedit::multiedit(workspace, input),
        ToolInput::Write(input) => write::write(workspace, input),
    })
}

fn check(things: &[(String, Thing)], calls: &[(&str, Value)]) {
    let directory = tempfile::tempdir().unwrap();
    let top = directory.path().canonicalize().unwrap();
    let root = top.join("work");
    fs::create_dir(&root).unwrap();
    fs::create_dir(top.join("outside")).unwrap();
    fs::write(top.join("outside/secret"), "what nobody may see\n").unwrap();
    lay(&root, things);
    let workspace = Workspace::open(&root).unwrap();
    for (tool, arguments) in calls {
        let input = read(tool, &arguments.to_string()).unwrap();
        let intent = inspect(&workspace, &input);
        let inside = intent.complete && intent.reads.iter().chain(&intent.writes).all(|path| path.inside);
        let writes = !intent.writes.is_empty() || !intent.complete;
        // What lies outside of the test's own directory may be endless, or somebody's.
        if !inside && (writes || intent.reads.iter().any(|path| !Path::new(&path.path).starts_with(&top))) {
            continue;
        }
        let (all, others) = (snapshot(&root), snapshot(&top.join("outside")));
        let outcome = carry_out(&workspace, &input);
        assert!(!outcome.text.trim().is_empty() && outcome.text.len() < 300_000, "{tool} {arguments}");
        assert!(outcome.metadata.unwrap_or_default().len() < 300_000, "{tool} {arguments}");
        assert_eq!(snapshot(&top.join("outside")), others, "{tool} {arguments}");
        if !writes {
            assert_eq!(snapshot(&root), all, "{tool} {arguments}");
        }
        if inside {
            assert!(!outcome.text.contains("nobody may see"), "{tool} {arguments}: {}", outcome.text);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn file_tools_keep_to_what_they_said(
        things in prop::collection::vec((path(), thing()), 0..12),
        calls in prop::collection::vec(call(), 1..12),
    ) {
        check(&things, &calls);
    }
}
