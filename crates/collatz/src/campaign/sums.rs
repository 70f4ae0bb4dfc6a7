//! Figures of many certificates together.

use dashu_int::UBig;

use crate::certificate::{Certificate, Highest};

/// Sums over certificates.
#[derive(Clone, Debug, Default)]
pub struct Sums {
    /// Windows.
    pub windows: u64,
    /// Starts.
    pub numbers: u128,
    /// Tested starts, with the starts below the floor.
    pub tested: u128,
    /// Tested starts whose values leave 128 bits.
    pub overflowed: u128,
    /// Tested starts that were followed step by step, with those that overflowed.
    pub finished: u128,
    /// Time of the engines.
    pub seconds: f64,
    /// The checksum mod `2^64`.
    pub checksum: u64,
    /// Windows whose highest value was not seen.
    pub not_seen: u64,
    /// The highest value of the other windows, and the least start that has it.
    highest: Option<(UBig, u128)>,
}

impl Sums {
    /// Adds a certificate.
    pub fn add(&mut self, certificate: &Certificate) {
        let figures = &certificate.figures;
        self.windows += 1;
        self.numbers += certificate.window.count();
        self.tested += u128::from(figures.tested) + u128::from(figures.plain);
        self.overflowed += u128::from(certificate.overflowed);
        self.finished += u128::from(certificate.finished);
        self.seconds += certificate.seconds();
        // Every trusted certificate has sixteen digits.
        let checksum = u64::from_str_radix(&figures.checksum, 16).unwrap_or_default();
        self.checksum = self.checksum.wrapping_add(checksum);
        match &certificate.highest {
            // A window without tested starts has no highest value.
            Highest::NotSeen if figures.tested + figures.plain == 0 => {}
            Highest::NotSeen => self.not_seen += 1,
            Highest::Value { start, value } => {
                let (Ok(start), Ok(value)) = (start.parse(), value.parse::<UBig>()) else { return };
                if self.highest.as_ref().is_none_or(|(most, first)| value > *most || value == *most && start < *first) {
                    self.highest = Some((value, start));
                }
            }
        }
    }

    /// The start with the highest value, and that value.
    pub fn highest(&self) -> Option<(u128, &UBig)> {
        self.highest.as_ref().map(|(value, start)| (*start, value))
    }
}

impl<'a> FromIterator<&'a Certificate> for Sums {
    fn from_iter<I: IntoIterator<Item = &'a Certificate>>(certificates: I) -> Self {
        let mut sums = Self::default();
        certificates.into_iter().for_each(|certificate| sums.add(certificate));
        sums
    }
}

/// Neighbouring windows, and the time that they took.
#[derive(Clone, Copy, Debug)]
pub struct Rate {
    /// The first start.
    pub from: u128,
    /// The first start after them.
    pub end: u128,
    /// Time of the engines.
    pub seconds: f64,
}

impl Rate {
    /// Numbers a second.
    pub fn numbers_per_second(&self) -> f64 {
        (self.end - self.from) as f64 / self.seconds.max(1e-6)
    }
}

/// The rates of certificates in the order of their windows, for a drawing: as many neighbouring windows together that about `most` rates
/// remain, and no gap within one.
pub fn rates(done: &[Certificate], most: usize) -> Vec<Rate> {
    let most_windows = done.len().div_ceil(most.max(1));
    let mut rates: Vec<Rate> = Vec::new();
    let mut windows = 0;
    for certificate in done {
        let (window, seconds) = (certificate.window, certificate.seconds());
        if let Some(rate) = rates.last_mut().filter(|rate| rate.end == window.from() && windows < most_windows) {
            rate.end = window.end();
            rate.seconds += seconds;
            windows += 1;
        } else {
            rates.push(Rate { from: window.from(), end: window.end(), seconds });
            windows = 1;
        }
    }
    rates
}
