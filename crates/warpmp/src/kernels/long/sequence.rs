//! Lines and products one after the other, and the scratch memory between them. See `product.rs` and `modulo.rs` for the products.

use std::mem;

use warpmp_kernel::build::Glue;
use warpmp_launch::{Binding, Layout, Part, Sequence, Spec, Stage};

use super::line::{Line, MOST_PACKED_LIMBS, Place};
use super::source::{Number, Source};
use crate::kernels::transform::SHARED_MEMORY_FROM;
use crate::kernels::{Abilities, Gpus, LongSettings, On, OperandShape, OperationShape, With, candidates};

/// A packed line that adds nothing may have so many times the limbs.
const COPIED_LIMBS: u32 = 2;

/// A row in scratch memory begins at a multiple of this many limbs, as transforms access pairs of doubles.
pub(super) const ALIGNED_LIMBS: u32 = 4;

/// The limbs of a sector of memory: what is read and written at once.
pub(super) const SECTOR_LIMBS: u32 = 8;

/// A sequence under construction.
pub(in crate::kernels) struct Steps {
    shape: OperationShape,
    /// The idea of the sequence, for its name.
    name: &'static str,
    pub(super) settings: LongSettings,
    /// Are the steps for all lanes at once?
    pub(super) is_shared: bool,
    /// Are the steps only for launches where this word for all lanes is not 0?
    condition: Option<Number>,
    /// Does a block have a product that takes four steps by default?
    pub(super) has_long_blocks: bool,
    /// The kernels read and write whole tiles, and lines of up to so many limbs are packed. See [`with_whole_tiles`](Self::with_whole_tiles).
    whole_tiles: Option<u32>,
    /// The specifications with their rows; their own scratch memory is not bound yet.
    parts: Vec<Unbound>,
    /// Limbs of scratch memory that rows take now, and at most so far.
    used: u32,
    most: u32,
    counts: Counted,
    /// What the first product modulo `Bⁿ + 1` from which a whole one is made tells of itself.
    pub(super) notes: Vec<(&'static str, String)>,
}

/// A specification with its rows, and the word for all lanes that tells whether it runs.
type Unbound = (Box<dyn Spec>, Vec<Binding>, Option<Number>);

/// The steps that are done for each lane in every launch, for all lanes at once, and for each lane in some launches.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    each: Counts,
    shared: Counts,
    conditional: Counts,
}

/// The steps of a sequence.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    lines: u32,
    pub(super) products: u32,
    /// Limbs of the longest factor.
    pub(super) longest: u32,
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

    pub(super) const fn counts(&mut self) -> &mut Counts {
        match (self.is_shared, self.condition) {
            (true, _) => &mut self.counts.shared,
            (false, Some(_)) => &mut self.counts.conditional,
            (false, None) => &mut self.counts.each,
        }
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
