//! Words about differences of long numbers, from a few of their limbs: what remains of a product modulo `Bᴺ ± 1`, and how often a divisor fits
//! into a remainder.
//!
//! ```text
//! Remains    T = V − P: m with m ≤ T/D < m + 2, and the words by which a line makes T − m·D
//! Error      e = Bⁿ⁺ʰ − D·X: the words by which a line makes ⌊e / Bʰ⁻¹⌋, or up to 4 more
//! ```
//!
//! launch     a thread a lane
//!
//! **Modulo `Bᴺ + 1`** a product `P` is a signed number `L + H·Bᴺ`, `0 ≤ L < Bᴺ`, `|H| < 2²⁹`. What shall be computed, `E`, is a small positive number.
//! From limbs at hand comes `r = E` modulo `Bᴺ + 1`, so `E = r + j·(Bᴺ + 1)`. The lowest limbs of the factors tell `E` modulo `B`, and so they tell `j < B`.
//! `−j` takes the place of `H` above `L`: where `−L` is added, `j·Bᴺ` is added, too.
//!
//! **`T`.** `V = R·Bᵏ + A`, see `division.rs`. `V = V₀ + V₁·Bᴺ` makes `r = V₀ − V₁ − L + H`. So `T − m·D = V₀ + j·Bᴺ − V₁ − L − m·D + (H + j)`. With complements the last term
//! is greater by 1 for each row and by `m`.
//!
//! With `N ≥ n + 8` `T` is below `Bᴺ`: then only its own `n + 1` limbs are computed, and `j·Bᴺ` is above them.
//!
//! **Modulo `Bᴺ − 1`** a product is `L + H·Bᴺ` with `0 ≤ H ≤ 1`. Then `r = V₀ + V₁ − L − H`, `E = r + j·(Bᴺ − 1)`, and `T − m·D = V₀ + j·Bᴺ + V₁ − L − m·D − (H + j)`.
//! As `V₁ < Bᴺ − 1`, `j ≥ −1`. Only one row has complements.
//!
//! bound: `T < 2²⁹·D`. Let `v` be the number of limbs `n` and `n − 1` of these rows without what comes from below: `T/Bⁿ⁻¹` is from `v − 3` to `v + 2`. So for
//! `t = max(0, v − 3)`, `t ≤ T/Bⁿ⁻¹ < t + 5`. With the highest limb `y` of the reciprocal `X`, `(B + y)·Bᵏ⁻¹ ≤ X ≤ Bⁿ⁺ᵏ/D`, so `m = ⌊t·(B + y)/B²⌋ ≤ T/D`. As
//! `(B + y)·Bᵏ⁻¹ > Bⁿ⁺ᵏ/D − Bᵏ⁻¹ − 8`, before rounding `T/D` is greater by less than `12/B + T/Bⁿ⁺¹ < 1/2`. Rounding, and rounding the product of the
//! lower limb of `t` before, cost less than `1 + 1/B`. `j` is at most `T/Bⁿ` and `c + 3`, so `m + j + H` has 31 bits and a sign.
//!
//! **`e`** with `N = n`: `D = D₀ + D₁·Bⁿ⁻ʰ`, so `D·Bʰ = D₀·Bʰ − D₁` modulo `Bⁿ + 1`, and `Bⁿ⁺ʰ = −Bʰ`. With `u = Bʰ⁻¹`, the highest limb `d` of `D₁`, and
//! `L₁ = ⌊L/u⌋`, `F = j·Bⁿ⁺¹/(u·B) − L₁ − (D₀ + 1)·B + d` differs from `e/u` by less than `1 + 1/B`. So `F + 2` is `⌊(e − 1)/u⌋`, and 1 to 4 more.

use warpmp_kernel::build::{Builder, Emit, Glue, R32, R64};
use warpmp_kernel::ir::{Bounds, Cmp, Space, Vector};
use warpmp_launch::{Entry, Geometry, Ports, Spec, Stage, thread_number};

use super::source::Number;

/// Warps of a block.
const WARPS: u32 = 4;

/// Words for a line: one that is added, and one that is subtracted.
pub(super) const WORDS: u32 = 2;

/// How often the divisor fits into what an estimated digit of a quotient leaves. Parameters of its launch: the upper limbs `R` of `V`, the product
/// of digit and divisor, the reciprocal, the digit, the divisor, `m`, the words; if the reciprocal has all limbs of the divisor, the lower limbs `A` of `V`;
/// if there is a digit above, its `m`, to which the digit's highest limb is added; lanes.
#[derive(Clone, Debug)]
pub(super) struct Remains {
    rows: Vec<Number>,
    /// The parameter that is `A`.
    lower: Option<usize>,
    /// The parameter that is the `m` above.
    above: Option<usize>,
    /// The modulus of the product.
    modulus: Option<Modulus>,
}

/// What a product is modulo, where the divisor has `n` limbs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Modulus {
    /// `Bⁿ + 1`
    Plus,
    /// `Bⁿ − 1`
    Minus,
}

/// The words about the error of a reciprocal. Parameters of its launch: the product of divisor and known inverse modulo `Bⁿ + 1`, the divisor, the
/// known inverse, the words; lanes.
#[derive(Clone, Debug)]
pub(super) struct Error {
    rows: Vec<Number>,
}

fn name(rows: &[Number]) -> String {
    let names = rows.iter().map(|it| format!("_{}{}", it.limbs, if it.common { "c" } else { "" }));
    names.collect()
}

/// The rows of a thread's lane.
struct Lane {
    addresses: Vec<R64>,
    rows: Vec<Number>,
}

impl Lane {
    fn open(entry: &Entry, name: &str, names: &[&str], rows: &[Number]) -> (Builder, Self) {
        let (mut b, Ports { addresses, lanes }) = entry.open(name, Glue::None, &names[..rows.len()], false);
        b.bounds(Bounds { max_threads: Some(32 * WARPS), ..Bounds::default() });
        b.section("setup");
        let lane = thread_number(&mut b, 32 * WARPS);
        let outside = b.compare(Cmp::Ge, lane, lanes);
        b.return_if(outside);
        let addresses = rows.iter().zip(&addresses).map(|(row, &address)| row.row(&mut b, address, lane)).collect();
        (b, Self { addresses, rows: rows.to_vec() })
    }

    /// A limb of a row, 0 above it.
    fn limb(&self, b: &mut Builder, row: usize, number: u32) -> R32 {
        if number >= self.rows[row].limbs {
            return b.copy(0);
        }
        b.load_global(Space::Global, Vector::V1, self.addresses[row], 4 * number)[0]
    }

    fn set(&self, b: &mut Builder, row: usize, number: u32, value: R32) {
        b.store_global(Space::Global, &[value], self.addresses[row], 4 * number);
    }
}

/// Two neighbouring limbs, 0 from limb `end` on.
fn pair(b: &mut Builder, number: u32, end: u32, limb: impl Fn(&mut Builder, u32) -> R32) -> R64 {
    let [low, high] = [number, number + 1].map(|it| if it < end { limb(b, it) } else { b.copy(0) });
    b.pack(low, high)
}

/// `j`, by a limb of each factor of the product and the lowest limb of what is added to make `r`, without that of the limbs that `E` begins with.
fn turns(b: &mut Builder, [x, y]: [R32; 2], rest: R32) -> R32 {
    let minus = b.mad_lo(x, y, rest);
    b.sub(0, minus)
}

impl Remains {
    /// The specification for the first seven rows in the order of the parameters and for those that need not be.
    pub(super) fn of(rows: [Number; 7], [lower, above]: [Option<Number>; 2], modulus: Option<Modulus>) -> Self {
        let mut rows = rows.to_vec();
        let mut parameter = |row: Option<Number>| {
            rows.extend(row);
            row.map(|_| rows.len() - 1)
        };
        let [lower, above] = [lower, above].map(&mut parameter);
        Self { rows, lower, above, modulus }
    }

    /// The rows in the order of the parameters.
    pub(super) fn rows(&self) -> Vec<Number> {
        self.rows.clone()
    }

    /// A limb of `V`.
    fn value(&self, b: &mut Builder, lane: &Lane, number: u32) -> R32 {
        let k = self.rows[2].limbs;
        if number >= k {
            return lane.limb(b, 0, number - k);
        }
        lane.limb(
            b,
            self.lower.expect("where the divisor has more limbs than the reciprocal, these limbs do not count"),
            number,
        )
    }

    /// The number of limbs `n` and `n − 1` of `T` without what comes from below; what is added to the lowest limb, and how many rows have complements.
    fn upper_limbs(&self, b: &mut Builder, lane: &Lane) -> (R64, R32, u32) {
        let n = self.rows[4].limbs;
        let value = |b: &mut Builder, number| self.value(b, lane, number);
        let taken = |b: &mut Builder, number| lane.limb(b, 1, number);
        // The limbs of a product modulo Bᴺ ± 1, without the limb above.
        let whole = self.rows[1].limbs - 1;
        let difference = |b: &mut Builder| {
            let [v, taken] = [pair(b, n - 1, n + 1, value), pair(b, n - 1, n + 1, taken)];
            b.sub64(v, taken)
        };
        let Some(modulus) = self.modulus else { return (difference(b), b.copy(0), 1) };
        let factors = [3, 4].map(|row| lane.limb(b, row, 0));
        let upper = value(b, whole);
        let [lower, top] = [0, whole].map(|i| taken(b, i));
        let (j, added) = match modulus {
            Modulus::Plus => {
                let rest = b.sub(top, lower);
                let rest = b.sub(rest, upper);
                let j = turns(b, factors, rest);
                (j, b.add(j, top))
            }
            Modulus::Minus => {
                let rest = b.sub(upper, lower);
                let rest = b.sub(rest, top);
                let minus = turns(b, factors, rest);
                let j = b.sub(0, minus);
                (j, b.sub(minus, top))
            }
        };
        if whole > n {
            // The multiple of Bᴺ is above T, and so is V₁ above its own limbs.
            return (difference(b), added, 2);
        }
        let minus = b.sub(0, j);
        lane.set(b, 1, n, minus);
        let v = pair(b, n - 1, n, value);
        let turned = b.pack(0, j);
        let v = b.add64(v, turned);
        let upper = pair(b, 2 * n - 1, u32::MAX, value);
        let (v, complements) = match modulus {
            Modulus::Plus => (b.sub64(v, upper), 2),
            Modulus::Minus => (b.add64(v, upper), 1),
        };
        let taken = pair(b, n - 1, n, taken);
        (b.sub64(v, taken), added, complements)
    }

    fn write(&self, b: &mut Builder, lane: &Lane) {
        b.section("difference");
        let (v, added, complements) = self.upper_limbs(b, lane);
        b.section("estimate");
        // From −1 on, so that numbers without signs are compared.
        let v = b.add64(v, 1);
        let is_small = b.compare64(Cmp::Lt, v, 4);
        let less = b.sub64(v, 4);
        let t = b.select64(0, less, is_small);
        let (lower, upper) = b.unpack(t);
        let reciprocal = lane.limb(b, 2, self.rows[2].limbs - 1);
        let part = b.mul_hi(lower, reciprocal);
        let [part, lower] = [part, lower].map(|it| b.widen(it));
        let sum = b.mad_wide(upper, reciprocal, part);
        let sum = b.add64(sum, lower);
        let (_, high) = b.unpack(sum);
        let multiple = b.add(upper, high);
        b.section("store");
        lane.set(b, 5, 0, multiple);
        let added = b.add(added, multiple);
        let added = b.add(added, complements);
        let is_negative = b.compare_signed(Cmp::Lt, added, 0);
        let minus = b.sub(0, added);
        let words = [b.select(0, added, is_negative), b.select(minus, 0, is_negative)];
        for (word, i) in words.into_iter().zip(0..) {
            lane.set(b, 6, i, word);
        }
        if let Some(above) = self.above {
            let top = lane.limb(b, 3, self.rows[3].limbs - 1);
            let multiple = lane.limb(b, above, 0);
            let sum = b.add(multiple, top);
            lane.set(b, above, 0, sum);
        }
    }
}

impl Spec for Remains {
    fn name(&self) -> String {
        let modulus = match self.modulus {
            None => "",
            Some(Modulus::Plus) => "_plus",
            Some(Modulus::Minus) => "_minus",
        };
        format!("remains{}{modulus}", name(&self.rows))
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        let kernel = |entry: &Entry| {
            let names = ["r", "p", "reciprocal", "digit", "divisor", "multiple", "words", "x", "y"];
            let (mut b, lane) = Lane::open(entry, &self.name(), &names, &self.rows);
            self.write(&mut b, &lane);
            b.finish()
        };
        vec![Stage::new(Geometry::of_threads(WARPS), kernel)]
    }
}

impl Error {
    /// The specification for rows in the order of the parameters.
    pub(super) fn of(rows: &[Number]) -> Self {
        Self { rows: rows.to_vec() }
    }

    fn write(&self, b: &mut Builder, lane: &Lane) {
        let [n, h] = [1, 2].map(|row| self.rows[row].limbs);
        b.section("difference");
        let factors = [1, 2].map(|row| lane.limb(b, row, 0));
        let [lower, top, middle, highest] =
            [(0, 0), (0, n), (1, n - h), (1, n - 1)].map(|(row, i)| lane.limb(b, row, i));
        let rest = b.sub(top, lower);
        let rest = b.add(rest, middle);
        let j = turns(b, factors, rest);
        b.section("store");
        // The line subtracts a limb of the divisor too many there.
        let above = b.add(j, middle);
        let above = b.sub(0, above);
        lane.set(b, 0, n, above);
        // d + 2 − B, and 2 for two complements.
        let sum = b.add(highest, 4);
        let is_positive = b.compare(Cmp::Lt, sum, 4);
        let minus = b.sub(0, sum);
        let words = [b.select(sum, 0, is_positive), b.select(0, minus, is_positive)];
        for (word, i) in words.into_iter().zip(0..) {
            lane.set(b, 3, i, word);
        }
    }
}

impl Spec for Error {
    fn name(&self) -> String {
        format!("error{}", name(&self.rows))
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        let kernel = |entry: &Entry| {
            let names = ["product", "divisor", "inverse", "words"];
            let (mut b, lane) = Lane::open(entry, &self.name(), &names, &self.rows);
            self.write(&mut b, &lane);
            b.finish()
        };
        vec![Stage::new(Geometry::of_threads(WARPS), kernel)]
    }
}
