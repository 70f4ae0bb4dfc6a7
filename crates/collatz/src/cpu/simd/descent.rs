//! Algorithm 5 for eight starts at a time: whole jumps until a value is below its start.

use std::arch::x86_64::{
    __m512i, _mm512_and_si512, _mm512_cmpeq_epi64_mask, _mm512_cmpgt_epu64_mask, _mm512_cmplt_epu64_mask,
    _mm512_i64gather_epi64, _mm512_mask_add_epi64, _mm512_mask_cmplt_epu64_mask, _mm512_mask_mov_epi64,
    _mm512_or_si512, _mm512_reduce_add_epi64, _mm512_set1_epi64, _mm512_setzero_si512, _mm512_shrdv_epi64,
    _mm512_slli_epi64, _mm512_srli_epi64, _mm512_srlv_epi64,
};

use warpmp_simd::Ifma;

use super::{DIGIT_BITS, Queue, Values, WIDTH, ranks};
use crate::cpu::vectors::Descent;

/// Vectors under way.
const VECTORS: usize = 16;
const LANES: usize = VECTORS * WIDTH;
const QUEUE: usize = 4 * LANES;

/// Takes all starts below themselves, in jumps of `base_bits` steps, and gives how many there were and the sum of the values at
/// which they stopped, mod `2^64`. `large` gets the starts whose values become too large; they are in neither.
///
/// Starts are at least 1 and have at most `limit_bits` bits.
///
/// # Panics
/// With a table of another size.
pub(in crate::cpu) fn descend(
    _: Ifma,
    descent: Descent<'_>,
    starts: impl Iterator<Item = u128>,
    large: &mut Vec<u128>,
) -> (u64, u64) {
    assert!(descent.jumps.len() == 1 << descent.base_bits, "a word for each of the low bits");
    // SAFETY: the processor has the features that the function is compiled for: the argument is the proof.
    unsafe { run(descent, starts, large) }
}

/// What a jump needs beside the values.
#[derive(Clone, Copy)]
struct Jump<'a> {
    jumps: &'a [u64],
    mask: __m512i,
    bits: __m512i,
    up: __m512i,
}

impl Jump<'_> {
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512vbmi2")]
    fn of(self, values: Values) -> Values {
        let low = _mm512_and_si512(values.low, self.mask);
        // SAFETY: the places are below the table's length, 2^d.
        let entry = unsafe { _mm512_i64gather_epi64::<8>(low, self.jumps.as_ptr().cast()) };
        let factor = _mm512_and_si512(entry, _mm512_set1_epi64(0xffff_ffff));
        let addend = _mm512_srli_epi64::<32>(entry);
        let h0 = _mm512_shrdv_epi64(_mm512_slli_epi64::<12>(values.low), values.high, self.up);
        let h1 = _mm512_srlv_epi64(values.high, self.bits);
        Values::product(h0, h1, factor, addend).settled()
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512ifma,avx512vbmi2,avx512vl,popcnt")]
fn run(descent: Descent<'_>, mut starts: impl Iterator<Item = u128>, large: &mut Vec<u128>) -> (u64, u64) {
    let bits = descent.base_bits as i64;
    let jump = Jump {
        jumps: descent.jumps,
        mask: _mm512_set1_epi64((1 << bits) - 1),
        bits: _mm512_set1_epi64(bits),
        up: _mm512_set1_epi64(bits + 12),
    };
    let limit = _mm512_set1_epi64((1 << (descent.limit_bits - DIGIT_BITS)) - 1);
    let mut queue = Queue::<QUEUE>::new();
    // An empty lane has the start 0, and no value is below that.
    let mut values = [Values::zero(); VECTORS];
    let mut firsts = [Values::zero(); VECTORS];
    let mut free = [0xff; VECTORS];
    let mut sums = [_mm512_setzero_si512(); 2];
    let (mut begun, mut ended, mut given_up) = (0, 0, 0);
    let mut exhausted = false;
    loop {
        queue.fill(LANES + WIDTH, || {
            let next = if exhausted { None } else { starts.next() };
            exhausted = next.is_none();
            begun += u64::from(next.is_some());
            next.unwrap_or(0)
        });
        if exhausted && ended == begun {
            break;
        }
        for ((values, firsts), free) in values.iter_mut().zip(&mut firsts).zip(&free) {
            *firsts = queue.put(*firsts, *free, ranks(*free));
            values.low = _mm512_mask_mov_epi64(values.low, *free, firsts.low);
            values.high = _mm512_mask_mov_epi64(values.high, *free, firsts.high);
        }
        let mut highest = _mm512_setzero_si512();
        for ((values, firsts), free) in values.iter_mut().zip(&firsts).zip(&mut free) {
            let first = jump.of(*values);
            let after_one = below(first, *firsts);
            sums[0] = _mm512_mask_add_epi64(sums[0], after_one, sums[0], first.words());
            let second = jump.of(first);
            let after_two = below(second, *firsts) & !after_one;
            sums[1] = _mm512_mask_add_epi64(sums[1], after_two, sums[1], second.words());
            *free = after_one | after_two;
            ended += u64::from(free.count_ones());
            highest = _mm512_or_si512(highest, second.high);
            *values = second;
        }
        if _mm512_cmpgt_epu64_mask(highest, limit) != 0 {
            for ((values, firsts), free) in values.iter().zip(&firsts).zip(&mut free) {
                let given = _mm512_cmpgt_epu64_mask(values.high, limit) & !*free;
                *free |= given;
                given_up += u64::from(given.count_ones());
                ended += u64::from(given.count_ones());
                let numbers = firsts.numbers();
                large.extend((0..WIDTH).filter(|lane| given >> lane & 1 == 1).map(|lane| numbers[lane]));
            }
        }
    }
    let sum = _mm512_reduce_add_epi64(sums[0]).wrapping_add(_mm512_reduce_add_epi64(sums[1]));
    (ended - given_up, sum as u64)
}

/// Which values are below the starts?
#[inline]
#[target_feature(enable = "avx512f")]
fn below(values: Values, firsts: Values) -> u8 {
    let equal = _mm512_cmpeq_epi64_mask(values.high, firsts.high);
    _mm512_cmplt_epu64_mask(values.high, firsts.high) | _mm512_mask_cmplt_epu64_mask(equal, values.low, firsts.low)
}
