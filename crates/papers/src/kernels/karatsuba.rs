//! `karatsuba`, `karatsuba2`: full product, one lane a thread, Karatsuba once or twice over Comba.
//!
//! computes   c = a·b            a: `la` limbs, b: `lb`, c: `lc` = `la + lb` or one less (a top limb that is zero)
//! requires   1 ≤ la, lb ≤ 2048; buffers padded to whole tiles of 32 lanes
//! launch     32·warps threads a block, one lane a thread
//! cost       w = la = lb even: ¾·w² wide products, 1½·w² + 8·w words read, 7·w written; twice, w a
//!            multiple of four: 9/16·w², 9/8·w² + 20·w, 14½·w
//! registers  at most 64, whatever the length
//! scratch    the operands and, for each level's lengths, la + lb + 2h limbs, limb-major: with w limbs
//!            a side 5·w, for two levels 6½·w
//!
//! With h = ⌈max(la, lb)/2⌉, B = 2³² and a = a₁·Bʰ + a₀, b = b₁·Bʰ + b₀:
//!
//! ```text
//! a·b = z₂·B²ʰ + (z₀ + z₂ − (a₀ − a₁)·(b₀ − b₁))·Bʰ + z₀,   z₀ = a₀·b₀,  z₂ = a₁·b₁
//! ```
//!
//! The papers multiply `a₁ + a₀` by `b₁ + b₀`, numbers of a bit more than h limbs; the differences'
//! magnitudes have h limbs, and their signs decide whether the third product is added or
//! subtracted. The high parts may be shorter than the low ones: their missing limbs count as zeros.
//! Where the shorter operand has no high part there is nothing to save and Comba multiplies.
//!
//! The differences wait where z₀ and z₂ will lie, until their product has been taken. Then one pass
//! from the lowest limb up reads z₀, z₂ and the third product and writes each limb of the result once.
//!
//! bound: |a₀ − a₁|, |b₀ − b₁| < Bʰ, z₀ and the third product < B²ʰ, z₂ < B^(la+lb−2h). The pass works
//! modulo B^(la+lb), above the result, with a negative third product in two's complement: limbs
//! `x xor m`, m = all ones, and the carry 1 to begin with. A limb's sum has at most four words and a
//! carry, and 4·(B − 1) + 3 < 4·B: the carry never exceeds 3.
//!
//! source: Karatsuba, Ofman 1962; Honda, Ito, Nakano, CANDAR 2015, section III; the difference form is
//! Knuth's, The Art of Computer Programming 2, 4.3.3.

use warpmp_kernel::build::{Builder, Emit, R32, V32};
use warpmp_launch::Stage;

use super::comba::comba;
use super::limbs::{ACCEPTS, Cursor, Limbs, fits, operand_limbs, thread_name, thread_stage, walk};
use warpmp::kernels::{Algorithm, OperationShape, Order, Spec, WarpSettings, With, candidates};

/// Parameters of the kernel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Karatsuba {
    /// The operands.
    pub shape: OperationShape,
    /// How often operands are halved, at most.
    pub levels: u32,
    /// Warps a block.
    pub warps: u32,
}

/// The row of the register for one level.
pub(super) const ALGORITHM: Algorithm = Algorithm {
    name: "karatsuba",
    summary: "the paper's: one product a thread, Karatsuba once, then Comba",
    accepts: ACCEPTS,
    fits,
    order: Order::LongerFirst,
    recipe: &With::<WarpSettings> {
        spec: |shape, settings, _| Karatsuba::spec(shape, *settings, 1),
        candidates: candidates::default_alone,
    },
};

/// The row of the register for two levels.
pub(super) const TWICE: Algorithm = Algorithm {
    name: "karatsuba2",
    summary: "the paper's: one product a thread, Karatsuba twice, then Comba",
    recipe: &With::<WarpSettings> {
        spec: |shape, settings, _| Karatsuba::spec(shape, *settings, 2),
        candidates: candidates::default_alone,
    },
    ..ALGORITHM
};

impl Karatsuba {
    fn spec(shape: OperationShape, settings: WarpSettings, levels: u32) -> Box<dyn Spec> {
        Box::new(Self { shape, levels, warps: settings.warps.unwrap_or(1) })
    }

    const fn product(&self) -> Product {
        let [la, lb, _] = self.shape.limbs();
        Product { lengths: [la, lb], levels: self.levels }
    }
}

impl Spec for Karatsuba {
    fn name(&self) -> String {
        thread_name(&format!("karatsuba{}", self.levels), self.shape, self.warps)
    }

    fn scratch_limbs(&self) -> u32 {
        operand_limbs(self.shape) + self.product().scratch()
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        let product = self.product();
        vec![thread_stage(self.name(), self.shape, self.warps, product.scratch(), move |b, lane| {
            product.emit(b, lane.a, lane.b, lane.c, lane.scratch);
        })]
    }

    fn wide_products(&self) -> u64 {
        self.product().wide_products()
    }
}

/// A product in the recursion.
#[derive(Clone, Copy, Debug)]
struct Product {
    lengths: [u32; 2],
    levels: u32,
}

impl Product {
    /// Limbs of the low parts; none if this product is Comba's.
    fn half(self) -> Option<u32> {
        let [x, y] = self.lengths;
        let half = x.max(y).div_ceil(2);
        (self.levels > 0 && x.min(y) > half).then_some(half)
    }

    /// The two kinds of products one level down: of low parts (and differences), and of high parts.
    fn parts(self, half: u32) -> [Self; 2] {
        let levels = self.levels - 1;
        [Self { lengths: [half; 2], levels }, Self { lengths: self.lengths.map(|len| len - half), levels }]
    }

    fn wide_products(self) -> u64 {
        let [x, y] = self.lengths.map(u64::from);
        self.half().map_or(x * y, |half| {
            let [low, high] = self.parts(half);
            2 * low.wide_products() + high.wide_products()
        })
    }

    /// Limbs of memory for intermediates: z₀ and z₂, the third product, the next level's.
    fn scratch(self) -> u32 {
        let [x, y] = self.lengths;
        self.half().map_or(0, |half| {
            let [low, high] = self.parts(half);
            x + y + 2 * half + low.scratch().max(high.scratch())
        })
    }

    /// `out = x·y`; `out` may lack the top limb. Nothing overlaps.
    fn emit(self, b: &mut Builder, x: Limbs, y: Limbs, out: Limbs, scratch: Limbs) {
        let Some(half) = self.half() else { return comba(b, x, y, out) };
        let [low, high] = self.parts(half);
        let total = x.len + y.len;
        let split = |z: Limbs| [z.part(0, half), z.part(half, z.len - half)];
        let ([x0, x1], [y0, y1]) = (split(x), split(y));
        let (outer, third) = (scratch.part(0, total), scratch.part(total, 2 * half));
        let next = total + 2 * half;
        let rest = scratch.part(next, scratch.len - next);
        let (x_difference, y_difference) = (outer.part(0, half), outer.part(half, half));
        let x_sign = difference(b, x0, x1, x_difference);
        let y_sign = difference(b, y0, y1, y_difference);
        low.emit(b, x_difference, y_difference, third, rest);
        low.emit(b, x0, y0, outer.part(0, 2 * half), rest);
        high.emit(b, x1, y1, outer.part(2 * half, total - 2 * half), rest);
        // Equal signs: the third product is subtracted.
        let differ = b.xor(x_sign, y_sign);
        let flip = b.not(differ);
        combine(b, half, outer, third, flip, out);
    }
}

/// `out = |low − high|`, as long as `low`; all ones if the difference is negative, else zero.
fn difference(b: &mut Builder, low: Limbs, high: Limbs, out: Limbs) -> R32 {
    let sign = b.copy(0);
    let [x, y, z] = [low, high, out].map(|limbs| limbs.cursor(b));
    walk(b, high.len, &[x, y, z], |b, n| {
        let subtrahend = y.load(b, n);
        subtract(b, x, &subtrahend, z, sign);
    });
    let [x, z] = [x, z].map(|cursor| cursor.after(high.len));
    walk(b, low.len - high.len, &[x, z], |b, n| {
        let zeros: Vec<R32> = (0..n).map(|_| b.copy(0)).collect();
        subtract(b, x, &zeros, z, sign);
    });
    negate_if(b, sign, out);
    sign
}

/// A few limbs of a difference; `borrow` is all ones or zero.
fn subtract(b: &mut Builder, x: Cursor, y: &[R32], z: Cursor, borrow: R32) {
    let words = x.load(b, y.len() as u32);
    let mut chain = b.chain();
    // Brings the borrow into the flag.
    chain.sub(0, borrow);
    let words: Vec<R32> = words.iter().zip(y).map(|(&x, &y)| chain.sub(x, y)).collect();
    let out = chain.borrow_mask();
    b.set(borrow, out);
    z.store(b, &words);
}

/// Negates in place, modulo a power of two, where `mask` is all ones; zero leaves the number as it is.
fn negate_if(b: &mut Builder, mask: R32, limbs: Limbs) {
    let carry = b.and(mask, 1);
    let place = limbs.cursor(b);
    walk(b, limbs.len, &[place], |b, n| {
        let words = place.load(b, n);
        let flipped: Vec<R32> = words.iter().map(|&word| b.xor(word, mask)).collect();
        let mut chain = b.chain();
        let addends = std::iter::once(V32::from(carry)).chain(std::iter::repeat(V32::from(0)));
        let words: Vec<R32> = flipped.iter().zip(addends).map(|(&word, addend)| chain.add(word, addend)).collect();
        let out = chain.carry();
        b.set(carry, out);
        place.store(b, &words);
    });
}

/// The pass that writes the result: `outer + (z₀ + z₂ ± third)·Bʰ` with z₀ and z₂ in `outer`.
fn combine(b: &mut Builder, half: u32, outer: Limbs, third: Limbs, flip: R32, out: Limbs) {
    outer.part(0, half).copy_to(b, out.part(0, half));
    let carry = b.and(flip, 1);
    // From these limbs on, z₂·Bʰ and then z₀·Bʰ and the third product have ended.
    let (z2_end, middle_end) = (outer.len - half, 3 * half);
    for (start, end) in [(half, z2_end), (z2_end, middle_end), (middle_end, out.len)] {
        let end = end.min(out.len);
        if start >= end {
            continue;
        }
        let part = |z: Limbs, from: u32| z.part(from, end - start);
        let mut terms = vec![part(outer, start)];
        if start < middle_end {
            terms.push(part(outer, start - half));
        }
        if start < z2_end {
            terms.push(part(outer, start + half));
        }
        let third = (start < middle_end).then(|| part(third, start - half));
        sum(b, &terms, third, flip, carry, part(out, start));
    }
}

/// `out = Σ terms + (third xor flip) + carry`, without a third number as if it were zero; the carry
/// out replaces the carry.
fn sum(b: &mut Builder, terms: &[Limbs], third: Option<Limbs>, flip: R32, carry: R32, out: Limbs) {
    let terms: Vec<Cursor> = terms.iter().map(|limbs| limbs.cursor(b)).collect();
    let third = third.map(|limbs| limbs.cursor(b));
    let place = out.cursor(b);
    let all: Vec<Cursor> = terms.iter().copied().chain(third).chain([place]).collect();
    walk(b, out.len, &all, |b, n| {
        let mut rows: Vec<Vec<R32>> = terms.iter().map(|term| term.load(b, n)).collect();
        let flipped = third.map_or_else(
            || vec![flip; n as usize],
            |it| it.load(b, n).into_iter().map(|word| b.xor(word, flip)).collect(),
        );
        rows.push(flipped);
        let mut words = Vec::new();
        for k in 0..n as usize {
            let (low, high) = (b.copy(carry), b.copy(0));
            for row in &rows {
                let mut chain = b.chain();
                chain.add_into(low, low, row[k]);
                chain.end_add(high, high, 0);
            }
            b.set(carry, high);
            words.push(low);
        }
        place.store(b, &words);
    });
}
