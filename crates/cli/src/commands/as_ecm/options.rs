//! GMP-ECM's options: those that programs like yafu give, and errors that name all others.

use std::ffi::{OsStr, OsString};

use num_bigint::BigUint;
use warpmp_numtheory::factor::{Attempts, Bounds, Family, RATIO, Sigma};

use super::AsEcmError;
use crate::{
    args::values::{bound, integer, ratio, within},
    commands::factor::any_seed,
    error::Result,
};

/// Curves without an end: nobody waits for so many.
const ENDLESS: u64 = 1 << 40;

/// The method of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Ecm,
    Pm1,
    Pp1,
}

impl Method {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Ecm => "ECM",
            Self::Pm1 => "P-1",
            Self::Pp1 => "P+1",
        }
    }
}

/// A command line of GMP-ECM.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "they are GMP-ECM's flags")]
pub(super) struct Options {
    pub(super) method: Method,
    pub(super) bounds: Bounds,
    /// The family that `-param` names.
    family: Option<Family>,
    sigma: Option<Sigma>,
    x0: Option<[BigUint; 2]>,
    count: Option<u64>,
    pub(super) save: Option<OsString>,
    /// Does the file of save lines grow?
    pub(super) appends: bool,
    pub(super) resume: Option<OsString>,
    pub(super) input: Option<OsString>,
    pub(super) one: bool,
    pub(super) quiet: bool,
    pub(super) verbose: bool,
    /// Is it a run as on a GPU: all curves at once, with a line that counts them?
    pub(super) gpu: bool,
    /// The GPU that is named.
    pub(super) device: Option<usize>,
}

/// The words of a command line.
struct Words<'w>(std::slice::Iter<'w, OsString>);

impl<'w> Words<'w> {
    /// The value of an option.
    fn value(&mut self, option: &str) -> Result<&'w OsStr, AsEcmError> {
        self.0.next().map(OsString::as_os_str).ok_or_else(|| AsEcmError::NoValue { option: option.into() })
    }

    /// The value of an option, read by `parse`.
    fn parsed<T>(&mut self, option: &str, parse: impl Fn(&str) -> Result<T, String>) -> Result<T, AsEcmError> {
        let value = self.value(option)?.to_string_lossy();
        parse(&value).map_err(|reason| AsEcmError::Value { option: option.into(), value: value.into(), reason })
    }
}

impl Options {
    /// Reads the words after the program's name.
    pub(super) fn read(words: &[OsString]) -> Result<Self, AsEcmError> {
        let mut options = Self {
            method: Method::Ecm,
            bounds: Bounds::new(3, 0).map_err(AsEcmError::Bounds)?,
            family: None,
            sigma: None,
            x0: None,
            count: None,
            save: None,
            appends: false,
            resume: None,
            input: None,
            one: false,
            quiet: false,
            verbose: false,
            gpu: false,
            device: None,
        };
        let mut bounds = Vec::new();
        let mut sigma = None;
        let mut words = Words(words.iter());
        while let Some(word) = words.0.next() {
            let word = word.to_string_lossy();
            let option = word.as_ref();
            let count = |low: u64| within(low, 1 << 40);
            match option {
                "-sigma" => sigma = Some(words.parsed(option, |text| Ok(text.to_owned()))?),
                "-param" => options.family = Some(words.parsed(option, family)?),
                "-x0" => options.x0 = Some(words.parsed(option, ratio)?),
                "-c" => options.count = Some(words.parsed(option, count(0))?),
                "-gpucurves" => options.count = Some(words.parsed(option, count(1))?),
                "-gpudevice" => options.device = Some(words.parsed(option, within(0, 1 << 16))?),
                "-pm1" => options.method = Method::Pm1,
                "-pp1" => options.method = Method::Pp1,
                "-save" | "-savea" => {
                    options.appends = option == "-savea";
                    options.save = Some(words.value(option)?.into());
                }
                "-resume" => options.resume = Some(words.value(option)?.into()),
                "-inp" => options.input = Some(words.value(option)?.into()),
                "-one" => options.one = true,
                "-q" => options.quiet = true,
                "-v" => options.verbose = true,
                "-gpu" | "-cgbn" => options.gpu = true,
                _ if option.starts_with('-') => return Err(AsEcmError::Unknown { option: option.into() }),
                _ => bounds.push(bound(option).map_err(|_| AsEcmError::NoBound { text: option.into() })?),
            }
        }
        options.bounds = match bounds[..] {
            [b1] => Bounds::new(b1, b1.saturating_mul(RATIO).min(Bounds::MOST)),
            [b1, b2] => Bounds::new(b1, b2),
            [] => return Err(AsEcmError::NoBounds),
            [_, _, third, ..] => return Err(AsEcmError::ThirdBound { value: third }),
        }
        .map_err(AsEcmError::Bounds)?;
        // Without an end the curves go on until a factor is found.
        options.one |= options.count == Some(0);
        options.sigma = sigma.map(|text: String| options.parse_sigma(&text)).transpose()?;
        if options.method == Method::Ecm && options.x0.is_some() {
            return Err(AsEcmError::StartOfCurve);
        }
        Ok(options)
    }

    /// `P:S`, or `S` with the family of `-param`.
    fn parse_sigma(&self, text: &str) -> Result<Sigma, AsEcmError> {
        let sigma: Sigma = if text.contains(':') {
            text.parse().map_err(AsEcmError::Sigma)?
        } else {
            let reason = |reason| AsEcmError::Value { option: "-sigma".into(), value: text.into(), reason };
            let value = integer(text).map_err(reason)?;
            Sigma::new(self.family.unwrap_or(Family::Suyama), value).map_err(AsEcmError::Sigma)?
        };
        match self.family {
            Some(family) if family != sigma.family() => Err(AsEcmError::TwoFamilies { sigma, family: family.number() }),
            _ => Ok(sigma),
        }
    }

    /// The attempts on each integer; `full`: the curves that fill the engine.
    pub(super) fn attempts(&self, full: u64) -> Result<Attempts, AsEcmError> {
        let count = match self.count {
            Some(0) => ENDLESS,
            Some(count) => count,
            None if self.gpu => full,
            None => 1,
        };
        match self.method {
            Method::Ecm => {
                let first = match &self.sigma {
                    Some(sigma) => sigma.clone(),
                    None => self.any_sigma(count)?,
                };
                let left = match first.family() {
                    Family::Suyama => u64::MAX,
                    Family::SquareWord | Family::Word => {
                        u64::try_from(first.value()).map_or(0, |value| (1_u64 << 32).saturating_sub(value))
                    }
                };
                // Curves without an end are as many as the family has.
                let count = if self.count == Some(0) { count.min(left) } else { count };
                Attempts::curves_from(first, count).map_err(AsEcmError::Sigma)
            }
            Method::Pm1 => Ok(self.x0.clone().map_or_else(Attempts::pm1, |base| Attempts::Pm1 { base })),
            Method::Pp1 => {
                let Attempts::Pp1 { mut starts } = Attempts::pp1() else { return Err(AsEcmError::NoBounds) };
                match &self.x0 {
                    Some(start) => starts = vec![start.clone()],
                    None => starts.truncate(count as usize),
                }
                Ok(Attempts::Pp1 { starts })
            }
        }
    }

    /// A random parameter that leaves room for all curves.
    fn any_sigma(&self, count: u64) -> Result<Sigma, AsEcmError> {
        let default = if self.gpu { Family::Word } else { Family::Suyama };
        let random = any_seed();
        let value = match self.family.unwrap_or(default) {
            Family::Suyama => return Ok(Sigma::suyama(random >> 1)),
            Family::SquareWord | Family::Word => {
                // Half of the family is enough for curves without an end.
                let room = if self.count == Some(0) { count.min(1 << 31) } else { count };
                1 + (random >> 32) % (1_u64 << 32).saturating_sub(room).max(1)
            }
        };
        Sigma::new(self.family.unwrap_or(default), value.into()).map_err(AsEcmError::Sigma)
    }
}

fn family(text: &str) -> Result<Family, String> {
    let number = text.parse().ok().and_then(Family::of_number);
    number.ok_or_else(|| "there are the parametrizations 0, 1 and 3 here".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Options, AsEcmError> {
        Options::read(&line.split_whitespace().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn options_of_yafu() {
        let options = read("-sigma 3:17 -save residues -gpu -cgbn -gpudevice 1 -gpucurves 96 1e6 1").unwrap();
        assert!(options.gpu && options.device == Some(1) && !options.appends);
        assert_eq!((options.bounds.b1(), options.bounds.b2()), (1_000_000, 1_000_000));
        let Attempts::CurvesFrom { first, count } = options.attempts(5).unwrap() else { panic!("no curves") };
        assert_eq!((first.to_string(), count), ("3:17".into(), 96));
        let options = read("-resume residues -one -q 1e6 4.7e9").unwrap();
        assert!(options.one && options.quiet && options.bounds.b2() == 4_700_000_000);
        assert_eq!(read("1000").unwrap().bounds.b2(), 100_000);
        assert_eq!(read("-gpu 1000").unwrap().attempts(5).unwrap().count(), 5);
        assert_eq!(read("1000").unwrap().attempts(5).unwrap().count(), 1);
        for line in
            ["-c 0 1000", "-param 3 -c 0 1000", "-gpu -c 0 1000", "-sigma 3:17 -c 0 1000", "-sigma 1:5 -c 0 1000"]
        {
            let options = read(line).unwrap();
            assert!(options.one && options.attempts(5).unwrap().count() >= 1 << 30, "{line}");
        }
        // Every random first curve leaves room for more than half of the family.
        for _ in 0..20 {
            assert_eq!(read("-param 3 -c 4000000000 1000").unwrap().attempts(5).unwrap().count(), 4_000_000_000);
        }
        assert!(read("-param 3 -c 4294967297 1000").unwrap().attempts(5).is_err());
        assert!(read("-sigma 3:4294967290 -c 10 1000").unwrap().attempts(5).is_err());
        assert_eq!(read("-pp1 -c 2 1000").unwrap().attempts(5).unwrap().count(), 2);
        assert_eq!(read("-param 3 -sigma 9 1000").unwrap().sigma.unwrap().to_string(), "3:9");
        assert_eq!(read("-sigma 9 1000").unwrap().sigma.unwrap().to_string(), "0:9");
    }

    #[test]
    fn errors_name_the_option() {
        for (line, words) in [
            ("-maxmem 100 1e6", "-maxmem is not known here"),
            ("-sigma", "-sigma needs a value"),
            ("-c x 1e6", "-c x: a number from 0"),
            ("-param 2 1e6", "-param 2: there are the parametrizations 0, 1 and 3"),
            ("-sigma 2:5 1e6", "there is no family 2"),
            ("-sigma 3:x 1e6", "'3:x' is not FAMILY:SIGMA"),
            ("-param 1 -sigma 3:5 1e6", "-sigma 3:5 is not of -param 1"),
            ("-x0 5 1e6", "-x0 is for -pm1 and -pp1"),
            ("", "no bound B1"),
            ("1e6 1e8 2", "a third bound, 2"),
            ("1e6x", "'1e6x' is neither an option nor a bound"),
            ("2", "B1 is 3 or more"),
        ] {
            let error = read(line).unwrap_err().to_string();
            assert!(error.contains(words), "{line}: {error}");
        }
    }
}
