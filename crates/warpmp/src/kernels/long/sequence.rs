//! Lines and products one after the other, and the scratch memory between them.

use warpmp_launch::{Binding, Part, Sequence, Spec, Stage};

use super::line::{Line, Place};
use super::source::{Number, Source};
use crate::kernels::fft::large::Large;
use crate::kernels::fft::{BLOCK_LIMBS, Fft};
use crate::kernels::{FftSettings, OperandShape, OperationShape};

/// The shortest factor of a product here, in limbs: the shortest one that `fft` takes as the longer one.
pub(super) const LEAST_LIMBS: u32 = 129;

/// A row in scratch memory begins at a multiple of this many limbs, as transforms access pairs of doubles.
const ALIGNED_LIMBS: u32 = 4;

/// A sequence under construction.
pub(super) struct Steps {
    shape: OperationShape,
    /// The specifications with their rows; their own scratch memory is not bound yet.
    parts: Vec<(Box<dyn Spec>, Vec<Binding>)>,
    /// Limbs of scratch memory that rows take now, and at most so far.
    used: u32,
    most: u32,
    counts: Counts,
}

/// What a sequence consists of.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    lines: u32,
    products: u32,
    /// Limbs of the longest factor.
    longest: u32,
}

/// A finished sequence.
#[derive(Debug)]
struct Long {
    sequence: Sequence,
    counts: Counts,
}

/// A state of the scratch memory, to which [`Steps::release`] returns.
#[derive(Clone, Copy)]
pub(super) struct Mark(u32);

impl Steps {
    pub(super) fn new(shape: OperationShape) -> Self {
        Self { shape, parts: Vec::new(), used: 0, most: 0, counts: Counts::default() }
    }

    /// An operand of the operation.
    pub(super) fn operand(&self, i: usize) -> Number {
        let operand = self.shape.operands()[i];
        Number { at: Binding::Parameter(i), limbs: operand.limbs(), common: operand.common }
    }

    /// The highest bit of an operand.
    pub(super) fn operand_bits(&self, i: usize) -> u32 {
        self.shape.operands()[i].bits
    }

    /// All bits of a result of the operation.
    pub(super) fn result(&self, i: usize) -> Place {
        let bits = self.shape.results()[i];
        let at = Binding::Parameter(self.shape.operands().len() + i);
        Number { at, limbs: bits.div_ceil(32), common: false }.place(bits)
    }

    /// A row in scratch memory.
    pub(super) fn reserve(&mut self, limbs: u32) -> Number {
        let at = Binding::Scratch(self.used);
        self.used += limbs.next_multiple_of(ALIGNED_LIMBS);
        self.most = self.most.max(self.used);
        Number { at, limbs, common: false }
    }

    /// The scratch memory in use.
    pub(super) const fn mark(&self) -> Mark {
        Mark(self.used)
    }

    /// Gives back all rows that were reserved after the mark.
    pub(super) const fn release(&mut self, mark: Mark) {
        self.used = mark.0;
    }

    /// Any specification with the places of its rows.
    pub(super) fn push(&mut self, spec: Box<dyn Spec>, rows: impl IntoIterator<Item = Number>) {
        self.parts.push((spec, rows.into_iter().map(|it| it.at).collect()));
    }

    pub(super) fn line(&mut self, line: Line) {
        let rows = line.rows();
        self.counts.lines += 1;
        self.push(Box::new(line), rows);
    }

    /// `a·b` to a row, or its lower limbs as many as the row has.
    pub(super) fn multiply(&mut self, a: Number, b: Number, product: Number) {
        let (a, b) = if a.limbs < b.limbs { (b, a) } else { (a, b) };
        let operand = |it: Number| OperandShape { bits: 32 * it.limbs, common: it.common };
        // A square transforms one factor. A common one stays a product of two: only operands of products can be common.
        let is_square = a == b && !a.common;
        let shape = if is_square {
            OperationShape::square(32 * a.limbs)
        } else {
            OperationShape::product(operand(a), operand(b))
        };
        let shape = shape.truncated(product.limbs);
        self.counts.products += 1;
        self.counts.longest = self.counts.longest.max(a.limbs);
        let spec = product_of(shape).expect("the lengths are in the range of `fft`");
        let rows = if is_square { vec![a, product] } else { vec![a, b, product] };
        self.push(spec, rows);
    }

    /// `a·b` in scratch memory. Where both are short, one gets zeros above it.
    pub(super) fn product(&mut self, a: Number, b: Number) -> Number {
        let is_short = a.limbs.max(b.limbs) < LEAST_LIMBS;
        let longer = if is_short { self.part(a.source(), LEAST_LIMBS) } else { a };
        let (a, b) = (longer, if a == b { longer } else { b });
        let product = self.reserve(a.limbs + b.limbs);
        self.multiply(a, b, product);
        product
    }

    /// A row of these limbs of a number.
    pub(super) fn part(&mut self, from: Source, limbs: u32) -> Number {
        let part = self.reserve(limbs);
        self.line(Line::copy(from, part.place(32 * limbs)));
        part
    }

    /// The kernels.
    pub(super) fn finish(self) -> Box<dyn Spec> {
        let Self { shape, parts, most, counts, .. } = self;
        let own = parts.iter().map(|(spec, _)| spec.scratch_limbs()).max().unwrap_or(0);
        let bound = |(spec, mut bindings): (Box<dyn Spec>, Vec<Binding>)| {
            if spec.scratch_limbs() > 0 {
                bindings.push(Binding::Scratch(most));
            }
            Part { spec, bindings }
        };
        let rows = shape.operands().len() + shape.results().len();
        let parts = parts.into_iter().map(bound).collect();
        let name = format!("{}_long", shape.name());
        // Every kernel of a sequence has the address of scratch memory as a parameter.
        let scratch = (most + own).max(ALIGNED_LIMBS);
        let sequence = Sequence { name, rows, parts, scratch, whole_tiles: false };
        Box::new(Long { sequence, counts })
    }
}

impl Spec for Long {
    fn name(&self) -> String {
        self.sequence.name()
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        self.sequence.stages()
    }

    fn scratch_limbs(&self) -> u32 {
        self.sequence.scratch_limbs()
    }

    fn notes(&self) -> Vec<(&'static str, String)> {
        let Counts { lines, products, longest } = self.counts;
        let products = match products {
            0 => String::new(),
            _ => format!("{products} products by `fft`, the longest of {} bits; ", 32 * longest),
        };
        vec![
            ("steps", format!("{products}{lines} passes over rows")),
            ("memory", format!("{} bytes of scratch memory a lane", 4 * u64::from(self.scratch_limbs()))),
        ]
    }
}

/// The product by `fft`, if it takes the factors.
fn product_of(shape: OperationShape) -> Option<Box<dyn Spec>> {
    match shape.max_limbs() {
        ..LEAST_LIMBS => None,
        LEAST_LIMBS..=BLOCK_LIMBS => Some(Box::new(Fft::new(shape, &FftSettings::default()))),
        _ => Some(Box::new(Large::new(shape)?)),
    }
}
