//! Operands by pattern, the same for the same seed on every machine.
//!
//! Lanes come in blocks of [`BLOCK_LANES`]. Each block has its own stream of `ChaCha8`. So several threads can draw blocks,
//! and lane `i` does not depend on the number of lanes.

use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use warpmp::{Batch, Error, Result, Shape};

/// Kinds of operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Uniform below 2^R.
    Random,
    /// 2^R − 1: every bit set.
    Ones,
    /// Limbs that make carries run: zero, all ones, 2^31 and random ones.
    Carry,
    /// One to four bits set.
    Sparse,
    /// 2^(R−1) + 1: a product by all ones has a carry that runs through its whole upper half.
    Ripple,
}

/// Lanes of a block. A chunk starts at a block's first lane.
pub const BLOCK_LANES: usize = 64;

/// Lanes from `first_lane` (a multiple of [`BLOCK_LANES`]) of the sequence that `pattern` and `seed` name.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub fn operands(pattern: Pattern, shape: Shape, first_lane: u64, seed: u64) -> Result<Batch<'static>> {
    let limbs = shape.limbs();
    let first_block = first_lane / BLOCK_LANES as u64;
    let mut words = zeros(shape)?;
    words.par_chunks_mut(BLOCK_LANES * limbs).enumerate().for_each(|(block, words)| {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(first_block + block as u64);
        for lane in words.chunks_exact_mut(limbs) {
            fill(pattern, shape.bits, &mut random, lane);
        }
    });
    Batch::from_limbs(shape, words)
}

/// Memory for a batch. It is asked for first: a vector that cannot be had ends the program.
fn zeros(shape: Shape) -> Result<Vec<u32>> {
    let mut words = Vec::new();
    words
        .try_reserve_exact(shape.words())
        .map_err(|_| Error::OutOfMemory { required_bytes: shape.bytes(), available_bytes: None })?;
    words.resize(shape.words(), 0);
    Ok(words)
}

/// One integer below `2^bits`.
fn fill(pattern: Pattern, bits: usize, random: &mut ChaCha8Rng, lane: &mut [u32]) {
    match pattern {
        Pattern::Random => lane.fill_with(|| random.next_u32()),
        Pattern::Ones => lane.fill(u32::MAX),
        Pattern::Carry => lane.fill_with(|| match random.next_u32() % 9 {
            0..3 => 0,
            3..6 => u32::MAX,
            6 => 1 << 31,
            _ => random.next_u32(),
        }),
        Pattern::Ripple => {
            lane[0] |= 1;
            lane[(bits - 1) / 32] |= 1 << ((bits - 1) % 32);
        }
        Pattern::Sparse => {
            for _ in 0..=random.next_u32() % 4 {
                let bit = random.next_u32() as usize % bits;
                lane[bit / 32] |= 1 << (bit % 32);
            }
        }
    }
    if !bits.is_multiple_of(32) {
        let top = lane.len() - 1;
        lane[top] &= (1 << (bits % 32)) - 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATTERNS: [Pattern; 5] = [Pattern::Random, Pattern::Ones, Pattern::Carry, Pattern::Sparse, Pattern::Ripple];

    #[test]
    fn a_lane_does_not_depend_on_the_others() {
        for pattern in PATTERNS {
            let all = operands(pattern, Shape::new(3 * BLOCK_LANES, 131), 0, 5).unwrap();
            let tail = operands(pattern, Shape::new(BLOCK_LANES + 1, 131), BLOCK_LANES as u64, 5).unwrap();
            assert_eq!(tail.limbs(), &all.limbs()[BLOCK_LANES * 5..(2 * BLOCK_LANES + 1) * 5]);
        }
    }

    #[test]
    fn patterns_are_what_they_are_called() {
        let limbs = |pattern, bits| operands(pattern, Shape::new(1000, bits), 0, 1).unwrap().into_limbs();
        assert!(limbs(Pattern::Ones, 33).chunks(2).all(|lane| lane == [u32::MAX, 1]));
        assert!(limbs(Pattern::Ripple, 64).chunks(2).all(|lane| lane == [1, 1 << 31]));
        assert!(
            limbs(Pattern::Sparse, 100)
                .chunks(4)
                .all(|lane| (1..=4).contains(&lane.iter().map(|limb| limb.count_ones()).sum::<u32>()))
        );
        let carry = limbs(Pattern::Carry, 320);
        let share = |value| carry.iter().filter(|limb| **limb == value).count();
        assert!((3000..3700).contains(&share(0)) && (3000..3700).contains(&share(u32::MAX)) && share(1 << 31) > 900);
        assert_ne!(
            limbs(Pattern::Random, 64),
            operands(Pattern::Random, Shape::new(1000, 64), 0, 2).unwrap().into_limbs()
        );
    }

    #[test]
    fn the_sequence_never_changes() {
        assert_eq!(operands(Pattern::Random, Shape::new(1, 96), 0, 0).unwrap().limbs(), GOLDEN);
    }

    const GOLDEN: [u32; 3] = [0xa79a_3b6c, 0xb585_f767, 0xbad8_c037];
}
