//! Walks on the processor's cores: by vectors where there are any, else by words of 64 bits.

mod vectors;
mod words;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;
use warpmp_simd::{Avx2, Ifma, Simd as _};

use crate::error::Result;
use crate::field::integer;
use crate::meetings::Distinguished;
use crate::search::{Walks, hash_of, limbs_of, residue_of, suspended_words};
use crate::walk::{BLOCK, LOOK, Spot, Walk};
use words::Words;

/// The most walks of a group.
pub(crate) const GROUP: u64 = 4096;

/// The instructions that walks on the processor use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Instructions {
    /// AVX-512 IFMA: eight walks a vector, digits of 52 bits.
    Ifma,
    /// AVX2: four walks a vector, digits of 28 bits; for fields of at most 136 bits.
    Avx2,
    /// Words of 64 bits, on every processor.
    Words,
}

impl fmt::Display for Instructions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ifma => "AVX-512 IFMA",
            Self::Avx2 => "AVX2",
            Self::Words => "words",
        })
    }
}

impl Instructions {
    /// The instructions that this processor has for a field of so many bits, the fastest first.
    pub fn available(bits: u64) -> Vec<Self> {
        let all = [
            (Self::Ifma, Ifma::detect().is_some()),
            (Self::Avx2, Avx2::detect().is_some() && bits <= vectors::AVX2_BITS),
            (Self::Words, true),
        ];
        all.into_iter().filter_map(|(instructions, here)| here.then_some(instructions)).collect()
    }
}

/// Called for each walk that reaches a distinguished point: the walk's number and `x`. Returns the next start.
type Arrival<'a, const W: usize> = dyn FnMut(usize, &[u64; W]) -> Spot<W> + 'a;

/// Walks that move together.
trait Lanes<const W: usize>: fmt::Debug + Send {
    /// Makes rounds.
    fn rounds(&mut self, rounds: u32, arrive: &mut Arrival<'_, W>);

    /// Looks [`LOOK`] rounds ahead: walks in long cycles leave them.
    fn leave_cycles(&mut self);

    /// The state of all walks.
    fn spots(&self) -> Vec<Spot<W>>;

    /// Sets the state of all walks.
    fn replace(&mut self, spots: Vec<Spot<W>>);
}

/// Makes groups of walks from their starts.
type Maker<const W: usize> = Box<dyn Fn(Vec<Spot<W>>) -> Box<dyn Lanes<W>>>;

/// The instructions' groups, and the number that divides the walks of a group.
fn maker<const W: usize>(walk: &Arc<Walk<W>>, instructions: Instructions) -> (Maker<W>, u64) {
    let bits = integer(&walk.field.p).bits() as usize;
    let found = match instructions {
        Instructions::Ifma => Ifma::detect().and_then(|s| vectors::ifma(s, walk, bits)),
        Instructions::Avx2 => Avx2::detect().and_then(|s| vectors::avx2(s, walk, bits)),
        Instructions::Words => None,
    };
    found.unwrap_or_else(|| {
        let walk = walk.clone();
        (Box::new(move |spots| Box::new(Words::new(walk.clone(), spots))), 1)
    })
}

/// The walks of all cores.
#[derive(Debug)]
pub(crate) struct Engine<const W: usize> {
    walk: Arc<Walk<W>>,
    groups: Vec<Group<W>>,
    next: AtomicU64,
    rounds: u64,
    /// Rounds since the last look for long cycles.
    unwatched: u32,
    /// Steps that were made ahead to find cycles.
    looked: u64,
}

/// Walks of one core.
#[derive(Debug)]
struct Group<const W: usize> {
    lanes: Box<dyn Lanes<W>>,
    /// The start of each walk.
    starts: Vec<u64>,
    waiting: Waiting<W>,
}

/// Starts that a group has taken and not used, the next one last.
#[derive(Debug, Default)]
struct Waiting<const W: usize>(Vec<(u64, Spot<W>)>);

impl<const W: usize> Engine<W> {
    /// So many walks, from block `first` of the starts on. Whole vectors are filled, so there may be a few more.
    pub(crate) fn new(walk: &Arc<Walk<W>>, instructions: Option<Instructions>, walks: u64, first: u64) -> Self {
        let next = AtomicU64::new(first);
        let instructions = instructions.unwrap_or_else(|| Instructions::available(integer(&walk.field.p).bits())[0]);
        let (make, multiple) = maker(walk, instructions);
        let size = walks.div_ceil(rayon::current_num_threads() as u64).min(GROUP).next_multiple_of(multiple);
        let sizes = (0..walks.div_ceil(size)).map(|i| size.min(walks - i * size).next_multiple_of(multiple));
        let group = |size: u64| {
            let mut waiting = Waiting::default();
            let (starts, spots) = (0..size).map(|_| waiting.take(walk, &next)).unzip();
            Group { lanes: make(spots), starts, waiting }
        };
        let groups = sizes.map(group).collect();
        Self { walk: walk.clone(), groups, next, rounds: 0, unwatched: 0, looked: 0 }
    }
}

impl<const W: usize> Walks for Engine<W> {
    fn advance(&mut self, rounds: u32, meanwhile: &mut dyn FnMut()) -> Result<Vec<Distinguished>> {
        meanwhile();
        let Self { walk, groups, next, .. } = self;
        let look = self.unwatched + rounds >= walk.settings.rhythm();
        let reports = groups
            .par_iter_mut()
            .flat_map_iter(|Group { lanes, starts, waiting }| {
                let mut reports = Vec::new();
                lanes.rounds(rounds, &mut |number, x| {
                    let hash = hash_of(limbs_of(x, walk.limbs));
                    let (start, spot) = waiting.take(walk, next);
                    let start = std::mem::replace(&mut starts[number], start);
                    reports.push(Distinguished { start, hash });
                    spot
                });
                if look {
                    lanes.leave_cycles();
                }
                reports
            })
            .collect();
        self.rounds += u64::from(rounds);
        self.unwatched = if look { 0 } else { self.unwatched + rounds };
        self.looked += if look { u64::from(LOOK) * self.walks() } else { 0 };
        Ok(reports)
    }

    fn steps(&self) -> u64 {
        self.rounds * self.walks() + self.looked
    }

    fn walks(&self) -> u64 {
        self.groups.iter().map(|group| group.starts.len() as u64).sum()
    }

    fn next_block(&self) -> u64 {
        self.next.load(Ordering::Relaxed)
    }

    fn suspend(&mut self, each: &mut dyn FnMut(&[u32])) -> Result<()> {
        let limbs = self.walk.limbs;
        for Group { lanes, starts, .. } in &self.groups {
            for (&start, Spot { x, y }) in starts.iter().zip(&lanes.spots()) {
                let start = [start as u32, (start >> 32) as u32];
                let words: Vec<u32> = start.into_iter().chain(limbs_of(x, limbs)).chain(limbs_of(y, limbs)).collect();
                each(&words);
            }
        }
        Ok(())
    }

    fn resume(&mut self, walks: &[u32]) -> Result<usize> {
        let limbs = self.walk.limbs as usize;
        let words = suspended_words(self.walk.limbs);
        let mut left = walks.chunks_exact(words);
        for Group { lanes, starts, .. } in &mut self.groups {
            let mut spots = lanes.spots();
            for ((start, spot), walk) in starts.iter_mut().zip(&mut spots).zip(left.by_ref()) {
                *start = u64::from(walk[0]) | u64::from(walk[1]) << 32;
                let (x, y) = walk[2..].split_at(limbs);
                *spot = Spot { x: residue_of(x), y: residue_of(y) };
            }
            lanes.replace(spots);
        }
        Ok(walks.len() / words - left.len())
    }
}

impl<const W: usize> Waiting<W> {
    /// A start that no walk has had.
    fn take(&mut self, walk: &Walk<W>, next: &AtomicU64) -> (u64, Spot<W>) {
        loop {
            if let Some(start) = self.0.pop() {
                return start;
            }
            let block = next.fetch_add(1, Ordering::Relaxed);
            self.0 = (block * BLOCK..).zip(walk.starts(block)).collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;

    use super::*;
    use crate::affine::{Group as Curve, Point};
    use crate::walk::Settings;
    use crate::walk::reference::Reference;
    use crate::{Problem, challenges};

    /// A field of 34 bits, one of 153 bits and one of 256 bits, beside the challenges: every number of digits.
    fn problems() -> Vec<Problem> {
        let hex = |digits: &str| BigUint::parse_bytes(digits.as_bytes(), 16).unwrap();
        let point = |x, y| -> Point { Some((hex(x), hex(y))) };
        let secp256k1 = Curve {
            p: hex("FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEFFFFFC2F"),
            a: BigUint::ZERO,
            b: hex("7"),
        };
        let n = hex("FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141");
        let base = point(
            "79BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798",
            "483ADA7726A3C4655DA4FBFC0E1108A8FD17B448A68554199C47D08FFB10D4B8",
        );
        let target = secp256k1.multiply(&hex("123456789ABCDEF"), &base);
        let mut problems = vec![Problem::new("secp256k1", secp256k1, n, base, target).unwrap()];
        let text = include_str!("../../tests/data/curves.csv");
        let row = text.lines().filter(|line| !line.starts_with('#')).nth(1).unwrap();
        let numbers: Vec<BigUint> = row.split(',').map(|digits| digits.parse().unwrap()).collect();
        let [p, a, b, n, px, py, qx, qy, _] = numbers.try_into().unwrap();
        problems.push(Problem::new("small", Curve { p, a, b }, n, Some((px, py)), Some((qx, qy))).unwrap());
        problems.extend(["eccp-79", "eccp-109", "eccp-131", "secp112r1"].map(|name| challenges::named(name).unwrap()));
        problems
    }

    /// Rounds and looks of every instruction set, point by point the same as the words'.
    fn agree<const W: usize>(problem: &Problem, branch_bits: u32) {
        let settings = Settings { branch_bits, distinguished_bits: 21, seed: 5 };
        let walk = Arc::new(Walk::<W>::new(problem, settings).unwrap());
        let spots = walk.starts(3)[..64].to_vec();
        for instructions in Instructions::available(problem.group.p.bits()) {
            let (make, _) = maker(&walk, instructions);
            let mut lanes = make(spots.clone());
            let mut expected = spots.clone();
            assert_eq!(lanes.spots(), expected);
            for batch in 0..12 {
                for _ in 0..5 {
                    walk.round(&mut expected);
                    lanes.rounds(1, &mut |_, _| unreachable!("no point is distinguished"));
                    assert_eq!(lanes.spots(), expected, "{}, {instructions}", problem.name);
                }
                for _ in 0..batch {
                    walk.round(&mut expected);
                }
                lanes.rounds(batch, &mut |_, _| unreachable!("no point is distinguished"));
                walk.leave_cycles(&mut expected);
                lanes.leave_cycles();
                assert_eq!(lanes.spots(), expected, "{}, {instructions}, look {batch}", problem.name);
            }
        }
    }

    /// The reports of every instruction set are the ends of their walks, by the definition.
    fn reports_are_true<const W: usize>(problem: &Problem) {
        let settings = Settings { branch_bits: 5, distinguished_bits: 4, seed: 3 };
        let walk = Arc::new(Walk::<W>::new(problem, settings).unwrap());
        let reference = Reference::new(problem, settings).unwrap();
        for instructions in Instructions::available(problem.group.p.bits()) {
            let mut engine = Engine::new(&walk, Some(instructions), 64, 5);
            let mut reports = engine.advance(20, &mut || {}).unwrap();
            reports.extend(engine.advance(17, &mut || {}).unwrap());
            assert_eq!((engine.walks(), engine.steps()), (64, 37 * 64));
            assert!((80..240).contains(&reports.len()), "{} reports", reports.len());
            for report in &reports {
                let end = walk.replay(report.start, 1 << 16, &|| true).unwrap();
                assert_eq!(hash_of(limbs_of(&end.x, walk.limbs)), report.hash, "{report:?}");
            }
            for report in reports.iter().step_by(23) {
                let mut limbs = reference.replay(report.start, 1 << 16).unwrap().to_u32_digits();
                limbs.resize(walk.limbs as usize, 0);
                assert_eq!(hash_of(limbs), report.hash, "{report:?}");
            }
        }
    }

    /// Walks that an engine shows go on in every other one, and report what they would have reported.
    fn suspended_walks_go_on<const W: usize>(problem: &Problem) {
        let settings = Settings { branch_bits: 6, distinguished_bits: 5, seed: 3 };
        let walk = Arc::new(Walk::<W>::new(problem, settings).unwrap());
        let all = Instructions::available(problem.group.p.bits());
        let mut first = Engine::new(&walk, Some(all[0]), 64, 5);
        first.advance(21, &mut || {}).unwrap();
        let mut saved = Vec::new();
        first.suspend(&mut |words| saved.extend_from_slice(words)).unwrap();
        assert_eq!(saved.len(), 64 * suspended_words(walk.limbs));
        let mut expected = first.advance(1, &mut || {}).unwrap();
        expected.sort_unstable();
        assert!(!expected.is_empty());
        for instructions in all {
            // There is room for half of the walks here, and for twice as many.
            for walks in [32, 128] {
                let mut engine = Engine::new(&walk, Some(instructions), walks, 9);
                assert_eq!(engine.resume(&saved).unwrap() as u64, walks.min(64));
                let mut shown = Vec::new();
                engine.suspend(&mut |words| shown.extend_from_slice(words)).unwrap();
                let common = shown.len().min(saved.len());
                assert_eq!(shown[..common], saved[..common]);
                let reports = engine.advance(1, &mut || {}).unwrap();
                if walks == 128 {
                    assert!(expected.iter().all(|point| reports.contains(point)), "{}, {instructions}", problem.name);
                }
            }
        }
    }

    macro_rules! with_words {
        ($problem:expr, $check:ident($($more:expr),*)) => {
            match crate::walk::limbs(&$problem.group.p).div_ceil(2) {
                2 => $check::<2>($problem, $($more),*),
                3 => $check::<3>($problem, $($more),*),
                4 => $check::<4>($problem, $($more),*),
                _ => $check::<5>($problem, $($more),*),
            }
        };
    }

    #[test]
    fn vectors_walk_as_words_do() {
        for problem in &problems() {
            with_words!(problem, agree(3));
        }
    }

    #[test]
    fn reports_lead_to_distinguished_points() {
        for problem in &problems()[1..5] {
            with_words!(problem, reports_are_true());
        }
    }

    #[test]
    fn walks_leave_an_engine_and_come_to_another() {
        for problem in &problems()[..5] {
            with_words!(problem, suspended_walks_go_on());
        }
    }
}
