//! `ecm_enter`: the constants of lanes from plain numbers.
//!
//! computes   `R mod N`, `R² mod N`, the residues of the start and of `d`; the product 1; nothing found
//! requires   `N` odd and above 1, the start and `d` below `N`; of the third family a word `σ` in place of `d`
//! cost       about 7 products

use warpmp_kernel::build::{Builder, R32};
use warpmp_launch::{Frame, piece};

use super::residues::Residues;
use super::{Class, constant, load, state, store_number};

pub(super) fn body(b: &mut Builder, frame: &Frame, class: Class) {
    let limbs = class.limbs;
    let modulus = load(b, frame, class, 0, 0);
    let residues = Residues::modulo(b, frame.spread, &modulus, class);
    let one = residues.ring.one(b);
    let square = residues.ring.square_of_r(b, &one);
    let start = load(b, frame, class, 0, 1);
    let start = residues.mul(b, &square, &start);
    let last = load(b, frame, class, 0, 2);
    let (d, word) = if class.word {
        let word: R32 = frame.spread.broadcast(b, last[0], 0);
        let d = residues.by_word(b, &one, word);
        // Lazy, it is below 2N: one is below N.
        (d, last)
    } else {
        (residues.mul(b, &square, &last), last)
    };
    let constants = frame.result_row(b, 0);
    let numbers = [
        (constant::MODULUS, &modulus),
        (constant::START, &start),
        (constant::D, &d),
        (constant::SQUARE, &square),
        (constant::ONE, &one),
        (constant::WORD, &word),
    ];
    for (number, value) in numbers {
        store_number(b, frame, class, constants, number, value);
    }
    let row = frame.result_row(b, 1);
    store_number(b, frame, class, row, state::PRODUCT, &one);
    let unit = frame.spread.small(b, 1);
    let found = frame.result_row(b, 2);
    frame.write(b, found, limbs, piece(limbs), &unit);
}
