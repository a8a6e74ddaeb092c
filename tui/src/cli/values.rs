//! Values on the command line that are more than text: counts, durations, amounts of dollars.

/// Reads how many.
pub(super) fn count(text: &str) -> Result<u32, String> {
    let number: Option<u32> = text.parse().ok();
    let bad = || format!("{text:?} is not a number above zero; write one such as 20");
    number.filter(|number| *number > 0).ok_or_else(bad)
}

/// Reads a duration and gives it in milliseconds.
pub(super) fn duration(text: &str) -> Result<u64, String> {
    let split = text.find(|char: char| !char.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let factor = match unit {
        "ms" => 1,
        "" | "s" | "sec" | "secs" | "second" | "seconds" => 1_000,
        "m" | "min" | "mins" | "minute" | "minutes" => 60_000,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3_600_000,
        _ => {
            return Err(format!("{text:?} is not a duration; write a number and ms, s, m or h, such as 90s"));
        }
    };
    let number: Option<u64> = number.parse().ok();
    let millis = number.and_then(|number| number.checked_mul(factor)).filter(|millis| *millis > 0);
    millis.ok_or_else(|| format!("{text:?} is not a duration above zero; write one such as 90s or 10m"))
}

/// Reads an amount of dollars and gives it in millionths of one.
pub(super) fn micro_dollars(text: &str) -> Result<u64, String> {
    let bad = || format!("{text:?} is not an amount of dollars above zero; write one such as 2 or 0.50");
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(part) || part.len() > 6 {
        return Err(bad());
    }
    let millionths: Option<u64> = format!("{part:0<6}").parse().ok();
    let dollars: Option<u64> = whole.parse().ok();
    let all =
        dollars.zip(millionths).and_then(|(dollars, part)| dollars.checked_mul(1_000_000)?.checked_add(part));
    all.filter(|micro| *micro > 0).ok_or_else(bad)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_and_amounts_are_numbers() {
        for (text, millis) in [
            ("5", 5_000),
            ("90s", 90_000),
            ("10m", 600_000),
            ("1h", 3_600_000),
            ("20ms", 20),
            ("30sec", 30_000),
            ("5min", 300_000),
            ("1hour", 3_600_000),
            ("2minutes", 120_000),
        ] {
            assert_eq!(duration(text), Ok(millis), "{text}");
        }
        for (text, micro) in [("2", 2_000_000), ("0.50", 500_000), ("1.000001", 1_000_001)] {
            assert_eq!(micro_dollars(text), Ok(micro), "{text}");
        }
        for text in ["", "0", "0.0", ".5", "1.", "-1", "1e3", "0.0000001", "1,5", "99999999999999999999"] {
            assert!(micro_dollars(text).is_err(), "{text}");
        }
        for text in ["", "s", "0", "-1s", "1.5s", "1 s", "1d", "1month", "min", "99999999999999999999h"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
