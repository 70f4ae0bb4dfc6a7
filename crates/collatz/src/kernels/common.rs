//! What the kernels share: the table jump and reports.

use warpmp_kernel::build::{Builder, Emit, Pred, R32};
use warpmp_kernel::ir::{Cmp, Space};
use warpmp_launch::{Address, Word, parameters};

/// Bytes before the records of a report: the number of reports (also of those that found no room), padding.
pub const REPORT_HEADER_BYTES: u64 = 16;
/// Bytes of a record of a report: the start, 128 bits, least significant word first.
pub const REPORT_RECORD_BYTES: u64 = 16;

parameters! {
    /// Where lanes report the starts that the host has to finish.
    pub(crate) struct Report, ReportArguments {
        /// A header, then records.
        report: Address,
        /// Records that have room.
        report_capacity: Word,
    }
}

impl Report {
    /// Reports a start of up to four words, in the lanes that come here.
    pub(super) fn put(self, b: &mut Builder, start: &[R32]) {
        let slot = b.atomic_add_global(self.report, 0, 1);
        let room = b.compare(Cmp::Lt, slot, self.report_capacity);
        let record = b.mad_wide(slot, REPORT_RECORD_BYTES as u32, self.report);
        let words: Vec<R32> = (0..4).map(|i| start.get(i).copied().unwrap_or_else(|| b.copy(0))).collect();
        b.guarded(room, true, |g| g.store_global(Space::Global, &words, record, REPORT_HEADER_BYTES as u32));
    }
}

/// A jump over some steps: the power of three for the high part, and the low part's value after them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Jump {
    pub(super) power: R32,
    pub(super) rest: R32,
}

/// `z >> bits`, `bits` less than 32.
pub(super) fn shift_right(b: &mut Builder, z: &[R32], bits: u32) -> Vec<R32> {
    let top = z.len() - 1;
    (0..z.len()).map(|i| if i == top { b.shr(z[i], bits) } else { b.funnel_right(z[i], z[i + 1], bits) }).collect()
}

/// `z := (z >> bits)·power + rest`, limb by limb; the last limb's product whole, its high word returned.
pub(super) fn jump_watched(b: &mut Builder, z: &[R32], bits: u32, by: Jump) -> R32 {
    jump_limbs(b, z, bits, by, true)
}

/// The same modulo the limbs: the caller knows that nothing is lost.
pub(super) fn jump(b: &mut Builder, z: &[R32], bits: u32, by: Jump) {
    jump_limbs(b, z, bits, by, false);
}

fn jump_limbs(b: &mut Builder, z: &[R32], bits: u32, by: Jump, watched: bool) -> R32 {
    let high = shift_right(b, z, bits);
    let mut carry = by.rest;
    for (i, (&z, h)) in z.iter().zip(&high).enumerate() {
        if i + 1 == high.len() && !watched {
            let last = b.mad_lo(*h, by.power, carry);
            b.set(z, last);
            return carry;
        }
        let addend = b.widen(carry);
        let sum = b.mad_wide(*h, by.power, addend);
        let (low, above) = b.unpack(sum);
        b.set(z, low);
        carry = above;
    }
    carry
}

/// Is `z` (three words) at least `n` (two)?
pub(super) fn reaches(b: &mut Builder, z: &[R32], n: &[R32]) -> Pred {
    let (low, start) = (b.pack(z[0], z[1]), b.pack(n[0], n[1]));
    let over = b.compare64(Cmp::Ge, low, start);
    let above = b.compare(Cmp::Ne, z[2], 0);
    b.or_pred(over, above)
}

/// A 64-bit number modulo 9. 2³⁰ ≡ 1, so the three digits of 30 bits may be added.
pub(super) fn modulo_nine(b: &mut Builder, low: R32, high: R32) -> R32 {
    let digit = (1 << 30) - 1;
    let first = b.and(low, digit);
    let second = b.funnel_right(low, high, 30);
    let second = b.and(second, digit);
    let third = b.shr(high, 28);
    let sum = b.add(first, second);
    let sum = b.add(sum, third);
    small_modulo_nine(b, sum)
}

/// A number below 2³² modulo 9: x − 9·⌊x·⌈2³³/9⌉/2³³⌋, exact as 9·⌈2³³/9⌉ = 2³³ + 1.
pub(super) fn small_modulo_nine(b: &mut Builder, x: R32) -> R32 {
    let quotient = b.mul_hi(x, 954_437_177);
    let quotient = b.shr(quotient, 1);
    b.mad_lo(quotient, 9_u32.wrapping_neg(), x)
}
