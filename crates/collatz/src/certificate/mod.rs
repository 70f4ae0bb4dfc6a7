//! The result of a window, in a form that other programs can check.
//!
//! A certificate is one JSON file. It names the window, the scheme with its parameters, the fingerprints of rules and tables, the
//! program, the figures, the device and the time. It lists the samples that [`crate::reference`] recomputed before the certificate was
//! written. [`warpmp_campaign`] seals the file with its SHA-256 and writes it whole or not at all.

mod fingerprint;

use std::{
    path::Path,
    time::{Duration, Instant, SystemTime},
};

use serde::{Deserialize, Serialize};

pub(crate) use fingerprint::base;
pub use fingerprint::fingerprint;
pub use warpmp_campaign::Damage;

use crate::{
    campaign::{FolderError, Specification},
    engine::{Control, Engine, Outcome},
    error::{Error, Result},
    heights::Heights,
    scheme::Scheme,
    window::Window,
};

/// The form of the file.
pub const FORMAT: u32 = 2;
/// The program that writes and trusts certificates, by the first version whose files it reads. It stays when the package's version changes:
/// [`FORMAT`] and the fingerprint of the rules tell files that mean something else.
pub const PROGRAM: &str = "warpmp-collatz 0.1.0";

/// The figures that a recomputation must find again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figures {
    /// Starts that were tested.
    pub tested: u64,
    /// Starts below the floor, followed step by step.
    pub plain: u64,
    /// The scheme's checksum, 16 hexadecimal digits.
    pub checksum: String,
}

impl From<&Outcome> for Figures {
    fn from(outcome: &Outcome) -> Self {
        Self { tested: outcome.tested, plain: outcome.plain, checksum: format!("{:016x}", outcome.checksum) }
    }
}

/// A part of the window, found by the engine and by the independent path alike.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sample {
    /// The part.
    pub window: Window,
    /// The figures that both found.
    pub figures: Figures,
}

/// The highest value of `T` of the tested starts of a window, before they are below themselves or, in the default scheme, on a smaller
/// number's trajectory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Highest {
    /// The engine did not see it: it jumps over most values.
    NotSeen,
    /// Seen.
    Value {
        /// The least start that has it.
        start: String,
        /// The value, in decimal.
        value: String,
    },
}

impl From<&Heights> for Highest {
    fn from(heights: &Heights) -> Self {
        match heights.highest() {
            Some(peak) => Self::Value { start: peak.start.to_string(), value: peak.value.to_string() },
            None => Self::NotSeen,
        }
    }
}

impl Highest {
    /// Did the independent path find the same, or did the engine not see it?
    fn agrees(&self, expected: &Heights) -> bool {
        matches!(self, Self::NotSeen) || *self == Self::from(expected)
    }
}

/// A window's certificate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// [`FORMAT`].
    pub format: u32,
    /// [`PROGRAM`] of the writer.
    pub program: String,
    /// The window.
    pub window: Window,
    /// The scheme.
    pub scheme: Scheme,
    /// [`fingerprint`] of the rules.
    pub rules: String,
    /// Names and fingerprints of the jump tables, of [`crate::scheme::Method::tables`].
    pub tables: Vec<(String, String)>,
    /// The figures.
    pub figures: Figures,
    /// Tested starts whose values leave 128 bits.
    pub overflowed: u64,
    /// Tested starts that were followed step by step in unbounded arithmetic: all that overflowed, and others that climb high.
    pub finished: u64,
    /// The highest value.
    pub highest: Highest,
    /// Recomputed before this was written.
    pub samples: Vec<Sample>,
    /// The engine.
    pub device: String,
    /// The machine, by [`warpmp_campaign::host`]; certificates of version 0.1 do not have it. Nothing hangs on it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub host: String,
    /// Time that the window took, samples not counted. An integer: a fraction would not be read back as it was written.
    pub microseconds: u64,
    /// When it was done: seconds since 1970, UTC, by the machine's clock. Nothing hangs on it.
    pub at: u64,
}

/// Numbers of a sample.
const SAMPLE_COUNT: u128 = 1 << 20;
/// Samples of a window.
const SAMPLES: usize = 2;
/// The most starts of a window: the figures count them in 64 bits.
pub(crate) const MOST_STARTS: u128 = 1 << 64;
/// The most digits of a highest value. No start below `2^127` is known to climb above some 100 digits.
const MOST_DIGITS: usize = 4096;

impl Certificate {
    /// Does the window's work and has a random sample recomputed.
    ///
    /// # Errors
    /// The engine's; [`Error::Disagreement`] if the independent path finds something else. Nothing is certified then.
    pub fn make(scheme: &Scheme, window: &Window, engine: &mut dyn Engine, control: &Control) -> Result<Self> {
        // Not by the clock on the wall, which may be set while a window is worked on.
        let begin = Instant::now();
        control.begin();
        let outcome = scheme.run(engine, window, control)?;
        let microseconds = begin.elapsed().as_micros() as u64;
        if outcome.finished < outcome.overflowed {
            return Err(Error::Unfinished { window: *window, open: outcome.overflowed - outcome.finished });
        }
        let mut samples = Vec::new();
        // Sampling is part of the window, but not of its progress.
        let quiet = Control::default();
        for part in sample_windows(window) {
            control.check()?;
            let found = scheme.run(engine, &part, &quiet)?;
            let found = compare(&part, &Figures::from(&found), &Highest::from(&found.heights), scheme, &quiet)?;
            samples.push(Sample { window: part, figures: found });
        }
        Ok(Self {
            format: FORMAT,
            program: PROGRAM.into(),
            window: *window,
            scheme: *scheme,
            rules: fingerprint(),
            tables: scheme.tables()?,
            figures: Figures::from(&outcome),
            overflowed: outcome.overflowed,
            finished: outcome.finished,
            highest: Highest::from(&outcome.heights),
            samples,
            device: engine.name(),
            host: warpmp_campaign::host(),
            microseconds,
            at: since_1970().as_secs(),
        })
    }

    /// Time that the window took, samples not counted.
    pub fn seconds(&self) -> f64 {
        self.microseconds as f64 / 1e6
    }

    /// Did this program write it, with these rules and tables?
    ///
    /// # Errors
    /// [`Damage::Foreign`] with the value that differs.
    pub fn is_ours(&self) -> Result<(), Damage> {
        if self.format != FORMAT {
            return Err(Damage::foreign("format", self.format.to_string()));
        }
        check_origin(&self.program, &self.rules, &self.scheme)?;
        self.check_samples()?;
        self.check_figures()?;
        match self.scheme.tables() {
            Ok(tables) if tables == self.tables => Ok(()),
            _ => Err(Damage::foreign("tables", format!("{:?}", self.tables))),
        }
    }

    /// Has it the samples that a certificate of its window has? Anybody can seal a file, so this bounds the work of a check.
    ///
    /// # Errors
    /// [`Damage::Foreign`] with the value that differs.
    fn check_samples(&self) -> Result<(), Damage> {
        let window = &self.window;
        if window.count() > MOST_STARTS {
            return Err(Damage::foreign("window", window.to_string()));
        }
        let (count, number) = sampling(window);
        if self.samples.len() != number {
            let found = format!("{}, where a window of {} starts has {number}", self.samples.len(), window.count());
            return Err(Damage::foreign("number of samples:", found));
        }
        let is_part =
            |part: &Window| part.count() == count && part.from() >= window.from() && part.end() <= window.end();
        if let Some(sample) = self.samples.iter().find(|sample| !is_part(&sample.window)) {
            let found = format!("{}, where {count} starts of {window} are a sample", sample.window);
            return Err(Damage::foreign("sample", found));
        }
        Ok(())
    }

    /// Are the figures numbers that a window of this kind can have?
    ///
    /// # Errors
    /// [`Damage::Foreign`] with the value that differs.
    fn check_figures(&self) -> Result<(), Damage> {
        let window = &self.window;
        let is_checksum =
            |text: &str| text.len() == 16 && text.bytes().all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'));
        let figures = [&self.figures].into_iter().chain(self.samples.iter().map(|sample| &sample.figures));
        if let Some(figures) = figures.into_iter().find(|figures| !is_checksum(&figures.checksum)) {
            return Err(Damage::foreign("checksum", &figures.checksum));
        }
        if let Highest::Value { start, value } = &self.highest {
            let is_start = start.parse().is_ok_and(|start: u128| (window.from()..window.end()).contains(&start));
            let is_value =
                value.len() <= MOST_DIGITS && !value.is_empty() && value.bytes().all(|it| it.is_ascii_digit());
            if !is_start || !is_value {
                return Err(Damage::foreign("highest value", format!("{value:.80} from {start:.80}")));
            }
        }
        if self.finished < self.overflowed {
            return Err(Damage::foreign("starts finished:", format!("{} of {}", self.finished, self.overflowed)));
        }
        Ok(())
    }

    /// Recomputes the figures by the independent path: all of the window, or the samples only. A certificate whose samples are not samples of
    /// its window is not recomputed: [`load`] refuses it, and so does this.
    ///
    /// # Errors
    /// [`warpmp_campaign::Error::NotTrusted`] for such a certificate, with its window in place of a file; [`Error::Disagreement`] or
    /// [`Error::OtherHighest`], naming the part that is wrong; [`Error::Stopped`].
    pub fn recheck(&self, whole: bool, control: &Control) -> Result<()> {
        let not_trusted = |damage| FolderError::NotTrusted { path: self.window.to_string().into(), damage };
        self.check_samples().map_err(not_trusted)?;
        let parts = self.samples.iter().map(|sample| (&sample.window, &sample.figures, &Highest::NotSeen));
        let all = whole.then_some((&self.window, &self.figures, &self.highest));
        for (window, figures, highest) in parts.chain(all) {
            control.begin();
            compare(window, figures, highest, &self.scheme, control)?;
        }
        Ok(())
    }
}

/// Writes a certificate, whole. A file of that name is replaced.
///
/// # Errors
/// [`warpmp_campaign::Error::File`]; nothing has changed then.
pub fn store(path: &Path, certificate: &Certificate) -> Result<()> {
    Ok(warpmp_campaign::store::<Specification>(path, certificate)?)
}

/// Reads a certificate that this program may trust: undamaged, of this version and with these rules.
///
/// # Errors
/// [`warpmp_campaign::Error::File`] if it cannot be read; inside, [`Damage`] if it is not trusted.
pub fn load(path: &Path) -> Result<Result<Certificate, Damage>> {
    Ok(warpmp_campaign::load::<Specification>(path)?)
}

/// Do a file's program, rules and scheme belong to this program?
pub(crate) fn check_origin(program: &str, rules: &str, scheme: &Scheme) -> Result<(), Damage> {
    if program != PROGRAM {
        return Err(Damage::foreign("program", program));
    }
    if rules != fingerprint() {
        return Err(Damage::foreign("rules", rules));
    }
    scheme.check().map_err(|_| Damage::foreign("scheme", format!("{scheme:?}")))
}

/// Recomputes the figures by the independent path, and returns them if they are the same.
fn compare(
    window: &Window,
    figures: &Figures,
    highest: &Highest,
    scheme: &Scheme,
    control: &Control,
) -> Result<Figures> {
    let outcome = scheme.recompute(window, control)?;
    let expected = Figures::from(&outcome);
    if *figures != expected {
        return Err(Error::disagreement(window, figures, &expected));
    }
    if !highest.agrees(&outcome.heights) {
        let text = |highest: &Highest| match highest {
            Highest::NotSeen => "none".to_owned(),
            Highest::Value { start, value } => format!("{value} from {start}"),
        };
        let (found, expected) = (text(highest), text(&Highest::from(&outcome.heights)));
        return Err(Error::OtherHighest { window: *window, found, expected });
    }
    Ok(expected)
}

/// By the clock on the wall; none, should that be before 1970.
fn since_1970() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO)
}

/// The starts of a sample of this window, and the number of samples. A short window is its own sample.
fn sampling(window: &Window) -> (u128, usize) {
    if window.count() <= SAMPLE_COUNT { (window.count(), 1) } else { (SAMPLE_COUNT, SAMPLES) }
}

/// Parts of a window at random places.
fn sample_windows(window: &Window) -> Vec<Window> {
    use rand::{Rng as _, SeedableRng as _};
    let now = since_1970().as_nanos();
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(now as u64 ^ u64::from(std::process::id()) << 40);
    let (count, number) = sampling(window);
    let places = window.count() - count + 1;
    (0..number)
        .filter_map(|_| {
            let random = u128::from(random.next_u64()) << 64 | u128::from(random.next_u64());
            Window::new(window.from() + random % places, count).ok()
        })
        .collect()
}
