//! What somebody meant who wrote something else.

use alloc::vec::Vec;

/// The name that is nearest to what was written, if one is near enough to be meant.
pub fn nearest<'a>(written: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let near = |name: &&str| distance(&written.to_lowercase(), &name.to_lowercase());
    let best = names.into_iter().min_by_key(near)?;
    // A third of a name may be wrong; of a short one, a letter.
    (near(&best) <= (best.chars().count() / 3).clamp(1, 3)).then_some(best)
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
        assert_eq!(nearest("x", []), None);
        assert_eq!((distance("ab", "ba"), distance("", "abc"), distance("abc", "")), (1, 3, 3));
    }
}
