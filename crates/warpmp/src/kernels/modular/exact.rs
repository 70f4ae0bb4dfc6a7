//! Division digit by digit, each of them right before the next: what the kernel of [`Division`](super::division::Division)
//! falls back on where its quick digits are not certain.
//!
//! computes   as there
//! cost       a row: `length + 4` wide products and about `4·length + 50` other instructions in one lane, 40 more in a group
//!
//! A row takes one limb of `a`, from the top: `R ← R·B + aᵢ − qᵢ·D`, with `qᵢ` from the top three limbs of `R` and two
//! of `D`. Instead of `−qᵢ·D` it adds `qᵢ·(B^n − D)`, which needs no borrows.
//!
//! bound: before each row `R < D`. The estimate of `qᵢ` is right or one too large; then `R` is negative, which shows in
//! the limb above: it is `qᵢ − u + ⌊R / B^n⌋`, where `u` is the limb of `R·B` above `B^n`. Then `D` is added back, which
//! the warp does together if one of its lanes must.
//!
//! source: Knuth, The Art of Computer Programming 2, 4.3.1, algorithm D; the estimate: see [`Reciprocal`].

use warpmp_kernel::build::{Builder, Emit, R32, R64};
use warpmp_kernel::fragment::{Reciprocal, Rows, assign, select};
use warpmp_kernel::ir::{Cmp, Space, Vote};
use warpmp_launch::Frame;

use super::shifted::Shifted;

/// Divides by `B^n − complement`, from digit `first` on down, which the caller knows to be the highest that is not zero, or
/// higher; the remainder to `rest`, the digits, with a mask, to a row.
pub(super) fn divide(
    b: &mut Builder,
    frame: &Frame,
    (numerator, complement): (Shifted, &[R32]),
    first: R32,
    quotient: Option<(R64, R32)>,
    rest: &[R32],
) {
    let steps = Steps::new(b, frame, complement);
    let index = b.copy(first);
    let above = b.add(index, 1);
    let start = numerator.block(b, frame, above, 1);
    assign(b, rest, &start);
    let mut reader = numerator.reader(b, index);
    b.do_while(|b| {
        let limb = reader.next(b);
        let digit = steps.step(b, frame, rest, limb);
        if let Some((row, mask)) = quotient {
            let digit = b.and(digit, mask);
            let address = b.mad_wide(index, 4, row);
            frame.by_bottom(b, |g| g.store_global(Space::Global, &[digit], address, 0));
        }
        b.decrease(index, 1);
        b.compare_signed(Cmp::Ge, index, 0)
    });
}

/// A normalised divisor.
struct Steps {
    /// `B^n` less the divisor.
    complement: Vec<R32>,
    top: Reciprocal,
}

impl Steps {
    fn new(b: &mut Builder, frame: &Frame, complement: &[R32]) -> Self {
        let divisor = frame.spread.negate(b, complement);
        let n = divisor.len();
        let low = if n > 1 { divisor[n - 2] } else { b.copy(0) };
        let top = Reciprocal::new(b, divisor[n - 1], low);
        Self { complement: complement.to_vec(), top }
    }

    /// `rest ← rest·B + limb` less the digit times the divisor; the digit.
    fn step(&self, b: &mut Builder, frame: &Frame, rest: &[R32], limb: R32) -> R32 {
        let (spread, n) = (&frame.spread, rest.len());
        // The lowest lane takes in the limb, the others what leaves the lanes below.
        let incoming = spread.from_below(b, rest[n - 1]);
        let incoming = if spread.group == 1 { limb } else { spread.at_bottom(b, limb, incoming) };
        let shifted: Vec<R32> = std::iter::once(incoming).chain(rest[..n - 1].iter().copied()).collect();
        let above = rest[n - 1];
        // Only the top lane's estimate counts.
        let digit = if n == 1 {
            self.top.quotient(b, above, shifted[0], 0)
        } else {
            self.top.quotient(b, above, shifted[n - 1], shifted[n - 2])
        };
        let digit = spread.top(b, digit);
        let above = spread.top(b, above);
        let rows = Rows::on(b, &self.complement, &shifted);
        let (sum, top) = spread.settle_rows(b, rows, digit);
        let expected = b.sub(digit, above);
        let negative = b.compare(Cmp::Ne, top, expected);
        assign(b, rest, &sum);
        let fixed = b.copy(digit);
        let any = b.vote(Vote::Any, negative);
        b.if_(any, |b| {
            // The complement less is the divisor more.
            let (restored, _) = spread.sub(b, rest, &self.complement);
            let restored = select(b, negative, &restored, rest);
            assign(b, rest, &restored);
            let less = b.sub(fixed, 1);
            let less = b.select(less, fixed, negative);
            b.set(fixed, less);
        });
        fixed
    }
}
