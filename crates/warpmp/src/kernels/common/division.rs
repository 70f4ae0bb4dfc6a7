//! The kernel of division by one divisor for all lanes, and the steps around it.
//!
//! computes   `q = ⌊x / d⌋` if asked for, and `r = x mod d`
//! requires   `d`, whose highest limb is not zero, and `⌊(B^(2L+2) − 1) / d⌋`, a row each
//! launch     `128·warpgroups` threads a block, `64·warpgroups·turns` lanes; 64 a warpgroup at a time
//! cost       that of [`Divider`] for 64 lanes
//! registers  about 160
//!
//! The reciprocal is computed once a launch, by one warp. A divisor whose highest limb is zero has another kernel, which divides by rows and ends at once
//! where it is not.

use warpmp_kernel::build::{Builder, Emit, Glue, R32};
use warpmp_kernel::ir::{Bounds, Kernel, Space, Vector};
use warpmp_launch::{Entry, Ports, Stage};

use super::divider::{Divider, Rows};
use super::layout::{Layout, Purpose};
use super::matrices::Constant;
use super::tile::Place;
use super::turns::Turns;
use super::{SHORT_TILES, TILE_LIMBS};
use crate::kernels::long::{Line, Number, Source, Steps, exact_quotient, quotient_of_short};
use crate::kernels::modular::division::{Division, Parts};
use crate::kernels::{CommonSettings, LongSettings, OperationShape, Spec};
use crate::operation::{Operation, Status};

/// Limbs of a thread of the kernels that divide by rows, at least and at most.
const ROW_LIMBS: [u32; 2] = [3, 8];

/// Limbs of the reciprocal below those that are multiplied.
const BELOW: u32 = 2;

/// Parameters of the kernel. Parameters of its launch: `x`, `d`, the reciprocal, `q` if it is asked for, `r`, statuses, lanes.
#[derive(Clone, Debug)]
struct Divided {
    layout: Layout,
    turns: Turns,
    /// Limbs of a dividend.
    dividend: u32,
    has_quotients: bool,
}

/// What is divided.
enum Dividend {
    Operand,
    Product,
    Square,
}

impl Dividend {
    fn of(operation: Operation) -> Self {
        if operation == Operation::MulMod {
            Self::Product
        } else if operation == Operation::SqrMod {
            Self::Square
        } else {
            Self::Operand
        }
    }
}

/// Limbs of the dividends.
pub(super) fn dividend_limbs(shape: OperationShape) -> u32 {
    let limbs = |i: usize| shape.operands()[i].limbs();
    match Dividend::of(shape.operation) {
        Dividend::Operand => limbs(0),
        Dividend::Product => limbs(0) + limbs(1),
        Dividend::Square => 2 * limbs(0),
    }
}

/// The steps of quotients and remainders, of one of them, and of products modulo a number.
pub(super) fn division(shape: OperationShape, settings: CommonSettings) -> Box<dyn Spec> {
    let mut steps = Steps::new(shape, LongSettings::default()).of_common();
    let last = shape.operands().len() - 1;
    let divisor = steps.operand(last);
    let limbs = divisor.limbs;
    let dividend = match Dividend::of(shape.operation) {
        Dividend::Operand => steps.operand(0),
        Dividend::Product => steps.product(steps.operand(0), steps.operand(1)),
        Dividend::Square => steps.product(steps.operand(0), steps.operand(0)),
    };
    let is_exact = shape.operation == Operation::DivExact;
    let has_quotients = is_exact || shape.operation == Operation::DivRem;
    let results: Vec<Number> = if is_exact {
        [dividend.limbs, limbs, 1].map(|limbs| steps.reserve(limbs)).to_vec()
    } else {
        (0..shape.results().len()).map(|i| steps.result(i).row).collect()
    };
    let (usual, short, reciprocal) = steps.shared(true, |steps| {
        let [usual, short] = [0, 1].map(|_| steps.reserve(1));
        let highest = divisor.section(limbs - 1, 1);
        // 0 or 1.
        steps.line(Line::order(highest.source(), Source::constant(0), 1, usual));
        steps.line(Line::copy(Source::constant(1).kept_where(usual.bit(0).not()), short.place(32)));
        let ones = steps.part(Source::constant(0).turned(), 2 * limbs + BELOW);
        (usual, short, quotient_of_short(steps, [ones, divisor], ROW_LIMBS))
    });
    let tiles = limbs.div_ceil(TILE_LIMBS);
    let warpgroups = if tiles <= SHORT_TILES { 3 } else { 2 };
    let layout = Layout { limbs, warpgroups, purpose: Purpose::Division };
    let divided = Divided { layout, turns: Turns::new(layout, settings), dividend: dividend.limbs, has_quotients };
    steps.only_where(usual, |steps| {
        steps.push(Box::new(divided), [dividend, divisor, reciprocal].into_iter().chain(results.clone()));
    });
    steps.only_where(short, |steps| {
        let layout = steps.short_layout(limbs, ROW_LIMBS);
        let parts = if has_quotients { Parts::Both } else { Parts::Remainder };
        let [a, d] = [dividend, divisor].map(|it| steps.operand_shape(it));
        let division = Division { layout, ..Division::new(a, d, parts) };
        steps.push(Box::new(division), [dividend, divisor].into_iter().chain(results.clone()));
    });
    if let (true, &[whole, rest, fault]) = (is_exact, &results[..]) {
        let results = [0, 1].map(|i| steps.result(i));
        exact_quotient(&mut steps, [whole, rest, fault], results);
    }
    steps.finish()
}

impl Divided {
    fn kernel(&self, entry: &Entry) -> Kernel {
        let names = [&["x", "d", "reciprocal"][..], &["q", "r", "status"][usize::from(!self.has_quotients)..]].concat();
        let (mut b, ports) = entry.open(&self.name(), Glue::None, &names, false);
        b.bounds(Bounds { max_threads: Some(self.layout.threads()), ..Bounds::default() });
        self.write(&mut b, &ports);
        b.finish()
    }

    fn write(&self, b: &mut Builder, ports: &Ports) {
        let layout = self.layout;
        b.section("setup");
        let [dividends, divisor, reciprocal] = ports.first();
        let place = Place::of_thread(b, layout, ports.lanes);
        let highest = b.load_global(Space::Global, Vector::V1, divisor, 4 * (layout.limbs - 1))[0];
        let bits = b.bfind(highest);
        let distance = b.sub(31, bits);
        let below: Vec<R32> =
            (0..=BELOW).map(|i| b.load_global(Space::Global, Vector::V1, reciprocal, 4 * i)[0]).collect();
        let lowest = [0, 1].map(|i| b.funnel_right(below[i], below[i + 1], distance));
        let range = self.turns.begin(b, place.thread, ports.lanes);
        let inverse = Constant { row: reciprocal, limbs: layout.limbs, down: Some((BELOW, distance)) };
        layout.write_matrices(b, place.thread, place.shared, Constant::row(divisor, layout.limbs), Some(inverse));
        b.proxy_fence();
        b.barrier();
        let divider = Divider { place: &place, dividend: self.dividend, distance, lowest };
        self.turns.each(b, &place, range, ports.lanes, |b, lanes| {
            let mut results = ports.addresses[3..].iter().copied();
            let mut rows = |b: &mut Builder, limbs: u32| {
                let first = results.next().expect("there is an address for each result");
                lanes.numbers.map(|lane| b.mad_wide(lane, 4 * limbs, first))
            };
            let quotients = self.has_quotients.then(|| rows(b, self.dividend));
            let remainders = rows(b, layout.limbs);
            let statuses = rows(b, 1);
            let dividends = lanes.numbers.map(|lane| b.mad_wide(lane, 4 * self.dividend, dividends));
            divider.divide(b, &Rows { dividends, quotients, remainders, exist: lanes.exist });
            b.section("status");
            let fine = b.copy(Status::Fine.code());
            for (exists, to) in lanes.exist.into_iter().zip(statuses) {
                let first = b.and_pred(place.is_lowest, exists);
                b.guarded(first, true, |g| g.store_global(Space::Global, &[fine], to, 0));
            }
        });
    }
}

impl Spec for Divided {
    fn name(&self) -> String {
        let limbs = self.layout.limbs;
        let results = if self.has_quotients { "div_rem" } else { "rem" };
        format!("{results}_common_{}_{limbs}{}", self.dividend, self.turns.name())
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        vec![Stage::new(self.turns.geometry(), |entry| self.kernel(entry))]
    }
}
