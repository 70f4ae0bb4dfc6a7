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
    /// The range that the campaign began with.
    pub range: Window,
    /// Starts of a window of this range. The first and the last window may have fewer.
    pub window_count: String,
    /// The scheme of this range.
    pub scheme: Scheme,
    /// Ranges that were added later, each at an end of the range before. Their windows and plans are their own: certificates of the
    /// first range stay as they are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<Extension>,
    /// The program.
    pub program: String,
    /// The rules' fingerprint.
    pub rules: String,
}

/// A range by which a campaign was extended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Extension {
    /// The range.
    pub range: Window,
    /// Starts of a window. The first and the last window may have fewer.
    pub window_count: String,
    /// The scheme.
    pub scheme: Scheme,
}

/// A range of a campaign, cut into windows at multiples of their size: engines need this alignment. So the first window, too, may have
/// fewer starts.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// The range.
    pub range: &'a Window,
    /// The scheme.
    pub scheme: &'a Scheme,
    window_count: &'a str,
}

impl Part<'_> {
    /// Starts of a window; 1 if the text is no number, which no trusted file has.
    pub fn window_size(&self) -> u128 {
        self.window_count.parse().unwrap_or(1).max(1)
    }

    /// How many windows there are.
    pub fn windows(&self) -> u128 {
        let size = self.window_size();
        (self.range.end() - 1) / size - self.range.from() / size + 1
    }

    /// The window with this number.
    fn window(&self, number: u128) -> Option<Window> {
        let size = self.window_size();
        let from = (self.range.from() / size).checked_add(number)?.checked_mul(size)?;
        Window::of(from.max(self.range.from())..from.checked_add(size)?.min(self.range.end()))
    }

    /// The number of this window; none if it is not one of the part's.
    fn number(&self, window: &Window) -> Option<u128> {
        let size = self.window_size();
        let number = (window.from() / size).checked_sub(self.range.from() / size)?;
        (self.window(number) == Some(*window)).then_some(number)
    }
}

/// The text of a window's size, which is at most the range.
fn window_text(range: &Window, window_count: u128) -> Result<String> {
    if window_count == 0 {
        return Err(Error::ZeroCount);
    }
    let count = window_count.min(range.count());
    if count > MOST_STARTS {
        let allowed = Allowed::AtMost(MOST_STARTS);
        return Err(Error::Parameter { name: "a window's starts", value: window_count, allowed });
    }
    Ok(count.to_string())
}

impl Specification {
    /// A campaign of this program.
    ///
    /// # Errors
    /// [`Error::ZeroCount`] for windows without starts; [`Error::Parameter`] for windows of more than `2^64`.
    pub fn new(range: Window, window_count: u128, scheme: Scheme) -> Result<Self> {
        let window_count = window_text(&range, window_count)?;
        let extensions = Vec::new();
        Ok(Self { range, window_count, scheme, extensions, program: PROGRAM.into(), rules: fingerprint() })
    }

    /// This campaign with the rest of `range`, which contains [`Specification::whole`]. `plan` gives the windows' size and the scheme
    /// of an added range.
    ///
    /// # Errors
    /// As [`Specification::new`]; those of `plan`.
    pub fn extended(&self, range: Window, plan: impl Fn(Window) -> Result<(u128, Scheme)>) -> Result<Self> {
        let whole = self.whole();
        let mut longer = self.clone();
        let rest = [Window::of(range.from()..whole.from()), Window::of(whole.end()..range.end())];
        for range in rest.into_iter().flatten() {
            let (window_count, scheme) = plan(range)?;
            scheme.admits(&range)?;
            longer.extensions.push(Extension { range, window_count: window_text(&range, window_count)?, scheme });
        }
        Ok(longer)
    }

    /// The ranges of the campaign, the oldest first.
    pub fn parts(&self) -> impl Iterator<Item = Part<'_>> {
        let first = Part { range: &self.range, scheme: &self.scheme, window_count: &self.window_count };
        let added = self.extensions.iter().map(|it| Part {
            range: &it.range,
            scheme: &it.scheme,
            window_count: &it.window_count,
        });
        std::iter::once(first).chain(added)
    }

    /// The whole range.
    pub fn whole(&self) -> Window {
        let join = |whole: Window, part: Part<'_>| {
            Window::of(whole.from().min(part.range.from())..whole.end().max(part.range.end())).unwrap_or(whole)
        };
        self.parts().fold(self.range, join)
    }

    /// The scheme of a window; none if the window is not one of the campaign's.
    pub fn scheme_of(&self, window: &Window) -> Option<Scheme> {
        self.parts().find(|part| part.number(window).is_some()).map(|part| *part.scheme)
    }

    /// The number of this window; none if it is not one of the campaign's.
    pub fn number(&self, window: &Window) -> Option<u128> {
        let mut before = 0;
        for part in self.parts() {
            if let Some(number) = part.number(window) {
                return Some(before + number);
            }
            before += part.windows();
        }
        None
    }

    /// How many windows there are.
    pub fn windows(&self) -> u128 {
        self.parts().map(|part| part.windows()).sum()
    }

    /// The window with this number: the windows of the oldest range come first.
    pub fn window(&self, number: u128) -> Option<Window> {
        let mut number = number;
        for part in self.parts() {
            if number < part.windows() {
                return part.window(number);
            }
            number -= part.windows();
        }
        None
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
        let whole = self.whole();
        let mut next = whole.from();
        for certificate in done {
            gaps.extend(Window::of(next..certificate.window.from()));
            next = next.max(certificate.window.end());
        }
        gaps.extend(Window::of(next..whole.end()));
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

    fn number(&self, window: &Window) -> Option<u128> {
        self.number(window)
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
        for part in self.parts() {
            check_origin(&self.program, &self.rules, part.scheme)?;
            let Ok(1..=MOST_STARTS) = part.window_count.parse() else {
                return Err(Damage::foreign("window size", part.window_count));
            };
        }
        let mut whole = self.range;
        for Extension { range, .. } in &self.extensions {
            let joined = whole.from().min(range.from())..whole.end().max(range.end());
            match Window::of(joined) {
                Some(joined) if joined.count() == whole.count() + range.count() => whole = joined,
                _ => return Err(Damage::foreign("extension", range.to_string())),
            }
        }
        Ok(())
    }

    fn check_certificate(certificate: &Certificate) -> Result<(), Damage> {
        certificate.is_ours()
    }

    fn fits(&self, certificate: &Certificate) -> Result<(), Damage> {
        let inside = |part: &Part<'_>| {
            part.range.from() <= certificate.window.from() && certificate.window.from() < part.range.end()
        };
        // A certificate outside of all ranges has no unit here; its scheme is compared with the first range's.
        let part = self.parts().find(inside).or_else(|| self.parts().next());
        match part {
            Some(part) if certificate.scheme == *part.scheme => Ok(()),
            _ => Err(Damage::Misplaced { what: format!("scheme {:?}", certificate.scheme) }),
        }
    }

    const IF_EXTENDED: &'static str = ". If it was extended, move the certificates of later ranges to another directory, give its first range, move them back, and \
        extend it again";

    fn extends(&self, found: &Self) -> bool {
        let mut before = self.clone();
        before.extensions.truncate(found.extensions.len());
        before == *found && self.extensions.len() > found.extensions.len()
    }

    fn agree(one: &Certificate, other: &Certificate) -> bool {
        let seen = |it: &Certificate| it.highest != Highest::NotSeen;
        one.figures == other.figures && (one.highest == other.highest || !seen(one) || !seen(other))
    }

    fn describe(&self) -> String {
        let Self { window_count, scheme, extensions, .. } = self;
        let whole = self.whole();
        let added = if extensions.is_empty() { "" } else { "; a later part has its own windows and plan" };
        format!("{} numbers from {} in windows of {window_count}, {scheme}{added}", whole.count(), whole.from())
    }

    fn describe_certificates(certificates: &[Certificate]) -> String {
        let windows = || certificates.iter().map(|certificate| certificate.window);
        let from = windows().map(|window| window.from()).min().unwrap_or(0);
        let end = windows().map(|window| window.end()).max().unwrap_or(1);
        let count = windows().map(|window| window.count()).max().unwrap_or(0);
        format!("for starts from {from} to {} in windows of {count}", end - 1)
    }
}
