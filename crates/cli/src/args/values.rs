//! Values of options: what may be given, and what is said of anything else.

use std::ffi::{OsStr, OsString};

use clap::builder::{OsStringValueParser, TypedValueParser};
use num_bigint::BigUint;
use warpmp::{Operation, Selector, operation::MUL_MAX_BITS};
use warpmp_collatz::expression::{self, ExpressionError};
use warpmp_numtheory::factor::{Sigma, SigmaError};

/// More than any memory holds, and few enough to be multiplied by a width in bytes.
const MAX_COUNT: usize = 1 << 40;

/// An engine by its name on the command line.
pub(crate) fn selector(text: &str) -> Result<Selector, String> {
    match text {
        "auto" => Ok(Selector::Auto),
        "cpu" => Ok(Selector::Cpu),
        "sim" => Ok(Selector::Sim),
        "cuda" => Ok(Selector::AllCuda),
        _ => match text.strip_prefix("cuda:").map(str::parse) {
            Some(Ok(ordinal)) => Ok(Selector::Cuda(Some(ordinal))),
            _ => Err("there are auto, cpu, cuda, cuda:0, cuda:1, … and sim".into()),
        },
    }
}

/// The bits of an operand.
pub(crate) fn bits(text: &str) -> Result<usize, String> {
    within(1, MUL_MAX_BITS)(text)
}

/// How many of something that memory holds.
pub(crate) fn positive(text: &str) -> Result<usize, String> {
    within(1, MAX_COUNT)(text)
}

/// An operation by its name, words joined by `-` or `_`.
pub(crate) fn operation(text: &str) -> Result<Operation, String> {
    let names = || Operation::ALL.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    Operation::named(text).ok_or_else(|| format!("there are {}", names()))
}

/// A number from `low` to `high`, or an expression of one: `2^20`.
pub(crate) fn within<T>(low: T, high: T) -> impl Fn(&str) -> Result<T, String> + Copy
where
    T: std::str::FromStr + std::fmt::Display + PartialOrd + Copy,
{
    let value = |text: &str| text.parse().ok().or_else(|| expression::parse(text).ok()?.to_string().parse().ok());
    move |text| match value(text) {
        Some(number) if low <= number && number <= high => Ok(number),
        _ => Err(format!("a number from {low} to {high} is needed")),
    }
}

/// A number of any size, or an expression of one: `2^64`.
pub(crate) fn integer(text: &str) -> Result<BigUint, String> {
    let value = expression::integer(text, MUL_MAX_BITS).map_err(|error| error.to_string())?;
    Ok(BigUint::from_bytes_le(&value.to_le_bytes()))
}

/// A bound of a factoring method.
pub(crate) fn bound(text: &str) -> Result<u64, String> {
    any(text).map_err(|_| match expression::parse(text) {
        Ok(_) | Err(ExpressionError::TooLarge { .. } | ExpressionError::PastLimit { .. }) => {
            format!("the greatest bound is {}", u64::MAX)
        }
        Err(_) => format!("'{text}' is no bound; write 1000000, 1e6 or 10^6"),
    })
}

/// A number, or a ratio of two: `2/7`.
pub(crate) fn ratio(text: &str) -> Result<[BigUint; 2], String> {
    let (top, bottom) = text.split_once('/').unwrap_or((text, "1"));
    let ratio = [integer(top)?, integer(bottom)?];
    if ratio[1] == BigUint::ZERO { Err(format!("'{text}' divides by zero")) } else { Ok(ratio) }
}

/// The decimal digits of a factor.
pub(crate) fn digits(text: &str) -> Result<u32, String> {
    within(1, 65)(text)
}

/// The parameter of a curve.
pub(crate) fn sigma(text: &str) -> Result<Sigma, String> {
    text.parse().map_err(|error: SigmaError| error.to_string())
}

/// Any number that a program's word holds.
pub(crate) fn any(text: &str) -> Result<u64, String> {
    within(0, u64::MAX)(text)
}

/// A small number, whose range depends on other options.
pub(crate) fn small(text: &str) -> Result<u32, String> {
    within(0, u32::MAX)(text)
}

/// Takes names of files for charts.
pub(crate) fn plot_parser() -> impl TypedValueParser<Value = OsString> {
    OsStringValueParser::new().try_map(|name| plot(&name))
}

/// The name of a chart's file: charts are SVG.
fn plot(name: &OsStr) -> Result<OsString, String> {
    let lower = name.to_string_lossy().to_lowercase();
    let other = ["png", "jpg", "jpeg", "gif", "webp", "pdf", "eps", "ps"]
        .into_iter()
        .find(|end| lower.ends_with(&format!(".{end}")));
    match other {
        Some(end) => Err(format!("charts are written as SVG, not as {}: name the file .svg", end.to_uppercase())),
        None => Ok(name.to_owned()),
    }
}

/// The modulus of the Collatz sieve.
pub(crate) fn sieve_modulus(text: &str) -> Result<u32, String> {
    match text {
        "1" => Ok(1),
        "3" => Ok(3),
        "9" => Ok(9),
        _ => Err("1, 3 or 9 is needed".into()),
    }
}

/// A share of a whole.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    within(0.0, 1.0)(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_by_name() {
        assert_eq!(selector("cuda:3"), Ok(Selector::Cuda(Some(3))));
        assert_eq!(selector("cuda"), Ok(Selector::AllCuda));
        for wrong in ["gpu", "cuda:", "cuda:x", "cuda:-1", "CPU"] {
            assert!(selector(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn numbers_within_bounds() {
        let digit = within(1_u32, 9);
        assert_eq!((digit("1"), digit("9")), (Ok(1), Ok(9)));
        for wrong in ["0", "10", "-1", "", "x", "1.0", "99999999999999999999"] {
            assert_eq!(digit(wrong), Err("a number from 1 to 9 is needed".into()), "{wrong}");
        }
        assert_eq!((any("2^20"), any("1_000*3"), any("2^64-1")), (Ok(1 << 20), Ok(3000), Ok(u64::MAX)));
        assert!(any("2^64").is_err() && digit("2^4").is_err() && digit("2-5").is_err());
        assert_eq!(
            (bound("1e6"), bound("1.5e6"), bound("2^20"), bound("0")),
            (Ok(1_000_000), Ok(1_500_000), Ok(1 << 20), Ok(0))
        );
        let error = |text: &str| bound(text).unwrap_err();
        assert!(["", "e6", "1.25e1", "1e", "-1e3", "x"].iter().all(|wrong| error(wrong).contains("no bound")));
        assert!(
            ["1e30", "2^64", "2^4000000"]
                .iter()
                .all(|great| error(great).contains("greatest bound is 18446744073709551615"))
        );
        assert!(share("0.5").is_ok() && share("nan").is_err() && share("1.1").is_err());
        assert!(any("18446744073709551615").is_ok() && any("18446744073709551616").is_err());
    }
}
