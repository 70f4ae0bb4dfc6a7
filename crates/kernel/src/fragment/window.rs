//! A sliding window of accumulators to which rows are added: the heart of a Montgomery product.
//!
//! computes   `w ← w + x·y` for a number `x` of `L` limbs and a limb `y`; `w ← ⌊w / B⌋ + i·B^(L−1)`, `B = 2³²`
//! cost       a row: `L` wide products and 2 additions, 1 more after a slide; a slide: nothing, with an
//!            incoming limb 2 additions
//!
//! As in [`Rows`](super::Rows) there are accumulators for pairs that start at even and at odd limbs, and a
//! slide makes them change places; the high word that the bottom pair leaves is added at limb 0 when the
//! next row comes, where its carry starts the chain of odd limbs. Unlike there, several rows are added
//! between slides, so the window is worth more than `L + 1` limbs hold.
//!
//! bound: each of the two chains of a row ends above the window, at limb `L` or `L + 1`. What carries out of
//! it is counted in a word of its own for each of the two limbs, 0 at a slide and one more at most for a row;
//! so nothing is lost in 2³² − 1 rows, whatever the window is worth. A slide makes the two words the new top
//! pair, at limbs `L − 1` and `L`; a limb that comes in is added there, and its carry ends in the higher word.
//! An odd `L` exchanges the parts of the two chains and nothing else.
//!
//! source: accumulators for even and odd limbs are folklore of GPU arithmetic (CGBN, sppark); the words that
//! count carries, by which a modulus may fill all its bits and a number be spread over lanes, are ours.

use crate::build::{Builder, Chain, Emit, R32, R64, V32, V64};

/// The accumulators.
#[derive(Clone, Debug)]
pub struct Window {
    length: usize,
    /// Accumulators whose pairs start at even limbs of the window; none: zero.
    even: Vec<Option<R64>>,
    /// The same for odd limbs.
    odd: Vec<Option<R64>>,
    /// The high word that the bottom pair left behind in the last slide, at limb 0.
    left: Option<R32>,
    /// Carries counted at limb `L` and at limb `L + 1`.
    above: [Option<R32>; 2],
    /// Is nothing carried out of limb `L`?
    spare: bool,
}

impl Window {
    /// An empty window of `length` limbs, at least one.
    pub fn new(length: usize) -> Self {
        let (even, odd) = (vec![None; length.div_ceil(2)], vec![None; length / 2]);
        Self { length, even, odd, left: None, above: [None; 2], spare: false }
    }

    /// An empty window of `length` limbs whose value the caller keeps below `B^(length + 1)`: nothing is carried out of limb `L`, so a
    /// row has an addition less.
    ///
    /// bound: an accumulator is at most the value of the window divided by its place, so that the pair at limb `L − 1` is below `B²`.
    pub fn spare(length: usize) -> Self {
        Self { spare: true, ..Self::new(length) }
    }

    /// A window of zeros, in registers from the start: the variable of a loop.
    pub fn zeros(b: &mut Builder, length: usize) -> Self {
        let mut window = Self::new(length);
        for pair in window.even.iter_mut().chain(&mut window.odd) {
            *pair = Some(b.copy64(0));
        }
        window.left = Some(b.copy(0));
        window
    }

    /// A window of zeros that never slides, in registers from the start, what is counted above it too: the variable of a
    /// loop that adds rows.
    pub fn column(b: &mut Builder, length: usize) -> Self {
        let mut window = Self::zeros(b, length);
        window.left = None;
        window.above = [0; 2].map(|zero| Some(b.copy(zero)));
        window
    }

    /// Makes a [`column`](Self::column) zero again.
    pub fn clear(&self, b: &mut Builder) {
        for &pair in self.even.iter().chain(&self.odd).flatten() {
            b.set64(pair, 0);
        }
        for &count in self.above.iter().flatten() {
            b.set(count, 0);
        }
    }

    /// The value of a window that never slid: its limbs, and two more above them.
    ///
    /// bound: fewer than 2³² rows add up to less than `B^(L+2)`.
    pub fn sum(&self, b: &mut Builder) -> (Vec<R32>, [R32; 2]) {
        debug_assert!(self.left.is_none());
        let mut words = |pairs: &[Option<R64>]| -> Vec<R32> {
            pairs.iter().flatten().flat_map(|&pair| <[R32; 2]>::from(b.unpack(pair))).collect()
        };
        let (low, high) = (words(&self.even), words(&self.odd));
        let word =
            |words: &[R32], k: Option<usize>| k.and_then(|k| words.get(k)).map_or(V32::Imm(0), |&word| V32::Reg(word));
        let [at_l, above_l] = self.above.map(|count| count.map_or(V32::Imm(0), V32::Reg));
        let above: R32 = b.register();
        let mut chain = b.chain();
        let sums: Vec<R32> =
            (0..self.length).map(|k| chain.add(word(&low, Some(k)), word(&high, k.checked_sub(1)))).collect();
        // Of the two halves one ends there, the other with the window.
        let top = if self.length.is_multiple_of(2) { &high } else { &low };
        let at_l = chain.add(word(top, top.len().checked_sub(1)), at_l);
        chain.end_add(above, above_l, 0);
        (sums, [at_l, above])
    }

    /// A window that holds a number of `length` limbs.
    pub fn of(b: &mut Builder, limbs: &[R32]) -> Self {
        let mut window = Self::new(limbs.len());
        for (pair, words) in window.even.iter_mut().zip(limbs.chunks(2)) {
            let high = words.get(1).map_or(V32::Imm(0), |&word| V32::Reg(word));
            *pair = Some(b.pack(words[0], high));
        }
        for pair in &mut window.odd {
            *pair = Some(b.copy64(0));
        }
        window
    }

    /// Copies `other`, which came from `self` by rows and slides, back into `self`: the end of a loop.
    pub fn become_(&self, b: &mut Builder, other: &Self) {
        let pairs = self.even.iter().chain(&self.odd).zip(other.even.iter().chain(&other.odd));
        let moves = pairs.filter_map(|(to, from)| Some(((*to)?, (*from)?))).filter(|(to, from)| to != from);
        // Slides exchange registers: all are read before one is written.
        let moves: Vec<(R64, R64)> = moves.map(|(to, from)| (to, b.copy64(from))).collect();
        for (to, from) in moves {
            b.set64(to, from);
        }
        if let (Some(to), Some(from)) = (self.left, other.left) {
            b.set(to, from);
        }
    }

    /// Makes the left limb a register, for a loop.
    pub fn clear_left(&mut self, b: &mut Builder) {
        self.left = Some(b.copy(0));
    }

    /// Adds a word at limb 0 with the next row; none may be left there from a slide.
    pub fn add_low(&mut self, word: R32) {
        debug_assert!(self.left.is_none());
        self.left = Some(word);
    }

    /// Adds the row `x·y`.
    pub fn add(&mut self, b: &mut Builder, x: &[R32], y: R32) {
        debug_assert_eq!(x.len(), self.length);
        self.add_even(b, x, y);
        self.add_odd(b, x, y);
    }

    /// Limb 0. A row must have been added since the last slide.
    pub fn bottom(&self, b: &mut Builder) -> R32 {
        debug_assert!(self.left.is_none());
        self.lowest(b)
    }

    /// Limb 0 when no row, or half a row, has been added since the last slide.
    pub fn bottom_after_slide(&self, b: &mut Builder) -> R32 {
        let low = self.lowest(b);
        self.left.map_or(low, |left| b.add(low, left))
    }

    /// Slides up by a limb; `incoming` makes of the limb that leaves at the bottom the one that comes in at the
    /// top, if any.
    pub fn slide(&mut self, b: &mut Builder, incoming: impl FnOnce(&mut Builder, R32) -> Option<R32>) {
        debug_assert!(self.left.is_none());
        let bottom = self.even.remove(0).unwrap_or_else(|| b.copy64(0));
        let (low, high) = b.unpack(bottom);
        self.left = Some(high);
        let incoming = incoming(b, low);
        let [at_l, above_l] = self.above.map(|word| word.map_or(V32::Imm(0), V32::Reg));
        let top = match incoming {
            None if self.above == [None; 2] => None,
            None => {
                b.set_pair(bottom, at_l, above_l);
                Some(bottom)
            }
            Some(incoming) => {
                let high: R32 = b.register();
                let mut chain = b.chain();
                let low = chain.add(incoming, at_l);
                chain.end_add(high, above_l, 0).set_pair(bottom, low, high);
                Some(bottom)
            }
        };
        self.above = [None; 2];
        // The sums that started at odd limbs start at even limbs now.
        std::mem::swap(&mut self.even, &mut self.odd);
        let top_pairs = if self.length.is_multiple_of(2) { &mut self.odd } else { &mut self.even };
        top_pairs.push(top);
    }

    /// The window: its limbs, and the value above them, which the caller knows to be one limb.
    pub fn finish(self, b: &mut Builder) -> (Vec<R32>, R32) {
        let mut words = |pairs: &[Option<R64>]| -> Vec<V32> {
            let mut pair = |pair: Option<R64>| match pair {
                Some(pair) => <[R32; 2]>::from(b.unpack(pair)).map(V32::Reg),
                None => [V32::Imm(0); 2],
            };
            pairs.iter().flat_map(|&p| pair(p)).collect()
        };
        let low = words(&self.even);
        let mut high = words(&self.odd);
        high.insert(0, self.left.map_or(V32::Imm(0), V32::Reg));
        let word = |words: &[V32], k: usize| words.get(k).copied().unwrap_or(V32::Imm(0));
        let last: R32 = b.register();
        let mut chain = b.chain();
        let limbs = (0..self.length).map(|k| chain.add(word(&low, k), word(&high, k))).collect();
        chain.end_add(last, word(&low, self.length), word(&high, self.length));
        let last = self.above[0].map_or(last, |carries| b.add(last, carries));
        (limbs, last)
    }

    fn lowest(&self, b: &mut Builder) -> R32 {
        match self.even[0] {
            Some(pair) => b.unpack(pair).0,
            None => b.copy(0),
        }
    }

    /// The half of [`add`](Self::add) that comes first: the products of even limbs of `x`.
    pub fn add_even(&mut self, b: &mut Builder, x: &[R32], y: R32) {
        self.add_half(b, 0, None, x.iter().step_by(2).map(|&x| (x, y)));
    }

    /// The other half. Until then limb 0 is as after a slide.
    pub fn add_odd(&mut self, b: &mut Builder, x: &[R32], y: R32) {
        let left = self.left.take();
        self.add_half(b, 1, left, x.iter().skip(1).step_by(2).map(|&x| (x, y)));
    }

    /// Adds a row that begins at limb `first`: its lowest product is `x[first]·lowest`, the others are `x[j]·others`.
    /// The half with the lowest product; [`add_rest_from`](Self::add_rest_from) is the other one.
    pub fn add_from(&mut self, b: &mut Builder, first: usize, x: &[R32], lowest: R32, others: R32) {
        let factor = |k: usize| if k == 0 { lowest } else { others };
        self.add_half(b, first, None, x[first..].iter().step_by(2).enumerate().map(|(k, &x)| (x, factor(k))));
    }

    /// The other half, and `word` at limb `first`. At limb 0 that is what a slide left, if it is none.
    pub fn add_rest_from(&mut self, b: &mut Builder, first: usize, x: &[R32], others: R32, word: Option<R32>) {
        let word = if first == 0 { word.or_else(|| self.left.take()) } else { word };
        self.add_half(b, first + 1, word, x[first + 1..].iter().step_by(2).map(|&x| (x, others)));
    }

    /// A chain: `word` at limb `first − 1`, then the products at limbs `first`, `first + 2` and so on.
    fn add_half(
        &mut self,
        b: &mut Builder,
        first: usize,
        word: Option<R32>,
        products: impl Iterator<Item = (R32, R32)>,
    ) {
        let is_even = first.is_multiple_of(2);
        let (own, other) = if is_even { (&mut self.even, &self.odd) } else { (&mut self.odd, &self.even) };
        let own = own.get_mut(first / 2..).unwrap_or_default();
        if word.is_none() && own.iter().all(Option::is_none) {
            for (pair, (x, y)) in own.iter_mut().zip(products) {
                *pair = Some(b.mul_wide(x, y));
            }
            return;
        }
        let mut chain = b.chain();
        if let Some(word) = word
            && let Some(below) = other[(first - 1) / 2]
        {
            // Its carry is due at the next limb, where the pairs of this half begin.
            let (low, high) = chain.unpack(below);
            let sum = chain.add(low, word);
            chain.set_pair(below, sum, high);
        }
        let above = usize::from(is_even != self.length.is_multiple_of(2));
        let mut links = own.iter_mut().zip(products).peekable();
        while let Some((pair, (x, y))) = links.next() {
            if self.spare && above == 1 && links.peek().is_none() {
                return end_product(chain, pair, x, y);
            }
            add_product(&mut chain, pair, x, y);
        }
        self.count(chain, above);
    }

    /// Ends a chain above the window.
    fn count(&mut self, mut chain: Chain<'_>, at: usize) {
        let word = self.above[at];
        let sum: R32 = word.unwrap_or_else(|| chain.register());
        chain.end_add(sum, word.map_or(V32::Imm(0), V32::Reg), 0);
        self.above[at] = Some(sum);
    }
}

/// The last link of a chain that carries nothing out: `pair ← pair + x·y`.
fn end_product(mut chain: Chain<'_>, pair: &mut Option<R64>, x: R32, y: R32) {
    let product = chain.mul_wide(x, y);
    let sum: R64 = pair.unwrap_or_else(|| chain.register());
    chain.end_add64(sum, product, pair.map_or(V64::Imm(0), V64::Reg));
    *pair = Some(sum);
}

/// A link: `pair ← pair + x·y`.
fn add_product(chain: &mut Chain<'_>, pair: &mut Option<R64>, x: R32, y: R32) {
    let product = chain.mul_wide(x, y);
    if let Some(pair) = *pair {
        chain.add64_into(pair, product, pair);
    } else {
        *pair = Some(chain.add64(product, 0));
    }
}
