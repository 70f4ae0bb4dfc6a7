//! The specification of a campaign.

use serde::{Deserialize, Serialize};
use warpmp_campaign::{Damage, Work};

use crate::{
    certificate::{Certificate, FORMAT, Highest, MOST_STARTS, PROGRAM, check_origin, fingerprint},
    error::{Allowed, Error, Result},
    scheme::Scheme,
    window::Window,
};

/// The parameters that define a campaign.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Specification {
    /// The range.
    pub range: Window,
    /// Starts of a window. The first and the last window may have fewer.
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
    /// [`Error::ZeroCount`] for windows without starts; [`Error::Parameter`] for windows of more than `2^64`.
    pub fn new(range: Window, window_count: u128, scheme: Scheme) -> Result<Self> {
        if window_count == 0 {
            return Err(Error::ZeroCount);
        }
        if window_count.min(range.count()) > MOST_STARTS {
            let allowed = Allowed::AtMost(MOST_STARTS);
            return Err(Error::Parameter { name: "a window's starts", value: window_count, allowed });
        }
        let window_count = window_count.min(range.count()).to_string();
        Ok(Self { range, window_count, scheme, program: PROGRAM.into(), rules: fingerprint() })
    }

    /// Starts of a window; 1 if the text is no number, which no trusted file has.
    pub fn window_size(&self) -> u128 {
        self.window_count.parse().unwrap_or(1).max(1)
    }

    /// How many windows there are. They are cut at multiples of their size, for engines that need alignment: so the first one, too,
    /// may have fewer starts.
    pub fn windows(&self) -> u128 {
        (self.range.end() - 1) / self.window_size() - self.range.from() / self.window_size() + 1
    }

    /// The window with this number.
    pub fn window(&self, number: u128) -> Option<Window> {
        let from = (self.range.from() / self.window_size()).checked_add(number)?.checked_mul(self.window_size())?;
        Window::of(from.max(self.range.from())..from.checked_add(self.window_size())?.min(self.range.end()))
    }

    /// The number of this window; none if it is not one of the campaign's.
    pub fn number(&self, window: &Window) -> Option<u128> {
        let number = (window.from() / self.window_size()).checked_sub(self.range.from() / self.window_size())?;
        (self.window(number) == Some(*window)).then_some(number)
    }

    /// Starts that these certificates cover.
    pub fn covered(&self, done: &[Certificate]) -> u128 {
        done.iter().map(|certificate| certificate.window.count()).sum()
    }

    /// Starts of the range that the certificates do not cover.
    pub fn missing(&self, done: &[Certificate]) -> u128 {
        self.gaps(done).iter().map(Window::count).sum()
    }

    /// The parts of the range that the certificates, in the order of their windows, do not cover. Neighbouring windows are one part.
    pub fn gaps(&self, done: &[Certificate]) -> Vec<Window> {
        let mut gaps = Vec::new();
        let mut next = self.range.from();
        for certificate in done {
            gaps.extend(Window::of(next..certificate.window.from()));
            next = next.max(certificate.window.end());
        }
        gaps.extend(Window::of(next..self.range.end()));
        gaps
    }

    /// The campaign over a range to which all these certificates belong. Its windows have `window_count` starts, or else as many as the
    /// largest window of the certificates has: a first or last window alone does not tell the size. None if there is no such campaign.
    pub fn of(range: Window, window_count: u128, certificates: &[Certificate]) -> Option<Self> {
        let largest = certificates.iter().max_by_key(|certificate| certificate.window.count())?;
        let candidates = [window_count, largest.window.count()].into_iter();
        let mut specifications = candidates.filter_map(|count| Self::new(range, count, largest.scheme).ok());
        let has = |campaign: &Self, it: &Certificate| it.scheme == campaign.scheme && campaign.has(&it.window);
        specifications.find(|campaign| certificates.iter().all(|certificate| has(campaign, certificate)))
    }
}

impl Work for Specification {
    type Unit = Window;
    type Certificate = Certificate;

    const PROGRAM: &'static str = PROGRAM;
    const FORMAT: u32 = FORMAT;

    fn units(&self) -> u128 {
        self.windows()
    }

    fn unit(&self, number: u128) -> Option<Window> {
        self.window(number)
    }

    fn has(&self, window: &Window) -> bool {
        self.number(window).is_some()
    }

    fn name(window: &Window) -> String {
        format!("{:039}-{}", window.from(), window.count())
    }

    fn named(name: &str) -> Option<Window> {
        let (from, count) = name.split_once('-')?;
        Window::new(from.parse().ok()?, count.parse().ok()?).ok()
    }

    fn unit_of(certificate: &Certificate) -> Window {
        certificate.window
    }

    fn check(&self) -> Result<(), Damage> {
        check_origin(&self.program, &self.rules, &self.scheme)?;
        match self.window_count.parse() {
            Ok(1..=MOST_STARTS) => Ok(()),
            _ => Err(Damage::foreign("window size", &self.window_count)),
        }
    }

    fn check_certificate(certificate: &Certificate) -> Result<(), Damage> {
        certificate.is_ours()
    }

    fn fits(&self, certificate: &Certificate) -> Result<(), Damage> {
        if certificate.scheme == self.scheme {
            return Ok(());
        }
        Err(Damage::Misplaced { what: format!("scheme {:?}", certificate.scheme) })
    }

    fn agree(one: &Certificate, other: &Certificate) -> bool {
        let seen = |it: &Certificate| it.highest != Highest::NotSeen;
        one.figures == other.figures && (one.highest == other.highest || !seen(one) || !seen(other))
    }

    fn describe(&self) -> String {
        let Self { range, window_count, scheme, .. } = self;
        format!("{} numbers from {} in windows of {window_count}, {scheme}", range.count(), range.from())
    }

    fn describe_certificates(certificates: &[Certificate]) -> String {
        let windows = || certificates.iter().map(|certificate| certificate.window);
        let from = windows().map(|window| window.from()).min().unwrap_or(0);
        let end = windows().map(|window| window.end()).max().unwrap_or(1);
        let count = windows().map(|window| window.count()).max().unwrap_or(0);
        format!("for starts from {from} to {} in windows of {count}", end - 1)
    }
}
