//! GMP's way, as its users have it: numbers are made beforehand, and results use their memory again.

use std::hint::black_box;

use rug::{Assign as _, Integer, integer::Order};
use warpmp::Operation;

use crate::{Way, cases::Case};

/// All lanes of a case by GMP; none where GMP has no such operation.
pub(crate) fn way(case: &Case) -> Option<Way<'_>> {
    let numbers = case.numbers(|limbs| Integer::from_digits(limbs, Order::Lsf));
    let one = one(case.operation)?;
    let mut results = vec![[(); 3].map(|()| Integer::with_capacity(64 * case.bits)); numbers.len()];
    Some(Box::new(move || {
        for (x, out) in numbers.iter().zip(&mut results) {
            one(x, out);
            black_box(&out);
        }
    }))
}

/// One lane.
fn one(operation: Operation) -> Option<fn(&[Integer], &mut [Integer; 3])> {
    use Operation as O;
    Some(match operation {
        O::Mul | O::MulLo | O::MulHi => |x, out| out[0].assign(&x[0] * &x[1]),
        O::Sqr => |x, out| out[0].assign(x[0].square_ref()),
        O::Add => |x, out| out[0].assign(&x[0] + &x[1]),
        O::Sub => |x, out| out[0].assign(&x[0] - &x[1]),
        O::Cmp => |x, out| _ = black_box((x[0].cmp(&x[1]), out)),
        O::Shl(_) => |x, out| out[0].assign(&x[0] << 7_u32),
        O::Shr(_) => |x, out| out[0].assign(&x[0] >> 7_u32),
        O::AddMod => |x, out| {
            out[0].assign(&x[0] + &x[1]);
            if out[0] >= x[2] {
                out[0] -= &x[2];
            }
        },
        O::DivRem => |x, out| {
            let [q, r, _] = out;
            (&mut *q, r).assign(x[0].div_rem_ref(&x[1]));
        },
        O::Rem | O::Redc => |x, out| out[0].assign(&x[0] % &x[1]),
        O::Sqrt => |x, out| {
            let [root, rest, _] = out;
            (&mut *root, rest).assign(x[0].sqrt_rem_ref());
        },
        O::Gcd => |x, out| out[0].assign(x[0].gcd_ref(&x[1])),
        O::GcdExt => |x, out| {
            let [g, s, t] = out;
            (&mut *g, &mut *s, t).assign(x[0].extended_gcd_ref(&x[1]));
        },
        O::MontMul | O::MulMod => |x, out| {
            let [product, rest, _] = out;
            product.assign(&x[0] * &x[1]);
            rest.assign(&*product % &x[2]);
        },
        O::PowMod => |x, out| assign(&mut out[0], x[0].pow_mod_ref(&x[1], &x[2])),
        O::PowModPublic(_) => |x, out| assign(&mut out[0], x[0].pow_mod_ref(&Integer::from(65537), &x[1])),
        O::InvMod => |x, out| assign(&mut out[0], x[0].invert_ref(&x[1])),
        O::StrongTest(_) => |x, out| {
            out[1].assign(&x[0] >> 1_u32);
            let [power, exponent, _] = out;
            assign(power, Integer::from(2).pow_mod_ref(exponent, &x[0]));
        },
        _ => return None,
    })
}

/// A result where there is one.
fn assign<T>(out: &mut Integer, result: Option<T>)
where
    Integer: rug::Assign<T>,
{
    if let Some(result) = result {
        out.assign(result);
    }
}
