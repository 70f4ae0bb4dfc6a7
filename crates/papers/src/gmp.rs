//! Products by GMP, each lane's numbers made beforehand: what the papers compare with.

use std::time::Instant;

use gmp_mpfr_sys::gmp;
use rayon::prelude::*;
use rug::{Assign as _, Integer, integer::Order};
use warpmp::{Batch, Operation};
use warpmp_oracle::{
    check,
    measure::{Error, Measured, checked_lanes},
};

use crate::watch::Watch;

/// What multiplies, for people.
pub(crate) fn library() -> String {
    format!("GMP {}.{}.{}", gmp::VERSION, gmp::VERSION_MINOR, gmp::VERSION_PATCHLEVEL)
}

/// Multiplies lane by lane on the threads of the pool that it is called in, checks a sample, then times `runs` more.
///
/// # Errors
/// [`Error::WrongResult`]; [`Error::Stopped`] between the runs.
pub(crate) fn multiply(a: &Batch, b: &Batch, runs: usize, watch: &dyn Watch) -> Result<Measured, Error> {
    let (x, y) = (integers(a), integers(b));
    let bits = a.bits() + b.bits();
    let mut products: Vec<Integer> = x.iter().map(|_| Integer::with_capacity(bits)).collect();
    run(&x, &y, &mut products);
    let lanes = checked_lanes(a.lanes(), a.bits());
    for lane in &lanes {
        let product = products[*lane].to_digits::<u32>(Order::Lsf);
        let operands = [check::lane_of(a, *lane), check::lane_of(b, *lane)];
        check::compare(Operation::Mul, *lane as u64, &operands, &[(&product, bits)])?;
    }
    let mut times = Vec::with_capacity(runs);
    for _ in 0..runs {
        if !watch.go_on() {
            return Err(Error::Stopped);
        }
        let start = Instant::now();
        run(&x, &y, &mut products);
        times.push(start.elapsed());
    }
    times.sort_unstable();
    let bytes = a.shape().bytes() + b.shape().bytes() + 4 * (a.lanes() * bits.div_ceil(32)) as u64;
    Ok(Measured { algorithm: "GMP".into(), times, checked: lanes.len() as u64, bytes })
}

fn integers(batch: &Batch) -> Vec<Integer> {
    batch.limbs().par_chunks(batch.shape().limbs()).map(|lane| Integer::from_digits(lane, Order::Lsf)).collect()
}

/// Pieces of lanes, one thread each, as the CPU engine has them; with one thread a plain loop.
fn run(x: &[Integer], y: &[Integer], products: &mut [Integer]) {
    let piece = x.len().div_ceil(8 * rayon::current_num_threads()).max(1);
    products.par_chunks_mut(piece).zip(x.par_chunks(piece).zip(y.par_chunks(piece))).for_each(|(products, (x, y))| {
        for (product, (x, y)) in products.iter_mut().zip(x.iter().zip(y)) {
            product.assign(x * y);
        }
    });
}
