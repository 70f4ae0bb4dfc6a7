//! Public keys of many secret scalars on secp256k1, checked all together.
//!
//! ```sh
//! cargo run --release -p warpmp-curves --example public_keys -- 1000000
//! ```
//!
//! The public key of `k` is `k·G`. For random `r` the sum `Σ r·(k·G)` must be `(Σ r·k)·G`: one wrong key changes the sum, except
//! with a probability of 2⁻⁶⁴. A GPU serves if there is one.

use std::error::Error;
use std::time::Instant;
use std::{env, process};

use num_bigint::BigUint;
use sha2::{Digest, Sha256};
use warpmp_curves::affine::Group;
use warpmp_curves::points::Curve;
use warpmp_curves::search::Engine;

/// A number of up to 32 bytes that nobody can guess from the others.
fn number(kind: &str, i: u64, bytes: usize) -> BigUint {
    let mut hash = Sha256::new();
    hash.update(kind);
    hash.update(i.to_le_bytes());
    BigUint::from_bytes_le(&hash.finalize()[..bytes])
}

fn main() -> Result<(), Box<dyn Error>> {
    let count: u64 = env::args().nth(1).map_or(Ok(10_000), |count| count.parse())?;
    let hex = |digits: &str| BigUint::parse_bytes(digits.as_bytes(), 16).ok_or("a hexadecimal number");
    let p = (BigUint::from(1_u32) << 256_u32) - (1_u64 << 32) - 977_u32;
    let generator = Some((
        hex("79BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798")?,
        hex("483ADA7726A3C4655DA4FBFC0E1108A8FD17B448A68554199C47D08FFB10D4B8")?,
    ));
    let engine = warpmp_device::open_cuda(0).map_or(Engine::Cpu, Engine::Device);
    let curve = Curve::new(Group { p, a: BigUint::ZERO, b: 7_u32.into() }, &engine)?;

    let secrets: Vec<BigUint> = (0..count).map(|i| number("secret", i, 32)).collect();
    let generators = curve.points(&vec![generator.clone(); secrets.len()]);
    let begin = Instant::now();
    let keys = curve.multiply(&generators, &secrets)?;
    println!("{count} public keys in {:.3} s", begin.elapsed().as_secs_f64());

    let begin = Instant::now();
    let factors: Vec<BigUint> = (0..count).map(|i| number("factor", i, 8)).collect();
    let found = curve.sum_of_multiples(&keys, &factors)?;
    let total: BigUint = secrets.iter().zip(&factors).map(|(secret, factor)| secret * factor).sum();
    let expected = curve.multiply_all(&curve.points(&[generator]), &total)?.to_affine();
    println!("checked in {:.3} s", begin.elapsed().as_secs_f64());
    if expected != [Ok(found)] {
        eprintln!("a public key is wrong");
        process::exit(1);
    }
    Ok(())
}
