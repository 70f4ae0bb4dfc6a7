//! Montgomery's arithmetic by `tensor-common` on the simulator: every number of tiles and every gap, moduli and residues at the edges, faults, exact
//! numbers of matrix products.

use num_bigint::BigUint;
use warpmp::device::{self, DeviceInfo, SimConfig};
use warpmp::kernels::{Abilities, OperationShape, Settings};
use warpmp::{Operation, Plan, Shape, Status, tuning};
use warpmp_kernel::ir::Op;
use warpmp_kernel::sim::Counters;
use warpmp_testkit::Pattern;
use warpmp_testkit::kernels::algorithm;
use warpmp_testkit::kernels::numbers::{Outcome, below, limbs, numbers, odd_moduli, run, run_plain};
use warpmp_testkit::kernels::residues::{Ring, edge_moduli, over_r};

const NAME: &str = "tensor-common";

fn ring(turns: Option<u32>) -> Ring {
    Ring { name: NAME, settings: Settings { products: turns, ..Settings::default() } }
}

#[test]
fn every_number_of_tiles() {
    for tiles in 1..=8 {
        let bits = 1024 * tiles;
        let r = BigUint::from(1_u32) << bits;
        ring(Some(1)).check_products(&(r - 1_u32), bits, 1, 1);
    }
}

#[test]
fn gaps() {
    for bits in [1280, 1536, 1792, 2304, 4352, 7936] {
        for m in [&edge_moduli(bits)[0], &odd_moduli(12, bits, 2)[11]] {
            ring(None).check_products(m, bits, 3, 3);
        }
    }
}

#[test]
fn edges() {
    for bits in [1024, 2048, 3328] {
        for m in edge_moduli(bits) {
            ring(None).check_products(&m, bits, 3, 2);
        }
    }
}

#[test]
fn carry_prone_moduli() {
    for seed in [5, 9] {
        for m in odd_moduli(21, 2048, seed) {
            ring(None).check_products(&m, 2048, 5, seed);
        }
    }
}

/// Several turns of several warpgroups, the last of them not full.
#[test]
fn turns() {
    let m = &odd_moduli(12, 1024, 3)[11];
    ring(Some(2)).check_products(m, 1024, 64 * 3 * 2 + 64 * 3 + 70, 1);
}

#[test]
fn faults_are_statuses() {
    for bits in [1024, 2048, 2304] {
        ring(None).check_faults(bits);
    }
}

/// Lanes that fill a tile of 32 but not the 64 of a warpgroup: nothing behind the last row is written.
#[test]
fn no_row_behind_the_last() {
    let m = &odd_moduli(12, 1024, 3)[11];
    ring(None).check_products(m, 1024, 96 - 36, 1);
}

/// The highest limbs alone tell that a factor is not below the modulus, either factor in either row of a thread.
#[test]
fn quick_comparisons() {
    let bits = 1024;
    let m: BigUint = (BigUint::from(1_u32) << (bits - 8)) + 1_u32;
    let [small, great] = [BigUint::from(7_u32), &m << 1_u32];
    let of = |lanes: [usize; 2]| -> Vec<BigUint> {
        (0..16).map(|lane| if lanes.contains(&lane) { great.clone() } else { small.clone() }).collect()
    };
    let (a, b) = (of([1, 10]), of([2, 11]));
    let found = ring(None).outcome(Operation::MontMul, &[bits; 3], &[&a, &b, std::slice::from_ref(&m)]);
    for lane in 0..16 {
        let fine = ![1, 2, 10, 11].contains(&lane);
        let status = if fine { Status::Fine } else { Status::NotReduced };
        assert_eq!(found.statuses[lane], status.code(), "lane {lane}");
        assert_eq!(found.results[0][lane] == BigUint::ZERO, !fine, "lane {lane}");
    }
}

/// Any limb may be the one that tells whether a factor is below the modulus.
#[test]
fn comparisons() {
    let bits = 1280;
    let m: BigUint = (BigUint::from(1_u32) << bits) - (BigUint::from(1_u32) << 700_u32) - 1_u32;
    let mut factors = Vec::new();
    for limb in 0..bits / 32 {
        let one = BigUint::from(1_u32) << (32 * limb);
        factors.extend([&m - &one, (&m + &one) % (BigUint::from(1_u32) << bits)]);
    }
    factors.push(m.clone());
    let found = ring(None).outcome(Operation::MontSqr, &[bits; 2], &[&factors, std::slice::from_ref(&m)]);
    for (lane, a) in factors.iter().enumerate() {
        let fine = *a < m;
        let status = if fine { Status::Fine } else { Status::NotReduced };
        assert_eq!(found.statuses[lane], status.code(), "a = {a:x}");
        let expected = if fine { over_r(&(a * a), &m, limbs(bits)) } else { BigUint::ZERO };
        assert_eq!(found.results[0][lane], expected, "a = {a:x}");
    }
}

/// Reductions of numbers of both lengths.
#[test]
fn reductions() {
    for bits in [1024, 1792, 2048] {
        for m in [&edge_moduli(bits)[0], &edge_moduli(bits)[4], &odd_moduli(12, bits, 2)[11]] {
            let r = BigUint::from(1_u32) << bits;
            let t = numbers(Pattern::Carry, 9, 2 * bits, 4);
            let mut t: Vec<BigUint> = t.into_iter().map(|t| t % (m * &r)).collect();
            t.extend([m * &r - 1_u32, m * &r, BigUint::ZERO, r.clone(), &r - 1_u32]);
            let single = below(&vec![m.clone(); 12], bits, 5);
            let m = std::slice::from_ref(m);
            let redc = ring(None).outcome(Operation::Redc, &[2 * bits, bits], &[&t, m]);
            let from = ring(None).outcome(Operation::FromMont, &[bits; 2], &[&single, m]);
            for (lane, t) in t.iter().enumerate() {
                let fine = *t < &m[0] * &r;
                assert_eq!(redc.statuses[lane] == Status::Fine.code(), fine, "t = {t:x}");
                let expected = if fine { over_r(t, &m[0], limbs(bits)) } else { BigUint::ZERO };
                assert_eq!(redc.results[0][lane], expected, "t = {t:x}, m = {:x}", m[0]);
            }
            for (a, found) in single.iter().zip(&from.results[0]) {
                assert_eq!(*found, over_r(a, &m[0], limbs(bits)), "a = {a:x}, m = {:x}", m[0]);
            }
        }
    }
}

/// One factor for all lanes, on either side.
#[test]
fn common_factors() {
    let bits = 1024;
    let m = &odd_moduli(12, bits, 2)[11..];
    let a = below(&vec![m[0].clone(); 5], bits, 1);
    for operands in [[&a[..], &a[3..4], m], [&a[3..4], &a[..], m]] {
        let found = ring(None).outcome(Operation::MontMul, &[bits; 3], &operands);
        for (lane, found) in found.results[0].iter().enumerate() {
            assert_eq!(*found, over_r(&(&a[lane] * &a[3]), &m[0], limbs(bits)));
        }
    }
}

#[test]
fn what_it_takes() {
    let fits = |operation, bits: &[usize], lanes: &[usize]| {
        let shapes: Vec<Shape> = bits.iter().zip(lanes).map(|(&bits, &lanes)| Shape::new(lanes, bits)).collect();
        (algorithm(operation, NAME).fits)(OperationShape::new(operation, &shapes).unwrap())
    };
    assert!(fits(Operation::MontMul, &[2048; 3], &[5, 5, 1]));
    assert!(fits(Operation::MontMul, &[2040; 3], &[5, 5, 1]));
    // A modulus a lane, other lengths, a factor of another length, factors that all lanes share.
    assert!(!fits(Operation::MontMul, &[2048; 3], &[5, 5, 5]));
    assert!(!fits(Operation::MontMul, &[2080; 3], &[5, 5, 1]));
    assert!(!fits(Operation::MontMul, &[768; 3], &[5, 5, 1]));
    assert!(!fits(Operation::MontMul, &[8448; 3], &[5, 5, 1]));
    assert!(!fits(Operation::MontSqr, &[1024, 2048], &[5, 1]));
    assert!(!fits(Operation::MontMul, &[2048; 3], &[1; 3]));
    assert!(!fits(Operation::Redc, &[4096, 2048], &[1, 1]));
    assert!(fits(Operation::MulMod, &[256, 1024, 1024], &[5, 5, 1]));
    // Factors that are both short, a dividend no longer than the divisor or more than twice as long.
    assert!(!fits(Operation::MulMod, &[640, 640, 1024], &[5, 5, 1]));
    assert!(!fits(Operation::DivRem, &[1024, 1024], &[5, 1]));
    assert!(!fits(Operation::DivRem, &[2304, 1024], &[5, 1]));
    assert!(!fits(Operation::DivRem, &[2048, 1024], &[5, 5]));
    assert!(fits(Operation::PowMod, &[2048; 3], &[5, 5, 1]));
    assert!(fits(Operation::PowMod, &[3, 9000, 993], &[5, 1, 1]));
    assert!(!fits(Operation::PowMod, &[2048; 3], &[5, 5, 5]));
    assert!(!fits(Operation::PowMod, &[2048; 3], &[1; 3]));
    assert!(!fits(Operation::PowMod, &[768; 3], &[5, 5, 1]));
    assert!(!fits(Operation::PowMod, &[8193; 3], &[5, 5, 1]));
    assert!(!fits(Operation::PowModSec, &[2048; 3], &[5, 5, 1]));
}

/// Many powers modulo one number are planned so, in launches whose scratch memory is a thirty-second of the GPU's memory, or 1 GiB of a small one.
#[test]
fn plans() {
    let simulator = device::open_sim_with(&SimConfig::default());
    for (memory_gib, scratch_gib) in [(8_u64, 1_u64), (128, 4)] {
        let device = DeviceInfo { memory_bytes: memory_gib << 30, capability: 90, ..simulator.info().clone() };
        let plan = |lanes, modulus| {
            let operands = [lanes, lanes, modulus].map(|lanes| Shape::new(lanes, 2048));
            Plan::new(Operation::PowMod, &operands, &device, &tuning::shipped(90), None).unwrap()
        };
        assert_eq!([plan(12_500, 1), plan(1 << 20, 1 << 20)].map(|it| it.algorithm()), ["tensor"; 2]);
        let plan = plan(1 << 20, 1);
        assert_eq!(plan.algorithm(), NAME);
        let lane_bytes = 4 * plan.scratch_limbs() as u64;
        assert_eq!(plan.max_launch_lanes() as u64, (scratch_gib << 30) / lane_bytes / 32 * 32);
    }
}

/// Matrix products of tiles on and above the diagonal only.
#[test]
fn matrix_products() {
    for tiles in [1_usize, 2, 4] {
        let bits = 1024 * tiles;
        let m = &odd_moduli(12, bits, 3)[11..];
        let a = below(&vec![m[0].clone(); 64], bits, 1);
        let found = ring(Some(1)).outcome(Operation::FromMont, &[bits; 2], &[&a, m]);
        let (all, few) = (found.counters.op(Op::Wgmma(128)).warps, found.counters.op(Op::Wgmma(16)).warps);
        assert_eq!((all, few), (4 * 4 * (tiles * (tiles + 1)) as u64, 4 * 4 * tiles as u64), "{bits} bits");
    }
}

/// Instructions of a warp for the product of 64 lanes, and passes through shared memory that are waits for a bank.
#[test]
fn costs() {
    let found = [1024, 2048, 4096].map(|bits| {
        let m = &odd_moduli(12, bits, 3)[11..];
        // The highest limbs tell that these are below the modulus.
        let a = vec![&m[0] >> 1_u32; 64 * 6];
        let count = |lanes: usize| ring(Some(2)).outcome(Operation::FromMont, &[bits; 2], &[&a[..lanes], m]).counters;
        let [twice, once] = [64 * 6, 64 * 3].map(count);
        let warps = |counters: &Counters| counters.instructions().warps;
        let waits = |counters: &Counters| counters.shared_wavefronts() - counters.minimum_shared_wavefronts();
        [(warps(&twice) - warps(&once)) / 12, (waits(&twice) - waits(&once)) / 12]
    });
    assert_eq!(found, [[817, 0], [1619, 0], [3999, 0]]);
}

/// Moduli of every kind of length, longer and shorter bases, windows of several widths, exponents that are zero and all ones.
#[test]
fn powers() {
    for (bits, lanes) in [
        ([1024, 9, 1024], 5),
        ([2048, 33, 2048], 3),
        ([500, 7, 1000], 3),
        ([3000, 130, 1500], 3),
        ([4096, 2, 4096], 3),
        ([4500, 5, 5000], 2),
        ([7000, 3, 6700], 2),
        ([8192, 4, 8192], 2),
    ] {
        let [base, exponent, modulus] = bits;
        let m = odd_moduli(lanes, modulus, 3).pop().unwrap();
        let bases = numbers(Pattern::Carry, lanes, base, 4);
        let mut exponents = numbers(Pattern::Carry, lanes, exponent, 11);
        exponents[0] = BigUint::ZERO;
        exponents[1] = (BigUint::from(1_u32) << exponent) - 1_u32;
        for common in [false, true] {
            let e = if common { &exponents[1..2] } else { &exponents[..] };
            let found = ring(None).outcome(Operation::PowMod, &bits, &[&bases, e, std::slice::from_ref(&m)]);
            for lane in 0..lanes {
                let e = &e[if common { 0 } else { lane }];
                assert_eq!(found.results[0][lane], bases[lane].modpow(e, &m), "{bits:?} bits, lane {lane}, m = {m:x}");
            }
            assert!(found.statuses.iter().all(|&it| it == Status::Fine.code()));
        }
    }
}

/// Several warpgroups of several blocks, the last of them not full.
#[test]
fn powers_of_many_lanes() {
    for (bits, lanes) in [(1024, 100), (4200, 64 * 3 + 70)] {
        let m = odd_moduli(12, bits, 5).pop().unwrap();
        let bases = numbers(Pattern::Random, lanes, bits, 4);
        let exponents = numbers(Pattern::Random, lanes, 6, 2);
        let found =
            ring(None).outcome(Operation::PowMod, &[bits, 6, bits], &[&bases, &exponents, std::slice::from_ref(&m)]);
        for lane in 0..lanes {
            assert_eq!(found.results[0][lane], bases[lane].modpow(&exponents[lane], &m), "{bits} bits, lane {lane}");
        }
    }
}

/// Matrix products, instructions and waits for a bank of a product of 64 lanes. A window of four bits more takes five.
#[test]
fn costs_of_powers() {
    let found = [1024, 2048, 4096].map(|bits| {
        let m = &odd_moduli(12, bits, 3)[11..];
        let bases = numbers(Pattern::Random, 64, bits, 1);
        let count = |exponent: usize| {
            let exponents = numbers(Pattern::Random, 64, exponent, 2);
            ring(None).outcome(Operation::PowMod, &[bits, exponent, bits], &[&bases, &exponents, m]).counters
        };
        let [more, fewer] = [128, 124].map(count);
        let of = |counters: &Counters| {
            let waits = counters.shared_wavefronts() - counters.minimum_shared_wavefronts();
            let [all, few] = [128, 16].map(|columns| counters.op(Op::Wgmma(columns)).warps);
            [counters.op(Op::MmaU8).warps, all, few, counters.instructions().warps, waits]
        };
        let [more, fewer] = [more, fewer].map(|it| of(&it));
        std::array::from_fn::<_, 5, _>(|i| (more[i] - fewer[i]) / 5)
    });
    assert_eq!(found, [[512, 32, 16, 11966, 16], [1536, 96, 32, 19558, 16], [5120, 320, 64, 40630, 16]]);
}

#[test]
fn powers_modulo_any_number() {
    let (lanes, bits) = (3, [1100, 5, 1100]);
    let bases = numbers(Pattern::Random, lanes, 1100, 2);
    let exponent = [BigUint::from(19_u32)];
    let odd = odd_moduli(12, 1100, 7).pop().unwrap();
    for m in [&odd << 3_u32, BigUint::from(1_u32) << 1099_u32, BigUint::from(1_u32), BigUint::from(6_u32), odd] {
        let m = m % (BigUint::from(1_u32) << 1100_u32);
        let found = ring(None).outcome(Operation::PowMod, &bits, &[&bases, &exponent, std::slice::from_ref(&m)]);
        for (base, result) in bases.iter().zip(&found.results[0]) {
            assert_eq!(*result, base.modpow(&exponent[0], &m), "m = {m:x}");
        }
        assert!(found.statuses.iter().all(|&it| it == Status::Fine.code()));
    }
    let found = ring(None).outcome(Operation::PowMod, &bits, &[&bases, &exponent, &[BigUint::ZERO]]);
    assert!(found.statuses.iter().all(|&it| it == Status::DivisionByZero.code()));
    assert!(found.results[0].iter().all(|it| *it == BigUint::ZERO));
}

/// The shape of a division or of a product modulo a number, and the numbers of limbs of its results.
fn divided(operation: Operation, bits: &[usize], operands: &[&[BigUint]], turns: u32) -> Outcome {
    let shapes: Vec<Shape> = bits.iter().zip(operands).map(|(bits, it)| Shape::new(it.len(), *bits)).collect();
    let shape = OperationShape::new(operation, &shapes).unwrap();
    let algorithm = algorithm(operation, NAME);
    assert!((algorithm.fits)(shape), "{shape:?}");
    let settings = Settings { products: Some(turns), ..Settings::default() };
    let spec = algorithm.spec(shape, &settings, Abilities::of(90)).unwrap();
    let numbers: Vec<_> = shape.operands().iter().copied().zip(operands.iter().copied()).collect();
    let last = limbs(bits[bits.len() - 1]);
    let results = match operation {
        Operation::DivRem => vec![limbs(bits[0]), last],
        Operation::DivExact => vec![limbs(bits[0])],
        _ => vec![last],
    };
    run(&*spec, &numbers, &results, operands.iter().map(|it| it.len()).max().unwrap())
}

/// Dividends around multiples of a divisor, with quotients at their edges, and some more.
fn dividends(d: &BigUint, bits: usize, seed: u64) -> Vec<BigUint> {
    let one = BigUint::from(1_u32);
    let end = &one << bits;
    let mut dividends = vec![BigUint::ZERO, &end - &one, d.clone(), d - &one, &end >> 1_u32];
    let most = (&end - &one) / d;
    let power = &one << (32 * (d.bits().div_ceil(32)));
    let mut quotients = vec![most.clone(), &most - &one, &most >> 1_u32, &most >> 31_u32];
    quotients.extend([&power - &one, power.clone(), &power + &one, &power << 7_u32]);
    quotients.extend(numbers(Pattern::Runs, 6, most.bits() as usize, seed));
    for q in quotients {
        let x = q * d;
        dividends.extend([&x + d - &one, &x + (d >> 1_u32), &x + &one, x]);
    }
    dividends.extend(numbers(Pattern::Carry, 6, bits, seed + 1));
    dividends.extend(numbers(Pattern::Random, 6, bits, seed + 2));
    dividends.retain(|x| x.bits() <= bits as u64);
    dividends
}

/// Divisors whose highest limb has any number of zeros above its highest one, the powers of two and the numbers beside them among them.
fn divisors(bits: usize) -> Vec<BigUint> {
    let one = BigUint::from(1_u32);
    let end = &one << bits;
    let mut divisors = vec![&end - &one, &end - (&one << (bits - 20)), &end >> 1_u32, (&end >> 1_u32) + &one];
    divisors.extend([&end >> 32_u32, (&end >> 32_u32) + &one, (&end >> 31_u32) - &one]);
    for (zeros, d) in [0_usize, 1, 5, 17, 30].into_iter().zip(numbers(Pattern::Runs, 5, bits, 8)) {
        divisors.push((d >> zeros) | (&end >> (zeros + 1)));
    }
    divisors
}

fn check_divisions(d: &BigUint, [dividend, bits]: [usize; 2], x: &[BigUint]) {
    let d_row = std::slice::from_ref(d);
    let both = divided(Operation::DivRem, &[dividend, bits], &[x, d_row], 1);
    let rest = divided(Operation::Rem, &[dividend, bits], &[x, d_row], 1);
    for (lane, x) in x.iter().enumerate() {
        let what = format!("{dividend} by {bits} bits, x = {x:x}, d = {d:x}");
        let [q, r] = [x / d, x % d];
        assert_eq!(both.results[0][lane], q, "quotient, {what}");
        assert_eq!(both.results[1][lane], r, "remainder, {what}");
        assert_eq!(rest.results[0][lane], r, "remainder alone, {what}");
    }
    assert!(both.statuses.iter().chain(&rest.statuses).all(|&it| it == Status::Fine.code()));
}

/// Exact divisions, remainders among them, by usual and short divisors and by zero; other operations with a dividend by the latter.
#[test]
fn statuses_of_divisions() {
    let (dividend, bits) = (2048, 1024);
    let one = BigUint::from(1_u32);
    for d in [divisors(bits)[9].clone(), divisors(bits)[3].clone(), BigUint::from(3_u32), one.clone(), BigUint::ZERO] {
        let q = numbers(Pattern::Carry, 5, bits, 4);
        let mut x: Vec<BigUint> = q.iter().map(|q| q * &d).collect();
        x.extend(q.iter().map(|q| q * &d + &one));
        let d_row = std::slice::from_ref(&d);
        let exact = divided(Operation::DivExact, &[dividend, bits], &[&x, d_row], 1);
        let both = divided(Operation::DivRem, &[dividend, bits], &[&x, d_row], 1);
        let product = divided(Operation::MulMod, &[bits, bits, bits], &[&q, &q, d_row], 1);
        let square = divided(Operation::SqrMod, &[bits, bits], &[&q, d_row], 1);
        let first = numbers(Pattern::Ones, 1, 512, 1);
        let short = divided(Operation::MulMod, &[512, bits, bits], &[&first, &q, d_row], 1);
        if d == BigUint::ZERO {
            for found in [exact, both, product, square, short] {
                assert!(found.statuses.iter().all(|&it| it == Status::DivisionByZero.code()));
                assert!(found.results.iter().flatten().all(|it| *it == BigUint::ZERO));
            }
            continue;
        }
        for (lane, x) in x.iter().enumerate() {
            let is_exact = (x % &d) == BigUint::ZERO;
            let status = if is_exact { Status::Fine } else { Status::NotExact };
            assert_eq!(exact.statuses[lane], status.code(), "x = {x:x}, d = {d:x}");
            assert_eq!(exact.results[0][lane], if is_exact { x / &d } else { BigUint::ZERO }, "x = {x:x}, d = {d:x}");
            assert_eq!([&both.results[0][lane], &both.results[1][lane]], [&(x / &d), &(x % &d)]);
        }
        for (lane, q) in q.iter().enumerate() {
            assert_eq!([&product.results[0][lane], &square.results[0][lane]], [&(q * q % &d); 2], "d = {d:x}");
            assert_eq!(short.results[0][lane], &first[0] * q % &d, "d = {d:x}");
        }
    }
}

/// Every number of tiles, divisors with a gap and without, dividends of several lengths.
#[test]
fn divisions() {
    for bits in [[2048, 1024], [1280, 1024], [2560, 1280], [4096, 2048], [3072, 2048], [4352, 2304], [6144, 3072]] {
        for (d, seed) in divisors(bits[1]).iter().zip(1..) {
            check_divisions(d, bits, &dividends(d, bits[0], seed));
        }
    }
}

#[test]
fn long_divisions() {
    for bits in [[8192, 4096], [10240, 5120], [12288, 6144], [14336, 7168], [16384, 8192], [8448, 8192], [15872, 7936]]
    {
        for d in [&divisors(bits[1])[0], &divisors(bits[1])[10]] {
            let x = dividends(d, bits[0], 3);
            check_divisions(d, bits, &x.into_iter().step_by(5).collect::<Vec<_>>());
        }
    }
}

/// Products, their halves and sums by one factor for all lanes.
#[test]
fn products() {
    for (bits, lanes) in [
        ([1024, 1024], 70),
        ([2048, 2048], 64 * 3 + 5),
        ([1280, 1024], 9),
        ([1024, 1536], 9),
        ([2304, 2304], 9),
        ([1024, 4096], 3),
        ([4096, 1280], 3),
        ([6144, 8192], 3),
        ([8192, 8192], 3),
    ] {
        for (seed, pattern) in [(1, Pattern::Ones), (2, Pattern::Carry), (3, Pattern::Runs)] {
            let a = numbers(pattern, lanes, bits[0], seed);
            let b = &numbers(pattern, 3, bits[1], seed + 1)[2..];
            let c = numbers(pattern, lanes, bits[0].max(bits[1]), seed + 2);
            let [least, most] = [bits[0].min(bits[1]), bits[0].max(bits[1])];
            let found = multiplied(Operation::Mul, &bits, &[&a, b]);
            let low = multiplied(Operation::MulLo, &bits, &[&a, b]);
            let high = multiplied(Operation::MulHi, &bits, &[&a, b]);
            let sum = multiplied(Operation::MulAdd, &[bits[0], bits[1], most], &[&a, b, &c]);
            for lane in 0..lanes {
                let (product, what) = (&a[lane] * &b[0], format!("{bits:?} bits, {pattern:?}, lane {lane}"));
                assert_eq!(found[lane], product, "{what}");
                assert_eq!(low[lane], &product % (BigUint::from(1_u32) << most), "low half, {what}");
                assert_eq!(high[lane], &product >> (bits[0] + bits[1] - least), "high half, {what}");
                assert_eq!(sum[lane], &product + &c[lane], "sum, {what}");
            }
        }
    }
}

fn multiplied(operation: Operation, bits: &[usize], operands: &[&[BigUint]]) -> Vec<BigUint> {
    let shapes: Vec<Shape> = bits.iter().zip(operands).map(|(bits, it)| Shape::new(it.len(), *bits)).collect();
    let shape = OperationShape::new(operation, &shapes).unwrap();
    let algorithm = algorithm(operation, NAME);
    assert!((algorithm.fits)(shape), "{shape:?}");
    let spec = algorithm.spec(shape, &Settings::default(), Abilities::of(90)).unwrap();
    let numbers: Vec<_> = shape.operands().iter().copied().zip(operands.iter().copied()).collect();
    let results = [shape.results()[0].div_ceil(32)];
    run_plain(&*spec, &numbers, &results, operands[0].len()).results.remove(0)
}

/// Matrix products of a division and of a product of 64 lanes, and instructions and waits for a bank of one more.
#[test]
fn costs_of_divisions_and_products() {
    let counted = |operation: Operation, bits: [usize; 2]| {
        let number = |bits: usize| (BigUint::from(1_u32) << bits) - 12_345_u32;
        // Whole blocks of warpgroups, of which each takes one or two turns.
        let turns = |lanes: usize, turns: u32| {
            let a = vec![number(bits[0]) >> 1_u32; lanes];
            let b = [number(bits[1])];
            let operands: [&[BigUint]; 2] = [&a, &b];
            let shapes = [Shape::new(lanes, bits[0]), Shape::new(1, bits[1])];
            let shape = OperationShape::new(operation, &shapes).unwrap();
            let settings = Settings { products: Some(turns), ..Settings::default() };
            let spec = algorithm(operation, NAME).spec(shape, &settings, Abilities::of(90)).unwrap();
            let numbers: Vec<_> = shape.operands().iter().copied().zip(operands).collect();
            let results: Vec<u32> = shape.results().iter().map(|bits| bits.div_ceil(32)).collect();
            if operation == Operation::Mul {
                run_plain(&*spec, &numbers, &results, lanes).counters
            } else {
                run(&*spec, &numbers, &results[..results.len() - 1], lanes).counters
            }
        };
        let warpgroups = if operation == Operation::Mul { 4 } else { 3 };
        let [twice, once] = [turns(128 * warpgroups, 2), turns(64 * warpgroups, 2)];
        let of = |counters: &Counters| {
            let [all, few] = [128, 16].map(|columns| counters.op(Op::Wgmma(columns)).warps);
            let waits = counters.shared_wavefronts() - counters.minimum_shared_wavefronts();
            [all, few, counters.instructions().warps, waits]
        };
        let [twice, once] = [twice, once].map(|it| of(&it));
        std::array::from_fn::<_, 4, _>(|i| (twice[i] - once[i]) / (4 * warpgroups as u64))
    };
    let divisions = [[2048, 1024], [2560, 1280], [4096, 2048], [8192, 4096]];
    let found = divisions.map(|bits| counted(Operation::DivRem, bits));
    let tiles = |bits: usize| bits.div_ceil(1024) as u64;
    for (found, [_, bits]) in found.iter().zip(divisions) {
        let s = tiles(bits);
        let filled = if bits % 1024 == 0 { 4 * s + 1 } else { 0 };
        assert_eq!(found[..2], [4 * s * (s + 1) + s, 4 * s + filled], "{bits} bits");
    }
    let products = [[1024, 1024], [2048, 2048], [1024, 2048], [4096, 4096]];
    let of_products = products.map(|bits| counted(Operation::Mul, bits));
    for (found, bits) in of_products.iter().zip(products) {
        let [s, t] = bits.map(tiles);
        assert_eq!(found[..2], [4 * s * (t + 1), 0], "{bits:?} bits");
    }
    let others = |found: &[u64; 4]| [found[2], found[3]];
    assert_eq!(found.each_ref().map(others), [[1000, 0], [1812, 0], [1829, 0], [4183, 0]]);
    assert_eq!(of_products.each_ref().map(others), [[593, 0], [1139, 0], [835, 0], [2913, 0]]);
}
