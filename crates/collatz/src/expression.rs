//! Numbers as people write them: `2^64-2^40`, `3*2^20+1`, `(2^101-1)/7432339208719`, `1_000_000`, `30!+1`, `97#-1`.
//!
//! ```text
//! sum     = [ "-" ] product { ("+" | "-") product }
//! product = power { ("*" | "/") power }
//! power   = many [ "^" power ]
//! many    = atom { "!" | "#" }
//! atom    = digits [ "." digits ] [ "e" digits ] | "0x" hex digits | "(" sum ")"
//! ```
//!
//! A quotient must be exact, and `4.7e9` an integer. `n!` is the product of all numbers up to `n`, `n#` the product of all primes up to `n`.
//! Intermediate results may be negative or large; only the result must be in range.

use dashu_int::{IBig, UBig};

/// No intermediate result of a number in range has more bits. This is far beyond every range, and `9^9^9` exhausts no memory.
const MOST_BITS: usize = 4096;
/// The most brackets within brackets and exponents of exponents.
const MAX_DEPTH: usize = 64;

/// Why a text is no number. Columns count characters from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExpressionError {
    /// A character that does not fit there.
    #[error("column {column}: {found} where {expected} is expected")]
    Unexpected {
        /// Where.
        column: usize,
        /// The text there.
        found: String,
        /// What the grammar expects there.
        expected: &'static str,
    },
    /// An intermediate result without bounds.
    #[error("column {column}: a number of more than {limit} bits")]
    TooLarge {
        /// Where the number ends.
        column: usize,
        /// The most bits.
        limit: usize,
    },
    /// An exponent below zero.
    #[error("column {column}: a negative exponent")]
    NegativeExponent {
        /// Where the exponent begins.
        column: usize,
    },
    /// A division that leaves a remainder, or by zero.
    #[error("column {column}: the division is not exact")]
    NotExact {
        /// Where the divisor begins.
        column: usize,
    },
    /// Too many brackets.
    #[error("column {column}: more than {MAX_DEPTH} levels")]
    TooDeep {
        /// Where.
        column: usize,
    },
    /// The result is below zero.
    #[error("{value} is negative")]
    Negative {
        /// The result.
        value: String,
    },
    /// The result is past the limit.
    #[error("the number has {bits} bits; at most 2^127 is supported")]
    PastLimit {
        /// Bits of the result.
        bits: usize,
    },
}

/// The value of `text`, from 0 to `2^127`.
///
/// # Errors
/// [`ExpressionError`], naming the column or the range.
pub fn parse(text: &str) -> Result<u128, ExpressionError> {
    let value = integer(text, MOST_BITS)?;
    match u128::try_from(&value) {
        Ok(number) if number <= 1 << 127 => Ok(number),
        _ => Err(ExpressionError::PastLimit { bits: bits(&value.into()) }),
    }
}

/// The value of `text`, at least 0. No intermediate result has more than `most_bits` bits.
///
/// # Errors
/// [`ExpressionError`], naming the column.
pub fn integer(text: &str, most_bits: usize) -> Result<UBig, ExpressionError> {
    let value = signed(text, most_bits)?;
    UBig::try_from(value.clone()).map_err(|_| ExpressionError::Negative { value: value.to_string() })
}

/// The value of `text`. No intermediate result has more than `most_bits` bits.
///
/// # Errors
/// [`ExpressionError`], naming the column.
pub fn signed(text: &str, most_bits: usize) -> Result<IBig, ExpressionError> {
    let mut parser = Parser { characters: text.chars().collect(), at: 0, depth: 0, most_bits };
    let value = parser.sum()?;
    if parser.peek().is_some() {
        return Err(parser.unexpected("an operator or the end"));
    }
    Ok(value)
}

fn bits(value: &IBig) -> usize {
    use dashu_int::ops::{BitTest as _, UnsignedAbs as _};
    value.clone().unsigned_abs().bit_len()
}

struct Parser {
    characters: Vec<char>,
    at: usize,
    depth: usize,
    most_bits: usize,
}

impl Parser {
    fn sum(&mut self) -> Result<IBig, ExpressionError> {
        let mut value = if self.accept('-') { -self.product()? } else { self.product()? };
        loop {
            if self.accept('+') {
                value += self.product()?;
            } else if self.accept('-') {
                value -= self.product()?;
            } else {
                return Ok(value);
            }
        }
    }

    fn product(&mut self) -> Result<IBig, ExpressionError> {
        let mut value = self.power()?;
        loop {
            if self.accept('*') {
                value *= self.power()?;
                self.bounded(&value)?;
            } else if self.accept('/') {
                self.peek();
                let column = self.at + 1;
                let divisor = self.power()?;
                if divisor == IBig::ZERO || &value % &divisor != IBig::ZERO {
                    return Err(ExpressionError::NotExact { column });
                }
                value /= divisor;
            } else {
                return Ok(value);
            }
        }
    }

    fn power(&mut self) -> Result<IBig, ExpressionError> {
        let base = self.many()?;
        if !self.accept('^') {
            return Ok(base);
        }
        self.peek();
        let column = self.at + 1;
        let exponent = self.nested(Self::power)?;
        if exponent < IBig::ZERO {
            return Err(ExpressionError::NegativeExponent { column });
        }
        let (most, too_large) = (self.most_bits, self.too_large());
        let small = bits(&base) <= 1;
        let exponent = match usize::try_from(&exponent) {
            Ok(exponent) if exponent <= most && (small || (bits(&base) - 1) * exponent <= most) => exponent,
            _ => return Err(too_large),
        };
        let value = base.pow(exponent);
        self.bounded(&value)?;
        Ok(value)
    }

    /// Factorials and primorials.
    fn many(&mut self) -> Result<IBig, ExpressionError> {
        let mut value = self.atom()?;
        loop {
            let all = self.accept('!');
            if !all && !self.accept('#') {
                return Ok(value);
            }
            if value < IBig::ZERO {
                return Err(ExpressionError::Negative { value: value.to_string() });
            }
            // A factor has at least a bit, so a longer product is too large in any case.
            let last = usize::try_from(&value).ok().filter(|last| *last <= self.most_bits.max(2) * 2);
            let last = last.ok_or_else(|| self.too_large())?;
            value = IBig::ONE;
            let is_prime = |n: usize| (2..=n.isqrt()).all(|divisor| !n.is_multiple_of(divisor));
            for factor in (2..=last).filter(|n| all || is_prime(*n)) {
                value *= factor;
                self.bounded(&value)?;
            }
        }
    }

    fn atom(&mut self) -> Result<IBig, ExpressionError> {
        if self.accept('(') {
            let value = self.nested(Self::sum)?;
            if !self.accept(')') {
                return Err(self.unexpected("')'"));
            }
            return Ok(value);
        }
        let hexadecimal = self.peek() == Some('0') && matches!(self.characters.get(self.at + 1), Some('x' | 'X'));
        let radix = if hexadecimal {
            self.at += 2;
            16
        } else {
            10
        };
        let start = self.at;
        let mut value = IBig::ZERO;
        while let Some(character) = self.characters.get(self.at) {
            match character.to_digit(radix) {
                Some(digit) => value = value * radix + digit,
                // Between digits an underscore groups them.
                None if *character == '_' && self.at > start => {}
                None => break,
            }
            self.at += 1;
            self.bounded(&value)?;
        }
        if self.at == start {
            return Err(self.unexpected("a number or '('"));
        }
        if hexadecimal { Ok(value) } else { self.scaled(value) }
    }

    /// A decimal number with the power of ten after it, if there is one: `1e6`, `4.7e9`.
    fn scaled(&mut self, mut value: IBig) -> Result<IBig, ExpressionError> {
        let digits =
            |from: usize| self.characters[from.min(self.characters.len())..].iter().map_while(|it| it.to_digit(10));
        let places = if self.characters.get(self.at) == Some(&'.') { digits(self.at + 1).count() } else { 0 };
        let e = if places == 0 { self.at } else { self.at + 1 + places };
        let zeros = digits(e + 1).fold(None, |number: Option<usize>, digit| {
            Some(number.unwrap_or(0).saturating_mul(10).saturating_add(digit as usize))
        });
        let zeros = zeros.filter(|_| matches!(self.characters.get(e), Some('e' | 'E')));
        // What leaves a fraction is no integer: the place of the point is an error then.
        let Some(zeros) = zeros.and_then(|zeros| zeros.checked_sub(places)) else { return Ok(value) };
        for digit in digits(self.at + 1).take(places) {
            value = value * 10 + digit;
        }
        self.at = e + 1 + digits(e + 1).count();
        // A power of ten has more bits than three times its zeros.
        if value != IBig::ZERO {
            if zeros > self.most_bits / 3 {
                return Err(self.too_large());
            }
            value *= IBig::from(10).pow(zeros);
            self.bounded(&value)?;
        }
        Ok(value)
    }

    fn nested(&mut self, inner: fn(&mut Self) -> Result<IBig, ExpressionError>) -> Result<IBig, ExpressionError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(ExpressionError::TooDeep { column: self.at + 1 });
        }
        let value = inner(self);
        self.depth -= 1;
        value
    }

    fn bounded(&self, value: &IBig) -> Result<(), ExpressionError> {
        if bits(value) > self.most_bits { Err(self.too_large()) } else { Ok(()) }
    }

    const fn too_large(&self) -> ExpressionError {
        ExpressionError::TooLarge { column: self.at, limit: self.most_bits }
    }

    /// The next character that is no space.
    fn peek(&mut self) -> Option<char> {
        while self.characters.get(self.at).is_some_and(|c| c.is_whitespace()) {
            self.at += 1;
        }
        self.characters.get(self.at).copied()
    }

    fn accept(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += usize::from(found);
        found
    }

    fn unexpected(&mut self, expected: &'static str) -> ExpressionError {
        let found = self.peek().map_or_else(|| "the end".to_owned(), |character| format!("'{character}'"));
        ExpressionError::Unexpected { column: self.at + 1, found, expected }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values() {
        for (text, value) in [
            ("0", 0),
            ("27", 27),
            ("2^64-2^40", (1 << 64) - (1 << 40)),
            ("3*2^20+1", (3 << 20) + 1),
            (" 2 ^ 71 ", 1 << 71),
            ("2^127", 1 << 127),
            ("2^127-1", (1 << 127) - 1),
            ("2^3^2", 512),
            ("10-3-2", 5),
            ("(1+2)*(3+4)", 21),
            ("1-2+3", 2),
            ("2^128-2^127", 1 << 127),
            ("0xff", 255),
            ("1_000_000", 1_000_000),
            ("1^1000", 1),
            ("0!", 1),
            ("5!+1", 121),
            ("3!!", 720),
            ("1#", 1),
            ("13#-1", 30_029),
            ("2*3^2!", 18),
            ("(2^67-1)/193707721", 761_838_257_287),
            ("2^4/2/4", 2),
            ("1e6", 1_000_000),
            ("3*2E2+1e0", 601),
            ("4.7e9", 4_700_000_000),
            ("1.50e2", 150),
            ("2^0.3e1", 8),
            ("0xe1", 225),
            ("0e99999999999999999999", 0),
        ] {
            assert_eq!(parse(text), Ok(value), "{text}");
        }
    }

    #[test]
    fn long_integers() {
        let one = UBig::from(1_u8);
        assert_eq!(integer("2^65536-1", 65_537), Ok((&one << 65_536) - &one));
        assert!(integer("2^65536-1", 65_536).unwrap_err().to_string().contains("more than 65536 bits"));
    }

    #[test]
    fn errors_name_the_column() {
        for (text, words) in [
            ("", "column 1: the end where a number"),
            ("2^", "column 3: the end where a number"),
            ("2^64-", "column 6: the end"),
            ("12a", "column 3: 'a' where an operator"),
            ("-5", "-5 is negative"),
            ("2*-5", "column 3: '-' where a number"),
            ("(1+2", "column 5: the end where ')'"),
            ("2^(1-2)", "column 3: a negative exponent"),
            ("9^9^9", "column 5: a number of more than 4096 bits"),
            ("1-2", "-1 is negative"),
            ("2^127+1", "128 bits; at most 2^127"),
            ("0x", "column 3: the end"),
            ("_1", "column 1: '_'"),
            ("1e", "column 2: 'e' where an operator"),
            ("1.5", "column 2: '.' where an operator"),
            ("1.25e1", "column 2: '.' where an operator"),
            ("1.e3", "column 2: '.' where an operator"),
            (".5e3", "column 1: '.' where a number"),
            ("1e-6", "column 2: 'e' where an operator"),
            ("1e2000", "more than 4096 bits"),
            ("1e99999999999999999999", "more than 4096 bits"),
            ("1^9999999999999999999999", "more than 4096"),
            ("100000!", "more than 4096"),
            ("99999999999999999999#", "more than 4096"),
            ("(1-3)!", "-2 is negative"),
            ("7/2", "column 3: the division is not exact"),
            ("7/(1-1)", "column 3: the division is not exact"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
        assert!(parse(&"(".repeat(100_000)).is_err());
        assert!(parse(&"2^".repeat(100_000)).is_err());
        assert!(parse(&"9".repeat(100_000)).is_err());
    }
}
