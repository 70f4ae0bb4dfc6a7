//! Second kernel of Toom-k: one thread a lane, from the products at the points to the whole product.
//!
//! computes   the coefficients of the product, then their sum, each at its place
//! launch     one warp, one tile of 32 lanes, a block; a transposed tile of 32 limbs in shared memory
//! cost       for each of 2m+2 limbs: 2k−1 loads and stores, and the steps of [`Interpolation`]; for each
//!            limb of the result: two loads, and its share of a coalesced store
//!
//! All numbers are run through limb by limb at once, every step with a word of carry in a register. What a
//! step leaves at limb `q` feeds the next step at limb `q`; only the last, the shift by a coefficient's scale,
//! is a limb behind. So coefficients replace products in place: limb `q − 1` is written when limbs `q`, and
//! for the next round `q + 1`, have been read. Then limb `q` of section `i` of the result is
//!
//! ```text
//! C_i[q] + C_(i−1)[m + q] + C_(i−2)[2m + q],   the last for q = 0 alone,
//! ```
//!
//! plus carries; 32 limbs of it at a time go through shared memory, so that a warp stores whole rows.
//!
//! A term with the coefficient one is a product all the same, by a register that holds one: sums would have
//! carries in predicates, and with this many of them side by side `ptxas` runs out of predicates.
//!
//! bound: that of the steps is in [`points`](super::points). A coefficient is below `k·B^(2m)`, which is `2m + 1`
//! limbs. The two sums have a carry of one bit each.
//!
//! source: dissertation § 3.3.2; the sequence is ours.

use warpmp_kernel::build::{Builder, Emit, Pred, R32, R64};
use warpmp_kernel::ir::{Cmp, Space, Special, Vector};
use warpmp_launch::Ports;

use super::Toom;
use super::points::{Interpolation, Step, points};

/// Limbs of a row in shared memory: one more than a warp, so that columns meet all banks.
const ROW: u32 = 33;

/// Shared memory a block.
pub(super) const SHARED_BYTES: u32 = 32 * 4 * ROW;

/// Limbs of the result whose terms are loaded together.
const BATCH: u32 = 8;

/// To which `k` the registers hold the next limbs beside the present ones.
const AHEAD_TO: u32 = 8;

/// Bytes of a limb of all lanes of a tile.
const LIMB: u32 = 128;

impl Step {
    /// Wide products a limb, those by one included.
    pub(super) const fn products(&self) -> u32 {
        1 + (self.beta != 0) as u32 + (self.divisor > 1) as u32
    }
}

/// The sections of the result under way: where its next limb's terms are.
struct Terms {
    section: R32,
    limb: R32,
    /// The address of `C_(section−2)[2m + limb]`; the other terms lie a constant above.
    address: R64,
}

impl Toom {
    /// Writes the second kernel.
    pub(super) fn write_interpolation(&self, b: &mut Builder, ports: &Ports) {
        let [_, _, c, scratch] = ports.first();
        let lanes = ports.lanes;
        b.section("setup");
        let thread = b.special(Special::Tid);
        let tile = b.special(Special::Ctaid);
        let lane = b.mad_lo(tile, 32, thread);
        let active = b.compare(Cmp::Lt, lane, lanes);
        // Not a constant to the assembler, which would make sums of the products.
        let one = b.min(lanes, 1);
        let slots = b.mad_wide(tile, LIMB * points(self.k) * self.product_limbs(), scratch);
        let column = b.mad_wide(thread, 4, slots);
        b.if_(active, |b| self.coefficients(b, column, one));
        b.section("sum");
        let first_row = b.mul_lo(tile, 32);
        let rows = b.mad_wide(first_row, 4 * self.shape.limbs::<3>()[2], c);
        self.sum(b, thread, active, column, rows);
    }

    /// Replaces the products of this lane by the coefficients.
    fn coefficients(&self, b: &mut Builder, column: R64, one: R32) {
        b.section("interpolate");
        let Interpolation { steps, coefficients } = Interpolation::new(self.k);
        let slots: Vec<u32> = (0..points(self.k)).map(|p| p * LIMB * self.product_limbs()).collect();
        let carries: Vec<R32> = steps.iter().map(|step| b.copy(step.first_carry())).collect();
        let before: Vec<R32> = slots.iter().map(|_| b.copy(0)).collect();
        let words: Vec<R32> = slots.iter().map(|_| b.register()).collect();
        let ahead = self.k <= AHEAD_TO;
        if ahead {
            load_limb(b, &words, column, &slots, 0);
        }
        let (address, limb) = (b.copy64(column), b.copy(0));
        b.do_while(|b| {
            if !ahead {
                load_limb(b, &words, address, &slots, 0);
            }
            let mut values: Vec<R32> = words.iter().map(|&word| b.copy(word)).collect();
            values.push(values[0]);
            let next = b.add(limb, 1);
            if ahead {
                let more = b.compare(Cmp::Lt, next, self.product_limbs());
                b.guarded(more, true, |g| load_limb(g, &words, address, &slots, LIMB));
            }
            for (step, &carry) in steps.iter().zip(&carries) {
                values[step.target] = emit(b, step, values[step.x], values[step.y], carry, one);
            }
            let done: Vec<R32> = coefficients
                .iter()
                .zip(&before)
                .map(|(it, &low)| {
                    let shifted = b.funnel_right(low, values[it.slot], it.scale);
                    b.set(low, values[it.slot]);
                    shifted
                })
                .collect();
            let below = b.add64(address, u64::from(LIMB).wrapping_neg());
            let some = b.compare(Cmp::Ne, limb, 0);
            b.guarded(some, true, |g| {
                for (word, &slot) in done.iter().zip(&slots) {
                    g.store_global(Space::Global, &[*word], below, slot);
                }
            });
            b.increase64(address, u64::from(LIMB));
            b.set(limb, next);
            b.compare(Cmp::Lt, limb, self.product_limbs())
        });
    }

    /// Adds the coefficients up and stores the result, 32 limbs of 32 lanes at a time.
    fn sum(&self, b: &mut Builder, thread: R32, active: Pred, column: R64, rows: R64) {
        let [_, _, lc] = self.shape.limbs();
        let shared = b.shared_base();
        let own_row = b.mad_lo(thread, 4 * ROW, shared);
        let own_column = b.mad_lo(thread, 4, shared);
        // Lanes beyond the last start beyond the last section, and find nothing to load.
        let outside = u64::from(2 * LIMB * (self.product_limbs() - self.part())).wrapping_neg();
        let terms = Terms { section: b.select(0, 1 << 30, active), limb: b.copy(0), address: b.add64(column, outside) };
        let carries = [b.copy(0), b.copy(0)];
        let limb = b.copy(thread);
        let to = b.mad_wide(thread, 4, rows);
        b.do_while(|b| {
            let place = b.copy(own_row);
            let end = b.add(own_row, 4 * 32);
            b.do_while(|b| {
                for (i, word) in self.batch(b, &terms, carries).into_iter().enumerate() {
                    b.store_shared(&[word], place, 4 * i as u32);
                }
                b.increase(place, 4 * BATCH);
                b.compare(Cmp::Lt, place, end)
            });
            b.warp_barrier();
            let inside = b.compare(Cmp::Lt, limb, lc);
            for row in 0..32 {
                let word = b.load_shared(Vector::V1, own_column, 4 * ROW * row);
                b.guarded(inside, true, |g| g.store_global(Space::Global, &word, to, 4 * lc * row));
            }
            b.warp_barrier();
            let (next, above) = (b.add(limb, 32), b.add64(to, 4 * 32));
            b.set(limb, next);
            b.set64(to, above);
            let first = b.sub(limb, thread);
            b.compare(Cmp::Lt, first, lc)
        });
    }

    /// The next limbs of the result.
    fn batch(&self, b: &mut Builder, terms: &Terms, carries: [R32; 2]) -> Vec<R32> {
        let (m, n, count) = (self.part(), self.product_limbs(), points(self.k));
        // From term to term: a slot down, `m` limbs up.
        let distance = LIMB * (n - m);
        let loaded: Vec<[R32; 3]> = (0..BATCH)
            .map(|_| {
                let words = [b.copy(0), b.copy(0), b.copy(0)];
                for (back, &word) in words.iter().enumerate() {
                    let slot = b.sub(terms.section, back as u32);
                    let mut valid = b.compare(Cmp::Lt, slot, count);
                    if back == 2 {
                        let lowest = b.compare(Cmp::Eq, terms.limb, 0);
                        valid = b.and_pred(valid, lowest);
                    }
                    let offset = distance * (2 - back as u32);
                    b.guarded(valid, true, |g| g.load_into(Space::Global, Vector::V1, &[word], terms.address, offset));
                }
                let next = b.add(terms.limb, 1);
                let crosses = b.compare(Cmp::Eq, next, m);
                let above = b.add(terms.section, 1);
                let section = b.select(above, terms.section, crosses);
                let limb = b.select(0, next, crosses);
                let advance = b.select64(u64::from(distance + LIMB), u64::from(LIMB), crosses);
                let address = b.add64(terms.address, advance);
                b.set(terms.section, section);
                b.set(terms.limb, limb);
                b.set64(terms.address, address);
                words
            })
            .collect();
        let two: Vec<R32> = add_carrying(b, carries[0], loaded.iter().map(|words| (words[0], words[1])));
        add_carrying(b, carries[1], two.into_iter().zip(loaded.iter().map(|words| words[2])))
    }
}

/// Loads a limb of every slot.
fn load_limb(b: &mut impl Emit, words: &[R32], address: R64, slots: &[u32], offset: u32) {
    for (&word, &slot) in words.iter().zip(slots) {
        b.load_into(Space::Global, Vector::V1, &[word], address, slot + offset);
    }
}

/// Sums of words with the carry, 0 or 1, in and out.
fn add_carrying(b: &mut Builder, carry: R32, pairs: impl Iterator<Item = (R32, R32)>) -> Vec<R32> {
    let mut chain = b.chain();
    // Sets the flag to the carry.
    chain.add(carry, u32::MAX);
    let sums = pairs.map(|(x, y)| chain.add(x, y)).collect();
    let out = chain.carry();
    b.set(carry, out);
    sums
}

/// A limb of a step; `carry` is updated. `one`: a register that holds 1.
fn emit(b: &mut Builder, step: &Step, x: R32, y: R32, carry: R32, one: R32) -> R32 {
    let x = if step.negates_x() { b.not(x) } else { x };
    let mut sum = b.widen(carry);
    sum = add_multiple(b, sum, step.alpha, x, one);
    if step.beta != 0 {
        let y = if step.negates_y() { b.not(y) } else { y };
        sum = add_multiple(b, sum, step.beta.unsigned_abs(), y, one);
    }
    let (low, high) = b.unpack(sum);
    if step.divisor == 1 {
        b.set(carry, high);
        return low;
    }
    let quotient = b.mul_lo(low, step.negated_inverse());
    let multiple = b.mad_wide(quotient, step.divisor, sum);
    let (_, high) = b.unpack(multiple);
    b.set(carry, high);
    quotient
}

/// `sum + factor·word`.
fn add_multiple(b: &mut Builder, sum: R64, factor: u32, word: R32, one: R32) -> R64 {
    if factor > 1 { b.mad_wide(word, factor, sum) } else { b.mad_wide(word, one, sum) }
}
