//! Accesses to rows: how wide they can be, and where pieces of rows are.

use warpmp_kernel::build::{Builder, Emit, Pred, R32, R64};
use warpmp_kernel::ir::{Cmp, Space, Vector};

/// Bytes of a line of the caches.
const LINE_BYTES: u32 = 128;

/// The widest access, in words, that every row of this many limbs allows: 4, 2 or 1.
pub const fn piece(limbs: u32) -> u32 {
    match limbs % 4 {
        0 => 4,
        2 => 2,
        _ => 1,
    }
}

/// The vector of this many words.
pub const fn vector(words: u32) -> Vector {
    match words {
        1 => Vector::V1,
        2 => Vector::V2,
        _ => Vector::V4,
    }
}

/// `x / divisor` for `x < limit`, a small constant divisor: one multiplication and a shift.
///
/// Exact: with `m = ⌈2²⁰/d⌉` the error of `x·m/2²⁰` is below `x/2²⁰ < 1/d` as long as `x·(m·d − 2²⁰) < 2²⁰`.
pub fn divide(b: &mut Builder, x: R32, divisor: u32, limit: u32) -> R32 {
    if divisor.is_power_of_two() {
        return b.shr(x, divisor.trailing_zeros());
    }
    let m = (1_u32 << 20).div_ceil(divisor);
    debug_assert!(limit * (m * divisor - (1 << 20)) < 1 << 20);
    let scaled = b.mul_lo(x, m);
    b.shr(scaled, 20)
}

/// All threads of the block copy `words` words (a multiple of four) to shared memory. A barrier must follow.
pub fn fill_shared(b: &mut Builder, thread: R32, threads: u32, from: R64, to: R32, words: u32) {
    debug_assert!(words.is_multiple_of(4));
    let pieces = words / 4;
    let index = b.copy(thread);
    let more = |b: &mut Builder| b.compare(Cmp::Lt, index, pieces);
    b.while_(more, |b| {
        let source = b.mad_wide(index, 16, from);
        let piece = b.load_global(Space::GlobalConst, Vector::V4, source, 0);
        let target = b.mad_lo(index, 16, to);
        b.store_shared(&piece, target, 0);
        b.increase(index, threads);
    });
}

/// Asks the second-level cache to load a row of so many bytes. Each of `threads` threads asks for a line; with a condition only threads where it holds.
pub fn prefetch_row(b: &mut Builder, (thread, threads): (R32, u32), (row, bytes): (R64, u32), condition: Option<Pred>) {
    let from = b.mad_wide(thread, LINE_BYTES, row);
    for start in (0..bytes).step_by((LINE_BYTES * threads) as usize) {
        let inside = b.compare(Cmp::Lt, thread, (bytes - start).div_ceil(LINE_BYTES));
        let inside = condition.map_or(inside, |condition| b.and_pred(inside, condition));
        b.guarded(inside, true, |g| g.prefetch(from, start));
    }
}
