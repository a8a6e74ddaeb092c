//! What a provider's headers and Google's error details say about trying again.
//!
//! Only reads; whether and when an attempt is made is decided where the attempts are counted.

use serde_json::Value;

use super::http_date;

/// The value of the header of that name, which is compared without regard to case.
pub fn header<'a>(headers: &[(&str, &'a str)], name: &str) -> Option<&'a str> {
    headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
}

/// How many milliseconds the provider asks to wait: `retry-after-ms`, else `retry-after` as seconds or as a date.
pub fn retry_after(headers: &[(&str, &str)], now_ms: u64) -> Option<u64> {
    if let Some(wait) = header(headers, "retry-after-ms").and_then(|value| millis(value, 1.0)) {
        return Some(wait);
    }
    let value = header(headers, "retry-after")?;
    millis(value, 1000.0).or_else(|| Some(http_date::millis(value)?.saturating_sub(now_ms)))
}

/// How many milliseconds Google asks to wait, which stands among the details of an error body.
pub(super) fn retry_delay(body: &str) -> Option<u64> {
    let body: Value = serde_json::from_str(body).ok()?;
    let details = body.get(0).unwrap_or(&body)["error"]["details"].as_array()?;
    details.iter().find_map(|detail| millis(detail["retryDelay"].as_str()?.strip_suffix('s')?, 1000.0))
}

/// Whether the provider says outright that trying again makes sense, or that it does not.
pub fn should_retry(headers: &[(&str, &str)]) -> Option<bool> {
    header(headers, "x-should-retry").and_then(|value| value.to_ascii_lowercase().parse().ok())
}

/// A number, times `unit`, rounded up to whole milliseconds.
fn millis(value: &str, unit: f64) -> Option<u64> {
    let wait = value.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0)? * unit;
    let whole = wait as u64;
    Some(whole.saturating_add(u64::from((whole as f64) < wait)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(headers: &[(&str, &str)], wait: Option<u64>, should: Option<bool>) {
        assert_eq!(retry_after(headers, 784_111_770_000), wait, "{headers:?}");
        assert_eq!(should_retry(headers), should, "{headers:?}");
    }

    #[test]
    fn waits_are_read_in_every_form() {
        check(&[], None, None);
        check(&[("retry-after", "2")], Some(2000), None);
        check(&[("Retry-After", " 0.25 ")], Some(250), None);
        check(&[("retry-after-ms", "12.2"), ("retry-after", "9")], Some(13), None);
        check(&[("retry-after-ms", "soon"), ("retry-after", "9")], Some(9000), None);
        check(&[("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT")], Some(7000), None);
        check(&[("retry-after", "Sun, 06 Nov 1994 08:49:07 GMT")], Some(0), None);
        for nonsense in ["", "-1", "nan", "inf", "later", "Sun, 06 Nov"] {
            check(&[("retry-after", nonsense)], None, None);
        }
        check(&[("retry-after", "1e300")], Some(u64::MAX), None);
    }

    #[test]
    fn waits_of_google_are_seconds() {
        for (delay, wait) in [
            ("34s", Some(34_000)),
            ("0.0701s", Some(71)),
            ("", None),
            ("-1s", None),
            ("nans", None),
            ("5m", None),
        ] {
            let body = format!(r#"{{"error":{{"details":[7,{{"retryDelay":"{delay}"}}]}}}}"#);
            assert_eq!(retry_delay(&body), wait, "{delay}");
        }
        for body in ["", "[]", "{}", r#"{"error":"no"}"#, r#"{"error":{"details":{}}}"#] {
            assert_eq!(retry_delay(body), None, "{body}");
        }
    }

    #[test]
    fn a_provider_may_say_outright() {
        check(&[("X-Should-Retry", "true")], None, Some(true));
        check(&[("x-should-retry", "False")], None, Some(false));
        check(&[("x-should-retry", "perhaps")], None, None);
    }
}
