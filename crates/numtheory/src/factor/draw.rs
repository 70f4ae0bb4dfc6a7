//! Suyama's parameters from a seed, each by its number alone.
//!
//! The curve `k` of an integer has the first eight bytes of stream `k` of the generator `ChaCha8`, whose key comes from the seed and the integer. The
//! generator of the crate `rand_chacha` makes four blocks of a stream at once, and its set-up reads the integer: more than all other work of
//! the host for a short curve. Here one block is made, from a key that is made once for an integer.
//!
//! source: Bernstein 2008.

use num_bigint::BigUint;
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;

use super::curve::Sigma;

/// The first words of each block: "expand 32-byte k".
const CONSTANTS: [u32; 4] = [0x6170_7865, 0x3320_646E, 0x7962_2D32, 0x6B20_6574];
/// Pairs of a round of columns and one of diagonals: eight rounds.
const DOUBLE_ROUNDS: usize = 4;

/// The curves of an integer.
#[derive(Clone, Debug)]
pub(super) struct Draw {
    key: [u32; 8],
}

impl Draw {
    pub(super) fn new(seed: u64, n: &BigUint) -> Self {
        let own = n % u64::MAX;
        let own = own.iter_u64_digits().next().unwrap_or(0);
        let bytes = ChaCha8Rng::seed_from_u64(seed.rotate_left(32) ^ own).get_seed();
        let mut key = [0; 8];
        for (word, bytes) in key.iter_mut().zip(bytes.as_chunks::<4>().0) {
            *word = u32::from_le_bytes(*bytes);
        }
        Self { key }
    }

    /// The parameter of a curve.
    pub(super) fn sigma(&self, number: u64) -> Sigma {
        Sigma::suyama(self.first_bytes(number) >> 1)
    }

    /// The first eight bytes of a stream: the first two words of the block 0.
    fn first_bytes(&self, stream: u64) -> u64 {
        let [b0, b1, b2, b3, c0, c1, c2, c3] = self.key;
        // The first two words of the last row count blocks.
        let mut rows: Block =
            [CONSTANTS, [b0, b1, b2, b3], [c0, c1, c2, c3], [0, 0, stream as u32, (stream >> 32) as u32]];
        for _ in 0..DOUBLE_ROUNDS {
            // Columns, then diagonals, which are columns of turned rows.
            let [a, b, c, d] = columns(rows);
            let [a, b, c, d] = columns([a, turned(b, 1), turned(c, 2), turned(d, 3)]);
            rows = [a, turned(b, 3), turned(c, 2), turned(d, 1)];
        }
        let [low, high] = [0, 1].map(|word| u64::from(rows[0][word].wrapping_add(CONSTANTS[word])));
        low | high << 32
    }
}

/// Four rows of four words: the compiler keeps each in a vector.
type Block = [[u32; 4]; 4];

/// A quarter round of each column.
#[inline]
const fn columns([a, b, c, d]: Block) -> Block {
    let a = sum(a, b);
    let d = mixed(d, a, 16);
    let c = sum(c, d);
    let b = mixed(b, c, 12);
    let a = sum(a, b);
    let d = mixed(d, a, 8);
    let c = sum(c, d);
    let b = mixed(b, c, 7);
    [a, b, c, d]
}

// Words are named, not iterated: where iterators are not inlined, they take ten times as long as the sums.

#[inline]
const fn sum([a, b, c, d]: [u32; 4], [e, f, g, h]: [u32; 4]) -> [u32; 4] {
    [a.wrapping_add(e), b.wrapping_add(f), c.wrapping_add(g), d.wrapping_add(h)]
}

#[inline]
const fn mixed([a, b, c, d]: [u32; 4], [e, f, g, h]: [u32; 4], bits: u32) -> [u32; 4] {
    [(a ^ e).rotate_left(bits), (b ^ f).rotate_left(bits), (c ^ g).rotate_left(bits), (d ^ h).rotate_left(bits)]
}

/// A row whose word `by` comes first.
#[inline]
const fn turned([a, b, c, d]: [u32; 4], by: usize) -> [u32; 4] {
    match by {
        1 => [b, c, d, a],
        2 => [c, d, a, b],
        _ => [d, a, b, c],
    }
}

#[cfg(test)]
mod tests {
    use rand::Rng as _;

    use super::*;

    #[test]
    fn words_are_those_of_the_generator() {
        for seed in [0, 1, 0x1234_5678_9ABC_DEF0, u64::MAX] {
            for n in [1_u128, 97, u128::from(u64::MAX), u128::from(u64::MAX) + 5, u128::MAX] {
                let n = BigUint::from(n);
                let own: u64 = (&n % u64::MAX).iter_u64_digits().sum();
                let draw = Draw::new(seed, &n);
                for number in [0, 1, 2, 1000, u64::from(u32::MAX), 1 << 32, u64::MAX] {
                    let mut random = ChaCha8Rng::seed_from_u64(seed.rotate_left(32) ^ own);
                    random.set_stream(number);
                    assert_eq!(draw.sigma(number), Sigma::suyama(random.next_u64() >> 1), "{seed} {n} {number}");
                }
            }
        }
    }
}
