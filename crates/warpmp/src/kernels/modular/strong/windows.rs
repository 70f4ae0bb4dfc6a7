//! Any base: its power by windows of the exponent, then the squares after it.

use warpmp_kernel::build::{Builder, Emit, R32};
use warpmp_kernel::fragment::{assign, repeat, select};
use warpmp_kernel::ir::{Cmp, Space, Vector, Vote};

use super::super::super::piece;
use super::super::checks::Checks;
use super::{Base, Test, bit_length, warp_max};

impl Test<'_> {
    /// Any base, by windows.
    pub(super) fn of_any(&self, b: &mut Builder, one: &[R32]) {
        self.fill(b, one);
        let x = self.windows(b);
        let (is_one, is_minus_one) = self.stands(b, &x);
        let passed = b.or_pred(is_one, is_minus_one);
        // There is nothing to test of 1.
        let some = b.compare(Cmp::Ne, self.twos, 0);
        let passed = b.and_pred(passed, some);
        self.pass(b, passed);
        let done = b.copy(1);
        let is_left = |b: &mut Builder| {
            let more = b.compare(Cmp::Lt, done, self.twos);
            let open = b.compare(Cmp::Eq, self.verdict, 0);
            b.and_pred(more, open)
        };
        let more = |b: &mut Builder| {
            let left = is_left(b);
            b.vote(Vote::Any, left)
        };
        b.while_(more, |b| {
            let square = self.square(b, &x);
            assign(b, &x, &square);
            let (_, is_minus_one) = self.stands(b, &x);
            // Not before the square, where `ptxas` would move the predicate out of the way.
            let mine = is_left(b);
            let passed = b.and_pred(mine, is_minus_one);
            self.pass(b, passed);
            b.increase(done, 1);
        });
    }

    /// `a^d` by the residues of the table.
    fn windows(&self, b: &mut Builder) -> Vec<R32> {
        let (window, ring) = (self.spec.window, &self.ring);
        let length = bit_length(b, self.frame, &ring.modulus);
        let length = b.sub(length, self.twos);
        let length = warp_max(b, length);
        let below = b.sub(length, 1);
        let digits = if window == 1 { below } else { b.mul_hi(below, (u32::MAX / window) + 1) };
        let offset = b.mul_lo(digits, window);
        let entry = |b: &mut Builder| {
            let bit = b.add(offset, self.twos);
            let digit = self.digit(b, bit);
            self.kept(b, digit)
        };
        let first = entry(b);
        let x: Vec<R32> = first.iter().map(|&limb| b.copy(limb)).collect();
        // A vote, because `ptxas` does not see that all lanes have the same offset.
        let more = |b: &mut Builder| {
            let more = b.compare(Cmp::Ne, offset, 0);
            b.vote(Vote::Any, more)
        };
        b.while_(more, |b| {
            b.decrease(offset, window);
            let entry = entry(b);
            if ring.squares_apart() {
                repeat(b, window, |b| {
                    let square = self.square(b, &x);
                    assign(b, &x, &square);
                });
                let product = self.product(b, &x, &entry);
                assign(b, &x, &product);
            } else {
                // One product in the loop: its instructions come from a cache.
                let left = b.copy(window);
                b.do_while(|b| {
                    let last = b.compare(Cmp::Eq, left, 0);
                    let factor = select(b, last, &entry, &x);
                    let product = self.product(b, &x, &factor);
                    assign(b, &x, &product);
                    b.decrease(left, 1);
                    b.compare_signed(Cmp::Ge, left, 0)
                });
            }
        });
        x
    }

    /// The window of the number that begins at a bit; zeros above its row.
    fn digit(&self, b: &mut Builder, bit: R32) -> R32 {
        let index = b.shr(bit, 5);
        let address = b.mad_wide(index, 4, self.row);
        let [low, high] = [0, 1].map(|above| {
            let limb = b.copy(0);
            let limbs = self.spec.number.limbs();
            if above < limbs {
                let inside = b.compare(Cmp::Lt, index, limbs - above);
                b.guarded(inside, true, |g| g.load_into(Space::Global, Vector::V1, &[limb], address, 4 * above));
            }
            limb
        });
        let shifted = b.funnel_right(low, high, bit);
        b.and(shifted, (1 << self.spec.window) - 1)
    }

    /// The residues `1, a, a², …` to scratch memory.
    fn fill(&self, b: &mut Builder, one: &[R32]) {
        self.keep(b, 0, one);
        let square = self.ring.square_of_r(b, one);
        let base = match self.spec.base {
            Base::Number(base) => {
                let base = self.frame.spread.small(b, base);
                self.ring.mul(b, &base, &square)
            }
            Base::Operand(_) => self.frame.residue(b, &self.ring, (0, self.spec.number.limbs()), &square),
        };
        self.keep(b, 1, &base);
        let entries = 1 << self.spec.window;
        if entries == 2 {
            return;
        }
        let x: Vec<R32> = base.iter().map(|&limb| b.copy(limb)).collect();
        let limbs = self.spec.residue_limbs();
        let Some(scratch) = self.frame.scratch else { return };
        let at = b.add64(scratch, u64::from(4 * limbs));
        repeat(b, entries - 2, |b| {
            let product = self.ring.mul(b, &x, &base);
            assign(b, &x, &product);
            b.increase64(at, u64::from(4 * limbs));
            self.frame.write(b, at, limbs, piece(limbs), &x);
        });
    }
}
