//! Shifts of vectors of digits, by another distance in each lane.

use crate::simd::{MAX_LANES, Simd};

/// Distances are below 2 to this number of digits.
const MOVES: usize = 12;

/// A distance for each lane: bits within a digit, and whole digits by powers of two.
#[derive(Clone, Debug)]
pub struct Distances<S: Simd> {
    s: S,
    /// Bits within a digit, and the other bits of the digit.
    bits: S::Vector,
    back: S::Vector,
    /// Lanes that move by 1, 2, 4, … digits.
    moves: [u8; MOVES],
    longest: usize,
}

impl<S: Simd> Distances<S> {
    /// Distances in bits; those beyond the last lane are ignored.
    ///
    /// # Panics
    /// With a distance of `2^12` digits or more.
    pub fn new(s: S, bits: &[usize; MAX_LANES]) -> Self {
        let longest = bits[..S::LANES].iter().copied().max().unwrap_or(0);
        assert!(longest >> MOVES < S::DIGIT_BITS, "a distance of {longest} bits");
        let lanes = |step: usize| {
            let moves = |it: &usize| (it / S::DIGIT_BITS) & step != 0;
            bits[..S::LANES].iter().enumerate().fold(0, |lanes, (i, it)| lanes | u8::from(moves(it)) << i)
        };
        let moves = if longest < S::DIGIT_BITS { [0; MOVES] } else { std::array::from_fn(|i| lanes(1 << i)) };
        let within = bits.map(|it| it % S::DIGIT_BITS);
        let back = within.map(|it| (S::DIGIT_BITS - it) as u64);
        Self { s, bits: s.from_words(within.map(|it| it as u64)), back: s.from_words(back), moves, longest }
    }

    /// Digits to move by, and the lanes that do.
    fn moves(&self) -> impl Iterator<Item = (usize, S::Mask)> {
        let moves = self.moves.into_iter().enumerate().filter(|(_, lanes)| *lanes != 0);
        moves.map(|(i, lanes)| (1 << i, self.s.mask(lanes)))
    }

    /// The longest distance, in bits.
    pub const fn longest(&self) -> usize {
        self.longest
    }

    /// `to = from·2^distance` of reduced digits, as many as `to` has: there must be room.
    pub fn up(&self, from: &[S::Vector], to: &mut [S::Vector]) {
        let s = self.s;
        s.vectorize(
            #[inline(always)]
            || {
                let mut below = s.zero();
                let above = from.len().min(to.len());
                for (to, from) in to.iter_mut().zip(from) {
                    *to = s.digit(s.or(s.shl(*from, self.bits), s.shr(below, self.back)));
                    below = *from;
                }
                if let Some((next, rest)) = to[above..].split_first_mut() {
                    *next = s.shr(below, self.back);
                    rest.fill(s.zero());
                }
                for (step, lanes) in self.moves() {
                    for k in (0..to.len()).rev() {
                        let moved = if k < step { s.zero() } else { to[k - step] };
                        to[k] = s.select(lanes, moved, to[k]);
                    }
                }
            },
        );
    }

    /// `⌊x / 2^distance⌋` of reduced digits, in place.
    pub fn down(&self, x: &mut [S::Vector]) {
        let s = self.s;
        s.vectorize(
            #[inline(always)]
            || {
                for (step, lanes) in self.moves() {
                    for k in 0..x.len() {
                        let moved = x.get(k + step).copied().unwrap_or(s.zero());
                        x[k] = s.select(lanes, moved, x[k]);
                    }
                }
                for k in 0..x.len() {
                    let above = x.get(k + 1).copied().unwrap_or(s.zero());
                    x[k] = s.digit(s.or(s.shr(x[k], self.bits), s.shl(above, self.back)));
                }
            },
        );
    }
}
