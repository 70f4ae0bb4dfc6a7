//! `tensor` for squares of four to eight panels: each pair of different groups of blocks once, a warp a square.
//!
//! computes   c = a²            a: `n` limbs, c: `2n` or one less
//! requires   `225 ≤ n ≤ 256` or `289 ≤ n ≤ 512`; buffers padded to whole tiles of 32 lanes
//! launch     `32·warps` threads a block, `products` squares a block, one after the other by each warp
//! cost       about `m·(8m + 1)·G·(G + 1)` matrix products of 16×32 by 32×8 bytes for `G` groups of `m` panels: 204, 270, 408, 504, 680 for
//!            four to eight panels, where a product has 264, 410, 588, 798, 1040; 12·n bytes of global traffic
//! registers  134 with four panels, 118 with five, 168 with six, 152 with seven, 215 with eight
//!
//! `a` has `G` groups of `m` panels, `8m` blocks each: `m` is 2, or 1 if the number of panels is odd. With the half `h_q` of group `a_q`, rounded down, and its
//! lowest bit `l_q`
//!
//! ```text
//! a² = 2·Σ a_q·(h_q + a_{q+1} + … + a_{G−1}) + Σ l_q·a_q        each number at its place
//! ```
//!
//! *Turn* `q` multiplies a group by the numbers in parentheses: `8m + 1` steps, each with a matrix of the group alone. The sums of all turns are doubled when
//! digits are made of them, and `l_q·a_q` is added to these.
//!
//! Group `p` of the square has its blocks `8mp` to `8mp + 8m − 1`; block `i` of a group is column `i / m` of panel `i mod m`, so that the columns that meet a panel
//! in a step meet the next panel in the next step. Group `2q + k` meets in step `r` of turn `q` the `8m` blocks of the turn's numbers from block `8mk − r` on.
//! Group `2q` would meet `r` blocks before the first one; as many blocks at the end belong to group `q + G`, which is new. So these two share their sums: the
//! sums of block `r` are copied after step `r`, and the rest is of group `q + G`. Groups `2q` and `2q + 1` are complete after turn `q`.
//!
//! bound: a byte column sums at most `4n` products of bytes, as in `tensor`: below 2²⁷. A digit is doubled and gets a word: below 2⁵³, so its high word is
//! below 2²¹, and the bound of `result` holds.
//!
//! source: ours.

use std::ops::RangeInclusive;

use warpmp_kernel::build::{Builder, Emit, Pred, R32};
use warpmp_kernel::ir::{Cmp, Vector};
use warpmp_launch::{Ports, Stage};

use super::digits::{Gets, Puts};
use super::layout::{BLOCK_BYTES, BLOCK_LIMBS, COLUMNS, Layout, PANEL_LIMBS};
use super::multiplication::Multiplication;
use super::multiply::{Operands, Source, Sums, add_products, difference, snapshot, zeros};
use super::operands::{clear, ending_with, fetch, reversed};
use super::result::resolve_chunk;
use super::strip::strips_of;
use super::warps::{ALIGNMENT, Place, Warps};
use crate::kernels::{OperationShape, Spec, TensorSettings};
use crate::operation::Operation;

/// The panels of `a`. With fewer, a square takes longer than a product: its matrices and columns are loaded for fewer matrix products.
const PANELS: RangeInclusive<u32> = 4..=8;

/// Where `a` arrives: after a piece of zeros.
const A: u32 = 16;

/// Steps between barriers. They keep the loads of later steps behind.
const FENCE: u32 = 8;

/// Bytes of the columns of a panel.
const COLUMN_BYTES: u32 = COLUMNS * BLOCK_BYTES;

/// Bytes of the words of a panel.
const PANEL_BYTES: u32 = 4 * PANEL_LIMBS;

/// Parameters of the kernel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Square {
    multiplication: Multiplication,
    /// Groups of `a`.
    groups: u32,
    /// Panels of a group.
    panels: u32,
    /// The division of the square, as if it were the low half of a product of numbers that are as long.
    layout: Layout,
    /// Where the entries begin: of each group after those of a block of zeros, and such a block at the end.
    entries: u32,
    /// Where the near columns of the turns begin: the last group, the group's half, the next group. The last turn has its half twice.
    near: u32,
    /// Where the columns of group 1 begin, all others after them.
    far: u32,
    /// Bytes from the columns with a rest modulo `panels` to those with the next.
    rest_bytes: u32,
    warps: Warps,
}

/// Numbers of strips with which a product is faster than a square in panels, one strip more.
const FASTER_STRIPS: [u32; 2] = [7, 9];

/// Does the kernel take this shape?
pub(super) fn fits(shape: OperationShape) -> bool {
    let limbs = shape.operands()[0].limbs();
    let strips = strips_of(limbs.div_ceil(BLOCK_LIMBS));
    shape.operation == Operation::Sqr
        && PANELS.contains(&limbs.div_ceil(PANEL_LIMBS))
        && !strips.is_some_and(|strips| FASTER_STRIPS.contains(&strips))
}

impl Square {
    /// The kernel for a shape that [`fits`].
    pub(super) fn new(shape: OperationShape, settings: &TensorSettings) -> Self {
        assert!(fits(shape), "a square of four to eight panels");
        let multiplication = Multiplication::of(shape);
        let layout = Layout::of_half(multiplication.limbs(), multiplication.pieces(), None, true);
        assert!(layout.greatest_sum() < 1 << 27, "the bound of the digits");
        let all = layout.panels;
        // Half of the columns of a last group of one panel would be wasted.
        let panels = if all.is_multiple_of(2) { 2 } else { 1 };
        let groups = all.div_ceil(panels);
        let entries = A + PANEL_BYTES * panels * groups + 16;
        let steps = COLUMNS * panels + 1;
        let near = entries + 8 * BLOCK_LIMBS * (steps * groups + 1);
        let far = near + COLUMN_BYTES * (3 * groups - 1);
        let end = far + if groups > 2 { COLUMN_BYTES * (groups - 1) } else { 0 };
        // Neighbouring blocks are stored together: half of the width of all banks keeps those with different rests apart.
        let rest_bytes = end - near + ALIGNMENT / 2;
        let work = (near + panels * rest_bytes).next_multiple_of(ALIGNMENT);
        // Loads of digits have no bank conflicts if the panels are a power of two. Some lanes have zeros then.
        let layout = Layout { panels: (2 * panels * groups).next_power_of_two(), work, ..layout };
        let warps = Warps::with_digits(settings, layout);
        Self { multiplication, groups, panels, layout, entries, near, far, rest_bytes, warps }
    }

    /// Steps of a turn.
    const fn steps(&self) -> u32 {
        COLUMNS * self.panels + 1
    }

    fn write(&self, b: &mut Builder, ports: &Ports) {
        let Self { layout, warps, .. } = *self;
        b.section("setup");
        let (place, product, end) = warps.enter(b, ports.lanes);
        let place = place.aligned(b);
        self.clear(b, &place);
        let (puts, gets) = (Puts::of_panels(b, layout, &place, self.panels), Gets::new(b, layout, &place));
        self.fetch(b, ports, &place, product);
        b.do_while(|b| {
            b.section("operands");
            b.copy_wait(0);
            b.warp_barrier();
            let odd = self.arrange(b, &place);
            b.warp_barrier();
            let row = self.multiplication.result(b, ports, product);
            b.increase(product, warps.count);
            let more = b.compare(Cmp::Lt, product, end);
            b.if_(more, |b| self.fetch(b, ports, &place, product));
            b.section("multiply");
            self.multiply(b, &place, &odd, &puts);
            b.section("carry");
            b.warp_barrier();
            let own = gets.get(b, &place);
            let limbs = resolve_chunk(b, &place, &own);
            b.section("store");
            layout.store_chunks(b, &place, row, &limbs, layout.limbs[2]);
            b.compare(Cmp::Lt, product, end)
        });
    }

    /// Writes the zeros: around `a`, the entries before and after those of a group, and the digits above the square.
    fn clear(&self, b: &mut Builder, place: &Place) {
        let words = self.entries / 4;
        let after = A / 4 + self.layout.limbs[0];
        clear(b, place, 0, A / 4);
        clear(b, place, 4 * after, words - after);
        for group in 0..=self.groups {
            clear(b, place, self.entries + 8 * BLOCK_LIMBS * self.steps() * group, 2 * BLOCK_LIMBS);
        }
        let used = 2 * self.panels * self.groups;
        clear(b, place, self.layout.work + 8 * PANEL_LIMBS * used, 2 * PANEL_LIMBS * (self.layout.panels - used));
    }

    /// Starts to copy `a`.
    fn fetch(&self, b: &mut Builder, ports: &Ports, place: &Place, product: R32) {
        let row = self.multiplication.factor(b, ports, product, 0);
        let [width, _] = self.multiplication.pieces();
        let from = b.mad_wide(place.lane, 4 * width, row);
        fetch(b, place, (from, self.layout.limbs[0], width), place.shared, A);
        b.copy_commit();
    }

    /// Makes the entries and the columns of all groups. Returns, for each panel of a group, the words of the lane's limbs in its even and its odd column, if the
    /// group is odd, and else zeros.
    ///
    /// A lane has words `2l` and `2l + 1` of a panel. The entries of a group are those of a number that begins and ends with it.
    fn arrange(&self, b: &mut Builder, place: &Place) -> Vec<[R32; 2]> {
        let Self { groups, panels, entries, near, far, rest_bytes, .. } = *self;
        let own = b.mad_lo(place.lane, 8, place.shared);
        let entry = b.mad_lo(place.lane, 16, place.shared);
        // The lane's part of the columns of a panel whose blocks are neighbours.
        let column = if panels == 1 {
            own
        } else {
            let block = b.shr(place.lane, 2);
            let number = b.shr(block, panels.ilog2());
            let rest = b.and(block, panels - 1);
            let part = b.and(place.lane, 3);
            let column = b.mad_lo(part, 8, place.shared);
            let column = b.mad_lo(number, BLOCK_BYTES, column);
            b.mad_lo(rest, rest_bytes, column)
        };
        let is_lowest = b.compare(Cmp::Eq, place.lane, 0);
        let is_highest = b.compare(Cmp::Eq, place.lane, 31);
        let limb = b.mad_lo(place.member, 8 * BLOCK_LIMBS * panels, place.shared);
        let limb = b.mad_lo(place.group, 4, limb);
        let zero = b.copy(0);
        let mut odd = vec![];
        for q in 0..groups {
            for panel in 0..panels {
                let at = A + PANEL_BYTES * (panels * q + panel);
                let [is_first, is_last] = [panel == 0, panel == panels - 1];
                let words = b.load_shared(Vector::V2, own, at);
                let below = b.load_shared(Vector::V1, own, at - 4)[0];
                let above = b.load_shared(Vector::V1, own, at + 8)[0];
                let below = if is_first { b.select(0, below, is_lowest) } else { below };
                let above = if is_last { b.select(0, above, is_highest) } else { above };
                let to = entries + 8 * (BLOCK_LIMBS + BLOCK_LIMBS * self.steps() * q + PANEL_LIMBS * panel);
                let [first, second] =
                    [[below, words[0]], [words[0], words[1]]].map(|[below, word]| ending_with(b, below, word, 0));
                b.store_shared(&[first, words[0], second, words[1]], entry, to);
                if is_last {
                    let rest = b.shr(words[1], 8);
                    b.guarded(is_highest, true, |g| g.store_shared(&[rest, zero], entry, to + 16));
                }
                let halves = [b.funnel_right(words[0], words[1], 1), b.funnel_right(words[1], above, 1)];
                let halves = reversed(b, &halves);
                let before = COLUMN_BYTES / panels * panel;
                b.store_shared(&halves, column, near + COLUMN_BYTES * (3 * q + 1) + before);
                if q > 0 {
                    let columns = reversed(b, &words);
                    b.store_shared(&columns, column, near + COLUMN_BYTES * (3 * q - 1) + before);
                    if groups > 2 {
                        b.store_shared(&columns, column, far + COLUMN_BYTES * (q - 1) + before);
                    }
                    if q == groups - 1 {
                        for turn in 0..q {
                            b.store_shared(&columns, column, near + COLUMN_BYTES * 3 * turn + before);
                        }
                    }
                }
                if q == groups - 1 {
                    b.store_shared(&halves, column, near + COLUMN_BYTES * 3 * q + before);
                }
            }
            let at = A + PANEL_BYTES * panels * q;
            let lowest = b.load_shared(Vector::V1, place.shared, at)[0];
            let lowest = b.and(lowest, 1);
            let mask = b.sub(0, lowest);
            for panel in 0..panels {
                odd.push([0, 1].map(|column| {
                    let word = b.load_shared(Vector::V1, limb, at + BLOCK_BYTES * (panel + panels * column))[0];
                    b.and(word, mask)
                }));
            }
        }
        odd
    }

    /// Multiplies, and puts the digits of each panel when its sums are complete. `odd` is what [`Self::arrange`] returns.
    fn multiply(&self, b: &mut Builder, place: &Place, odd: &[[R32; 2]], puts: &Puts) {
        let Self { groups, entries, .. } = *self;
        let m = self.panels as usize;
        let entries = b.add(place.shared, entries);
        let operands = Operands::of(b, place, Source::Entries(entries), 0, 0);
        let here = [0, 1, 2, 3].map(|number| b.compare(Cmp::Eq, place.member, number));
        let zeros = zeros(b);
        let mut panels = vec![zeros; 2 * m * groups as usize];
        for q in 0..groups {
            if q > 0 {
                b.warp_barrier();
            }
            let first = 2 * q as usize * m;
            let low = self.turn(b, &operands, &here, q, &mut panels[first..]);
            for (panel, low) in low.iter().enumerate() {
                let rest = panels[first + panel];
                panels[(q + groups) as usize * m + panel] = difference(b, &rest, low);
                let block = 2 * q * self.panels * COLUMNS + panel as u32;
                puts.put_doubled(b, place, block, low, Some(odd[q as usize * m + panel]));
            }
            for panel in 0..m {
                let block = (2 * q + 1) * self.panels * COLUMNS + panel as u32;
                puts.put_doubled(b, place, block, &panels[first + m + panel], None);
            }
        }
    }

    /// Adds the products of a turn to the sums of its panels, the first of which share them with those of group `q + G`. Returns the sums of the first panels alone.
    fn turn(&self, b: &mut Builder, operands: &Operands, here: &[Pred; 4], q: u32, panels: &mut [Sums]) -> Vec<Sums> {
        let m = self.panels;
        let blocks = self.layout.limbs[0].div_ceil(BLOCK_LIMBS) - COLUMNS * m * q;
        let mut low = panels[..m as usize].to_vec();
        let count = self.groups - q;
        // The columns that meet panel s of each group in this step. In the next they meet panel s + 1.
        let mut columns: Vec<Vec<Vec<R32>>> =
            (0..count).map(|k| (1..m).map(|s| operands.load(b, self.columns(q, k, s as i32))).collect()).collect();
        for r in 0..self.steps() {
            if r > 0 && r.is_multiple_of(FENCE) {
                b.warp_barrier();
            }
            if r <= blocks {
                let matrix = operands.matrix(b, self.steps() * q + r);
                for (k, columns) in (0..count).zip(&mut columns) {
                    columns.insert(0, operands.load(b, self.columns(q, k, -(r as i32))));
                    columns.truncate(m as usize);
                    for (s, columns) in columns.iter().enumerate() {
                        add_products(b, matrix, columns, &mut panels[k as usize * m as usize + s]);
                    }
                }
            }
            if r < COLUMNS * m {
                let s = (r % m) as usize;
                snapshot(b, &mut low[s], &panels[s], here, r / m);
            }
        }
        low
    }

    /// Where columns begin for the panels of group `2q + k` in turn `q`: from block `first` of that group on, every `m`th. Before the group is the one before it.
    fn columns(&self, q: u32, k: u32, first: i32) -> u32 {
        let panels = self.panels as i32;
        let [number, rest] = [first.div_euclid(panels), first.rem_euclid(panels)];
        let group = match k {
            0 | 1 => self.near + COLUMN_BYTES * (3 * q + 1 + k),
            _ => self.far + COLUMN_BYTES * (q + k - 1),
        };
        group.wrapping_add_signed(number * BLOCK_BYTES as i32) + rest as u32 * self.rest_bytes
    }
}

impl Spec for Square {
    fn name(&self) -> String {
        self.warps.name_of(self.multiplication)
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        vec![self.warps.stage(self.multiplication, None, |b, ports| self.write(b, ports))]
    }
}
