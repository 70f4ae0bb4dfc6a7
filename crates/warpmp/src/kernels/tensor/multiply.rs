//! The matrix products: every byte column of the result, as sums in registers.
//!
//! A step takes one block of `a`, as the 32×32 matrix `T(q, k) = a[32e + q − k]` of its bytes, and multiplies it by
//! every block of `b`: block `j − e` adds to block `j` of the result. Blocks of the result are columns, and columns are
//! counted modulo their number, so no column of a step is wasted: a column whose `j − e` is negative adds to block
//! `j + columns`. Column `j` has all of its low block after step `j`; the sums are copied then.
//!
//! Lane `4g + t` has rows `4g … 4g + 3` of columns `2t` and `2t + 1`: four bytes of the same limb.

use warpmp_kernel::build::{Builder, Emit, R32};
use warpmp_kernel::ir::{Cmp, Vector};

use super::Place;
use super::layout::{BLOCK_BYTES, BLOCK_LIMBS, COLUMNS, Layout};
use super::operands::ending_with;

/// Steps between barriers.
const FENCE: u32 = 4;

/// The sums of a panel in a lane: two matrix products, of rows `4g` and `4g + 1`, and of rows `4g + 2` and `4g + 3`.
pub(super) type Sums = [[R32; 4]; 2];

/// The sums of a panel: those of the low blocks of the result, and those of both.
pub(super) struct PanelSums {
    pub(super) low: Sums,
    pub(super) both: Sums,
}

impl Layout {
    /// Multiplies: the sums of each panel.
    pub(super) fn multiply(self, b: &mut Builder, place: &Place, turn: R32) -> Vec<PanelSums> {
        let Place { group, member, shared, lane, .. } = *place;
        // Word p − 2, p = 8e + g − 2t, is 8 − 2 + g − 2t words from the beginning of a.
        let window = b.add(shared, turn);
        let window = b.mad_lo(group, 4, window);
        let window = b.mad_lo(member, 8_u32.wrapping_neg(), window);
        let columns = b.mad_lo(lane, 8, shared);
        let here: Vec<R32> = (0..4).map(|number| is(b, member, number)).collect();
        let zero = b.copy(0);
        let zeros = [[zero; 4]; 2];
        let mut panels: Vec<PanelSums> = (0..self.panels).map(|_| PanelSums { low: zeros, both: zeros }).collect();
        // The blocks that meet panel s in this step; in the next they meet panel s + 1.
        let mut blocks: Vec<Vec<R32>> = (1..self.panels).map(|s| self.load_columns(b, columns, s, 0)).collect();
        for step in 0..=self.blocks {
            if self.panels > 1 && step > 0 && step % FENCE == 0 {
                // `ptxas` moves the loads of many steps to the front and spills registers. It moves none across a barrier.
                b.warp_barrier();
            }
            blocks.insert(0, self.load_columns(b, columns, 0, step));
            blocks.truncate(self.panels as usize);
            let [low, high] = toeplitz(b, window, step);
            for (panel, block) in panels.iter_mut().zip(&blocks) {
                let block = [block[0], block[1]];
                panel.both = [b.mma_u8(low, block, panel.both[0]), b.mma_u8(high, block, panel.both[1])];
            }
            self.snapshot(b, &mut panels, &here, step);
        }
        for step in self.blocks + 1..self.columns() {
            self.snapshot(b, &mut panels, &here, step);
        }
        panels
    }

    /// This lane's eight bytes of the block that meets its column of panel `s` in a step.
    fn load_columns(self, b: &mut Builder, columns: R32, s: u32, step: u32) -> Vec<R32> {
        // Block panels·column + s − step: its panel, and how many columns it is further.
        let distance = s + self.columns() - step;
        let (panel, shift) = (distance % self.panels, distance / self.panels);
        b.load_shared(Vector::V2, columns, self.work() + panel * self.panel_bytes() + shift * BLOCK_BYTES)
    }

    /// Copies the sums of the column whose low block is complete after this step.
    ///
    /// A multiplication by 1 or 0 and an addition, because the unit of selections builds the matrices meanwhile.
    fn snapshot(self, b: &mut Builder, panels: &mut [PanelSums], here: &[R32], step: u32) {
        if step >= self.columns() {
            return;
        }
        let PanelSums { low, both } = &mut panels[(step % self.panels) as usize];
        let column = step / self.panels;
        let (member, parity) = (column as usize / 2, column as usize % 2);
        for (low, both) in low.iter_mut().flatten().zip(both.iter().flatten()).skip(parity).step_by(2) {
            *low = match member {
                0 => b.mul_lo(*both, here[0]),
                _ => b.mad_lo(*both, here[member], *low),
            };
        }
    }
}

/// The matrix of block `step` of `a`, as the two matrix products take it.
///
/// Byte `i` of half `r` of row `x` is `a[4·(p − r) + x − 3 + i]`, `p = 8·step + g − 2t`: the place of digit
/// `k = 8t + 4r + 3 − i` of a column, whose words have their bytes reversed.
fn toeplitz(b: &mut Builder, window: R32, step: u32) -> [[R32; 4]; 2] {
    let first = 6 + BLOCK_LIMBS * step;
    let words = [0, 1, 2].map(|word| b.load_shared(Vector::V1, window, 4 * (first + word))[0]);
    let [r1, r0] = [1, 2].map(|word| [0, 1, 2, 3].map(|x| ending_with(b, words[word - 1], words[word], x)));
    [[r0[0], r0[1], r1[0], r1[1]], [r0[2], r0[3], r1[2], r1[3]]]
}

/// Is `value` this number? 1 or 0.
pub(in crate::kernels) fn is(b: &mut Builder, value: R32, number: u32) -> R32 {
    let equal = b.compare(Cmp::Eq, value, number);
    b.select(1, 0, equal)
}

const _: () = assert!(COLUMNS == 8, "a lane has two columns of four");
