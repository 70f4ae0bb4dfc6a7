//! Fermat tests of a range: `cargo run --release -p warpmp --example fermat_range -- [FROM] [COUNT]`
//! (1000000 odd numbers from 10^9 on).
//!
//! `n` passes if `2^(n−1) mod n = 1`. Primes pass; so do a few composites, which strong tests to bases 2 and 3 unmask.

use warpmp::{Batch, Result, Session};

/// Numbers a call: enough to keep a GPU busy.
const PIECE: u64 = 1 << 18;

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1).map_while(|arg| arg.parse::<u64>().ok());
    let (from, count) = (args.next().unwrap_or(1_000_000_000) | 1, args.next().unwrap_or(1_000_000));
    let session = Session::open();
    println!("{}", session.engine().name);
    let two = Batch::from_u64s(&[2]);
    let three = Batch::from_u64s(&[3]);
    let (mut passed, mut pseudoprimes) = (0, Vec::new());
    for first in (0..count).step_by(PIECE as usize) {
        let numbers: Vec<u64> = (first..count.min(first + PIECE)).filter_map(|i| from.checked_add(2 * i)).collect();
        let exponents: Vec<u64> = numbers.iter().map(|n| n - 1).collect();
        let moduli = Batch::from_u64s(&numbers);
        let (powers, _) = session.pow_mod(&two, &Batch::from_u64s(&exponents), &moduli)?;
        let (to_2, to_3) = (session.strong_test(&moduli, 2)?, session.miller_rabin(&three, &moduli)?);
        for (lane, number) in numbers.iter().enumerate().filter(|(lane, _)| powers.to_u64(*lane) == Some(1)) {
            passed += 1;
            if to_2.to_u64(lane) == Some(0) || to_3.to_u64(lane) == Some(0) {
                pseudoprimes.push(*number);
            }
        }
    }
    println!("{passed} of {count} odd numbers from {from} on pass the Fermat test to base 2");
    println!("{} of them are composite: {:?} …", pseudoprimes.len(), &pseudoprimes[..pseudoprimes.len().min(10)]);
    Ok(())
}
