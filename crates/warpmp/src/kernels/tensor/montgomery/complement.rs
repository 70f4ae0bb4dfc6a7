//! A product modulo an odd number with one panel: the multiple of the modulus is added, not subtracted.
//!
//! With the complement `k = R − m` the number `t + q·k = t − q·m + q·R` is a multiple of `R`, and
//!
//! ```text
//! ⌊t/R⌋ − u = (t + q·k)/R − q
//! ```
//!
//! The sums of the high columns of `t` are in the lanes that compute those of `q·k`. So the matrix products of `q·k` add to these sums, and the digits of both are made once.
//!
//! **The carry** into limb `N`: the low columns of `t` are the low half `t₀` and a carry of their own. `t₀` and the low columns of `q·k` together are a multiple of `R`, `c·R`. Let `V_s` be the sum of byte
//! column `4N − 1 − s` of `q·k`, and `h` the highest 16 bits of `t₀`. Then `V_0/2⁸ + V_1/2¹⁶ + h/2¹⁶` is at most `c`, and more than `c − 1`: `V_2/2²⁴ + V_3/2³² + … < 0.9961` and the lower bits of `t₀`,
//! less than 2⁻¹⁶, are left out. So `c` is the least integer that is not below this sum. Columns are dot products of bytes: each lane has those of its limbs of `q`, and one instruction adds up the lanes.
//!
//! bound: a column of `q·k`, as one of `t`, is at most `4N·255²`, which is 0.9922·2²⁴. So `2⁸·V_0 + V_1` is below `0.9961·2³²`, and 2¹⁸ more is below 2³². Sums of columns of both are below
//! 2²⁵, their digits below 2⁵⁰. `(t + q·k)/R − q` is below `R` and at least `−m`.
//!
//! source: ours.

use warpmp_kernel::build::{Builder, Emit, R32};
use warpmp_kernel::ir::{Cmp, Shuffle, Vector};

use super::ring::Ring;
use crate::kernels::tensor::half::Half;
use crate::kernels::tensor::layout::PANEL_LIMBS;
use crate::kernels::tensor::multiply::{PanelSums, difference};
use crate::kernels::tensor::part::add;
use crate::kernels::tensor::result::resolve_with_carries;

impl Ring<'_> {
    /// This lane's limbs of `R − m`, from its limbs of an odd `m`.
    pub(super) fn complement_of(&self, b: &mut Builder, modulus: &[R32]) -> Vec<R32> {
        let one = b.select(1, 0, self.is_first);
        let mut limbs: Vec<R32> = modulus.iter().map(|&limb| b.not(limb)).collect();
        // The lowest limb of the complement of an odd number is even: nothing is carried.
        limbs[0] = b.add(limbs[0], one);
        limbs
    }

    /// The carry from the low columns, and one more, the same in all lanes. `low` and `quotient` are this lane's limbs of the low half and of `q`.
    fn carry_and_one(&self, b: &mut Builder, low: &[R32], quotient: &[R32]) -> R32 {
        // Limb w of q meets limb N − 1 − w of the complement in column V_0, and in V_1 the bytes one further down. Its limbs have their bytes reversed and stand after zeros.
        let to = b.mad_lo(self.place.lane, 8_u32.wrapping_neg(), self.place.shared);
        let at = self.room.multiples + 4 * (PANEL_LIMBS - 2);
        let pair = b.load_shared(Vector::V2, to, at);
        let below = b.load_shared(Vector::V1, to, at - 4)[0];
        let highest = [pair[1], pair[0]];
        let next = [(pair[1], pair[0]), (pair[0], below)].map(|(limb, below)| b.prmt(limb, below, 0x4321));
        let zero = b.copy(0);
        let [highest, next] = [highest, next].map(|bytes| {
            let limbs = bytes.into_iter().zip(quotient);
            limbs.fold(zero, |sum, (bytes, &limb)| b.dp4a(limb, bytes, sum))
        });
        let sum = b.mad_lo(highest, self.place.bytes[1], next);
        let sum = b.sum_of_lanes(sum);
        let top = b.shuffle(Shuffle::Idx, low[1], 31, 32);
        let top = b.shr(top, 16);
        let sum = b.add(sum, top);
        let sum = b.add(sum, (1 << 17) - 1);
        b.shr(sum, 16)
    }

    /// The product modulo `m` whose sums these are. Returns this lane's limbs.
    pub(super) fn add_multiple(&self, b: &mut Builder, sums: &PanelSums) -> Vec<R32> {
        let Self { room, ref digits, .. } = *self;
        let greatest = room.layout.greatest_sum();
        digits.put_half_product(b, &[sums.low.to_vec()], greatest);
        let high = difference(b, &sums.both, &sums.low);
        b.warp_barrier();
        let own = digits.get_half_product(b);
        let (low, leaving) = self.low_half(b, &own);
        self.store_matrix(b, &low, room.product);
        b.warp_barrier();
        let quotient = self.quotient(b);
        let carry = self.carry_and_one(b, &low, &quotient);
        let entering = b.add(leaving, carry);
        let less: Vec<R32> = quotient.iter().map(|&limb| b.not(limb)).collect();
        let matrices = self.matrices(b, room.quotient, 0);
        let sums = self.half_product(b, matrices, Half::High, vec![high.to_vec()]);
        digits.put_half_product(b, &sums, 2 * greatest);
        b.warp_barrier();
        let mut own = digits.get_half_product(b);
        // The digits have been read, and loads of the next numbers stay behind.
        b.warp_barrier();
        for (digit, less) in own.chunks_mut(2).zip(less) {
            add(b, digit, less);
        }
        // The complements of the limbs of q, and one, are R − q.
        let below = self.word_of_lane_before(b, own[own.len() - 1]);
        let lowest = b.select(entering, below, self.is_first);
        let (result, carries) = resolve_with_carries(b, &own, lowest);
        let out = carries.out_of_group(b);
        let top = b.add(below, out);
        let is_negative = b.compare(Cmp::Eq, top, 0);
        self.raise(b, &result, is_negative);
        result
    }
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::PANEL_LIMBS;

    const BYTES: usize = 4 * PANEL_LIMBS as usize;

    /// The carry from the highest low columns of `q·k` and the highest half of a limb of the low half.
    fn estimated(q: &[u8], k: &[u8], low: &[u8]) -> u64 {
        let column = |s: usize| (0..BYTES - s).map(|i| u64::from(q[i]) * u64::from(k[BYTES - 1 - s - i])).sum::<u64>();
        let highest = u16::from_le_bytes([low[BYTES - 2], low[BYTES - 1]]);
        let sum = (column(0) << 8) + column(1) + u64::from(highest);
        assert!(u32::try_from(sum + (1 << 18)).is_ok(), "the lanes add up words");
        sum.div_ceil(1 << 16)
    }

    /// The low columns, and what is carried from them and from the low half together. The low half is what makes this a whole number.
    fn exact(q: &[u8], k: &[u8]) -> (Vec<u8>, u64) {
        let r = BigUint::from(1_u32) << (8 * BYTES);
        let all = BigUint::from_bytes_le(q) * BigUint::from_bytes_le(k);
        let high = (BYTES..2 * BYTES - 1).map(|n| {
            let column = (n + 1 - BYTES..BYTES).map(|i| u64::from(q[i]) * u64::from(k[n - i])).sum::<u64>();
            BigUint::from(column) << (8 * n)
        });
        let low_columns = &all - high.sum::<BigUint>();
        let low = (&r - &low_columns % &r) % &r;
        let carry = (&low_columns + &low) / &r;
        let mut bytes = low.to_bytes_le();
        bytes.resize(BYTES, 0);
        (bytes, u64::try_from(carry).unwrap_or(u64::MAX))
    }

    #[test]
    fn the_highest_columns_know_the_carry() {
        let mut random = ChaCha8Rng::seed_from_u64(7);
        let mut numbers = vec![vec![255; BYTES], vec![0; BYTES], vec![1; BYTES]];
        // A single byte, ones below a byte, ones from a byte on.
        for byte in [0, 1, 2, 3, 127, BYTES - 4, BYTES - 3, BYTES - 2, BYTES - 1] {
            numbers.push((0..BYTES).map(|i| if i == byte { 255 } else { 0 }).collect());
            numbers.push((0..BYTES).map(|i| if i < byte { 255 } else { 0 }).collect());
            numbers.push((0..BYTES).map(|i| if i < byte { 0 } else { 255 }).collect());
        }
        numbers.extend((0..30).map(|_| (0..BYTES).map(|_| random.random()).collect()));
        for q in &numbers {
            for k in &numbers {
                let (low, carry) = exact(q, k);
                assert_eq!(estimated(q, k, &low), carry, "q = {q:x?}, k = {k:x?}");
            }
        }
    }
}
