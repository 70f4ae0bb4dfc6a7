//! The fragments on the simulator: every length, every pattern of carries.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use num_bigint::BigUint;
use warpmp_kernel::build::{Builder, Emit, Glue, R32, R64, V32};
use warpmp_kernel::fragment::{
    Carries, Digits, LowRows, Rows, add_limbs, all_ones, all_zeros, double_plus_squares_carrying, resolve_carries,
    square, wrapping_add_small, wrapping_sub_small,
};
use warpmp_kernel::ir::{Carry, Cmp, Half, Int, Op, Space, Special, Vector, Width};
use warpmp_kernel::sim::{Counters, Grid, Memory, Program};

/// Runs one warp: lane `i` reads `inputs` words at `i·inputs` and writes as many as the body returns.
fn run(
    inputs: u32,
    words: &[u32],
    glue: Glue,
    body: impl FnOnce(&mut Builder, &[R32]) -> Vec<R32>,
) -> (Vec<Vec<u32>>, Counters) {
    let mut b = Builder::new("fragment", glue);
    let (from, to) = (b.param_u64("from"), b.param_u64("to"));
    let lane = b.special(Special::Lane);
    let row: R64 = b.mad_wide(lane, 4 * inputs, from);
    let values: Vec<R32> = (0..inputs).flat_map(|i| b.load_global(Space::Global, Vector::V1, row, 4 * i)).collect();
    let results = body(&mut b, &values);
    let outputs = results.len() as u32;
    let row = b.mad_wide(lane, 4 * outputs, to);
    for (&result, i) in results.iter().zip(0..) {
        b.store_global(Space::Global, &[result], row, 4 * i);
    }
    let program = Program::parse(&b.finish().to_string()).unwrap();
    let mut memory = Memory::new(1 << 24);
    let from = memory.alloc(4 * words.len() as u64).unwrap();
    let to = memory.alloc(128 * u64::from(outputs)).unwrap();
    memory.write(from, words).unwrap();
    let counters = program.launch(Grid { blocks: 1, threads: 32, shared_bytes: 0 }, &[from, to], &mut memory).unwrap();
    let mut out = vec![0; 32 * outputs as usize];
    memory.read(to, &mut out).unwrap();
    (out.chunks(outputs as usize).map(<[u32]>::to_vec).collect(), counters)
}

/// Limbs that make carries run: mostly 0 and all ones.
fn limbs(count: usize, seed: u32) -> Vec<u32> {
    let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(12345);
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 8
    };
    (0..count)
        .map(|_| match next() % 9 {
            0..3 => 0,
            3..6 => u32::MAX,
            6 => 1 << 31,
            _ => next() << 8 | next() & 255,
        })
        .collect()
}

fn number(limbs: &[u32]) -> BigUint {
    BigUint::from_slice(limbs)
}

#[test]
fn rows_multiply_at_every_length() {
    for length in 1..=9_usize {
        for rows in [1, 2, 3, 8] {
            for glue in [Glue::None, Glue::Every(1), Glue::Every(2)] {
                let inputs = length + rows;
                let mut words = limbs(32 * inputs, (length * 31 + rows) as u32);
                words[..inputs].fill(u32::MAX);
                let (out, counters) = run(inputs as u32, &words, glue, |b, values| {
                    let mut product = Rows::new(&values[..length]);
                    let mut result: Vec<R32> = values[length..].iter().map(|&y| product.row(b, y)).collect();
                    result.extend(product.finish(b));
                    result
                });
                for (input, output) in words.chunks(inputs).zip(&out) {
                    assert_eq!(
                        number(output),
                        number(&input[..length]) * number(&input[length..]),
                        "{length} {rows} {glue:?}"
                    );
                }
                assert_eq!(counters.op(Op::MulWide(Int::U32)).warps as usize, length * rows);
            }
        }
    }
}

#[test]
fn rows_start_on_a_window_and_take_another_number() {
    for length in 1..=8_usize {
        let inputs = 4 * length;
        let mut words = limbs(32 * inputs, 77 + length as u32);
        // The largest sum there is: it fits exactly.
        words[..inputs].fill(u32::MAX);
        let (out, _) = run(inputs as u32, &words, Glue::None, |b, values| {
            let (a, rest) = values.split_at(length);
            let (y, rest) = rest.split_at(length);
            let (window, incoming) = rest.split_at(length);
            let mut product = Rows::on(b, a, window);
            let gone: Vec<R32> = y.iter().map(|&limb| product.row(b, limb)).collect();
            let (mut result, high) = product.finish_adding(b, &gone, incoming);
            result.extend(high);
            result
        });
        for (input, output) in words.chunks(inputs).zip(&out) {
            let part = |i: usize| number(&input[i * length..][..length]);
            assert_eq!(number(output), part(0) * part(1) + part(2) + part(3), "{length}");
        }
    }
}

/// The counts of wide and of low products are the deterministic twin of the time: half of the whole product's.
#[test]
fn low_rows_multiply_modulo_a_power_at_every_length() {
    for length in 1..=10_usize {
        for rows in 1..=length {
            for glue in [Glue::None, Glue::Every(1), Glue::Every(3)] {
                let inputs = length + rows;
                let mut words = limbs(32 * inputs, (length * 37 + rows) as u32);
                words[..inputs].fill(u32::MAX);
                let (out, counters) = run(inputs as u32, &words, glue, |b, values| {
                    let mut product = LowRows::new(&values[..length]);
                    let mut result: Vec<R32> = values[length..].iter().map(|&y| product.row(b, y)).collect();
                    result.extend(product.finish(b));
                    result
                });
                for (input, output) in words.chunks(inputs).zip(&out) {
                    let product = number(&input[..length]) * number(&input[length..]);
                    let modulus = BigUint::from(1_u32) << (32 * length);
                    assert_eq!(number(output), product % modulus, "{length} {rows} {glue:?}");
                    assert_eq!(output.len(), length);
                }
                let wide: usize = (0..rows).map(|row| length - row - 1).sum();
                assert_eq!(counters.op(Op::MulWide(Int::U32)).warps as usize, wide);
                let low = counters.op(Op::Mul(Half::Lo, Width::W32)).warps + low_sums(&counters);
                assert_eq!(low as usize, rows);
            }
        }
    }
}

/// Low products with an addend.
fn low_sums(counters: &Counters) -> u64 {
    counters.op(Op::Mad(Half::Lo, Carry::None)).warps
}

#[test]
fn squares_at_every_length() {
    for length in 1..=17_usize {
        for glue in [Glue::None, Glue::Every(1), Glue::Every(2)] {
            for seed in 0..4 {
                let mut words = limbs(32 * length, (length * 31 + seed) as u32);
                words[..length].fill(u32::MAX);
                let (out, counters) = run(length as u32, &words, glue, square);
                for (input, output) in words.chunks(length).zip(&out) {
                    assert_eq!(number(output), number(input) * number(input), "{length} {glue:?}");
                }
                assert_eq!(counters.op(Op::MulWide(Int::U32)).warps as usize, length * (length + 1) / 2);
            }
        }
    }
}

#[test]
fn squares_with_any_sum_doubled() {
    for length in 1..=5_usize {
        let inputs = 3 * length;
        let mut words = limbs(32 * inputs, 9 + length as u32);
        words[..inputs].fill(u32::MAX);
        let (out, _) = run(inputs as u32, &words, Glue::Every(1), |b, values| {
            let (a, sum) = values.split_at(length);
            let sum: Vec<V32> = sum.iter().map(|&limb| limb.into()).collect();
            let (mut result, above) = double_plus_squares_carrying(b, a, &sum);
            result.push(above);
            result
        });
        for (input, output) in words.chunks(inputs).zip(&out) {
            let (a, sum) = input.split_at(length);
            let squares =
                a.iter().rev().fold(BigUint::default(), |sum, &limb| (sum << 64) + BigUint::from(limb) * limb);
            assert_eq!(number(output), (number(sum) << 1) + squares, "{length}");
        }
    }
}

#[test]
fn sums_carry() {
    for length in 1..=5_usize {
        let words = limbs(64 * length, 5);
        let (out, _) = run(2 * length as u32, &words, Glue::Every(1), |b, values| {
            let (mut sum, carry) = add_limbs(b, &values[..length], &values[length..]);
            sum.push(carry);
            sum
        });
        for (input, output) in words.chunks(2 * length).zip(&out) {
            assert_eq!(number(output), number(&input[..length]) + number(&input[length..]));
        }
        let (out, _) = run(1 + length as u32, &limbs(32 * (1 + length), 6), Glue::None, |b, values| {
            wrapping_add_small(b, &values[1..], values[0])
        });
        for (input, output) in limbs(32 * (1 + length), 6).chunks(1 + length).zip(&out) {
            let modulus = BigUint::from(1_u32) << (32 * length);
            assert_eq!(number(output), (number(&input[1..]) + input[0]) % modulus);
        }
    }
}

/// Groups of every width, blocks of one and two limbs, against a ripple through the lanes.
#[test]
fn carries_run_through_groups() {
    for group in [1_usize, 2, 3, 4, 5, 8, 10, 16, 27, 32] {
        for length in [1_usize, 2] {
            for seed in 0..40 {
                // Word 0: did the block carry out? A block that did is not all ones.
                let mut words = limbs(32 * (length + 1), seed);
                for lane in words.chunks_mut(length + 1) {
                    lane[0] &= 1;
                    if lane[0] == 1 && lane[1..].iter().all(|&limb| limb == u32::MAX) {
                        lane[1] = u32::MAX - 1;
                    }
                }
                let (out, _) = run(length as u32 + 1, &words, Glue::None, |b, values| {
                    let carry = b.compare(Cmp::Ne, values[0], 0);
                    resolve_carries(b, &values[1..], carry, group as u32)
                });
                let blocks: Vec<&[u32]> = words.chunks(length + 1).collect();
                for (inputs, outputs) in blocks.chunks_exact(group).zip(out.chunks_exact(group)) {
                    let mut expected = BigUint::default();
                    for (i, block) in inputs.iter().enumerate() {
                        expected += number(&block[1..]) << (32 * length * i);
                        expected += BigUint::from(block[0]) << (32 * length * (i + 1));
                    }
                    expected %= BigUint::from(1_u32) << (32 * length * group);
                    assert_eq!(number(&outputs.concat()), expected, "group {group}, {length} limbs, seed {seed}");
                }
            }
        }
    }
}

/// Numbers of one word a lane: a borrow that goes round, and the borrow out, against whole subtractions.
#[test]
fn borrows_go_round() {
    for group in [1_usize, 2, 5, 8, 10, 32] {
        for seed in 0..40 {
            let words = limbs(64, seed);
            let (out, _) = run(2, &words, Glue::None, |b, values| {
                let mut chain = b.chain();
                let difference = [chain.sub(values[0], values[1])];
                let borrow = chain.borrow_mask();
                let borrow = b.compare(Cmp::Ne, borrow, 0);
                let zero = all_zeros(b, &difference);
                let borrows = Carries::look_ahead(b, borrow, zero, group as u32);
                let out = borrows.out_of_group(b);
                let into = borrows.around(b).into_lane(b);
                let mut results = wrapping_sub_small(b, &difference, into);
                results.push(out);
                results
            });
            let lanes: Vec<&[u32]> = words.chunks(2).collect();
            for (inputs, outputs) in lanes.chunks_exact(group).zip(out.chunks_exact(group)) {
                let column = |i: usize| number(&inputs.iter().map(|lane| lane[i]).collect::<Vec<_>>());
                let (x, y) = (column(0), column(1));
                let negative = u32::from(x < y);
                let modulus = BigUint::from(1_u32) << (32 * group);
                let expected = (&modulus + &x - &y - negative) % &modulus;
                let got = number(&outputs.iter().map(|lane| lane[0]).collect::<Vec<_>>());
                assert_eq!(got, expected, "group {group}, seed {seed}");
                assert!(outputs.iter().all(|lane| lane[1] == negative), "group {group}, seed {seed}");
            }
        }
    }
}

/// A carry that enters a group's lowest lane, and what leaves the group for the next block.
#[test]
fn carries_enter_and_leave() {
    for group in [1_usize, 2, 4, 8, 32] {
        for seed in 0..40 {
            let words = limbs(96, seed);
            let (out, _) = run(3, &words, Glue::None, |b, values| {
                let enters = b.and(values[2], 1);
                let enters = b.compare(Cmp::Ne, enters, 0);
                let incoming = Carries::mask_of(b, enters, group as u32);
                let sum = [b.add(values[0], values[1])];
                let carry = b.compare(Cmp::Lt, sum[0], values[0]);
                let ones = all_ones(b, &sum);
                let carries = Carries::look_ahead(b, carry, ones, group as u32).entered(b, incoming);
                let into = carries.into_lane(b);
                let mut results = wrapping_add_small(b, &sum, into);
                results.push(carries.out_of_group(b));
                results.push(carries.leaving(b));
                results
            });
            let lanes: Vec<&[u32]> = words.chunks(3).collect();
            for (place, (inputs, outputs)) in lanes.chunks_exact(group).zip(out.chunks_exact(group)).enumerate() {
                let column = |i: usize| number(&inputs.iter().map(|lane| lane[i]).collect::<Vec<_>>());
                let sum = column(0) + column(1) + (inputs[0][2] & 1);
                let modulus = BigUint::from(1_u32) << (32 * group);
                let carry = u32::from(sum >= modulus);
                let got = number(&outputs.iter().map(|lane| lane[0]).collect::<Vec<_>>());
                assert_eq!(got, sum % modulus, "group {group}, seed {seed}");
                assert!(outputs.iter().all(|lane| lane[1] == carry), "group {group}, seed {seed}");
                assert!(
                    outputs.iter().all(|lane| lane[2] >> (place * group) & 1 == carry),
                    "group {group}, seed {seed}"
                );
            }
        }
    }
}

/// Digits from the top two limbs of divisors and the top of dividends: never too large, hardly ever too small; none below
/// zero; and a word when there is no digit.
#[test]
fn digits_are_never_too_large() {
    let base = 1_u128 << 32;
    for seed in 0..60 {
        let mut words = limbs(32 * 6, seed);
        for (lane, row) in words.chunks_mut(6).enumerate() {
            // The divisor; the dividend's second limb, its first one as a sum, what is above.
            row[1] |= 1 << 31;
            let divisor = u64::from(row[1]) << 32 | u64::from(row[0]);
            let dividend = match lane % 4 {
                0 => u64::from(row[2]) << 32 | u64::from(row[3]),
                1 => divisor,
                2 => divisor - 1,
                _ => u64::from(row[2]),
            };
            let dividend = dividend.min(divisor);
            let low = (dividend as u32).wrapping_sub(row[4]);
            let high = (dividend >> 32) as u32;
            let carried = u32::from(low.checked_add(row[4]).is_none());
            row[2] = high.wrapping_sub(carried);
            row[3] = low;
            // What a carry takes from the limb above where this one is zero.
            row[5] = if high < carried { u32::MAX } else { 0 };
        }
        let (out, _) = run(6, &words, Glue::None, |b, values| {
            let digits = Digits::new(b, values[1], values[0]);
            let digit = digits.next(b, values[5], values[2], values[3], values[4]);
            let ones = b.copy(u32::MAX);
            let negative = digits.next(b, ones, ones, ones, 0);
            let one = b.copy(1);
            let large = digits.next(b, one, values[2], values[3], 0);
            vec![digit, negative, large]
        });
        for (row, out) in words.chunks(6).zip(&out) {
            let divisor = u128::from(row[1]) << 32 | u128::from(row[0]);
            let second = u128::from(row[3]) + u128::from(row[4]);
            let dividend = ((u128::from(row[2]) << 32) + second) % (base * base);
            let value = u128::from(out[0]);
            // The truth lies between those of the least and the largest that the limbs below may be.
            let least = dividend * base / (divisor + 1);
            let most = ((dividend + 3) * base - 1) / divisor;
            let there_is_none = base - 2;
            if value < there_is_none {
                assert!(value <= least, "{row:x?}: {value:x}, at most {least:x}");
                let rest = dividend * base - value * (divisor + 1);
                assert!(rest * base < (divisor + 1) * (base + 16), "{row:x?}: {value:x} leaves {rest:x}");
            } else {
                assert!(most >= there_is_none, "{row:x?}: there is a digit, {least:x}");
            }
            assert_eq!(out[1], 0, "{row:x?}: below zero the digit is zero");
            assert!(u128::from(out[2]) >= there_is_none, "{row:x?} and a limb above");
        }
    }
}
