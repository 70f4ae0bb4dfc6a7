//! Digits against num-bigint's, at all lengths near boundaries.

use num_bigint::BigUint;
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use warpmp::Shape;

use super::*;
use crate::{args::Pattern, commands::pattern};

/// Digits of a leaf.
const LEAF_DIGITS: usize = CHUNK * LEAF;

/// Both ways, with the oracle's digits.
fn check(number: &BigUint) {
    let mut expected = number.to_string();
    assert_eq!(BigUint::from_slice(&limbs(&expected)), *number);
    expected.insert(0, '>');
    let mut limbs = number.to_u32_digits();
    let mut text = b">".to_vec();
    write(&limbs, &mut text);
    let zero = *number == BigUint::ZERO;
    assert_eq!(String::from_utf8(text).unwrap(), if zero { ">" } else { &expected[..] });
    // Zeros above, as a batch has them, are no digits.
    limbs.extend([0; 5]);
    let mut text = b">".to_vec();
    write(&limbs, &mut text);
    assert_eq!(String::from_utf8(text).unwrap(), if zero { ">" } else { &expected[..] });
}

fn limbs(text: &str) -> Vec<u32> {
    read(text.as_bytes(), |words| words.iter().flat_map(|word| [*word as u32, (word >> 32) as u32]).collect())
}

#[test]
fn division_agrees_with_the_processor() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let edges = [0, 1, 2, BASE - 2, BASE - 1, BASE, BASE + 1, 1 << 63, u64::MAX - 1, u64::MAX];
    let expect = |number: u128| {
        if let Ok(high) = u64::try_from(number >> 64)
            && high < BASE
        {
            let found = divided(high, number as u64);
            let base = u128::from(BASE);
            assert_eq!((u128::from(found.0), u128::from(found.1)), (number / base, number % base), "{number}");
        }
    };
    for high in edges {
        for low in edges {
            expect(u128::from(high) << 64 | u128::from(low));
        }
        // Around multiples, where a quotient's estimate is off.
        for rest in edges {
            expect((u128::from(high) * u128::from(BASE)).saturating_add(u128::from(rest)));
        }
    }
    for _ in 0..10_000 {
        let (quotient, low) = (random.next_u64(), random.next_u64());
        expect(u128::from(quotient) << 64 | u128::from(low));
        for rest in [0, 1, BASE - 1] {
            expect((u128::from(quotient) * u128::from(BASE)).saturating_add(rest.into()));
        }
    }
}

#[test]
fn numbers_near_all_boundaries_of_words_agree_with_the_oracle() {
    check(&BigUint::ZERO);
    let short = (1..=34).chain([63, 64, 65, 127, 128, 129]);
    let long = [255, 256, 257, 258, 505, 506, 512, 513, 1024, 2048];
    for bits in short.chain(long).flat_map(|words| [31, 63, 64, 65, 95].map(|more| 64 * (words - 1) + more)) {
        let power = BigUint::from(1u8) << bits;
        check(&power);
        check(&(&power - 1u8));
        for of in [Pattern::Carry, Pattern::Random, Pattern::Sparse] {
            let lanes = if bits < 5000 { 4 } else { 1 };
            let operands = pattern::operands(of, Shape::new(lanes, bits), 0, bits as u64).unwrap();
            operands.limbs().chunks(bits.div_ceil(32)).for_each(|limbs| check(&BigUint::from_slice(limbs)));
        }
    }
}

#[test]
fn powers_of_ten_and_their_neighbours_agree_with_the_oracle() {
    let near = |digits: usize| digits.saturating_sub(1)..=digits + 1;
    let leaves = [1, 2, 3, 4, 8].into_iter().flat_map(|leaves| near(leaves * LEAF_DIGITS));
    for digits in (0..200).chain((11..40).flat_map(|chunks| near(CHUNK * chunks))).chain(leaves) {
        let power = BigUint::from(10u8).pow(digits as u32);
        check(&power);
        check(&(&power + 1u8));
        check(&(&power - 1u8));
        // Zeros between, over whole chunks and leaves.
        check(&(&power * &power + 7u8));
        check(&(&power * BigUint::from(10u8).pow(LEAF_DIGITS as u32)));
    }
}

#[test]
fn zeros_before_a_number_are_read_over() {
    for zeros in [1, CHUNK - 1, CHUNK, READ_MOST - 2, READ_MOST, 2 * READ_MOST] {
        let found = limbs(&format!("{}12345678901234567890123", "0".repeat(zeros)));
        assert_eq!(BigUint::from_slice(&found), BigUint::from(12_345_678_901_234_567_890_123_u128));
    }
}

/// A carry that makes a column's rest as large as the base is too rare for random numbers: words of which one is such
/// that the sum of column 1 lies just below a multiple of the base, but for its lowest word.
#[test]
fn columns_whose_rest_is_near_the_base_agree_with_the_oracle() {
    const WORDS: usize = 8;
    let Column { start, first } = Table::of(WORDS).columns[1];
    let column = &Table::of(WORDS).digits[start..][..WORDS - first];
    let mut random = ChaCha8Rng::seed_from_u64(2);
    let mut reached = 0;
    for _ in 0..1000 {
        let mut words = [0; WORDS].map(|_| random.next_u64());
        words[first + 1] = 0;
        let others: BigUint =
            words[first..].iter().zip(column).map(|(word, digit)| BigUint::from(*word) * *digit).sum();
        let period = BigUint::from(BASE) << 64;
        let missing = &period - 1u8 - others % &period;
        if let Ok(word) = u64::try_from(missing / column[1]) {
            words[first + 1] = word;
            reached += 1;
            check(&BigUint::from_slice(&words.map(|word| [word as u32, (word >> 32) as u32]).concat()));
        }
    }
    assert!(reached > 100, "{reached}");
}
