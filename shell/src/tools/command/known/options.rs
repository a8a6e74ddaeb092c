//! Options and words with which a program that is otherwise harmless executes another one.

/// Beginnings of options with which a program that is otherwise harmless executes another one. Long ones are as short as
/// the programs take them.
const EXECUTING_OPTIONS: &[(&str, &[&str])] = &[
    ("bsdtar", &["--use", "-I"]),
    ("cargo", &["--config", "-Z"]),
    ("cargo-clippy", &["--config"]),
    ("go", &["-exec", "--exec", "-toolexec", "--toolexec", "-vettool", "--vettool"]),
    ("cc", COMPILER),
    ("c++", COMPILER),
    ("clang", COMPILER),
    ("clang++", COMPILER),
    ("gcc", COMPILER),
    ("g++", COMPILER),
    ("less", &["+"]),
    ("make", &["--ev"]),
    ("man", &["-P", "-H", "--p", "--h"]),
    ("more", &["+"]),
    ("npm", &["--script-shell", "--node-options", "--prefix", "-C", "--shell"]),
    ("rg", &["--pre", "--hostname-bin"]),
    ("rsync", &["-e", "--rsh", "--rsync-p"]),
    ("sort", &["--com"]),
    ("split", &["--fi"]),
    ("tar", &["--use", "--to", "--check", "--rsh", "--rmt", "--info", "--new"]),
    ("zip", &["-TT", "--unzip"]),
];

/// What makes a compiler execute another program, or load one.
const COMPILER: &[&str] = &["-wrapper", "-B", "-specs", "-fplugin", "-Xclang", "-load", "-Wl,"];

/// Words after which such a program executes another one, or whatever a linker is told.
const EXECUTING_WORDS: &[(&str, &[&str])] = &[
    ("bun", &["x", "exec"]),
    ("cargo", &["rustc", "rustdoc"]),
    ("deno", &["eval"]),
    ("npm", &["exec", "x", "explore"]),
    ("pnpm", &["exec", "dlx"]),
    ("yarn", &["exec", "dlx"]),
];

/// Letters with which it does so, wherever among the letters behind one dash they stand.
const EXECUTING_LETTERS: &[(&str, &[char])] =
    &[("jobs", &['x']), ("make", &['E']), ("rsync", &['e']), ("tar", &['I', 'F']), ("wait", &['p'])];

/// Whether an argument, at that place of a command, makes the program execute another one.
pub(in crate::tools::command) fn executes(name: &str, at: usize, text: &str) -> bool {
    // Programs take the beginning of a long option for all of it.
    let long = text.split('=').next().filter(|long| long.starts_with("--") && long.len() > 2);
    let is_meant = |option: &&str| {
        text.starts_with(option)
            || (option.starts_with("--") && long.is_some_and(|long| option.starts_with(long)))
    };
    // `tar` takes its letters in the first word also without a dash.
    let is_cluster = !text.starts_with("--") && (text.starts_with('-') || (name == "tar" && at == 1));
    let by_letter = |letters: &[char]| is_cluster && text.contains(letters);
    of(EXECUTING_OPTIONS, name).iter().any(is_meant)
        || of(EXECUTING_WORDS, name).contains(&text)
        || EXECUTING_LETTERS.iter().any(|(program, letters)| *program == name && by_letter(letters))
}

fn of(table: &[(&str, &'static [&'static str])], name: &str) -> &'static [&'static str] {
    table.iter().find(|(program, _)| *program == name).map_or(&[], |(_, words)| words)
}

/// Programs whose options of one dash are words, so that no letters stand together.
const OF_WORDS: &[&str] = &["cc", "c++", "clang", "clang++", "g++", "gcc", "go", "java", "javac", "rustc"];

/// Letters whose value stands behind them whatever it is, in an option of one dash.
const VALUED_LETTERS: &[(&str, &str)] =
    &[("git", "mCSGLU"), ("grep", "efmABC"), ("make", "CfIjoW"), ("rg", "efgtTjmABCM"), ("sed", "ef")];

/// Whether what stands behind several letters of an option may be the value of the last of them.
pub(in crate::tools::command) fn may_be_cluster(name: &str, option: &str) -> bool {
    let mut letters = option.chars();
    let first = letters.next().filter(|dash| *dash == '-').and_then(|_| letters.next());
    let is_valued =
        |letter| VALUED_LETTERS.iter().any(|(program, valued)| *program == name && valued.contains(letter));
    // What is behind an equals sign is the value of what stands before it.
    let is_word = OF_WORDS.contains(&name) || option.find('=').is_some_and(|at| option.find('/') > Some(at));
    first.is_some_and(|letter| letter != '-' && !is_valued(letter)) && !is_word
}
