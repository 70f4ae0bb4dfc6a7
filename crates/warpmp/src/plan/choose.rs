//! Which algorithm, with which settings, and why.

use std::collections::HashSet;

use warpmp_device::DeviceInfo;

use crate::batch::Shape;
use crate::error::{Error, Result};
use crate::kernels::{self, Algorithm, MUL, MulShape, OperationShape, SQR, Settings, Spec, SqrShape};
use crate::operation::{Operation, Role, product_bits};
use crate::tuning::{Candidate, Row, Table};

/// What is to be planned.
#[derive(Clone, Copy)]
pub(super) struct Request<'r> {
    pub(super) operation: Operation,
    pub(super) operands: &'r [Shape],
    pub(super) table: &'r Table,
    /// The algorithm that the caller wants.
    pub(super) asked: Option<&'r str>,
    /// Can the GPU copy to shared memory asynchronously?
    pub(super) async_copies: bool,
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
        match self.operation {
            Operation::Mul => self.among(MUL, |it| mul_roles(self.operands, it.longer_first)),
            Operation::Sqr => self.among(SQR, |_| (vec![0], sqr_shape(self.operands[0]))),
            other => {
                let shape = OperationShape::new(other, self.operands)?;
                let order: Vec<usize> = (0..self.operands.len()).collect();
                self.among(kernels::register(other), |_| (order.clone(), shape))
            }
        }
    }

    /// Every algorithm that fits with every setting worth trying: what comes to the same kernel once, what the
    /// device cannot launch not at all. The default settings of all algorithms come first.
    pub(super) fn candidates(&self, device: &DeviceInfo) -> Vec<Candidate> {
        let mut found = match self.operation {
            Operation::Mul => self.all_of(MUL, device, |it| mul_roles(self.operands, it.longer_first).1),
            Operation::Sqr => self.all_of(SQR, device, |_| sqr_shape(self.operands[0])),
            other => OperationShape::new(other, self.operands)
                .map_or_else(|_| Vec::new(), |shape| self.all_of(kernels::register(other), device, |_| shape)),
        };
        found.sort_by_key(|candidate| candidate.settings != Settings::default());
        found
    }

    fn all_of<S: Copy>(
        &self,
        register: &'static [Algorithm<S>],
        device: &DeviceInfo,
        shape: impl Fn(&Algorithm<S>) -> S,
    ) -> Vec<Candidate> {
        let mut known = HashSet::new();
        let mut found = Vec::new();
        for algorithm in register {
            let shape = shape(algorithm);
            if !(algorithm.fits)(shape) {
                continue;
            }
            for settings in (algorithm.candidates)(shape) {
                let spec = (algorithm.spec)(shape, &settings, self.async_copies);
                let kernel = spec.name();
                if is_possible(&*spec, device) && known.insert(kernel.clone()) {
                    found.push(Candidate { algorithm: algorithm.name, settings, kernel });
                }
            }
        }
        found
    }

    /// The names of the algorithms that take the operands.
    pub(super) fn fitting(&self) -> Vec<&'static str> {
        match self.operation {
            Operation::Mul => fitting(MUL, |it| mul_roles(self.operands, it.longer_first).1),
            Operation::Sqr => fitting(SQR, |_| sqr_shape(self.operands[0])),
            other => OperationShape::new(other, self.operands)
                .map_or_else(|_| Vec::new(), |shape| fitting(kernels::register(other), |_| shape)),
        }
    }

    /// Chooses from a register; `roles`: what an algorithm's kernel is made for, and the order of its
    /// operands.
    fn among<S: Copy>(
        &self,
        register: &'static [Algorithm<S>],
        roles: impl Fn(&Algorithm<S>) -> (Vec<usize>, S),
    ) -> Result<Choice> {
        let operation = self.operation;
        let fits = |it: &Algorithm<S>| (it.fits)(roles(it).1);
        let find = |name: &str| register.iter().find(|it| it.name == name);
        if let Some(name) = self.asked
            && find(name).is_none()
        {
            let known = kernels::names(operation).into_iter().map(str::to_owned).collect();
            return Err(Error::UnknownAlgorithm { operation, name: name.into(), known });
        }
        let bits = deciding_bits(operation, self.operands);
        let lanes = self.operands.iter().map(|shape| shape.lanes).max().unwrap_or(0);
        // Where a row's algorithm does not take these lengths, that of the next one does.
        let table = self.table.deciding(operation);
        let rows = || table.candidates(operation, bits, lanes, self.asked);
        let row = rows().find(|row| find(&row.algorithm).is_some_and(fits)).or_else(|| rows().next());
        let name = self.asked.or(row.map(|row| row.algorithm.as_str()));
        // Lengths that no row is made for, such as short factors and a long addend.
        let any = || register.iter().find(|it| self.asked.is_none() && fits(it));
        let row = row.filter(|row| self.asked.is_some() || find(&row.algorithm).is_some_and(fits));
        let Some(algorithm) = name.and_then(find).filter(|it| fits(it)).or_else(any) else {
            return Err(Error::AlgorithmUnfit {
                operation,
                algorithm: name.unwrap_or("the default").into(),
                bits: self.operands.iter().map(|shape| shape.bits).collect(),
                fits: register.iter().filter(|it| fits(it)).map(|it| it.name.to_owned()).collect(),
            });
        };
        let mut reasons = Vec::new();
        match (self.asked, row) {
            (None, Some(row)) => {
                let how = if row.predicted {
                    "expected to be fastest there, not measured (`warpmp tune` measures)".to_owned()
                } else {
                    format!("measured fastest there on {}", table.measured_on)
                };
                reasons.push(format!("{table}, {}: {how}", describe(row)));
            }
            (Some(_), row) => {
                reasons.push(format!("{} was asked for; it accepts {}", algorithm.name, algorithm.accepts));
                reasons.extend(row.map(|row| format!("settings by {table}, {}", describe(row))));
            }
            (None, None) => {
                reasons
                    .push(format!("{table} has no row whose algorithm takes these lengths; {} does", algorithm.name));
            }
        }
        let settings = row.map_or_else(Settings::default, |row| row.settings);
        let (order, shape) = roles(algorithm);
        let spec = (algorithm.spec)(shape, &settings, self.async_copies);
        Ok(Choice { algorithm: [algorithm.name, algorithm.summary], order, spec, reasons })
    }
}

fn fitting<S: Copy>(register: &'static [Algorithm<S>], shape: impl Fn(&Algorithm<S>) -> S) -> Vec<&'static str> {
    register.iter().filter(|it| (it.fits)(shape(it))).map(|it| it.name).collect()
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

/// Can the device launch it?
fn is_possible(spec: &dyn Spec, device: &DeviceInfo) -> bool {
    (0..spec.stages())
        .map(|stage| spec.grid(stage, 1))
        .all(|grid| grid.shared_bytes <= device.shared_bytes_per_block && grid.threads <= device.threads_per_block)
}

/// A row by what it serves.
fn describe(row: &Row) -> String {
    match row.to_lanes {
        None => format!("row \"to {} bits\"", row.to_bits),
        Some(lanes) => format!("row \"to {} bits and {lanes} lanes\"", row.to_bits),
    }
}

/// Which operand is the kernel's first, and what the kernel is made for. A common operand is always second.
fn mul_roles(operands: &[Shape], longer_first: bool) -> (Vec<usize>, MulShape) {
    let (a, b) = (operands[0], operands[1]);
    let common = (a.lanes == 1) != (b.lanes == 1);
    let swapped = if common {
        a.lanes == 1
    } else if longer_first {
        a.bits < b.bits
    } else {
        a.bits > b.bits
    };
    let (first, second) = if swapped { (b, a) } else { (a, b) };
    let product = Shape::new(1, product_bits(a.bits, b.bits));
    let order = if swapped { vec![1, 0] } else { vec![0, 1] };
    (order, MulShape { limbs: [first, second, product].map(limbs), common_b: common })
}

fn sqr_shape(a: Shape) -> SqrShape {
    SqrShape { limbs: [limbs(a), limbs(Shape::new(1, product_bits(a.bits, a.bits)))] }
}

/// Limbs a row; operands are short enough.
fn limbs(shape: Shape) -> u32 {
    u32::try_from(shape.limbs()).unwrap_or(u32::MAX)
}
