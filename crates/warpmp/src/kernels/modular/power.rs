//! `pow_mod`: powers modulo an odd number.
//!
//! computes   `a^e mod m`; `x⁰ = 1 mod m`
//! requires   `m` odd (else the lane's status says so); `a`, `e` of any length
//! launch     32·warps threads a block, 32/group numbers a warp
//! cost       with windows of `w` bits: `n + 5` Montgomery squares for `n` bits of the exponent, and `n/w + 2^w + 1`
//!            products; `L` doublings, and one for each leading zero of `m`. A longer `a`: 2 products more for each
//!            `L` limbs. A public exponent: a square a bit, and a product for each bit that is set
//! memory     the table: `2^w` residues a lane in scratch memory, each lane its own; with secret exponents one more
//! registers  about `4.5·length + 26`, with shorter blocks than 20 limbs `5.5·length + 10`
//!
//! Every lane does the same: a digit of the exponent, zero or not, takes `w` squarings and a product. The first
//! digit takes none. `pow_mod_sec` reads all residues of the table for each digit and keeps the one it wants, so
//! that neither instructions nor addresses depend on the base or on the exponent. (The number of leading zeros of
//! the modulus, which is public, does show.)
//!
//! What is multiplied by lies in memory if it is long: the residues of the table, and the base as it is. So squares and
//! products need no more than `x`, the modulus and a window in registers.
//!
//! bound: see [`Montgomery`]; of a base of more than `L` limbs `Frame::residue`.
//!
//! source: Handbook of Applied Cryptography 14.82 (windows of fixed length), 14.94 (Montgomery's form).

use warpmp_kernel::build::{Builder, Emit, R32, R64};
use warpmp_kernel::fragment::{Montgomery, assign, repeat, select};
use warpmp_kernel::ir::{Cmp, Space, Vector};
use warpmp_launch::{Frame, Layout, Signature, Stage};

use super::super::{Spec, piece};
use super::OperandShape;
use super::checks::Checks;

/// The exponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Exponent {
    /// Operand `b` of the kernel.
    Operand(OperandShape),
    /// The same, and nothing but the result depends on it.
    Secret(OperandShape),
    /// This one, which is no secret: a part of the kernel.
    Public(u32),
}

/// Parameters of the kernel. Parameters of its launch: `a`, the exponent if it is an operand, the modulus, the
/// result, statuses, lanes, scratch memory if there is a table.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PowMod {
    /// The base.
    pub base: OperandShape,
    /// The exponent.
    pub exponent: Exponent,
    /// The modulus; the result has its limbs.
    pub modulus: OperandShape,
    /// How residues lie in the lanes.
    pub layout: Layout,
    /// Bits of a window, at least 1.
    pub window: u32,
}

impl PowMod {
    /// The usual parameters.
    pub fn new(base: OperandShape, exponent: Exponent, modulus: OperandShape) -> Self {
        let window = match exponent {
            // Products without the first digit: the table and a product a digit.
            Exponent::Operand(OperandShape { bits, .. }) => least(|w| (1 << w) + bits.div_ceil(w)),
            // Reading and choosing among the residues takes as long as two limb products for each limb of each.
            Exponent::Secret(OperandShape { bits, .. }) => {
                least(|w| (modulus.limbs() << w) + bits.div_ceil(w) * (modulus.limbs() + (1 << w)))
            }
            Exponent::Public(_) => 1,
        };
        Self { base, exponent, modulus, layout: Layout::of(modulus.limbs()), window }
    }

    /// Bits of an exponent that is an operand.
    pub(super) const fn exponent_bits(&self) -> u32 {
        match self.exponent {
            Exponent::Operand(exponent) | Exponent::Secret(exponent) => exponent.bits,
            Exponent::Public(_) => 0,
        }
    }

    fn signature(&self) -> Vec<OperandShape> {
        match self.exponent {
            Exponent::Operand(exponent) | Exponent::Secret(exponent) => vec![self.base, exponent, self.modulus],
            Exponent::Public(_) => vec![self.base, self.modulus],
        }
    }

    /// A stage with these parameters.
    pub(super) fn stage<'s>(&self, name: String, body: impl Fn(&mut Builder, &Frame) + 's) -> Stage<'s> {
        let signature = Signature::new(self.signature(), [self.modulus.limbs()]);
        self.layout.stage(name, signature.with_status().with_scratch(self.scratch_limbs()), body)
    }

    fn body(&self, b: &mut Builder, frame: &Frame) {
        b.section("load");
        let last = self.signature().len() - 1;
        let modulus = frame.load(b, last);
        let (modulus, _) = frame.odd_modulus(b, &modulus);
        b.section("arithmetic");
        let ring = Montgomery::new(b, frame.spread, &modulus, self.modulus.limbs() as usize);
        let result = match self.exponent {
            Exponent::Public(exponent) => self.public(b, frame, &ring, exponent),
            Exponent::Operand(_) | Exponent::Secret(_) => {
                let power = self.windows(b, frame, &ring);
                ring.redc(b, &power, None)
            }
        };
        // The status is found anew: what lives through all of the powers is spilled first.
        let modulus = frame.load(b, last);
        let (_, status) = frame.odd_modulus(b, &modulus);
        frame.finish(b, status, &[&result]);
    }

    /// The base as a Montgomery residue.
    fn base(&self, b: &mut Builder, frame: &Frame, ring: &Montgomery, square: &[R32]) -> Vec<R32> {
        let limbs = self.modulus.limbs();
        if self.base.limbs() <= limbs {
            return self.mul_by_base(b, frame, ring, square);
        }
        frame.residue(b, ring, (0, limbs), square)
    }

    /// The power as a Montgomery residue.
    pub(super) fn windows(&self, b: &mut Builder, frame: &Frame, ring: &Montgomery) -> Vec<R32> {
        let bits = self.exponent_bits();
        let table = Table { frame, limbs: self.residue_limbs(), entries: 1 << self.window, row: frame.scratch };
        let one = ring.one(b);
        table.write(b, 0, &one);
        let square = ring.square_of_r(b, &one);
        let base = self.base(b, frame, ring, &square);
        table.fill(b, ring, &base);
        let digits = bits.div_ceil(self.window);
        let exponent = frame.operand_row(b, 1);
        let secret = matches!(self.exponent, Exponent::Secret(..));
        let bit = b.copy((digits - 1) * self.window);
        let digit = self.digit(b, frame, exponent, bit);
        let first = if secret { table.scan(b, digit) } else { table.read(b, digit) };
        let x: Vec<R32> = first.iter().map(|&limb| b.copy(limb)).collect();
        if digits == 1 {
            return x;
        }
        repeat(b, digits - 1, |b| {
            repeat(b, self.window, |b| {
                let squared = ring.sqr(b, &x);
                assign(b, &x, &squared);
            });
            // The residue comes when the squares are done: before, it would take registers from them.
            b.decrease(bit, self.window);
            let digit = self.digit(b, frame, exponent, bit);
            let product = if secret { table.mul_secretly(b, ring, &x, digit) } else { table.mul(b, ring, &x, digit) };
            assign(b, &x, &product);
        });
        x
    }

    /// The window of the exponent that begins at a bit.
    pub(super) fn digit(&self, b: &mut Builder, frame: &Frame, row: R64, bit: R32) -> R32 {
        digit(b, row, frame.limbs(1), bit, self.window)
    }

    /// Limbs of a residue in the table.
    const fn residue_limbs(&self) -> u32 {
        self.layout.group * self.layout.length
    }
}

/// The window of `bits` bits that begins at a bit of the exponent, which has `limbs` limbs at `row`.
pub(in crate::kernels) fn digit(b: &mut Builder, row: R64, limbs: u32, bit: R32, bits: u32) -> R32 {
    let index = b.shr(bit, 5);
    let address = b.mad_wide(index, 4, row);
    let low = b.load_global(Space::Global, Vector::V1, address, 0)[0];
    if 32 % bits == 0 {
        let place = b.and(bit, 31);
        let shifted = b.shr(low, place);
        return b.and(shifted, (1 << bits) - 1);
    }
    let high = b.copy(0);
    let more = b.compare(Cmp::Lt, index, limbs - 1);
    b.guarded(more, true, |g| g.load_into(Space::Global, Vector::V1, &[high], address, 4));
    let shifted = b.funnel_right(low, high, bit);
    b.and(shifted, (1 << bits) - 1)
}

/// The window that costs least; longer ones gain less than their table takes in memory.
fn least(cost: impl Fn(u32) -> u32) -> u32 {
    (1..=6).min_by_key(|&w| cost(w)).unwrap_or(1)
}

impl PowMod {
    /// The power by squarings and products from the exponent's top bit down; the last product takes the base as it is,
    /// so that the result is no Montgomery residue.
    fn public(&self, b: &mut Builder, frame: &Frame, ring: &Montgomery, exponent: u32) -> Vec<R32> {
        let one = ring.one(b);
        let Some(top) = exponent.checked_ilog2() else { return ring.redc(b, &one, None) };
        let square = ring.square_of_r(b, &one);
        let base = self.base(b, frame, ring, &square);
        let x: Vec<R32> = base.iter().map(|&limb| b.copy(limb)).collect();
        // An odd exponent's last bit is left to the end.
        let ends_plain = exponent & 1 == 1 && top > 0 && self.base.limbs() <= self.modulus.limbs();
        let products = if ends_plain { exponent & !1 } else { exponent };
        let products = products & ((1 << top) - 1);
        if top > 0 {
            let pending = b.copy(products.reverse_bits() >> (32 - top));
            repeat(b, top, |b| {
                let squared = ring.sqr(b, &x);
                assign(b, &x, &squared);
                if products != 0 {
                    let bit = b.and(pending, 1);
                    let is_set = b.compare(Cmp::Ne, bit, 0);
                    b.if_(is_set, |b| {
                        let product = ring.mul(b, &x, &base);
                        assign(b, &x, &product);
                    });
                    let rest = b.shr(pending, 1);
                    b.set(pending, rest);
                }
            });
        }
        if ends_plain { self.mul_by_base(b, frame, ring, &x) } else { ring.redc(b, &x, None) }
    }

    /// `x·a/R mod m` for a base `a < R`.
    fn mul_by_base(&self, b: &mut Builder, frame: &Frame, ring: &Montgomery, x: &[R32]) -> Vec<R32> {
        if let Some(base) = frame.stream_operand(b, 0, self.modulus.limbs()) {
            return ring.mul(b, x, base);
        }
        let base = frame.load(b, 0);
        ring.mul(b, x, &base)
    }
}

/// The residues `1, a, a², …` in scratch memory, and a place for one more.
struct Table<'f> {
    frame: &'f Frame,
    /// Limbs of a residue.
    limbs: u32,
    entries: u32,
    row: Option<R64>,
}

impl Table<'_> {
    /// The residues from 1 on.
    fn fill(&self, b: &mut Builder, ring: &Montgomery, base: &[R32]) {
        self.write(b, 1, base);
        let Some(row) = self.row.filter(|_| self.entries > 2) else { return };
        let at = b.add64(row, u64::from(4 * self.limbs));
        let first = b.copy64(at);
        let x: Vec<R32> = base.iter().map(|&limb| b.copy(limb)).collect();
        repeat(b, self.entries - 2, |b| {
            let product = self.mul_at(b, ring, &x, first);
            assign(b, &x, &product);
            b.increase64(at, u64::from(4 * self.limbs));
            self.frame.write(b, at, self.limbs, piece(self.limbs), &x);
        });
        self.written(b);
    }

    fn write(&self, b: &mut Builder, entry: u32, residue: &[R32]) {
        let Some(row) = self.row else { return };
        let at = b.add64(row, u64::from(4 * entry * self.limbs));
        self.frame.write(b, at, self.limbs, piece(self.limbs), residue);
        self.written(b);
    }

    /// Lanes of a group read what others have written.
    fn written(&self, b: &mut Builder) {
        if self.frame.spread.group > 1 {
            self.frame.spread.fence(b);
        }
    }

    fn address(&self, b: &mut Builder, digit: R32) -> Option<R64> {
        self.row.map(|row| b.mad_wide(digit, 4 * self.limbs, row))
    }

    fn read(&self, b: &mut Builder, digit: R32) -> Vec<R32> {
        let Some(address) = self.address(b, digit) else { return Vec::new() };
        self.frame.read(b, address, 0, self.limbs, piece(self.limbs))
    }

    /// `x` times the residue of the digit.
    fn mul(&self, b: &mut Builder, ring: &Montgomery, x: &[R32], digit: R32) -> Vec<R32> {
        let Some(address) = self.address(b, digit) else { return Vec::new() };
        self.mul_at(b, ring, x, address)
    }

    fn mul_at(&self, b: &mut Builder, ring: &Montgomery, x: &[R32], address: R64) -> Vec<R32> {
        if let Some(factor) = self.frame.stream(address, self.limbs) {
            return ring.mul(b, x, factor);
        }
        let residue = self.frame.read(b, address, 0, self.limbs, piece(self.limbs));
        ring.mul(b, x, &residue)
    }

    /// The same by instructions and addresses that do not depend on the digit.
    fn mul_secretly(&self, b: &mut Builder, ring: &Montgomery, x: &[R32], digit: R32) -> Vec<R32> {
        let residue = self.scan(b, digit);
        let Some(row) = self.row.filter(|&row| self.frame.stream(row, self.limbs).is_some()) else {
            return ring.mul(b, x, &residue);
        };
        self.write(b, self.entries, &residue);
        let address = b.add64(row, u64::from(4 * self.entries * self.limbs));
        self.mul_at(b, ring, x, address)
    }

    /// The residue of the digit, by reading all.
    fn scan(&self, b: &mut Builder, digit: R32) -> Vec<R32> {
        let Some(row) = self.row else { return Vec::new() };
        let found: Vec<R32> = (0..self.frame.spread.length).map(|_| b.copy(0)).collect();
        let at = b.copy64(row);
        let number = b.copy(0);
        repeat(b, self.entries, |b| {
            let entry = self.frame.read(b, at, 0, self.limbs, piece(self.limbs));
            let wanted = b.compare(Cmp::Eq, number, digit);
            let kept = select(b, wanted, &entry, &found);
            assign(b, &found, &kept);
            b.increase(number, 1);
            b.increase64(at, u64::from(4 * self.limbs));
        });
        found
    }
}

impl Spec for PowMod {
    fn name(&self) -> String {
        let (function, exponent) = match self.exponent {
            Exponent::Operand(exponent) => ("pow_mod", format!("{}b{}", exponent.name(), exponent.bits)),
            Exponent::Secret(exponent) => ("pow_mod_sec", format!("{}b{}", exponent.name(), exponent.bits)),
            Exponent::Public(exponent) => ("pow_mod_public", format!("_e{exponent}")),
        };
        let (base, modulus) = (self.base.name(), self.modulus.name());
        format!("{function}{base}{exponent}{modulus}_w{}{}", self.window, self.layout.name())
    }

    fn scratch_limbs(&self) -> u32 {
        match self.exponent {
            Exponent::Public(_) => 0,
            Exponent::Operand(_) => self.residue_limbs() << self.window,
            Exponent::Secret(..) => self.residue_limbs() * ((1 << self.window) + 1),
        }
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        vec![self.stage(self.name(), |b, frame| self.body(b, frame))]
    }

    fn wide_products(&self) -> u64 {
        let limbs = self.modulus.limbs();
        let (product, square) = (self.layout.products(limbs), self.layout.square_products(limbs));
        let base = if self.base.limbs() <= limbs { 1 } else { 2 * self.base.limbs() / limbs };
        let (squares, products) = match self.exponent {
            Exponent::Operand(exponent) | Exponent::Secret(exponent) => {
                let digits = exponent.bits.div_ceil(self.window) - 1;
                (digits * self.window, (1 << self.window) - 2 + digits)
            }
            Exponent::Public(exponent) => (exponent.checked_ilog2().unwrap_or(0), exponent.count_ones()),
        };
        u64::from(5 + squares) * square + u64::from(base + products) * product + product / 2
    }
}
