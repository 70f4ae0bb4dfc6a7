//! Lines and products one after the other, and the scratch memory between them.
//!
//! A product is by `tensor` where that is faster for many products, else by `fft`. The lengths where one follows the other are
//! measured for the kernels of this module, which are fewer than those of the shipped table.

use std::mem;
use std::ops::RangeInclusive;

use warpmp_kernel::build::Glue;
use warpmp_launch::{Binding, Layout, Part, Sequence, Spec, Stage};

use super::line::{Line, MOST_PACKED_LIMBS, Place};
use super::source::{Number, Source};
use super::unwrap::Unwrap;
use crate::kernels::fft::large::Large;
use crate::kernels::fft::{BLOCK_LIMBS, COMPLEX_POINTS, Fft, MOST_LIMBS_OF_BLOCK, wrapped_limbs};
use crate::kernels::tensor::{self, LowProduct, Tensor};
use crate::kernels::transform::SHARED_MEMORY_FROM;
use crate::kernels::{
    Abilities, FftSettings, Gpus, LongSettings, On, OperandShape, OperationShape, TensorSettings, With, candidates,
};

/// The longer factor of a product has at least this many limbs here.
const LEAST_LIMBS: u32 = *tensor::LIMBS.start();

/// The limbs of the longest factor of products, and of the longest number whose square is by `tensor`.
const TENSOR_LIMBS: [u32; 2] = [512, 416];

/// The limbs `n` for which products modulo `Bⁿ − 1` are by `tensor`: with fewer `ptxas` spills registers.
const CYCLIC_LIMBS: RangeInclusive<u32> = 384..=512;

/// The limbs of the longer factor for which a product from its lower limbs and from that modulo `Bⁿ + 1` is faster, as measured; then those for which a square is.
const WRAPPED_LIMBS: [[RangeInclusive<u32>; 7]; 2] = [
    [1025..=1440, 1537..=1824, 2049..=2656, 3073..=3712, 4097..=4992, 5121..=5568, 6145..=7679],
    [1025..=1328, 1537..=1792, 2049..=2592, 3073..=3584, 4097..=4992, 5121..=5376, 6145..=6528],
];

/// Limbs that a product modulo `Bᴺ + 1` has above those of its longer factor, at least, unless it has as many.
const LIMBS_ABOVE: u32 = 8;

/// What comes back in a product modulo `Bᴺ + 1` is not less than minus this number: digits may have signs.
const MOST_NEGATIVE: u32 = 1 << 29;

/// A packed line that adds nothing may have so many times the limbs.
const COPIED_LIMBS: u32 = 2;

/// A row in scratch memory begins at a multiple of this many limbs, as transforms access pairs of doubles.
const ALIGNED_LIMBS: u32 = 4;

/// The limbs of a sector of memory: what is read and written at once.
const SECTOR_LIMBS: u32 = 8;

/// A sequence under construction.
pub(in crate::kernels) struct Steps {
    shape: OperationShape,
    /// The idea of the sequence, for its name.
    name: &'static str,
    settings: LongSettings,
    /// Are the steps for all lanes at once?
    is_shared: bool,
    /// Are the steps only for launches where this word for all lanes is not 0?
    condition: Option<Number>,
    /// Does a block have a product that takes four steps by default?
    has_long_blocks: bool,
    /// The kernels read and write whole tiles, and lines of up to so many limbs are packed. See [`with_whole_tiles`](Self::with_whole_tiles).
    whole_tiles: Option<u32>,
    /// The specifications with their rows; their own scratch memory is not bound yet.
    parts: Vec<Unbound>,
    /// Limbs of scratch memory that rows take now, and at most so far.
    used: u32,
    most: u32,
    counts: Counted,
    /// What the first product modulo `Bⁿ + 1` from which a whole one is made tells of itself.
    notes: Vec<(&'static str, String)>,
}

/// A specification with its rows, and the word for all lanes that tells whether it runs.
type Unbound = (Box<dyn Spec>, Vec<Binding>, Option<Number>);

/// What a product has besides its factors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extra {
    Nothing,
    /// The factors, of whole limbs and equally long, are two's complements.
    Signs,
    /// A number that is added, no longer than the longer factor.
    Addend(Number),
}

/// The steps that are done for each lane in every launch, for all lanes at once, and for each lane in some launches.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    each: Counts,
    shared: Counts,
    conditional: Counts,
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
    counts: Counted,
    notes: Vec<(&'static str, String)>,
}

/// A specification that is launched for the first lane alone. The row that it leaves there serves every lane.
#[derive(Debug)]
pub(in crate::kernels) struct Shared(pub(in crate::kernels) Box<dyn Spec>);

/// A specification whose kernels end at once where a word for all lanes is 0: the last row.
#[derive(Debug)]
struct Conditional(Box<dyn Spec>);

/// A state of the scratch memory, to which [`Steps::release`] returns.
#[derive(Clone, Copy)]
pub(super) struct Mark(u32);

impl Steps {
    pub(in crate::kernels) fn new(shape: OperationShape, settings: LongSettings) -> Self {
        Self {
            shape,
            name: "long",
            settings,
            is_shared: false,
            condition: None,
            has_long_blocks: false,
            whole_tiles: None,
            parts: Vec::new(),
            used: 0,
            most: 0,
            counts: Counted::default(),
            notes: Vec::new(),
        }
    }

    /// The same for numbers that are so short that the scratch memory of a whole tile is little. Then kernels of short numbers may have
    /// several lanes a warp, and lines of at most `most_packed` limbs have a warp a lane.
    pub(super) fn with_whole_tiles(self, most_packed: u32) -> Self {
        Self { whole_tiles: Some(most_packed), ..self }
    }

    /// The same for numbers that a warpgroup reduces: a warp has a line of each lane.
    pub(in crate::kernels) fn of_common(self) -> Self {
        Self { name: "common", ..self.with_whole_tiles(MOST_PACKED_LIMBS) }
    }

    /// Steps that are done once for all lanes if `is_shared`: from rows that serve every lane to rows that serve every lane.
    pub(in crate::kernels) fn shared<T>(&mut self, is_shared: bool, steps: impl FnOnce(&mut Self) -> T) -> T {
        let before = mem::replace(&mut self.is_shared, is_shared);
        let result = steps(self);
        self.is_shared = before;
        result
    }

    /// Steps for launches where a word for all lanes is not 0. In other launches their kernels end at once.
    pub(in crate::kernels) fn only_where<T>(&mut self, word: Number, steps: impl FnOnce(&mut Self) -> T) -> T {
        debug_assert!(word.common, "all lanes have one word");
        let before = self.condition.replace(word);
        let result = steps(self);
        self.condition = before;
        result
    }

    /// May the kernels of the next steps have several lanes a warp?
    pub(super) const fn is_tiled(&self) -> bool {
        self.whole_tiles.is_some() && !self.is_shared
    }

    /// The layout of kernels of numbers of these limbs: of lanes with `most` limbs each if the kernels have whole tiles, else a warp a
    /// number, so that no lane beyond the last one is touched. A thread has at least `least` limbs.
    pub(in crate::kernels) fn short_layout(&self, limbs: u32, [least, most]: [u32; 2]) -> Layout {
        let layout = if self.is_tiled() {
            Layout::narrow(limbs, most, Layout::LANE_LIMBS)
        } else {
            let warps = if self.is_shared { 1 } else { 2 };
            Layout { group: 32, length: limbs.div_ceil(32), warps, glue: Glue::None }
        };
        Layout { length: layout.length.max(least), ..layout }
    }

    /// An operand of the operation.
    pub(in crate::kernels) fn operand(&self, i: usize) -> Number {
        let operand = self.shape.operands()[i];
        Number::row_of(Binding::Parameter(i), operand.limbs(), operand.common)
    }

    /// The highest bit of an operand.
    pub(super) fn operand_bits(&self, i: usize) -> u32 {
        self.shape.operands()[i].bits
    }

    /// A row as an operand of a kernel. For steps that are done once for all lanes each row is that of the first lane.
    pub(in crate::kernels) const fn operand_shape(&self, row: Number) -> OperandShape {
        OperandShape { bits: 32 * row.limbs, common: row.common && !self.is_shared }
    }

    /// All bits of a result of the operation.
    pub(in crate::kernels) fn result(&self, i: usize) -> Place {
        let bits = self.shape.results()[i];
        let at = Binding::Parameter(self.shape.operands().len() + i);
        Number::row_of(at, bits.div_ceil(32), false).place(bits)
    }

    /// A row in scratch memory.
    pub(in crate::kernels) fn reserve(&mut self, limbs: u32) -> Number {
        let at = Binding::Scratch(self.used);
        self.used += limbs.next_multiple_of(ALIGNED_LIMBS);
        self.most = self.most.max(self.used);
        Number::row_of(at, limbs, self.is_shared)
    }

    /// A number in scratch memory whose lanes all begin in the same way, so that parts of it can be factors where they are.
    pub(super) fn reserve_aligned(&mut self, limbs: u32) -> Number {
        self.reserve(limbs.next_multiple_of(SECTOR_LIMBS)).section(0, limbs)
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
    pub(in crate::kernels) fn push(&mut self, spec: Box<dyn Spec>, rows: impl IntoIterator<Item = Number>) {
        let spec = if self.is_shared { Box::new(Shared(spec)) } else { spec };
        self.parts.push((spec, rows.into_iter().map(|it| it.at).collect(), self.condition));
    }

    pub(in crate::kernels) fn line(&mut self, line: Line) {
        let packs = if line.is_sum() { self.packs(line.limbs) } else { self.packs(line.limbs / COPIED_LIMBS) };
        let line = if packs { line.packed() } else { line };
        let line = if self.condition.is_some() { line.seldom() } else { line };
        let rows = line.rows();
        self.counts().lines += 1;
        self.push(Box::new(line), rows);
    }

    /// Do lines of these limbs have a warp for each lane?
    pub(super) const fn packs(&self, limbs: u32) -> bool {
        match self.whole_tiles {
            Some(most) => self.is_tiled() && limbs <= most,
            None => false,
        }
    }

    const fn counts(&mut self) -> &mut Counts {
        match (self.is_shared, self.condition) {
            (true, _) => &mut self.counts.shared,
            (false, Some(_)) => &mut self.counts.conditional,
            (false, None) => &mut self.counts.each,
        }
    }

    /// `a·b` to a row, or its lower limbs as many as the row has. The longer factor has at least [`LEAST_LIMBS`] limbs; of a part of a
    /// product that is no low half, 129.
    pub(super) fn multiply(&mut self, a: Number, b: Number, product: Number) {
        self.multiply_with([a, b], Extra::Nothing, product);
    }

    /// Does a product of so many limbs take in what it has besides these factors? Their transform in a block does.
    pub(super) fn takes_in(&self, [a, b]: [Number; 2], extra: Extra, limbs: u32) -> bool {
        let longest = a.limbs.max(b.limbs);
        let in_block =
            longest > TENSOR_LIMBS[0] && longest <= self.most_of_block() || self.wrapped(a, b, limbs).is_some();
        match extra {
            Extra::Nothing => true,
            Extra::Signs => in_block && a.limbs == b.limbs,
            Extra::Addend(addend) => in_block && addend.limbs <= longest,
        }
    }

    /// The same with something besides that [it takes in](Self::takes_in).
    pub(super) fn multiply_with(&mut self, [a, b]: [Number; 2], extra: Extra, product: Number) {
        assert!(self.takes_in([a, b], extra, product.limbs), "no other kernel has what is added");
        let is_common = |it: Number| self.operand_shape(it).common;
        let longest = a.limbs.max(b.limbs);
        let is_whole = product.limbs == a.limbs + b.limbs;
        if extra == Extra::Nothing
            && let Some(shape) = self.low_half([a, b], product.limbs)
        {
            let spec = LowProduct::within(shape, &self.tensor_settings(), [a, b].map(Number::within));
            self.count_product(longest);
            self.push(Box::new(spec), [a, b, product]);
            return;
        }
        if let Some(n) = self.wrapped(a, b, product.limbs) {
            return self.multiply_wrapped([a, b], extra, n, product);
        }
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
        let [a, b] = if by_tensor { [a, b] } else { self.rows([a, b]) };
        let shape = self.product_shape([a, b], is_square, extra).truncated(product.limbs);
        let most = self.most_of_block();
        self.has_long_blocks |= longest > BLOCK_LIMBS && longest <= most;
        self.count_product(longest);
        let by_fft = |a: u32, b: u32| {
            let usual = Fft::new(shape, &FftSettings::default());
            // A product of unequal factors may have fewer points with complex coefficients.
            let is_plain = is_whole && !is_square && extra == Extra::Nothing;
            let complex = complex_points(a + b).filter(|&points| is_plain && points < usual.digits());
            complex.and_then(|points| Fft::modulo(shape.operands()[0], shape.operands()[1], points)).unwrap_or(usual)
        };
        let spec: Box<dyn Spec> = if by_tensor {
            Box::new(Tensor::within(shape, &self.tensor_settings(), [a, b].map(Number::within)))
        } else if longest <= most {
            Box::new(by_fft(a.limbs, b.limbs))
        } else {
            Box::new(Large::new(shape).expect("the factors have at most the limbs of the longest product"))
        };
        self.push(spec, factors([a, b], is_square, extra).into_iter().chain([product]));
    }

    /// `a·b` in scratch memory. Where both are short, one gets zeros above it.
    pub(in crate::kernels) fn product(&mut self, a: Number, b: Number) -> Number {
        let is_short = a.limbs.max(b.limbs) < LEAST_LIMBS;
        let longer = if is_short { self.part(a.source(), LEAST_LIMBS) } else { a };
        let (a, b) = (longer, if a == b { longer } else { b });
        let product = self.reserve(a.limbs + b.limbs);
        self.multiply(a, b, product);
        product
    }

    /// The lower limbs of `a·b`, at least these.
    pub(super) fn lower_product(&mut self, a: Number, b: Number, limbs: u32) -> Number {
        if a.limbs.max(b.limbs) <= TENSOR_LIMBS[0] && self.low_half([a, b], limbs).is_none() {
            return self.product(a, b);
        }
        let product = self.reserve(limbs.min(a.limbs + b.limbs));
        self.multiply(a, b, product);
        product
    }

    /// The shape of the low half of `a·b`, if both factors have `limbs` limbs and `tensor` takes them.
    fn low_half(&self, factors: [Number; 2], limbs: u32) -> Option<OperationShape> {
        let [a, b] = factors.map(|it| self.operand_shape(it));
        let shape = OperationShape::low_product(a, b);
        (factors.iter().all(|it| it.limbs == limbs) && (tensor::PARTS.fits)(shape)).then_some(shape)
    }

    /// Counts a product with a factor of so many limbs.
    const fn count_product(&mut self, longest: u32) {
        let counts = self.counts();
        counts.products += 1;
        if longest > counts.longest {
            counts.longest = longest;
        }
    }

    /// A block takes several products, unless the first lane is launched alone.
    fn tensor_settings(&self) -> TensorSettings {
        let alone = self.is_shared.then_some(1);
        TensorSettings { warps: alone, products: alone }
    }

    /// `a·b` modulo `Bⁿ − 1`, for `n` limbs of `a`, by `tensor`: `n` limbs, and a limb of 0 or 1. None: another kernel is faster, or there is none.
    pub(super) fn cyclic_product(&mut self, a: Number, b: Number) -> Option<Number> {
        let n = a.limbs;
        if !CYCLIC_LIMBS.contains(&n) || b.limbs > n {
            return None;
        }
        let factors = if self.operand_shape(b).common && !self.operand_shape(a).common { [a, b] } else { [b, a] };
        let shapes = factors.map(|it| self.operand_shape(it));
        let spec = Tensor::cyclic(shapes, &self.tensor_settings(), factors.map(Number::within))?;
        self.count_product(n);
        let product = self.reserve(n + ALIGNED_LIMBS);
        let [first, second] = factors;
        self.push(Box::new(spec), [first, second, product]);
        Some(product.section(0, n + 1))
    }

    /// `a·b` modulo `Bⁿ`, `n` limbs of `a`, less a number `H`: its limbs, and the number `e` by which `0 ≤ H + e < Bᵏ` for `k` limbs of `b`, at most as many as
    /// of `a`. From the product modulo `Bᴺ + 1`, where that is faster; else `H` is 0.
    pub(super) fn product_less(&mut self, a: Number, b: Number) -> (Number, u32) {
        let n = a.limbs;
        if n > self.most_of_block()
            && let Some(product) = self.product_modulo(a, b)
        {
            return (product.section(0, n), MOST_NEGATIVE);
        }
        let points = self.points_of_modulus(a, b).filter(|_| n > TENSOR_LIMBS[0]);
        let Some(points) = points else { return (self.lower_product(a, b, n).section(0, n), 0) };
        let [a, b] = self.rows([a, b]);
        let shapes = [a, b].map(|it| self.operand_shape(it));
        let spec = Fft::modulo(shapes[0], shapes[1], points).expect("there is a division for these limbs");
        self.count_product(n);
        let product = self.reserve((n + b.limbs).min(points + 1));
        self.push(Box::new(spec), [a, b, product]);
        (product.section(0, n), 0)
    }

    /// `a·b`, if its lowest limbs are known, as many as the longer factor has or more.
    pub(super) fn product_above(&mut self, [a, b]: [Number; 2], low: Number) -> Number {
        let product = self.reserve(a.limbs + b.limbs);
        match self.points_of_modulus(a, b).filter(|&n| n < product.limbs) {
            Some(n) => {
                let shape = self.product_shape([a, b], false, Extra::Nothing);
                let transform = Fft::wrapped(shape, n).expect("there is a division for these limbs");
                self.unwrap([a, b], Extra::Nothing, (transform, n), low, product);
            }
            None => self.multiply(a, b, product),
        }
        product
    }

    /// The limbs `n` of a product modulo `Bⁿ + 1` of these factors, not fewer than they have, that takes less than the product itself.
    fn points_of_modulus(&self, a: Number, b: Number) -> Option<u32> {
        let longest = a.limbs.max(b.limbs);
        if longest < TENSOR_LIMBS[0] || longest > BLOCK_LIMBS {
            return None;
        }
        let shape = self.product_shape([a, b], false, Extra::Nothing);
        let usual = Fft::new(shape, &FftSettings::default());
        complex_points(longest).filter(|&points| points < usual.digits())
    }

    /// `a·b` modulo `Bᴺ + 1`: a signed number of `N + 1` limbs, in magnitude below `2²⁹·Bᴺ`. `N` is the number `n` of limbs of `a`, or greater by
    /// [`LIMBS_ABOVE`] or more. None: there is no kernel for that, or it would not be faster.
    pub(super) fn product_modulo(&mut self, a: Number, b: Number) -> Option<Number> {
        let n = a.limbs;
        if n < TENSOR_LIMBS[0] {
            return None;
        }
        let is_common = |it: Number| self.operand_shape(it).common;
        let factors = if is_common(a) && !is_common(b) { [b, a] } else { [a, b] };
        let shapes = factors.map(|it| self.operand_shape(it));
        let (spec, limbs): (Box<dyn Spec>, u32) = if n > self.most_of_block() {
            let spec = Large::modulo(shapes[0], shapes[1], n + LIMBS_ABOVE)?;
            let whole = Large::new(OperationShape::product(shapes[0], shapes[1]))?;
            if spec.digits() >= whole.digits() {
                return None;
            }
            let limbs = spec.result_limbs();
            (Box::new(spec), limbs)
        } else {
            let points = self.points_of_modulus(a, b)?;
            let wraps = points < n + b.limbs;
            if b.limbs > points || !wraps || points != n && points < n + LIMBS_ABOVE {
                return None;
            }
            (Box::new(Fft::modulo(shapes[0], shapes[1], points)?), points + 1)
        };
        let [first, second] = self.rows(factors);
        self.count_product(n);
        let product = self.reserve(limbs);
        self.push(spec, [first, second, product]);
        Some(product)
    }

    /// The limbs `n` if the lowest `limbs` limbs of `a·b` shall come from the product modulo `Bⁿ + 1`.
    fn wrapped(&self, a: Number, b: Number, limbs: u32) -> Option<u32> {
        let longest = a.limbs.max(b.limbs);
        // The transform is in a block, though one of the whole product may not be.
        let in_block = longest <= BLOCK_LIMBS || self.settings.blocks == Some(true);
        if self.is_shared || !in_block || !WRAPPED_LIMBS[usize::from(a == b)].iter().any(|it| it.contains(&longest)) {
            return None;
        }
        let all = a.limbs + b.limbs;
        let fits = |n: &u32| limbs == all || (all - n + 2..=*n).contains(&limbs);
        wrapped_limbs(a.limbs, b.limbs).filter(fits)
    }

    /// `a·b` to a row, or the lower limbs that it has, from its lower limbs and from the product modulo `Bⁿ + 1`.
    pub(super) fn multiply_wrapped(&mut self, [a, b]: [Number; 2], extra: Extra, n: u32, product: Number) {
        let mark = self.mark();
        let is_square = a == b && !self.operand_shape(a).common;
        let shape = self.product_shape([a, b], is_square, extra).truncated(product.limbs);
        let transform = Fft::wrapped(shape, n).expect("there is a division for these limbs");
        if self.notes.is_empty() {
            self.notes = transform.notes();
        }
        // The lower limbs of the factors are enough for those of the product.
        let above = transform.limbs_above([a.limbs + b.limbs, product.limbs], n);
        let lower = above.max(LEAST_LIMBS).next_multiple_of(SECTOR_LIMBS);
        let [x, y] = if lower > a.limbs.min(b.limbs) { [a, b] } else { [a, b].map(|it| it.section(0, lower)) };
        let low = self.lower_product(x, y, lower);
        self.unwrap([a, b], extra, (transform, n), low, product);
        self.release(mark);
    }

    /// `a·b` to a row by its transform modulo `Bⁿ + 1` and by its lower limbs.
    fn unwrap(&mut self, [a, b]: [Number; 2], extra: Extra, (transform, n): (Fft, u32), low: Number, product: Number) {
        let is_square = a == b && !self.operand_shape(a).common;
        let is_signed = transform.is_balanced();
        let above = transform.limbs_above([a.limbs + b.limbs, product.limbs], n);
        let longest = a.limbs.max(b.limbs);
        self.count_product(longest);
        self.has_long_blocks |= longest > BLOCK_LIMBS;
        let [a, b] = self.rows([a, b]);
        self.push(Box::new(transform), factors([a, b], is_square, extra).into_iter().chain([product]));
        let (of_complements, addend) = match extra {
            Extra::Nothing => (false, None),
            Extra::Signs => (true, None),
            Extra::Addend(addend) => (false, Some(addend)),
        };
        let unwrap = Unwrap { low, result: product, modulus: n, above, is_signed, of_complements, addend };
        let rows = unwrap.rows();
        self.push(Box::new(unwrap), rows);
    }

    /// The limbs of the longest factor of a product that a block has.
    fn most_of_block(&self) -> u32 {
        if self.settings.blocks == Some(true) { MOST_LIMBS_OF_BLOCK } else { BLOCK_LIMBS }
    }

    /// A word for all lanes, 0 at first.
    pub(super) fn cleared_word(&mut self) -> Number {
        self.shared(true, |steps| {
            let word = steps.reserve(1);
            let line = Line::copy(Source::constant(0), word.place(32));
            let rows = line.rows();
            steps.push(Box::new(line), rows);
            word
        })
    }

    /// A product of two numbers with something besides, or the square of the first one.
    fn product_shape(&self, [a, b]: [Number; 2], is_square: bool, extra: Extra) -> OperationShape {
        if is_square {
            return OperationShape::square(32 * a.limbs);
        }
        let shape = OperationShape::product(self.operand_shape(a), self.operand_shape(b));
        match extra {
            Extra::Nothing => shape,
            Extra::Signs => shape.signed(),
            Extra::Addend(addend) => shape.plus(self.operand_shape(addend)),
        }
    }

    /// Rows that are the factors of a product. Equal factors have one row.
    fn rows(&mut self, [a, b]: [Number; 2]) -> [Number; 2] {
        let first = self.row(a);
        [first, if a == b { first } else { self.row(b) }]
    }

    /// A row that is the number: a copy if it is a part of a row.
    pub(super) fn row(&mut self, number: Number) -> Number {
        if number.is_section() { self.part(number.source(), number.limbs) } else { number }
    }

    /// A row of these limbs of a number.
    pub(in crate::kernels) fn part(&mut self, from: Source, limbs: u32) -> Number {
        let part = self.reserve(limbs);
        self.line(Line::copy(from, part.place(32 * limbs)));
        part
    }

    /// The kernels.
    pub(in crate::kernels) fn finish(self) -> Box<dyn Spec> {
        let Self { shape, name, has_long_blocks, whole_tiles, parts, most, counts, notes, .. } = self;
        let own = parts.iter().map(|(spec, ..)| spec.scratch_limbs()).max().unwrap_or(0);
        let bound = |(spec, mut bindings, condition): Unbound| {
            if spec.scratch_limbs() > 0 {
                bindings.push(Binding::Scratch(most));
            }
            let Some(word) = condition else { return Part { spec, bindings } };
            bindings.push(word.at);
            Part { spec: Box::new(Conditional(spec)), bindings }
        };
        let rows = shape.operands().len() + shape.results().len();
        let parts = parts.into_iter().map(bound).collect();
        let name = format!("{}_{name}{}", shape.name(), if has_long_blocks { "_blocks" } else { "" });
        // Every kernel of a sequence has the address of scratch memory as a parameter.
        let scratch = (most + own).max(ALIGNED_LIMBS);
        let sequence = Sequence { name, rows, parts, scratch, whole_tiles: whole_tiles.is_some() };
        Box::new(Long { sequence, counts, notes })
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
        let Counted { each, shared, conditional } = self.counts;
        let mut notes = self.notes.clone();
        notes.push(("steps", each.in_words()));
        if shared.lines > 0 {
            notes.push(("once", format!("{}, for all lanes of a launch together", shared.in_words())));
        }
        if conditional.lines > 0 {
            notes.push(("seldom", format!("{}, in launches with a lane that needs them", conditional.in_words())));
        }
        notes.push(("memory", format!("{} bytes of scratch memory a lane", 4 * u64::from(self.scratch_limbs()))));
        notes
    }
}

/// The rows that a product reads.
fn factors([a, b]: [Number; 2], is_square: bool, extra: Extra) -> Vec<Number> {
    let second = (!is_square).then_some(b);
    let addend = match extra {
        Extra::Nothing | Extra::Signs => None,
        Extra::Addend(addend) => Some(addend),
    };
    [a].into_iter().chain(second).chain(addend).collect()
}

/// The points of a product with complex coefficients of so many limbs.
fn complex_points(limbs: u32) -> Option<u32> {
    COMPLEX_POINTS.into_iter().find(|&points| points >= limbs)
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

impl Spec for Conditional {
    fn name(&self) -> String {
        format!("conditional_{}", self.0.name())
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        let stages = self
            .0
            .stages()
            .into_iter()
            .map(|stage| Stage::new(stage.geometry, move |entry| stage.write(&entry.conditional())));
        stages.collect()
    }

    fn scratch_limbs(&self) -> u32 {
        self.0.scratch_limbs()
    }

    fn wide_products(&self) -> u64 {
        self.0.wide_products()
    }
}

/// The way from an operation to kernels, where products by transforms do most of the work.
pub(super) const fn by_products(
    spec: fn(OperationShape, &LongSettings, Abilities) -> Box<dyn Spec>,
) -> On<LongSettings> {
    On(Gpus { use_doubles: true, ..Gpus::from(SHARED_MEMORY_FROM) }, With { spec, candidates: candidates::long })
}
