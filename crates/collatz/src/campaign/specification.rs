//! What a campaign is about.

use serde::{Deserialize, Serialize};

use crate::{
    certificate::{Certificate, Damage, PROGRAM, Scheme, fingerprint},
    error::{Error, Result},
    window::Window,
};

/// What a campaign is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Specification {
    /// The range.
    pub range: Window,
    /// Starts of a window; the last one may have fewer.
    pub window_count: String,
    /// The scheme.
    pub scheme: Scheme,
    /// The program.
    pub program: String,
    /// The rules' fingerprint.
    pub rules: String,
}

impl Specification {
    /// A campaign of this program.
    ///
    /// # Errors
    /// [`Error::ZeroCount`] for windows without starts.
    pub fn new(range: Window, window_count: u128, scheme: Scheme) -> Result<Self> {
        if window_count == 0 {
            return Err(Error::ZeroCount);
        }
        let window_count = window_count.min(range.count()).to_string();
        Ok(Self { range, window_count, scheme, program: PROGRAM.into(), rules: fingerprint() })
    }

    /// Starts of a window; 1 if the text is no number, which no sealed file has.
    fn size(&self) -> u128 {
        self.window_count.parse().unwrap_or(1).max(1)
    }

    /// How many windows there are. They are cut at multiples of their size, which suits engines that need alignment: the first one
    /// may have fewer starts, too.
    pub fn windows(&self) -> u128 {
        (self.range.end() - 1) / self.size() - self.range.from() / self.size() + 1
    }

    /// The window with this number.
    pub fn window(&self, number: u128) -> Option<Window> {
        let from = (self.range.from() / self.size()).checked_add(number)?.checked_mul(self.size())?;
        Window::of(from.max(self.range.from())..from.checked_add(self.size())?.min(self.range.end()))
    }

    /// The number of this window; none if it is not one of the campaign's.
    pub fn number(&self, window: &Window) -> Option<u128> {
        let number = (window.from() / self.size()).checked_sub(self.range.from() / self.size())?;
        (self.window(number) == Some(*window)).then_some(number)
    }

    /// Is it of this program and these rules, with values that make sense?
    ///
    /// # Errors
    /// [`Damage::Foreign`], saying what differs.
    pub(super) fn is_ours(&self) -> Result<(), Damage> {
        let foreign = |what: &str, found: &str| Err(Damage::Foreign { what: what.into(), found: found.into() });
        if self.program != PROGRAM {
            return foreign("program", &self.program);
        }
        if self.rules != fingerprint() {
            return foreign("rules", &self.rules);
        }
        if !self.window_count.parse().is_ok_and(|count: u128| count > 0) {
            return foreign("window size", &self.window_count);
        }
        Ok(())
    }

    /// Is it a certificate of this campaign?
    pub fn has(&self, certificate: &Certificate) -> bool {
        certificate.scheme == self.scheme && self.number(&certificate.window).is_some()
    }

    /// The campaign over a range that these certificates are of, with windows of `window_count` starts, or else as large as the largest of
    /// them. None if not all are of one such campaign: the first and the last window of one may have fewer starts, and do not tell.
    pub fn of(range: Window, window_count: u128, certificates: &[Certificate]) -> Option<Self> {
        let largest = certificates.iter().max_by_key(|certificate| certificate.window.count())?;
        let candidates = [window_count, largest.window.count()].into_iter();
        let mut specifications = candidates.filter_map(|count| Self::new(range, count, largest.scheme).ok());
        specifications.find(|specification| certificates.iter().all(|certificate| specification.has(certificate)))
    }
}
