//! A Montgomery product under way: which limbs its next row takes.
//!
//! [`Montgomery`](super::Montgomery) adds the rows of several products in turns. A strand is what each of them knows by itself.

use super::factor::Reader;
use super::montgomery_square::SquareRow;
use super::{Factor, Montgomery, Spread, Window};
use crate::build::{Builder, R32};

/// What is added to the multiples of a modulus.
#[derive(Clone, Copy, Debug)]
pub enum Term<'a> {
    /// Nothing: what the window holds is reduced.
    Nothing,
    /// A product.
    Product(&'a [R32], Factor<'a>),
    /// A square.
    Square(&'a [R32]),
}

impl<'a> Term<'a> {
    /// A product of numbers in registers.
    pub fn product(x: &'a [R32], y: &'a [R32]) -> Self {
        Self::Product(x, Factor::Registers(y))
    }

    /// The same as it is computed: short squares are products.
    pub(super) const fn effective(self, spread: &Spread) -> Self {
        match self {
            Self::Square(x) if spread.length < Montgomery::SQUARE_FROM => Self::Product(x, Factor::Registers(x)),
            Self::Nothing | Self::Product(..) | Self::Square(_) => self,
        }
    }
}

/// The rows of a term, one after the other.
pub(super) struct Strand<'a> {
    term: Term<'a>,
    limbs: Option<Reader<'a>>,
    /// The limb of the next row, and the limb of the row before it.
    next: Option<R32>,
    below: Option<R32>,
}

impl<'a> Strand<'a> {
    /// The first `count` rows of a block. `member`: in whose registers its limbs are; none: there is one lane, or the factor is in memory.
    pub(super) fn new(b: &mut Builder, spread: &'a Spread, term: Term<'a>, member: Option<R32>, count: usize) -> Self {
        let factor = match term {
            Term::Nothing => None,
            Term::Product(_, y) => Some(y),
            Term::Square(x) => Some(Factor::Registers(x)),
        };
        let limbs = factor.map(|factor| Reader::new(b, factor, spread, member, count));
        Self { term, limbs, next: None, below: None }
    }

    /// Asks for the limb of the next row.
    pub(super) fn fetch(&mut self, b: &mut Builder) {
        self.next = self.limbs.as_mut().and_then(|limbs| limbs.limb(b));
    }

    /// Row `i`, for which a limb has been asked.
    pub(super) fn row(&mut self, b: &mut Builder, i: usize) -> Row<'a> {
        let Some(limb) = self.next else { return Row::Nothing };
        let below = self.below.replace(limb);
        match self.term {
            Term::Nothing => Row::Nothing,
            Term::Product(x, _) => Row::Product(x, limb),
            Term::Square(x) => Row::Square(SquareRow::new(b, x, i, limb, below)),
        }
    }

    /// What follows the last one of `rows` rows.
    pub(super) fn end(&self, b: &mut Builder, window: &mut Window, rows: usize) {
        if let (Term::Square(x), Some(last)) = (self.term, self.below)
            && rows < x.len()
        {
            SquareRow::add_last(b, window, x, rows, last);
        }
    }
}

/// A row.
pub(super) enum Row<'a> {
    Nothing,
    Product(&'a [R32], R32),
    Square(SquareRow<'a>),
}

impl Row<'_> {
    /// The part of the row that the quotient needs; all of a product's row unless `early`.
    pub(super) fn add_first(&self, b: &mut Builder, window: &mut Window, early: bool) {
        match self {
            Self::Nothing => {}
            Self::Product(x, limb) => {
                window.add_even(b, x, *limb);
                if !early {
                    window.add_odd(b, x, *limb);
                }
            }
            Self::Square(row) => row.add_first(b, window),
        }
    }

    /// The rest of the row.
    pub(super) fn add_rest(&self, b: &mut Builder, window: &mut Window, early: bool) {
        match self {
            Self::Nothing => {}
            Self::Product(x, limb) => {
                if early {
                    window.add_odd(b, x, *limb);
                }
            }
            Self::Square(row) => row.add_rest(b, window),
        }
    }
}
