//! Numbers spread over the lanes of a group and over the threads of a block, on the simulator.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use num_bigint::BigUint;
use warpmp_kernel::build::{Builder, Emit, Glue, R32};
use warpmp_kernel::fragment::{Spread, repeat};
use warpmp_kernel::ir::{Cmp, Space, Special, Vector};
use warpmp_kernel::sim::{Grid, Memory, Program};

/// Lanes a number, limbs a lane.
const LAYOUTS: [(u32, usize); 9] = [(1, 3), (2, 2), (8, 1), (32, 2), (64, 1), (64, 3), (256, 1), (128, 2), (512, 1)];

/// Runs one warp or block on pairs of numbers: each lane's limbs of both, one result of as many words a lane as the
/// body returns.
fn run(
    (group, length): (u32, usize),
    pairs: &[[BigUint; 2]],
    body: impl FnOnce(&mut Builder, &Spread, &[R32], &[R32]) -> Vec<R32>,
) -> Vec<Vec<u32>> {
    let threads = group.max(32);
    let numbers = threads / group;
    let bytes = 4 * length as u32;
    let mut b = Builder::new("fragment", Glue::None);
    let (from, to) = (b.param_u64("from"), b.param_u64("to"));
    let thread = b.special(Special::Tid);
    let block = b.special(Special::Ctaid);
    let number = b.mad_lo(block, threads, thread);
    let spread = Spread::new(&mut b, group, length, thread);
    let mut load = |operand: u32| -> Vec<R32> {
        let row = b.mad_wide(number, 2 * bytes, from);
        (0..length as u32).map(|k| b.load_global(Space::Global, Vector::V1, row, operand * bytes + 4 * k)[0]).collect()
    };
    let (x, y) = (load(0), load(1));
    let results = body(&mut b, &spread, &x, &y);
    let outputs = results.len() as u32;
    let row = b.mad_wide(number, 4 * outputs, to);
    for (&result, i) in results.iter().zip(0..) {
        b.store_global(Space::Global, &[result], row, 4 * i);
    }
    let program = Program::parse(&b.finish().to_string()).unwrap();
    let mut memory = Memory::new(1 << 24);
    let blocks = (pairs.len() as u32).div_ceil(numbers);
    let mut words = Vec::new();
    for number in 0..(blocks * numbers) as usize {
        let pair = &pairs[number % pairs.len()];
        let limbs = [0, 1].map(|i| {
            let mut limbs = pair[i].to_u32_digits();
            limbs.resize(group as usize * length, 0);
            limbs
        });
        for lane in 0..group as usize {
            words.extend(limbs.iter().flat_map(|limbs| &limbs[lane * length..][..length]));
        }
    }
    let from = memory.alloc(4 * words.len() as u64).unwrap();
    let count = (blocks * threads * outputs) as usize;
    let to = memory.alloc(4 * count as u64).unwrap();
    memory.write(from, &words).unwrap();
    let grid = Grid { blocks, threads, shared_bytes: Spread::shared_bytes(group) };
    program.launch(grid, &[from, to], &mut memory).unwrap_or_else(|fault| panic!("{group} lanes: {fault}"));
    let mut out = vec![0; count];
    memory.read(to, &mut out).unwrap();
    // By number: its lanes' words one after the other.
    out.chunks((group * outputs) as usize).take(pairs.len()).map(<[u32]>::to_vec).collect()
}

/// Pairs whose sums and differences carry over any number of lanes: runs of ones and of zeros between single bits.
fn pairs((group, length): (u32, usize)) -> Vec<[BigUint; 2]> {
    let bits = 32 * group as usize * length;
    let one = BigUint::from(1_u32);
    let all = (&one << bits) - 1_u32;
    let mut pairs = vec![
        [all.clone(), one.clone()],
        [all.clone(), all.clone()],
        [BigUint::ZERO, one.clone()],
        [BigUint::ZERO, BigUint::ZERO],
        [&one << (bits - 1), &one << (bits - 1)],
    ];
    let mut state = 12345_usize;
    let mut next = |limit: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % limit
    };
    for _ in 0..40 {
        // Ones from `low` on, and a bit that starts a carry there or somewhere below.
        let low = next(bits);
        let high = low + next(bits - low) + 1;
        let run = (&one << high) - (&one << low);
        let bit = &one << (if next(2) == 0 { low } else { next(bits) });
        let extra = &one << next(bits);
        pairs.push([&run | extra, bit.clone()]);
        pairs.push([bit, run]);
    }
    pairs
}

fn number(words: &[u32]) -> BigUint {
    BigUint::from_slice(words)
}

/// Of each lane's words those in front, as a number, and the last one, which is the same in all lanes.
fn split(words: &[u32], length: usize) -> (BigUint, u32) {
    let limbs: Vec<u32> = words.chunks(length + 1).flat_map(|lane| &lane[..length]).copied().collect();
    assert!(words.chunks(length + 1).all(|lane| lane[length] == words[length]), "a word that lanes disagree about");
    (number(&limbs), words[length])
}

#[test]
fn sums_and_differences_carry_over_lanes_and_warps() {
    for layout in LAYOUTS {
        let pairs = pairs(layout);
        let limit = BigUint::from(1_u32) << (32 * layout.0 as usize * layout.1);
        let sums = run(layout, &pairs, |b, spread, x, y| {
            let (mut sum, carry) = spread.add(b, x, y);
            sum.push(carry);
            sum
        });
        let differences = run(layout, &pairs, |b, spread, x, y| {
            let (mut difference, borrow) = spread.sub(b, x, y);
            difference.push(borrow);
            difference
        });
        for ((pair, sum), difference) in pairs.iter().zip(&sums).zip(&differences) {
            let [x, y] = pair;
            let (low, carry) = split(sum, layout.1);
            assert_eq!(low + carry * &limit, x + y, "{layout:?}: {x:x} + {y:x}");
            let (low, borrow) = split(difference, layout.1);
            assert_eq!(low + y, x + borrow * &limit, "{layout:?}: {x:x} − {y:x}");
        }
    }
}

#[test]
fn what_lanes_hand_up_is_settled() {
    for layout in LAYOUTS {
        let pairs = pairs(layout);
        let lane_bits = 32 * layout.1;
        // The excess of lane n is n mod 4: 2 at the most occurs, 3 is legal.
        let out = run(layout, &pairs, |b, spread, x, _| {
            let excess = b.and(spread.member, 3);
            let (mut sum, above) = spread.settle(b, x, excess);
            sum.push(above);
            sum
        });
        let handed = (0..layout.0 as usize).map(|n| BigUint::from(n % 4) << (lane_bits * (n + 1))).sum::<BigUint>();
        for ([x, _], words) in pairs.iter().zip(&out) {
            let (low, above) = split(words, layout.1);
            let above = BigUint::from(above) << (lane_bits * layout.0 as usize);
            assert_eq!(low + above, x + &handed, "{layout:?}: {x:x}");
        }
    }
}

#[test]
fn lengths_zeros_and_sums() {
    for layout in LAYOUTS {
        let pairs = pairs(layout);
        let bits = 32 * layout.0 * layout.1 as u32;
        let out = run(layout, &pairs, |b, spread, x, y| {
            let length = spread.bit_length(b, x);
            let zeros = spread.trailing_zeros(b, y);
            let zero = spread.is_zero(b, x);
            let zero = b.select(1, 0, zero);
            let odd = b.and(y[0], 1);
            let sum = spread.sum(b, odd);
            let odd = b.compare(Cmp::Ne, odd, 0);
            let above = spread.any_above(b, odd);
            let above = b.select(1, 0, above);
            let largest = spread.largest(b, x[0]);
            vec![length, zeros, zero, sum, above, largest]
        });
        for ([x, y], words) in pairs.iter().zip(&out) {
            let odd = |lane: &usize| y.bit((lane * 32 * layout.1) as u64);
            let lanes: Vec<usize> = (0..layout.0 as usize).filter(odd).collect();
            for (lane, words) in words.chunks(6).enumerate() {
                assert_eq!(words[0], x.bits() as u32, "{layout:?} lane {lane}: {x:x}");
                let zeros = y.trailing_zeros().map_or(bits, |zeros| zeros as u32);
                assert_eq!(words[1].min(bits), zeros, "{layout:?} lane {lane}: {y:x}");
                assert_eq!(words[2], u32::from(*x == BigUint::ZERO), "{layout:?} lane {lane}: {x:x}");
                assert_eq!(words[3] as usize, lanes.len(), "{layout:?} lane {lane}: {y:x}");
                let above = lanes.last().is_some_and(|last| *last > lane);
                assert_eq!(words[4], u32::from(above), "{layout:?} lane {lane}: {y:x}");
                let limbs = x.to_u32_digits();
                let largest = limbs.iter().step_by(layout.1).max().copied().unwrap_or(0);
                assert_eq!(words[5], largest, "{layout:?} lane {lane}: {x:x}");
            }
        }
    }
}

/// What lanes tell each other, in loops with an odd and with an even number of exchanges.
#[test]
fn exchanges_follow_one_another() {
    for layout in LAYOUTS {
        let pairs = pairs(layout);
        for exchanges in [1, 2, 3] {
            let turns = 5;
            let out = run(layout, &pairs, |b, spread, _, _| {
                let value = b.add(spread.member, 100);
                repeat(b, turns, |b| {
                    for _ in 0..exchanges {
                        let below = spread.from_below(b, value);
                        b.set(value, below);
                    }
                });
                let above = spread.from_above(b, spread.member);
                let (first, last) = (b.copy(0), spread.group - 1);
                let constant = spread.broadcast(b, spread.member, last);
                let variable = spread.broadcast(b, value, first);
                vec![value, above, constant, variable]
            });
            for words in &out {
                for (lane, words) in (0..layout.0).zip(words.chunks(4)) {
                    // One lane has none below.
                    let distance = turns * exchanges;
                    let expected = if lane < distance { 0 } else { lane - distance + 100 };
                    assert_eq!(words[0], expected, "{layout:?} lane {lane}");
                    if lane + 1 < layout.0 {
                        assert_eq!(words[1], lane + 1, "{layout:?} lane {lane}");
                    }
                    assert_eq!((words[2], words[3]), (layout.0 - 1, 0), "{layout:?} lane {lane}");
                }
            }
        }
    }
}
