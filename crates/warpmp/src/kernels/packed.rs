//! The frame of kernels in which `w` threads of a warp share a product, a limb of each operand a thread:
//! `w` = 2, 4, 8, 16 or 32, and 32/w products a warp.

use warpmp_kernel::build::{Builder, Emit, Glue, R32, R64};
use warpmp_kernel::ir::{Cmp, Kernel, Space, Vector};
use warpmp_launch::{Entry, Geometry, GroupLane, Stage};

use super::OperationShape;

/// Longest operand, in limbs: a word a thread.
pub const MAX_LIMBS: u32 = 32;

/// What the kernel is made for, and how it is launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Packed {
    /// The product.
    pub shape: OperationShape,
    /// Warps a block.
    pub warps: u32,
}

/// A thread's place.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Its number in the block.
    pub thread: R32,
    /// Its number among those that share its product.
    pub i: R32,
    /// The threads that share a product.
    pub w: u32,
}

impl Place {
    /// The number of the thread above; 0 for the last.
    pub fn right(&self, b: &mut Builder) -> R32 {
        let next = b.add(self.i, 1);
        b.and(next, self.w - 1)
    }

    /// The number of the thread below; `w − 1` for the first.
    pub fn left(&self, b: &mut Builder) -> R32 {
        let previous = b.add(self.i, self.w - 1);
        b.and(previous, self.w - 1)
    }
}

impl Packed {
    /// Threads of the warp that share a product: the paper's `w`.
    pub fn width(&self) -> u32 {
        let [la, lb, _] = self.shape.limbs();
        la.max(lb).next_power_of_two().max(2)
    }

    /// The kernel's name.
    pub fn name(&self, algorithm: &str) -> String {
        let product = self.shape.product_name();
        format!("{algorithm}_{product}_w{}", self.warps)
    }

    /// The stage around `arithmetic`, which makes the thread's words of `a` and `b`, zero above the
    /// operands' ends, the low and the high word of the product.
    pub fn stage<'s>(
        self,
        algorithm: &'s str,
        shared_bytes_a_thread: u32,
        arithmetic: impl Fn(&mut Builder, Place, [R32; 2]) -> [R32; 2] + 's,
    ) -> Stage<'s> {
        let geometry = Geometry::of_groups(self.warps, self.width());
        let geometry = geometry.with_shared(shared_bytes_a_thread * geometry.threads);
        Stage::new(geometry, move |entry| self.kernel(entry, algorithm, &arithmetic))
    }

    fn kernel(
        &self,
        entry: &Entry,
        algorithm: &str,
        arithmetic: impl Fn(&mut Builder, Place, [R32; 2]) -> [R32; 2],
    ) -> Kernel {
        let [la, lb, lc] = self.shape.limbs();
        let w = self.width();
        let (mut b, ports) = entry.open(&self.name(algorithm), Glue::None, &["a", "b", "c"], false);
        let [a_address, b_address, c_address] = ports.first();
        let GroupLane { thread, number, row, .. } = GroupLane::enter(&mut b, ports.lanes, w, self.warps);
        let place = Place { thread, i: b.and(number, w - 1), w };
        b.section("load");
        let x = load_word(&mut b, &place, a_address, la, Some(row));
        let y = load_word(&mut b, &place, b_address, lb, (!self.shape.is_common(1)).then_some(row));
        b.section("arithmetic");
        let words = arithmetic(&mut b, place, [x, y]);
        b.section("store");
        let start = b.mad_wide(row, 4 * lc, c_address);
        let address = b.mad_wide(place.i, 4, start);
        for (word, first) in words.into_iter().zip([0, w]) {
            if first + w <= lc {
                b.store_global(Space::Global, &[word], address, 4 * first);
            } else if first < lc {
                let inside = b.compare(Cmp::Lt, place.i, lc - first);
                b.guarded(inside, true, |g| g.store_global(Space::Global, &[word], address, 4 * first));
            }
        }
        b.finish()
    }
}

/// The thread's limb of a row, or of the one row there is; zero above the row's end.
fn load_word(b: &mut Builder, place: &Place, address: R64, limbs: u32, row: Option<R32>) -> R32 {
    let start = row.map_or(address, |row| b.mad_wide(row, 4 * limbs, address));
    let address = b.mad_wide(place.i, 4, start);
    if limbs == place.w {
        return b.load_global(Space::GlobalConst, Vector::V1, address, 0)[0];
    }
    let value = b.copy(0);
    let inside = b.compare(Cmp::Lt, place.i, limbs);
    b.guarded(inside, true, |g| g.load_into(Space::GlobalConst, Vector::V1, &[value], address, 0));
    value
}

/// Two words a thread of shared memory, twice, through which the threads of a product hand on pairs.
#[derive(Clone, Copy, Debug)]
pub struct Slots {
    own: R32,
    source: R32,
    /// Bytes from the first set of slots to the second.
    second: u32,
}

impl Slots {
    /// Bytes of shared memory a thread.
    pub const BYTES: u32 = 16;

    /// Slots from byte `base` of shared memory on, for `threads` threads; each takes from the thread
    /// `source` of its product.
    pub fn new(b: &mut Builder, base: u32, threads: u32, place: &Place, source: R32) -> Self {
        let shared = b.shared_base();
        let start = b.add(shared, base);
        let group = b.sub(place.thread, place.i);
        let source = b.add(group, source);
        Self { own: b.mad_lo(place.thread, 8, start), source: b.mad_lo(source, 8, start), second: 8 * threads }
    }

    /// Hands a pair on; `turn` says which set of slots. In consecutive turns the sets must alternate: then
    /// the barrier of the next turn keeps the writes after it from the reads before it.
    pub fn exchange(&self, b: &mut Builder, turn: u32, pair: [R32; 2]) -> [R32; 2] {
        let offset = self.second * (turn % 2);
        b.store_shared(&pair, self.own, offset);
        b.warp_barrier();
        let words = b.load_shared(Vector::V2, self.source, offset);
        [words[0], words[1]]
    }
}
