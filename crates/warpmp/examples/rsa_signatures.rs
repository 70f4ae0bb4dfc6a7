//! RSA signatures checked in bulk: `cargo run --release -p warpmp --example rsa_signatures -- [SIGNATURES] [BITS]`
//! (1000 of 1024 bits).
//!
//! Makes keys with the session's own operations, signs, spoils one signature, and finds it again. A signature `s` of a
//! padded digest `d` under the modulus `n` is right if `s^65537 mod n = d`.

use num_bigint::BigUint;
use rand::{Rng as _, RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha20Rng;
use warpmp::{Batch, Result, Session};

/// Keys take turns: a real check has as many as there are signers.
const KEYS: usize = 4;
const EXPONENT: u32 = 65537;

struct Keys {
    moduli: Vec<BigUint>,
    private: Vec<BigUint>,
}

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1).map_while(|arg| arg.parse::<usize>().ok());
    let (count, bits) = (args.next().unwrap_or(1000), args.next().unwrap_or(1024).max(512) / 2 * 2);
    let session = Session::open();
    println!("{}", session.engine().name);
    let mut random = ChaCha20Rng::seed_from_u64(1);
    let keys = keys(&session, bits, &mut random)?;
    let of_lane = |numbers: &[BigUint]| (0..count).map(|lane| numbers[lane % KEYS].clone()).collect::<Vec<_>>();
    let moduli = batch(bits, &of_lane(&keys.moduli))?;

    // Each message's digest, padded as PKCS #1 does: 00 01 ff … ff 00, then the digest. The 19 bytes that name the
    // digest's algorithm are left out here.
    let digests: Vec<BigUint> = (0..count).map(|_| padded(bits, random.random::<[u8; 32]>())).collect();
    let digests = batch(bits, &digests)?;
    let (signatures, _) = session.pow_mod_sec(&digests, &batch(bits, &of_lane(&keys.private))?, &moduli)?;

    let mut limbs = signatures.into_limbs();
    if let Some(limb) = limbs.get_mut(count / 2 * bits.div_ceil(32)) {
        *limb ^= 1;
    }
    let spoilt = Batch::from_limbs(digests.shape(), limbs)?;

    let start = std::time::Instant::now();
    let (found, statuses) = session.pow_mod_public(&spoilt, &moduli, EXPONENT)?;
    let wrong: Vec<usize> = (0..count).filter(|lane| found.lane(*lane) != digests.lane(*lane)).collect();
    println!("{count} signatures of {bits} bits checked in {:.1?}; wrong: {wrong:?}", start.elapsed());
    assert!(statuses.is_fine());
    Ok(())
}

/// RSA keys: primes by strong tests of many candidates at once, private exponents by inverses.
fn keys(session: &Session, bits: usize, random: &mut ChaCha20Rng) -> Result<Keys> {
    let mut primes = Vec::new();
    while primes.len() < 2 * KEYS {
        // Odd, the two top bits set, so that the product of two has all its bits.
        let candidates: Vec<BigUint> = (0..1000)
            .map(|_| {
                let mut bytes = vec![0; bits / 16];
                random.fill_bytes(&mut bytes);
                let mut number = BigUint::from_bytes_le(&bytes);
                for bit in [0, bits as u64 / 2 - 2, bits as u64 / 2 - 1] {
                    number.set_bit(bit, true);
                }
                number
            })
            .filter(|number| number.bits() == bits as u64 / 2)
            .collect();
        let verdicts = session.strong_test(&batch(bits / 2, &candidates)?, 2)?;
        let passed = candidates.into_iter().enumerate().filter(|(lane, _)| verdicts.to_u64(*lane) == Some(1));
        primes.extend(passed.map(|(_, number)| number));
    }
    let one = BigUint::from(1u32);
    let pairs = || primes[..2 * KEYS].chunks(2);
    let phi: Vec<BigUint> = pairs().map(|pq| (&pq[0] - &one) * (&pq[1] - &one)).collect();
    let (private, _) = session.inv_mod(&Batch::from_u64s(&[u64::from(EXPONENT)]), &batch(bits, &phi)?)?;
    let private = private.iter().map(BigUint::from_slice).collect();
    Ok(Keys { moduli: pairs().map(|pq| &pq[0] * &pq[1]).collect(), private })
}

fn batch(bits: usize, numbers: &[BigUint]) -> Result<Batch<'static>> {
    Batch::from_le_bytes(bits, &numbers.iter().map(BigUint::to_bytes_le).collect::<Vec<_>>())
}

fn padded(bits: usize, digest: [u8; 32]) -> BigUint {
    let mut bytes = vec![0xff; bits / 8];
    let end = bytes.len() - digest.len();
    (bytes[0], bytes[1], bytes[end - 1]) = (0, 1, 0);
    bytes[end..].copy_from_slice(&digest);
    BigUint::from_bytes_be(&bytes)
}
