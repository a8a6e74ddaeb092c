//! The story of a run as one page that a browser shows without anything else: lanes for people, processes, sessions, the
//! provider, tools and the disk, and the broken law in a sentence at the top.
//!
//! It is for somebody who has never seen the code. `words` says what happened, `laws` what was broken, and here it becomes
//! HTML.

mod laws;
mod names;
pub(crate) mod words;

use std::fmt::Write;
use std::time::{Duration, Instant};

use crate::campaign::CLOSELY;
use crate::failure::{Class, Failure};
use crate::order::{self, Pair};
use crate::plan::{Aim, Plan};
use crate::repro::Repro;
use crate::world::Watch;
use crate::world::told::Told;
use crate::world::trace::Level;

use words::{Lane, Words};

const STYLE: &str = include_str!("style.css");

/// How many actions a plan may have for the page to ask whose order decides.
const SMALL: usize = 16;

/// The page of a run, with its last so many things that happened.
pub fn page(repro: &Repro, last: usize) -> String {
    let outcome = repro.run(Watch { level: Level::Words(0), closely: CLOSELY });
    let failure = outcome.failure.as_ref();
    let pair = failure.filter(|_| repro.plan.actions.len() <= SMALL);
    let pair =
        pair.and_then(|failure| order::decisive(repro, failure, Instant::now() + Duration::from_secs(5)));
    let told: Vec<_> =
        outcome.trace.told.iter().filter_map(|told| Some((told, words::tell(&told.what)?))).collect();
    let left_out = told.len().saturating_sub(last);
    let shown = &told[left_out..];
    let mut page = String::new();
    // Writing to a string cannot fail.
    let _ = write!(
        page,
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>Seed {}: what happened</title>\n<style>\n{STYLE}</style>\n",
        repro.seed
    );
    head(repro, failure, pair.as_ref(), &mut page);
    rows(repro, shown, left_out, pair.as_ref(), failure, &mut page);
    page.push_str("</html>\n");
    page
}

/// What an oracle says, within reason.
fn seen(failure: &Failure) -> String {
    let told = if failure.class == Class::Model {
        names::fates(&failure.message)
    } else {
        names::named(&names::plain(&failure.message))
    };
    told.chars().take(400).collect()
}

/// Text as it may stand in HTML.
fn escaped(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            other => html.push(other),
        }
    }
    html
}

fn head(repro: &Repro, failure: Option<&Failure>, pair: Option<&Pair>, page: &mut String) {
    page.push_str("<header>\n");
    match failure {
        None => page.push_str("<p class=\"class\">Nothing went wrong</p>\n<h1>Every law was kept.</h1>\n"),
        Some(failure) => {
            let law = laws::law(&failure.oracle);
            let class = failure.class;
            let message = seen(failure);
            let _ = write!(
                page,
                "<p class=\"class\">This law was broken ({class}, \u{201c}{}\u{201d})</p>\n<h1>{law}</h1>\n\
                 <p class=\"seen\"><b>What was seen instead:</b> {}</p>\n",
                escaped(&failure.oracle),
                escaped(&message)
            );
        }
    }
    done(&repro.plan, page);
    if let Some(pair) = pair {
        let _ = write!(
            page,
            "<section class=\"pair\"><h2>The order of two events decides</h2>\n<ol><li>{}</li><li>{}</li></ol>\n\
             <p>They are marked below. If the first comes behind the second, nothing goes wrong.</p></section>\n",
            escaped(&names::named(&pair.first)),
            escaped(&names::named(&pair.second))
        );
    }
    let _ = write!(
        page,
        "<details open><summary>How to read this</summary>\n<p>Hostler is a program that lets a language model work on files. \
         Here its decisions are run in a simulated world. Time runs down the page, in seconds since the beginning. Each row is a moment; \
         the numbers in it say in which order things happened. Whatever is decided is first written to disk \
         (<span class=\"key decides\">decided</span>, then <span class=\"key commit\">on disk</span>), and only then acted \
         upon. A name such as t1.s2.a1 is the first attempt (request) of the second step (answer of the model) of turn 1, and t1.s2.c3 is \
         the third call of a tool in that step. A session such as s0 is one conversation, a prompt such as p4 is what somebody wants done in it, \
         and a sub-agent is a session that a call of another one has opened. A process that is killed forgets everything that is not on disk. Red is trouble that was made on purpose.</p>\n\
         <ul>{}</ul></details>\n\
         <details><summary>Seed {} and its options</summary>\n<p class=\"mono\">{}</p></details>\n</header>\n",
        LANES
            .iter()
            .fold(String::new(), |list, (lane, what)| list + &format!("<li><b>{lane}</b> {what}</li>")),
        repro.seed,
        escaped(&repro.options.describe())
    );
}

const LANES: [(&str, &str); 6] = [
    ("People", "submit prompts, cancel, and are told what came of it"),
    ("Process", "the running program: what reaches it, and when it dies or starts"),
    ("Sessions", "what is decided about conversations: the records of the log"),
    ("Provider", "the server that the language model runs on"),
    ("Tools", "commands and the like that the model wants run"),
    ("Disk", "the log, and the locks that say which process may write to which session"),
];

/// What was done to the world.
fn done(plan: &Plan, page: &mut String) {
    page.push_str("<section class=\"done\"><h2>What was done</h2>\n<ol>\n");
    let mut actions: Vec<_> = plan.actions.iter().collect();
    actions.sort_by_key(|action| action.at);
    for action in actions {
        let when = match action.aim {
            Aim::None => String::new(),
            Aim::Deadline(delta) => match delta {
                0 => ", at the next deadline".to_owned(),
                delta if delta < 0 => ", just before the next deadline".to_owned(),
                _ => ", just after the next deadline".to_owned(),
            },
            Aim::Decided(kind) => format!(", once {kind} is decided and not yet on disk"),
            Aim::Committed(kind) => format!(", once {kind} is on disk and not yet acted upon"),
        };
        let what = words::action(&action.what);
        let _ = writeln!(page, "<li>From {} on{when}: {}</li>", seconds(action.at), escaped(&what));
    }
    page.push_str("</ol></section>\n");
}

fn seconds(millis: u64) -> String {
    format!("{}.{:03} s", millis / 1_000, millis % 1_000)
}

/// The lanes that the page has, with their names.
fn lanes(repro: &Repro) -> Vec<(Lane, String)> {
    let processes = repro.options.processes.max(1) as usize;
    let mut lanes = vec![(Lane::People, "People".to_owned())];
    for process in 0..processes {
        lanes.push((Lane::Process(process), format!("Process {process}")));
    }
    let rest = [
        (Lane::Session, "Sessions"),
        (Lane::Provider, "Provider"),
        (Lane::Tools, "Tools"),
        (Lane::Disk, "Disk"),
    ];
    lanes.extend(rest.map(|(lane, name)| (lane, name.to_owned())));
    lanes
}

fn rows(
    repro: &Repro,
    shown: &[(&Told, Words)],
    left_out: usize,
    pair: Option<&Pair>,
    failure: Option<&Failure>,
    page: &mut String,
) {
    let lanes = lanes(repro);
    let _ = writeln!(
        page,
        "<main style=\"--lanes:{}\">\n<div class=\"row lanes\"><b class=\"time\">Time</b>",
        lanes.len()
    );
    for (nth, (lane, name)) in lanes.iter().enumerate() {
        let _ = writeln!(page, "<b class=\"{}\" style=\"--lane:{}\">{name}</b>", class(*lane), nth + 2);
    }
    page.push_str("</div>\n");
    if left_out > 0 {
        let _ = writeln!(
            page,
            "<p class=\"left-out\">{left_out} things that happened before these are left out.</p>"
        );
    }
    let mut time = None;
    for moment in shown.chunk_by(|(one, _), (other, _)| one.event == other.event) {
        row(moment, &lanes, pair, &mut time, page);
    }
    if let Some(failure) = failure {
        let law = laws::law(&failure.oracle);
        let message = seen(failure);
        let _ = writeln!(
            page,
            "<div class=\"end\"><b>Here the law is broken.</b> {law}<br><span class=\"mono\">{}</span></div>",
            escaped(&message)
        );
    }
    page.push_str("</main>\n");
}

fn row(
    moment: &[(&Told, Words)],
    lanes: &[(Lane, String)],
    pair: Option<&Pair>,
    time: &mut Option<u64>,
    page: &mut String,
) {
    let Some((first, _)) = moment.first() else { return };
    let place = pair.map_or("", |pair| match first.event {
        event if event == pair.events.0 => " first",
        event if event == pair.events.1 => " second",
        _ => "",
    });
    let shown = if *time == Some(first.at) { String::new() } else { seconds(first.at) };
    *time = Some(first.at);
    let _ = writeln!(page, "<div class=\"row{place}\"><span class=\"time\">{shown}</span>");
    for (nth, (_, words)) in moment.iter().enumerate() {
        let lane = lanes.iter().position(|(lane, _)| *lane == words.lane).unwrap_or(0);
        let name = lanes.get(lane).map_or("", |(_, name)| name.as_str());
        let number = if moment.len() > 1 { format!("<i>{}</i> ", nth + 1) } else { String::new() };
        let title = escaped(&names::named(&words.title));
        let detail = escaped(&words.detail);
        let body = if detail.is_empty() {
            format!("<p>{number}{title}</p>")
        } else {
            format!(
                "<details><summary>{number}{title}</summary><span class=\"mono\">{detail}</span></details>"
            )
        };
        let _ = writeln!(
            page,
            "<div class=\"card {} {}\" style=\"--lane:{}\"><em>{name}</em>{body}</div>",
            class(words.lane),
            words.kind,
            lane + 2
        );
    }
    page.push_str("</div>\n");
}

fn class(lane: Lane) -> &'static str {
    match lane {
        Lane::People => "people",
        Lane::Process(_) => "process",
        Lane::Session => "session",
        Lane::Provider => "provider",
        Lane::Tools => "tools",
        Lane::Disk => "disk",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Profile;
    use crate::world::START;

    /// The first seed that fails with that planted.
    fn planted() -> Repro {
        let with = |seed| {
            let mut repro = Repro::of_seed(seed, 600, Profile::Swarm);
            repro.options.planted = 1;
            repro
        };
        let fails = |repro: &Repro| repro.run(crate::campaign::MANY).failure.is_some();
        (1..500).map(with).find(fails).unwrap_or_else(|| panic!("a planted fault is found"))
    }

    #[test]
    fn the_page_of_a_failure_says_which_law_was_broken_and_needs_nothing_from_outside() {
        let repro = planted();
        let page = page(&repro, 400);
        let failure = repro.run(crate::campaign::MANY).failure;
        let law = failure.map(|failure| laws::law(&failure.oracle));
        assert!(law.is_some_and(|law| page.contains(&format!("<h1>{law}</h1>"))), "{page}");
        for part in ["<script", "http://", "https://", "url(", "@import"] {
            assert!(!page.contains(part), "{part} is in the page");
        }
        let cards = page.matches("<div class=\"card ").count();
        assert!(cards > 20 && cards <= 400, "{cards}");
    }

    #[test]
    fn the_page_of_a_clean_run_says_so() {
        let page = page(&Repro::of_seed(1, 300, Profile::Swarm), 50);
        assert!(page.contains("Every law was kept.") && page.contains("are left out"));
    }

    #[test]
    fn ids_are_told_without_their_types() {
        let told = names::plain("expected [Ends(PromptId(\"p9\"), Error)] in SessionId(\"s0\")");
        assert_eq!(told, "expected [Ends(p9, Error)] in s0");
        assert_eq!(
            names::plain(&format!("by Some(Timestamp({})) at", START + 30_050)),
            "by Some(30.050 s) at"
        );
    }

    #[test]
    fn what_people_write_cannot_become_markup() {
        assert_eq!(escaped("<b a=\"&\">"), "&lt;b a=&quot;&amp;&quot;&gt;");
    }
}
