//! What the kernels compute with: residues of one fixed field, and the third point of a line.
//!
//! A *lazy* number is reduced only as far as a product needs. With [`Fold`] it is any number below `R`; see `fold.rs`.
//!
//! bound of Montgomery's products: `R > 2^7·p`. A lazy product of factors below `s·p` and `t·p` is below `(s·t/128 + 1)·p`; see
//! [`Montgomery`]. Sums and differences keep a multiple of `p` that is named beside them, and no number but a short product reaches
//! `8p`, so nothing is carried out of the top limb.
//!
//! A *short* product takes a quotient fewer than `R` has limbs. It is `B = 2³²` times the residue, and larger by up to a limb. Where
//! `R` has room for that, the inverse of a denominator and the slope are such products; the inverse of a round's product makes up for
//! their factors. See [`short_products`].

use num_bigint::BigUint;
use warpmp_kernel::build::{Builder, Emit, Pred, R32};
use warpmp_kernel::fragment::divsteps::{self, Pair, add_where, negate_where, sign};
use warpmp_kernel::fragment::{Montgomery, Spread, add_limbs, select};
use warpmp_kernel::ir::Cmp;

use super::fold::{Fold, Multiple};

/// A curve over a prime field, as constants of a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Constants {
    /// The prime.
    pub p: BigUint,
    /// The curve's coefficient `a`, as a Montgomery residue.
    pub a: BigUint,
    /// Limbs of 32 bits of `R`.
    pub limbs: u32,
    /// How products are reduced. Every reduction makes the same walk.
    pub reduction: Reduction,
}

/// How products are reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reduction {
    /// By Montgomery's method.
    Montgomery,
    /// Modulo a multiple of the prime that is a little less than `R`.
    Fold(Multiple),
}

impl Constants {
    /// The constants with the fastest reduction that the prime allows. The coefficient is a Montgomery residue.
    pub fn new(p: BigUint, a: BigUint, limbs: u32) -> Self {
        let reduction = Multiple::of(&p, limbs).map_or(Reduction::Montgomery, Reduction::Fold);
        Self { p, a, limbs, reduction }
    }

    /// Wide products of a step of the walk without its share of an inversion: five products and a square.
    pub fn step_products(&self) -> u64 {
        let limbs = u64::from(self.limbs);
        let square = if limbs < Montgomery::SQUARE_FROM as u64 { limbs * limbs } else { limbs * (limbs + 1) / 2 };
        match self.reduction {
            Reduction::Montgomery => {
                let short = short_products(&self.p, self.limbs).into_iter().filter(|short| *short).count() as u64;
                (5 * 2 * limbs - short) * limbs + square + limbs * limbs
            }
            // A fold is a row, and so is the factor of the slope's square; two canonical forms.
            Reduction::Fold(_) => 5 * (limbs * limbs + limbs) + square + limbs + limbs + 2 * limbs,
        }
    }

    /// Its part of a kernel's name.
    pub(super) fn name(&self) -> String {
        match self.reduction {
            Reduction::Montgomery => self.limbs.to_string(),
            Reduction::Fold(_) => format!("{}_fold", self.limbs),
        }
    }
}

/// The constant `value mod 2^(32·limbs)` in registers.
pub(super) fn constant(b: &mut Builder, value: &BigUint, limbs: u32) -> Vec<R32> {
    let digits = value.to_u32_digits();
    (0..limbs as usize).map(|i| b.copy(digits.get(i).copied().unwrap_or(0))).collect()
}

/// The field and the curve in the registers of a thread.
pub(super) struct Curve {
    spread: Spread,
    products: Products,
    p: Vec<R32>,
    /// `2p`.
    p2: Vec<R32>,
    a: Vec<R32>,
    /// The number by which a product changes nothing: `R mod p` or 1.
    one: Vec<R32>,
}

/// Products of residues.
enum Products {
    Montgomery {
        ring: Montgomery,
        /// Does a slope take short products? See [`short_products`].
        short: [bool; 2],
        /// `R³ mod p`: the product by it makes the residue of `1/x` from the inverse of the residue of `x`. Divided by `B` for each
        /// short product of a slope.
        cube: Vec<R32>,
    },
    Fold(Fold),
}

impl Curve {
    pub(super) fn new(b: &mut Builder, constants: &Constants, thread: R32) -> Self {
        let Constants { p, a, limbs, reduction } = constants;
        let radix = BigUint::from(1_u32) << (32 * limbs);
        let one = &radix % p;
        let spread = Spread::new(b, 1, *limbs as usize, thread);
        let mut constants = |values: [&BigUint; 4]| values.map(|value| constant(b, value, *limbs));
        match reduction {
            Reduction::Montgomery => {
                let [modulus, p2, a, unit] = constants([p, &(p * 2_u32), a, &one]);
                let short = short_products(p, *limbs);
                let shorter = short.iter().filter(|short| **short).count() as u32;
                let unit_inverse = (BigUint::from(1_u32) << (32 * shorter)).modinv(p).unwrap_or_default();
                let cube = constant(b, &(&one * &one * &one * unit_inverse % p), *limbs);
                let ring = Montgomery { spare: true, ..Montgomery::new(b, spread, &modulus, *limbs as usize) };
                Self { spread, products: Products::Montgomery { ring, short, cube }, p: modulus, p2, a, one: unit }
            }
            Reduction::Fold(multiple) => {
                let [modulus, p2, a, unit] = constants([p, &(p * 2_u32), a, &BigUint::from(1_u32)]);
                let fold = Fold::new(b, *multiple, p, *limbs);
                Self { spread, products: Products::Fold(fold), p: modulus, p2, a, one: unit }
            }
        }
    }

    /// The number by which a product changes nothing.
    pub(super) fn one(&self, b: &mut Builder) -> Vec<R32> {
        self.one.iter().map(|&limb| b.copy(limb)).collect()
    }

    /// The product, lazy.
    pub(super) fn mul(&self, b: &mut Builder, x: &[R32], y: &[R32]) -> Vec<R32> {
        match &self.products {
            Products::Montgomery { ring, .. } => ring.mul_lazy(b, x, y).0,
            Products::Fold(fold) => fold.mul(b, x, y),
        }
    }

    /// The inverse of a denominator, for [`Curve::slope`], from the inverse of a product and the product of the other factors.
    pub(super) fn own(&self, b: &mut Builder, inverse: &[R32], others: &[R32]) -> Vec<R32> {
        match &self.products {
            Products::Montgomery { ring, short: [true, _], .. } => ring.mul_short(b, inverse, others),
            _ => self.mul(b, inverse, others),
        }
    }

    /// The slope, lazy, for a rise below `8p`.
    pub(super) fn slope(&self, b: &mut Builder, rise: &[R32], own: &[R32]) -> Vec<R32> {
        match &self.products {
            Products::Montgomery { ring, short: [_, true], .. } => ring.mul_short(b, rise, own),
            _ => self.mul(b, rise, own),
        }
    }

    /// `x + p − y`, in `(0, 2p)` for canonical `x` and `y`.
    pub(super) fn difference(&self, b: &mut Builder, x: &[R32], y: &[R32]) -> Vec<R32> {
        let raised = add(b, x, &self.p);
        sub(b, &raised, y)
    }

    /// `p − x`.
    pub(super) fn negate(&self, b: &mut Builder, x: &[R32]) -> Vec<R32> {
        sub(b, &self.p, x)
    }

    /// `3x² + a`, lazy, below `7p` with Montgomery's products, for canonical `x`.
    pub(super) fn tangent(&self, b: &mut Builder, x: &[R32]) -> Vec<R32> {
        match &self.products {
            Products::Montgomery { ring, .. } => {
                let square = ring.sqr_lazy(b, x).0;
                let double = add(b, &square, &square);
                let triple = add(b, &double, &square);
                add(b, &triple, &self.a)
            }
            Products::Fold(fold) => {
                let triple = fold.triple_square(b, x);
                fold.add(b, &triple, &self.a)
            }
        }
    }

    /// The third point, negated, of the line with this slope through `(x, y)` and a point with the abscissa `other`: both
    /// coordinates canonical. The slope is lazy, the rest canonical.
    pub(super) fn chord(&self, b: &mut Builder, [x, y]: [&[R32]; 2], other: &[R32], slope: &[R32]) -> [Vec<R32>; 2] {
        match &self.products {
            Products::Montgomery { ring, .. } => {
                let square = ring.sqr_lazy(b, slope).0;
                let raised = add(b, &square, &self.p2);
                let less = sub(b, &raised, x);
                // In (0, 3p + p/32).
                let less = sub(b, &less, other);
                let x3 = self.canonical(b, &less);
                let run = self.difference(b, x, &x3);
                let rise = self.mul(b, slope, &run);
                // In (0, 2p + p/32).
                let y3 = self.difference(b, &rise, y);
                (x3, self.canonical(b, &y3)).into()
            }
            Products::Fold(fold) => {
                let square = fold.sqr(b, slope);
                let raised = sub(b, &self.p2, x);
                let raised = sub(b, &raised, other);
                let x3 = fold.raised_sum(b, &square, &raised);
                let run = self.difference(b, x, &x3);
                let rise = fold.mul(b, slope, &run);
                let raised = sub(b, &self.p, y);
                (x3, fold.sum(b, &rise, &raised)).into()
            }
        }
    }

    /// A number below `4p`, modulo `p`.
    fn canonical(&self, b: &mut Builder, x: &[R32]) -> Vec<R32> {
        let less = reduce(b, x, &self.p2);
        reduce(b, &less, &self.p)
    }

    /// The lazy number whose product with `x` is [`one`](Self::one); `x` lazy, not a multiple of `p`. All threads of the warp
    /// take part.
    pub(super) fn invert(&self, b: &mut Builder, x: &[R32]) -> Vec<R32> {
        let spread = &self.spread;
        let numbers = match &self.products {
            Products::Montgomery { .. } => Pair::new(b, &self.p, x),
            Products::Fold(fold) => {
                let x = fold.canonical(b, x, 0);
                Pair::new(b, &self.p, &x)
            }
        };
        let inverse = divsteps::inverse(b, spread, &numbers);
        // From (−2p, p), up to the sign of the divisor that the steps end with, to (0, 2p).
        let negative = sign(b, spread, &numbers.first);
        let below = sign(b, spread, &inverse);
        let inverse = add_where(b, spread, below, &inverse, &self.p);
        let inverse = negate_where(b, spread, negative, &inverse);
        let inverse = add(b, &inverse, &self.p);
        match &self.products {
            Products::Montgomery { cube, .. } => self.mul(b, &inverse, cube),
            Products::Fold(_) => inverse,
        }
    }
}

/// Can the inverse of a denominator be a product with a quotient fewer, and the slope? Such a product is larger by a limb, so the
/// prime must have that much fewer bits than `R`.
///
/// bound: inverses and prefix products are below `17p/16`, a rise below `8p`. The square of the slope is below `p + p/32`, and so is
/// its product with a difference below `2p`.
fn short_products(p: &BigUint, limbs: u32) -> [bool; 2] {
    let power = |bits: u32| BigUint::from(1_u32) << bits;
    let radix = 32 * limbs;
    let rows = |short: bool| radix - if short { 32 } else { 0 };
    let fits = |[own, slope]: [bool; 2]| {
        let inverse = p * 17_u32 / 16_u32 + 1_u32;
        let own = ((&inverse * &inverse) >> rows(own)) + p + 1_u32;
        let slope = ((p * 8_u32 * &own) >> rows(slope)) + p + 1_u32;
        let least = p >> 5;
        own < power(radix) && (&slope * &slope) >> radix < least && (&slope * p * 2_u32) >> radix < least
    };
    [[true, true], [true, false]].into_iter().find(|short| fits(*short)).unwrap_or_default()
}

/// `x + y`.
pub(super) fn add(b: &mut Builder, x: &[R32], y: &[R32]) -> Vec<R32> {
    add_limbs(b, x, y).0
}

/// `x − y`, not negative.
fn sub(b: &mut Builder, x: &[R32], y: &[R32]) -> Vec<R32> {
    sub_borrowing(b, x, y).0
}

/// `x − y`; all ones if it is negative.
fn sub_borrowing(b: &mut Builder, x: &[R32], y: &[R32]) -> (Vec<R32>, R32) {
    let mut chain = b.chain();
    let difference = x.iter().zip(y).map(|(&x, &y)| chain.sub(x, y)).collect();
    (difference, chain.borrow_mask())
}

/// `x` modulo `m`, below `2m`.
pub(super) fn reduce(b: &mut Builder, x: &[R32], m: &[R32]) -> Vec<R32> {
    let (difference, borrow) = sub_borrowing(b, x, m);
    let less = b.compare(Cmp::Ne, borrow, 0);
    select(b, less, x, &difference)
}

/// Is `x < y`?
pub(super) fn below(b: &mut Builder, x: &[R32], y: &[R32]) -> Pred {
    let (_, borrow) = sub_borrowing(b, x, y);
    b.compare(Cmp::Ne, borrow, 0)
}

/// Is `x = y`?
pub(super) fn same(b: &mut Builder, x: &[R32], y: &[R32]) -> Pred {
    let mut different: Option<R32> = None;
    for (&x, &y) in x.iter().zip(y) {
        let bits = b.xor(x, y);
        different = Some(different.map_or(bits, |sum| b.or(sum, bits)));
    }
    let different = different.unwrap_or_else(|| unreachable!("a number has limbs"));
    b.compare(Cmp::Eq, different, 0)
}

/// Is the number odd?
pub(super) fn odd(b: &mut Builder, x: &[R32]) -> Pred {
    let parity = b.and(x[0], 1);
    b.compare(Cmp::Ne, parity, 0)
}
