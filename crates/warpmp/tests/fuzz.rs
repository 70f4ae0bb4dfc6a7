//! Random operations, widths, batches, algorithms and settings against num-bigint, with operands made to be hard.
//!
//! The short runs are the same every time. A long one:
//!
//! ```text
//! WARPMP_FUZZ_SECONDS=600 WARPMP_FUZZ_DEVICE=sim \
//!     cargo test --release -p warpmp --test fuzz -- --ignored --nocapture
//! ```
//!
//! | variable | | default |
//! |---|---|---|
//! | `WARPMP_FUZZ_SECONDS` | how long it runs | 60 |
//! | `WARPMP_FUZZ_CASES` | how many cases at the most | any number |
//! | `WARPMP_FUZZ_SEED` | the first case's seed, each other's is one more | by the clock |
//! | `WARPMP_FUZZ_DEVICE` | `cpu`, `sim` or `gpu` | `cpu` |
//! | `WARPMP_FUZZ_OPERATION` | one operation, by its name | all |
//! | `WARPMP_FUZZ_BITS` | the widest operand | 5000 |
//! | `WARPMP_FUZZ_WORK` | the most work of a case, in milliseconds, roughly | 20 |
//!
//! A failure prints its seed, and the smallest case found that fails as well.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod fuzz_common;

use std::env;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fuzz_common::{Device, Limits, run};
use warpmp::{Batch, Error, Operation, Session, Shape};

fn short(cases: u64, bits: usize, work: f64) -> Limits {
    // The machine may be slow: the cases end the run, the time only bounds it.
    Limits { seed: 1, cases, time: Duration::from_secs(60), bits, work, operation: None, verbose: false }
}

#[test]
fn cpu() {
    run(Device::Cpu, &short(1500, 4500, 1e6));
}

#[test]
fn simulator() {
    run(Device::Simulator, &short(500, 2500, 3e6));
}

/// A variable as a number.
fn number(name: &str) -> Option<u64> {
    env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name}={text} is no number")))
}

#[test]
#[ignore = "as long as it is told to"]
fn long() {
    let clock = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() << 24;
    let operation = env::var("WARPMP_FUZZ_OPERATION").ok();
    let limits = Limits {
        seed: number("WARPMP_FUZZ_SEED").unwrap_or_else(clock),
        cases: number("WARPMP_FUZZ_CASES").unwrap_or(1 << 40),
        time: Duration::from_secs(number("WARPMP_FUZZ_SECONDS").unwrap_or(60)),
        bits: number("WARPMP_FUZZ_BITS").unwrap_or(5000) as usize,
        work: 1e6 * number("WARPMP_FUZZ_WORK").unwrap_or(20) as f64,
        operation: operation.map(|name| Operation::named(&name).unwrap_or_else(|| panic!("no operation '{name}'"))),
        verbose: true,
    };
    let device = match env::var("WARPMP_FUZZ_DEVICE").as_deref() {
        Err(_) | Ok("cpu") => Device::Cpu,
        Ok("sim") => Device::Simulator,
        Ok("gpu") => Device::Gpu,
        Ok(other) => panic!("WARPMP_FUZZ_DEVICE={other}; there are cpu, sim and gpu"),
    };
    run(device, &limits);
}

/// Shapes that no operation takes are refused in words, by every operation.
#[test]
fn impossible_shapes() {
    assert_eq!(Batch::borrow(Shape::new(1, 0), &[]).unwrap_err(), Error::ZeroBits);
    let session = Session::cpu();
    for &operation in Operation::ALL {
        let one = Batch::from_limbs(Shape::new(1, 3), vec![1]).unwrap();
        for i in 0..operation.arity() {
            // Only a product of two residues may be wider than all others.
            let limit = operation.operand_max_bits(i);
            assert_eq!(limit, if operation == Operation::Redc && i == 0 { 2 } else { 1 } * operation.max_bits());
            let wide = Batch::from_limbs(Shape::new(1, limit + 1), vec![1; limit / 32 + 1]).unwrap();
            let mut operands = vec![&one; operation.arity()];
            operands[i] = &wide;
            let error = session.apply(operation, &operands, warpmp::Options::new()).unwrap_err();
            assert_eq!(error, Error::TooWide { operation, bits: limit + 1, limit }, "{operation}");
        }
        let [two, three] = [2, 3].map(|lanes| Batch::from_limbs(Shape::new(lanes, 3), vec![1; lanes]).unwrap());
        if operation.arity() > 1 {
            let mut operands = vec![&one; operation.arity()];
            (operands[0], operands[1]) = (&two, &three);
            let error = session.apply(operation, &operands, warpmp::Options::new()).unwrap_err();
            assert_eq!(error, Error::ShapeMismatch { lanes_a: 2, lanes_b: 3 }, "{operation}");
        }
        assert!(session.apply(operation, &vec![&one; operation.arity() + 1], warpmp::Options::new()).is_err());
        assert!(session.apply(operation, &[], warpmp::Options::new()).is_err());
    }
}
