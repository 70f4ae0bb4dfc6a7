//! The remainder of a division under way: it slides up by a limb, and a multiple of the divisor is taken from it.
//!
//! computes   `R ← R·B + a − q·D`, a limb `a` of the dividend and a digit `q` of the quotient a row
//! requires   `D ≥ B^n/2`; `R < D` in the beginning; in a group at least 3 limbs a lane
//! cost       a row: `length + 3` wide products and about 13 others; in a group 3 shuffles and 4 others more
//! registers  `2·length` and a few
//!
//! Accumulators as in [`Rows`](super::Rows), for pairs at even and at odd limbs; a slide makes them change places the
//! other way round. What leaves a lane's window at the top is the pair at limbs `L − 1` and `L`, with the word of the other
//! accumulators at limb `L − 1`: 64 bits, which become the lowest pair of the lane above. So carries never wait for other
//! lanes: what a lane has too much goes up with the next row. Instead of `−q·D` the row adds `q·(B^n − D)`, and the top
//! lane takes the `q·B^n` off again.
//!
//! Digits come from [`Digits`]. One that is too small leaves `R ≥ D`, and the next is `B − 2` or more. Such digits, and any
//! above `B − 32`, are not worked with but reported by [`Remainder::settle`], and all is void. The last digit has none
//! after it: it is corrected, as it must be wherever a division leaves no remainder.
//!
//! bound: a row adds less than `q·B^L/(B + 1)` to the accumulators that do not reach limb `L`, whose value was
//! below `B^L`: at most 1 is carried to limb `L`. The others were below `B^L` too, since the word at limb `L` has left,
//! and with that carry are below `(q + 2)·B^L`; what leaves is below `(q + 2)·B + B ≤ B²` for `q ≤ B − 32`. In the top lane
//! all is modulo `B^(L+1)`. Digits: all remainders but the last are below `D` if none is reported, so they are right;
//! the last is below `2D`.
//!
//! source: ours; Knuth, The Art of Computer Programming 2, 4.3.1, for the division.

use super::{Digits, Spread, select};
use crate::build::{Builder, Emit, Pred, R32, R64, V32};
use crate::ir::Cmp;

/// The largest digit that rows are made for.
const LARGEST: u32 = u32::MAX - 31;

/// A divisor.
#[derive(Clone, Debug)]
pub struct Divisor {
    /// How it and the remainder lie in the lanes.
    pub spread: Spread,
    /// `B^n` less the divisor, this lane's limbs.
    pub complement: Vec<R32>,
    top: Digits,
    /// All ones in the top lane of a group, zero in the others.
    at_top: R32,
}

impl Divisor {
    /// Prepares for a divisor whose top bit is that of the lanes' limbs; `complement` is `B^n` less it.
    pub fn new(b: &mut Builder, spread: Spread, divisor: &[R32], complement: &[R32]) -> Self {
        let n = divisor.len();
        let low = if n > 1 { divisor[n - 2] } else { b.copy(0) };
        let top = Digits::new(b, divisor[n - 1], low);
        let last = b.compare(Cmp::Eq, spread.member, spread.group - 1);
        let at_top = b.select(u32::MAX, 0, last);
        Self { spread, complement: complement.to_vec(), top, at_top }
    }
}

/// The results of a division. All but the limbs are the same in all lanes of a group.
#[derive(Clone, Debug)]
pub struct Settled {
    /// The remainder.
    pub limbs: Vec<R32>,
    /// The last digit.
    pub digit: R32,
    /// Is that one more than the last row said?
    pub corrected: Pred,
    /// May a digit have been wrong, and all be void?
    pub void: Pred,
}

/// The remainder.
#[derive(Clone, Debug)]
pub struct Remainder {
    /// Accumulators of limbs 0 and 1, 2 and 3, …
    even: Vec<R64>,
    /// Of limbs 1 and 2, 3 and 4, …
    odd: Vec<R64>,
    /// The last digit, which stands above the number.
    digit: R32,
    /// The largest digit so far.
    largest: R32,
}

impl Remainder {
    /// The number to begin with.
    pub fn new(b: &mut Builder, limbs: &[R32]) -> Self {
        let pair = |b: &mut Builder, limbs: &[R32]| {
            let high = limbs.get(1).map_or(V32::Imm(0), |&limb| V32::Reg(limb));
            b.pack(limbs[0], high)
        };
        let even = limbs.chunks(2).map(|limbs| pair(b, limbs)).collect();
        let odd = (0..limbs.len() / 2).map(|_| b.copy64(0)).collect();
        let [digit, largest] = [(); 2].map(|()| b.copy(0));
        Self { even, odd, digit, largest }
    }

    /// The registers of `self` get the values of `other`, which comes from it by rows: the end of a loop.
    pub fn become_(&self, b: &mut Builder, other: &Self) {
        for (&to, &from) in self.even.iter().chain(&self.odd).zip(other.even.iter().chain(&other.odd)) {
            b.set64(to, from);
        }
        b.set(self.digit, other.digit);
        b.set(self.largest, other.largest);
    }

    /// A row: takes in the limb, which matters in the lowest lane; the digit, in all lanes.
    pub fn row(&mut self, b: &mut Builder, divisor: &Divisor, limb: R32) -> R32 {
        let spread = &divisor.spread;
        let (kept, above) = self.slide(b, divisor, limb);
        let (reaching, other) = self.halves();
        let (x, _) = b.unpack(reaching[reaching.len() - 1]);
        let y = other.last().map_or(V32::Imm(0), |&pair| V32::Reg(b.unpack(pair).1));
        let digit = divisor.top.next(b, above, kept, x, y);
        self.digit = spread.top(b, digit);
        self.largest = b.max(self.largest, self.digit);
        self.add_multiple(b, &divisor.complement);
        self.digit
    }

    /// Ends the division.
    pub fn settle(self, b: &mut Builder, divisor: &Divisor) -> Settled {
        let spread = &divisor.spread;
        let length = spread.length;
        let words = |b: &mut Builder, pairs: &[R64]| -> Vec<R32> {
            pairs.iter().flat_map(|&pair| <[R32; 2]>::from(b.unpack(pair))).collect()
        };
        let (even, odd) = (words(b, &self.even), words(b, &self.odd));
        let word = |words: &[R32], k: usize| words.get(k).map_or(V32::Imm(0), |&word| V32::Reg(word));
        let shifted = |k: usize| if k == 0 { V32::Imm(0) } else { word(&odd, k - 1) };
        let excess: R32 = b.register();
        let mut chain = b.chain();
        let limbs: Vec<R32> = (0..length).map(|k| chain.add(word(&even, k), shifted(k))).collect();
        chain.wrap_add(excess, word(&even, length), shifted(length));
        let (limbs, above) = spread.settle(b, &limbs, excess);
        let above = b.sub(above, self.digit);
        let (less, reaches) = spread.add(b, &limbs, &divisor.complement);
        let over = b.or(above, reaches);
        let corrected = b.compare(Cmp::Ne, over, 0);
        let limbs = select(b, corrected, &less, &limbs);
        let next = b.add(self.digit, 1);
        let digit = b.select(next, self.digit, corrected);
        let void = b.compare(Cmp::Gt, self.largest, LARGEST);
        Settled { limbs, digit, corrected, void }
    }

    /// The accumulators that reach limb `L`, and the others.
    fn halves(&mut self) -> (&mut Vec<R64>, &mut Vec<R64>) {
        // Of an odd length there is one pair more at even limbs.
        if self.even.len() > self.odd.len() { (&mut self.even, &mut self.odd) } else { (&mut self.odd, &mut self.even) }
    }

    /// Slides up. In the top lane what stands at limb `n` then; in others zero; and what stands above that.
    fn slide(&mut self, b: &mut Builder, divisor: &Divisor, limb: R32) -> (R32, R32) {
        let spread = &divisor.spread;
        let digit = self.digit;
        let (reaching, other) = self.halves();
        let top = reaching.pop().unwrap_or_else(|| unreachable!("a lane has a limb"));
        let (low, high) = b.unpack(top);
        let beside = other.pop().map(|pair| b.unpack(pair));
        let (low, high) = match beside {
            None => (low, high),
            Some((_, word)) => {
                let sum: R32 = b.register();
                let mut chain = b.chain();
                let low = chain.add(low, word);
                chain.end_add(sum, high, 0);
                (low, sum)
            }
        };
        let above = b.sub(high, digit);
        let kept = if spread.group == 1 { low } else { b.and(low, divisor.at_top) };
        let incoming = if spread.group == 1 {
            b.pack(limb, if beside.is_none() { V32::Reg(kept) } else { V32::Imm(0) })
        } else {
            let low = spread.from_below(b, low);
            let low = spread.at_bottom(b, limb, low);
            let high = spread.from_below(b, high);
            b.pack(low, high)
        };
        if let Some((word, _)) = beside {
            let pair = b.pack(word, kept);
            other.push(pair);
        }
        // The sums that started at even limbs start at odd limbs now.
        std::mem::swap(&mut self.even, &mut self.odd);
        self.even.insert(0, incoming);
        (kept, above)
    }

    /// Adds the digit times the complement of the divisor.
    fn add_multiple(&mut self, b: &mut Builder, complement: &[R32]) {
        let (digit, length) = (self.digit, complement.len());
        let (reaching, other) = self.halves();
        if let Some(top) = reaching.last_mut()
            && !other.is_empty()
        {
            let mut chain = b.chain();
            for (pair, &x) in other.iter_mut().zip(complement.iter().skip(length % 2).step_by(2)) {
                let product = chain.mul_wide(x, digit);
                *pair = chain.add64(product, *pair);
            }
            let (low, high) = chain.unpack(*top);
            let sum: R32 = chain.register();
            chain.wrap_add(sum, high, 0);
            *top = b.pack(low, sum);
        }
        let last = reaching.len() - 1;
        let mut chain = b.chain();
        for (pair, &x) in reaching[..last].iter_mut().zip(complement.iter().skip(1 - length % 2).step_by(2)) {
            let product = chain.mul_wide(x, digit);
            *pair = chain.add64(product, *pair);
        }
        let product = chain.mul_wide(complement[length - 1], digit);
        let sum: R64 = chain.register();
        chain.wrap_add64(sum, product, reaching[last]);
        reaching[last] = sum;
    }
}
