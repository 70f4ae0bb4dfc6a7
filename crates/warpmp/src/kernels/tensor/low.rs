//! `tensor` for `mul_lo`: the low half of a product, a warp a product.
//!
//! computes   c = a·b modulo `B^n`    a, b, c: `n` limbs
//! requires   `32 ≤ n ≤ 1280`
//! launch     `32·warps` threads a block, `products` products a block, one after the other by each warp
//! cost       about `8P·(P + 1)` matrix products of 16×32 by 32×8 bytes, `P = ⌈n/64⌉` panels, or `2S·(S + 1)` where `S = ⌈n/32⌉` strips are an odd number to 13: see `half`;
//!            12·n bytes of global traffic
//! registers  about 42 with one panel, 78 with four, 122 with eight, 166 with fourteen, 234 with twenty; 48 with three strips, 78 with seven, 132 with thirteen
//!
//! Digits are bytes, and matrices are made as for whole products. The columns of `b` are neighbours after blocks of zeros. Each lane finishes
//! a chunk of `2P` limbs, or `S`; what is above limb `n` is computed, too, and not stored.
//!
//! bound: a byte column sums at most `4·n` products of bytes: at most `4·1280·255² < 2³¹`, so no sum of a matrix product wraps. The carries are bounded
//! in `result`.

use std::ops::RangeInclusive;

use warpmp_kernel::build::{Builder, Emit, R32};
use warpmp_kernel::ir::Cmp;
use warpmp_launch::{Ports, Stage, vector};

use super::digits::{Gets, Puts};
use super::half::{Columns, Half, zero_bytes};
use super::layout::{BLOCK_LIMBS, Layout, PANEL_LIMBS};
use super::multiplication::{Multiplication, Within};
use super::multiply::zeros_of_half;
use super::operands::{clear, in_first_lanes, reversed};
use super::result::{from_lane_below, resolve_chunk};
use super::strip::{self, odd_strips_of};
use super::warps::{ALIGNMENT, Place, Warps};
use crate::kernels::{OperationShape, Spec, TensorSettings};
use crate::operation::Operation;

/// The longest factors.
const MOST_LIMBS: u32 = 20 * PANEL_LIMBS;

/// Numbers of panels with which matrices are made of entries. With fewer panels entries cost too many accesses to shared memory, with more too many registers. On `sm_86` `ptxas` spills up to four words
/// with five and six panels.
const WITH_ENTRIES: RangeInclusive<u32> = 5..=8;

/// Steps between barriers.
const FENCE: u32 = 8;

/// Parameters of the kernel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::kernels) struct LowProduct {
    multiplication: Multiplication,
    layout: Layout,
    /// Where the columns of `b` begin, after blocks of zeros.
    columns: u32,
    warps: Warps,
}

/// Does the kernel take this shape: `mul_lo` of two equally long factors of whole limbs?
pub(in crate::kernels) fn fits(shape: OperationShape) -> bool {
    let operands = shape.operands();
    shape.operation == Operation::MulLo
        && operands[0].bits == operands[1].bits
        && operands[0].bits.is_multiple_of(32)
        && (*super::LIMBS.start()..=MOST_LIMBS).contains(&operands[0].limbs())
}

impl LowProduct {
    /// The kernel for a shape that [`fits`].
    pub(in crate::kernels) fn new(shape: OperationShape, settings: &TensorSettings) -> Self {
        Self::within(shape, settings, [None; 2])
    }

    /// The same for factors in longer rows.
    pub(in crate::kernels) fn within(
        shape: OperationShape,
        settings: &TensorSettings,
        within: [Option<Within>; 2],
    ) -> Self {
        assert!(fits(shape), "a low half of equally long factors");
        let multiplication = Multiplication::of(shape).within(within);
        let limbs = multiplication.limbs();
        let strips = odd_strips_of(limbs[0].div_ceil(BLOCK_LIMBS));
        let has_entries = strips.map_or(WITH_ENTRIES.contains(&limbs[0].div_ceil(PANEL_LIMBS)), strip::has_entries);
        let layout = Layout::of_half(limbs, multiplication.pieces(), strips, has_entries);
        assert!(layout.greatest_sum() < 1 << 31, "the sums of a matrix product have 32 bits");
        let columns = layout.work + zero_bytes(layout);
        let work = (columns + layout.block_bytes() * layout.columns()).next_multiple_of(ALIGNMENT);
        let layout = Layout { work, ..layout };
        Self { multiplication, layout, columns, warps: Warps::with_digits(settings, layout) }
    }

    fn write(&self, b: &mut Builder, ports: &Ports) {
        let Self { layout, warps, .. } = *self;
        b.section("setup");
        let (place, product, end) = warps.enter(b, ports.lanes);
        let place = place.aligned(b);
        layout.clear(b, &place);
        let zeros = zero_bytes(layout);
        clear(b, &place, self.columns - zeros, zeros / 4);
        let (puts, gets) = (Puts::new(b, layout, &place), Gets::new(b, layout, &place));
        let waiting = layout.waiting(b);
        let waiting = waiting.as_deref();
        // Where `a` is, if it has two places.
        let turn = b.copy(0);
        self.fetch(b, ports, &place, product, turn, waiting);
        b.do_while(|b| {
            b.section("operands");
            b.copy_wait(0);
            b.warp_barrier();
            self.arrange(b, &place, waiting);
            let here = b.add(place.shared, turn);
            let source = layout.source(b, &place, here);
            b.warp_barrier();
            let row = self.multiplication.result(b, ports, product);
            b.increase(product, warps.count);
            let other = layout.other_place(b, turn);
            let more = b.compare(Cmp::Lt, product, end);
            b.if_(more, |b| self.fetch(b, ports, &place, product, other, waiting));
            b.section("multiply");
            let zeros = zeros_of_half(b, layout);
            let columns = Columns::at(self.columns);
            let sums = layout.half_product(b, &place, (source, &columns), Half::Low, FENCE, zeros);
            b.section("carry");
            puts.put(b, &place, &sums, layout.greatest_sum());
            b.warp_barrier();
            let own = gets.get(b, &place);
            let limbs = resolve_chunk(b, &place, &own);
            b.section("store");
            layout.store_chunks(b, &place, row, &limbs, layout.limbs[0]);
            b.set(turn, other);
            b.compare(Cmp::Lt, product, end)
        });
    }

    /// Starts to copy the factors of a product, as [`Layout::fetch`] does.
    fn fetch(&self, b: &mut Builder, ports: &Ports, place: &Place, product: R32, turn: R32, waiting: Option<&[R32]>) {
        let from = [0, 1].map(|i| {
            let row = self.multiplication.factor(b, ports, product, i);
            b.mad_wide(place.lane, 4 * self.layout.words_of_lane(i), row)
        });
        self.layout.fetch(b, place, from, turn, waiting);
    }

    /// Copies `b` to its columns, the bytes of each word reversed.
    fn arrange(&self, b: &mut Builder, place: &Place, waiting: Option<&[R32]>) {
        let layout = self.layout;
        let words = layout.words_of_pass();
        let pieces = BLOCK_LIMBS * layout.columns() / words;
        if layout.strips.is_some() {
            let Some(waiting) = waiting else {
                return strip::arrange_in_line(b, place, pieces, (layout.b(), self.columns));
            };
            let below = from_lane_below(b, place, waiting[waiting.len() - 1]);
            let to = strip::column_in_line(b, place);
            return in_first_lanes(b, place, pieces, |b| strip::put_piece(b, waiting, below, (to, self.columns)));
        }
        let own = b.mad_lo(place.lane, 4 * words, place.shared);
        if let Some(waiting) = waiting {
            let words = reversed(b, waiting);
            b.store_shared(&words, own, self.columns);
            return;
        }
        for pass in (0..pieces).step_by(32) {
            let copy = |b: &mut Builder| {
                let at = 4 * words * pass;
                let words = b.load_shared(vector(words), own, layout.b() + at);
                let words = reversed(b, &words);
                b.store_shared(&words, own, self.columns + at);
            };
            in_first_lanes(b, place, pieces - pass, copy);
        }
    }
}

impl Spec for LowProduct {
    fn name(&self) -> String {
        self.warps.name_of(self.multiplication)
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        vec![self.warps.stage(self.multiplication, None, |b, ports| self.write(b, ports))]
    }
}
