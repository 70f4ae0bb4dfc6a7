//! Half of a product by little more than half of its matrix products: a panel has eight neighbouring blocks of the half.
//!
//! cost       in matrix products of 16×32 by 32×8 bytes, for `P` panels of factors of `8P` blocks: a half `8P·(P + 1)`; with guard `2P` more
//!
//! Column `i` of panel `p` meets block `8p + i − s` of the second factor in step `s` of the low half, and block `8(P + p) + i − s` in that of the high one, if
//! there is such a block. Seven blocks of zeros stand before the first block in a low half, after the last one in a high half. A panel that would meet zeros only is left out.

use std::collections::BTreeMap;

use warpmp_kernel::build::{Builder, R32};

use super::layout::{BLOCK_BYTES, COLUMNS, Layout};
use super::multiply::{Operands, Source, Sums, add_products};
use super::warps::Place;

/// Blocks of zeros before the columns of a low half, and after those of a high one.
pub(super) const ZEROS: u32 = COLUMNS - 1;

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
    /// The columns begin `8·number − rest` blocks after the first one: number and rest.
    pub(super) columns: [u32; 2],
}

impl Columns {
    /// Of a factor whose blocks begin there; none is in registers.
    pub(super) fn at(begin: u32) -> Self {
        Self { begin, loaded: BTreeMap::new() }
    }

    /// Where those of a panel begin.
    pub(super) fn place(&self, Meeting { columns: [number, rest], .. }: Meeting) -> u32 {
        self.begin + BLOCK_BYTES * COLUMNS * number - BLOCK_BYTES * rest
    }
}

impl Half {
    /// The meetings in their order: those of columns with the same rest one after the other.
    pub(super) fn meetings(self, layout: Layout) -> impl Iterator<Item = Meeting> {
        let panels = layout.panels;
        let (first, end) = match self {
            Self::Low => (0, layout.blocks),
            Self::High => (1, layout.blocks + 1),
            Self::HighWithGuard => (1, layout.blocks + 2),
        };
        let steps = (first..first + COLUMNS)
            .flat_map(move |rest| (rest..end).step_by(COLUMNS as usize).zip(0..).map(move |(step, k)| (step, k, rest)));
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
    /// half. Each `fence` steps end with a barrier.
    ///
    /// Steps with the same rest modulo 8 have most blocks in common, so these are loaded once.
    pub(super) fn half_product(
        self,
        b: &mut Builder,
        place: &Place,
        (matrices, columns): (Source, &Columns),
        half: Half,
        fence: u32,
        mut panels: Vec<Sums>,
    ) -> Vec<Sums> {
        let operands = Operands::of(b, place, matrices, 0, fence);
        let mut loaded = columns.loaded.clone();
        let mut matrix = None;
        for meeting in half.meetings(self) {
            if loaded.keys().all(|[_, rest]| *rest != meeting.columns[1]) {
                loaded.clear();
            }
            let halves = match matrix {
                Some((step, halves)) if step == meeting.step => halves,
                _ => {
                    self.fence(b, meeting.before, fence);
                    operands.matrix(b, meeting.step)
                }
            };
            matrix = Some((meeting.step, halves));
            let block = loaded.entry(meeting.columns).or_insert_with(|| operands.load(b, columns.place(meeting)));
            add_products(b, halves, block, &mut panels[meeting.panel as usize]);
        }
        panels
    }
}
