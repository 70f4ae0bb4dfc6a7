//! Powers modulo odd numbers: a warp a power.
//!
//! computes   the table: `g^i` for `i < 2^w`; then `x = g^e`, Montgomery residues below `R`
//! requires   `g^0` and `g` as residues
//! launch     `32·warps` threads a block, a warp a power
//! cost       in products of `ring`: the table `2^w − 2`; the power `w + 1` a window after the first one
//! memory     the table: `2^w` residues a lane in scratch memory
//! registers  about 18·panels + 60
//!
//! Squares and products are the same instructions: only the address of the second factor differs.
//!
//! source: Handbook of Applied Cryptography 14.82 (windows of fixed length).

use warpmp_kernel::build::{Builder, Emit, Glue, R32, R64};
use warpmp_kernel::fragment::repeat;
use warpmp_kernel::ir::{Cmp, Kernel, Space, Vector};
use warpmp_launch::{Entry, Ports, Stage};

use super::ring::{Ring, arrive};
use super::room::Room;
use crate::kernels::modular::power::digit;
use crate::kernels::tensor::warps::Warps;
use crate::kernels::{OperandShape, Spec};

/// The table. Parameters of its launch: the modulus, its inverse, `g^0`, `g`, the table, lanes.
#[derive(Clone, Debug)]
pub(super) struct Table {
    pub(super) modulus: OperandShape,
    pub(super) room: Room,
    pub(super) warps: Warps,
    /// Bits of a window.
    pub(super) window: u32,
}

/// The power. Parameters of its launch: the exponent, the modulus, its inverse, the table, the residue, lanes.
#[derive(Clone, Debug)]
pub(super) struct Windows {
    pub(super) exponent: OperandShape,
    pub(super) table: Table,
}

impl Table {
    /// Limbs of the entries of a lane.
    pub(super) const fn limbs(&self) -> u32 {
        self.room.limbs() << self.window
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
        b.bounds(self.warps.bounds());
        b.section("setup");
        let (place, lane, _) = self.warps.enter(&mut b, ports.lanes);
        let limbs = self.modulus.limbs();
        let ring = Ring::new(&mut b, self.room, &place, limbs);
        let row = ports.addresses[modulus];
        let row = if self.modulus.common { row } else { b.mad_wide(lane, 4 * limbs, row) };
        let inverse = b.mad_wide(lane, 4 * self.room.limbs(), ports.addresses[modulus + 1]);
        ring.read_modulus(&mut b, [row, inverse], limbs);
        body(&mut b, &ports, &ring, lane);
        b.finish()
    }

    fn kernel(&self, entry: &Entry) -> Kernel {
        let limbs = self.room.limbs();
        self.open(entry, &self.name(), &["m", "i", "one", "g", "table"], 0, |b, ports, ring, lane| {
            let [one, base] = [2, 3].map(|i| b.mad_wide(lane, 4 * limbs, ports.addresses[i]));
            let to = b.mad_wide(lane, 4 * self.limbs(), ports.addresses[4]);
            let to = b.mad_wide(ring.place.lane, 16, to);
            for row in [one, base] {
                ring.fetch(b, row, limbs, ring.factor());
                arrive(b);
                ring.store(b, to);
                b.warp_barrier();
                b.increase64(to, u64::from(4 * limbs));
            }
            ring.fetch(b, base, limbs, self.room.other);
            arrive(b);
            let others = (1 << self.window) - 2;
            if others > 0 {
                repeat(b, others, |b| {
                    ring.multiply(b, (ring.place.shared, self.room.other));
                    b.section("store");
                    ring.store(b, to);
                    b.increase64(to, u64::from(4 * limbs));
                });
            }
        })
    }
}

impl Ring<'_> {
    /// Stores the first factor. The lane's first piece of the row is at `to`.
    fn store(&self, b: &mut Builder, to: R64) {
        let own = b.mad_lo(self.place.lane, 16, self.place.shared);
        self.pieces(b, self.room.limbs() / 4, |b, at| {
            let words = b.load_shared(Vector::V4, own, self.factor() + at);
            b.store_global(Space::Global, &words, to, at);
        });
    }
}

impl Windows {
    fn kernel(&self, entry: &Entry) -> Kernel {
        let Self { exponent, table } = self;
        let (room, window) = (table.room, table.window);
        table.open(entry, &self.name(), &["e", "m", "i", "table", "x"], 1, |b, ports, ring, lane| {
            let row = ports.addresses[0];
            let row = if exponent.common { row } else { b.mad_wide(lane, 4 * exponent.limbs(), row) };
            let entries = b.mad_wide(lane, 4 * table.limbs(), ports.addresses[3]);
            let to = b.mad_wide(lane, 4 * room.limbs(), ports.addresses[4]);
            ring.keep(b, [row, entries, to]);
            let fetch = |b: &mut Builder, bit: R32, to: u32| {
                let [row, entries] = [0, 1].map(|i| ring.kept(b, i));
                let digit = digit(b, row, exponent.limbs(), bit, window);
                let entry = b.mad_wide(digit, 4 * room.limbs(), entries);
                ring.fetch(b, entry, room.limbs(), to);
                arrive(b);
            };
            let digits = exponent.bits.div_ceil(window);
            let bit = b.copy((digits - 1) * window);
            fetch(b, bit, ring.factor());
            if digits > 1 {
                let [square, other] = [ring.factor(), room.other].map(|at| b.add(ring.place.shared, at));
                // Squares before the next product.
                let squares = b.copy(window);
                repeat(b, (digits - 1) * (window + 1), |b| {
                    b.section("window");
                    let ends = b.compare(Cmp::Eq, squares, 0);
                    b.if_(ends, |b| {
                        b.decrease(bit, window);
                        fetch(b, bit, room.other);
                    });
                    let second = b.select(other, square, ends);
                    let fewer = b.sub(squares, 1);
                    let next = b.select(window, fewer, ends);
                    b.set(squares, next);
                    ring.multiply(b, (second, 0));
                });
            }
            b.section("store");
            let to = ring.kept(b, 2);
            let to = b.mad_wide(ring.place.lane, 16, to);
            ring.store(b, to);
        })
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
