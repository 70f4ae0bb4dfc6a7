//! For every node of a level the product of all others, modulo the node: `k` products at a time, each node with the next
//! one, then with the one after it, around the circle.
//!
//! If all nodes are odd, Montgomery reductions replace the divisions. The values then have an additional factor
//! `R^(1−k)`. It is a power of 2, so it does not change their gcds with odd numbers, and only these gcds are needed.
//!
//! The circle takes `k·(k − 1)` operations, and the tree above takes `k·log k`. But the circle's operations are all of one
//! length, and the tree's grow to the length of the product of all. An estimate of both decides: one step of the circle
//! is measured on the device, and the first products of the tree on a core. Each level above takes [`GROWTH`] times as
//! long for an operation, and has half as many.
//!
//! Source: ours. That all pairs suit a GPU where trees do not: K. Scharfglass and others, *Breaking weak 1024-bit RSA keys
//! with CUDA*, 2012, for pairs of single moduli.

use std::time::Instant;

use dashu_int::{UBig, ops::BitTest as _};
use rayon::prelude::*;
use warpmp::{DeviceBatch, Operation, Shape};

use super::arithmetic::{Arithmetic, batch, core_seconds, numbers, widest};
use crate::{error::Result, watch::check};

/// An operation on numbers of twice the length takes this many times as long: `2^1.5`, by Karatsuba's and Toom's methods.
const GROWTH: f64 = 2.83;
/// Steps before the measured one: kernels are compiled, clocks go up.
const WARM: usize = 3;

/// The values of these nodes; none if the tree above them is the better way.
pub(super) fn others(nodes: &[UBig], arithmetic: &mut Arithmetic<'_>) -> Result<Option<Vec<UBig>>> {
    let bits = widest(nodes.iter());
    if nodes.len() < 2 || !arithmetic.has_device() || !arithmetic.takes_moduli(bits) {
        return Ok(None);
    }
    let above = seconds_above(nodes);
    if above < arithmetic.worth_seconds {
        return Ok(None);
    }
    let start = Instant::now();
    let most = if arithmetic.worth_seconds > 0.0 { above } else { f64::INFINITY };
    let values = circle(nodes, bits, arithmetic, most)?;
    arithmetic.stages.all_pairs_seconds += start.elapsed().as_secs_f64();
    arithmetic.stages.all_pairs = if values.is_some() { nodes.len() } else { 0 };
    Ok(values)
}

/// The seconds that the cores would take for the tree above: up, and down again.
fn seconds_above(nodes: &[UBig]) -> f64 {
    let cores = rayon::current_num_threads();
    let pairs: Vec<&[UBig]> = nodes.chunks_exact(2).collect();
    let one = |pair: &&[UBig]| {
        let product = &pair[0] * &pair[1];
        (&product % &pair[0] + &product) * &pair[1] % &pair[0]
    };
    let mut operation = core_seconds(&pairs[..pairs.len().min(cores)], one);
    let (mut left, mut seconds) = (pairs.len(), 0.0);
    while left > 0 {
        seconds += operation * left.div_ceil(cores) as f64;
        operation *= GROWTH;
        left /= 2;
    }
    seconds
}

/// All steps; none if they would take longer than `most` seconds.
fn circle(nodes: &[UBig], bits: usize, arithmetic: &Arithmetic<'_>, most: f64) -> Result<Option<Vec<UBig>>> {
    let session = arithmetic.session;
    let count = nodes.len();
    let shape = Shape::new(count, bits);
    let ones = vec![UBig::ONE; count];
    let moduli = session.upload(&batch(nodes.iter(), bits)?)?;
    let twice = session.upload(&batch(nodes.iter().chain(nodes), bits)?)?;
    let mut values = session.upload(&batch(ones.iter(), bits)?)?;
    let mut factors = session.reserve(shape)?;
    let reserve = |operation: Operation, operands: &[Shape]| -> Result<Vec<DeviceBatch>> {
        let results = operation.results(operands)?;
        Ok(results.into_iter().map(|shape| session.reserve(shape)).collect::<Result<_, _>>()?)
    };
    // Not `mul_mod`: a product alone takes the algorithm that is best for its length.
    let reduction = if nodes.iter().all(|node| node.bit(0)) { Operation::Redc } else { Operation::Rem };
    let mut products = reserve(Operation::Mul, &[shape; 2])?;
    let mut into = reserve(reduction, &[products[0].shape(), shape])?;
    let mut start = Instant::now();
    for step in 1..count {
        check(arithmetic.watch)?;
        factors = session.copy_lanes(&twice, step, factors)?;
        (products, _) = session.apply_device_into(Operation::Mul, &[&values, &factors], None, products)?;
        let (mut found, _) = session.apply_device_into(reduction, &[&products[0], &moduli], None, into)?;
        // The memory of the old values takes the next ones.
        std::mem::swap(&mut values, &mut found[0]);
        into = found;
        if step == WARM {
            start = Instant::now();
        }
        if step == WARM + 1 && start.elapsed().as_secs_f64() * (count - step) as f64 > most {
            return Ok(None);
        }
        if step > WARM {
            arithmetic.meter.part(step, count);
        }
    }
    Ok(Some(numbers(&session.download(&values)?).into_par_iter().collect()))
}
