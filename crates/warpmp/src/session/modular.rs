//! Modular arithmetic and division: operations whose lanes may be at fault.

use super::Session;
use crate::batch::Batch;
use crate::error::Result;
use crate::operation::{Operation, Statuses};

/// Methods that give one batch and the statuses of its lanes.
macro_rules! methods {
    ($($(#[$doc:meta])* $name:ident($($operand:ident),* $(; $constant:ident)?) = $variant:ident;)*) => {
        impl Session {$(
            $(#[$doc])*
            ///
            /// An operand with one lane serves every lane of the others; a lane that is at fault has a
            /// [`Status`](crate::Status) other than fine and a result of zero, and the others do not notice.
            ///
            /// # Errors
            /// As [`Session::mul`].
            pub fn $name(&self, $($operand: &Batch,)* $($constant: u32)?) -> Result<(Batch<'static>, Statuses)> {
                self.checked(Operation::$variant $(($constant))?, &[$($operand),*])
            }
        )*}
    };
}

// Modular arithmetic. Results have the bits of `m`.
methods! {
    /// `(a + b) mod m` for `a, b < m`.
    add_mod(a, b, m) = AddMod;
    /// `(a − b) mod m` for `a, b < m`.
    sub_mod(a, b, m) = SubMod;
    /// `−a mod m` for `a < m`.
    neg_mod(a, m) = NegMod;
    /// `a·b mod m` for any `a` and `b`.
    mul_mod(a, b, m) = MulMod;
    /// `a² mod m` for any `a`.
    sqr_mod(a, m) = SqrMod;
    /// `a^e mod m` for any `m`; `x⁰ = 1 mod m`. Its time may depend on `e`: [`Session::pow_mod_sec`] for secrets.
    ///
    /// Even moduli take about four times as long as odd ones on a GPU, and on a GPU they slow the lanes of their warp.
    pow_mod(a, e, m) = PowMod;
    /// `a^e mod m` for odd `m`, by instructions and addresses that do not depend on `a` and `e`.
    ///
    /// On a GPU this holds for the text of the kernel, and the simulator's counters confirm it; on the CPU for the source,
    /// in which no branch and no index comes from `a` or `e`: what a compiler makes of it is checked by nobody. It does
    /// depend on `m` and on the lengths. Nothing is wiped from memory.
    pow_mod_sec(a, e, m) = PowModSec;
    /// `a^exponent mod m` for odd `m` and one short exponent that is no secret, such as 65537.
    pow_mod_public(a, m; exponent) = PowModPublic;
    /// `x < m` with `a·x = 1 mod m`.
    inv_mod(a, m) = InvMod;
    /// `a mod m`.
    reduce(a, m) = Reduce;
}

// Montgomery's residues: `m` is odd, and `R = 2^(32·⌈bits of m / 32⌉)` whatever the algorithm.
methods! {
    /// `a·R mod m` for `a < m`, with `R = 2^(32·⌈bits of m / 32⌉)`.
    to_mont(a, m) = ToMont;
    /// `a/R mod m` for `a < m`, with `R = 2^(32·⌈bits of m / 32⌉)`.
    from_mont(a, m) = FromMont;
    /// `a·b/R mod m` for `a, b < m`, with `R = 2^(32·⌈bits of m / 32⌉)`.
    mont_mul(a, b, m) = MontMul;
    /// `a²/R mod m` for `a < m`, with `R = 2^(32·⌈bits of m / 32⌉)`.
    mont_sqr(a, m) = MontSqr;
    /// `t/R mod m` for `t < m·R`, with `R = 2^(32·⌈bits of m / 32⌉)`.
    redc(t, m) = Redc;
}

// Division.
methods! {
    /// `a mod b`, as wide as `b`.
    rem(a, b) = Rem;
    /// `a / b` where `b` divides `a`, as wide as `a`; another lane has the status
    /// [`Status::NotExact`](crate::Status::NotExact).
    div_exact(a, b) = DivExact;
}

impl Session {
    /// Divides lane by lane: quotients as wide as `a`, remainders as wide as `b`, and the statuses.
    ///
    /// Where `b` is zero, so are both, and the status is
    /// [`Status::DivisionByZero`](crate::Status::DivisionByZero).
    ///
    /// # Errors
    /// As [`Session::mul`].
    pub fn div_rem(&self, a: &Batch, b: &Batch) -> Result<([Batch<'static>; 2], Statuses)> {
        let [quotients, remainders, statuses] = self.several(Operation::DivRem, &[a, b])?;
        Ok(([quotients, remainders], Statuses(statuses)))
    }

    /// The greatest common divisors, as wide as the wider operand; of 0 and 0 it is 0.
    ///
    /// # Errors
    /// As [`Session::mul`].
    pub fn gcd(&self, a: &Batch, b: &Batch) -> Result<Batch<'static>> {
        self.one(Operation::Gcd, &[a, b])
    }

    /// The least common multiples, `p + q` bits a lane; of 0 and any number it is 0.
    ///
    /// # Errors
    /// As [`Session::mul`].
    pub fn lcm(&self, a: &Batch, b: &Batch) -> Result<Batch<'static>> {
        self.one(Operation::Lcm, &[a, b])
    }

    /// The Kronecker symbols of `a` over `n`: −1, 0 or 1 as a two's complement of two bits (3, 0, 1).
    ///
    /// For odd `n` they are the symbols of Jacobi, for primes those of Legendre. Over 2 the symbol is 0 for even `a`, 1 for
    /// `a = ±1` and −1 for `a = ±3` modulo 8; over 0 it is 1 for `a = 1`, else 0.
    ///
    /// # Errors
    /// As [`Session::mul`].
    pub fn jacobi(&self, a: &Batch, n: &Batch) -> Result<Batch<'static>> {
        self.one(Operation::Jacobi, &[a, n])
    }

    /// `g = gcd(a, b)`, the least `x ≥ 0` with `a·x + b·y = g`, and that `y`, a two's complement.
    ///
    /// They have `max(p, q)`, `q` and `p + 1` bits. For `b = 0` they are `a`, 1 (0 if `a = 0`), 0.
    ///
    /// # Errors
    /// As [`Session::mul`].
    pub fn gcd_ext(&self, a: &Batch, b: &Batch) -> Result<[Batch<'static>; 3]> {
        self.several(Operation::GcdExt, &[a, b])
    }

    /// The square roots, rounded down, in `⌈p/2⌉` bits, and what remains, `a − ⌊√a⌋²`, in one bit more.
    ///
    /// # Errors
    /// As [`Session::mul`].
    pub fn sqrt(&self, a: &Batch) -> Result<[Batch<'static>; 2]> {
        self.several(Operation::Sqrt, &[a])
    }

    /// Tests lane by lane whether a number is a strong probable prime to one short base: 1 or 0.
    ///
    /// | operand | lanes | bits a lane |
    /// |---------|-------|-------------|
    /// | `n`     | `n`   | `p`         |
    /// | result  | `n`   | 1           |
    ///
    /// Even numbers, 0 and 1 do not pass, nor do divisors of the base. An odd number above 1, prime to the base, that
    /// does not pass is composite. To base 2 a test takes a fifth less than to others.
    ///
    /// # Errors
    /// As [`Session::mul`].
    ///
    /// # Source
    /// Miller 1976; Rabin 1980; Handbook of Applied Cryptography 4.24.
    pub fn strong_test(&self, n: &Batch, base: u32) -> Result<Batch<'static>> {
        self.one(Operation::StrongTest(base), &[n])
    }

    /// [`Session::strong_test`] with a base a lane, of any length, or one for all lanes.
    ///
    /// # Errors
    /// As [`Session::mul`].
    pub fn miller_rabin(&self, a: &Batch, n: &Batch) -> Result<Batch<'static>> {
        self.one(Operation::MillerRabin, &[a, n])
    }

    fn checked(&self, operation: Operation, operands: &[&Batch]) -> Result<(Batch<'static>, Statuses)> {
        let [result, statuses] = self.several(operation, operands)?;
        Ok((result, Statuses(statuses)))
    }
}
