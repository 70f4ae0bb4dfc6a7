//! `walk`: rounds of Pollard's rho, several points a thread and one inversion a round.
//!
//! computes   rounds of [the walk](crate::walk) for `points` walks a thread; a walk that reaches a distinguished point
//!            is reported and begins anew from a start of the pool
//! requires   starts and table entries canonical, starts with even `y`
//! launch     `blocks` blocks of `threads` threads, the table in shared memory: `8·L·r` bytes
//! cost       a step: 5 products, a square, a share of an inversion and of a product; `24·L` bytes of global traffic
//! registers  about `10·L + 10`
//!
//! A round goes over the points in one direction. Right after a point has moved, its new denominator is multiplied into the
//! prefix product of the next round, so the next round goes in the other direction: a step reads `x`, `y` and the prefix
//! product, and writes the three. A number of the next point is asked for as soon as that of this point has served: the registers are
//! the same, and the other warps work while it comes.
//!
//! The function is that of [`crate::walk`], with its flag: an odd `y` says that the point is doubled next. A point with the abscissa of
//! its entry gets the flag too. All that is rare stands behind two branches that warps seldom take.
//!
//! bound: the inverse and all prefix products are lazy, below `17p/16`; see `curve.rs`.
//!
//! source: Montgomery 1987 for inversions together; the walk: see [`crate::walk`]. Rounds in two directions are ours.

use warpmp_device::Grid;
use warpmp_kernel::build::{Builder, Emit, Glue, Pred, R32, R64};
use warpmp_kernel::fragment::{assign, select};
use warpmp_kernel::ir::{Bounds, Cmp, Kernel, Space, Special, Vector};
use warpmp_launch::{Address, Long, Word, parameters};

use super::curve::{Constants, Curve, add, below, odd, same};
use super::numbers::{Columns, Table};

/// Words before the records of a report: the number of reports, then the number of starts taken.
pub const HEADER_WORDS: usize = 4;

parameters! {
    /// The parameters of [`Walk`].
    pub(crate) struct Inputs, Arguments {
        /// For each point of a thread `x`, `y` and the prefix product, each of all threads side by side.
        state: Address,
        /// The table: `x` and `y` of all entries, side by side.
        table: Address,
        /// A walk's start, 64 bits; all ones for a walk without a start, whose report is void.
        seeds: Address,
        /// Starts: rows of `x` and `y`.
        pool: Address,
        /// The number of the pool's first start.
        first: Long,
        /// Starts in the pool.
        size: Word,
        /// Two counters, padding, records.
        report: Address,
        /// Records that there is room for.
        capacity: Word,
        /// Rounds of this launch, at least one.
        rounds: Word,
        /// The smallest point of each walk: `x` and `y`, as the state's.
        smallest: Option<Address>,
    }
}

/// Parameters of the kernel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Walk {
    /// The curve.
    pub constants: Constants,
    /// The table has `2^branch_bits` entries.
    pub branch_bits: u32,
    /// Bits of `x` that are zero in a distinguished point.
    pub distinguished_bits: u32,
    /// The first of these bits.
    pub shift: u32,
    /// Points a thread.
    pub points: u32,
    /// Threads a block.
    pub threads: u32,
    /// Blocks.
    pub blocks: u32,
    /// Does it keep the smallest point of each walk?
    pub watched: bool,
}

/// What stays in registers through a launch.
struct Thread<'k> {
    kernel: &'k Walk,
    inputs: Inputs,
    curve: Curve,
    table: Table,
    columns: Columns,
    column: R32,
}

/// A point of the thread, by address and number.
struct Place {
    /// Where the numbers of the point's row begin.
    row: R64,
    /// The walk's number.
    walk: R32,
}

impl Walk {
    /// The launch.
    pub const fn grid(&self) -> Grid {
        let shared_bytes = 2 * self.entries().bytes();
        Grid { blocks: self.blocks, threads: self.threads, shared_bytes }
    }

    /// Walks of a launch.
    pub const fn walks(&self) -> u32 {
        self.columns().stride * self.points
    }

    /// Words of a record of a report: the start (2), `x`.
    pub const fn record_words(&self) -> usize {
        2 + self.constants.limbs as usize
    }

    pub(crate) const fn columns(&self) -> Columns {
        Columns { limbs: self.constants.limbs, stride: self.blocks * self.threads }
    }

    pub(crate) const fn entries(&self) -> Columns {
        Columns { limbs: self.constants.limbs, stride: 1 << self.branch_bits }
    }

    /// Writes the kernel.
    pub fn build(&self) -> Kernel {
        let name = format!("walk_{}{}", self.constants.name(), if self.watched { "_watched" } else { "" });
        let mut b = Builder::new(&name, Glue::Every(1));
        b.bounds(Bounds { max_threads: Some(self.threads), min_blocks: Some(1), ..Bounds::default() });
        let inputs = Inputs::of(&mut b, self.watched);
        b.section("setup");
        let thread = b.special(Special::Tid);
        let block = b.special(Special::Ctaid);
        let column = b.mad_lo(block, self.threads, thread);
        let table = Table::fill(&mut b, inputs.table, thread, self.threads, self.entries());
        let curve = Curve::new(&mut b, &self.constants, column);
        let thread = Thread { kernel: self, inputs, curve, table, columns: self.columns(), column };
        thread.all(&mut b);
        b.finish()
    }
}

impl Thread<'_> {
    /// Bytes of a row: `x`, `y` and the prefix products of one point of each thread.
    fn row_bytes(&self) -> u32 {
        3 * self.columns.bytes()
    }

    fn all(&self, b: &mut Builder) {
        let product = self.curve.one(b);
        let place = Place { row: b.copy64(self.inputs.state), walk: b.copy(self.column) };
        b.section("prefix products");
        let up = b.copy64(u64::from(self.row_bytes()));
        let last = self.kernel.points - 1;
        self.each(b, &place, up, |b, row, _| {
            let [x, y] = [0, 1].map(|i| self.columns.load(b, row, self.column, i));
            self.columns.store(b, row, self.column, 2, &product);
            self.multiply_denominator(b, &product, &x, &y);
            self.columns.store(b, row, self.column, 1, &y);
        });
        // The first round begins where the prefix products end.
        let row = b.add64(self.inputs.state, u64::from(last) * u64::from(self.row_bytes()));
        b.set64(place.row, row);
        let walk = b.add(self.column, last * self.columns.stride);
        b.set(place.walk, walk);
        let step = b.sub64(0, up);
        let walk_step = b.copy((self.columns.stride).wrapping_neg());
        let round = b.copy(0);
        b.do_while(|b| {
            self.round(b, &place, step, walk_step, &product);
            let back = b.sub64(0, step);
            b.set64(step, back);
            let back = b.sub(0, walk_step);
            b.set(walk_step, back);
            b.increase(round, 1);
            b.compare(Cmp::Lt, round, self.inputs.rounds)
        });
    }

    /// All points of the thread in one direction; the place ends behind the last.
    fn each(&self, b: &mut Builder, place: &Place, step: R64, body: impl FnOnce(&mut Builder, R64, R32)) {
        let index = b.copy(0);
        b.do_while(|b| {
            body(b, place.row, index);
            b.increase64(place.row, step);
            b.increase(index, 1);
            b.compare(Cmp::Lt, index, self.kernel.points)
        });
    }

    /// A round: one step of every point. The place is that of the last point of a direction, and in the end of the other.
    fn round(&self, b: &mut Builder, place: &Place, step: R64, walk_step: R32, product: &[R32]) {
        let Self { curve, columns, column, kernel, .. } = self;
        b.section("inversion");
        let inverse = curve.invert(b, product);
        let one = curve.one(b);
        assign(b, product, &one);
        b.section("round");
        let [x, y, prefix] = [0, 1, 2].map(|i| columns.load(b, place.row, *column, i));
        let index = b.copy(1);
        b.do_while(|b| {
            // The next point, or the last one again.
            let more = b.compare(Cmp::Lt, index, kernel.points);
            let row = b.add64(place.row, step);
            let row = b.select64(row, place.row, more);
            let [x3, y3] = self.step(b, place, row, [&x, &y, &prefix], &inverse);
            columns.store(b, place.row, *column, 0, &x3);
            columns.store(b, place.row, *column, 2, product);
            self.multiply_denominator(b, product, &x3, &y3);
            columns.store(b, place.row, *column, 1, &y3);
            b.set64(place.row, row);
            b.increase(place.walk, walk_step);
            b.increase(index, 1);
            b.compare(Cmp::Le, index, kernel.points)
        });
        b.decrease(place.walk, walk_step);
    }

    /// The branch of a point.
    fn branch(&self, b: &mut Builder, x: &[R32]) -> R32 {
        b.and(x[0], (1 << self.kernel.branch_bits) - 1)
    }

    /// `product := product·d`, `d` the denominator of the point's next step. A point with the abscissa of its entry is doubled: `y` gets
    /// the flag.
    fn multiply_denominator(&self, b: &mut Builder, product: &[R32], x: &[R32], y: &[R32]) {
        let branch = self.branch(b, x);
        let entry = self.table.load(b, branch, 0);
        let denominator = self.curve.difference(b, &entry, x);
        let flagged = odd(b, y);
        let same = same(b, x, &entry);
        let doubles = b.or_pred(flagged, same);
        b.if_(doubles, |b| {
            let flagged = odd(b, y);
            let flag = self.curve.negate(b, y);
            let flag = select(b, flagged, y, &flag);
            assign(b, y, &flag);
            let twice = add(b, y, y);
            assign(b, &denominator, &twice);
        });
        let next = self.curve.mul(b, product, &denominator);
        assign(b, product, &next);
    }

    /// One step of a point: the new point. `inverse` becomes the inverse of the points that are left, and the point becomes that of the
    /// row `next`: each number is asked for as soon as the old one has served.
    fn step(
        &self,
        b: &mut Builder,
        place: &Place,
        next: R64,
        [x, y, prefix]: [&[R32]; 3],
        inverse: &[R32],
    ) -> [Vec<R32>; 2] {
        let curve = &self.curve;
        let branch = self.branch(b, x);
        let other = self.table.load(b, branch, 0);
        let ordinate = self.table.load(b, branch, 1);
        let doubles = odd(b, y);
        let denominator = curve.difference(b, &other, x);
        let rise = curve.difference(b, &ordinate, y);
        b.if_(doubles, |b| {
            let twice = add(b, y, y);
            assign(b, &denominator, &twice);
            let tangent = curve.tangent(b, x);
            assign(b, &rise, &tangent);
            assign(b, &other, x);
        });
        let own = curve.own(b, inverse, prefix);
        self.columns.load_into(b, next, self.column, 2, prefix);
        let rest = curve.mul(b, inverse, &denominator);
        assign(b, inverse, &rest);
        let slope = curve.slope(b, &rise, &own);
        let [x3, y3] = curve.chord(b, [x, y], &other, &slope);
        self.columns.load_into(b, next, self.column, 0, x);
        self.columns.load_into(b, next, self.column, 1, y);
        let flipped = odd(b, &y3);
        let opposite = curve.negate(b, &y3);
        let y3 = select(b, flipped, &opposite, &y3);
        // A cycle of two points: the sign was changed, and the branch is the same.
        let new_branch = self.branch(b, &x3);
        let back = b.compare(Cmp::Eq, new_branch, branch);
        let added = b.not_pred(doubles);
        let back = b.and_pred(back, flipped);
        let back = b.and_pred(back, added);
        let distinguished = self.distinguished(b, &x3);
        let rare = b.or_pred(back, distinguished);
        b.if_(rare, |b| {
            b.if_(back, |b| self.turn(b, place, [&x3, &y3]));
            let ahead = b.not_pred(back);
            let reported = b.and_pred(distinguished, ahead);
            b.if_(reported, |b| self.report(b, place, [&x3, &y3]));
        });
        self.watch(b, place, [&x3, &y3]);
        [x3, y3]
    }

    /// A point that leads back becomes the smaller one of the two, to be doubled. The old one is still in memory.
    fn turn(&self, b: &mut Builder, place: &Place, [x, y]: [&[R32]; 2]) {
        let [x_old, y_old] = [0, 1].map(|i| self.columns.load(b, place.row, self.column, i));
        let smaller = below(b, &x_old, x);
        let [x_min, y_min] = [(&x_old, x), (&y_old, y)].map(|(old, new)| select(b, smaller, old, new));
        let flag = self.curve.negate(b, &y_min);
        assign(b, x, &x_min);
        assign(b, y, &flag);
    }

    /// Is a point distinguished?
    fn distinguished(&self, b: &mut Builder, x: &[R32]) -> Pred {
        let Walk { distinguished_bits, shift, .. } = *self.kernel;
        let bits = b.shr(x[(shift / 32) as usize], shift % 32);
        let mask = ((1_u64 << distinguished_bits) - 1) as u32;
        let bits = b.and(bits, mask);
        b.compare(Cmp::Eq, bits, 0)
    }

    /// Reports a distinguished point and begins anew.
    fn report(&self, b: &mut Builder, place: &Place, [x, y]: [&[R32]; 2]) {
        let Inputs { seeds, pool, first, size, report, capacity, .. } = self.inputs;
        let seed_at = b.mad_wide(place.walk, 8, seeds);
        let seed = b.load_global(Space::Global, Vector::V2, seed_at, 0);
        let void = b.and(seed[0], seed[1]);
        let true_seed = b.compare(Cmp::Ne, void, u32::MAX);
        b.if_(true_seed, |b| {
            let slot = b.atomic_add_global(report, 0, 1);
            let room = b.compare(Cmp::Lt, slot, capacity);
            b.if_(room, |b| {
                let record = b.mad_wide(slot, 4 * self.kernel.record_words() as u32, report);
                let header = 4 * HEADER_WORDS as u32;
                for (i, &word) in (0..).zip(seed.iter().chain(x)) {
                    b.store_global(Space::Global, &[word], record, header + 4 * i);
                }
            });
        });
        let number = b.atomic_add_global(report, 4, 1);
        let left = b.compare(Cmp::Lt, number, size);
        let start = b.widen(number);
        let start = b.add64(start, first);
        let start = b.select64(start, u64::MAX, left);
        let (low, high) = b.unpack(start);
        b.store_global(Space::Global, &[low, high], seed_at, 0);
        b.if_(left, |b| {
            let limbs = self.columns.limbs;
            let row = b.mad_wide(number, 8 * limbs, pool);
            for (coordinate, number) in [x, y].into_iter().enumerate() {
                for (limb, &register) in number.iter().enumerate() {
                    let offset = 4 * (coordinate as u32 * limbs + limb as u32);
                    b.load_into(Space::Global, Vector::V1, &[register], row, offset);
                }
            }
        });
    }

    /// Keeps the smallest point of the walk.
    fn watch(&self, b: &mut Builder, place: &Place, [x, y]: [&[R32]; 2]) {
        let Some(smallest) = self.inputs.smallest else { return };
        let Self { columns, column, .. } = self;
        // The walk's number is its row times the stride plus its column.
        let first = b.sub(place.walk, *column);
        let row = b.mad_wide(first, 8 * columns.limbs, smallest);
        let flagged = odd(b, y);
        let plain = b.not_pred(flagged);
        let known = columns.load(b, row, *column, 0);
        let smaller = below(b, x, &known);
        let smaller = b.and_pred(smaller, plain);
        b.if_(smaller, |b| {
            columns.store(b, row, *column, 0, x);
            columns.store(b, row, *column, 1, y);
        });
    }
}
