//! Montgomery's reduction modulo one number for all lanes: a warpgroup reduces 64 numbers at a time.
//!
//! computes   `t/R mod m` for `t < m·R`, `R = B^N`, `N` limbs of `m`; zero where a lane's status is not fine
//! requires   `m` and its inverse modulo `R`, a row each
//! launch     `128·warpgroups` threads a block, `64·warpgroups·turns` lanes; 64 a warpgroup at a time
//! cost       with `s` tiles `4·s·(s + 1)` matrix products of 64×32 by 32×128 bytes for 64 lanes, and `4·s` of 32×16
//! registers  about 150
//!
//! With `x = 1/m mod R` and `q = (t mod R)·x mod R` the lower halves of `t` and `q·m` are equal. So `t/R` is the difference `d` of the upper halves, above
//! `−m` and below `m`; where it is negative, `m` is added. Of `q` only the columns below `R` are computed, of `q·m` those from `R` on: tiles of one side
//! of the diagonal, and on it. What the lower half of `q·m` carries is not known from these. But its lower columns are `t mod R` more than a
//! multiple of `R`, and four columns below `R` tell which: without the others, and without all but the highest limb of `t mod R`, the difference is
//! wrong by less than `R/2`. So the carry is the nearest integer.
//!
//! The upper half of `t` joins the columns as its complement. So what leaves the tiles tells the sign of `d`, and the tiles are the complement of `d`.
//!
//! bound: the columns left out sum to less than `s_max·2⁻⁴⁰·256/255·R < 2⁻¹³·R`, where `s_max < 2²⁶`, and the limbs of `t mod R` below the highest one to less than
//! `2⁻³²·R`.

use warpmp_kernel::build::{Builder, Emit, Glue, Pred, R32, R64};
use warpmp_kernel::fragment::{Carries, all_ones, wrapping_add_small};
use warpmp_kernel::ir::{Bounds, Cmp, Kernel, Shuffle, Space, Special, Vector};
use warpmp_launch::{Entry, Geometry, Ports, Stage};

use super::layout::{Layout, MATRICES_BYTES, OWN_LIMBS, TILE_BYTES, TILE_LIMBS};
use super::status::{COMPARED, Checked};
use super::tile::{DIGIT_GROUPS, GROUP_SUMS, Own, Place, QUAD, ROWS, TILE_GROUPS};
use crate::kernels::Spec;
use crate::kernels::warpgroup::THREADS;
use crate::operation::Status;

/// Numbers that a warpgroup reduces at a time.
pub(super) const GROUP_LANES: u32 = 64;

/// From a thread's first row to its second one.
pub(super) const NEXT_ROW: u32 = 8;

/// Parameters of the kernel. Parameters of its launch: the rows, `m`, its inverse, the result, statuses, lanes.
#[derive(Clone, Debug)]
pub(super) struct Reduction {
    pub(super) layout: Layout,
    /// How many times 64 lanes a warpgroup reduces.
    pub(super) turns: u32,
    /// Does `t` have an upper half?
    pub(super) is_double: bool,
    pub(super) checked: Checked,
}

/// The numbers that a turn reads, as far as a thread has loaded them.
pub(super) struct Turn {
    /// Number of the thread's first lane. The launch may have fewer lanes.
    pub(super) lane: R32,
    /// The thread's parts of `t`, from its first limb on.
    t: [R64; ROWS],
    /// Its limbs of the first tile of `t`.
    first: Own,
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
        let place = Place::new(b, layout, ports.lanes);
        let group = b.shr(place.thread, THREADS.ilog2());
        let block = b.special(Special::Ctaid);
        let group = b.mad_lo(block, self.turns * layout.warpgroups, group);
        let start = b.mul_lo(group, GROUP_LANES);
        let end = b.add(start, self.turns * layout.warpgroups * GROUP_LANES);
        let end = b.min(end, ports.lanes);
        let warp = b.shr(place.thread, 5);
        let warp = b.and(warp, 3);
        let row = b.mad_lo(warp, 16, place.group);
        let turn = Turn {
            lane: b.add(start, row),
            t: [0, 0].map(|_| b.register()),
            first: own(b),
            highest: (0..COMPARED).map(|_| b.register()).collect(),
        };
        self.begin(b, ports, &place, &turn);
        let modulus = self.factors() + 1;
        let [modulus, inverse] = [0, 1].map(|i| ports.addresses[modulus + i]);
        layout.write_matrices(b, place.thread, place.shared, [modulus, inverse]);
        b.proxy_fence();
        b.barrier();
        let of_modulus = self.status_of_modulus(b, &place);
        let has_lanes = |b: &mut Builder| b.compare(Cmp::Lt, start, end);
        b.while_(has_lanes, |b| {
            let statuses = self.statuses(b, ports, &place, &turn, of_modulus);
            let highest = self.quotient(b, &place, &turn);
            let negative = self.upper_half(b, &place, &turn, highest);
            let lane = b.copy(turn.lane);
            let stride = layout.warpgroups * GROUP_LANES;
            b.increase(start, stride);
            b.increase(turn.lane, stride);
            self.begin(b, ports, &place, &turn);
            self.finish(b, ports, &place, lane, negative, statuses);
        });
    }

    /// Limbs of a row of `t`.
    pub(super) fn length(&self) -> u32 {
        if self.is_double { 2 * self.layout.limbs } else { self.layout.limbs }
    }

    /// The greatest sum of a column.
    fn greatest_sum(&self) -> u64 {
        u64::from(TILE_BYTES * self.layout.tiles()) * 255 * 255
    }

    /// Starts to load a turn's numbers. In the place of lanes that the launch does not have its last lane is read.
    fn begin(&self, b: &mut Builder, ports: &Ports, place: &Place, turn: &Turn) {
        b.section("load");
        let last = b.sub(ports.lanes, 1);
        let own = b.mul_lo(place.member, 4 * OWN_LIMBS);
        for (row, &to) in (0..).step_by(NEXT_ROW as usize).zip(&turn.t) {
            let lane = b.add(turn.lane, row);
            let lane = b.min(lane, last);
            let row = b.mad_wide(lane, 4 * self.length(), ports.addresses[0]);
            let row = b.mad_wide(own, 1, row);
            b.set64(to, row);
        }
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
        let tile = b.copy(0);
        self.load(b, place, turn.t, (tile, self.layout.gap()), &turn.first);
    }

    /// Loads a thread's limbs of tile `tile` of rows in global memory. Limb `gap` of the tiles is at the addresses; those below and above the row are zero.
    fn load(&self, b: &mut Builder, place: &Place, rows: [R64; ROWS], (tile, gap): (R32, u32), to: &Own) {
        let inside = self.has_limbs(b, place, tile, gap);
        for (row, to) in rows.into_iter().zip(to) {
            let from = b.mad_wide(tile, TILE_BYTES, row);
            let from = if gap == 0 { from } else { b.sub64(from, u64::from(4 * gap)) };
            for (words, at) in to.chunks(4).zip((0..).step_by(16)) {
                match inside {
                    None => b.load_into(Space::Global, Vector::V4, words, from, at),
                    Some(inside) => {
                        for &word in words {
                            b.set(word, 0);
                        }
                        b.guarded(inside, true, |g| g.load_into(Space::Global, Vector::V4, words, from, at));
                    }
                }
            }
        }
    }

    /// Has the thread limbs of tile `tile` of a number that begins with limb `gap` of the tiles? None: all threads have.
    fn has_limbs(&self, b: &mut Builder, place: &Place, tile: R32, gap: u32) -> Option<Pred> {
        (self.layout.gap() > 0).then(|| {
            let member = b.mad_lo(tile, QUAD, place.member);
            let member = b.sub(member, gap / OWN_LIMBS);
            b.compare(Cmp::Lt, member, self.layout.limbs / OWN_LIMBS)
        })
    }

    /// Sets the tiles to those of `q`. The highest limb of `t mod R`, the highest of four lanes knows.
    fn quotient(&self, b: &mut Builder, place: &Place, turn: &Turn) -> [R32; ROWS] {
        b.section("quotient");
        let loaded = &turn.first;
        let load = |b: &mut Builder, tile: R32| self.load(b, place, turn.t, (tile, self.layout.gap()), loaded);
        let [entering, highest] = [0, 0].map(|_| [0, 0].map(|_| b.copy(0)));
        let column = b.copy(0);
        let words = own(b);
        b.do_while(|b| {
            place.copy(b, loaded, &words);
            for (highest, row) in highest.into_iter().zip(loaded) {
                b.set(highest, row[OWN_LIMBS as usize - 1]);
            }
            // The tile on the diagonal first: it is there. Those below have been loaded before, so they come soon.
            place.start(b, &place.sums, &words, (place.matrices, 0), place.never);
            let tile = b.copy(0);
            let matrices = b.mad_lo(column, MATRICES_BYTES / 16, place.matrices);
            let has_more = |b: &mut Builder| b.compare(Cmp::Lt, tile, column);
            b.while_(has_more, |b| {
                load(b, tile);
                b.wgmma_wait(0);
                place.copy(b, loaded, &words);
                place.start(b, &place.sums, &words, (matrices, 0), place.always);
                b.decrease(matrices, MATRICES_BYTES / 16);
                b.increase(tile, 1);
            });
            b.wgmma_wait(0);
            let next = b.add(column, 1);
            let more = b.compare(Cmp::Lt, next, self.layout.tiles());
            b.if_(more, |b| load(b, next));
            let limbs = self.resolve(b, place, None, entering);
            place.put(b, column, &limbs);
            b.set(column, next);
            b.compare(Cmp::Lt, column, self.layout.tiles())
        });
        highest
    }

    /// The limbs of a tile whose columns have the sums of `place`. What enters is replaced by what leaves.
    fn resolve(&self, b: &mut Builder, place: &Place, addend: Option<&Own>, entering: [R32; ROWS]) -> Own {
        let of_digit = (DIGIT_GROUPS * GROUP_SUMS) as usize;
        [0, 1].map(|row| {
            let sums = place.sums.chunks(of_digit);
            let mut digits: Vec<[R32; 2]> = sums.map(|sums| place.digit(b, sums, row, self.greatest_sum())).collect();
            for (digit, &word) in digits.iter_mut().zip(addend.iter().flat_map(|it| &it[row])) {
                let mut chain = b.chain();
                *digit = [chain.add(digit[0], word), chain.add(digit[1], 0)];
            }
            let (limbs, leaving) = place.resolve(b, &digits, entering[row]);
            b.set(entering[row], leaving);
            limbs
        })
    }

    /// Sets the tiles to the complement of the difference of the upper halves. What leaves them, the lowest of four lanes knows: 1 where the
    /// difference is negative, else 0.
    fn upper_half(&self, b: &mut Builder, place: &Place, turn: &Turn, highest: [R32; ROWS]) -> [R32; ROWS] {
        b.section("upper half");
        let entering: [R32; ROWS] = [0, 0].map(|_| b.copy(0));
        let column = b.copy(0);
        self.upper_tile(b, place, turn, column, entering, Some(highest));
        if self.layout.tiles() > 1 {
            b.set(column, 1);
            b.do_while(|b| {
                self.upper_tile(b, place, turn, column, entering, None);
                b.increase(column, 1);
                b.compare(Cmp::Lt, column, self.layout.tiles())
            });
        }
        entering
    }

    /// Sets tile `column`. The first one needs the highest limb of `t mod R`.
    fn upper_tile(
        &self,
        b: &mut Builder,
        place: &Place,
        turn: &Turn,
        column: R32,
        entering: [R32; ROWS],
        highest: Option<[R32; ROWS]>,
    ) {
        let layout = self.layout;
        let upper = own(b);
        if self.is_double {
            let rows = turn.t.map(|row| b.add64(row, u64::from(4 * layout.limbs)));
            self.load(b, place, rows, (column, 0), &upper);
        } else {
            for &word in upper.iter().flatten() {
                b.set(word, 0);
            }
        }
        let words = own(b);
        let tile = b.copy(column);
        let matrices = b.add(place.matrices, layout.modulus_matrices(layout.tiles()) / 16);
        b.do_while(|b| {
            place.get(b, tile, &words);
            let adds = b.compare(Cmp::Ne, tile, column);
            if highest.is_some() {
                let before = b.sub(matrices, MATRICES_BYTES / 16);
                place.start(b, &place.lower, &words, (before, TILE_GROUPS - DIGIT_GROUPS), adds);
            }
            place.start(b, &place.sums, &words, (matrices, 0), adds);
            b.decrease(matrices, MATRICES_BYTES / 16);
            b.increase(tile, 1);
            b.wgmma_wait(0);
            b.compare(Cmp::Lt, tile, layout.tiles())
        });
        if let Some(highest) = highest {
            for row in 0..ROWS {
                let carry = self.carry_of_lower_half(b, place, row, highest[row]);
                b.set(entering[row], carry);
            }
        }
        let complement = upper.map(|row| row.into_iter().map(|word| b.xor(word, u32::MAX)).collect());
        let limbs = self.resolve(b, place, Some(&complement), entering);
        place.put(b, column, &limbs);
    }

    /// What the lower half of `q·m` carries, known to the lowest of four lanes, from the sums of its four highest columns.
    fn carry_of_lower_half(&self, b: &mut Builder, place: &Place, row: usize, highest: R32) -> R32 {
        let [low, high] = place.digit(b, &place.lower, row, self.greatest_sum());
        let mut chain = b.chain();
        let (low, high) = (chain.add(low, 1 << 31), chain.add(high, 0));
        let mut chain = b.chain();
        chain.sub(low, highest);
        let carry = chain.sub(high, 0);
        b.shuffle(Shuffle::Idx, carry, place.below, 32)
    }

    /// Stores the complement of the tiles, with `m` added where it is negative, and zero unless the status is fine.
    fn finish(
        &self,
        b: &mut Builder,
        ports: &Ports,
        place: &Place,
        lane: R32,
        negative: [R32; ROWS],
        statuses: [R32; ROWS],
    ) {
        b.section("store");
        let result = self.factors() + 3;
        let own_bytes = b.mul_lo(place.member, 4 * OWN_LIMBS);
        let lanes = [lane, b.add(lane, NEXT_ROW)];
        let exists = lanes.map(|lane| b.compare(Cmp::Lt, lane, ports.lanes));
        let to = lanes.map(|lane| {
            let row = b.mad_wide(lane, 4 * self.layout.limbs, ports.addresses[result]);
            b.mad_wide(own_bytes, 1, row)
        });
        let quad = b.and(place.lane, 32 - QUAD);
        let masks = negative.map(|it| {
            let it = b.shuffle(Shuffle::Idx, it, quad, 32);
            b.sub(0, it)
        });
        let fine = statuses.map(|status| b.compare(Cmp::Eq, status, Status::Fine.code()));
        let modulus = b.add(place.shared, own_bytes);
        let entering: [R32; ROWS] = [0, 0].map(|_| b.copy(0));
        let limbs = own(b);
        let tile = b.copy(0);
        b.do_while(|b| {
            let from = b.mad_lo(tile, TILE_BYTES, modulus);
            let words = (0..OWN_LIMBS).step_by(4);
            let words = words.flat_map(|i| b.load_shared(Vector::V4, from, self.layout.modulus() + 4 * i));
            let words: Vec<R32> = words.collect();
            place.get(b, tile, &limbs);
            let has_limbs = self.has_limbs(b, place, tile, 0);
            for row in 0..ROWS {
                let difference: Vec<R32> = limbs[row].iter().map(|&word| b.xor(word, u32::MAX)).collect();
                let masked: Vec<R32> = words.iter().map(|&word| b.and(word, masks[row])).collect();
                let (sum, carries) = add(b, &difference, &masked, entering[row]);
                let carry = carries.into_lane(b);
                let leaving = carries.leaving(b);
                b.set(entering[row], leaving);
                let sum = wrapping_add_small(b, &sum, carry);
                let sum: Vec<R32> = sum.into_iter().map(|word| b.select(word, 0, fine[row])).collect();
                let inside = has_limbs.map_or(exists[row], |it| b.and_pred(it, exists[row]));
                let to = b.mad_wide(tile, TILE_BYTES, to[row]);
                for (words, i) in sum.chunks(4).zip((0..).step_by(16)) {
                    b.guarded(inside, true, |g| g.store_global(Space::Global, words, to, i));
                }
            }
            b.increase(tile, 1);
            b.compare(Cmp::Lt, tile, self.layout.tiles())
        });
        for row in 0..ROWS {
            let to = b.mad_wide(lanes[row], 4, ports.addresses[result + 1]);
            let first = b.and_pred(place.is_lowest, exists[row]);
            b.guarded(first, true, |g| g.store_global(Space::Global, &[statuses[row]], to, 0));
        }
    }
}

/// The sum of the limbs of four lanes, each lane's without the carries of others, and all their carries. `entering`: those into the lowest lanes.
fn add(b: &mut Builder, x: &[R32], y: &[R32], entering: R32) -> (Vec<R32>, Carries) {
    let mut chain = b.chain();
    let sum: Vec<R32> = x.iter().zip(y).map(|(&x, &y)| chain.add(x, y)).collect();
    let carry = chain.carry();
    let generates = b.compare(Cmp::Ne, carry, 0);
    let passes = all_ones(b, &sum);
    let carries = Carries::look_ahead(b, generates, passes, QUAD);
    (sum, carries.entered(b, entering))
}

/// Registers for a thread's limbs of a tile.
fn own(b: &mut Builder) -> Own {
    [0; ROWS].map(|_| (0..OWN_LIMBS).map(|_| b.register()).collect())
}

impl Spec for Reduction {
    fn name(&self) -> String {
        let Layout { limbs, warpgroups } = self.layout;
        let checked: String = match &self.checked {
            Checked::Itself => (if self.is_double { "_double" } else { "" }).into(),
            Checked::Factors(factors) => factors.iter().map(|it| it.name()).collect(),
        };
        format!("reduction_{limbs}{checked}_w{warpgroups}_t{}", self.turns)
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        let lanes = GROUP_LANES * self.layout.warpgroups * self.turns;
        let geometry = Geometry::new(self.layout.threads(), lanes).with_shared(self.layout.bytes());
        vec![Stage::new(geometry, |entry| self.kernel(entry))]
    }
}

const _: () = assert!(TILE_LIMBS == QUAD * OWN_LIMBS);
