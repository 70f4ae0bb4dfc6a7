//! Half of a product by little more than half of its matrix products: a panel has eight neighbouring blocks of the half, a strip four.
//!
//! cost       in matrix products of 16×32 by 32×8 bytes, for `P` panels of factors of `8P` blocks: a half `8P·(P + 1)`; with guard `2P` more. For `S` strips of factors of `4S`
//!            blocks: a low half `2S·(S + 1)`, a high one `S` more; with guard `S` more
//!
//! Column `i` of panel `p` meets block `8p + i − s` of the second factor in step `s` of the low half, and block `8(P + p) + i − s` in that of the high one, if
//! there is such a block. Seven blocks of zeros stand before the first block in a low half, after the last one in a high half. A panel that would meet zeros only is left out.
//!
//! Strips are the same with four blocks instead of eight and three blocks of zeros instead of seven. Each block is there as it is and a byte further. A byte further, the second factor needs one more
//! block for its highest byte; a high half meets it.

use std::collections::BTreeMap;

use warpmp_kernel::build::{Builder, Emit, R32};

use super::layout::Layout;
use super::multiply::{HalfSums, Operands, Source};
use super::warps::Place;

/// The bytes of the blocks of zeros before the columns of a low half, and after those of a high one.
pub(super) const fn zero_bytes(layout: Layout) -> u32 {
    layout.block_bytes() * (layout.blocks_of_each() - 1)
}

/// The half of a product that is wanted.
#[derive(Clone, Copy)]
pub(super) enum Half {
    Low,
    High,
    /// The high half and the limb below it: the high half of a product whose first factor stands a limb further.
    HighWithGuard,
}

/// The columns of the second factor: its blocks, one after the other, the bytes of each word reversed.
pub(super) struct Columns {
    /// Where its blocks begin.
    pub(super) begin: u32,
    /// Those that are in registers, as a [`Meeting`] names them.
    pub(super) loaded: BTreeMap<[u32; 2], Vec<R32>>,
}

/// A matrix meets the columns of a panel.
#[derive(Clone, Copy)]
pub(super) struct Meeting {
    /// Matrices before this one.
    before: u32,
    /// The step whose matrix it is.
    step: u32,
    panel: u32,
    /// The columns begin `8·number − rest` blocks after the first one, in strips `4·number − rest`: number and rest.
    pub(super) columns: [u32; 2],
}

impl Columns {
    /// Of a factor whose blocks begin there; none is in registers.
    pub(super) fn at(begin: u32) -> Self {
        Self { begin, loaded: BTreeMap::new() }
    }

    /// Where those of a panel begin.
    pub(super) fn place(&self, layout: Layout, Meeting { columns: [number, rest], .. }: Meeting) -> u32 {
        let block = layout.block_bytes();
        self.begin + block * layout.blocks_of_each() * number - block * rest
    }
}

impl Half {
    /// The meetings in their order: those of columns with the same rest one after the other.
    pub(super) fn meetings(self, layout: Layout) -> impl Iterator<Item = Meeting> {
        let (panels, width) = (layout.panels_or_strips(), layout.blocks_of_each());
        // In strips the highest byte of the second factor meets the first matrix.
        let lowest_of_high = u32::from(layout.strips.is_none());
        let (first, end) = match self {
            Self::Low => (0, layout.blocks),
            Self::High => (lowest_of_high, layout.blocks + 1),
            Self::HighWithGuard => (lowest_of_high, layout.blocks + 2),
        };
        let steps = (first..first + width)
            .flat_map(move |rest| (rest..end).step_by(width as usize).zip(0..).map(move |(step, k)| (step, k, rest)));
        steps.zip(0..).flat_map(move |((step, k, rest), before)| {
            (0..panels).filter_map(move |panel| {
                let number = match self {
                    Self::Low => panel.checked_sub(k)?,
                    Self::High | Self::HighWithGuard if panel <= k => panels + panel - k,
                    Self::High | Self::HighWithGuard => return None,
                };
                Some(Meeting { before, step, panel, columns: [number, rest] })
            })
        })
    }
}

impl Layout {
    /// The sums of half of the columns of a product, added to those of `panels`. Its factors have these matrices and columns. Panel `p` has blocks `8p` to `8p + 7` of the
    /// half, strip `p` blocks `4p` to `4p + 3`. Each `fence` steps end with a barrier.
    ///
    /// Steps with the same rest modulo 8, or 4, have most blocks in common, so these are loaded once.
    pub(super) fn half_product(
        self,
        b: &mut Builder,
        place: &Place,
        (matrices, columns): (Source, &Columns),
        half: Half,
        fence: u32,
        mut panels: Vec<HalfSums>,
    ) -> Vec<HalfSums> {
        let operands = Operands::of(b, place, matrices, 0, fence);
        let mut loaded = columns.loaded.clone();
        let mut made: Option<(u32, Vec<[R32; 4]>)> = None;
        for meeting in half.meetings(self) {
            if loaded.keys().all(|[_, rest]| *rest != meeting.columns[1]) {
                loaded.clear();
            }
            let matrices = match made {
                Some((step, matrices)) if step == meeting.step => matrices,
                _ => {
                    self.fence(b, meeting.before, fence);
                    operands.matrices(b, meeting.step, self.strips.is_some())
                }
            };
            let block = loaded.entry(meeting.columns).or_insert_with(|| operands.load(b, columns.place(self, meeting)));
            for (sums, &matrix) in panels[meeting.panel as usize].iter_mut().zip(&matrices) {
                *sums = b.mma_u8(matrix, [block[0], block[1]], *sums);
            }
            made = Some((meeting.step, matrices));
        }
        panels
    }
}
