//! Which algorithm, with which settings, and why.

use crate::batch::Shape;
use crate::error::{Error, Result};
use crate::kernels::{Abilities, Algorithm, GROUP_BITS, OperationShape, Register, Settings, Spec};
use crate::operation::{Operation, Role};
use crate::tuning::{Row, Table};

/// What is to be planned.
#[derive(Clone, Copy)]
pub(super) struct Request<'r> {
    pub(super) operation: Operation,
    pub(super) operands: &'r [Shape],
    pub(super) table: &'r Table,
    pub(super) register: &'r Register,
    /// The algorithm that the caller wants.
    pub(super) asked: Option<&'r str>,
    /// The GPU's compute capability, times ten.
    pub(super) capability: u32,
    /// The most shared memory that a block of the GPU may have.
    pub(super) shared_bytes: u32,
}

/// What was chosen.
pub(super) struct Choice {
    /// Name and summary.
    pub(super) algorithm: [&'static str; 2],
    /// The kernel's operand `i` is the caller's operand `order[i]`.
    pub(super) order: Vec<usize>,
    pub(super) spec: Box<dyn Spec>,
    pub(super) reasons: Vec<String>,
}

impl Request<'_> {
    pub(super) fn choose(&self) -> Result<Choice> {
        let operation = self.operation;
        let whole = OperationShape::new(operation, self.operands)?;
        let find = |name: &str| self.register.find(operation, name);
        if let Some(name) = self.asked
            && find(name).is_none()
        {
            let known = self.register.names(operation).into_iter().map(str::to_owned).collect();
            return Err(Error::UnknownAlgorithm { operation, name: name.into(), known });
        }
        let bits = deciding_bits(operation, self.operands);
        let lanes = self.operands.iter().map(|shape| shape.lanes).max().unwrap_or(0);
        // Where a row's algorithm does not take these lengths, that of the next one does.
        let table = self.table.deciding(operation);
        let rows = || table.candidates(operation, bits, lanes, self.asked);
        let serves = |it: &&Algorithm| it.takes(whole) && it.runs_on(self.capability);
        let comparable = |table: &Table, it: &Algorithm| {
            table.architecture == self.capability || it.recipe.gpus().are_comparable_with(self.capability)
        };
        let takes = |table: &Table, row: &Row| {
            let eligible = |it: &Algorithm| serves(&it) && (self.asked.is_some() || comparable(table, it));
            find(&row.algorithm).is_some_and(eligible)
        };
        let is_long = has_long_quotient(operation, self.operands);
        let of_long = is_long.then(|| {
            let table = self.table.deciding_long_quotients(operation);
            let first = table.candidates(operation, bits, lanes, self.asked).find(|row| takes(table, row));
            first.filter(|row| row.long_quotients).map(|row| (table, row))
        });
        let of_all = || rows().find(|row| !row.long_quotients && takes(table, row)).or_else(|| rows().next());
        let (table, row) = of_long.flatten().map_or_else(|| (table, of_all()), |(table, row)| (table, Some(row)));
        let name = self.asked.or(row.map(|row| row.algorithm.as_str()));
        let row = row.filter(|row| self.asked.is_some() || takes(table, row));
        // Lengths that no row is made for, such as short factors and a long addend.
        let fitting = || self.register.of(operation).filter(serves);
        let any = || fitting().find(|_| self.asked.is_none());
        let Some(algorithm) = name.and_then(find).filter(serves).or_else(any) else {
            let bits = self.operands.iter().map(|shape| shape.bits).collect();
            if self.asked.is_none() && fitting().next().is_none() {
                return Err(Error::NoKernel { operation, bits, limit: GROUP_BITS as usize });
            }
            return Err(Error::AlgorithmUnfit {
                operation,
                algorithm: name.unwrap_or("the default").into(),
                bits,
                fits: fitting().map(|it| it.name.to_owned()).collect(),
            });
        };
        let settings = row.map_or_else(Settings::default, |row| row.settings);
        let (order, shape) = algorithm.ordered(whole);
        let spec = |settings: &Settings| {
            let spec = algorithm.spec(shape, settings, Abilities::of(self.capability));
            spec.map_err(|fault| Error::Settings { operation, fault })
        };
        let mut reasons = self.reasons(table, row, algorithm, comparable(table, algorithm));
        let mut chosen = spec(&settings)?;
        let needed = shared_bytes(&*chosen);
        // A table of another GPU: its settings may need more shared memory than this one has.
        if needed > self.shared_bytes && settings != Settings::default() {
            chosen = spec(&Settings::default())?;
            reasons.push(format!(
                "settings by default: the row's need {needed} bytes of shared memory a block, and the GPU has {}",
                self.shared_bytes
            ));
        }
        // Where the chosen one is slow with doubles, too, there is no better one.
        let is_better = comparable(table, algorithm);
        let passed_over = |row: &&Row| {
            let other = find(&row.algorithm).filter(|it| it.name != algorithm.name && (is_long || !row.long_quotients));
            is_better && other.as_ref().is_some_and(|it| serves(it) && !comparable(table, it))
        };
        if let (None, Some(row)) = (self.asked, rows().find(passed_over)) {
            let (name, capability) = (&row.algorithm, self.capability);
            reasons.push(format!("sm_{capability} is slow with doubles: {name} is not expected to be faster there"));
        }
        Ok(Choice { algorithm: [algorithm.name, algorithm.summary], order, spec: chosen, reasons })
    }

    /// Why this algorithm, and by which row its settings. `is_comparable`: are its times on this GPU like those of the table?
    fn reasons(&self, table: &Table, row: Option<&Row>, algorithm: &Algorithm, is_comparable: bool) -> Vec<String> {
        match (self.asked, row) {
            (None, Some(row)) => {
                let how = if row.predicted {
                    "expected to be fastest there, not measured (`warpmp tune` measures)".to_owned()
                } else {
                    format!("measured fastest there on {}", table.measured_on)
                };
                vec![format!("{table}, {}: {how}", describe(row))]
            }
            (Some(_), row) => {
                let asked = format!("{} was asked for; it accepts {}", algorithm.name, algorithm.accepts);
                let settings = row.map(|row| format!("settings by {table}, {}", describe(row)));
                [asked].into_iter().chain(settings).collect()
            }
            (None, None) if !is_comparable => vec![format!(
                "{table} has no row of another algorithm that takes these lengths; {} does, though sm_{} is slow with doubles",
                algorithm.name, self.capability
            )],
            (None, None) => {
                vec![format!("{table} has no row whose algorithm takes these lengths; {} does", algorithm.name)]
            }
        }
    }
}

/// The most shared memory that a block of the kernels asks for.
fn shared_bytes(spec: &dyn Spec) -> u32 {
    spec.stages().iter().map(|stage| stage.geometry.shared_bytes).max().unwrap_or(0)
}

/// The width that a table's rows go by: that of the modulus or divisor, which kernels hold, else the widest operand's. For
/// inverses they hold both. Of products it is the wider factor's, whatever is added.
fn deciding_bits(operation: Operation, operands: &[Shape]) -> usize {
    let operands = if operation == Operation::MulAdd { &operands[..2] } else { operands };
    let holds = |role: Role| matches!(role, Role::Modulus | Role::OddModulus | Role::Divisor);
    let held = operation.operands().iter().zip(operands).find(|(operand, _)| holds(operand.role));
    match held.filter(|_| operation != Operation::InvMod) {
        Some((_, shape)) => shape.bits,
        None => operands.iter().map(|shape| shape.bits).max().unwrap_or(0),
    }
}

/// Has the quotient by the divisor or modulus at least three quarters of its bits?
fn has_long_quotient(operation: Operation, operands: &[Shape]) -> bool {
    let mut held = operation.operands().iter().zip(operands);
    let divisor = held.find(|(operand, _)| matches!(operand.role, Role::Modulus | Role::Divisor));
    let bits = |i: usize| operands.get(i).map_or(0, |shape| shape.bits);
    let dividend = if operation == Operation::MulMod {
        bits(0) + bits(1)
    } else if operation == Operation::SqrMod {
        2 * bits(0)
    } else {
        bits(0)
    };
    divisor.is_some_and(|(_, divisor)| 4 * dividend >= 7 * divisor.bits)
}

/// A row by what it serves.
fn describe(row: &Row) -> String {
    match row.to_lanes {
        None => format!("row \"to {} bits\"", row.to_bits),
        Some(lanes) => format!("row \"to {} bits and {lanes} lanes\"", row.to_bits),
    }
}
