//! Dates for people.

use std::time::{SystemTime, UNIX_EPOCH};

/// Seconds since 1970 by this machine's clock.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// A time in UTC: `2026-11-23 06:00`. Times of files are not trusted: one after the year 9999 is not known.
pub(crate) fn utc(seconds: u64) -> String {
    const DAY: u64 = 86400;
    if seconds == 0 || seconds >= 253_402_300_800 {
        return "not known".into();
    }
    let [year, month, day] = date(seconds / DAY);
    let minutes = seconds % DAY / 60;
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02}", minutes / 60, minutes % 60)
}

/// Year, month and day of the Gregorian calendar, so many days after 1 January 1970. Years begin in March here, so that a leap day is the
/// last day of its year (H. Hinnant, *chrono-compatible low-level date algorithms*, 2013).
const fn date(days: u64) -> [u64; 3] {
    // From 1 March of the year 0 on, in eras of 400 years.
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    [era * 400 + year_of_era + (month <= 2) as u64, month, day]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_dates() {
        assert_eq!(date(0), [1970, 1, 1]);
        assert_eq!(utc(951_782_400), "2000-02-29 00:00");
        assert_eq!(utc(1_709_251_199), "2024-02-29 23:59");
        assert_eq!(utc(1_709_251_200), "2024-03-01 00:00");
        assert_eq!(utc(4_107_542_400), "2100-03-01 00:00");
        assert_eq!(utc(253_402_300_799), "9999-12-31 23:59");
        assert_eq!([utc(0), utc(u64::MAX)], ["not known", "not known"]);
    }

    /// Every day follows the one before, over four hundred years and one.
    #[test]
    fn days_follow_each_other() {
        let length = |[year, month, _]: [u64; 3]| match month {
            2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        let mut before = date(0);
        for days in 1..147_000 {
            let [year, month, day] = before;
            let expected = match (day < length(before), month) {
                (true, _) => [year, month, day + 1],
                (false, 12) => [year + 1, 1, 1],
                (false, _) => [year, month + 1, 1],
            };
            before = date(days);
            assert_eq!(before, expected);
        }
    }
}
