//! What certificates add up to.

use warpmp_collatz::certificate::{Certificate, Highest};

/// Sums over certificates.
#[derive(Clone, Debug, Default)]
pub(super) struct Sums {
    pub(super) windows: u64,
    pub(super) numbers: u128,
    /// Those below the floor included.
    pub(super) tested: u128,
    pub(super) overflowed: u128,
    /// Followed step by step, those that overflowed among them.
    pub(super) finished: u128,
    pub(super) seconds: f64,
    /// Mod `2^64`.
    pub(super) checksum: u64,
    /// Windows whose highest value was not seen.
    pub(super) not_seen: u64,
    /// The highest value of the others, and the least start that has it.
    highest: Option<(String, String)>,
}

impl Sums {
    pub(super) fn add(&mut self, certificate: &Certificate) {
        let figures = &certificate.figures;
        self.windows += 1;
        self.numbers += certificate.window.count();
        self.tested += u128::from(figures.tested) + u128::from(figures.plain);
        self.overflowed += u128::from(certificate.overflowed);
        self.finished += u128::from(certificate.finished);
        self.seconds += certificate.microseconds as f64 / 1e6;
        // Sixteen digits in every certificate that is trusted.
        let checksum = u64::from_str_radix(&figures.checksum, 16).unwrap_or_default();
        self.checksum = self.checksum.wrapping_add(checksum);
        match &certificate.highest {
            // Of no start there is nothing to see.
            Highest::NotSeen if figures.tested + figures.plain == 0 => {}
            Highest::NotSeen => self.not_seen += 1,
            Highest::Value { start, value } => {
                // Decimal numbers without leading zeros: the longer one is the larger.
                fn key(text: &str) -> (usize, &str) {
                    (text.len(), text)
                }
                let higher = self.highest.as_ref().is_none_or(|(first, highest)| {
                    key(value) > key(highest) || value == highest && key(start) < key(first)
                });
                if higher {
                    self.highest = Some((start.clone(), value.clone()));
                }
            }
        }
    }

    /// The start with the highest value, and that value.
    pub(super) fn highest(&self) -> Option<(&str, &str)> {
        self.highest.as_ref().map(|(start, value)| (start.as_str(), value.as_str()))
    }

    /// For people.
    pub(super) fn highest_text(&self) -> String {
        match (self.highest(), self.not_seen) {
            (Some((start, value)), 0) => format!("{value} from {start}"),
            (Some((start, value)), windows) => format!("{value} from {start}; not seen in {windows} windows"),
            (None, _) => "not seen by this scheme or engine".into(),
        }
    }
}

impl<'a> FromIterator<&'a Certificate> for Sums {
    fn from_iter<I: IntoIterator<Item = &'a Certificate>>(certificates: I) -> Self {
        let mut sums = Self::default();
        certificates.into_iter().for_each(|certificate| sums.add(certificate));
        sums
    }
}
