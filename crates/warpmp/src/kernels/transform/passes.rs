//! The passes over the points of a block.
//!
//! In a pass each thread loads 16 points from shared memory, transforms them in registers and stores them again. The first pass
//! begins with digits, and each ring has its own. The last forward pass, the product and the first inverse pass are one. Points go
//! from warp to warp after the first pass and after the second inverse pass only.

use warpmp_kernel::build::{Builder, Emit, R32, R64};
use warpmp_kernel::ir::{Cmp, Space, Vector};

use super::Place;
use super::codelet;
use super::layout::{JOINED, Layout, Points, RADIX};
use super::ring::Ring;
use super::table::{ROOT_BYTES, SECOND_ROOTS};

impl Layout {
    /// Transforms both factors part after part, multiplies them and transforms the products as far as a part goes. `first`: the address
    /// of the first factor's regions. `start` writes the first pass of the factors; its arguments are the place of a thread among those of a
    /// part, the regions of the factors, and the address of the part's roots.
    pub(in crate::kernels) fn transform<R: Ring>(
        self,
        b: &mut Builder,
        ring: R,
        place: &Place,
        first: R32,
        start: impl Fn(&mut Builder, &Place, &[R32], R64),
    ) {
        let part = |b: &mut Builder, place: &Place, [region, second]: [R32; 2], [table, node]: [R64; 2]| {
            let regions = if self.square { vec![region] } else { vec![region, second] };
            start(b, place, &regions, node);
            b.barrier();
            self.second_pass(b, ring, place, &regions, table);
            b.warp_barrier();
            self.product_pass(b, ring, place, &regions, table);
            b.warp_barrier();
            self.middle_pass(b, ring, place, region);
            b.barrier();
        };
        if self.parts_at_once() > 1 {
            let number = b.shr(place.thread, self.threads().ilog2());
            let thread = b.and(place.thread, self.threads() - 1);
            let regions = [first, place.shared].map(|first| b.mad_lo(number, self.region_bytes(), first));
            let tables =
                [SECOND_ROOTS, self.part_roots()].map(|roots| b.mad_wide(number, ROOT_BYTES * roots, place.table));
            return part(b, &Place { thread, ..*place }, regions, tables);
        }
        let table = b.copy64(place.table);
        let node = b.copy64(place.table);
        let region = if self.parts == 1 { first } else { b.copy(first) };
        let part = |b: &mut Builder| part(b, place, [region, place.shared], [table, node]);
        if self.parts == 1 {
            return part(b);
        }
        let last = b.add(first, (self.parts - 1) * self.region_bytes());
        b.do_while(|b| {
            part(b);
            let again = b.compare(Cmp::Lt, region, last);
            b.increase(region, self.region_bytes());
            let next = b.add64(node, u64::from(ROOT_BYTES * self.part_roots()));
            b.set64(node, next);
            b.increase64(table, u64::from(ROOT_BYTES * SECOND_ROOTS));
            again
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

    /// The last forward pass, the product, and the inverse transform of each thread's 16 points.
    pub(in crate::kernels) fn product_pass<R: Ring>(
        self,
        b: &mut Builder,
        ring: R,
        place: &Place,
        regions: &[R32],
        table: R64,
    ) {
        b.section("forward 3");
        let number = b.shl(place.thread, RADIX.ilog2());
        let mut points: Vec<Points<R>> =
            regions.iter().map(|&region| Points::new(b, ring, self.swizzle(), number, region)).collect();
        // The second pass moves `table` on by its own roots; the last pass has more or fewer a part.
        let from = b.mad_wide(place.thread, ROOT_BYTES, place.table);
        let part = b.sub64(table, place.table);
        let from = self.scaled(b, part, from);
        let last = self.last();
        let roots_of_block = self.last_roots() * last / RADIX;
        let mut products: Vec<R::Point> = Vec::new();
        for block in 0..RADIX / last {
            b.section("forward 3");
            let first = self.last_pass() + block * roots_of_block;
            let roots = ring.load_roots(b, from, first, self.threads(), last / 2);
            let transformed: Vec<Vec<R::Point>> = points
                .iter_mut()
                .map(|points| {
                    let mut x: Vec<R::Point> = points.load_run(b, block * last, last);
                    codelet::forward(b, ring, &mut x, &roots);
                    x
                })
                .collect();
            b.section("product");
            for i in (0..last as usize).step_by(2) {
                products.extend(match &transformed[..] {
                    [x, y] => ring.products(b, [[x[i], y[i]], [x[i + 1], y[i + 1]]]),
                    _ => ring.squares(b, [transformed[0][i], transformed[0][i + 1]]),
                });
            }
        }
        b.section("inverse 1");
        ring.inverse_of_points(b, self, place, &mut products);
        points[0].store_run(b, 0, &products);
    }

    /// The address of a thread's roots of the last forward pass in this part. `part`: the bytes of the roots of the
    /// second pass in the parts before.
    fn scaled(self, b: &mut Builder, part: R64, from: R64) -> R64 {
        if self.parts == 1 {
            return from;
        }
        let times = b.mul_lo64(part, u64::from(self.last_roots() / SECOND_ROOTS));
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
