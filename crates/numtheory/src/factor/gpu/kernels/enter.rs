//! `ecm_enter`, `ecm_suyama_enter`: the constants of lanes from plain numbers.
//!
//! computes   `R mod N`, `R² mod N`, the residues of the start and of `d`; the product 1; nothing found. `ecm_suyama_enter`: the residue of `σ` in the
//!            place of `d`, and no start
//! requires   `N` odd and above 1; then the start and `d`, the word `σ` of the third family, or Suyama's `σ`, below `N` but for words
//! cost       about 7 products
//!
//! The rows have what differs from curve to curve: curves of the third family start at 2, so they bring one word beside `N`.

use warpmp_kernel::build::{Builder, R32};
use warpmp_launch::{Frame, piece};

use super::ladder::twice;
use super::residues::Residues;
use super::{Class, constant, load, state, store_number};

/// What follows the modulus in the rows of lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::factor) enum Given {
    /// The start and `d`.
    Point,
    /// The word `σ`.
    Word,
    /// Suyama's `σ`.
    Sigma,
}

impl Given {
    /// Limbs of a row, for moduli of so many limbs.
    pub(in crate::factor) const fn row_limbs(self, limbs: u32) -> u32 {
        match self {
            Self::Point => 3 * limbs,
            Self::Word => limbs + 1,
            Self::Sigma => 2 * limbs,
        }
    }
}

pub(super) fn body(b: &mut Builder, frame: &Frame, class: Class, given: Given) {
    let limbs = class.limbs;
    let modulus = load(b, frame, class, 0, 0);
    let residues = Residues::modulo(b, frame.spread, &modulus, class);
    let one = residues.ring.one(b);
    let square = residues.ring.square_of_r(b, &one);
    let mut numbers =
        vec![(constant::MODULUS, modulus), (constant::SQUARE, square.clone()), (constant::ONE, one.clone())];
    match given {
        Given::Point => {
            for (place, number) in [(1, constant::START), (2, constant::D)] {
                let plain = load(b, frame, class, 0, place);
                numbers.push((number, residues.mul(b, &square, &plain)));
            }
        }
        Given::Word => {
            numbers.push((constant::START, twice(b, &residues, &one)));
            let last = frame.load_part(b, 0, limbs, 1);
            let word: R32 = frame.spread.broadcast(b, last[0], 0);
            // Lazy, it is below 2N: one is below N.
            numbers.push((constant::D, residues.by_word(b, &one, word)));
            numbers.push((constant::WORD, last));
        }
        Given::Sigma => {
            let sigma = load(b, frame, class, 0, 1);
            numbers.push((constant::D, residues.mul(b, &square, &sigma)));
        }
    }
    let constants = frame.result_row(b, 0);
    for (number, value) in numbers {
        store_number(b, frame, class, constants, number, &value);
    }
    let row = frame.result_row(b, 1);
    store_number(b, frame, class, row, state::PRODUCT, &one);
    let unit = frame.spread.small(b, 1);
    let found = frame.result_row(b, 2);
    frame.write(b, found, limbs, piece(limbs), &unit);
}
