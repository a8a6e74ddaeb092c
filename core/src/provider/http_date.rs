//! The dates of HTTP headers, in the one form that is still written: `Sun, 06 Nov 1994 08:49:37 GMT`.

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// The milliseconds since the Unix epoch that a date stands for; none if it is not one, or is before the epoch.
pub(super) fn millis(date: &str) -> Option<u64> {
    let (_, rest) = date.trim().split_once(", ")?;
    let mut words = rest.split(' ');
    let day = number(words.next()?, 1, 31)?;
    let name = words.next()?;
    let month = MONTHS.iter().position(|month| *month == name)?;
    let year = number(words.next()?, 1970, 9999)?;
    let seconds = time_of_day(words.next()?)?;
    if (words.next(), words.next()) != (Some("GMT"), None) {
        return None;
    }
    let days = days_before_year(year) + days_before_month(month, year) + day - 1;
    Some((days * 86_400 + seconds) * 1000)
}

fn number(text: &str, least: u64, most: u64) -> Option<u64> {
    text.parse().ok().filter(|number| (least..=most).contains(number))
}

fn time_of_day(text: &str) -> Option<u64> {
    let mut parts = text.split(':');
    let hours = number(parts.next()?, 0, 23)?;
    let minutes = number(parts.next()?, 0, 59)?;
    // 60 is a leap second.
    let seconds = number(parts.next()?, 0, 60)?;
    parts.next().is_none().then_some(hours * 3600 + minutes * 60 + seconds)
}

fn is_leap(year: u64) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

/// Days from the epoch to the first day of the year.
fn days_before_year(year: u64) -> u64 {
    let leaps = |before: u64| before / 4 - before / 100 + before / 400;
    (year - 1970) * 365 + leaps(year - 1) - leaps(1969)
}

/// Days from the first day of the year to the first day of the month, the months counted from 0.
fn days_before_month(month: usize, year: u64) -> u64 {
    const DAYS: [u64; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
    DAYS.get(month).copied().unwrap_or(0) + u64::from(month > 1 && is_leap(year))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_and_others_refused() {
        for (date, expected) in [
            ("Thu, 01 Jan 1970 00:00:00 GMT", Some(0)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(784_111_777_000)),
            ("Thu, 29 Feb 2024 12:00:00 GMT", Some(1_709_208_000_000)),
            ("Fri, 01 Mar 2024 00:00:00 GMT", Some(1_709_251_200_000)),
            ("Sat, 01 Jan 2000 00:00:00 GMT", Some(946_684_800_000)),
            (" Wed, 21 Oct 2065 07:28:00 GMT ", Some(3_023_335_680_000)),
            ("Sun, 06 Nov 1994 08:49:37", None),
            ("Sun, 06 Nov 1994 08:49:37 CET", None),
            ("Sun, 06 Nov 1994 08:49 GMT", None),
            ("Sun, 32 Nov 1994 08:49:37 GMT", None),
            ("Sun, 06 Foo 1994 08:49:37 GMT", None),
            ("Sunday, 06-Nov-94 08:49:37 GMT", None),
            ("Mon, 06 Nov 1969 08:49:37 GMT", None),
            ("", None),
        ] {
            assert_eq!(millis(date), expected, "{date}");
        }
    }
}
