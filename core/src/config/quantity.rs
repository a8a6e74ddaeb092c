//! Quantities as people write them: durations with a unit, and dollars as decimals. Read into integers, without a float.

/// A duration such as `90s`, `10m`, `1h` or `500ms` in milliseconds; none if it is no duration above zero.
pub fn duration(text: &str) -> Option<u64> {
    let split = text.find(|char: char| !char.is_ascii_digit())?;
    let (number, unit) = text.split_at(split);
    let factor = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(factor).filter(|millis| *millis > 0)
}

/// Dollars such as `2`, `0.15` or `1.25` in micro-dollars; none if there is more than six decimals or anything else.
pub fn dollars(text: &str) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(part) || part.len() > 6 {
        return None;
    }
    let scale = 10u64.pow(u32::try_from(6 - part.len()).ok()?);
    let micros = part.parse::<u64>().ok()?.checked_mul(scale)?;
    whole.parse::<u64>().ok()?.checked_mul(1_000_000)?.checked_add(micros)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_a_unit() {
        for (text, millis) in [("90s", 90_000), ("10m", 600_000), ("1h", 3_600_000), ("20ms", 20)] {
            assert_eq!(duration(text), Some(millis), "{text}");
        }
        for text in
            ["", "5", "s", "0s", "-1s", "1.5s", "1 s", "1d", "99999999999999999999h", "18446744073709551615h"]
        {
            assert_eq!(duration(text), None, "{text}");
        }
    }

    #[test]
    fn dollars_are_exact() {
        for (text, micros) in
            [("2", 2_000_000), ("0.15", 150_000), ("1.250000", 1_250_000), ("0.000001", 1), ("0", 0)]
        {
            assert_eq!(dollars(text), Some(micros), "{text}");
        }
        for text in ["", ".5", "5.", "-1", "1e3", "0.0000001", "1,5", "99999999999999999999"] {
            assert_eq!(dollars(text), None, "{text}");
        }
    }
}
