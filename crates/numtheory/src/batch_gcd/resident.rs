//! The whole tree in the memory of a GPU.
//!
//! A level is one batch ([`super::levels`]). In a level of `2h` nodes the nodes `i` and `i + h` are siblings, and their product is node
//! `i` of the level above. So the factors of all products are two halves of a batch.
//!
//! **Powers of two.** The tree has the odd parts of the integers, and all its divisions are Montgomery reductions ([`super::ring`]), modulo a
//! level's `R = 2^w` for nodes of `w` bits. Each value has an additional factor, a power of 2. It does not change the gcd with an odd
//! number, and only these gcds are needed. An integer with the factor `2^e` shares `2^min(e, E − e)` with the others, `E` the sum of all `e`.
//!
//! **The top.** Where nodes are as long as the engine takes them, `k` of them are left. Each gets the product of all others modulo itself:
//! first the next one, then the one after it, around the circle. That is `k²` products, but all of one length, and for all nodes at
//! the same time. A step is three products `w` by `w`, as the inverses are computed once.
//!
//! **Down.** A node with the value `c` and the children `a` and `b` gives `a` the value `((c/R mod a)·b)/R mod a`. If `x` is the inverse of
//! `a·b` modulo `R²`, then `x·b` is the inverse of `a` modulo `R`. So a child takes six products `w` by `w`.
//!
//! bound: `c < a·b < a·R`, as `c` is a residue modulo `a·b`, or 1 at a root. In a product around the circle the value is less than its node, or
//! 1, and the factor less than `R`. So every reduction has less than `a·R` to reduce, but for a value of 1 modulo 1, whose reduction's halves
//! are both 0.
//!
//! Source: ours. That all pairs suit a GPU where trees do not: K. Scharfglass and others, *Breaking weak 1024-bit RSA keys
//! with CUDA*, 2012, for pairs of single moduli.

use std::time::Instant;

use dashu_int::{
    UBig,
    ops::{BitTest, Gcd as _},
};
use rayon::prelude::*;
use warpmp::operation::SLOW_MAX_BITS;
use warpmp::{Batch, DeviceBatch, Operation, Session, Shape};

use super::arithmetic::{Arithmetic, batch, numbers};
use super::levels::{self, Level};
use super::ring::{Ring, half, lower_product, one, ones, some_lanes};
use crate::{
    error::{Error, Result},
    watch::check,
};

/// A core takes this time for the whole tree and a bit of an integer, about.
const CORE_SECONDS: f64 = 1e-6;
/// The kernels of a tree take this many times as long to compile as the kernels of one level.
const KERNELS: f64 = 4.0;
/// Lanes that the memory of a GPU has together.
const TILE_LANES: usize = 32;

/// For every integer its gcd with the product of the others; none if the cores shall do it, or if the GPU's memory is too small.
pub(super) fn shared_factors(integers: &[UBig], arithmetic: &mut Arithmetic<'_>) -> Result<Option<Vec<UBig>>> {
    let bits: usize = integers.iter().map(BitTest::bit_len).sum();
    let seconds = CORE_SECONDS * bits as f64 / rayon::current_num_threads() as f64;
    if integers.len() < 2 || !arithmetic.has_device() || seconds < KERNELS * arithmetic.worth_seconds {
        return Ok(None);
    }
    let (odd, twos): (Vec<UBig>, Vec<usize>) = integers.par_iter().map(odd_part).unzip();
    let lengths: Vec<usize> = odd.iter().map(BitTest::bit_len).collect();
    let levels = levels::plan(&lengths, |bits| takes(arithmetic, bits));
    let Some(levels) = levels else { return Ok(None) };
    match (Tree { odd: &odd, levels: &levels, arithmetic }).gcds() {
        Ok(mut gcds) => {
            let all: usize = twos.iter().sum();
            for (gcd, own) in gcds.iter_mut().zip(twos).filter(|(_, own)| *own > 0) {
                *gcd <<= own.min(all - own);
            }
            Ok(Some(gcds))
        }
        Err(Error::Engine(warpmp::Error::OutOfMemory { .. })) => {
            (arithmetic.stages.engine_levels, arithmetic.stages.all_pairs) = (0, 0);
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// An integer above zero without its factors 2, and their number.
fn odd_part(integer: &UBig) -> (UBig, usize) {
    let twos = integer.trailing_zeros().unwrap_or(0);
    (if twos == 0 { integer.clone() } else { integer >> twos }, twos)
}

/// Does the engine take a level of nodes of this width?
fn takes(arithmetic: &Arithmetic<'_>, bits: usize) -> bool {
    let plans =
        |(operation, operands): (Operation, Vec<Shape>)| arithmetic.session.plan(operation, &operands, None).is_ok();
    bits <= arithmetic.most_bits && Ring::operations(Shape::new(2, bits)).into_iter().all(plans)
}

/// What a level has on the way down.
struct Values {
    /// For each node the product of all others modulo it, times a power of 2.
    residues: DeviceBatch,
    /// The inverses of the nodes modulo `R`.
    inverses: DeviceBatch,
}

/// The tree above odd integers.
struct Tree<'t, 's> {
    odd: &'t [UBig],
    levels: &'t [Level],
    arithmetic: &'t mut Arithmetic<'s>,
}

impl<'s> Tree<'_, 's> {
    /// For every integer its gcd with the product of the others.
    fn gcds(mut self) -> Result<Vec<UBig>> {
        self.load()?;
        let mut gcds = vec![UBig::ONE; self.odd.len()];
        let mut above = None;
        for (level, nodes) in self.up()?.into_iter().enumerate().rev() {
            let values = match &above {
                None => self.around(&nodes)?,
                Some(above) => self.down(level, &nodes, above)?,
            };
            self.leaves(level, &nodes, &values.residues, &mut gcds)?;
            above = Some(values);
        }
        Ok(gcds)
    }

    /// Loads the kernels of all levels. A driver compiles those that it has not kept: with all cores.
    fn load(&mut self) -> Result<()> {
        let start = Instant::now();
        let last = self.levels.len() - 1;
        let of_level = |(number, level): (usize, &Level)| {
            let (lanes, is_top) = if number == last { (level.nodes, true) } else { (level.nodes / 2, false) };
            let shape = Shape::new(self.piece(lanes, level.bits), level.bits);
            let of_new = if is_top { Ring::operations_of_new(shape) } else { Vec::new() };
            let leaves = Shape::new(level.leaves.len(), level.bits);
            let has_gcds = leaves.lanes > 0 && leaves.bits <= SLOW_MAX_BITS;
            let of_leaves = if has_gcds { vec![(Operation::Gcd, vec![leaves; 2])] } else { Vec::new() };
            [Ring::operations(shape).to_vec(), of_new, of_leaves].concat()
        };
        let operations: Vec<(Operation, Vec<Shape>)> = self.levels.iter().enumerate().flat_map(of_level).collect();
        operations.into_par_iter().try_for_each(|(operation, shapes)| -> Result<()> {
            check(self.arithmetic.watch)?;
            Ok(self.session().prepare(operation, &shapes)?)
        })?;
        self.arithmetic.stages.compile_seconds += start.elapsed().as_secs_f64();
        Ok(())
    }

    /// The nodes of all levels.
    fn up(&mut self) -> Result<Vec<DeviceBatch>> {
        let top = self.levels.last().map_or(1, |level| level.nodes);
        let steps = self.levels.len() - 1 + top.next_power_of_two().ilog2() as usize;
        self.arithmetic.meter.plan_levels(steps);
        let start = Instant::now();
        let session = self.session();
        let mut all: Vec<DeviceBatch> = Vec::with_capacity(self.levels.len());
        for (number, level) in self.levels.iter().enumerate() {
            check(self.arithmetic.watch)?;
            let mut nodes = [session.reserve(Shape::new(level.nodes, level.bits))?];
            if let Some(below) = all.last() {
                self.arithmetic.meter.up(number - 1);
                let half = level.products;
                self.in_pieces(half, below.shape().bits, (&mut nodes, 0), |_, first, lanes| {
                    let [a, b] = [first, half + first].map(|first| some_lanes(session, below, first, lanes));
                    Ok([one(session, Operation::Mul, &[&a?, &b?])?])
                })?;
                self.arithmetic.stages.engine_levels += 1;
            }
            if level.nodes > level.products {
                let leaves = session.upload(&self.rows(level)?)?;
                session.copy_lanes_to(&leaves, &mut nodes[0], level.products)?;
            }
            all.extend(nodes);
        }
        session.wait()?;
        self.arithmetic.stages.product_seconds += start.elapsed().as_secs_f64();
        Ok(all)
    }

    /// The integers that begin at a level, and ones after them.
    fn rows(&self, level: &Level) -> Result<Batch<'static>> {
        let one = UBig::ONE;
        let ones = rayon::iter::repeat_n(&one, level.nodes - level.products - level.leaves.len());
        batch(level.leaves.par_iter().map(|place| &self.odd[*place]).chain(ones), level.bits)
    }

    /// The values of the top level.
    fn around(&mut self, top: &DeviceBatch) -> Result<Values> {
        let (session, shape) = (self.session(), top.shape());
        self.arithmetic.meter.around(self.levels.len() - 1);
        let start = Instant::now();
        let mut twice = session.reserve(Shape::new(2 * shape.lanes, shape.bits))?;
        for first in [0, shape.lanes] {
            session.copy_lanes_to(top, &mut twice, first)?;
        }
        let mut into = [session.reserve(shape)?, session.reserve(shape)?];
        self.in_pieces(shape.lanes, shape.bits, (&mut into, 0), |tree, first, lanes| {
            let ring = Ring::new(session, some_lanes(session, top, first, lanes)?)?;
            let mut values = ones(session, ring.moduli.shape())?;
            for step in 1..shape.lanes {
                check(tree.arithmetic.watch)?;
                values = ring.multiply(&values, &some_lanes(session, &twice, first + step, lanes)?)?;
                // A queue that is full makes the host wait, so it is not far ahead.
                let [before, pieces] = [first, shape.lanes].map(|all| all.div_ceil(lanes));
                tree.arithmetic.meter.part(before * shape.lanes + step, pieces * shape.lanes);
            }
            Ok([values, ring.inverses])
        })?;
        session.wait()?;
        self.arithmetic.stages.all_pairs_seconds += start.elapsed().as_secs_f64();
        self.arithmetic.stages.all_pairs = if shape.lanes > 1 { shape.lanes } else { 0 };
        let [residues, inverses] = into;
        Ok(Values { residues, inverses })
    }

    /// The values of a level from the values above.
    fn down(&mut self, level: usize, nodes: &DeviceBatch, above: &Values) -> Result<Values> {
        let start = Instant::now();
        let (session, shape) = (self.session(), nodes.shape());
        check(self.arithmetic.watch)?;
        self.arithmetic.meter.down(level);
        let middle = shape.lanes / 2;
        let mut into = [session.reserve(shape)?, session.reserve(shape)?];
        for (own, other) in [(0, middle), (middle, 0)] {
            self.in_pieces(middle, shape.bits, (&mut into, own), |_, first, lanes| {
                let [moduli, siblings] = [own, other].map(|from| some_lanes(session, nodes, from + first, lanes));
                let (moduli, siblings) = (moduli?, siblings?);
                let lower = half(session, &some_lanes(session, &above.inverses, first, lanes)?, 0)?;
                let ring = Ring { session, moduli, inverses: lower_product(session, &lower, &siblings)? };
                let value = some_lanes(session, &above.residues, first, lanes)?;
                let value = ring.reduce([&half(session, &value, 0)?, &half(session, &value, 1)?])?;
                Ok([ring.multiply(&value, &siblings)?, ring.inverses])
            })?;
        }
        session.wait()?;
        self.arithmetic.meter.part(1, 1);
        self.arithmetic.stages.engine_levels += 1;
        self.arithmetic.stages.remainder_seconds += start.elapsed().as_secs_f64();
        let [residues, inverses] = into;
        Ok(Values { residues, inverses })
    }

    /// The gcds of the integers that begin at a level with their values.
    fn leaves(&mut self, level: usize, nodes: &DeviceBatch, values: &DeviceBatch, gcds: &mut [UBig]) -> Result<()> {
        let Level { bits, products, leaves, .. } = &self.levels[level];
        if leaves.is_empty() {
            return Ok(());
        }
        let start = Instant::now();
        let session = self.session();
        let values = some_lanes(session, values, *products, leaves.len())?;
        let found = if *bits <= SLOW_MAX_BITS {
            let nodes = some_lanes(session, nodes, *products, leaves.len())?;
            numbers(&session.download(&one(session, Operation::Gcd, &[&nodes, &values])?)?)
        } else {
            let values = numbers(&session.download(&values)?);
            leaves.par_iter().zip(&values).map(|(place, value)| (&self.odd[*place]).gcd(value)).collect()
        };
        for (place, gcd) in leaves.iter().zip(found) {
            gcds[*place] = gcd;
        }
        self.arithmetic.stages.gcd_seconds += start.elapsed().as_secs_f64();
        Ok(())
    }

    /// Does an operation on some lanes at a time, for `lanes` lanes with nodes of `bits` bits. The results go to batches, from a lane on.
    fn in_pieces<const N: usize>(
        &self,
        lanes: usize,
        bits: usize,
        (into, at): (&mut [DeviceBatch; N], usize),
        operation: impl Fn(&Self, usize, usize) -> Result<[DeviceBatch; N]>,
    ) -> Result<()> {
        let piece = self.piece(lanes, bits);
        for first in (0..lanes).step_by(piece.max(1)) {
            check(self.arithmetic.watch)?;
            // The last piece is as long as the others, as kernels are chosen for a number of lanes. Some lanes are done twice.
            let first = first.min(lanes - piece);
            for (into, result) in into.iter_mut().zip(operation(self, first, piece)?) {
                self.session().copy_lanes_to(&result, into, at + first)?;
            }
        }
        Ok(())
    }

    /// The lanes of a piece.
    fn piece(&self, lanes: usize, bits: usize) -> usize {
        (self.arithmetic.piece_bits / bits).max(1).next_multiple_of(TILE_LANES).min(lanes)
    }

    const fn session(&self) -> &'s Session {
        self.arithmetic.session
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use warpmp::Selector;
    use warpmp::device::{SimConfig, open_sim_with};

    use super::super::tree::tests::expected;
    use super::*;
    use crate::watch::Watch;

    /// Different integers that share factors: a power of a small prime, and about as many bits as `bits` says.
    fn integers(count: usize, bits: impl Fn(usize) -> usize) -> Vec<UBig> {
        let mut state = 1_u64;
        let mut word = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state ^ state >> 29
        };
        let mut integer = |place: usize| {
            let own = (0..=bits(place) / 64).fold(UBig::ONE, |own, _| (own << 64) + word());
            let small = UBig::from([2_u32, 3, 5, 7, 11][place % 5]).pow(1 + place % 3);
            small * (&own >> own.bit_len().saturating_sub(bits(place)))
        };
        (0..count).map(&mut integer).collect()
    }

    /// All gcds on the simulator, with nodes to so many bits, and the nodes that were all with all.
    fn found(integers: &[UBig], most_bits: usize) -> usize {
        let session = Session::on(Selector::Sim).unwrap();
        let mut arithmetic = Arithmetic::new(&session, &());
        (arithmetic.worth_seconds, arithmetic.most_bits, arithmetic.piece_bits) = (0.0, most_bits, 1);
        let gcds = shared_factors(integers, &mut arithmetic).unwrap();
        assert_eq!(gcds, Some(expected(integers)), "{most_bits}");
        arithmetic.stages.all_pairs
    }

    /// Batches of more lanes than a piece has, up to the root and around a circle; an odd number of nodes everywhere.
    #[test]
    fn pieces_overlap() {
        let integers = integers(75, |_| 40);
        // 75 nodes, pieces of 32: the last one has lanes of the one before it.
        assert_eq!(found(&integers, 64), 75);
        assert_eq!(found(&integers, 128), 38);
        assert_eq!(found(&integers, 1 << 20), 0);
    }

    #[test]
    fn integers_of_all_lengths_share_a_tree() {
        let integers = integers(40, |place| [30, 30, 31, 100, 30, 30, 480, 30][place % 8]);
        assert!(found(&integers, 512) > 1);
        assert_eq!(found(&integers, 1 << 20), 0);
        // Nothing on the engine is as long as some integers.
        let session = Session::on(Selector::Sim).unwrap();
        let mut arithmetic = Arithmetic::new(&session, &());
        (arithmetic.worth_seconds, arithmetic.most_bits) = (0.0, 256);
        assert_eq!(shared_factors(&integers, &mut arithmetic).unwrap(), None);
    }

    #[test]
    fn few_integers_and_powers_of_two() {
        let of = |numbers: &[u32]| numbers.iter().copied().map(UBig::from).collect::<Vec<_>>();
        assert_eq!(found(&of(&[15, 21]), 1 << 20), 0);
        assert_eq!(found(&of(&[15, 21]), 32), 2);
        for most in [32, 64, 1 << 20] {
            found(&of(&[2, 4, 8, 32, 1 << 31]), most);
            found(&of(&[3, 6, 12, 5, 40, u32::MAX, 2]), most);
        }
    }

    /// The cores do the tree if the GPU's memory is too small for it.
    #[test]
    fn a_tree_may_not_fit() {
        let integers = integers(300, |_| 500);
        for (memory_bytes, fits) in [(64 << 10, false), (8 << 20, true)] {
            let device = open_sim_with(&SimConfig { memory_bytes, ..SimConfig::default() });
            let session = Session::with_devices(vec![device]).unwrap();
            let mut arithmetic = Arithmetic::new(&session, &());
            (arithmetic.worth_seconds, arithmetic.most_bits) = (0.0, 1 << 14);
            assert_eq!(shared_factors(&integers, &mut arithmetic).unwrap().is_some(), fits, "{memory_bytes}");
            assert_eq!(arithmetic.stages.engine_levels > 0, fits, "{memory_bytes}");
        }
    }

    #[test]
    fn shares_rise() {
        #[derive(Default)]
        struct Shares(Mutex<Vec<f64>>);
        impl Watch for Shares {
            fn progress(&self, share: f64) {
                self.0.lock().unwrap().push(share);
            }
        }
        let (shares, session) = (Shares::default(), Session::on(Selector::Sim).unwrap());
        let mut arithmetic = Arithmetic::new(&session, &shares);
        (arithmetic.worth_seconds, arithmetic.most_bits, arithmetic.piece_bits) = (0.0, 128, 1);
        shared_factors(&integers(75, |_| 40), &mut arithmetic).unwrap();
        let shares = shares.0.into_inner().unwrap();
        assert!(shares.len() > 38 && shares.is_sorted(), "{shares:?}");
        assert!(shares[0] < 0.1 && shares.last().is_some_and(|last| (last - 1.0).abs() < 1e-9), "{shares:?}");
    }

    /// The cores do what is little work, and all work without a GPU.
    #[test]
    fn little_work_is_for_the_cores() {
        let integers = integers(20, |_| 50);
        for (selector, worth) in [(Selector::Sim, 1.0), (Selector::Cpu, 0.0)] {
            let session = Session::on(selector).unwrap();
            let mut arithmetic = Arithmetic::new(&session, &());
            arithmetic.worth_seconds = worth;
            assert_eq!(shared_factors(&integers, &mut arithmetic).unwrap(), None);
        }
    }
}
