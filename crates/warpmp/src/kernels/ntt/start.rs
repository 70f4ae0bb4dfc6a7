//! The first pass of residues: from words to points.

use warpmp_kernel::build::{Builder, Emit, R32, R64};

use super::residues::{Residues, sum_and_difference};
use crate::kernels::transform::Place;
use crate::kernels::transform::codelet;
use crate::kernels::transform::layout::{Layout, Points, RADIX};
use crate::kernels::transform::passes::read_word;
use crate::kernels::transform::ring::Ring;

/// A word of a factor as a residue, or none where the factor has no words for any thread.
type Digit = Option<R32>;

impl Layout {
    /// The first pass of both factors, a part's: 16 coefficients that are as far apart as there are threads. `factors`: the
    /// addresses of the thread's first words. `node`: the table of the part.
    pub(super) fn start_residues(
        self,
        b: &mut Builder,
        (place, ring): (&Place, Residues),
        factors: &[(R64, u32)],
        regions: &[R32],
        node: R64,
    ) {
        for (&(factor, limbs), &region) in factors.iter().zip(regions) {
            b.section("digits");
            let digits = self.read_residues(b, (place, ring), factor, limbs);
            let x = if self.parts == 1 {
                b.section("forward 1");
                let roots = ring.load_roots(b, node, 0, 1, RADIX / 2);
                let mut x = first_level(b, &digits[0]);
                for level in 1..RADIX.ilog2() {
                    codelet::forward_level(b, ring, &mut x, &roots, level);
                }
                x
            } else {
                b.section("remainders");
                let mut x = self.remainders(b, ring, &digits, node);
                b.section("forward 1");
                let roots = ring.load_roots(b, node, self.parts - 1, 1, RADIX / 2);
                codelet::forward(b, ring, &mut x, &roots);
                x
            };
            let mut points = Points::new(b, ring, self.swizzle(), place.thread, region);
            for (x, i) in x.into_iter().zip(0..) {
                points.store(b, i * self.threads(), x);
            }
        }
    }

    /// The digits of a thread: by the multiple of `points`, then by the multiple of the threads.
    fn read_residues(
        self,
        b: &mut Builder,
        (place, ring): (&Place, Residues),
        from: R64,
        limbs: u32,
    ) -> Vec<Vec<Digit>> {
        let mut read = |part: u32, i: u32| {
            let first = part * self.points + i * self.threads();
            (first < limbs).then(|| read_word(b, place.thread, self.threads(), from, [first, limbs]))
        };
        let words: Vec<Vec<Digit>> = (0..self.parts).map(|part| (0..RADIX).map(|i| read(part, i)).collect()).collect();
        let digit = |word: Digit| word.map(|word| ring.digit(b, word));
        let mut digits = words.into_iter().flatten().map(digit);
        (0..self.parts).map(|_| digits.by_ref().take(RADIX as usize).collect()).collect()
    }

    /// The remainders of a factor modulo the node of a part.
    fn remainders(self, b: &mut Builder, ring: Residues, digits: &[Vec<Digit>], node: R64) -> Vec<R32> {
        let powers = ring.load_roots(b, node, 0, 1, self.parts - 1);
        let mut remainder = |i: usize| {
            let first = digits[0][i].unwrap_or_else(|| b.copy(0));
            let others = digits[1..].iter().zip(&powers).filter_map(|(digits, power)| Some((digits[i]?, power)));
            others.fold(first, |x, (digit, power)| ring.add_product(b, x, digit, power.factor()))
        };
        (0..RADIX as usize).map(&mut remainder).collect()
    }
}

/// The first level below `x^n − 1`: sums and differences. Short factors have no upper half.
fn first_level(b: &mut Builder, digits: &[Digit]) -> Vec<R32> {
    let half = digits.len() / 2;
    let pairs: Vec<[R32; 2]> = (0..half)
        .map(|i| match (digits[i], digits[i + half]) {
            (Some(low), Some(high)) => sum_and_difference(b, [low, high]),
            (Some(low), None) => [low; 2],
            _ => [b.copy(0); 2],
        })
        .collect();
    (0..2).flat_map(|side| pairs.iter().map(move |pair| pair[side])).collect()
}
