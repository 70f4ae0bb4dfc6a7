//! What to measure: sizes, batch counts, and at each of them every algorithm with its settings.

use std::collections::HashMap;
use std::time::Instant;

use rayon::prelude::*;

use super::WHOLE_BITS;
use crate::batch::Shape;
use crate::kernels::Settings;
use crate::operation::{Group, Operation, Role};

/// An algorithm with settings, as a row of a table says it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Candidate {
    /// The algorithm's name.
    pub algorithm: &'static str,
    /// Its settings.
    pub settings: Settings,
    /// The name of the kernel that it comes to.
    pub kernel: String,
}

impl Candidate {
    /// Is it compiled and measured now? Default settings are in any case, others until then.
    pub fn is_due(&self, until: Instant) -> bool {
        self.settings == Settings::default() || Instant::now() < until
    }
}

/// How many lanes a batch has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// So many.
    Lanes(usize),
    /// As many as make an operand of so many bytes.
    OperandBytes(u64),
}

/// The sizes and counts that a table is measured at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Bits of every operand, ascending.
    pub bits: Vec<usize>,
    /// Lanes, few before many; the last one is what rows without a limit of lanes are made for.
    pub counts: Vec<Count>,
}

/// Operations that stand for their groups: what is fastest for them is the rule for the rest of the group.
const REPRESENTATIVES: &[Operation] =
    &[Operation::Add, Operation::AddMod, Operation::MulHi, Operation::DivRem, Operation::MulMod, Operation::MontMul];

/// Operations of the same groups whose times follow other laws: they have rows of their own.
const OTHERS: &[Operation] = &[
    Operation::MulLo,
    Operation::Gcd,
    Operation::InvMod,
    Operation::Sqrt,
    Operation::PowMod,
    Operation::PowModSec,
    Operation::PowModPublic(65537),
];

/// The operations that are measured if nobody says which: products and squares, then one for each group, and those
/// whose times are of another kind.
pub fn usual() -> Vec<Operation> {
    let products = Operation::ALL.iter().filter(|it| it.group() == Group::Product);
    products.chain(REPRESENTATIVES).chain(OTHERS).copied().collect()
}

/// What the rows of an operation are called in a table that is measured: by its group if it stands for that, else by
/// its own name.
pub fn rows_name(operation: Operation) -> &'static str {
    if REPRESENTATIVES.contains(&operation) { operation.group().name() } else { operation.name() }
}

/// Powers take so long that wide ones are not measured: eight times as long for numbers twice as long.
const fn is_power(operation: Operation) -> bool {
    matches!(operation, Operation::PowMod | Operation::PowModSec | Operation::PowModPublic(_))
}

impl Grid {
    /// For a table to keep.
    pub fn full(operation: Operation) -> Self {
        if operation.group() == Group::Product {
            return Self {
                // Between powers of two also what is no multiple of many limbs, and what is just above them: there other
                // algorithms win.
                bits: vec![
                    32, 64, 128, 192, 256, 384, 512, 640, 768, 896, 1024, 1280, 1536, 1792, 2048, 2560, 3000, 3072,
                    3584, 4096, 5000, 6144, 8192, 12288, 16384, 16640, 24576, 32768, 33024, 40960, 49152, 65536, 66048,
                    73728, 98304, 131_072, 132_096, 196_608, 262_144, 1_048_576, 4_194_304, 16_777_216,
                ],
                counts: vec![
                    Count::Lanes(1),
                    Count::Lanes(32),
                    Count::Lanes(1000),
                    Count::Lanes(10_240),
                    Count::Lanes(100_000),
                    Count::OperandBytes(1 << 30),
                ],
            };
        }
        let counts =
            vec![Count::Lanes(1000), Count::Lanes(10_000), Count::Lanes(100_000), Count::OperandBytes(1 << 28)];
        let mut bits = vec![64, 128, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096];
        if !is_power(operation) {
            bits.extend([8192, 16384, 32768, 65536]);
        }
        Self { bits, counts }
    }

    /// For a table in a minute: a full machine and a thousand lanes.
    pub fn quick(operation: Operation) -> Self {
        let counts = vec![Count::Lanes(1000), Count::OperandBytes(1 << 28)];
        if operation.group() == Group::Product {
            return Self { bits: vec![64, 128, 256, 512, 1024, 1536, 2048, 4096, 8192, 16384, 65536], counts };
        }
        let counts = vec![Count::Lanes(1000), Count::Lanes(32_000), Count::OperandBytes(1 << 26)];
        Self { bits: vec![64, 256, 512, 1024, 2048], counts }
    }

    /// The grid without widths that no algorithm takes, and with the widest ones that each takes: there, another one
    /// has to be the rule. `fitting`: the names of the algorithms that take operands of so many bits.
    #[must_use]
    pub fn with_limits(mut self, operation: Operation, fitting: impl Fn(usize) -> Vec<&'static str>) -> Self {
        if operation.group() != Group::Product && !is_power(operation) {
            // Some take every fourth limb only: the widest one of all counts.
            let mut widest: HashMap<&'static str, usize> = HashMap::new();
            for bits in (32..=WHOLE_BITS).step_by(32) {
                widest.extend(fitting(bits).into_iter().map(|name| (name, bits)));
            }
            self.bits.extend(widest.into_values().filter(|bits| *bits < WHOLE_BITS));
        }
        self.bits.retain(|bits| !fitting(*bits).is_empty());
        self.bits.sort_unstable();
        self.bits.dedup();
        self
    }

    /// The numbers of lanes for an operation at a width, ascending, as far as `free_bytes` of device memory
    /// hold operands and results; at least one.
    pub fn lanes(&self, operation: Operation, bits: usize, free_bytes: u64) -> Vec<usize> {
        let operands = operands(operation, bits, 1);
        let results = operation.results(&operands).unwrap_or_default();
        let lane_bytes: u64 = operands.iter().chain(&results).map(|shape| shape.bytes()).sum();
        let most = (free_bytes / lane_bytes.max(1)).max(1) as usize;
        let mut lanes: Vec<usize> = self.counts.iter().map(|count| count.lanes(bits).min(most)).collect();
        lanes.sort_unstable();
        lanes.dedup();
        lanes
    }
}

impl Count {
    /// Lanes of so many bits.
    fn lanes(self, bits: usize) -> usize {
        match self {
            Self::Lanes(lanes) => lanes,
            Self::OperandBytes(bytes) => (bytes / Shape::new(1, bits).bytes()).max(1) as usize,
        }
    }
}

/// The operands that an operation is measured with at a width: all of it, but for bits and for products below `m·R`.
pub fn operands(operation: Operation, bits: usize, lanes: usize) -> Vec<Shape> {
    operation.operands().iter().map(|operand| Shape::new(lanes, operand_bits(operand.role, bits))).collect()
}

/// The bits of an operand with this role where the others have `bits`.
pub const fn operand_bits(role: Role, bits: usize) -> usize {
    match role {
        Role::Bit => 1,
        Role::ReducedProduct => bits + 32 * bits.div_ceil(32),
        _ => bits,
    }
}

/// Does a role require more of an operand's integers than their width?
pub const fn is_bound(role: Role) -> bool {
    matches!(
        role,
        Role::Modulus | Role::OddModulus | Role::Divisor | Role::Candidate | Role::Reduced | Role::ReducedProduct
    )
}

/// Changes random integers of an operand with this role such that no lane is at fault. Moduli, divisors and candidates
/// become odd and have their top bit; an integer that must be below the modulus has not.
pub fn make_valid(role: Role, shape: Shape, limbs: &mut [u32]) {
    if !is_bound(role) {
        return;
    }
    let top = 1 << ((shape.bits - 1) % 32);
    let last = shape.limbs() - 1;
    limbs.par_chunks_exact_mut(shape.limbs()).with_min_len(64).for_each(|lane| match role {
        Role::Reduced | Role::ReducedProduct => lane[last] &= !top,
        _ => {
            lane[last] |= top;
            lane[0] |= 1;
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::Register;

    #[test]
    fn lanes_of_a_width() {
        let grid =
            Grid { bits: vec![], counts: vec![Count::Lanes(1), Count::Lanes(1000), Count::OperandBytes(1 << 20)] };
        let plenty = 1 << 40;
        assert_eq!(grid.lanes(Operation::Mul, 1024, plenty), [1, 1000, 8192]);
        assert_eq!(grid.lanes(Operation::Mul, 65536, plenty), [1, 128, 1000]);
        // 128 + 128 + 256 bytes a lane.
        assert_eq!(grid.lanes(Operation::Mul, 1024, 512 * 700), [1, 700]);
        assert_eq!(grid.lanes(Operation::Mul, 1024, 0), [1]);
        assert_eq!(grid.lanes(Operation::Sqr, 1024, 384 * 2000), [1, 1000, 2000]);
    }

    #[test]
    fn grids_ascend_to_the_widest_operand() {
        let most = Operation::Mul.max_bits();
        for (grid, widest) in [(Grid::full(Operation::Mul), most), (Grid::quick(Operation::Sqr), WHOLE_BITS)] {
            assert!(grid.bits.is_sorted());
            assert_eq!(grid.bits.last().copied(), Some(widest));
        }
    }

    /// `short` takes 100 limbs, `long` 2000.
    #[test]
    fn limits_of_algorithms_are_measured() {
        let fitting = |bits: usize| -> Vec<&str> {
            [("short", 3200), ("long", 64000)].iter().filter(|it| bits <= it.1).map(|it| it.0).collect()
        };
        let grid = Grid::full(Operation::Add).with_limits(Operation::Add, fitting);
        assert_eq!(grid.bits[8..], [2048, 3072, 3200, 4096, 8192, 16384, 32768, 64000]);
    }

    /// `tensor` takes most parts of products at every fourth limb only. That adds no widths to the grid.
    #[test]
    fn gaps_of_algorithms_are_not_measured() {
        for (operation, widest) in [(Operation::MulHi, 12288), (Operation::MulLo, 40960)] {
            let register = Register::shipped();
            let fitting = |bits| register.fitting(operation, &operands(operation, bits, 1)).unwrap();
            let grid = Grid::full(operation).with_limits(operation, fitting);
            assert!(grid.bits.len() <= 24 && grid.bits.contains(&widest), "{operation}: {:?}", grid.bits);
        }
    }

    #[test]
    fn one_operation_stands_for_its_group() {
        let mut names: Vec<&str> = usual().into_iter().map(rows_name).collect();
        for operation in Operation::ALL {
            let known = [operation.name(), operation.group().name()];
            assert!(known.iter().any(|it| names.contains(it)), "{operation} has rows");
        }
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), usual().len());
    }
}
