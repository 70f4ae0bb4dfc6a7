//! `ecm_invert`: inverses, and the divisors that have none.
//!
//! computes   `x⁻¹ mod N` in place of `x`; where `g = gcd(x, N) > 1` it is 1, and `g` is noted. A divisor that was noted before stays,
//!            unless it is `N`
//! requires   `N` odd, `x < N`
//! cost       about `2.1·d/30` batches of steps for moduli of `d` bits; see [`divsteps`]
//! registers  about `9·length + 40`

use warpmp_kernel::build::{Builder, Emit, Pred, R32};
use warpmp_kernel::fragment::divsteps::{self, Pair, add_where, negate_where, sign};
use warpmp_kernel::fragment::select;
use warpmp_launch::Frame;

use super::{Class, constant, load};

pub(super) fn body(b: &mut Builder, frame: &Frame, class: Class) {
    let spread = &frame.spread;
    let modulus = load(b, frame, class, 0, constant::MODULUS);
    let x = frame.load_result(b, 0);
    let numbers = Pair::new(b, &modulus, &x);
    let inverse = divsteps::inverse(b, spread, &numbers);
    // Loaded anew: what lives through all of the steps takes registers.
    let modulus = load(b, frame, class, 0, constant::MODULUS);
    let negative = sign(b, spread, &numbers.first);
    let divisor = negate_where(b, spread, negative, &numbers.first);
    // From (−2N, N) to [0, N), with the sign of the divisor.
    let below = sign(b, spread, &inverse);
    let inverse = add_where(b, spread, below, &inverse, &modulus);
    let inverse = negate_where(b, spread, negative, &inverse);
    let below = sign(b, spread, &inverse);
    let inverse = add_where(b, spread, below, &inverse, &modulus);
    let one = spread.small(b, 1);
    let same = |b: &mut Builder, x: &[R32], y: &[R32]| -> Pred {
        let different: Vec<R32> = x.iter().zip(y).map(|(&x, &y)| b.xor(x, y)).collect();
        spread.is_zero(b, &different)
    };
    let invertible = same(b, &divisor, &one);
    let inverse = select(b, invertible, &inverse, &one);
    frame.store(b, 0, &inverse);
    let before = frame.load_result(b, 1);
    let nothing = same(b, &before, &one);
    let whole = same(b, &before, &modulus);
    let open = b.or_pred(nothing, whole);
    // A divisor of 1 is no find.
    let found = b.not_pred(invertible);
    let takes = b.and_pred(open, found);
    let noted = select(b, takes, &divisor, &before);
    frame.store(b, 1, &noted);
}
