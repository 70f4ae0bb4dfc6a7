//! `ecm_restart`, `lucas_restart`, `power_restart`: the residues of a first stage become the starts of the second one.
//!
//! computes   the start: the residue of the first stage; of a power `x + 1/x`; nothing found
//! requires   the residue, plain; of a power its inverse, plain
//! cost       1 product; 2

use warpmp_kernel::build::Builder;
use warpmp_launch::{Frame, piece};

use super::residues::Residues;
use super::{Class, Line, constant, load, load_number, store_number};

pub(super) fn body(b: &mut Builder, frame: &Frame, class: Class) {
    let row = frame.result_row(b, 0);
    let [modulus, square] =
        [constant::MODULUS, constant::SQUARE].map(|number| load_number(b, frame, class, row, number));
    let r = Residues::modulo(b, frame.spread, &modulus, class);
    let residue = load(b, frame, class, 0, 0);
    let start = r.mul(b, &square, &residue);
    let start = match class.line {
        Line::Curve | Line::Lucas => start,
        Line::Power => {
            let inverse = load(b, frame, class, 1, 0);
            let inverse = r.mul(b, &square, &inverse);
            let sum = r.add(b, &start, &inverse);
            r.fold(b, &sum)
        }
    };
    store_number(b, frame, class, row, constant::START, &start);
    let unit = frame.spread.small(b, 1);
    let found = frame.result_row(b, 1);
    frame.write(b, found, class.limbs, piece(class.limbs), &unit);
}
