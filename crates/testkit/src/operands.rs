//! Operands: rows of little-endian 32-bit limbs, by pattern and seed.

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Lane counts around the sizes of a warp and of a block.
pub const LANES: [usize; 7] = [1, 31, 32, 33, 127, 128, 129];

/// How the bits of a lane are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pattern {
    /// Limbs 0, all ones, 2³¹, random with weights 3, 3, 1, 2.
    Carry,
    /// Uniform.
    Random,
    /// All ones.
    Ones,
    /// One limb of all ones, the others zero.
    OneHot,
    /// Long runs of zeros and ones.
    Runs,
    /// A few single bits.
    Sparse,
    /// 0, 1, 2ᵇ⁻¹, 2ᵇ − 2, 2ᵇ − 1, lane after lane.
    Edge,
}

impl Pattern {
    /// Every pattern.
    pub const ALL: [Self; 7] =
        [Self::Carry, Self::Random, Self::Ones, Self::OneHot, Self::Runs, Self::Sparse, Self::Edge];

    fn fill(self, lane: usize, limbs: &mut [u32], bits: usize, rng: &mut ChaCha8Rng) {
        let len = limbs.len();
        match self {
            Self::Carry => limbs.fill_with(|| carry_limb(rng)),
            Self::Random => limbs.fill_with(|| rng.next_u32()),
            Self::Ones => limbs.fill(u32::MAX),
            Self::OneHot => limbs[rng.random_range(0..len)] = u32::MAX,
            Self::Runs => runs(limbs, bits, rng),
            Self::Sparse => (0..rng.random_range(1..=4)).for_each(|_| set(limbs, rng.random_range(0..bits))),
            Self::Edge => match lane % 5 {
                0 => {}
                1 => set(limbs, 0),
                2 => set(limbs, bits - 1),
                3 => {
                    limbs.fill(u32::MAX);
                    limbs[0] -= 1;
                }
                _ => limbs.fill(u32::MAX),
            },
        }
    }
}

/// A batch of operands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operands {
    /// Number of integers.
    pub lanes: usize,
    /// Bits of each.
    pub bits: usize,
    /// `lanes · ⌈bits / 32⌉` limbs, lane after lane, least significant first; the bits above `bits`
    /// are zero.
    pub limbs: Vec<u32>,
}

impl Operands {
    /// Draws a batch; the same arguments give the same limbs.
    ///
    /// # Panics
    /// If `bits` is zero.
    pub fn generate(pattern: Pattern, lanes: usize, bits: usize, seed: u64) -> Self {
        assert!(bits > 0, "operands of no bits");
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let width = bits.div_ceil(32);
        let mut limbs = vec![0; lanes * width];
        for (lane, row) in limbs.chunks_exact_mut(width).enumerate() {
            pattern.fill(lane, row, bits, &mut rng);
            if !bits.is_multiple_of(32) {
                row[width - 1] &= (1 << (bits % 32)) - 1;
            }
        }
        Self { lanes, bits, limbs }
    }

    /// The limbs of a lane; a single lane stands for all.
    pub fn lane(&self, lane: usize) -> &[u32] {
        let width = self.bits.div_ceil(32);
        let lane = if self.lanes == 1 { 0 } else { lane };
        &self.limbs[lane * width..][..width]
    }
}

/// The sizes one below, at, and one above each threshold: positive, ascending, without repetition.
pub fn around(thresholds: &[usize]) -> Vec<usize> {
    let mut sizes: Vec<usize> = thresholds.iter().flat_map(|t| [t.saturating_sub(1), *t, t + 1]).collect();
    sizes.retain(|size| *size > 0);
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

fn carry_limb(rng: &mut ChaCha8Rng) -> u32 {
    match rng.random_range(0..9) {
        0..3 => 0,
        3..6 => u32::MAX,
        6 => 1 << 31,
        _ => rng.next_u32(),
    }
}

/// Alternating runs; their greatest length is drawn first, so that short and long ones both occur.
fn runs(limbs: &mut [u32], bits: usize, rng: &mut ChaCha8Rng) {
    let longest = [8, 64, 512, bits][rng.random_range(0..4)].min(bits);
    let mut ones = rng.random();
    let mut bit = 0;
    while bit < bits {
        let end = (bit + rng.random_range(1..=longest)).min(bits);
        if ones {
            (bit..end).for_each(|bit| set(limbs, bit));
        }
        ones = !ones;
        bit = end;
    }
}

fn set(limbs: &mut [u32], bit: usize) {
    limbs[bit / 32] |= 1 << (bit % 32);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_limbs_and_none_exceeds_its_bits() {
        for pattern in Pattern::ALL {
            for bits in [1, 31, 32, 33, 131, 1024] {
                let operands = Operands::generate(pattern, 33, bits, 7);
                assert_eq!(operands, Operands::generate(pattern, 33, bits, 7));
                for lane in 0..33 {
                    let top = operands.lane(lane)[bits.div_ceil(32) - 1];
                    assert!(bits % 32 == 0 || top >> (bits % 32) == 0, "{pattern:?}, {bits} bits");
                }
            }
        }
    }

    #[test]
    fn sizes_around_thresholds() {
        assert_eq!(around(&[1, 32, 33]), [1, 2, 31, 32, 33, 34]);
    }
}
