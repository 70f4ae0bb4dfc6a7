//! `strong_test`, `miller_rabin`: is a number a strong probable prime to a base?
//!
//! computes   with `n − 1 = d·2^s`, `d` odd: 1 if `a^d = 1` or one of `a^d, a^(2d), … a^(2^(s−1)·d)` is `n − 1`, modulo
//!            `n`; else 0, and for even `n`, for 0 and for 1 always 0
//! requires   nothing: `n` and `a` of any length
//! launch     32·warps threads a block, 32/group numbers a warp
//! cost       base 2: a Montgomery square and a doubling for each bit of `n`. Any other base: as a power with windows of
//!            `w` bits, `n + n/w` products and `2^w` for the table. Then for most warps fewer than ten squares, those of
//!            its number with the largest `s`; and `R mod n`, for other bases `R² mod n`, as for powers
//! memory     scratch: the residue of 1, for other bases `2^w` residues a lane
//! registers  base 2: about `4·length + 40`, others `6·length + 50`
//!
//! For base 2 the exponent is `n − 1` itself, from its top bit down, so that `a^d` and the squares after it pass by on
//! the way, in each lane in its own place: at bit `i` of the number, for `i ≤ s`, stands `2^(d·2^(s−i))`. Only
//! there, hence at the end of the loop and where any lane of the warp needs it, are residues compared. The bits are
//! read from the number's row in memory, a word at a time; a multiplication by 2 is a shift by the bit.
//!
//! bound: where `n` has at least four bits fewer than its limbs, `R > 16n`, and nothing is reduced but for comparisons:
//! from `x < 4n`, the square's `x²/R + n` is below `2n`, twice that below `4n`. Three subtractions then reduce it.
//!
//! source: Miller 1976; Rabin 1980; Handbook of Applied Cryptography 4.24; not to reduce between products, Walter 1999,
//! the rest is ours.

use warpmp_kernel::build::{Builder, Emit, Pred, R32, R64};
use warpmp_kernel::fragment::{Montgomery, assign, repeat};
use warpmp_kernel::ir::{Cmp, Shuffle, Space, Vector, Vote};
use warpmp_launch::{Frame, Layout, Signature, Stage};

use super::super::{Spec, piece};
use super::OperandShape;
use super::checks::Checks;

mod windows;

/// Bits that the limbs of `R` have more than the number, for residues not to be reduced.
const SLACK: u32 = 4;

/// Lanes of a warp. A number of more lanes has them for itself, and they all have the same values.
const WARP: u32 = 32;

/// The base of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Base {
    /// The same for all numbers; 2 is the fast one.
    Number(u32),
    /// The kernel's first operand.
    Operand(OperandShape),
}

/// Parameters of the kernel. Parameters of its launch: the bases if they are an operand, the numbers, the verdicts,
/// lanes, scratch memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StrongTest {
    /// The base.
    pub base: Base,
    /// The numbers.
    pub number: OperandShape,
    /// How residues lie in the lanes.
    pub layout: Layout,
    /// Bits of a window, for bases other than 2.
    pub window: u32,
}

impl StrongTest {
    /// The usual parameters.
    pub fn new(base: Base, number: OperandShape) -> Self {
        // Products: the table and one a digit.
        let window = (1..=6).min_by_key(|&w| (1 << w) + number.bits.div_ceil(w)).unwrap_or(1);
        Self { base, number, layout: Layout::of(number.limbs()), window }
    }

    fn is_lazy(&self) -> bool {
        32 * self.number.limbs() >= self.number.bits + SLACK
    }

    /// Which operand the numbers are.
    const fn number_at(&self) -> usize {
        match self.base {
            Base::Number(_) => 0,
            Base::Operand(_) => 1,
        }
    }

    fn operands(&self) -> Vec<OperandShape> {
        match self.base {
            Base::Number(_) => vec![self.number],
            Base::Operand(base) => vec![base, self.number],
        }
    }

    /// Residues in scratch memory.
    const fn entries(&self) -> u32 {
        if matches!(self.base, Base::Number(2)) { 1 } else { 1 << self.window }
    }

    /// Limbs of a residue there.
    const fn residue_limbs(&self) -> u32 {
        self.layout.group * self.layout.length
    }

    fn body(&self, b: &mut Builder, frame: &Frame) {
        b.section("load");
        let at = self.number_at();
        let number = frame.load(b, at);
        let (number, _) = frame.odd_modulus(b, &number);
        b.section("arithmetic");
        let ring = Montgomery::new(b, frame.spread, &number, self.number.limbs() as usize);
        let one = ring.one(b);
        let test = Test {
            spec: self,
            frame,
            row: frame.operand_row(b, at),
            twos: twos(b, frame, &number),
            verdict: b.copy(0),
            ring,
        };
        if self.base == Base::Number(2) {
            test.of_two(b, &one);
        } else {
            test.of_any(b, &one);
        }
        b.section("store");
        let lowest = b.load_global(Space::Global, Vector::V1, test.row, 0)[0];
        let verdict = b.and(lowest, test.verdict);
        let result = frame.result_row(b, 0);
        frame.by_bottom(b, |g| g.store_global(Space::Global, &[verdict], result, 0));
    }
}

/// A test under way.
struct Test<'t> {
    spec: &'t StrongTest,
    frame: &'t Frame,
    ring: Montgomery,
    /// Of the number.
    row: R64,
    /// `s`, the same in all lanes of a group; 0 for 1.
    twos: R32,
    /// 1 once the number has passed.
    verdict: R32,
}

impl Test<'_> {
    /// Base 2.
    fn of_two(&self, b: &mut Builder, one: &[R32]) {
        self.keep(b, 0, one);
        let x: Vec<R32> = one.iter().map(|&limb| b.copy(limb)).collect();
        let length = bit_length(b, self.frame, &self.ring.modulus);
        let length = warp_max(b, length);
        let top = b.sub(length, 1);
        let bit = b.max(top, 1);
        b.do_while(|b| {
            let index = b.shr(bit, 5);
            let address = b.mad_wide(index, 4, self.row);
            let limb = b.load_global(Space::Global, Vector::V1, address, 0)[0];
            let shifted = b.funnel_right(limb, 0, bit);
            let is_set = b.and(shifted, 1);
            let square = self.square(b, &x);
            let power = self.shifted(b, &square, is_set);
            assign(b, &x, &power);
            let due = b.compare(Cmp::Le, bit, self.twos);
            let any = b.vote(Vote::Any, due);
            b.if_(any, |b| {
                let (is_one, is_minus_one) = self.stands(b, &x);
                let first = b.compare(Cmp::Eq, bit, self.twos);
                let one = b.and_pred(first, is_one);
                let passed = b.and_pred(due, is_minus_one);
                let passed = b.or_pred(passed, one);
                self.pass(b, passed);
            });
            b.decrease(bit, 1);
            // A vote, because `ptxas` does not see that all lanes have the same bit.
            let more = b.compare(Cmp::Ne, bit, 0);
            b.vote(Vote::Any, more)
        });
    }

    /// `x²/R`: below `2n` if residues are not reduced, else below `n`.
    fn square(&self, b: &mut Builder, x: &[R32]) -> Vec<R32> {
        if self.spec.is_lazy() { self.ring.sqr_lazy(b, x).0 } else { self.ring.sqr(b, x) }
    }

    fn product(&self, b: &mut Builder, x: &[R32], y: &[R32]) -> Vec<R32> {
        if self.spec.is_lazy() { self.ring.mul_lazy(b, x, y).0 } else { self.ring.mul(b, x, y) }
    }

    /// `x·2^bit` for one bit, reduced if residues are.
    fn shifted(&self, b: &mut Builder, x: &[R32], bit: R32) -> Vec<R32> {
        let spread = &self.frame.spread;
        let top = x[x.len() - 1];
        let below = spread.from_below(b, top);
        let limbs: Vec<R32> =
            (0..x.len()).map(|k| b.funnel_left(if k == 0 { below } else { x[k - 1] }, x[k], bit)).collect();
        if self.spec.is_lazy() {
            return limbs;
        }
        let out = b.shr(top, 31);
        let out = b.and(out, bit);
        let above = spread.top(b, out);
        spread.reduce_once(b, &limbs, above, &self.ring.modulus)
    }

    /// Writes a residue to scratch memory; the first one is that of 1.
    fn keep(&self, b: &mut Builder, entry: u32, residue: &[R32]) {
        if let Some(scratch) = self.frame.scratch {
            let limbs = self.spec.residue_limbs();
            let row = if entry == 0 { scratch } else { b.add64(scratch, u64::from(4 * entry * limbs)) };
            self.frame.write(b, row, limbs, piece(limbs), residue);
        }
    }

    /// A residue from there.
    fn kept(&self, b: &mut Builder, entry: R32) -> Vec<R32> {
        let Some(scratch) = self.frame.scratch else { return Vec::new() };
        let limbs = self.spec.residue_limbs();
        let row = b.mad_wide(entry, 4 * limbs, scratch);
        self.frame.read(b, row, 0, limbs, piece(limbs))
    }

    /// Is it 1, is it `n − 1`?
    fn stands(&self, b: &mut Builder, x: &[R32]) -> (Pred, Pred) {
        let (spread, modulus) = (&self.frame.spread, &self.ring.modulus);
        let reduced: Vec<R32> = x.iter().map(|&limb| b.copy(limb)).collect();
        if self.spec.is_lazy() {
            repeat(b, 3, |b| {
                let none = b.copy(0);
                let less = spread.reduce_once(b, &reduced, none, modulus);
                assign(b, &reduced, &less);
            });
        }
        let zero = b.copy(0);
        let one = self.kept(b, zero);
        // 1 and n − 1 make n; n has a bit more at most than there is room for, and then this is no sum of two residues.
        let (sum, _) = spread.add(b, &reduced, &one);
        let is_minus_one = equal(b, self.frame, &sum, modulus);
        (equal(b, self.frame, &reduced, &one), is_minus_one)
    }

    fn pass(&self, b: &mut Builder, passed: Pred) {
        let verdict = b.select(1, self.verdict, passed);
        b.set(self.verdict, verdict);
    }
}

/// Are they equal? The same in all lanes of the group.
fn equal(b: &mut Builder, frame: &Frame, x: &[R32], y: &[R32]) -> Pred {
    let difference: Vec<R32> = x.iter().zip(y).map(|(&x, &y)| b.xor(x, y)).collect();
    frame.spread.is_zero(b, &difference)
}

/// The factors two of `n − 1` for an odd `n`, the same in all lanes of a group; 0 for 1.
fn twos(b: &mut Builder, frame: &Frame, number: &[R32]) -> R32 {
    let spread = &frame.spread;
    let ones = spread.small(b, 1);
    let lowest = b.xor(number[0], ones[0]);
    let all = 32 * spread.group * spread.length as u32;
    if spread.group > WARP {
        let mut even = number.to_vec();
        even[0] = lowest;
        let zeros = spread.trailing_zeros(b, &even);
        let some = b.compare(Cmp::Lt, zeros, all);
        return b.select(zeros, 0, some);
    }
    // Bits of this lane below its lowest one. No predicates: there would be one a limb, at the same time.
    let zeros = b.copy(0);
    let mut open = b.copy(u32::MAX);
    for (k, &limb) in number.iter().enumerate() {
        let limb = if k == 0 { lowest } else { limb };
        let less = b.sub(limb, 1);
        let below = b.lop3(less, limb, 0, 0x30);
        let count = b.popc(below);
        let counted = b.and(count, open);
        b.increase(zeros, counted);
        let whole = b.shr(count, 5);
        let whole = b.sub(0, whole);
        open = b.and(open, whole);
    }
    let bits = 32 * spread.length as u32;
    let here = b.mad_lo(spread.member, bits, zeros);
    let some = b.compare(Cmp::Ne, zeros, bits);
    let here = b.select(here, all, some);
    let lowest = if spread.group > 32 {
        let from_top = b.sub(all, here);
        let from_top = spread.largest(b, from_top);
        b.sub(all, from_top)
    } else {
        over_lanes(b, here, spread.group, Emit::min)
    };
    let some = b.compare(Cmp::Ne, lowest, all);
    b.select(lowest, 0, some)
}

/// The bits of a number, the same in all lanes of a group.
fn bit_length(b: &mut Builder, frame: &Frame, number: &[R32]) -> R32 {
    let spread = &frame.spread;
    if spread.group > WARP {
        return spread.bit_length(b, number);
    }
    // Bits of this lane up to its highest one, without predicates.
    let bits = b.copy(0);
    let mut covered = b.copy(0);
    for &limb in number.iter().rev() {
        let zeros = b.clz(limb);
        let below = b.shr(u32::MAX, zeros);
        let mask = b.or(below, covered);
        let count = b.popc(mask);
        b.increase(bits, count);
        let top = b.and(below, 1);
        let top = b.sub(0, top);
        covered = b.or(covered, top);
    }
    let here = b.mad_lo(spread.member, 32 * spread.length as u32, bits);
    let some = b.compare(Cmp::Ne, bits, 0);
    let here = b.select(here, 0, some);
    spread.largest(b, here)
}

/// The largest of the warp's values.
fn warp_max(b: &mut Builder, value: R32) -> R32 {
    over_lanes(b, value, WARP, Emit::max)
}

/// The values of so many neighbouring lanes, a power of two, in one.
fn over_lanes(b: &mut Builder, value: R32, lanes: u32, join: impl Fn(&mut Builder, R32, R32) -> R32) -> R32 {
    (0..lanes.ilog2()).fold(value, |joined, level| {
        let other = b.shuffle(Shuffle::Bfly, joined, 1 << level, WARP);
        join(b, joined, other)
    })
}

impl Spec for StrongTest {
    fn name(&self) -> String {
        let base = match self.base {
            Base::Number(base) => format!("strong_test_by{base}"),
            Base::Operand(base) => format!("miller_rabin{}", base.name()),
        };
        let window = if self.entries() == 1 { String::new() } else { format!("_w{}", self.window) };
        let lazy = if self.is_lazy() { "_lazy" } else { "" };
        format!("{base}{}{window}{lazy}{}", self.number.name(), self.layout.name())
    }

    fn scratch_limbs(&self) -> u32 {
        self.residue_limbs() * self.entries()
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        let signature = Signature::new(self.operands(), [1]).with_scratch(self.scratch_limbs());
        vec![self.layout.stage(self.name(), signature, |b, frame| self.body(b, frame))]
    }

    fn wide_products(&self) -> u64 {
        let limbs = self.number.limbs();
        let (product, square) = (self.layout.products(limbs), self.layout.square_products(limbs));
        let squares = square * u64::from(self.number.bits);
        match self.base {
            Base::Number(2) => squares,
            _ => squares + product * u64::from((1 << self.window) + self.number.bits.div_ceil(self.window) + 5),
        }
    }
}
