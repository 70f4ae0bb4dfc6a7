//! A line: an operation in linear time on rows of any length.
//!
//! computes   `r = x + y + c`, `r = x + y + z + f·w ± l` for limbs `f` and `l`, `r = x` or a bitwise function of `x` and `y`, from rows that are
//!            shifted, complemented or left out; packed also a sum less a number where it fits, and shifted down
//! launch     512 threads and 7168 limbs a block at most; rows of more limbs: several blocks and, for sums, a second launch of a warp a
//!            block. Where a negative difference has another result: 1024 threads and 14336 limbs a block, and as many threads
//!            in the second launch. Packed: a warp a lane, four lanes a block; whole tiles, a few hundred limbs. Packed, and launched though
//!            it mostly has nothing to do: 16 lanes a block, four by each warp in turn
//! cost       a limb: its rows read once and the result written once; about 25 instructions a sum. The second launch
//!            reads the carries of all blocks, and reads and writes 32 limbs for each carry into a warp, seldom more
//! registers  64 for two blocks, of which one computes while the other waits for memory; with signs above a number some more
//!
//! Limb `n` of a warp is with lane `n mod 32`, in pass `n / 32`. Carries run from lane to lane and from pass to pass by
//! ballots, from warp to warp by flags in shared memory, from block to block by flags in scratch memory.
//!
//! bound: [`Carries`]: a warp generates a carry, or passes one on if its limbs are all ones, never both. The same
//! holds for a block. A limb of `x` and three rows and `f·w − l`, where `−l` is `l` times a row of ones, is at most `(f + l + 4)·(B − 1) < B²` for `f + l ≤ B − 4`. So the
//! number is the sum of two rows: the lower halves of these limbs, and the upper halves a limb higher.
//! source: carry look-ahead by ballots, as in `group`; ours.

use warpmp_kernel::build::{Builder, Emit, Glue, R64};
use warpmp_kernel::ir::{Bounds, Cmp, Kernel, Special};
use warpmp_launch::{Entry, Geometry, Spec, Stage};

use super::block::Block;
use super::source::{Above, Bit, Number, Reader, Source};

/// Warps of a block, at most. A multiprocessor has two of these blocks.
const MOST_WARPS: u32 = 16;

/// Warps of a block, at most, where a negative difference has another result. Then a second launch would write whole rows again.
const MOST_WARPS_ALTERNATIVE: u32 = 32;

/// Warps of a block of the second launch, at most, where each of them has a block of the first launch.
const FINISH_WARPS: u32 = 4;

/// Limbs of a lane, at most: so that two blocks of a sum fit into a multiprocessor.
const MOST_PASSES: u32 = 14;

/// The same where a sum has more terms: its rows and two words for each limb take registers.
const MOST_PASSES_OF_TERMS: u32 = 8;

/// Limbs of a lane, at least: a warp with fewer has more to do for its flags than for its limbs.
const LEAST_PASSES: u32 = 4;

/// Limbs of a packed line, at most, where rows may be longer: a warp holds them.
pub(super) const MOST_PACKED_LIMBS: u32 = 32 * MOST_PASSES;

/// Lanes of a block of a packed line.
const PACKED_LANES: u32 = 4;

/// Lanes that each warp of a packed line takes in turn where most launches have nothing to do. A GPU begins about one block a clock,
/// so few blocks end sooner than many. With more lanes a warp, small launches that have something to do would wait for it.
const TURNS: u32 = 4;

/// Words of scratch memory a block: its flag, and the masks of its warps that generate and pass on carries.
pub(super) const BLOCK_WORDS: u32 = 3;

/// The carry that enters a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CarryIn {
    Zero,
    One,
    Bit(Bit),
}

/// The function of the limbs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::large_enum_variant, reason = "a plan has a few of them")]
pub(super) enum Function {
    /// `x`.
    First,
    And(Source),
    Or(Source),
    Xor(Source),
    /// `x + y + c`.
    Sum(Source, CarryIn),
    /// `x` plus rows, a multiple of a row, and words.
    Terms(Terms),
}

/// The terms of a sum besides `x`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Terms {
    pub(super) rows: [Option<Source>; 3],
    /// A word of a row times a source.
    pub(super) multiple: Option<(Number, u32, Source)>,
    /// A word that is added, and the next one, which is subtracted. With the factor of the multiple it is at most `2³² − 4`.
    pub(super) words: Option<(Number, u32)>,
}

/// What happens where no carry leaves the sum: where a difference is negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Negative {
    /// The result is the sum.
    Stays,
    /// The result is 0.
    Clears,
    /// The result is `x`.
    Restores,
    /// `x` is a number, `y` the square `S²` of this number, which is the root or one more, and the highest bit of the sum its sign.
    /// The result is `x − (S − 1)²`, and the row becomes `S − 1`. For packed lines.
    Corrects(Number),
}

/// A word about the sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// The carry out of the sum; 1 where a number is subtracted from it in the end.
    Carry(Number),
    /// 1 where no carry leaves the sum.
    Borrow(Number),
    /// Of a difference: 3, 0 or 1 where `x` is less, equal or greater. With the signs of two's complements.
    Order(Number, Option<[Bit; 2]>),
}

/// The place of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::kernels) struct Place {
    pub(in crate::kernels) row: Number,
    /// The limb of the row where the result begins.
    pub(super) from: u32,
    /// Bits that are stored.
    pub(super) bits: u32,
}

/// Parameters of the kernels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::kernels) struct Line {
    pub(super) x: Source,
    pub(super) function: Function,
    /// Limbs of the sum.
    pub(super) limbs: u32,
    pub(super) result: Option<Place>,
    pub(super) negative: Negative,
    /// A number that is subtracted from a sum where it fits. Where the bit is 0, the result is 0. For packed lines.
    pub(super) less: Option<(Number, Bit)>,
    /// A word of a row: by so many bits the result goes down before it is stored. They are zeros. For packed lines.
    pub(super) lowered: Option<(Number, u32)>,
    pub(super) word: Option<Word>,
    /// Has a block several lanes with a warp each? Then a launch writes whole tiles.
    pub(super) is_packed: bool,
    /// Lanes that a warp of a packed line takes in turn.
    pub(super) turns: u32,
}

/// How the limbs are divided.
#[derive(Clone, Copy)]
pub(super) struct Split {
    pub(super) blocks: u32,
    pub(super) warps: u32,
    pub(super) passes: u32,
}

impl Number {
    /// The first bits of the row.
    pub(in crate::kernels) const fn place(self, bits: u32) -> Place {
        Place { row: self, from: 0, bits }
    }
}

impl Line {
    /// `r = x`.
    pub(in crate::kernels) const fn copy(x: Source, result: Place) -> Self {
        Self::of(x, Function::First, result)
    }

    /// A function of the limbs of the result.
    #[allow(clippy::large_types_passed_by_value, reason = "a plan copies it a few times")]
    pub(super) const fn of(x: Source, function: Function, result: Place) -> Self {
        let limbs = result.bits.div_ceil(32);
        Self {
            x,
            function,
            limbs,
            result: Some(result),
            negative: Negative::Stays,
            less: None,
            lowered: None,
            word: None,
            is_packed: false,
            turns: 1,
        }
    }

    /// `r = x + y + c` in the limbs of the result.
    pub(super) const fn sum(x: Source, y: Source, carry: CarryIn, result: Place) -> Self {
        Self::of(x, Function::Sum(y, carry), result)
    }

    /// `r = x − y` in the limbs of the result.
    pub(super) const fn difference(x: Source, y: Source, result: Place) -> Self {
        Self::sum(x, y.turned(), CarryIn::One, result)
    }

    /// The order of `x` and `y`, of so many limbs, to a word: 3, 0 or 1 where `x` is less, equal or greater.
    pub(in crate::kernels) fn order(x: Source, y: Source, limbs: u32, word: Number) -> Self {
        let difference = Self::difference(x, y, word.place(32 * limbs));
        Self { result: None, word: Some(Word::Order(word, None)), ..difference }
    }

    /// `r = x` and these terms in the limbs of the result.
    #[allow(clippy::large_types_passed_by_value, reason = "a plan copies it a few times")]
    pub(super) const fn terms(x: Source, terms: Terms, result: Place) -> Self {
        Self::of(x, Function::Terms(terms), result)
    }

    /// `r = x − y`, or `x` where that is negative. The word is 1 in lanes where `y` was subtracted.
    pub(super) const fn reduced(x: Source, y: Source, limbs: u32, word: Number, result: Place) -> Self {
        let word = Some(Word::Carry(word));
        Self { negative: Negative::Restores, limbs, word, ..Self::difference(x, y, result) }
    }

    /// The same line, which has a few hundred limbs, packed, unless it tells the order. A block of a warp or two would have more
    /// to do for its beginning and its end than for the limbs, and a multiprocessor has too few of these blocks to wait for memory.
    pub(super) fn packed(self) -> Self {
        let tells_order = matches!(self.word, Some(Word::Order(..)));
        Self { is_packed: !tells_order, ..self }
    }

    /// The same line with few blocks if it is packed: for launches that mostly have nothing to do.
    pub(super) fn seldom(self) -> Self {
        Self { turns: if self.is_packed { TURNS } else { 1 }, ..self }
    }

    fn split(&self) -> Split {
        if self.is_packed {
            return Split { blocks: 1, warps: 1, passes: self.limbs.div_ceil(32) };
        }
        let most = if self.has_alternative() { MOST_WARPS_ALTERNATIVE } else { MOST_WARPS };
        let passes = if matches!(self.function, Function::Terms(_)) { MOST_PASSES_OF_TERMS } else { MOST_PASSES };
        let blocks = self.limbs.div_ceil(32 * passes * most);
        // All blocks have about as many limbs.
        let passes = self.limbs.div_ceil(32 * most * blocks).max(LEAST_PASSES);
        let warps = if blocks == 1 { self.limbs.div_ceil(32 * passes) } else { most };
        Split { blocks, warps, passes }
    }

    /// Has a negative difference another result?
    pub(super) const fn has_alternative(&self) -> bool {
        match self.negative {
            Negative::Stays | Negative::Corrects(_) => false,
            Negative::Clears | Negative::Restores => true,
        }
    }

    /// Warps of a block of a launch, and blocks of the first launch that it works on.
    fn warps(&self, finishes: bool) -> [u32; 2] {
        if self.is_packed {
            return [PACKED_LANES; 2];
        }
        let Split { blocks, warps, .. } = self.split();
        if finishes && !self.has_alternative() {
            let warps = FINISH_WARPS.min(blocks.next_power_of_two());
            return [warps, warps];
        }
        [warps, 1]
    }

    /// The rows that the kernels read: each once.
    fn inputs(&self) -> Vec<Number> {
        let mut rows = self.x.rows();
        match self.function {
            Function::First => {}
            Function::And(y) | Function::Or(y) | Function::Xor(y) => rows.extend(y.rows()),
            Function::Sum(y, carry) => {
                rows.extend(y.rows());
                match carry {
                    CarryIn::Zero | CarryIn::One => {}
                    CarryIn::Bit(bit) => rows.push(bit.row),
                }
            }
            Function::Terms(Terms { rows: sources, multiple, words }) => {
                rows.extend(sources.iter().flatten().flat_map(Source::rows));
                if let Some((factor, _, times)) = multiple {
                    rows.extend(times.rows().into_iter().chain([factor]));
                }
                rows.extend(words.map(|(row, _)| row));
            }
        }
        match self.negative {
            Negative::Corrects(root) => rows.push(root),
            Negative::Stays | Negative::Clears | Negative::Restores => {}
        }
        rows.extend(self.less.into_iter().flat_map(|(number, bit)| [number, bit.row]));
        rows.extend(self.lowered.map(|(row, _)| row));
        if let Some(Word::Order(_, Some(signs))) = self.word {
            rows.extend(signs.map(|it| it.row));
        }
        let mut distinct: Vec<Number> = Vec::new();
        for row in rows {
            if !distinct.contains(&row) {
                distinct.push(row);
            }
        }
        distinct
    }

    fn outputs(&self) -> Vec<Number> {
        let word = self.word.map(|it| match it {
            Word::Carry(row) | Word::Borrow(row) | Word::Order(row, _) => row,
        });
        self.result.map(|it| it.row).into_iter().chain(word).collect()
    }

    /// The rows that it reads, then the rows that it writes.
    pub(super) fn rows(&self) -> Vec<Number> {
        self.inputs().into_iter().chain(self.outputs()).collect()
    }

    /// Has an operand other bits than zeros above it?
    fn is_filled(&self) -> bool {
        let operands = match self.function {
            Function::First => vec![],
            Function::And(y) | Function::Or(y) | Function::Xor(y) | Function::Sum(y, _) => vec![y],
            Function::Terms(Terms { rows, multiple, words: _ }) => {
                rows.into_iter().flatten().chain(multiple.map(|(.., times)| times)).collect()
            }
        };
        operands.into_iter().chain([self.x]).any(|it| it.above != Above::Zeros)
    }

    /// Does it have carries?
    pub(super) const fn is_sum(&self) -> bool {
        matches!(self.function, Function::Sum(..) | Function::Terms(_))
    }

    fn kernel(&self, entry: &Entry, finishes: bool) -> Kernel {
        let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"];
        let (inputs, count) = (self.inputs(), self.inputs().len() + self.outputs().len());
        let name = format!("line_{}{}", self.limbs, if finishes { "_finish" } else { "" });
        let scratch = self.scratch_limbs() > 0;
        let (mut b, ports) = entry.open(&name, Glue::None, &names[..count], scratch);
        let split = self.split();
        let [warps, together] = self.warps(finishes);
        // With bits above the numbers `ptxas` spills a register where two blocks have to fit.
        let min_blocks = (warps == MOST_WARPS && !self.is_filled()).then_some(2);
        b.bounds(Bounds { max_threads: Some(32 * warps), min_blocks, ..Bounds::default() });
        b.section("setup");
        let block = b.special(Special::Ctaid);
        let thread = b.special(Special::Tid);
        let slots = split.blocks.next_power_of_two();
        let warp = b.shr(thread, 5);
        let (slot, warp) =
            if together > 1 { (b.mad_lo(block, together * self.turns, warp), b.copy(0)) } else { (block, warp) };
        let lane = b.shr(slot, slots.ilog2());
        let number = b.and(slot, slots - 1);
        if slots > split.blocks {
            let outside = b.compare(Cmp::Ge, number, split.blocks);
            b.return_if(outside);
        }
        let member = b.special(Special::Lane);
        let start = b.mad_lo(number, split.warps, warp);
        let first = b.mad_lo(start, 32 * split.passes, member);
        let rows: Vec<(Number, R64)> = inputs.iter().copied().zip(ports.addresses.iter().copied()).collect();
        let work = |b: &mut Builder| {
            let outputs = self.outputs().into_iter().zip(&ports.addresses[inputs.len()..]);
            let outputs = outputs.map(|(row, address)| row.row(b, *address, lane)).collect();
            let flags = match ports.addresses.last() {
                Some(address) if scratch => b.mad_wide(lane, 4 * BLOCK_WORDS * split.blocks, *address),
                _ => ports.addresses[0],
            };
            let shared = b.shared_base();
            let reader = Reader { lane, rows: &rows, is_packed: self.is_packed };
            let block = Block { line: self, split, reader, number, warp, member, first, outputs, flags, shared };
            match self.function {
                _ if finishes => block.finish(b),
                Function::Sum(..) | Function::Terms(_) => block.sum(b),
                Function::First | Function::And(_) | Function::Or(_) | Function::Xor(_) => block.bitwise(b),
            }
        };
        if self.turns == 1 {
            work(&mut b);
        } else {
            let left = b.copy(self.turns);
            b.do_while(|b| {
                work(b);
                b.section("turn");
                b.increase(lane, together);
                b.decrease(left, 1);
                b.compare(Cmp::Ne, left, 0)
            });
        }
        b.finish()
    }
}

impl Spec for Line {
    fn name(&self) -> String {
        let words = format!("{self:?}");
        words.chars().filter(char::is_ascii_alphanumeric).collect()
    }

    fn scratch_limbs(&self) -> u32 {
        let blocks = self.split().blocks;
        if self.is_sum() && blocks > 1 { BLOCK_WORDS * blocks } else { 0 }
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        let Split { blocks, warps, .. } = self.split();
        let slots = blocks.next_power_of_two();
        let shared = if self.is_sum() && !self.is_packed { 4 * warps } else { 0 };
        let geometry = |finishes| {
            let [warps, together] = self.warps(finishes);
            if self.is_packed {
                return Geometry::new(32 * warps, together * self.turns);
            }
            let blocks = slots / together;
            Geometry { blocks, max_lanes: (1 << 30) / slots, ..Geometry::new(32 * warps, 1) }
        };
        let first = Stage::new(geometry(false).with_shared(shared), |entry| self.kernel(entry, false));
        let second = (self.scratch_limbs() > 0).then(|| Stage::new(geometry(true), |entry| self.kernel(entry, true)));
        [first].into_iter().chain(second).collect()
    }
}
