//! Powers modulo odd numbers: a warp a power.
//!
//! computes   the table: `g^i` for odd `i < 2^w`; then `x = g^e`, Montgomery residues below `R`
//! requires   `g^0` and `g` as residues
//! launch     `32·warps` threads a block, a warp a power
//! cost       in products of `ring`: the table `2^(w−1)`; the power a square for each bit below the first window, and a product for each other window. Random
//!            exponents have a window for each `w + 1` bits, other exponents for each `w` bits at most
//! memory     the table: `2^(w−1) + 1` residues a lane in scratch memory
//! registers  80 with one or two panels, 71 with three strips; to 196 with more, see `registers_of_power`
//!
//! A window has at most `w` bits. It begins and ends with a one, so zeros between windows take squares alone. The instructions of a warp depend on its exponent: a warp has
//! one exponent. A secret exponent needs `pow_mod_sec`.
//!
//! Squares and products are the same instructions: only the columns of the second factor differ.
//!
//! source: Handbook of Applied Cryptography 14.85 (sliding windows).

use warpmp_kernel::build::{Builder, Emit, Glue, Pred, R32};
use warpmp_kernel::ir::{Bounds, Cmp, Kernel, Space, Vector};
use warpmp_launch::{Entry, Ports, Stage};

use super::ring::{Ring, arrive};
use super::room::Room;
use crate::kernels::tensor::warps::Warps;
use crate::kernels::{OperandShape, Spec};

/// The table. Parameters of its launch: the modulus, its inverse, `g^0`, `g`, the table, lanes.
#[derive(Clone, Debug)]
pub(super) struct Table {
    pub(super) modulus: OperandShape,
    pub(super) room: Room,
    pub(super) warps: Warps,
    /// Most bits of a window.
    pub(super) window: u32,
}

/// The power. Parameters of its launch: the exponent, the modulus, its inverse, the table, the residue, lanes.
#[derive(Clone, Debug)]
pub(super) struct Windows {
    pub(super) exponent: OperandShape,
    pub(super) table: Table,
}

/// The bits of a window for which random exponents of `bits` bits take the fewest products.
pub(super) fn window(bits: u32) -> u32 {
    (1..=7).min_by_key(|w| (1 << (w - 1)) + bits.div_ceil(w + 1)).unwrap_or(1)
}

/// Most registers of a thread that computes a power. `ptxas` takes more registers than it needs, and fewer warps are on a multiprocessor then. These are the least
/// bounds without spills on `sm_80` to `sm_90`, with strips the least of those that were tried; with three panels `ptxas` spills two words on `sm_100`, with four on `sm_120`. None: `ptxas` takes few registers by itself, or spills at any bound.
const fn registers_of_power(room: Room) -> Option<u32> {
    match (room.layout.strips, room.layout.panels) {
        (None, 3) => Some(88),
        (None, 4) => Some(108),
        (Some(5), _) => Some(112),
        (None, 6) => Some(136),
        (Some(11), _) => Some(152),
        (Some(7), _) | (None, 7) => Some(160),
        (Some(9), _) => Some(168),
        (None, 8) => Some(176),
        (Some(13), _) => Some(196),
        _ => None,
    }
}

/// Most registers of a thread that fills a table. `ptxas` spills here: it chooses 72 and 80 registers by itself. With these bounds it takes more.
const fn registers_of_table(room: Room) -> Option<u32> {
    match (room.layout.strips, room.layout.panels) {
        (None, 2) => Some(168),
        (None, 3) => Some(255),
        _ => None,
    }
}

impl Table {
    /// Limbs of the entries of a lane: 1, and the odd powers.
    pub(super) const fn limbs(&self) -> u32 {
        self.room.limbs() * (self.odd_powers() + 1)
    }

    const fn odd_powers(&self) -> u32 {
        1 << (self.window - 1)
    }

    /// Begins a kernel: the warp's ring, and its lane.
    fn open(
        &self,
        entry: &Entry,
        name: &str,
        rows: &[&str],
        modulus: usize,
        body: impl FnOnce(&mut Builder, &Ports, &Ring<'_>, R32),
    ) -> Kernel {
        let (mut b, ports) = entry.open(name, Glue::None, rows, false);
        b.section("setup");
        let (place, lane, _) = self.warps.enter(&mut b, ports.lanes);
        let place = place.aligned(&mut b);
        let limbs = self.modulus.limbs();
        let row = ports.addresses[modulus];
        let row = if self.modulus.common { row } else { b.mad_wide(lane, 4 * limbs, row) };
        let inverse = b.mad_wide(lane, 4 * self.room.limbs(), ports.addresses[modulus + 1]);
        let ring = Ring::new(&mut b, self.room, &place, limbs, [row, inverse]);
        body(&mut b, &ports, &ring, lane);
        b.finish()
    }

    fn kernel(&self, entry: &Entry) -> Kernel {
        let (room, limbs) = (self.room, self.room.limbs());
        self.open(entry, &self.name(), &["m", "i", "one", "g", "table"], 0, |b, ports, ring, lane| {
            b.bounds(Bounds { max_registers: registers_of_table(room), ..self.warps.bounds() });
            let [one, base] = [2, 3].map(|i| b.mad_wide(lane, 4 * limbs, ports.addresses[i]));
            let table = b.mad_wide(lane, 4 * self.limbs(), ports.addresses[4]);
            for (row, entry) in [one, base].into_iter().zip(0..) {
                ring.fetch(b, row, limbs, room.other);
                arrive(b);
                let number = ring.load(b, room.other);
                let to = b.add64(table, u64::from(4 * limbs * entry));
                ring.write(b, &number, to);
                ring.store_matrix(b, &number, room.factor);
                b.warp_barrier();
            }
            if self.odd_powers() == 1 {
                return;
            }
            ring.keep(b, &[table]);
            // First the square, which is the second factor of all odd powers.
            let entry = b.copy(1);
            b.do_while(|b| {
                ring.arrange(b);
                let power = ring.multiply(b);
                b.section("store");
                let is_square = b.compare(Cmp::Eq, entry, 1);
                b.if_else(
                    is_square,
                    |b| ring.store(b, &power, room.other),
                    |b| {
                        ring.store_matrix(b, &power, room.factor);
                        let table = ring.kept(b, 0);
                        let to = b.mad_wide(entry, 4 * limbs, table);
                        ring.write(b, &power, to);
                    },
                );
                b.warp_barrier();
                b.increase(entry, 1);
                b.compare(Cmp::Le, entry, self.odd_powers())
            });
        })
    }
}

/// Where a power is in its exponent: the same in all lanes.
struct Progress {
    /// Bits of the exponent that no window has yet.
    left: R32,
    /// Squares before the next product.
    squares: R32,
    /// The entry of the table for that product; zero: there is none.
    entry: R32,
}

impl Progress {
    /// Are there squares or a product to do?
    fn is_pending(&self, b: &mut Builder) -> Pred {
        let pending = b.or(self.squares, self.entry);
        b.compare(Cmp::Ne, pending, 0)
    }
}

impl Windows {
    fn kernel(&self, entry: &Entry) -> Kernel {
        let Self { exponent, table } = self;
        let room = table.room;
        table.open(entry, &self.name(), &["e", "m", "i", "table", "x"], 1, |b, ports, ring, lane| {
            b.bounds(Bounds { max_registers: registers_of_power(room), ..table.warps.bounds() });
            let row = ports.addresses[0];
            let row = if exponent.common { row } else { b.mad_wide(lane, 4 * exponent.limbs(), row) };
            let entries = b.mad_wide(lane, 4 * table.limbs(), ports.addresses[3]);
            let to = b.mad_wide(lane, 4 * room.limbs(), ports.addresses[4]);
            ring.keep(b, &[row, entries, to]);
            let fetch = |b: &mut Builder, entry: R32| {
                let entries = ring.kept(b, 1);
                let entry = b.mad_wide(entry, 4 * room.limbs(), entries);
                ring.fetch(b, entry, room.limbs(), room.other);
                arrive(b);
            };
            let progress = Progress { left: b.copy(exponent.bits), squares: b.copy(0), entry: b.copy(0) };
            // The first window is an entry as it is: 1 is not squared.
            self.next(b, ring, &progress);
            fetch(b, progress.entry);
            let first = ring.load(b, room.other);
            ring.set_both(b, &first);
            b.warp_barrier();
            self.next(b, ring, &progress);
            let more = progress.is_pending(b);
            b.if_(more, |b| {
                b.do_while(|b| {
                    b.section("window");
                    let is_product = b.compare(Cmp::Eq, progress.squares, 0);
                    b.if_else(
                        is_product,
                        |b| {
                            fetch(b, progress.entry);
                            if ring.arranges_chunks() {
                                ring.arrange(b);
                            }
                            self.next(b, ring, &progress);
                        },
                        |b| b.decrease(progress.squares, 1),
                    );
                    if !ring.arranges_chunks() {
                        ring.arrange(b);
                    }
                    let power = ring.multiply(b);
                    ring.set_both(b, &power);
                    b.warp_barrier();
                    progress.is_pending(b)
                });
            });
            b.section("store");
            let power = ring.first_factor(b);
            let to = ring.kept(b, 2);
            ring.write(b, &power, to);
        })
    }

    /// Takes the next window from the bits that are left, or the zeros at the end.
    ///
    /// Of the 32 bits below, `z` are zeros. If they leave room for a window, `V` are the next `w` bits, of which zeros at the end are left for later: `z + len` squares,
    /// and the entry of the odd number `V/2^(w − len)`, which is half of what is 1 more. Else there are zeros alone, and then the next bits.
    fn next(&self, b: &mut Builder, ring: &Ring<'_>, progress: &Progress) {
        let window = self.table.window;
        let Progress { left, squares, entry } = *progress;
        b.set(squares, 0);
        b.set(entry, 0);
        let more = b.compare(Cmp::Ne, left, 0);
        b.if_(more, |b| {
            b.do_while(|b| {
                let bits = self.bits_below(b, ring, left);
                let zeros = b.clz(bits);
                let place = b.min(zeros, 31);
                let digit = b.shl(bits, place);
                let digit = b.shr(digit, 32 - window);
                let ends = b.brev(digit);
                let ends = b.clz(ends);
                let odd = b.shr(digit, ends);
                let odd = b.add(odd, 1);
                let odd = b.shr(odd, 1);
                let end = b.sub(window, ends);
                let end = b.add(zeros, end);
                let is_full = b.compare(Cmp::Le, zeros, 32 - window);
                let few = b.min(zeros, left);
                let count = b.select(end, few, is_full);
                b.increase(squares, count);
                let odd = b.select(odd, 0, is_full);
                b.set(entry, odd);
                b.decrease(left, count);
                let none = b.compare(Cmp::Eq, entry, 0);
                let more = b.compare(Cmp::Ne, left, 0);
                b.and_pred(none, more)
            });
        });
    }

    /// The 32 bits of the exponent below bit `end`; below the exponent are zeros.
    fn bits_below(&self, b: &mut Builder, ring: &Ring<'_>, end: R32) -> R32 {
        let row = ring.kept(b, 0);
        let index = b.shr(end, 5);
        let address = b.mad_wide(index, 4, row);
        let below = b.add64(address, 4_u64.wrapping_neg());
        let [low, high] = [b.copy(0), b.copy(0)];
        let has_low = b.compare(Cmp::Ne, index, 0);
        b.guarded(has_low, true, |g| g.load_into(Space::Global, Vector::V1, &[low], below, 0));
        let has_high = b.compare(Cmp::Lt, index, self.exponent.limbs());
        b.guarded(has_high, true, |g| g.load_into(Space::Global, Vector::V1, &[high], address, 0));
        b.funnel_right(low, high, end)
    }
}

impl Spec for Table {
    fn name(&self) -> String {
        format!("power_table{}_{}_w{}{}", self.modulus.name(), self.room.limbs(), self.window, self.warps.name())
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        vec![Stage::new(self.warps.geometry(), |entry| self.kernel(entry))]
    }
}

impl Spec for Windows {
    fn name(&self) -> String {
        format!("power_windows{}b{}_{}", self.exponent.name(), self.exponent.bits, self.table.name())
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        vec![Stage::new(self.table.warps.geometry(), |entry| self.kernel(entry))]
    }
}
