//! `script`: one race told step by step, or all that this repository has.

use std::path::{Path, PathBuf};

use super::args::Args;
use super::{Ending, Stop};
use crate::failure::Class;
use crate::script::{self, Script, Wrong};

/// How many events are printed of a script that fails.
const LAST: usize = 60;

pub(super) fn script(args: &Args) -> Ending {
    let named = args.files().iter().map(PathBuf::from);
    let paths = if args.all() { script::all() } else { named.collect() };
    if paths.is_empty() {
        return Err(Stop::Usage("which script? --all runs those of the repository".to_owned()));
    }
    let mut wrong = 0;
    for path in &paths {
        let text = std::fs::read_to_string(path);
        let text =
            text.map_err(|error| Stop::Usage(format!("{} cannot be read ({error})", path.display())))?;
        let ran = Script::read(&text).and_then(|script| script.run());
        wrong += usize::from(tell(path, ran, args.all()));
    }
    println!("{} of {} scripts are as they should be", paths.len() - wrong, paths.len());
    if wrong == 0 { Ok(()) } else { Err(Stop::Found(Class::Safety)) }
}

/// Says how a script went. Returns whether something is wrong.
fn tell(path: &Path, ran: Result<Vec<String>, Wrong>, briefly: bool) -> bool {
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    match ran {
        Ok(story) => {
            story.iter().filter(|_| !briefly).for_each(|line| println!("{line}"));
            println!("as it should be: {name}");
            false
        }
        Err(wrong) => {
            let from = wrong.story.len().saturating_sub(LAST);
            wrong.story[from..].iter().for_each(|line| println!("{line}"));
            println!("WRONG: {name}, line {}: {}", wrong.line, wrong.what);
            true
        }
    }
}
