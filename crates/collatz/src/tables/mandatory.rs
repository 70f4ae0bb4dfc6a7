//! Table S: the mandatory residues mod `2^k`, which survive descent.

use rayon::prelude::*;

use crate::{
    error::{Error, Result},
    power::{min_odd, pow3},
    rules::{Origin, Path, RuleSet},
};

/// Residues of a block agree above these bits.
const BLOCK_BITS: u32 = 24;

/// The mandatory residues mod `2^k`, ascending, in blocks of `2^24` (one block for `k ≤ 24`).
///
/// A residue is stored as its distance to the residue before, in units of four, since all are `≡ 3 mod 4`. The first residue of a block
/// is stored as its distance to the number before the block. A byte has seven bits of a distance, and its high bit is set if more
/// follow: nearly every residue takes one byte (0.97 GB for `k` = 37).
///
/// Source: dissertation § 4.3, Table 4.3, whose entry for `k` = 34 is misprinted: there are 151 917 636.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mandatory {
    pub(super) sieve_bits: u32,
    /// Residues and bytes of each block.
    pub(super) blocks: Vec<Block>,
    pub(super) bytes: Vec<u8>,
}

/// Where a block's residues are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) count: u32,
    pub(super) begin: u64,
    pub(super) end: u64,
}

impl Mandatory {
    /// Makes the table for `sieve_bits` = `k`, 3 to 37, on all cores.
    ///
    /// # Errors
    /// [`Error::Parameter`].
    pub fn new(sieve_bits: u32) -> Result<Self> {
        Error::parameter("sieve bits", sieve_bits.into(), 3, 37)?;
        let low_bits = sieve_bits.min(BLOCK_BITS);
        let mut lows = Vec::new();
        Path::ROOT.walk(low_bits as usize, Origin::START, RuleSet::DESCENT, &mut |path| lows.push(*path));
        lows.par_sort_unstable_by_key(|path| path.residue);
        let parts: Vec<(u32, Vec<u8>)> = (0..1u64 << (sieve_bits - low_bits))
            .into_par_iter()
            .map(|high| encode(lows.iter().filter(|low| survives(low, high, sieve_bits)).map(|low| low.residue)))
            .collect();
        let mut table = Self { sieve_bits, blocks: Vec::with_capacity(parts.len()), bytes: Vec::new() };
        table.bytes.reserve_exact(parts.iter().map(|(_, bytes)| bytes.len()).sum());
        for (count, bytes) in parts {
            let begin = table.bytes.len() as u64;
            table.bytes.extend(bytes);
            table.blocks.push(Block { count, begin, end: table.bytes.len() as u64 });
        }
        Ok(table)
    }

    /// `k`.
    pub fn sieve_bits(&self) -> u32 {
        self.sieve_bits
    }

    /// How many residues are mandatory.
    pub fn count(&self) -> u64 {
        self.blocks.iter().map(|block| u64::from(block.count)).sum()
    }

    /// Bytes of the stored residues.
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// How many blocks there are, and the span of a block: block `b` holds the residues from `b·span` on.
    pub fn blocks(&self) -> (usize, u64) {
        (self.blocks.len(), 1 << self.sieve_bits.min(BLOCK_BITS))
    }

    /// The residues of a block, ascending; none past the last block.
    pub fn block(&self, block: usize) -> impl Iterator<Item = u64> + '_ {
        let Block { begin, end, .. } = self.blocks.get(block).copied().unwrap_or_default();
        let mut bytes = self.bytes[begin as usize..end as usize].iter();
        // The number before the block: distances wrap at the first block, where that is −1.
        let mut residue = (block as u64 * self.blocks().1).wrapping_sub(1);
        std::iter::from_fn(move || {
            let mut distance = 0u64;
            let mut shift = 2;
            loop {
                let byte = *bytes.next()?;
                distance |= u64::from(byte & 0x7f) << shift;
                shift += 7;
                if byte < 0x80 {
                    residue = residue.wrapping_add(distance);
                    return Some(residue);
                }
            }
        })
    }
}

/// Does the residue `low + high·2^24` survive descent to the end?
fn survives(low: &Path, high: u64, sieve_bits: u32) -> bool {
    let mut odd_steps = usize::from(low.odd_steps);
    let mut value = u128::from(low.state) + u128::from(high) * pow3(odd_steps);
    for step in usize::from(low.steps)..sieve_bits as usize {
        if value & 1 == 1 {
            odd_steps += 1;
            value += (value >> 1) + 1;
        } else {
            value >>= 1;
        }
        if odd_steps < min_odd(step + 1) {
            return false;
        }
    }
    true
}

/// Distances of ascending residues, from −1 on.
fn encode(residues: impl Iterator<Item = u64>) -> (u32, Vec<u8>) {
    let mut bytes = Vec::new();
    let mut before = u64::MAX;
    let mut count = 0;
    for residue in residues {
        let mut distance = residue.wrapping_sub(before) >> 2;
        before = residue;
        count += 1;
        while distance >= 0x80 {
            bytes.push(distance as u8 | 0x80);
            distance >>= 7;
        }
        bytes.push(distance as u8);
    }
    bytes.shrink_to_fit();
    (count, bytes)
}
