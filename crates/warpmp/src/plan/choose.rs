//! Which algorithm, with which settings, and why.

use crate::batch::Shape;
use crate::error::{Error, Result};
use crate::kernels::{self, Algorithm, MUL, MulShape, OperationShape, SQR, Settings, Spec, SqrShape};
use crate::operation::{Operation, product_bits};
use crate::tuning::{Row, Table};

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
        let bits = self.operands.iter().map(|shape| shape.bits).max().unwrap_or(0);
        let lanes = self.operands.iter().map(|shape| shape.lanes).max().unwrap_or(0);
        // Where a row's algorithm does not take these lengths, that of the next one does.
        let rows = || self.table.candidates(operation, bits, lanes, self.asked);
        let row = rows().find(|row| find(&row.algorithm).is_some_and(fits)).or_else(|| rows().next());
        let name = self.asked.or(row.map(|row| row.algorithm.as_str()));
        let Some(algorithm) = name.and_then(find).filter(|it| fits(it)) else {
            return Err(Error::AlgorithmUnfit {
                operation,
                algorithm: name.unwrap_or("the default").into(),
                bits: self.operands.iter().map(|shape| shape.bits).collect(),
                fits: register.iter().filter(|it| fits(it)).map(|it| it.name.to_owned()).collect(),
            });
        };
        let mut reasons = Vec::new();
        match (self.asked, row) {
            (None, Some(row)) => reasons.push(self.default_reason(row)),
            (Some(_), row) => {
                reasons.push(format!("{} was asked for; it accepts {}", algorithm.name, algorithm.accepts));
                reasons.extend(row.map(|row| format!("settings by {}, {}", self.table, describe(row))));
            }
            (None, None) => {}
        }
        let settings = row.map_or_else(Settings::default, |row| row.settings);
        let (order, shape) = roles(algorithm);
        let spec = (algorithm.spec)(shape, &settings, self.async_copies);
        Ok(Choice { algorithm: [algorithm.name, algorithm.summary], order, spec, reasons })
    }

    fn default_reason(&self, row: &Row) -> String {
        format!("{}, {}: measured fastest there on {}", self.table, describe(row), self.table.measured_on)
    }
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
