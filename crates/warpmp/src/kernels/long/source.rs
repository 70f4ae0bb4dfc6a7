//! Numbers in rows of any length as the operands of a [`Line`](super::line::Line): shifted, complemented, or left out.

use warpmp_kernel::build::{Builder, Emit, R32, R64};
use warpmp_kernel::ir::{Cmp, Space, Vector};
use warpmp_launch::Binding;

use crate::kernels::tensor::multiplication::Within;

/// A number in a row of limbs: in an operand, a result, or scratch memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::kernels) struct Number {
    /// The row's place.
    pub(super) at: Binding,
    /// The number's limbs.
    pub(in crate::kernels) limbs: u32,
    /// The limbs from a lane's row to the next: more than those of the number if it is a part of the row.
    pub(super) row_limbs: u32,
    /// The limb of the row at which the number begins.
    pub(super) from: u32,
    /// Does one row serve every lane?
    pub(super) common: bool,
}

/// A bit of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::kernels) struct Bit {
    pub(super) row: Number,
    pub(super) number: u32,
    /// Does the bit stand for its opposite?
    pub(super) opposite: bool,
}

/// By how many bits a lane's number goes up or down: a word of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Distance {
    pub(super) row: Number,
    pub(super) word: u32,
    pub(super) up: bool,
}

/// Where a number is complemented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    Never,
    Always,
    Where(Bit),
}

/// The bits above a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Above {
    Zeros,
    /// Ones from this bit on.
    Ones(u32),
    /// Copies of this bit, which is the highest one.
    Sign(Bit),
}

/// A number of infinitely many limbs, made from a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::kernels) struct Source {
    /// The row; none: the number is the constant.
    pub(super) row: Option<Number>,
    /// The number, if there is no row. Then `by` is a number of limbs, not negative.
    pub(super) constant: u32,
    /// Bits that the row is shifted up; negative: down.
    pub(super) by: i64,
    /// Bits that each lane's row is shifted besides.
    pub(super) distance: Option<Distance>,
    pub(super) above: Above,
    /// The number is 0 in lanes where this bit is 0.
    pub(super) keep: Option<Bit>,
    pub(super) turn: Turn,
    /// After all else the bits from this one on are 0.
    pub(super) end: Option<u32>,
}

impl Number {
    /// A whole row of these limbs.
    pub(super) const fn row_of(at: Binding, limbs: u32, common: bool) -> Self {
        Self { at, limbs, row_limbs: limbs, from: 0, common }
    }

    /// The number as it is.
    pub(in crate::kernels) const fn source(self) -> Source {
        Source { row: Some(self), ..Source::constant(0) }
    }

    /// The bit of this number.
    pub(in crate::kernels) const fn bit(self, number: u32) -> Bit {
        Bit { row: self, number, opposite: false }
    }

    /// These limbs of the number from limb `from` on, where they are.
    pub(in crate::kernels) const fn section(self, from: u32, limbs: u32) -> Self {
        debug_assert!(from + limbs <= self.limbs, "the section is inside of the number");
        Self { limbs, from: self.from + from, ..self }
    }

    /// Has the row other limbs, too?
    pub(super) const fn is_section(self) -> bool {
        self.limbs < self.row_limbs
    }

    /// The longer row of a section, as products by `tensor` take it.
    pub(super) fn within(self) -> Option<Within> {
        self.is_section().then_some(Within { limbs: self.row_limbs, from: self.from })
    }

    /// The address of the lane's number.
    pub(super) fn row(self, b: &mut Builder, address: R64, lane: R32) -> R64 {
        let row = if self.common { address } else { b.mad_wide(lane, 4 * self.row_limbs, address) };
        if self.from == 0 { row } else { b.add64(row, u64::from(4 * self.from)) }
    }
}

impl Bit {
    /// The bit that is set where this bit is not.
    pub(in crate::kernels) const fn not(self) -> Self {
        Self { opposite: !self.opposite, ..self }
    }
}

impl Source {
    /// A number of a limb.
    pub(in crate::kernels) const fn constant(constant: u32) -> Self {
        Self {
            row: None,
            constant,
            by: 0,
            distance: None,
            above: Above::Zeros,
            keep: None,
            turn: Turn::Never,
            end: None,
        }
    }

    /// The number times `2^bits`.
    pub(super) const fn up(self, bits: u32) -> Self {
        Self { by: self.by + bits as i64, ..self }
    }

    /// The number over `2^bits`, rounded down.
    pub(super) const fn down(self, bits: u32) -> Self {
        Self { by: self.by - bits as i64, ..self }
    }

    /// The number shifted by a distance of each lane.
    pub(super) const fn moved(self, row: Number, word: u32, up: bool) -> Self {
        Self { distance: Some(Distance { row, word, up }), ..self }
    }

    /// The complement.
    pub(in crate::kernels) const fn turned(self) -> Self {
        Self { turn: Turn::Always, ..self }
    }

    /// The complement in lanes where the bit is set.
    pub(super) const fn turned_where(self, bit: Bit) -> Self {
        Self { turn: Turn::Where(bit), ..self }
    }

    /// The number in lanes where the bit is set, else 0.
    pub(in crate::kernels) const fn kept_where(self, bit: Bit) -> Self {
        Self { keep: Some(bit), ..self }
    }

    /// The lowest bits of the number.
    pub(super) const fn lowest(self, bits: u32) -> Self {
        Self { end: Some(bits), ..self }
    }

    /// The number with these bits above it.
    pub(super) const fn with_above(self, above: Above) -> Self {
        Self { above, ..self }
    }

    /// The rows that it reads.
    pub(super) fn rows(&self) -> Vec<Number> {
        let turn = match self.turn {
            Turn::Where(bit) => Some(bit.row),
            Turn::Never | Turn::Always => None,
        };
        let above = match self.above {
            Above::Sign(bit) => Some(bit.row),
            Above::Zeros | Above::Ones(_) => None,
        };
        let rows = [self.row, self.distance.map(|it| it.row), self.keep.map(|it| it.row), turn, above];
        rows.into_iter().flatten().collect()
    }
}

/// The lane of a block and the addresses of the rows that it reads.
pub(super) struct Reader<'r> {
    pub(super) lane: R32,
    /// The rows with their addresses.
    pub(super) rows: &'r [(Number, R64)],
    /// Has a warp all limbs of a lane? Then the first limb is the thread's number, so mostly all threads are inside of a row, or none is.
    pub(super) is_packed: bool,
}

impl Reader<'_> {
    /// The address of the lane's row.
    pub(super) fn row(&self, b: &mut Builder, number: Number) -> R64 {
        let found = self.rows.iter().find(|(row, _)| *row == number);
        let address = found.map(|(_, address)| *address).expect("a line reads its rows only");
        number.row(b, address, self.lane)
    }

    /// A word of a row.
    pub(super) fn word(&self, b: &mut Builder, number: Number, word: u32) -> R32 {
        let row = self.row(b, number);
        b.load_global(Space::Global, Vector::V1, row, 4 * word)[0]
    }

    /// The bit, 0 or 1.
    pub(super) fn bit(&self, b: &mut Builder, bit: Bit) -> R32 {
        let word = self.word(b, bit.row, bit.number / 32);
        let word = if bit.opposite { b.not(word) } else { word };
        b.bfe(word, bit.number % 32, 1)
    }

    /// All ones where the bit is set, else zero.
    fn mask(&self, b: &mut Builder, bit: Bit) -> R32 {
        let bit = self.bit(b, bit);
        b.sub(0, bit)
    }

    /// The limbs of a source at `first`, `first + 32`, …, `count` of them.
    pub(super) fn limbs(&self, b: &mut Builder, source: &Source, first: R32, count: u32) -> Vec<R32> {
        let keep = source.keep.map(|bit| self.mask(b, bit));
        let turn = match source.turn {
            Turn::Never => None,
            Turn::Always => Some(b.copy(u32::MAX)),
            Turn::Where(bit) => Some(self.mask(b, bit)),
        };
        let plain = match source.row {
            Some(row) => self.shifted(b, source, row, first, count),
            None => constant(b, source, first, count),
        };
        let filled = self.filled(b, source.above, first, plain);
        let finished = filled.into_iter().zip(0..).map(|(limb, i)| {
            let limb = keep.map_or(limb, |keep| b.and(limb, keep));
            let limb = turn.map_or(limb, |turn| b.xor(limb, turn));
            source.end.map_or(limb, |end| self.cut(b, limb, first, i, end))
        });
        finished.collect()
    }

    /// Are limbs `first` to `first + 31`, those of a packed line's pass, among the first `end` ones? None: some are, or the line is not packed.
    pub(super) fn are_inside(&self, first: i64, end: u32) -> Option<bool> {
        let (last, end) = (first + 31, i64::from(end));
        if !self.is_packed {
            None
        } else if first >= 0 && last < end {
            Some(true)
        } else if last < 0 || first >= end {
            Some(false)
        } else {
            None
        }
    }

    fn shifted(&self, b: &mut Builder, source: &Source, row: Number, first: R32, count: u32) -> Vec<R32> {
        let (words, bits) = (source.by.div_euclid(32), source.by.rem_euclid(32) as u32);
        let index = b.sub(first, words as u32);
        let (index, bits) = match source.distance {
            None => (index, (bits > 0).then(|| b.copy(bits))),
            Some(Distance { row, word, up }) => {
                let distance = self.word(b, row, word);
                let distance = if up { distance } else { b.sub(0, distance) };
                let distance = if bits > 0 { b.add(distance, bits) } else { distance };
                let words = b.shr_signed(distance, 5);
                (b.sub(index, words), Some(b.and(distance, 31)))
            }
        };
        let address = self.row(b, row);
        let below = b.sub(index, 1);
        let offset = b.mul_wide_signed(below, 4);
        let from = b.add64(address, offset);
        let load = |b: &mut Builder, index: R32, ahead: u32| {
            let pass = ahead & !31;
            let in_row = match source.distance {
                Some(_) => None,
                None => self.are_inside(i64::from(ahead) - 1 - words, row.limbs),
            };
            // Nobody waits for limbs that are cut off.
            let counts = source.end.map_or(Some(true), |end| self.are_inside(i64::from(pass), end.div_ceil(32)));
            if in_row == Some(false) || counts == Some(false) {
                return b.copy(0);
            }
            let mut inside = None;
            if in_row.is_none() {
                let index = if ahead == 0 { index } else { b.add(index, ahead) };
                inside = Some(b.compare(Cmp::Lt, index, row.limbs));
            }
            if let (None, Some(end)) = (counts, source.end) {
                let limb = b.add(first, pass);
                let counts = b.compare(Cmp::Lt, limb, end.div_ceil(32));
                inside = Some(inside.map_or(counts, |inside| b.and_pred(inside, counts)));
            }
            let Some(inside) = inside else { return b.load_global(Space::Global, Vector::V1, from, 4 * ahead)[0] };
            let word = b.copy(0);
            b.guarded(inside, true, |g| g.load_into(Space::Global, Vector::V1, &[word], from, 4 * ahead));
            word
        };
        let limbs = (0..count).map(|i| {
            let high = load(b, below, 32 * i + 1);
            match bits {
                None => high,
                Some(bits) => {
                    let low = load(b, below, 32 * i);
                    b.funnel_left(low, high, bits)
                }
            }
        });
        limbs.collect()
    }

    /// The limbs with the bits above the number.
    fn filled(&self, b: &mut Builder, above: Above, first: R32, limbs: Vec<R32>) -> Vec<R32> {
        let (fill, from) = match above {
            Above::Zeros => return limbs,
            Above::Ones(from) => (b.copy(u32::MAX), from),
            Above::Sign(bit) => (self.mask(b, bit), bit.number + 1),
        };
        let partly = b.shl(fill, from % 32);
        let fill_limb = |(limb, i): (R32, u32)| {
            let index = b.add(first, 32 * i);
            let at = b.compare(Cmp::Eq, index, from / 32);
            let beyond = b.compare(Cmp::Gt, index, from / 32);
            let bits = b.select(partly, 0, at);
            let bits = b.select(fill, bits, beyond);
            b.or(limb, bits)
        };
        limbs.into_iter().zip(0..).map(fill_limb).collect()
    }

    /// Limb `first + 32·i` of a number without the bits from bit `end` on.
    pub(super) fn cut(&self, b: &mut Builder, limb: R32, first: R32, i: u32, end: u32) -> R32 {
        match self.are_inside(i64::from(32 * i), end / 32) {
            Some(true) => return limb,
            Some(false) if 32 * i >= end.div_ceil(32) => return b.copy(0),
            Some(false) | None => {}
        }
        let index = if i == 0 { first } else { b.add(first, 32 * i) };
        let whole = b.compare(Cmp::Lt, index, end / 32);
        if end.is_multiple_of(32) {
            return b.select(limb, 0, whole);
        }
        let mask = b.select(u32::MAX, 0, whole);
        let top = b.compare(Cmp::Eq, index, end / 32);
        let mask = b.select((1 << (end % 32)) - 1, mask, top);
        b.and(limb, mask)
    }
}

/// The limbs of a number of one limb, which is not 0 at one place alone.
fn constant(b: &mut Builder, source: &Source, first: R32, count: u32) -> Vec<R32> {
    let place = (source.by / 32) as u32;
    (0..count)
        .map(|i| {
            if 32 * i > place || source.constant == 0 {
                return b.copy(0);
            }
            let here = b.compare(Cmp::Eq, first, place - 32 * i);
            b.select(source.constant, 0, here)
        })
        .collect()
}
