//! What somebody meant who wrote something else.

use alloc::vec::Vec;

/// The name that is nearest to what was written, if one is near enough to be meant.
pub fn nearest<'a>(written: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let near = |name: &&str| distance(&written.to_lowercase(), &name.to_lowercase());
    let best = names.into_iter().min_by_key(near)?;
    // A third of a name may be wrong; of a short one, a letter.
    (near(&best) <= (best.chars().count() / 3).clamp(1, 3)).then_some(best)
}

/// What others call some of our keys, in small letters and without `_` and `-`.
const ELSEWHERE: &[(&str, &[&str])] = &[
    ("key", &["apikey", "token", "apitoken", "secret", "accesstoken"]),
    ("base_url", &["url", "baseuri", "apibase", "apiurl", "endpoint", "host", "server", "api"]),
    ("protocol", &["type", "wireapi", "npm", "kind", "format"]),
    ("context_window", &["context", "contextlength", "contextsize", "maxcontext", "maxinput"]),
    ("max_output", &["maxtokens", "maxoutputtokens", "output"]),
    ("max_steps", &["maxturns", "steps", "maxiterations"]),
    ("max_cost", &["budget", "maxbudget", "cost"]),
    ("small_model", &["smallfastmodel", "titlemodel"]),
    ("permissions", &["rules", "tools"]),
    ("providers", &["modelproviders"]),
    ("vision", &["images", "attachments"]),
    ("reasoning", &["thinking"]),
];

/// The key that somebody means: the one whose name is nearest, else the one that others call so.
pub fn meant<'a>(written: &str, keys: impl Iterator<Item = &'a str> + Clone) -> Option<&'a str> {
    let plain = written.replace(['_', '-'], "").to_lowercase();
    let ours = |key: &&str| ELSEWHERE.iter().any(|(ours, all)| ours == key && all.contains(&plain.as_str()));
    nearest(written, keys.clone()).or_else(|| keys.clone().find(ours))
}

/// How many letters must be put in, left out, changed or swapped with their neighbour to make the one of the other.
fn distance(from: &str, to: &str) -> usize {
    let (from, to): (Vec<char>, Vec<char>) = (from.chars().take(64).collect(), to.chars().take(64).collect());
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=to.len()).collect();
    for (row, left) in from.iter().enumerate() {
        let mut line = Vec::with_capacity(above.len());
        line.push(row + 1);
        for (column, right) in to.iter().enumerate() {
            let change = above[column] + usize::from(left != right);
            let mut best = change.min(above[column + 1] + 1).min(line[column] + 1);
            if row > 0 && column > 0 && *left == to[column - 1] && from[row - 1] == *right {
                best = best.min(before[column - 1] + 1);
            }
            line.push(best);
        }
        before = core::mem::replace(&mut above, line);
    }
    above.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_seen_and_another_word_is_not() {
        let names = ["model", "models", "providers", "base_url", "ask"];
        for (written, meant) in [
            ("modle", Some("model")),
            ("Model", Some("model")),
            ("provider", Some("providers")),
            ("baseUrl", Some("base_url")),
            ("aks", Some("ask")),
            ("url", None),
            ("", None),
            ("permissions", None),
        ] {
            assert_eq!(nearest(written, names), meant, "{written}");
        }
        let keys = || ["base_url", "key", "key_file"].into_iter();
        for (written, expected) in [
            ("api_key", Some("key")),
            ("apiKey", Some("key")),
            ("endpoint", Some("base_url")),
            ("key_fil", Some("key_file")),
            ("thinking", None),
        ] {
            assert_eq!(meant(written, keys()), expected, "{written}");
        }
        assert_eq!(nearest("x", []), None);
        assert_eq!((distance("ab", "ba"), distance("", "abc"), distance("abc", "")), (1, 3, 3));
    }
}
