//! Who can be asked, and which model is.

use std::sync::Arc;

use hostler_core::catalogue::Builtin;
use hostler_core::config::{Config, Provider};
use hostler_core::provider::listing::Listed;
use hostler_shell::clock::Clock;
use hostler_shell::models::{Models, check_name, is_inside};

use super::{Finding, Verdict};
use crate::failure::Failure;
use crate::room;

/// How long a provider may take to answer, in milliseconds.
const PATIENCE: u64 = 10_000;

/// Asks each configured provider for its list of models.
pub(super) fn providers(config: Config) -> Result<Vec<Finding>, Failure> {
    let runtime = room::runtime()?;
    let models = Models::new(Arc::new(config), None, PATIENCE, Clock::start());
    let mut findings = Vec::new();
    let mut served = models.config().model.as_deref().is_some_and(is_inside);
    for (name, provider) in models.config().providers.iter().filter(|(_, provider)| provider.configured) {
        let nearby = provider.builtin.is_some_and(Builtin::is_local);
        if nearby && !is_looked_for(models.config(), provider) {
            continue;
        }
        let answer =
            runtime.block_on(models.look(name, if nearby { crate::commands::NEARBY } else { PATIENCE }));
        served |= !nearby || matches!(answer, Ok(Listed::Models(_)));
        findings.extend(judged(name, provider, nearby, answer));
    }
    if !served {
        let text = "no key is set and no server was found on this machine; set a key such as OPENAI_API_KEY, or try --model rehearsal";
        findings.push(Finding::new("provider", Verdict::Bad, text));
    }
    findings.push(match runtime.block_on(models.nearby()) {
        Some((model, url)) => {
            let text = format!("none is configured, so a run uses {model}, which was found at {url}");
            Finding::new("model", Verdict::Good, text)
        }
        None => model(models.config()),
    });
    Ok(findings)
}

/// Whether a server that may be on this machine is asked: not where nobody wants it to be looked for, unless it was said where
/// it is.
fn is_looked_for(config: &Config, provider: &Provider) -> bool {
    config.local_servers || has_own_place(provider)
}

/// Whether somebody said where it is.
fn has_own_place(provider: &Provider) -> bool {
    provider.builtin.is_none_or(|builtin| builtin.base_url != provider.base_url)
}

/// What an answer means. A server that may be on this machine need not be, and one of which somebody said where it is may not
/// run just now.
fn judged(name: &str, provider: &Provider, nearby: bool, answer: Result<Listed, String>) -> Option<Finding> {
    let url = &provider.base_url;
    let (verdict, text) = match answer {
        Ok(Listed::Models(_)) => (Verdict::Good, format!("{name} answers at {url}")),
        Ok(_) | Err(_) if nearby && !has_own_place(provider) => return None,
        Err(why) if nearby => (
            Verdict::Odd,
            format!(
                "{name} cannot be asked at {url} ({}), so it does not seem to run now",
                why.trim_end_matches('.')
            ),
        ),
        Ok(Listed::KeyRefused) => (
            Verdict::Bad,
            format!(
                "{name} at {url} refuses the key; see where it comes from with hostler config show --origin"
            ),
        ),
        Ok(Listed::NoList | Listed::Refused(404 | 405)) => (
            Verdict::Odd,
            format!("{name} answers at {url} and has no list of models, so the key was not tried"),
        ),
        Ok(Listed::Stranger) => (
            Verdict::Bad,
            format!(
                "what answers at {url} is not a server of models; see whether the address of {name} is right and whole"
            ),
        ),
        Ok(Listed::Refused(status)) => {
            (Verdict::Bad, format!("{name} at {url} answers with status {status}"))
        }
        Err(why) => (Verdict::Bad, format!("{name} cannot be asked at {url}: {}", why.trim_end_matches('.'))),
    };
    Some(Finding::new("provider", verdict, text))
}

fn model(config: &Config) -> Finding {
    let Some(name) = &config.model else {
        let text = "none is configured; name one with --model, in HOSTLER_MODEL or with hostler config set model PROVIDER/NAME";
        return Finding::new("model", Verdict::Odd, text);
    };
    let (provider, model) = name.split_once('/').unwrap_or((name, ""));
    // A run says the same of such a name.
    if let Err(error) = check_name(config, name) {
        return Finding::new("model", Verdict::Bad, error.message);
    }
    let has_key = config.providers.get(provider).is_some_and(|known| known.configured);
    match config.model_info(provider, model) {
        _ if is_inside(name) => Finding::new("model", Verdict::Good, name.clone()),
        _ if !has_key => Finding::new("model", Verdict::Bad, format!("there is no key for {name}")),
        None => Finding::new("model", Verdict::Odd, format!("{name}; its limits and prices are not known")),
        Some(_) => Finding::new("model", Verdict::Good, name.clone()),
    }
}
