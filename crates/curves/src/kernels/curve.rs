//! What the kernels compute with: residues of one fixed field, and the third point of a line.
//!
//! bound: `R > 2^7·p`. A lazy product of factors below `s·p` and `t·p` is below `(s·t/128 + 1)·p`; see
//! [`Montgomery`]. Sums and differences keep a multiple of `p` that is named beside them, and no number reaches `8p`,
//! so nothing is carried out of the top limb.

use num_bigint::BigUint;
use warpmp_kernel::build::{Builder, Emit, Pred, R32};
use warpmp_kernel::fragment::divsteps::{self, Pair, add_where, negate_where, sign};
use warpmp_kernel::fragment::{Montgomery, Spread, add_limbs, select};
use warpmp_kernel::ir::Cmp;

/// A curve over a prime field, as constants of a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Constants {
    /// The prime.
    pub p: BigUint,
    /// The curve's coefficient `a`, as a Montgomery residue.
    pub a: BigUint,
    /// Limbs of 32 bits of `R`.
    pub limbs: u32,
}

impl Constants {
    /// The constant `value mod 2^(32·limbs)` in registers.
    fn registers(&self, b: &mut Builder, value: &BigUint) -> Vec<R32> {
        let digits = value.to_u32_digits();
        (0..self.limbs as usize).map(|i| b.copy(digits.get(i).copied().unwrap_or(0))).collect()
    }
}

/// The field and the curve in the registers of a thread.
pub(super) struct Curve {
    ring: Montgomery,
    p: Vec<R32>,
    /// `2p`.
    p2: Vec<R32>,
    a: Vec<R32>,
    /// `R mod p`.
    one: Vec<R32>,
    /// `R³ mod p`: the product by it makes the residue of `1/x` from the inverse of the residue of `x`.
    cube: Vec<R32>,
}

impl Curve {
    pub(super) fn new(b: &mut Builder, constants: &Constants, thread: R32) -> Self {
        let Constants { p, a, limbs } = constants;
        let radix = BigUint::from(1_u32) << (32 * limbs);
        let one = &radix % p;
        let cube = &one * &one * &one % p;
        let spread = Spread::new(b, 1, *limbs as usize, thread);
        let [modulus, p2, a, one, cube] = [p, &(p * 2_u32), a, &one, &cube].map(|value| constants.registers(b, value));
        let ring = Montgomery::new(b, spread, &modulus, *limbs as usize);
        Self { ring, p: modulus, p2, a, one, cube }
    }

    /// The residue of one.
    pub(super) fn one(&self, b: &mut Builder) -> Vec<R32> {
        self.one.iter().map(|&limb| b.copy(limb)).collect()
    }

    /// `x·y/R`, lazy.
    pub(super) fn mul(&self, b: &mut Builder, x: &[R32], y: &[R32]) -> Vec<R32> {
        self.ring.mul_lazy(b, x, y).0
    }

    fn sqr(&self, b: &mut Builder, x: &[R32]) -> Vec<R32> {
        self.ring.sqr_lazy(b, x).0
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

    /// `3x² + a`, below `7p` for canonical `x`.
    pub(super) fn tangent(&self, b: &mut Builder, x: &[R32]) -> Vec<R32> {
        let square = self.sqr(b, x);
        let double = add(b, &square, &square);
        let triple = add(b, &double, &square);
        add(b, &triple, &self.a)
    }

    /// The third point, negated, of the line with this slope through `(x, y)` and a point with the abscissa `other`: both
    /// coordinates canonical. The slope is below `2p`, the rest canonical.
    pub(super) fn chord(&self, b: &mut Builder, [x, y]: [&[R32]; 2], other: &[R32], slope: &[R32]) -> [Vec<R32>; 2] {
        let square = self.sqr(b, slope);
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

    /// A number below `4p`, modulo `p`.
    fn canonical(&self, b: &mut Builder, x: &[R32]) -> Vec<R32> {
        let less = reduce(b, x, &self.p2);
        reduce(b, &less, &self.p)
    }

    /// `1/x`, lazy, as a residue; `x` below `2p`, not a multiple of `p`. All threads of the warp take part.
    pub(super) fn invert(&self, b: &mut Builder, x: &[R32]) -> Vec<R32> {
        let spread = &self.ring.spread;
        let numbers = Pair::new(b, &self.p, x);
        let inverse = divsteps::inverse(b, spread, &numbers);
        // From (−2p, p), up to the sign of the divisor that the steps end with, to (0, 2p).
        let negative = sign(b, spread, &numbers.first);
        let below = sign(b, spread, &inverse);
        let inverse = add_where(b, spread, below, &inverse, &self.p);
        let inverse = negate_where(b, spread, negative, &inverse);
        let inverse = add(b, &inverse, &self.p);
        self.mul(b, &inverse, &self.cube)
    }
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
fn reduce(b: &mut Builder, x: &[R32], m: &[R32]) -> Vec<R32> {
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
