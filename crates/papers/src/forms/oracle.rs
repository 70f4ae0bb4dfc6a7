//! The results of the EPFL report's experiments by num-bigint.

use num_bigint::BigUint;

use crate::kernels::epfl::{Experiment, Place, Work};

/// The last result for these operands, limbs each; the modulus counts where there is one.
pub fn result(experiment: &Experiment, [a, b, m]: [&[u32]; 3]) -> BigUint {
    let [mut a, b, m] = [a, b, m].map(BigUint::from_slice);
    let power = |bits: u32| BigUint::from(1_u32) << bits;
    let (bits, limbs) = (experiment.bits, experiment.limbs());
    let once = |a: &BigUint| match experiment.work {
        Work::Add => (a + &b) % power(32 * limbs),
        Work::AddMod => (a + &b) % &m,
        Work::School | Work::Karatsuba => a * &b,
    };
    // In memory every execution has the same operands.
    let more = if experiment.place == Place::Local { experiment.executions * experiment.turns - 1 } else { 0 };
    for _ in 0..more {
        let c = once(&a);
        a = match experiment.work {
            Work::Add | Work::AddMod => c,
            Work::School | Work::Karatsuba => {
                let above = 32 * (experiment.result_limbs() - limbs);
                ((&c % power(32 * limbs)) ^ (c >> above)) % power(bits)
            }
        };
    }
    once(&a)
}
