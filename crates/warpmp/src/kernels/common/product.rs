//! Products by one factor for all lanes: a warpgroup multiplies 64 numbers by it.
//!
//! computes   `c = a·b` for one `b`, or the low or high half of it, or `a·b` and an addend
//! launch     `128·warpgroups` threads a block, `64·warpgroups·turns` lanes; 64 a warpgroup at a time
//! cost       with `s` and `t` tiles of `a` and `b` `4·s·(t + 1)` matrix products of 64×32 by 32×128 bytes, fewer for a low half
//! registers  about 128, with two warpgroups 150
//!
//! bound: that of `tile.rs`. The addend joins the digits.

use warpmp_kernel::build::{Builder, Emit, Glue, R32};
use warpmp_kernel::ir::{Bounds, Cmp, Kernel};
use warpmp_launch::{Entry, Ports, Stage};

use super::LIMBS;
use super::layout::{Layout, MATRICES_BYTES, OWN_LIMBS, Purpose, TILE_LIMBS};
use super::matrices::Constant;
use super::rows::Span;
use super::tile::{Place, ROWS, own};
use super::turns::Turns;
use crate::kernels::warpgroup;
use crate::kernels::{Algorithm, CommonSettings, On, OperationShape, Order, Spec, With, candidates};
use crate::operation::Operation;

/// Warpgroups of a block: so many have room in the registers of a multiprocessor.
const MOST_WARPGROUPS: u32 = 4;

/// Bytes of shared memory of a block, at most: the first-level cache has the rest.
const MOST_BYTES: u32 = 192 << 10;

/// Parameters of the kernel. Parameters of its launch: the numbers, the factor, the addends if there are any, the results, lanes.
#[derive(Clone, Debug)]
struct Product {
    layout: Layout,
    turns: Turns,
    /// Limbs of the numbers.
    numbers: u32,
    /// Limbs of an addend.
    addend: Option<u32>,
    /// Which limbs of the products are the results.
    result: Span,
}

/// The row of the register.
pub(in super::super) const ALGORITHM: Algorithm = Algorithm {
    name: "tensor-common",
    summary: "one factor for all lanes: products of 64 lanes by four warps as a matrix product",
    accepts: "factors of 256·k bits, from 1024 to 8192, one of them the same for all lanes; on a GPU of sm_90",
    fits,
    order: Order::LongerFirst,
    recipe: &On(
        warpgroup::GPUS,
        With::<CommonSettings> {
            spec: |shape, settings, _| Box::new(Product::new(shape, *settings)),
            candidates: |shape| candidates::common(shape.operation),
        },
    ),
};

fn fits(shape: OperationShape) -> bool {
    use Operation as O;
    let operands = shape.operands();
    let in_parts = |it: &u32| it.is_multiple_of(OWN_LIMBS);
    let limbs: Vec<u32> = operands.iter().map(|it| it.limbs()).collect();
    matches!(shape.operation, O::Mul | O::MulLo | O::MulHi | O::MulAdd)
        && operands[1].common
        && operands.iter().enumerate().all(|(i, it)| it.common == (i == 1))
        && limbs[..2].iter().all(|it| LIMBS.contains(it))
        && limbs.iter().all(in_parts)
        && limbs.get(2).is_none_or(|&it| it <= limbs[0] + limbs[1])
        && shape.results()[0].is_multiple_of(32 * OWN_LIMBS)
}

impl Product {
    fn new(shape: OperationShape, settings: CommonSettings) -> Self {
        let limbs: Vec<u32> = shape.operands().iter().map(|it| it.limbs()).collect();
        let [numbers, factor] = [limbs[0], limbs[1]];
        let results = shape.results()[0] / 32;
        let layout = |warpgroups: u32| Layout { limbs: factor, warpgroups, purpose: Purpose::Product(numbers) };
        let warpgroups = (1..=MOST_WARPGROUPS).rev().find(|&it| layout(it).bytes() <= MOST_BYTES).unwrap_or(1);
        let layout = layout(warpgroups);
        let gap = if shape.operation == Operation::MulHi { numbers + factor - results } else { 0 };
        Self {
            layout,
            turns: Turns::new(layout, settings),
            numbers,
            addend: limbs.get(2).copied(),
            result: Span { gap, limbs: results, tiles: (gap + results).div_ceil(TILE_LIMBS) },
        }
    }

    fn kernel(&self, entry: &Entry) -> Kernel {
        let names = [&["a", "b"][..], if self.addend.is_some() { &["d"] } else { &[] }, &["c"]].concat();
        let (mut b, ports) = entry.open(&self.name(), Glue::None, &names, false);
        b.bounds(Bounds { max_threads: Some(self.layout.threads()), ..Bounds::default() });
        self.write(&mut b, &ports);
        b.finish()
    }

    fn write(&self, b: &mut Builder, ports: &Ports) {
        let layout = self.layout;
        b.section("setup");
        let place = Place::of_thread(b, layout, ports.lanes);
        let range = self.turns.begin(b, place.thread, ports.lanes);
        layout.write_matrices(b, place.thread, place.shared, Constant::row(ports.addresses[1], layout.limbs), None);
        b.proxy_fence();
        b.barrier();
        self.turns.each(b, &place, range, ports.lanes, |b, lanes| {
            b.section("load");
            let rows = |b: &mut Builder, i: usize, limbs: u32| {
                let rows = lanes.numbers.map(|lane| b.mad_wide(lane, 4 * limbs, ports.addresses[i]));
                place.own_parts(b, rows)
            };
            let numbers = rows(b, 0, self.numbers);
            let span = Span { gap: 0, limbs: self.numbers, tiles: layout.lane_tiles() };
            place.put_all(b, |b, tile, limbs| place.load(b, numbers, (tile, span), limbs));
            place.clear(b);
            let addends = self.addend.map(|limbs| rows(b, 2, limbs));
            let results = rows(b, ports.addresses.len() - 1, self.result.limbs);
            b.section("product");
            let entering: [R32; ROWS] = [0, 0].map(|_| b.copy(0));
            let column = b.copy(0);
            b.do_while(|b| {
                let addend = addends.zip(self.addend).map(|(rows, limbs)| {
                    let addend = own(b);
                    place.load(b, rows, (column, Span { gap: 0, limbs, tiles: self.result.tiles }), &addend);
                    addend
                });
                self.sums(b, &place, column);
                let limbs = place.limbs_of_sums(b, addend.as_ref(), entering);
                place.store(b, results, (column, self.result), &limbs, lanes.exist);
                b.increase(column, 1);
                b.compare(Cmp::Lt, column, self.result.tiles)
            });
        });
    }

    /// The sums of a tile of columns.
    fn sums(&self, b: &mut Builder, place: &Place, column: R32) {
        let layout = self.layout;
        // From the tile whose columns are the farthest, or the first one, to that on the diagonal, or the last one.
        let before = b.sub(column, layout.tiles());
        let is_inside = b.compare(Cmp::Ge, column, layout.tiles());
        let first = b.select(before, 0, is_inside);
        let last = b.min(column, layout.lane_tiles() - 1);
        let difference = b.sub(column, first);
        let matrices = b.add(place.matrices, layout.modulus_matrices(0) / 16);
        let matrices = b.mad_lo(difference, MATRICES_BYTES / 16, matrices);
        place.add_tiles(b, (first, last), matrices, None);
    }
}

impl Spec for Product {
    fn name(&self) -> String {
        let limbs = self.layout.limbs;
        let addend = self.addend.map_or(String::new(), |limbs| format!("_plus_{limbs}"));
        let Span { gap, limbs: results, .. } = self.result;
        let part = if gap + results < self.numbers + limbs || gap > 0 {
            format!("_from_{gap}_{results}")
        } else {
            String::new()
        };
        format!("mul_common_{}_{limbs}{addend}{part}{}", self.numbers, self.turns.name())
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        vec![Stage::new(self.turns.geometry(), |entry| self.kernel(entry))]
    }
}
