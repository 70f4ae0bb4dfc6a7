//! Kernels on the simulator, and plain iteration in big integers beside them.
#![allow(clippy::unwrap_used, dead_code, reason = "a test may panic, and need not use everything")]

use num_bigint::BigUint;
use warpmp_kernel::ir::Kernel;
use warpmp_kernel::sim::{Counters, Grid, Memory, Program};

/// The simulated device's memory.
pub(crate) struct Bench {
    pub(crate) memory: Memory,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self { memory: Memory::new(1 << 30) }
    }

    pub(crate) fn words(&mut self, words: &[u32]) -> u64 {
        let address = self.memory.alloc(4 * words.len().max(1) as u64).unwrap();
        self.memory.write(address, words).unwrap();
        address
    }

    pub(crate) fn pairs(&mut self, values: &[u64]) -> u64 {
        let words: Vec<u32> = values.iter().flat_map(|&value| [value as u32, (value >> 32) as u32]).collect();
        self.words(&words)
    }

    pub(crate) fn zeros(&mut self, words: usize) -> u64 {
        self.words(&vec![0; words])
    }

    /// Memory of unknown content.
    pub(crate) fn empty(&mut self, words: usize) -> u64 {
        self.memory.alloc(4 * words as u64).unwrap()
    }

    pub(crate) fn read(&self, address: u64, count: usize) -> Vec<u32> {
        let mut words = vec![0; count];
        self.memory.read(address, &mut words).unwrap();
        words
    }

    pub(crate) fn read_pairs(&self, address: u64, count: usize) -> Vec<u64> {
        self.read(address, 2 * count).chunks(2).map(|w| u64::from(w[0]) | u64::from(w[1]) << 32).collect()
    }

    /// Space for a report of so many records.
    pub(crate) fn report(&mut self, capacity: usize) -> u64 {
        self.zeros(4 + 4 * capacity)
    }

    /// The starts reported, sorted, and how many reports there were.
    pub(crate) fn reported(&self, address: u64, capacity: usize) -> (Vec<u128>, usize) {
        let words = self.read(address, 4 + 4 * capacity);
        let count = words[0] as usize;
        let record = |w: &[u32]| w.iter().rev().fold(0_u128, |sum, &word| sum << 32 | u128::from(word));
        let mut starts: Vec<u128> = words[4..].chunks(4).take(count).map(record).collect();
        starts.sort_unstable();
        (starts, count)
    }

    pub(crate) fn run(&mut self, kernel: &Kernel, grid: Grid, args: &[u64]) -> Counters {
        let text = kernel.to_string();
        assert_eq!(kernel, &warpmp_kernel::parse::parse(&text).unwrap(), "the text is the kernel");
        let program = Program::parse(&text).unwrap();
        program.launch(grid, args, &mut self.memory).unwrap_or_else(|fault| panic!("{}: {fault}", kernel.name))
    }
}

/// T(n).
pub(crate) fn step(n: &BigUint) -> BigUint {
    if n.bit(0) { (n * 3_u32 + 1_u32) >> 1 } else { n >> 1 }
}

/// d steps.
pub(crate) fn steps(n: &BigUint, count: u32) -> BigUint {
    (0..count).fold(n.clone(), |n, _| step(&n))
}

/// The odd steps among the first `count`, and where they lead.
pub(crate) fn small_steps(n: u64, count: u32) -> (u32, u64) {
    (0..count).fold((0, n), |(odd, n), _| if n % 2 == 1 { (odd + 1, n + n.div_ceil(2)) } else { (odd, n / 2) })
}

/// The tables B and C of d bits, as pairs.
pub(crate) fn table(bits: u32) -> Vec<u32> {
    (0..1_u64 << bits)
        .flat_map(|low| {
            let (odd, rest) = small_steps(low, bits);
            [3_u32.pow(odd), rest as u32]
        })
        .collect()
}

/// 3ᶜ for c < 41.
pub(crate) fn powers() -> Vec<u64> {
    (0..41).map(|c| 3_u64.saturating_pow(c)).collect()
}

/// Standard steps from n to 1.
pub(crate) fn delay(n: &BigUint) -> u32 {
    let one = BigUint::from(1_u32);
    let (mut n, mut delay) = (n.clone(), 0);
    while n > one {
        delay += if n.bit(0) { 2 } else { 1 };
        n = step(&n);
    }
    delay
}

/// Reproducible numbers.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}

/// 3ᵃ < 2ᵇ.
pub(crate) fn below(a: u32, b: u32) -> bool {
    BigUint::from(3_u32).pow(a) < BigUint::from(1_u32) << b
}

/// The least c with 3ᶜ ≥ 2ⁱ.
pub(crate) fn need(i: u32) -> u32 {
    (0..=i).find(|&c| !below(c, i)).unwrap()
}

/// Is a residue of `bits` bits dead by rule 1, or by rules 1, 3 and 4? `odd`, `done`: odd steps and steps that came
/// before, if the residue is that of a later value; then halvings count from the first odd step on.
pub(crate) fn dead(residue: u64, bits: u32, merges: bool, (odd, done): (u32, u32)) -> bool {
    let (mut y, mut c) = (residue, odd);
    // The odd steps before each odd y of the run, with the steps; halvings since, if an odd step was seen.
    let (mut run, mut halvings): (Vec<(u32, u32)>, Option<u32>) = (Vec::new(), None);
    for i in done..done + bits {
        let was_odd = y % 2 == 1;
        if was_odd {
            if halvings != Some(0) {
                run.clear();
            }
            run.push((c, i));
            halvings = Some(0);
            (y, c) = (y + y / 2 + 1, c + 1);
        } else {
            y /= 2;
            halvings = halvings.map(|h| h + 1);
        }
        if below(c, i + 1) {
            return true;
        }
        if !merges || was_odd {
            continue;
        }
        if halvings.is_some_and(|h| h >= 2 && h % 2 == 0) && (c == 0 || below(c - 1, i)) {
            return true;
        }
        if halvings == Some(2) && run.iter().any(|&(c, i)| below(c, i + 1)) {
            return true;
        }
    }
    false
}
