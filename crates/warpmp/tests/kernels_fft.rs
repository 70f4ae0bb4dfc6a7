//! `fft` on the simulator: every division, unequal lengths, carries, and the counts that are its performance.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use warpmp::kernels::{Settings, Spec};
use warpmp_testkit::Pattern;
use warpmp_testkit::kernels::PATTERNS;
use warpmp_testkit::kernels::products::{check, check_all, check_square, multiplication, shape, squaring};

const NAME: &str = "fft";

fn spec(bits: [usize; 2], settings: &Settings) -> Box<dyn Spec> {
    multiplication(NAME, shape(bits, false), settings, true)
}

#[test]
fn small() {
    for bits in [8192] {
        check(&*spec([bits, bits], &Settings::default()), shape([bits, bits], false), 1, Pattern::Ones);
        check(&*spec([bits, bits], &Settings::default()), shape([bits, bits], false), 1, Pattern::Random);
    }
}
#[test]
fn medium() {
    for bits in [16384, 32768, 65536] {
        let c = check(&*spec([bits, bits], &Settings::default()), shape([bits, bits], false), 1, Pattern::Ones);
        println!(
            "{bits}: {} instr {} wavefronts {} conflicts",
            c.instructions().warps,
            c.shared_wavefronts(),
            c.bank_conflicts()
        );
        for (name, s) in c.sections() {
            println!(
                "  {name}: {} instr {} wavefronts {} conflicts loads {} pipes {:?}",
                s.instructions().warps,
                s.shared_wavefronts(),
                s.bank_conflicts(),
                s.load_sectors(),
                s.pipe(warpmp_kernel::ir::Pipe::Fp64).warps
            );
        }
        check(&*spec([bits, bits], &Settings::default()), shape([bits, bits], false), 1, Pattern::Random);
    }
}
#[test]
fn squares() {
    for bits in [16384, 32768, 65536] {
        check_square(&*squaring(NAME, bits, &Settings::default()), bits, 1, Pattern::Carry);
    }
}
