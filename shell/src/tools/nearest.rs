//! What to say when a text does not occur: the lines that come nearest to it.

/// How many lines are shown.
const SHOWN: usize = 12;
/// How many comparisons of lines are made before it is given up.
const EFFORT: usize = 20_000_000;

/// A sentence, without its subject, about a text that does not occur, and the lines that come nearest.
pub(super) fn describe(text: &str, old: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let wanted: Vec<&str> = old.trim_matches('\n').lines().map(str::trim).collect();
    match nearest(&lines, &wanted) {
        None => {
            "does not have old_string, nor any of its lines; view it and copy the text exactly.".to_owned()
        }
        Some((start, alike)) => {
            let why = if alike == wanted.len() { ", except with different white space" } else { "" };
            format!(
                "does not have old_string{why}; copy it exactly, without line numbers. Nearest are:\n{}",
                show(&lines, start, wanted.len())
            )
        }
    }
}

/// Where most lines are alike but for white space, and how many; none if no line is.
fn nearest(lines: &[&str], wanted: &[&str]) -> Option<(usize, usize)> {
    if wanted.len().saturating_mul(lines.len()) > EFFORT {
        return None;
    }
    let lines: Vec<&str> = lines.iter().map(|line| line.trim()).collect();
    let alike = |start: usize| {
        let pairs = lines[start..].iter().zip(wanted);
        pairs.filter(|(line, wanted)| !wanted.is_empty() && line == wanted).count()
    };
    let blank = wanted.iter().filter(|line| line.is_empty()).count();
    let best = (0..lines.len()).map(|start| (start, alike(start))).max_by_key(|(start, alike)| {
        // The first of several that are as good.
        (*alike, std::cmp::Reverse(*start))
    })?;
    (best.1 > 0).then_some((best.0, best.1 + blank))
}

fn show(lines: &[&str], start: usize, count: usize) -> String {
    let shown = lines.iter().enumerate().skip(start).take(count.clamp(1, SHOWN));
    shown.map(|(at, line)| format!("{:>6}\t{}\n", at + 1, short(line))).collect()
}

fn short(line: &str) -> &str {
    line.char_indices().nth(300).map_or(line, |(end, _)| &line[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_lines_are_shown() {
        let text = "fn a() {\n    one();\n    two();\n}\n\nfn b() {\n    one();\n}\n";
        for (old, expected) in [
            ("  one();\n  two();", "except with different white space"),
            ("  one();\n  two();", "\n     2\t    one();\n     3\t    two();\n"),
            ("one();\nthree();", "old_string; copy it exactly"),
            ("one();\n}", "\n     7\t    one();\n     8\t}\n"),
            ("nothing", "nor any of its lines"),
            ("\n", "nor any of its lines"),
        ] {
            let text = describe(text, old);
            assert!(text.contains(expected), "{old:?}: {text}");
        }
    }
}
