//! A smaller case that fails as well: fewer lanes, narrower operands, simpler numbers.

use std::time::{Duration, Instant};

use num_bigint::BigUint;
use warpmp_testkit::{Operands, oracle};

use super::{Case, Failure, check};

/// How long it may take.
const TIME: Duration = Duration::from_secs(20);

/// The smallest case found, in words, with its operands.
pub(crate) fn smallest(case: &Case, operands: &[Operands], failure: &Failure) -> String {
    let mut search = Search {
        case: case.clone(),
        operands: operands.to_vec(),
        failure: failure.clone(),
        end: Instant::now() + TIME,
    };
    search.lanes();
    while Instant::now() < search.end && (search.widths() || search.numbers()) {}
    let Search { case: small, operands, failure: last, .. } = &search;
    let numbers: Vec<String> = operands
        .iter()
        .map(|operand| {
            let lanes: Vec<String> =
                (0..operand.lanes.min(4)).map(|lane| format!("{:#x}", oracle::number(operand.lane(lane)))).collect();
            format!("  {} lanes of {} bits: {}", operand.lanes, operand.bits, lanes.join(", "))
        })
        .collect();
    format!("{case}\n {}\nsmallest: {small}\n{}\n {}", failure.what, numbers.join("\n"), last.what)
}

struct Search {
    case: Case,
    operands: Vec<Operands>,
    failure: Failure,
    end: Instant,
}

impl Search {
    /// Takes these operands if they fail as well.
    fn take(&mut self, operands: Vec<Operands>) -> bool {
        if Instant::now() > self.end || operands == self.operands {
            return false;
        }
        let case = Case {
            bits: operands.iter().map(|it| it.bits).collect(),
            lanes: operands.iter().map(|it| it.lanes).collect(),
            ..self.case.clone()
        };
        match check(&case, &operands) {
            Err(failure) => {
                (self.case, self.operands, self.failure) = (case, operands, failure);
                true
            }
            Ok(_) => false,
        }
    }

    /// The wrong lane alone, or as few as there can be.
    fn lanes(&mut self) {
        let lanes = self.operands.iter().map(|it| it.lanes).max().unwrap_or(0);
        let wrong = self.failure.lane.unwrap_or(0);
        let of = |operands: &[Operands], first: usize, count: usize| -> Vec<Operands> {
            let cut = |it: &Operands| {
                let width = it.bits.div_ceil(32);
                let (first, count) = if it.lanes == 1 { (0, 1) } else { (first, count) };
                Operands { lanes: count, bits: it.bits, limbs: it.limbs[first * width..][..count * width].to_vec() }
            };
            operands.iter().map(cut).collect()
        };
        let all = self.operands.clone();
        for (first, count) in [(wrong, 1), (wrong.min(lanes.saturating_sub(2)), 2.min(lanes)), (0, wrong + 1)] {
            if self.take(of(&all, first, count)) {
                return;
            }
        }
        // A fault without a lane: half of them, as long as that fails too.
        let mut lanes = lanes;
        while lanes > 1 {
            let (half, all) = (lanes.div_ceil(2), self.operands.clone());
            if !self.take(of(&all, 0, half)) && !self.take(of(&all, lanes - half, half)) {
                return;
            }
            lanes = half;
        }
    }

    /// Narrower operands: without limbs, bits, what is zero above.
    fn widths(&mut self) -> bool {
        let mut better = false;
        for i in 0..self.operands.len() {
            let bits = self.operands[i].bits;
            let least = (0..self.operands[i].lanes).map(|lane| oracle::number(self.operands[i].lane(lane)).bits());
            let least = least.max().unwrap_or(1).max(1) as usize;
            let narrower = [least, bits / 2, bits.saturating_sub(32), bits.saturating_sub(1), 32 * ((bits - 1) / 32)];
            for to in narrower.into_iter().filter(|to| (1..bits).contains(to)) {
                let mut operands = self.operands.clone();
                operands[i] = with(&operands[i], to, BigUint::clone);
                if self.take(operands) {
                    better = true;
                    break;
                }
            }
        }
        better
    }

    /// Simpler numbers.
    fn numbers(&mut self) -> bool {
        let changes: [fn(&BigUint, u64) -> BigUint; 6] = [
            |_, _| BigUint::ZERO,
            |_, _| BigUint::from(1_u32),
            |number, bits| number >> (bits / 2),
            |number, _| number >> 32_u32,
            |number, bits| number & ((BigUint::from(1_u32) << (bits / 2)) - 1_u32),
            |number, _| number >> 1_u32,
        ];
        let mut better = false;
        for i in 0..self.operands.len() {
            for change in changes {
                let operands_i = with(&self.operands[i], self.operands[i].bits, |number| change(number, number.bits()));
                // Only what is less makes an end.
                if operands_i.limbs.iter().rev().lt(self.operands[i].limbs.iter().rev()) {
                    let mut operands = self.operands.clone();
                    operands[i] = operands_i;
                    better |= self.take(operands);
                }
            }
        }
        better
    }
}

/// The operands with other bits, each number changed and cut to them.
fn with(operands: &Operands, bits: usize, change: impl Fn(&BigUint) -> BigUint) -> Operands {
    let mask = (BigUint::from(1_u32) << bits) - 1_u32;
    let number = |lane: usize| change(&oracle::number(operands.lane(lane))) & &mask;
    let limbs = (0..operands.lanes).flat_map(|lane| oracle::limbs(&number(lane), bits.div_ceil(32))).collect();
    Operands { lanes: operands.lanes, bits, limbs }
}
