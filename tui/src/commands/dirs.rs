//! `hostler dirs`: where things are.

use std::process::ExitCode;

use hostler_core::client::printable;
use hostler_shell::config::trust::Trusted;
use hostler_shell::logging;
use serde_json::json;

use super::{json as line, print};
use crate::failure::Failure;
use crate::place::Place;

pub(crate) fn dirs(json: bool) -> Result<ExitCode, Failure> {
    let place = Place::here().map_err(Failure::error)?;
    let wrong = |mistakes: Vec<String>| Failure::usage(mistakes.join("\n"));
    let places = place.places();
    let user = places.user_file().map_err(wrong)?;
    let project = places.project().map_err(wrong)?.map(|(_, file)| file);
    let trusted = Trusted::in_state(&place.state).file();
    let logs = logging::directory(&place.state);
    if json {
        let all = json!({
            "cwd": place.root, "config": user, "project_config": project, "data": place.state,
            "workspace": place.dir, "trusted": trusted, "logs": logs,
        });
        print(&line(&all)?)?;
    } else {
        let shown = |path: Option<&std::path::Path>| {
            path.map_or("none".to_owned(), |path| path.display().to_string())
        };
        let text = format!(
            "working directory   {}\nyour configuration  {}\nthe project's       {}\ndata                {}\nthis workspace      {}\ntrusted projects    {}\nlog files           {}\n",
            place.root.display(),
            shown(user.as_deref()),
            shown(project.as_deref()),
            place.state.display(),
            place.dir.display(),
            trusted.display(),
            logs.display(),
        );
        print(&printable(&text))?;
    }
    super::warn(place.warning.as_slice());
    Ok(ExitCode::SUCCESS)
}
