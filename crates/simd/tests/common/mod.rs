//! Numbers that provoke carries, and rows of limbs beside num-bigint.

#![allow(dead_code, reason = "each test uses a part")]

use num_bigint::BigUint;
use warpmp_simd::{Simd, digits};

/// A small generator: splitmix64.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// The next word.
    pub(crate) fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A limb: 0, all ones, the top bit alone, one bit more or less than a power of two, or any: carries need long runs.
    pub(crate) fn limb(&mut self) -> u32 {
        match self.word() % 10 {
            0..3 => 0,
            3..6 => u32::MAX,
            6 => 1 << 31,
            7 => (1 << (self.word() % 32)) - 1,
            _ => self.word() as u32,
        }
    }

    /// A row of limbs.
    pub(crate) fn row(&mut self, limbs: usize) -> Vec<u32> {
        match self.word() % 8 {
            0 => vec![u32::MAX; limbs],
            1 => vec![0; limbs],
            _ => (0..limbs).map(|_| self.limb()).collect(),
        }
    }

    /// A row for each of eight lanes.
    pub(crate) fn rows(&mut self, limbs: usize) -> Vec<Vec<u32>> {
        (0..8).map(|_| self.row(limbs)).collect()
    }

    /// Odd rows above 1.
    pub(crate) fn odd_rows(&mut self, limbs: usize) -> Vec<Vec<u32>> {
        let mut rows = self.rows(limbs);
        for row in &mut rows {
            row[0] |= 1;
            if row[0] == 1 && row[1..].iter().all(|limb| *limb == 0) {
                row[0] = 3;
            }
        }
        rows
    }
}

/// The number of a row.
pub(crate) fn number(row: &[u32]) -> BigUint {
    BigUint::new(row.to_vec())
}

/// Rows as slices.
pub(crate) fn slices(rows: &[Vec<u32>]) -> Vec<&[u32]> {
    rows.iter().map(|row| &row[..]).collect()
}

/// The digits of eight rows, and zeros above.
pub(crate) fn load<S: Simd>(s: S, rows: &[Vec<u32>], digits: usize) -> Vec<S::Vector> {
    let longest = rows.iter().map(Vec::len).max().unwrap();
    let mut words = vec![s.zero(); digits::words::<S>(longest)];
    let mut numbers = vec![s.splat(u64::MAX); digits];
    digits::load(s, &slices(rows), &mut words, &mut numbers);
    numbers
}

/// The numbers of all lanes; every digit must be reduced.
pub(crate) fn numbers<S: Simd>(s: S, digits: &[S::Vector]) -> Vec<BigUint> {
    let limbs = (digits.len() * S::DIGIT_BITS).div_ceil(32);
    for digit in digits {
        assert!(s.to_words(*digit)[..S::LANES].iter().all(|word| *word <= S::DIGIT), "a digit that is not reduced");
    }
    let mut words = vec![s.zero(); digits::words::<S>(limbs)];
    let mut rows = vec![u32::MAX; S::LANES * limbs];
    digits::store(s, digits, &mut words, &mut rows, limbs);
    rows.chunks_exact(limbs).map(number).collect()
}

/// Runs a test with every instruction set that this processor has.
#[macro_export]
macro_rules! on_every_instruction_set {
    ($($test:ident)*) => {$(
        #[test]
        fn $test() {
            match warpmp_simd::Ifma::detect() {
                Some(s) => generic::$test(s),
                None => eprintln!("skipped: no AVX-512 IFMA"),
            }
            match warpmp_simd::Fma::detect() {
                Some(s) => generic::$test(s),
                None => eprintln!("skipped: no FMA"),
            }
            match warpmp_simd::Avx2::detect() {
                Some(s) => generic::$test(s),
                None => eprintln!("skipped: no AVX2"),
            }
        }
    )*};
}
