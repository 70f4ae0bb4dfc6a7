//! The table of operations. A row holds every fact about an operation; sessions, plans, the command line and the tests
//! read it.
//!
//! A new operation begins with its row here. The compiler then names every place that must compute it.

use super::row::{
    A, B, BELOW_M_A, BELOW_M_B, BELOW_MR, BIT, C, Constant, DIVISOR, E, Group, LOWER_N, M, N, ODD_M, Row, product_bits,
};

operations! {
    Product product {
        /// `a·b`, all bits: `p + q`, or one less if an operand has one bit.
        Mul = Row::new("mul", "a·b, all bits", &[A, B], &["products"], |w| vec![product_bits(w.a(), w.b())]);
        /// `a²`, all bits.
        Sqr = Row::new("sqr", "a², all bits", &[A], &["squares"], |w| vec![product_bits(w.a(), w.a())]);
    }

    ProductPart product_part {
        /// `a·b` modulo `2^max(p, q)`.
        MulLo = Row::new("mul_lo", "the low bits of a·b: as many as the wider operand has", &[A, B],
            &["products"], |w| vec![w.max()]).by_width();
        /// `⌊a·b / 2^max(p, q)⌋`: what [`Operation::MulLo`] leaves out, `min(p, q)` bits.
        MulHi = Row::new("mul_hi", "the high bits of a·b: as many as the narrower operand has", &[A, B],
            &["products"], |w| vec![w.min()]).by_width();
        /// `a·b + c`, all bits: `p + q` if `c` is no wider than the wider of `a` and `b`, else `max(p + q, r) + 1`.
        MulAdd = Row::new("mul_add", "a·b + c, all bits", &[A, B, C], &["sums"], |w| {
            let product = w.a() + w.b();
            vec![if w.c() <= w.max() { product } else { product.max(w.c()) + 1 }]
        });
        /// `a·b` of two's complements, `p + q` bits.
        SignedMul = Row::new("signed_mul", "a·b of two's complements, all bits", &[A, B],
            &["products"], |w| vec![w.a() + w.b()]).with_signed(0).by_width();
    }

    Linear linear {
        /// `a + b`, one bit more than the wider operand.
        Add = Row::new("add", "a + b, with the carry as its top bit", &[A, B], &["sums"], |w| vec![w.max() + 1]);
        /// `a + b` modulo `2^max(p, q)`.
        WrappingAdd = Row::new("wrapping_add", "a + b without the carry", &[A, B], &["sums"], |w| vec![w.max()]).by_width();
        /// `a + b + carry` modulo `2^max(p, q)`, and the carry out. Bit 0 of the third operand is the carry in.
        CarryingAdd = Row::new("carrying_add", "a + b + a carry, and the carry out", &[A, B, BIT],
            &["sums", "carries"], |w| vec![w.max(), 1]).by_width();
        /// `a − b` in two's complement, one bit more than the wider operand.
        Sub = Row::new("sub", "a − b in two's complement, the sign its top bit", &[A, B], &["differences"],
            |w| vec![w.max() + 1]).with_signed(0);
        /// `a − b` modulo `2^max(p, q)`.
        WrappingSub = Row::new("wrapping_sub", "a − b without the borrow", &[A, B], &["differences"],
            |w| vec![w.max()]).by_width();
        /// `a − b − borrow` modulo `2^max(p, q)`, and the borrow out. Bit 0 of the third operand is the borrow in.
        BorrowingSub = Row::new("borrowing_sub", "a − b − a borrow, and the borrow out", &[A, B, BIT],
            &["differences", "borrows"], |w| vec![w.max(), 1]).by_width();
        /// `−a` in two's complement, one bit more than `a`.
        Neg = Row::new("neg", "−a in two's complement, the sign its top bit", &[A], &["negatives"],
            |w| vec![w.a() + 1]).with_signed(0);
        /// `−a` modulo `2^p`.
        WrappingNeg = Row::new("wrapping_neg", "−a modulo 2 to the bits of a", &[A], &["negatives"], |w| vec![w.a()]).by_width();
        /// −1, 0 or 1 in two's complement of two bits: 3, 0, 1.
        Cmp = Row::new("cmp", "−1, 0, 1 (in two bits 3, 0, 1) where a is less, equal, greater", &[A, B],
            &["comparisons"], |_| vec![2]).with_signed(0);
        /// `a·2^n`, `p + n` bits; `n` is the operation's constant.
        Shl(1) = Row::new("shl", "a·2^n, all bits", &[A], &["results"], |w| vec![w.a() + w.constant()]).with_constant(Constant::Distance);
        /// `a·2^n` modulo `2^p`; `n` is the operation's constant.
        WrappingShl(1) = Row::new("wrapping_shl", "a·2^n in the bits of a", &[A], &["results"], |w| vec![w.a()]).by_width().with_constant(Constant::Distance);
        /// `⌊a / 2^n⌋`, `p − n` bits, or one if there are none left; `n` is the operation's constant.
        Shr(1) = Row::new("shr", "a / 2^n, rounded down", &[A], &["results"],
            |w| vec![w.a().saturating_sub(w.constant()).max(1)]).with_constant(Constant::Distance);
        /// Bitwise and; the narrower operand has zeros above.
        And = Row::new("and", "bitwise and", &[A, B], &["results"], |w| vec![w.max()]);
        /// Bitwise or; the narrower operand has zeros above.
        Or = Row::new("or", "bitwise or", &[A, B], &["results"], |w| vec![w.max()]);
        /// Bitwise exclusive or; the narrower operand has zeros above.
        Xor = Row::new("xor", "bitwise exclusive or", &[A, B], &["results"], |w| vec![w.max()]);
        /// Bitwise complement in the bits of `a`.
        Not = Row::new("not", "bitwise complement", &[A], &["results"], |w| vec![w.a()]).by_width();
        /// The second operand where bit 0 of the first one is set, else the third.
        Select = Row::new("select", "a where the condition's bit 0 is set, else b", &[BIT, A, B], &["results"],
            |w| vec![w.b().max(w.c())]);
        /// `a + b` of two's complements, one bit more than the wider operand.
        SignedAdd = Row::new("signed_add", "a + b of two's complements, all bits", &[A, B], &["sums"],
            |w| vec![w.max() + 1]).with_signed(0).by_width();
        /// `a − b` of two's complements, one bit more than the wider operand.
        SignedSub = Row::new("signed_sub", "a − b of two's complements, all bits", &[A, B], &["differences"],
            |w| vec![w.max() + 1]).with_signed(0).by_width();
        /// `−a` of a two's complement, one bit more than `a`.
        SignedNeg = Row::new("signed_neg", "−a of a two's complement, all bits", &[A], &["negatives"],
            |w| vec![w.a() + 1]).with_signed(0).by_width();
        /// As [`Operation::Cmp`], of two's complements.
        SignedCmp = Row::new("signed_cmp", "−1, 0, 1 (in two bits 3, 0, 1) by the order of two's complements",
            &[A, B], &["comparisons"], |_| vec![2]).with_signed(0).by_width();
        /// A two's complement with `n` bits more; `n` is the operation's constant.
        SignExtend(1) = Row::new("sign_extend", "the same two's complement in n bits more", &[A], &["results"],
            |w| vec![w.a() + w.constant()]).with_signed(0).by_width().with_constant(Constant::Extension);
        /// The magnitude of a two's complement in its bits, and its sign: 1 if it is negative.
        ToSignMagnitude = Row::new("to_sign_magnitude", "magnitude and sign of a two's complement", &[A],
            &["magnitudes", "signs"], |w| vec![w.a(), 1]).by_width();
        /// The two's complement of a magnitude, negative where bit 0 of the second operand is set; one bit more.
        FromSignMagnitude = Row::new("from_sign_magnitude", "the two's complement of a magnitude and a sign",
            &[A, BIT], &["results"], |w| vec![w.a() + 1]).with_signed(0);
    }

    Division division {
        /// `⌊a / b⌋` and `a mod b`; zero divisors are a [`Status`](super::Status).
        DivRem = Row::new("div_rem", "quotient and remainder", &[A, DIVISOR], &["quotients", "remainders"],
            |w| vec![w.a(), w.b()]).with_status();
        /// `a mod b`.
        Rem = Row::new("rem", "the remainder", &[A, DIVISOR], &["remainders"], |w| vec![w.b()]).with_status();
        /// `a / b` where `b` divides `a`; a remainder and a zero divisor are a [`Status`](super::Status).
        DivExact = Row::new("div_exact", "a / b where nothing remains", &[A, DIVISOR], &["quotients"], |w| vec![w.a()])
            .with_status();
        /// The greatest common divisor; of 0 and 0 it is 0.
        Gcd = Row::new("gcd", "the greatest common divisor", &[A, B], &["divisors"], |w| vec![w.max()]).slow();
        /// The least common multiple, `p + q` bits; of 0 and any number it is 0.
        Lcm = Row::new("lcm", "the least common multiple", &[A, B], &["multiples"], |w| vec![w.a() + w.b()]).slow();
        /// `g = gcd(a, b)`, the least `x ≥ 0` with `a·x + b·y = g`, and that `y` in two's complement of `p + 1`
        /// bits. For `b = 0` they are `a`, 1 (0 if `a = 0`), 0.
        GcdExt = Row::new("gcd_ext", "g, x, y with a·x + b·y = g, x the least that is not negative", &[A, B],
            &["divisors", "cofactors x", "cofactors y"], |w| vec![w.max(), w.b(), w.a() + 1]).with_signed(2).slow();
        /// The Kronecker symbol of `a` over `n` in two's complement of two bits: −1, 0, 1 are 3, 0, 1.
        ///
        /// For odd `n` it is the symbol of Jacobi, for a prime `n` that of Legendre. Over 2 it is 0 for even `a`, 1 for
        /// `a = ±1` and −1 for `a = ±3` modulo 8; over 0 it is 1 for `a = 1`, else 0.
        Jacobi = Row::new("jacobi", "the Kronecker symbol of a over n: −1, 0, 1 (in two bits 3, 0, 1)", &[A, LOWER_N],
            &["symbols"], |_| vec![2]).with_signed(0).slow();
        /// `⌊√a⌋` in `⌈p / 2⌉` bits, and `a − ⌊√a⌋²`, at most twice the root.
        Sqrt = Row::new("sqrt", "the square root, rounded down, and the remainder", &[A],
            &["roots", "remainders"], |w| vec![w.a().div_ceil(2), w.a().div_ceil(2) + 1]);
    }

    LinearModular linear_modular {
        /// `(a + b) mod m` for `a, b < m`.
        AddMod = Row::modular("add_mod", "(a + b) mod m, operands below m", &[BELOW_M_A, BELOW_M_B, M], &["sums"]);
        /// `(a − b) mod m` for `a, b < m`.
        SubMod = Row::modular("sub_mod", "(a − b) mod m, operands below m", &[BELOW_M_A, BELOW_M_B, M], &["differences"]);
        /// `−a mod m` for `a < m`.
        NegMod = Row::modular("neg_mod", "−a mod m, the operand below m", &[BELOW_M_A, M], &["negatives"]);
    }

    Modular modular {
        /// `a·b mod m`, for any `a`, `b` and any `m` but 0.
        MulMod = Row::modular("mul_mod", "a·b mod m", &[A, B, M], &["products"]);
        /// `a² mod m`, for any `a` and any `m` but 0.
        SqrMod = Row::modular("sqr_mod", "a² mod m", &[A, M], &["squares"]);
        /// `a^e mod m`, for any `a`, `e` and any `m` but 0; `x⁰ = 1 mod m`.
        PowMod = Row::modular("pow_mod", "a^e mod m", &[A, E, M], &["powers"]).slow();
        /// `a^e mod m` by instructions and addresses that do not depend on `a` and `e`.
        PowModSec = Row::modular("pow_mod_sec", "a^e mod m, m odd, nothing depends on the exponent but the result",
            &[A, E, ODD_M], &["powers"]).slow();
        /// `a^e mod m` for one short exponent that is no secret: the operation's constant.
        PowModPublic(65537) = Row::modular("pow_mod_public", "a^e mod m, m odd, one short exponent for all",
            &[A, ODD_M], &["powers"]).with_constant(Constant::Exponent).slow();
        /// `x` below `m` with `a·x = 1 mod m`, for any `a` and any `m` but 0.
        InvMod = Row::modular("inv_mod", "the inverse of a modulo m", &[A, M], &["inverses"]).slow();
        /// 1 where `n` is odd, above 1 and a strong probable prime to one short base, the operation's constant; else 0.
        ///
        /// With `n − 1 = d·2^s`, `d` odd: `a^d = 1`, or one of `a^d, a^(2d), … a^(2^(s−1)·d)` is `n − 1`, modulo `n`. So no
        /// divisor of the base passes. 0 is a proof that an odd `n`, prime to the base and above 1, is composite.
        StrongTest(2) = Row::new("strong_test", "1 where odd n is a strong probable prime to one base, else 0", &[N],
            &["verdicts"], |_| vec![1]).with_constant(Constant::Base).slow();
        /// As [`Operation::StrongTest`], with a base a lane, of any length.
        MillerRabin = Row::new("miller_rabin", "1 where odd n is a strong probable prime to base a, else 0", &[A, N],
            &["verdicts"], |_| vec![1]).slow();
        /// `a mod m`, for any `m` but 0.
        Reduce = Row::modular("reduce", "a mod m", &[A, M], &["residues"]);
    }

    Montgomery montgomery {
        /// `a·R mod m` for `a < m`.
        ToMont = Row::modular("to_mont", "a·R mod m", &[BELOW_M_A, ODD_M], &["residues"]).by_width();
        /// `a·R⁻¹ mod m` for `a < m`.
        FromMont = Row::modular("from_mont", "a/R mod m", &[BELOW_M_A, ODD_M], &["residues"]).by_width();
        /// `a·b·R⁻¹ mod m` for `a, b < m`.
        MontMul = Row::modular("mont_mul", "a·b/R mod m", &[BELOW_M_A, BELOW_M_B, ODD_M], &["products"]).by_width();
        /// `a²·R⁻¹ mod m` for `a < m`.
        MontSqr = Row::modular("mont_sqr", "a²/R mod m", &[BELOW_M_A, ODD_M], &["squares"]).by_width();
        /// `t·R⁻¹ mod m` for `t < m·R`.
        Redc = Row::modular("redc", "t/R mod m for t below m·R", &[BELOW_MR, ODD_M], &["residues"]).by_width();
    }
}
