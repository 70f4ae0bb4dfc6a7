//! Numbers in device memory, one a thread: what `school`, `comba` and `karatsuba` are written with.
//!
//! A warp's tile of 32 numbers lies in scratch memory *limb-major*: limb `k` of all 32 lanes side by
//! side, so that a warp reads or writes a limb of each in one access of 128 bytes. That is the papers'
//! arrangement for bulk execution; operands and results of the library are rows, and
//! [`Limbs::copy_to`] goes from one to the other.
//!
//! All loops over limbs take four at a time: four loads are under way while one would be waited for.

use warpmp_kernel::build::{Builder, Emit, Glue, R32, R64};
use warpmp_kernel::ir::{Bounds, Cmp, Kernel, Space, Special, Vector};
use warpmp_launch::{Entry, Geometry, Stage, thread_number};

use warpmp::kernels::OperationShape;

/// Bytes from limb to limb of a row.
const ROW: u32 = 4;

/// Bytes from limb to limb of a number in scratch memory.
const TILE: u32 = 4 * 32;

/// Limbs a turn of a loop.
pub(super) const UNROLL: u32 = 4;

/// The least significant limb first, at equal distances, in global memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limbs {
    base: R64,
    /// Bytes from `base` to the first limb.
    offset: u32,
    /// Bytes from limb to limb.
    stride: u32,
    /// Do four limbs, from the first on, lie in aligned pieces of 16 bytes?
    wide: bool,
    /// How many.
    pub(super) len: u32,
}

impl Limbs {
    /// `len` limbs from limb `start` on.
    pub(super) const fn part(self, start: u32, len: u32) -> Self {
        let wide = self.wide && start.is_multiple_of(UNROLL);
        Self { offset: self.offset + start * self.stride, wide, len, ..self }
    }

    /// A cursor at the first limb.
    pub(super) fn cursor(self, b: &mut Builder) -> Cursor {
        Cursor { at: b.add64(self.base, u64::from(self.offset)), stride: self.stride, wide: self.wide }
    }

    /// A cursor `below` limbs below limb `index`.
    pub(super) fn cursor_at(self, b: &mut Builder, index: R32, below: u32) -> Cursor {
        let bytes = u64::from(self.offset).wrapping_sub(u64::from(below * self.stride));
        let start = b.add64(self.base, bytes);
        Cursor { at: b.mad_wide(index, self.stride, start), stride: self.stride, wide: false }
    }

    /// Copies the limbs to another place of the same length.
    pub(super) fn copy_to(self, b: &mut Builder, to: Self) {
        debug_assert_eq!(self.len, to.len);
        let (source, sink) = (self.cursor(b), to.cursor(b));
        walk(b, self.len, &[source, sink], |b, n| {
            let words = source.load(b, n);
            sink.store(b, &words);
        });
    }
}

/// A limb that a loop has come to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor {
    at: R64,
    stride: u32,
    /// May it move four limbs in one access?
    wide: bool,
}

impl Cursor {
    /// The limb `k` above.
    pub(super) fn limb(self, b: &mut Builder, k: u32) -> R32 {
        b.load_global(Space::Global, Vector::V1, self.at, k * self.stride)[0]
    }

    /// This limb and those above it.
    pub(super) fn load(self, b: &mut Builder, n: u32) -> Vec<R32> {
        if self.wide && n == UNROLL {
            return b.load_global(Space::Global, Vector::V4, self.at, 0);
        }
        (0..n).map(|k| self.limb(b, k)).collect()
    }

    /// Overwrites this limb and those above it.
    pub(super) fn store(self, b: &mut Builder, words: &[R32]) {
        if self.wide && words.len() == UNROLL as usize {
            return b.store_global(Space::Global, words, self.at, 0);
        }
        for (&word, k) in words.iter().zip(0..) {
            b.store_global(Space::Global, &[word], self.at, k * self.stride);
        }
    }

    /// A second cursor at the same limb.
    pub(super) fn fork(self, b: &mut Builder) -> Self {
        Self { at: b.copy64(self.at), ..self }
    }

    /// The same cursor when it has gone up by `len` limbs, four at a time and then the rest.
    pub(super) const fn after(self, len: u32) -> Self {
        Self { wide: self.wide && len.is_multiple_of(UNROLL), ..self }
    }

    /// Goes up by `n` limbs.
    pub(super) fn up(self, b: &mut Builder, n: u32) {
        b.increase64(self.at, u64::from(n * self.stride));
    }

    /// Goes down by `n` limbs.
    pub(super) fn down(self, b: &mut Builder, n: u32) {
        b.increase64(self.at, u64::from(n * self.stride).wrapping_neg());
    }
}

/// The body for `len` limbs, four at a time and then the rest at once; it is told how many, and the
/// cursors go up by as many after it.
pub(super) fn walk(b: &mut Builder, len: u32, cursors: &[Cursor], mut body: impl FnMut(&mut Builder, u32)) {
    let mut turn = |b: &mut Builder, n: u32| {
        body(b, n);
        for cursor in cursors {
            cursor.up(b, n);
        }
    };
    let (turns, rest) = (len / UNROLL, len % UNROLL);
    if turns > 0 {
        let count = b.copy(turns);
        repeat(b, count, |b| turn(b, UNROLL));
    }
    if rest > 0 {
        turn(b, rest);
    }
}

/// The body `count` times, at least once; the register is used up.
pub(super) fn repeat(b: &mut Builder, count: R32, body: impl FnOnce(&mut Builder)) {
    b.do_while(|b| {
        body(b);
        b.decrease(count, 1);
        b.compare(Cmp::Ne, count, 0)
    });
}

/// The body `count` times; the register is used up.
pub(super) fn repeat_if_any(b: &mut Builder, count: R32, body: impl FnOnce(&mut Builder)) {
    let some = b.compare(Cmp::Ne, count, 0);
    b.if_(some, |b| repeat(b, count, body));
}

/// Longest operand, in limbs.
const MAX_LIMBS: u32 = 2048;

/// What the algorithms accept, in words.
pub(super) const ACCEPTS: &str = "operands to 65536 bits";

/// Do the algorithms take these lengths?
pub(super) fn fits(shape: OperationShape) -> bool {
    shape.max_limbs() <= MAX_LIMBS
}

/// The numbers of a thread.
pub(super) struct Lane {
    /// The operands: in scratch memory, a common `b` where it is.
    pub(super) a: Limbs,
    pub(super) b: Limbs,
    /// The row of the product.
    pub(super) c: Limbs,
    /// Scratch memory beside the operands.
    pub(super) scratch: Limbs,
}

/// Limbs of scratch memory that the operands take.
pub(super) const fn operand_limbs(shape: OperationShape) -> u32 {
    let [la, lb, _] = shape.limbs();
    if shape.is_common(1) { la } else { la + lb }
}

/// The stage in which each thread multiplies the operands of a lane by `multiply`, which needs
/// `scratch` limbs of memory. Section `arrange` brings the operands to scratch memory.
pub(super) fn thread_stage<'s>(
    name: String,
    shape: OperationShape,
    warps: u32,
    scratch: u32,
    multiply: impl Fn(&mut Builder, &Lane) + 's,
) -> Stage<'s> {
    Stage::new(Geometry::of_threads(warps), move |entry| {
        thread_kernel(entry, &name, shape, (warps, scratch), &multiply)
    })
}

fn thread_kernel(
    entry: &Entry,
    name: &str,
    shape: OperationShape,
    (warps, scratch): (u32, u32),
    multiply: impl Fn(&mut Builder, &Lane),
) -> Kernel {
    let [la, lb, lc] = shape.limbs();
    let (mut b, ports) = entry.open(name, Glue::None, &["a", "b", "c"], true);
    b.bounds(Bounds { max_threads: Some(32 * warps), ..Bounds::default() });
    let [a_address, b_address, c_address, scratch_address] = ports.first();
    b.section("setup");
    let thread = thread_number(&mut b, 32 * warps);
    // The warp stays or goes as a whole: buffers hold whole tiles.
    let tile = b.shr(thread, 5);
    let first = b.shl(tile, 5);
    let outside = b.compare(Cmp::Ge, first, ports.lanes);
    b.return_if(outside);
    let row = |b: &mut Builder, address: R64, len: u32| {
        let base = b.mad_wide(thread, ROW * len, address);
        Limbs { base, offset: 0, stride: ROW, wide: len.is_multiple_of(UNROLL), len }
    };
    let len = operand_limbs(shape) + scratch;
    let base = b.mad_wide(tile, TILE * len, scratch_address);
    let lane = b.special(Special::Lane);
    let base = b.mad_wide(lane, 4, base);
    let memory = Limbs { base, offset: 0, stride: TILE, wide: false, len };
    b.section("arrange");
    let (a, c) = (memory.part(0, la), row(&mut b, c_address, lc));
    row(&mut b, a_address, la).copy_to(&mut b, a);
    let b_limbs = if shape.is_common(1) {
        Limbs { base: b_address, offset: 0, stride: ROW, wide: lb.is_multiple_of(UNROLL), len: lb }
    } else {
        let to = memory.part(la, lb);
        row(&mut b, b_address, lb).copy_to(&mut b, to);
        to
    };
    b.section("arithmetic");
    multiply(&mut b, &Lane { a, b: b_limbs, c, scratch: memory.part(operand_limbs(shape), scratch) });
    b.finish()
}

/// The kernel's name.
pub(super) fn thread_name(algorithm: &str, shape: OperationShape, warps: u32) -> String {
    let product = shape.product_name();
    format!("{algorithm}_{product}_w{warps}")
}
