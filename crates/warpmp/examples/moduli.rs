//! Moduli as RSA has them, some with a prime in common: something for `warpmp batch-gcd`, in any number.
//!
//! ```sh
//! cargo run --release -p warpmp --example moduli -- COUNT BITS SHARED > moduli.txt
//! ```
//!
//! Primes are numbers that pass a strong test to base 2, which a GPU does by the million a second. Nobody's keys: the
//! same arguments give the same moduli everywhere. Every `SHARED`-th modulus has its first prime from the one before it.

use std::error::Error;
use std::io::Write as _;
use std::{env, io};

use warpmp::{Batch, Session, Shape};

/// Candidates at a time.
const LANES: usize = 1 << 19;

/// Words that look random and are not: splitmix64 of a counter.
struct Words(u64);

impl Words {
    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ z >> 31) as u32
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let usage = "usage: moduli COUNT BITS SHARED, with BITS a multiple of 64";
    let arguments = env::args().skip(1).map(|argument| argument.parse()).collect::<Result<Vec<usize>, _>>()?;
    let &[count, bits, shared] = &arguments[..] else { return Err(usage.into()) };
    if bits == 0 || !bits.is_multiple_of(64) || count == 0 {
        return Err(usage.into());
    }
    let session = Session::open();
    let limbs = bits / 64;
    let (mut primes, mut words): (Vec<u32>, _) = (Vec::new(), Words(1));
    // About one odd number in bits·ln 2 / 4 is a prime.
    let lanes = (count * bits / 2).min(LANES);
    while primes.len() < 2 * count * limbs {
        let mut candidates: Vec<u32> = (0..lanes * limbs).map(|_| words.next()).collect();
        for candidate in candidates.chunks_exact_mut(limbs) {
            candidate[0] |= 1;
            // Both top bits: the product has all its bits.
            candidate[limbs - 1] |= 3 << 30;
        }
        let batch = Batch::from_limbs(Shape::new(lanes, bits / 2), candidates)?;
        let verdicts = session.strong_test(&batch, 2)?;
        let rows = batch.limbs().chunks_exact(limbs).zip(verdicts.limbs());
        primes.extend(rows.filter(|(_, verdict)| **verdict == 1).flat_map(|(row, _)| row));
    }
    let (mut p, mut q) = (Vec::new(), Vec::new());
    for (number, pair) in primes.chunks_exact(2 * limbs).take(count).enumerate() {
        let from = if number > 0 && number.checked_rem(shared) == Some(0) { number - 1 } else { number };
        p.extend(&primes[2 * from * limbs..][..limbs]);
        q.extend(&pair[limbs..]);
    }
    let shape = Shape::new(count, bits / 2);
    let moduli = session.mul(&Batch::from_limbs(shape, p)?, &Batch::from_limbs(shape, q)?)?;
    let mut out = io::BufWriter::new(io::stdout().lock());
    for modulus in moduli.limbs().chunks_exact(moduli.shape().limbs()) {
        write!(out, "0x")?;
        modulus.iter().rev().try_for_each(|limb| write!(out, "{limb:08x}"))?;
        writeln!(out)?;
    }
    Ok(out.flush()?)
}
