//! Where the limbs of many numbers lie.

use serde::Deserialize;

/// Which limbs are neighbours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// Those of a number: the report's normal layout.
    RowMajor,
    /// Limb `i` of all numbers: the report's coalesced layout (`COAL_IDX`), section 2.4.
    #[default]
    LimbMajor,
}

/// How the two operands share memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operands {
    /// An array for each: Figure 3.8.
    #[default]
    Separate,
    /// One array, limb `i` of `b` after limb `i` of `a`, two loads: Figure 3.7.
    Interleaved,
    /// The same array, one load for both limbs; in global memory as [`Interleaved`](Self::Interleaved). Not the report's.
    Pairs,
}

/// The order of the limbs in memory. Moduli and results are alone in their arrays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Layout {
    /// Within an array.
    #[serde(default)]
    pub order: Order,
    /// Of operands.
    #[serde(default)]
    pub operands: Operands,
}

impl Layout {
    /// In the name of a kernel.
    pub(super) fn name(self) -> String {
        format!("{:?}_{:?}", self.order, self.operands)
    }

    /// The word of limb `limb` of number `lane`, of `lanes` numbers of `limbs` limbs that are alone in their array.
    pub const fn word(self, limbs: usize, lanes: usize, lane: usize, limb: usize) -> usize {
        match self.order {
            Order::RowMajor => lane * limbs + limb,
            Order::LimbMajor => limb * lanes + lane,
        }
    }

    /// Rows of limbs in this order.
    pub fn arrange(self, rows: &[u32], limbs: usize) -> Vec<u32> {
        let lanes = rows.len() / limbs;
        let mut words = vec![0; rows.len()];
        for (lane, row) in rows.chunks_exact(limbs).enumerate() {
            for (limb, &value) in row.iter().enumerate() {
                words[self.word(limbs, lanes, lane, limb)] = value;
            }
        }
        words
    }

    /// The arrays of both operands, given as rows of limbs: one, if they share it, else two.
    pub fn arrange_operands(self, [a, b]: [&[u32]; 2], limbs: usize) -> Vec<Vec<u32>> {
        let [a, b] = [a, b].map(|rows| self.arrange(rows, limbs));
        match self.operands {
            Operands::Separate => vec![a, b],
            Operands::Interleaved | Operands::Pairs => {
                vec![a.into_iter().zip(b).flat_map(|(a, b)| [a, b]).collect()]
            }
        }
    }
}
