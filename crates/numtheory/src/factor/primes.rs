//! The primes of an interval, by a sieve of odd numbers in segments.

use std::ops::RangeInclusive;

/// Odd numbers of a segment.
const SEGMENT: u64 = 1 << 19;

/// Gives each prime of the interval to `each`, in their order.
pub(super) fn each_prime(range: RangeInclusive<u64>, mut each: impl FnMut(u64)) {
    let (from, to) = range.into_inner();
    if from <= 2 && 2 <= to {
        each(2);
    }
    let base = small_primes(to.isqrt());
    // Numbers first + 2i.
    let mut first = from.max(3) | 1;
    let mut composite = vec![false; SEGMENT as usize];
    while first <= to {
        let count = SEGMENT.min((to - first) / 2 + 1);
        let segment = &mut composite[..count as usize];
        segment.fill(false);
        let last = first + 2 * (count - 1);
        for &prime in base.iter().skip(1).take_while(|prime| *prime * *prime <= last) {
            // The first odd multiple from `first` on that has no smaller factor, or any.
            let multiple = (prime * prime).max(first.next_multiple_of(prime));
            let multiple = if multiple.is_multiple_of(2) { multiple + prime } else { multiple };
            segment
                .iter_mut()
                .skip(((multiple - first) / 2) as usize)
                .step_by(prime as usize)
                .for_each(|it| *it = true);
        }
        segment.iter().zip(0_u64..).filter(|(composite, _)| !**composite).for_each(|(_, i)| each(first + 2 * i));
        first += 2 * count;
    }
}

/// All primes up to a bound.
fn small_primes(bound: u64) -> Vec<u64> {
    let mut composite = vec![false; bound as usize + 1];
    let mut primes = Vec::new();
    for number in 2..=bound as usize {
        if !composite[number] {
            primes.push(number as u64);
            composite.iter_mut().skip(number * number).step_by(number).for_each(|it| *it = true);
        }
    }
    primes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn primes(range: RangeInclusive<u64>) -> Vec<u64> {
        let mut found = Vec::new();
        each_prime(range, |prime| found.push(prime));
        found
    }

    #[test]
    fn no_prime_is_left_out() {
        let is_prime = |n: u64| n > 1 && (2..=n.isqrt()).all(|divisor| !n.is_multiple_of(divisor));
        for (from, to) in [(0, 0), (0, 2), (2, 3), (3, 3), (4, 4), (0, 1000), (7, 49), (24, 29), (990_000, 991_000)] {
            assert_eq!(primes(from..=to), (from..=to).filter(|n| is_prime(*n)).collect::<Vec<_>>(), "{from} to {to}");
        }
        // Across segments; π(3·10⁶), and the last one.
        let all = primes(0..=3_000_000);
        assert_eq!((all.len(), all.last()), (216_816, Some(&2_999_999)));
        let above: Vec<u64> = all.iter().copied().filter(|prime| *prime > 1_500_000).collect();
        assert_eq!(primes(1_500_001..=3_000_000), above);
    }
}
