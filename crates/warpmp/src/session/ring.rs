//! Operations of the ring of integers, and of words of bits.

use super::Session;
use crate::batch::Batch;
use crate::error::Result;
use crate::operation::Operation;

/// Methods whose results are all batches.
macro_rules! methods {
    ($($(#[$doc:meta])* $name:ident($($operand:ident),* $(; $constant:ident)?) = $variant:ident -> $one:tt;)*) => {
        impl Session {$(
            $(#[$doc])*
            ///
            /// An operand with one lane serves every lane of the others.
            ///
            /// # Errors
            /// As [`Session::mul`].
            pub fn $name(&self, $($operand: &Batch,)* $($constant: u32)?) -> methods!(@type $one) {
                methods!(@run $one, self, Operation::$variant $(($constant))?, &[$($operand),*])
            }
        )*}
    };
    (@type one) => { Result<Batch<'static>> };
    (@type two) => { Result<[Batch<'static>; 2]> };
    (@run one, $session:ident, $operation:expr, $operands:expr) => { $session.one($operation, $operands) };
    (@run two, $session:ident, $operation:expr, $operands:expr) => { $session.several($operation, $operands) };
}

// Parts of products.
methods! {
    /// The low bits of the products: `a·b mod 2^max(p, q)`, `max(p, q)` bits a lane.
    ///
    /// For two's complements of the same width they are the low bits of the signed products too.
    mul_lo(a, b) = MulLo -> one;
    /// The high bits of the products: `⌊a·b / 2^max(p, q)⌋`, `min(p, q)` bits a lane.
    mul_hi(a, b) = MulHi -> one;
    /// Products and sums: `a·b + c`, all bits: `p + q`, or `max(p + q, r) + 1` if `c` is wider than `a` and `b`.
    mul_add(a, b, c) = MulAdd -> one;
    /// Products of two's complements, `p + q` bits a lane.
    signed_mul(a, b) = SignedMul -> one;
}

// Sums and differences.
methods! {
    /// Adds lane by lane, keeping the carry: `a + b`, `max(p, q) + 1` bits a lane.
    add(a, b) = Add -> one;
    /// Adds lane by lane without the carry: `a + b mod 2^max(p, q)`.
    ///
    /// For two's complements of the same width it is their wrapping sum, too.
    wrapping_add(a, b) = WrappingAdd -> one;
    /// Adds lane by lane, with a carry in and a carry out: `a + b + bit mod 2^max(p, q)`, and a carry of one bit.
    ///
    /// Of `carry` only bit 0 of a lane counts.
    carrying_add(a, b, carry) = CarryingAdd -> two;
    /// Subtracts lane by lane: `a − b` as a two's complement of `max(p, q) + 1` bits.
    sub(a, b) = Sub -> one;
    /// Subtracts lane by lane without the borrow: `a − b mod 2^max(p, q)`.
    wrapping_sub(a, b) = WrappingSub -> one;
    /// Subtracts lane by lane, with a borrow in and a borrow out: `a − b − bit mod 2^max(p, q)`, and a borrow of one
    /// bit.
    ///
    /// Of `borrow` only bit 0 of a lane counts.
    borrowing_sub(a, b, borrow) = BorrowingSub -> two;
    /// The negatives as two's complements of `p + 1` bits.
    neg(a) = Neg -> one;
    /// The negatives modulo `2^p`.
    wrapping_neg(a) = WrappingNeg -> one;
    /// Compares lane by lane: −1, 0 or 1 as a two's complement of two bits (3, 0, 1) where `a` is less than, equal
    /// to, greater than `b`.
    cmp(a, b) = Cmp -> one;
}

// Two's complements.
methods! {
    /// Adds two's complements, `max(p, q) + 1` bits a lane.
    signed_add(a, b) = SignedAdd -> one;
    /// Subtracts two's complements, `max(p, q) + 1` bits a lane.
    signed_sub(a, b) = SignedSub -> one;
    /// The negatives of two's complements, `p + 1` bits a lane.
    signed_neg(a) = SignedNeg -> one;
    /// [`Session::cmp`] of two's complements.
    signed_cmp(a, b) = SignedCmp -> one;
    /// The same two's complements in `p + more_bits` bits.
    sign_extend(a; more_bits) = SignExtend -> one;
    /// Magnitudes of two's complements in `p` bits, and their signs in one: 1 for negative ones.
    to_sign_magnitude(a) = ToSignMagnitude -> two;
    /// The two's complements, `p + 1` bits a lane, of magnitudes and signs. Of `sign` only bit 0 of a lane counts.
    from_sign_magnitude(a, sign) = FromSignMagnitude -> one;
}

// Shifts and logic.
methods! {
    /// Shifts up, keeping all bits: `a·2^n`, `p + n` bits a lane.
    shl(a; n) = Shl -> one;
    /// Shifts up within the width: `a·2^n mod 2^p`.
    wrapping_shl(a; n) = WrappingShl -> one;
    /// Shifts down: `⌊a / 2^n⌋`, `p − n` bits a lane, one if none are left.
    shr(a; n) = Shr -> one;
    /// Bitwise and; the narrower operand has zeros above.
    and(a, b) = And -> one;
    /// Bitwise or; the narrower operand has zeros above.
    or(a, b) = Or -> one;
    /// Bitwise exclusive or; the narrower operand has zeros above.
    xor(a, b) = Xor -> one;
    /// Bitwise complement in `p` bits.
    not(a) = Not -> one;
    /// The lane of `a` where bit 0 of the lane of `condition` is set, else that of `b`; `max` of their bits.
    select(condition, a, b) = Select -> one;
}
