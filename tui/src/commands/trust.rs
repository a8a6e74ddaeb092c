//! `hostler trust`: lets a project's own configuration count in full.

use std::path::PathBuf;
use std::process::ExitCode;

use hostler_core::client::printable;
use hostler_shell::config::{has_project_file, trust::Trusted};
use serde_json::json;

use super::{json as line, print};
use crate::cli::TrustArgs;
use crate::failure::Failure;
use crate::place::Place;

pub(crate) fn trust(args: &TrustArgs) -> Result<ExitCode, Failure> {
    let place = Place::here().map_err(Failure::error)?;
    let trusted = Trusted::in_state(&place.state);
    let unusable = |error: std::io::Error| {
        Failure::error(format!(
            "The list of trusted directories {} cannot be used ({error}); mend it or move it away.",
            trusted.file().display()
        ))
    };
    if args.list {
        let all = trusted.list().map_err(unusable)?;
        let text = if args.json {
            line(&json!({"trusted": all}))?
        } else {
            all.iter().map(|directory| format!("{}\n", printable(directory))).collect()
        };
        print(&text)?;
        return Ok(ExitCode::SUCCESS);
    }
    let directory = directory(args, &place)?;
    if !args.revoke && !has_project_file(&directory) {
        return Err(Failure::usage(format!(
            "There is no .hostler/config.json in {}, so there is nothing to trust there; name the directory that has it.",
            directory.display()
        )));
    }
    let changed = trusted.set(&directory, !args.revoke).map_err(unusable)?;
    let name = directory.display().to_string();
    let text = if args.json {
        line(&json!({"directory": name, "trusted": !args.revoke, "changed": changed}))?
    } else {
        let what = match (args.revoke, changed) {
            (false, true) => "is trusted",
            (false, false) => "is already trusted",
            (true, true) => "is not trusted any more",
            (true, false) => "was not trusted, so nothing changes",
        };
        printable(&format!("{name} {what}.\n"))
    };
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// The directory that is meant: the one that is named, else the one whose configuration counts here, else this one.
fn directory(args: &TrustArgs, place: &Place) -> Result<PathBuf, Failure> {
    let Some(named) = &args.dir else {
        let project = place.places().project().map_err(|mistakes| Failure::usage(mistakes.join("\n")))?;
        return Ok(project.map_or_else(|| place.root.clone(), |(directory, _)| directory));
    };
    match named.canonicalize() {
        Ok(directory) if directory.is_dir() => Ok(directory),
        // What is gone can still be trusted no longer.
        Err(_) if args.revoke => Ok(std::path::absolute(named)?),
        Ok(_) => Err(Failure::usage(format!(
            "{} is not a directory; name the one that has the .hostler.",
            named.display()
        ))),
        Err(error) => {
            Err(Failure::usage(format!("{} cannot be found ({error}); check the path.", named.display())))
        }
    }
}
