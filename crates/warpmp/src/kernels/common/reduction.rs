//! The kernel of Montgomery's reduction modulo one number for all lanes.
//!
//! computes   `t/R mod m` for `t < m·R`, `R = B^N`, `N` limbs of `m`; zero where a lane's status is not fine
//! requires   `m` and its inverse modulo `R`, a row each
//! launch     `128·warpgroups` threads a block, `64·warpgroups·turns` lanes; 64 a warpgroup at a time
//! cost       that of [`Reducer`] for 64 lanes
//! registers  about 150

use warpmp_kernel::build::{Builder, Emit, Glue, R32};
use warpmp_kernel::ir::{Bounds, Cmp, Kernel, Space, Vector};
use warpmp_launch::{Entry, Ports, Stage};

use super::layout::Layout;
use super::matrices::Constant;
use super::reducer::{Numbers, Reducer, Target};
use super::status::{COMPARED, Checked};
use super::tile::{NEXT_ROW, Place, ROWS};
use super::turns::Turns;
use crate::kernels::Spec;
use crate::operation::Status;

/// Parameters of the kernel. Parameters of its launch: the rows, `m`, its inverse, the result, statuses, lanes.
#[derive(Clone, Debug)]
pub(super) struct Reduction {
    pub(super) layout: Layout,
    pub(super) turns: Turns,
    /// Does `t` have an upper half?
    pub(super) is_double: bool,
    pub(super) checked: Checked,
}

/// The numbers that a turn reads, as far as a thread has loaded them.
pub(super) struct Turn {
    /// Number of the thread's first lane. The launch may have fewer lanes.
    pub(super) lane: R32,
    numbers: Numbers,
    /// Highest limbs of a number that must be below the modulus.
    pub(super) highest: Vec<R32>,
}

impl Reduction {
    fn kernel(&self, entry: &Entry) -> Kernel {
        let factors: &[&str] = match &self.checked {
            Checked::Itself => &[],
            Checked::Factors(factors) => &["a", "b"][..factors.len()],
        };
        let names = [&["t"], factors, &["m", "i", "c", "status"]].concat();
        let (mut b, ports) = entry.open(&self.name(), Glue::None, &names, false);
        b.bounds(Bounds { max_threads: Some(self.layout.threads()), ..Bounds::default() });
        self.write(&mut b, &ports);
        b.finish()
    }

    fn write(&self, b: &mut Builder, ports: &Ports) {
        let layout = self.layout;
        b.section("setup");
        let place = Place::of_thread(b, layout, ports.lanes);
        let [start, end] = self.turns.begin(b, place.thread, ports.lanes);
        let reducer = Reducer { place: &place, is_double: self.is_double };
        let turn = Turn {
            lane: place.first_lane(b, start),
            numbers: Numbers::new(b),
            highest: (0..COMPARED).map(|_| b.register()).collect(),
        };
        self.begin(b, ports, &reducer, &turn);
        let modulus = self.factors() + 1;
        let [modulus, inverse] = [0, 1].map(|i| ports.addresses[modulus + i]);
        let [modulus, inverse] = [modulus, inverse].map(|row| Constant::row(row, layout.limbs));
        layout.write_matrices(b, place.thread, place.shared, modulus, Some(inverse));
        b.proxy_fence();
        b.barrier();
        let of_modulus = self.status_of_modulus(b, &place);
        let has_lanes = |b: &mut Builder| b.compare(Cmp::Lt, start, end);
        b.while_(has_lanes, |b| {
            let statuses = self.statuses(b, ports, &place, &turn, of_modulus);
            let negative = reducer.reduce(b, &turn.numbers);
            let lane = b.copy(turn.lane);
            b.increase(start, self.turns.stride());
            b.increase(turn.lane, self.turns.stride());
            self.begin(b, ports, &reducer, &turn);
            self.finish(b, ports, &reducer, lane, negative, statuses);
        });
    }

    /// Starts to load a turn's numbers. In the place of lanes that the launch does not have its last lane is read.
    fn begin(&self, b: &mut Builder, ports: &Ports, reducer: &Reducer<'_>, turn: &Turn) {
        b.section("load");
        let place = reducer.place;
        let last = b.sub(ports.lanes, 1);
        let numbers = reducer.rows(b, ports.addresses[0], (turn.lane, last));
        // Two lanes of four have the numbers of the first row, and two those of the second one.
        let second = b.shr(place.member, 1);
        let lane = b.mad_lo(second, NEXT_ROW, turn.lane);
        let lane = b.min(lane, last);
        let rows = self.checked_rows(b, ports, lane);
        let row = if let [first, second] = rows[..] {
            let odd = b.and(place.member, 1);
            let is_second = b.compare(Cmp::Ne, odd, 0);
            b.select64(second, first, is_second)
        } else {
            rows[0]
        };
        b.load_into(Space::Global, Vector::V2, &turn.highest, row, 4 * (self.layout.limbs - COMPARED));
        reducer.begin(b, numbers, &turn.numbers);
    }

    /// Stores the results, zero unless the status is fine, and the statuses.
    fn finish(
        &self,
        b: &mut Builder,
        ports: &Ports,
        reducer: &Reducer<'_>,
        lane: R32,
        negative: [R32; ROWS],
        statuses: [R32; ROWS],
    ) {
        b.section("store");
        let result = self.factors() + 3;
        let lanes = [lane, b.add(lane, NEXT_ROW)];
        let exists = lanes.map(|lane| b.compare(Cmp::Lt, lane, ports.lanes));
        let rows = lanes.map(|lane| b.mad_wide(lane, 4 * self.layout.limbs, ports.addresses[result]));
        let fine = statuses.map(|status| b.compare(Cmp::Eq, status, Status::Fine.code()));
        reducer.store(b, negative, &Target { rows, exists, kept: Some(fine) });
        for row in 0..ROWS {
            let to = b.mad_wide(lanes[row], 4, ports.addresses[result + 1]);
            let first = b.and_pred(reducer.place.is_lowest, exists[row]);
            b.guarded(first, true, |g| g.store_global(Space::Global, &[statuses[row]], to, 0));
        }
    }
}

impl Spec for Reduction {
    fn name(&self) -> String {
        let limbs = self.layout.limbs;
        let checked: String = match &self.checked {
            Checked::Itself => (if self.is_double { "_double" } else { "" }).into(),
            Checked::Factors(factors) => factors.iter().map(|it| it.name()).collect(),
        };
        format!("reduction_{limbs}{checked}{}", self.turns.name())
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        vec![Stage::new(self.turns.geometry(), |entry| self.kernel(entry))]
    }
}
