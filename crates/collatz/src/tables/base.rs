//! Tables B, C and J: `d` steps of `T` in one multiplication.

use crate::{
    error::{Error, Result},
    number::Affine,
    power::pow3,
};

/// For all low `d` bits `l` of a value `2^d·h + l`: `T^d` of it is `B[l]·h + C[l]`, and `J[l]` standard steps are taken.
///
/// `B[l] = 3^c` and `C[l] = T^d(l)` by [`Affine`]; `J[l] = d + c`, since every step of `T` halves once and each odd one triples.
///
/// Source: dissertation § 4.3, Table 4.1 and 4.2.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base {
    bits: u32,
    factors: Vec<u32>,
    addends: Vec<u32>,
    steps: Vec<u8>,
}

impl Base {
    /// The tables of `base_bits` = `d`, 1 to 20: `3^20 < 2^32`.
    ///
    /// # Errors
    /// [`Error::Parameter`].
    pub fn new(base_bits: u32) -> Result<Self> {
        Error::parameter("base bits", base_bits.into(), 1, 20)?;
        let size = 1usize << base_bits;
        let mut tables = Self {
            bits: base_bits,
            factors: Vec::with_capacity(size),
            addends: Vec::with_capacity(size),
            steps: Vec::with_capacity(size),
        };
        for low in 0..size {
            let Affine { odd_steps, value, .. } = Affine::of(low as u128, base_bits)?;
            tables.factors.push(pow3(odd_steps as usize) as u32);
            tables.addends.push(value as u32);
            tables.steps.push((base_bits + odd_steps) as u8);
        }
        Ok(tables)
    }

    /// `d`.
    pub fn base_bits(&self) -> u32 {
        self.bits
    }

    /// B.
    pub fn factors(&self) -> &[u32] {
        &self.factors
    }

    /// C.
    pub fn addends(&self) -> &[u32] {
        &self.addends
    }

    /// J.
    pub fn steps(&self) -> &[u8] {
        &self.steps
    }
}
