//! What is measured: operations, widths, operands that fit a core's own cache, and the engine's time.

use std::time::Instant;

use num_bigint::BigUint;
use warpmp::{Batch, Error, HostBuffer, Operation, Options, Session, Shape};
use warpmp_testkit::{Operands, Pattern, oracle};

/// Widths of the operands; those of quotients and of `redc` are twice as long.
pub(crate) const SIZES: &[usize] = &[64, 128, 256, 512, 1024, 2048, 4096, 16384, 65536];

/// What is measured by default.
pub(crate) const OPERATIONS: &[Operation] = &[
    Operation::Mul,
    Operation::Sqr,
    Operation::MulLo,
    Operation::MulHi,
    Operation::Add,
    Operation::Sub,
    Operation::Cmp,
    Operation::Shl(7),
    Operation::Shr(7),
    Operation::AddMod,
    Operation::DivRem,
    Operation::Rem,
    Operation::Sqrt,
    Operation::Gcd,
    Operation::GcdExt,
    Operation::MontMul,
    Operation::Redc,
    Operation::MulMod,
    Operation::PowMod,
    Operation::PowModPublic(65537),
    Operation::InvMod,
    Operation::StrongTest(2),
];

/// Operands and results together should stay within this.
const CACHE_BYTES: usize = 512 << 10;

/// Is it a power with an exponent as long as the modulus?
fn is_power(operation: Operation) -> bool {
    matches!(operation, Operation::PowMod | Operation::StrongTest(_))
}

/// An operation on operands of given widths.
pub(crate) struct Case {
    pub(crate) operation: Operation,
    pub(crate) bits: usize,
    pub(crate) operands: Vec<Operands>,
}

impl Case {
    /// Random operands; none where an operation takes seconds a number.
    pub(crate) fn new(operation: Operation, bits: usize) -> Option<Self> {
        if is_power(operation) && bits > 4096 {
            return None;
        }
        let mut widths = vec![bits; operation.arity()];
        if matches!(operation, Operation::DivRem | Operation::Rem | Operation::Redc | Operation::Sqrt) {
            widths[0] = (2 * bits).min(warpmp::operation::MAX_BITS);
        }
        // Operands, and as much again for results.
        let bytes = 2 * widths.iter().sum::<usize>() / 8;
        let many = if is_power(operation) { 1 << 20 >> (bits.ilog2().saturating_sub(6) * 2) } else { usize::MAX };
        let lanes = (CACHE_BYTES / bytes).min(many).clamp(16, 8192) / 8 * 8;
        let operands =
            widths.iter().zip(1..).map(|(bits, seed)| Operands::generate(Pattern::Random, lanes, *bits, seed));
        let mut case = Self { operation, bits, operands: operands.collect() };
        case.make_valid();
        Some(case)
    }

    pub(crate) fn lanes(&self) -> usize {
        self.operands[0].lanes
    }

    /// Full-length odd moduli, and residues below them.
    fn make_valid(&mut self) {
        let name = self.operation.name();
        let is_modular = self.operation.has_status() || name == "strong_test";
        let Some((m, others)) = self.operands.split_last_mut().filter(|_| is_modular) else { return };
        let width = m.bits.div_ceil(32);
        for row in m.limbs.chunks_exact_mut(width) {
            row[0] |= 1;
            row[width - 1] |= 1 << ((m.bits - 1) % 32);
        }
        if matches!(name, "add_mod" | "mont_mul" | "redc") {
            for operand in others {
                let width = operand.bits.div_ceil(32);
                for row in operand.limbs.chunks_exact_mut(width) {
                    row[width - 1] >>= 1;
                }
            }
        }
    }

    /// The operands as numbers of some library.
    pub(crate) fn numbers<N>(&self, number: fn(&[u32]) -> N) -> Vec<Vec<N>> {
        let row = |lane: usize| self.operands.iter().map(|it| number(it.lane(lane))).collect();
        (0..self.lanes()).map(row).collect()
    }
}

/// The engine on a case: what it runs again and again.
pub(crate) struct Engine<'c> {
    session: &'c Session,
    operation: Operation,
    batches: Vec<Batch<'c>>,
    algorithm: Option<&'c str>,
    /// The memory of the results, used again and again.
    memory: Vec<HostBuffer>,
    /// The algorithm that ran.
    pub(crate) name: String,
}

impl<'c> Engine<'c> {
    /// Runs it once and compares some lanes with the oracle.
    pub(crate) fn new(session: &'c Session, case: &'c Case, algorithm: Option<&'c str>) -> Result<Self, Error> {
        let batch = |it: &'c Operands| Batch::borrow(Shape::new(it.lanes, it.bits), &it.limbs);
        let batches = case.operands.iter().map(batch).collect::<Result<Vec<_>, _>>()?;
        let mut engine =
            Self { session, operation: case.operation, batches, algorithm, memory: Vec::new(), name: String::new() };
        let results = engine.apply()?;
        // The oracle takes seconds for long powers and inverses.
        let lanes = if case.bits > 4096 { 1 } else { case.lanes() };
        for lane in [0, lanes / 2, lanes - 1] {
            let value = |it: &Operands| oracle::Value::new(it.lane(lane), it.bits);
            let operands: Vec<_> = case.operands.iter().map(value).collect();
            let expected = oracle::apply(case.operation, &operands);
            for (expected, found) in expected.iter().zip(&results) {
                let found = oracle::number(found.lane(lane).unwrap_or_default());
                assert_eq!(found, expected.number, "{}, {} bits, lane {lane}", case.operation, case.bits);
            }
        }
        engine.memory = results.into_iter().map(Batch::into_buffer).collect();
        Ok(engine)
    }

    fn apply(&mut self) -> Result<Vec<Batch<'static>>, Error> {
        let mut options = Options::new();
        options.algorithm = self.algorithm.map(str::to_owned);
        options.into = std::mem::take(&mut self.memory);
        let operands: Vec<&Batch> = self.batches.iter().collect();
        let (results, report) = self.session.apply(self.operation, &operands, options)?;
        self.name = report.algorithm;
        Ok(results)
    }

    /// Runs it into the memory of the results before.
    pub(crate) fn run(&mut self) {
        // It ran before, on the same operands: there is no error.
        let results = self.apply().unwrap_or_default();
        self.memory = results.into_iter().map(Batch::into_buffer).collect();
    }
}

/// num-bigint's way, as its users have it; none where it has none.
pub(crate) fn bigint(operation: Operation) -> Option<fn(&[BigUint]) -> BigUint> {
    use Operation as O;
    Some(match operation {
        O::Mul | O::MulLo | O::MulHi => |x| &x[0] * &x[1],
        O::Sqr => |x| &x[0] * &x[0],
        O::Add => |x| &x[0] + &x[1],
        O::Sub => |x| if x[0] < x[1] { &x[1] - &x[0] } else { &x[0] - &x[1] },
        O::Cmp => |x| BigUint::from(u8::from(x[0] < x[1])),
        O::Shl(_) => |x| &x[0] << 7,
        O::Shr(_) => |x| &x[0] >> 7,
        O::AddMod => |x| {
            let sum = &x[0] + &x[1];
            if sum < x[2] { sum } else { sum - &x[2] }
        },
        O::DivRem => |x| &x[0] / &x[1],
        O::Rem | O::Redc => |x| &x[0] % &x[1],
        O::Sqrt => |x| x[0].sqrt(),
        O::MontMul | O::MulMod => |x| &x[0] * &x[1] % &x[2],
        O::PowMod => |x| x[0].modpow(&x[1], &x[2]),
        O::PowModPublic(_) => |x| x[0].modpow(&BigUint::from(65537_u32), &x[1]),
        O::InvMod => |x| x[0].modinv(&x[1]).unwrap_or_default(),
        O::StrongTest(_) => |x| BigUint::from(2_u32).modpow(&(&x[0] >> 1), &x[0]),
        _ => return None,
    })
}

/// Nanoseconds a lane of each of several ways, in turn: the fastest of so many rounds, the least disturbed; of what takes
/// long, of fewer.
pub(crate) fn fastest(lanes: usize, rounds: usize, ways: &mut [&mut (dyn FnMut() + Send)]) -> Vec<f64> {
    const ROUND_SECONDS: f64 = 5e-4;
    const WAY_SECONDS: f64 = 0.5;
    let timed = |way: &mut (dyn FnMut() + Send), times: usize| {
        let start = Instant::now();
        (0..times).for_each(|_| way());
        start.elapsed().as_secs_f64() / times as f64
    };
    let mut found: Vec<f64> = ways.iter_mut().map(|way| timed(*way, 1)).collect();
    let plan = |seconds: f64| {
        let times = (ROUND_SECONDS / seconds).ceil().clamp(1.0, 1000.0);
        (times as usize, (WAY_SECONDS / (times * seconds)) as usize)
    };
    let plans: Vec<(usize, usize)> = found.iter().map(|seconds| plan(*seconds)).collect();
    for round in 0..rounds {
        for ((way, (times, most)), found) in ways.iter_mut().zip(&plans).zip(&mut found) {
            if round < *most {
                *found = timed(*way, *times).min(*found);
            }
        }
    }
    found.iter().map(|seconds| seconds * 1e9 / lanes as f64).collect()
}
