//! Lines and products one after the other, and the scratch memory between them.
//!
//! A product is by `tensor` where that is faster for many products, else by `fft`. The lengths where one follows the other are
//! measured: they are the lengths of the shipped table, without its rows for few products.

use std::mem;

use warpmp_kernel::build::Glue;
use warpmp_launch::{Binding, Layout, Part, Sequence, Spec, Stage};

use super::line::{Line, MOST_PACKED_LIMBS, Place};
use super::source::{Number, Source};
use crate::kernels::fft::large::Large;
use crate::kernels::fft::{BLOCK_LIMBS, Fft, MOST_LIMBS_OF_BLOCK};
use crate::kernels::tensor::{self, Tensor};
use crate::kernels::transform::SHARED_MEMORY_FROM;
use crate::kernels::{
    FftSettings, Gpus, LongSettings, On, OperandShape, OperationShape, TensorSettings, With, candidates,
};

/// The longer factor of a product has at least this many limbs here.
const LEAST_LIMBS: u32 = *tensor::LIMBS.start();

/// The limbs of the longest factor of products, and of the longest number whose square is by `tensor`.
const TENSOR_LIMBS: [u32; 2] = [512, 416];

/// A row in scratch memory begins at a multiple of this many limbs, as transforms access pairs of doubles.
const ALIGNED_LIMBS: u32 = 4;

/// A sequence under construction.
pub(super) struct Steps {
    shape: OperationShape,
    settings: LongSettings,
    /// Are the steps for all lanes at once?
    is_shared: bool,
    /// Does a block have a product that takes four steps by default?
    has_long_blocks: bool,
    /// Do the kernels read and write whole tiles? See [`with_whole_tiles`](Self::with_whole_tiles).
    whole_tiles: bool,
    /// The specifications with their rows; their own scratch memory is not bound yet.
    parts: Vec<(Box<dyn Spec>, Vec<Binding>)>,
    /// Limbs of scratch memory that rows take now, and at most so far.
    used: u32,
    most: u32,
    /// The steps that are done for each lane, and for all lanes at once.
    counts: [Counts; 2],
}

/// The steps of a sequence.
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
    counts: [Counts; 2],
}

/// A specification that is launched for the first lane alone. The row that it leaves there serves every lane.
#[derive(Debug)]
pub(in crate::kernels) struct Shared(pub(in crate::kernels) Box<dyn Spec>);

/// A state of the scratch memory, to which [`Steps::release`] returns.
#[derive(Clone, Copy)]
pub(super) struct Mark(u32);

impl Steps {
    pub(super) fn new(shape: OperationShape, settings: LongSettings) -> Self {
        Self {
            shape,
            settings,
            is_shared: false,
            has_long_blocks: false,
            whole_tiles: false,
            parts: Vec::new(),
            used: 0,
            most: 0,
            counts: Default::default(),
        }
    }

    /// The same for numbers that are so short that the scratch memory of a whole tile is little. Then kernels of short numbers may have
    /// several lanes a warp.
    pub(super) fn with_whole_tiles(self) -> Self {
        Self { whole_tiles: true, ..self }
    }

    /// Steps that are done once for all lanes if `is_shared`: from rows that serve every lane to rows that serve every lane.
    pub(super) fn shared<T>(&mut self, is_shared: bool, steps: impl FnOnce(&mut Self) -> T) -> T {
        let before = mem::replace(&mut self.is_shared, is_shared);
        let result = steps(self);
        self.is_shared = before;
        result
    }

    /// The layout of kernels of numbers of these limbs: of lanes with `most` limbs each if the kernels have whole tiles, else a warp a
    /// number, so that no lane beyond the last one is touched. A thread has at least `least` limbs.
    pub(super) fn short_layout(&self, limbs: u32, [least, most]: [u32; 2]) -> Layout {
        let layout = if self.whole_tiles {
            Layout::narrow(limbs, most, Layout::LANE_LIMBS)
        } else {
            let warps = if self.is_shared { 1 } else { 2 };
            Layout { group: 32, length: limbs.div_ceil(32), warps, glue: Glue::None }
        };
        Layout { length: layout.length.max(least), ..layout }
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
        Number { at, limbs, common: self.is_shared }
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
        let spec = if self.is_shared { Box::new(Shared(spec)) } else { spec };
        self.parts.push((spec, rows.into_iter().map(|it| it.at).collect()));
    }

    pub(super) fn line(&mut self, line: Line) {
        let line = if self.packs(line.limbs) { line.packed() } else { line };
        let rows = line.rows();
        self.counts().lines += 1;
        self.push(Box::new(line), rows);
    }

    /// Do lines of these limbs have a warp for each lane?
    pub(super) const fn packs(&self, limbs: u32) -> bool {
        self.whole_tiles && !self.is_shared && limbs <= MOST_PACKED_LIMBS
    }

    const fn counts(&mut self) -> &mut Counts {
        &mut self.counts[self.is_shared as usize]
    }

    /// `a·b` to a row, or its lower limbs as many as the row has. The longer factor has at least [`LEAST_LIMBS`] limbs, of a part of a
    /// product 129.
    pub(super) fn multiply(&mut self, a: Number, b: Number, product: Number) {
        let is_common = |it: Number| it.common && !self.is_shared;
        let longest = a.limbs.max(b.limbs);
        // `tensor` has whole products only.
        let is_whole = product.limbs == a.limbs + b.limbs;
        let by_tensor = is_whole && longest <= TENSOR_LIMBS[usize::from(a == b)];
        // A square transforms one factor; for `tensor` it is a product of two. A common one stays a product of two, too: only operands
        // of products can be common.
        let is_square = a == b && !is_common(a) && !by_tensor;
        // A common factor second. Else `tensor` takes the shorter one first, `fft` the longer one.
        let swaps = if is_common(a) == is_common(b) {
            if by_tensor { a.limbs > b.limbs } else { a.limbs < b.limbs }
        } else {
            is_common(a)
        };
        let (a, b) = if swaps { (b, a) } else { (a, b) };
        let operand = |it: Number| OperandShape { bits: 32 * it.limbs, common: is_common(it) };
        let shape = if is_square {
            OperationShape::square(32 * a.limbs)
        } else {
            OperationShape::product(operand(a), operand(b))
        };
        let shape = shape.truncated(product.limbs);
        let most = if self.settings.blocks == Some(true) { MOST_LIMBS_OF_BLOCK } else { BLOCK_LIMBS };
        self.has_long_blocks |= longest > BLOCK_LIMBS && longest <= most;
        let counts = self.counts();
        counts.products += 1;
        counts.longest = counts.longest.max(longest);
        let spec: Box<dyn Spec> = if by_tensor {
            // A block takes several lanes, unless the first lane is launched alone.
            let alone = self.is_shared.then_some(1);
            Box::new(Tensor::new(shape, &TensorSettings { warps: alone, products: alone }))
        } else if longest <= most {
            Box::new(Fft::new(shape, &FftSettings::default()))
        } else {
            Box::new(Large::new(shape).expect("the factors have at most the limbs of the longest product"))
        };
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
        let Self { shape, has_long_blocks, whole_tiles, parts, most, counts, .. } = self;
        let own = parts.iter().map(|(spec, _)| spec.scratch_limbs()).max().unwrap_or(0);
        let bound = |(spec, mut bindings): (Box<dyn Spec>, Vec<Binding>)| {
            if spec.scratch_limbs() > 0 {
                bindings.push(Binding::Scratch(most));
            }
            Part { spec, bindings }
        };
        let rows = shape.operands().len() + shape.results().len();
        let parts = parts.into_iter().map(bound).collect();
        let name = format!("{}_long{}", shape.name(), if has_long_blocks { "_blocks" } else { "" });
        // Every kernel of a sequence has the address of scratch memory as a parameter.
        let scratch = (most + own).max(ALIGNED_LIMBS);
        let sequence = Sequence { name, rows, parts, scratch, whole_tiles };
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
        let [each, shared] = self.counts;
        let mut notes = vec![("steps", each.in_words())];
        if shared.lines > 0 {
            notes.push(("once", format!("{}, for all lanes of a launch together", shared.in_words())));
        }
        notes.push(("memory", format!("{} bytes of scratch memory a lane", 4 * u64::from(self.scratch_limbs()))));
        notes
    }
}

impl Counts {
    fn in_words(self) -> String {
        let Self { lines, products, longest } = self;
        let products = match products {
            0 => String::new(),
            _ => format!("{products} products, the longest of {} bits; ", 32 * longest),
        };
        format!("{products}{lines} passes over rows")
    }
}

impl Spec for Shared {
    fn name(&self) -> String {
        format!("shared_{}", self.0.name())
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        let mut stages = self.0.stages();
        for stage in &mut stages {
            stage.geometry.first_lane_alone = true;
        }
        stages
    }

    fn scratch_limbs(&self) -> u32 {
        self.0.scratch_limbs()
    }

    fn wide_products(&self) -> u64 {
        self.0.wide_products()
    }
}

/// The way from an operation to kernels, where products by transforms do most of the work.
pub(super) const fn by_products(spec: fn(OperationShape, &LongSettings, bool) -> Box<dyn Spec>) -> On<LongSettings> {
    On(Gpus { use_doubles: true, ..Gpus::from(SHARED_MEMORY_FROM) }, With { spec, candidates: candidates::long })
}
