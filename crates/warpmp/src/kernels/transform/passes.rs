//! The passes over the points of a block.
//!
//! In a pass each thread loads 16 points from shared memory, transforms them in registers and stores them again. The first pass
//! begins with digits, and each ring has its own. The last forward pass, the product and the first inverse pass are one. Points go
//! from warp to warp after the first pass and after the second inverse pass only.

use std::ops::Range;

use warpmp_kernel::build::{Builder, Emit, R32, R64};
use warpmp_kernel::ir::{Cmp, Space, Vector};

use super::Place;
use super::codelet;
use super::layout::{JOINED, Layout, Points, RADIX};
use super::ring::Ring;
use super::table::{ROOT_BYTES, SECOND_ROOTS};

impl Layout {
    /// Transforms both factors, one part or some parts at a time, multiplies them and transforms the products as far as a part goes. `first`: the address
    /// of the first factor's regions. `start` writes the first pass of some factors; its arguments are the place of a thread among those of a
    /// part, the numbers of the factors, their regions, and the address of the part's roots.
    pub(in crate::kernels) fn transform<R: Ring>(
        self,
        b: &mut Builder,
        ring: R,
        place: &Place,
        first: R32,
        start: impl Fn(&mut Builder, &Place, Range<usize>, &[R32], R64),
    ) {
        let part = |b: &mut Builder, place: &Place, [region, second]: [R32; 2], [table, node]: [R64; 2]| {
            let first_passes = |b: &mut Builder, factors: Range<usize>, regions: &[R32]| {
                start(b, place, factors, regions, node);
                b.barrier();
                self.second_pass(b, ring, place, regions, table);
                b.warp_barrier();
            };
            if self.keeps_points() {
                // `ptxas` does not mix the passes of two factors that a barrier parts, so registers last.
                first_passes(b, 0..1, &[region]);
                let kept = self.last_points(b, ring, place, region, table);
                b.barrier();
                first_passes(b, 1..2, &[region]);
                self.product_pass(b, ring, place, (&[region], &kept), table);
            } else {
                let regions = if self.square { vec![region] } else { vec![region, second] };
                first_passes(b, 0..regions.len(), &regions);
                self.product_pass(b, ring, place, (&regions, &[]), table);
            }
            b.warp_barrier();
            self.middle_pass(b, ring, place, region);
            b.barrier();
        };
        let at_once = self.parts_at_once();
        if self.parts == 1 {
            return part(b, place, [first, place.shared], [place.table; 2]);
        }
        let (number, thread) = if at_once == 1 {
            (b.copy(0), place.thread)
        } else {
            (b.shr(place.thread, self.threads().ilog2()), b.and(place.thread, self.threads() - 1))
        };
        let place = &Place { thread, ..*place };
        let [region, second] = [first, place.shared].map(|first| b.mad_lo(number, self.region_bytes(), first));
        let [table, node] =
            [SECOND_ROOTS, self.part_roots()].map(|roots| b.mad_wide(number, ROOT_BYTES * roots, place.table));
        let part = |b: &mut Builder| part(b, place, [region, second], [table, node]);
        if self.parts == at_once {
            return part(b);
        }
        b.do_while(|b| {
            let rest = self.parts % at_once;
            if rest == 0 {
                part(b);
            } else {
                // In the last turn some threads have no part. They wait where the others do.
                let has_part = b.compare(Cmp::Lt, number, self.parts);
                let barriers = if self.keeps_points() { 4 } else { 2 };
                b.if_else(has_part, part, |b| (0..barriers).for_each(|_| b.barrier()));
            }
            b.increase(region, at_once * self.region_bytes());
            let next = b.add64(node, u64::from(ROOT_BYTES * self.part_roots() * at_once));
            b.set64(node, next);
            b.increase64(table, u64::from(ROOT_BYTES * SECOND_ROOTS * at_once));
            b.increase(number, at_once);
            b.compare(Cmp::Lt, number, self.parts.next_multiple_of(at_once))
        });
    }

    /// The second pass: 16 nodes, of which each has `threads / 16` threads.
    pub(in crate::kernels) fn second_pass<R: Ring>(
        self,
        b: &mut Builder,
        ring: R,
        place: &Place,
        regions: &[R32],
        table: R64,
    ) {
        b.section("forward 2");
        let last = self.last();
        let node = b.shr(place.thread, last.ilog2());
        let from = b.mad_wide(node, ROOT_BYTES, table);
        let roots = ring.load_roots(b, from, self.second(), RADIX, RADIX / 2);
        let column = b.and(place.thread, last - 1);
        let number = b.mad_lo(node, RADIX * last, column);
        let region = b.copy(regions[0]);
        let pass = |b: &mut Builder| {
            let mut points = Points::new(b, ring, self.swizzle(), number, region);
            let mut x: Vec<R::Point> = (0..RADIX).map(|i| points.load(b, i * last)).collect();
            codelet::forward(b, ring, &mut x, &roots);
            for (x, i) in x.into_iter().zip(0..) {
                points.store(b, i * last, x);
            }
        };
        let &[_, second] = regions else { return pass(b) };
        // A loop: `ptxas` would mix two passes and run out of registers.
        b.do_while(|b| {
            pass(b);
            let again = b.compare(Cmp::Ne, region, second);
            b.set(region, second);
            again
        });
    }

    /// Each thread's 16 points of a region after the last forward pass.
    fn last_points<R: Ring>(self, b: &mut Builder, ring: R, place: &Place, region: R32, table: R64) -> Vec<R::Point> {
        let number = b.shl(place.thread, RADIX.ilog2());
        let mut points = [Points::new(b, ring, self.swizzle(), number, region)];
        let from = self.last_roots_of(b, place, table);
        (0..RADIX / self.last())
            .flat_map(|block| self.last_forward(b, ring, &mut points, (from, block)).concat())
            .collect()
    }

    /// A block of the last forward pass: its points in each region. `from`: where a thread's roots of the pass are.
    fn last_forward<R: Ring>(
        self,
        b: &mut Builder,
        ring: R,
        points: &mut [Points<R>],
        (from, block): (R64, u32),
    ) -> Vec<Vec<R::Point>> {
        b.section("forward 3");
        let last = self.last();
        let first = self.last_pass() + block * self.last_roots() * last / RADIX;
        let roots = ring.load_roots(b, from, first, self.threads(), last / 2);
        let transform = |points: &mut Points<R>| {
            let mut x: Vec<R::Point> = points.load_run(b, block * last, last);
            codelet::forward(b, ring, &mut x, &roots);
            x
        };
        points.iter_mut().map(transform).collect()
    }

    /// The last forward pass, the product, and the inverse transform of each thread's 16 points. `kept`: the thread's points of the first factor, if its
    /// region has those of the second one.
    pub(in crate::kernels) fn product_pass<R: Ring>(
        self,
        b: &mut Builder,
        ring: R,
        place: &Place,
        (regions, kept): (&[R32], &[R::Point]),
        table: R64,
    ) {
        let number = b.shl(place.thread, RADIX.ilog2());
        let mut points: Vec<Points<R>> =
            regions.iter().map(|&region| Points::new(b, ring, self.swizzle(), number, region)).collect();
        let mut products: Vec<R::Point> = Vec::new();
        let from = self.last_roots_of(b, place, table);
        for block in 0..RADIX / self.last() {
            let transformed = self.last_forward(b, ring, &mut points, (from, block));
            b.section("product");
            let kept = kept.chunks(self.last() as usize).nth(block as usize);
            let factors: Vec<&[R::Point]> = kept.into_iter().chain(transformed.iter().map(Vec::as_slice)).collect();
            for i in (0..self.last() as usize).step_by(2) {
                products.extend(match factors[..] {
                    [x, y] => ring.products(b, [[x[i], y[i]], [x[i + 1], y[i + 1]]]),
                    _ => ring.squares(b, [factors[0][i], factors[0][i + 1]]),
                });
            }
        }
        b.section("inverse 1");
        ring.inverse_of_points(b, self, place, &mut products);
        points[0].store_run(b, 0, &products);
    }

    /// The address of a thread's roots of the last forward pass. `table` is further by the roots of the second pass in the parts before;
    /// the last pass has more or fewer a part.
    fn last_roots_of(self, b: &mut Builder, place: &Place, table: R64) -> R64 {
        let from = b.mad_wide(place.thread, ROOT_BYTES, place.table);
        if self.parts == 1 {
            return from;
        }
        let before = b.sub64(table, place.table);
        let times = b.mul_lo64(before, u64::from(self.last_roots() / SECOND_ROOTS));
        b.add64(from, times)
    }

    /// The second inverse pass: joins 16 transforms of 16 points.
    pub(in crate::kernels) fn middle_pass<R: Ring>(self, b: &mut Builder, ring: R, place: &Place, region: R32) {
        b.section("inverse 2");
        let column = b.and(place.thread, RADIX - 1);
        let from = b.mad_wide(column, ROOT_BYTES, place.table);
        let roots = ring.load_roots(b, from, self.middle(), RADIX, RADIX / 2);
        let group = b.shr(place.thread, RADIX.ilog2());
        let number = b.mad_lo(group, JOINED, column);
        let mut points = Points::new(b, ring, self.swizzle(), number, region);
        let mut x: Vec<R::Point> = (0..RADIX).map(|i| points.load(b, i * RADIX)).collect();
        codelet::inverse(b, ring, &mut x, &roots);
        for (x, i) in x.into_iter().zip(0..) {
            points.store(b, i * RADIX, x);
        }
    }
}

/// Word `first` of the factor at `from`, counted from the word `pair` of a thread, or zero if the number of a word is not below
/// `limbs`. The threads have `half` words.
pub(in crate::kernels) fn read_word(b: &mut Builder, pair: R32, half: u32, from: R64, [first, limbs]: [u32; 2]) -> R32 {
    if first + half <= limbs {
        return b.load_global(Space::GlobalConst, Vector::V1, from, 4 * first)[0];
    }
    let word = b.copy(0);
    if first < limbs {
        let inside = b.compare(Cmp::Lt, pair, limbs - first);
        b.guarded(inside, true, |g| g.load_into(Space::GlobalConst, Vector::V1, &[word], from, 4 * first));
    }
    word
}
