//! Products: schoolbook in four forms, and Karatsuba over each.
//!
//! A result may have fewer limbs than the operands together: it is then the product modulo 2^(32·limbs).
//!
//! bound: a column counts at most `2·16` carries, and begins with fewer than `2³²`. By rows in 64 bits a step is at most
//! `(B − 1)² + 2·(B − 1) = B² − 1`. In the column with comparisons the high word of a product is at most `B − 2`, so
//! the carry of the low sum goes into it.
//!
//! source: Carlessi and Kashani 2013, 3.6.8 and 3.6.9; the rows of wide products are `warpmp_kernel::fragment::Rows`.

use warpmp_kernel::build::{Builder, Emit, R32, R64, V32};
use warpmp_kernel::fragment::Rows;
use warpmp_kernel::ir::Cmp;

use super::Arithmetic;
use super::number::Number;
use super::sums::{add, one_if, sub};

/// `out = x·y`, every limb by every limb.
pub(super) fn school(b: &mut Builder, arithmetic: Arithmetic, x: &Number, y: &Number, out: &mut Number) {
    match arithmetic {
        Arithmetic::Flag => columns_with_flag(b, x, y, out),
        Arithmetic::Wide => rows_of_64_bits(b, x, y, out),
        Arithmetic::Compared => columns_with_comparisons(b, x, y, out),
        Arithmetic::Rows => rows_of_wide_products(b, x, y, out),
    }
}

/// The limbs `i`, `j` with `i + j = column`.
fn pairs(x: &Number, y: &Number, column: u32) -> impl Iterator<Item = (u32, u32)> + use<> {
    let (x_limbs, y_limbs) = (x.len(), y.len());
    (0..x_limbs).filter_map(move |i| column.checked_sub(i).map(|j| (i, j))).filter(move |&(_, j)| j < y_limbs)
}

/// Listings 3.17 to 3.19. A column's word lies where the result does: in memory each step reads and writes it.
fn columns_with_flag(b: &mut Builder, x: &Number, y: &Number, out: &mut Number) {
    let mut carry = V32::Imm(0);
    for column in 0..out.len() {
        let low = pairs(x, y, column).map(|pair| (false, pair));
        let high = column.checked_sub(1).into_iter().flat_map(|column| pairs(x, y, column)).map(|pair| (true, pair));
        out.set(b, column, carry);
        carry = V32::Imm(0);
        for (is_high, (i, j)) in low.chain(high) {
            let (x, y) = (x.get(b, i), y.get(b, j));
            let word = out.get(b, column);
            let (sum, count): (R32, R32) = (b.register(), b.register());
            let mut chain = b.chain();
            if is_high {
                chain.mad_hi_into(sum, x, y, word);
            } else {
                chain.mad_lo_into(sum, x, y, word);
            }
            chain.end_add(count, carry, 0);
            out.set(b, column, sum);
            carry = count.into();
        }
    }
}

/// As one writes it in C with 64-bit words.
fn rows_of_64_bits(b: &mut Builder, x: &Number, y: &Number, out: &mut Number) {
    for i in 0..x.len() {
        let mut carry: Option<R64> = None;
        for j in 0..y.len() {
            let at = i + j;
            if at >= out.len() {
                break;
            }
            let (x, y) = (x.get(b, i), y.get(b, j));
            let mut step = if i == 0 {
                b.mul_wide(x, y)
            } else {
                let word = out.get(b, at);
                let word = b.widen(word);
                b.mad_wide(x, y, word)
            };
            if let Some(carry) = carry {
                step = b.add64(step, carry);
            }
            let word = b.truncate(step);
            out.set(b, at, word);
            carry = Some(b.shr64(step, 32));
        }
        let top = i + y.len();
        if let (Some(carry), true) = (carry, top < out.len()) {
            let word = b.truncate(carry);
            out.set(b, top, word);
        }
    }
}

/// As one writes it in C with 32-bit words: three of them for a column's sum.
fn columns_with_comparisons(b: &mut Builder, x: &Number, y: &Number, out: &mut Number) {
    let mut sum: [V32; 3] = [0.into(); 3];
    for column in 0..out.len() {
        for (i, j) in pairs(x, y, column) {
            let (x, y) = (x.get(b, i), y.get(b, j));
            let (low, high) = (b.mul_lo(x, y), b.mul_hi(x, y));
            let v = b.add(sum[0], low);
            let wrapped = b.compare(Cmp::Lt, v, low);
            let carry = one_if(b, wrapped);
            let high = b.add(high, carry);
            let u = b.add(sum[1], high);
            let wrapped = b.compare(Cmp::Lt, u, high);
            let carry = one_if(b, wrapped);
            sum = [v.into(), u.into(), b.add(sum[2], carry).into()];
        }
        out.set(b, column, sum[0]);
        sum = [sum[1], sum[2], 0.into()];
    }
}

/// As `thread` multiplies.
fn rows_of_wide_products(b: &mut Builder, x: &Number, y: &Number, out: &mut Number) {
    let (x, y) = (x.registers(b), y.registers(b));
    let mut rows = Rows::new(&x);
    let mut limbs = Vec::new();
    for &limb in &y {
        limbs.push(rows.row(b, limb));
    }
    limbs.extend(rows.finish(b));
    for (i, limb) in (0..out.len()).zip(limbs) {
        out.set(b, i, limb);
    }
}

/// The lengths that Karatsuba's method has with operands of some bits, once applied.
#[derive(Clone, Copy, Debug)]
struct Halves {
    /// Limbs of the low halves; the high ones have as many or one more.
    low: u32,
    high: u32,
    /// Limbs of the sums of halves: one more than the halves have where these are full.
    sums: u32,
    /// Limbs of the product of the high halves.
    high_product: u32,
    /// Limbs of `a₁·b₀ + a₀·b₁`, which is below `2^(bits + 1)`.
    middle: u32,
}

impl Halves {
    /// The report's way: the shorter part is the low one.
    const fn of(bits: u32) -> Self {
        let limbs = bits.div_ceil(32);
        let low = limbs / 2;
        let high_bits = bits - 32 * low;
        let longer = if 32 * low > high_bits { 32 * low } else { high_bits };
        Self {
            low,
            high: limbs - low,
            sums: (longer + 1).div_ceil(32),
            high_product: (2 * high_bits).div_ceil(32),
            middle: (bits + 1).div_ceil(32),
        }
    }
}

/// `out = x·y` for numbers of `bits` bits: with `x = x₁·B^h + x₀` and `y` likewise,
///
/// ```text
/// c₀ = x₀·y₀     c₂ = x₁·y₁     c₁ = (x₀ + x₁)·(y₀ + y₁) − c₀ − c₂
/// out = c₂·B^(2h) + c₁·B^h + c₀
/// ```
pub(super) fn karatsuba(b: &mut Builder, arithmetic: Arithmetic, bits: u32, x: &Number, y: &Number, out: &mut Number) {
    let halves = Halves::of(bits);
    let [[x0, x1], [y0, y1]] = [x, y].map(|z| [z.part(0, halves.low), z.part(halves.low, halves.high)]);
    let mut low_product = out.part(0, 2 * halves.low);
    school(b, arithmetic, &x0, &y0, &mut low_product);
    out.put(0, &low_product);
    let mut high_product = out.part(2 * halves.low, halves.high_product);
    school(b, arithmetic, &x1, &y1, &mut high_product);
    out.put(2 * halves.low, &high_product);
    let [x_sum, y_sum] = [[&x0, &x1], [&y0, &y1]].map(|[low, high]| {
        let mut sum = Number::new(halves.sums);
        add(b, arithmetic, low, high, &mut sum);
        sum
    });
    let mut middle = Number::new(halves.middle);
    school(b, arithmetic, &x_sum, &y_sum, &mut middle);
    for product in [low_product, high_product] {
        let minuend = middle.clone();
        sub(b, arithmetic, &minuend, &product, &mut middle);
    }
    let upper_limbs = out.len() - halves.low;
    let mut upper = out.part(halves.low, upper_limbs);
    let addend = upper.clone();
    add(b, arithmetic, &addend, &middle, &mut upper);
    out.put(halves.low, &upper);
}
