//! First kernel of Toom-k: one warp a lane and point, both values and their product.
//!
//! computes   A(p)·B(p) mod B^(2m+2), two's complement, for one point `p` of one lane a warp
//! launch     `warps` neighbouring lanes of a tile a block, all at the same point; the points of a tile
//!            follow each other, so that the operands stay in the cache
//! cost       t·(parts of a + parts of b) wide products for the values, s·t² for the product, 2t for
//!            its signs; t shuffles for t² products
//!
//! A value `v`, |v| < 2²⁵·B^m, is kept as `v = top·B^n + low` with `0 ≤ low < B^n` and a signed word `top`.
//! `low` lies across the warp, `t` limbs a lane, in `s` lanes: `n = s·t`. Where `m` is a multiple of 32,
//! `n = m` and `|top| < 2²⁵`; else `n > m` and `top` is 0 or −1, the sign. The product is
//!
//! ```text
//! low_a·low_b + (top_b·low_a + top_a·low_b)·B^n + top_a·top_b·B^2n
//! ```
//!
//! The first term is the systolic product of `group`: lane `l` keeps block `l` of `a` and meets the blocks of
//! `b`, which it reads from shared memory; its window and the block that left lane `l + 1` stand at block
//! `l + s` of the product in the end, where block `l` of the second term belongs.
//!
//! bound: a column of a value is a sum of at most 9 limbs times powers of at most 8, in absolute value below
//! `B·(8⁹−1)/7 < 2²⁵·B`, and with the carry of the column below in a signed double word, also after
//! the subtraction of the odd parts. A column of the second term is below `2·2²⁵·B + 2B + 2²⁹`.
//! Signed carries from lane to lane: lane `l > 0` starts with −2²⁸ and gets 2²⁸ more from lane `l − 1`, whose
//! carry is above −2²⁸, so that what is handed on is not negative, and what is left after it is one bit.
//!
//! source: dissertation § 3.3.2, with blocks of `t` limbs for its words.

use warpmp_kernel::build::{Builder, Emit, Pred, R32, R64};
use warpmp_kernel::fragment::{Rows, wrapping_add_small};
use warpmp_kernel::ir::{Cmp, Shuffle, Space, Special};
use warpmp_launch::Ports;

use super::points::points;
use super::{Toom, piece, vector};

/// What a lane's carry starts from, so that none that leaves is negative.
const BIAS: u32 = 1 << 28;

/// The registers that live through the kernel.
struct State {
    lane: R32,
    is_first: Pred,
    /// The first limb of this lane's block within a part.
    place: R32,
    /// Where this lane's carries start: 0, and −2²⁸ from lane 1 on.
    bias: R32,
    /// The weight of each part, without sign.
    weights: Vec<R32>,
    /// All ones at a negative point.
    negative: R32,
    /// In shared memory: block 0 of the value of `b`; the product is above.
    shared: R32,
}

impl Toom {
    /// Limbs of a warp's shared memory: the value of `b` and the product, at a distance that spreads the
    /// words of eight warps over the banks.
    pub(super) fn shared_stride(&self) -> u32 {
        (self.product_start() / 4 + 2 * self.value_limbs() + 2)
            .next_multiple_of(4)
            .saturating_sub(4)
            .next_multiple_of(32)
            + 4
    }

    /// Where the product begins in a warp's shared memory, in bytes: above a block of `b` for every lane.
    fn product_start(&self) -> u32 {
        4 * 32 * self.block()
    }

    /// Writes the first kernel.
    pub(super) fn write_evaluation(&self, b: &mut Builder, ports: &Ports) {
        let [la, lb, _] = self.shape.limbs();
        let [a, b_address, _, scratch] = ports.first();
        b.section("setup");
        let thread = b.special(Special::Tid);
        let block = b.special(Special::Ctaid);
        // Blocks are numbered tile, point, warps' worth of lanes.
        let share = 32 / self.warps;
        let tile_point = b.shr(block, share.trailing_zeros());
        let tile = b.mul_hi(tile_point, u32::MAX / points(self.k) + 1);
        let point = b.mad_lo(tile, points(self.k).wrapping_neg(), tile_point);
        let part_of_tile = b.and(block, share - 1);
        let first_in_tile = b.mul_lo(part_of_tile, self.warps);
        let first_row = b.mad_lo(tile, 32, first_in_tile);
        let outside = b.compare(Cmp::Ge, first_row, ports.lanes);
        b.return_if(outside);
        let warp = b.shr(thread, 5);
        let row = b.add(first_row, warp);
        let base = b.shared_base();
        let state = self.state(b, point, warp, base);
        let (a_row, b_row) = self.operand_rows(b, row, [a, b_address], [la, lb]);

        b.section("evaluate");
        let (block_b, top_b) = self.value(b, &state, b_row, lb);
        let own = b.mad_lo(state.lane, 4 * self.block(), state.shared);
        store_words(b, &block_b, own, 0);
        let (block_a, top_a) = self.value(b, &state, a_row, la);
        b.warp_barrier();
        self.product(b, &state, &block_a, own, [top_a, top_b]);
        b.barrier();

        b.section("store");
        let slot = b.mad_wide(tile_point, 128 * self.product_limbs(), scratch);
        self.store_products(b, thread, base, slot, first_in_tile);
    }

    fn operand_rows(&self, b: &mut Builder, row: R32, [a, b_address]: [R64; 2], [la, lb]: [u32; 2]) -> (R64, R64) {
        let b_row = if self.shape.is_common(1) { b_address } else { b.mad_wide(row, 4 * lb, b_address) };
        (b.mad_wide(row, 4 * la, a), b_row)
    }

    /// The weights of the parts at a point: its powers; at ∞ that of the top part alone.
    fn state(&self, b: &mut Builder, point: R32, warp: R32, base: R32) -> State {
        let lane = b.special(Special::Lane);
        let infinite = b.compare(Cmp::Eq, point, points(self.k) - 1);
        let next = b.add(point, 1);
        let distance = b.shr(next, 1);
        let distance = b.select(0, distance, infinite);
        let mut weights = vec![b.select(0, 1, infinite)];
        for i in 1..self.k as usize {
            weights.push(b.mul_lo(weights[i - 1], distance));
        }
        let top = self.k as usize - 1;
        weights[top] = b.select(1, weights[top], infinite);
        // Negative points have even numbers. So has 0, where the odd parts weigh nothing.
        let odd = b.and(point, 1);
        let negative = b.sub(odd, 1);
        let negative = b.select(0, negative, infinite);
        let is_first = b.compare(Cmp::Eq, lane, 0);
        State {
            lane,
            place: b.mul_lo(lane, self.block()),
            bias: b.select(0, BIAS.wrapping_neg(), is_first),
            is_first,
            weights,
            negative,
            shared: b.mad_lo(warp, 4 * self.shared_stride(), base),
        }
    }

    /// The value of an operand of `limbs` limbs: this lane's block, and the top word.
    fn value(&self, b: &mut Builder, state: &State, row: R64, limbs: u32) -> (Vec<R32>, R32) {
        let t = self.block();
        let address = b.mad_wide(state.place, 4, row);
        let width = piece(t).min(piece(self.part())).min(piece(limbs));
        let one = b.and(state.negative, 1);
        let (mut block, mut carry) = (Vec::new(), state.bias);
        for r in (0..t).step_by(width as usize) {
            let parts = self.load_parts(b, state, address, limbs, (r, width));
            for j in 0..width as usize {
                let column: Vec<R32> = parts.iter().map(|part| part[j]).collect();
                let (limb, next) = evaluate_column(b, state, &column, one, carry);
                block.push(limb);
                carry = next;
            }
        }
        let (block, top) = self.settle(b, state, &block, carry);
        if self.value_lanes() == 32 {
            return (block, top);
        }
        // Above the value's blocks lies its sign, which `top` stands for.
        let above = b.compare(Cmp::Ge, state.lane, self.value_lanes());
        (block.iter().map(|&limb| b.select(0, limb, above)).collect(), top)
    }

    /// Limbs `r` to `r + width` of this lane's block of every part that the operand has.
    fn load_parts(
        &self,
        b: &mut Builder,
        state: &State,
        address: R64,
        limbs: u32,
        (r, width): (u32, u32),
    ) -> Vec<Vec<R32>> {
        let m = self.part();
        let mut inside: Option<(u32, Pred)> = None;
        let load = |first: u32| {
            let (length, offset) = (m.min(limbs - first), 4 * (first + r));
            if length == 32 * self.block() {
                return b.load_global(Space::GlobalConst, vector(width), address, offset);
            }
            let valid = match inside {
                Some((known, valid)) if known == length => valid,
                _ => b.compare_signed(Cmp::Lt, state.place, length.wrapping_sub(r)),
            };
            inside = Some((length, valid));
            let registers: Vec<R32> = (0..width).map(|_| b.copy(0)).collect();
            b.guarded(valid, true, |g| g.load_into(Space::GlobalConst, vector(width), &registers, address, offset));
            registers
        };
        (0..self.k).map(|i| i * m).take_while(|&first| first < limbs).map(load).collect()
    }

    /// Hands the signed carries of all blocks on; the blocks, and the carry out of the value's last.
    fn settle(&self, b: &mut Builder, state: &State, block: &[R32], carry: R32) -> (Vec<R32>, R32) {
        let biased = b.add(carry, BIAS);
        let from_below = b.shuffle(Shuffle::Up, biased, 1, 32);
        let incoming = b.select(0, from_below, state.is_first);
        let mut chain = b.chain();
        let block: Vec<R32> = block
            .iter()
            .enumerate()
            .map(|(i, &limb)| if i == 0 { chain.add(limb, incoming) } else { chain.add(limb, 0) })
            .collect();
        let flag = chain.carry();
        // Constant-time look-ahead, as in `resolve_carries`, here with the carry out of the top.
        let conjunction = block.iter().skip(1).fold(block[0], |all, &limb| b.and(all, limb));
        let (all_ones, carries) = (b.compare(Cmp::Eq, conjunction, u32::MAX), b.compare(Cmp::Ne, flag, 0));
        let (generate, propagate) = (b.ballot(carries), b.ballot(all_ones));
        let mut chain = b.chain();
        let doubled = chain.add(generate, generate);
        let bit_32 = chain.carry();
        let mut chain = b.chain();
        let sum = chain.add(doubled, propagate);
        let overflow = chain.carry();
        let into = b.xor(sum, propagate);
        let lane_carry = b.bit(into, state.lane);
        let block = wrapping_add_small(b, &block, lane_carry);
        let count = self.value_lanes();
        let out = if count == 32 { b.add(bit_32, overflow) } else { b.bit(into, count) };
        let last = b.shuffle(Shuffle::Idx, carry, count - 1, 32);
        (block, b.add(last, out))
    }

    /// The product into shared memory, above the value of `b`.
    fn product(&self, b: &mut Builder, state: &State, a: &[R32], own: R32, tops: [R32; 2]) {
        let (t, n) = (self.block(), self.value_limbs());
        b.section("multiply");
        let zeros = |b: &mut Builder| -> Vec<R32> { (0..t).map(|_| b.copy(0)).collect() };
        let (window, incoming) = (zeros(b), zeros(b));
        let is_last = b.compare(Cmp::Eq, state.lane, 31);
        let step = b.copy(state.shared);
        let end = b.add(state.shared, 4 * n);
        b.do_while(|b| {
            let multiplier = self.load_block(b, step);
            let mut rows = Rows::on(b, a, &window);
            let gone: Vec<R32> = multiplier.iter().map(|&y| rows.row(b, y)).collect();
            let (gone, high) = rows.finish_adding(b, &gone, &incoming);
            b.if_(state.is_first, |b| store_words(b, &gone, step, self.product_start()));
            for (&register, &limb) in incoming.iter().zip(&gone) {
                let shifted = b.shuffle(Shuffle::Down, limb, 1, 32);
                let value = b.select(0, shifted, is_last);
                b.set(register, value);
            }
            for (&register, &limb) in window.iter().zip(&high) {
                b.set(register, limb);
            }
            b.increase(step, 4 * t);
            b.compare(Cmp::Lt, step, end)
        });
        b.section("signs");
        let block_b = self.load_block(b, own);
        let signs = tops.map(|top| b.shr_signed(top, 31));
        let (mut block, mut carry) = (Vec::new(), state.bias);
        for i in 0..t as usize {
            let sum = signed_pair(b, carry);
            let sum = b.mad_wide(a[i], tops[1], sum);
            let sum = b.mad_wide(block_b[i], tops[0], sum);
            let sum = add_word(b, sum, window[i]);
            let (limb, high) = add_word_parts(b, sum, incoming[i]);
            // A negative top was taken for one that is B larger.
            let (too_much_a, too_much_b) = (b.and(a[i], signs[1]), b.and(block_b[i], signs[0]));
            let high = b.sub(high, too_much_a);
            carry = b.sub(high, too_much_b);
            block.push(limb);
        }
        let (block, top) = self.settle(b, state, &block, carry);
        self.store_block(b, state, &block, own, self.product_start() + 4 * n);
        let tops = b.mul_wide_signed(tops[0], tops[1]);
        let top = b.widen_signed(top);
        let sum = b.add64(tops, top);
        let (low, high) = b.unpack(sum);
        let tops_start = self.product_start() + 8 * n;
        b.guarded(state.is_first, true, |g| {
            g.store_shared(&[low], state.shared, tops_start);
            g.store_shared(&[high], state.shared, tops_start + 4);
        });
    }

    fn load_block(&self, b: &mut Builder, address: R32) -> Vec<R32> {
        let t = self.block();
        let width = piece(t);
        (0..t).step_by(width as usize).flat_map(|i| b.load_shared(vector(width), address, 4 * i)).collect()
    }

    /// Stores a block of a value at `address + offset`, by the lanes that have one.
    fn store_block(&self, b: &mut Builder, state: &State, block: &[R32], address: R32, offset: u32) {
        if self.value_lanes() == 32 {
            store_words(b, block, address, offset);
        } else {
            let inside = b.compare(Cmp::Lt, state.lane, self.value_lanes());
            b.if_(inside, |b| store_words(b, block, address, offset));
        }
    }

    /// The block's products to scratch memory, limb by limb, the limbs of neighbouring lanes together.
    fn store_products(&self, b: &mut Builder, thread: R32, base: R32, slot: R64, first_in_tile: R32) {
        let row = b.and(thread, self.warps - 1);
        let limb = b.shr(thread, self.warps.trailing_zeros());
        let place = b.mad_lo(row, 4 * self.shared_stride(), base);
        let from = b.mad_lo(limb, 4, place);
        let column = b.add(first_in_tile, row);
        let column = b.mad_wide(column, 4, slot);
        let to = b.mad_wide(limb, 128, column);
        let outside = b.compare(Cmp::Ge, limb, self.product_limbs());
        b.return_if(outside);
        b.do_while(|b| {
            let word = b.load_shared(vector(1), from, self.product_start());
            b.store_global(Space::Global, &word, to, 0);
            let (next_from, next_to, next) = (b.add(from, 128), b.add64(to, 32 * 128), b.add(limb, 32));
            b.set(from, next_from);
            b.set64(to, next_to);
            b.set(limb, next);
            b.compare(Cmp::Lt, limb, self.product_limbs())
        });
    }
}

/// A limb of the value: the parts' limbs by their weights, odd parts with the point's sign; the next carry.
fn evaluate_column(b: &mut Builder, state: &State, column: &[R32], one: R32, carry: R32) -> (R32, R32) {
    let weighted = |b: &mut Builder, start: Option<R64>, first: usize| {
        let terms = column.iter().zip(&state.weights).skip(first).step_by(2);
        terms.fold(start, |sum, (&limb, &weight)| {
            Some(match sum {
                Some(sum) => b.mad_wide(limb, weight, sum),
                None => b.mul_wide(limb, weight),
            })
        })
    };
    let Some(odd) = weighted(b, None, 1) else {
        let start = signed_pair(b, carry);
        return weighted(b, Some(start), 0).map_or((carry, carry), |sum| b.unpack(sum));
    };
    // −v is the complement of v, plus one.
    let carry = b.add(carry, one);
    let start = signed_pair(b, carry);
    let even = weighted(b, Some(start), 0).unwrap_or(start);
    let (low, high) = b.unpack(odd);
    let (low, high) = (b.xor(low, state.negative), b.xor(high, state.negative));
    let odd = b.pack(low, high);
    let sum = b.add64(even, odd);
    b.unpack(sum)
}

/// A signed word as a double one.
fn signed_pair(b: &mut Builder, word: R32) -> R64 {
    let sign = b.shr_signed(word, 31);
    b.pack(word, sign)
}

/// `sum + word`, modulo 2⁶⁴.
fn add_word(b: &mut Builder, sum: R64, word: R32) -> R64 {
    let (low, high) = add_word_parts(b, sum, word);
    b.pack(low, high)
}

fn add_word_parts(b: &mut Builder, sum: R64, word: R32) -> (R32, R32) {
    let (low, high) = b.unpack(sum);
    let top: R32 = b.register();
    let mut chain = b.chain();
    let low = chain.add(low, word);
    chain.wrap_add(top, high, 0);
    (low, top)
}

/// Stores words to shared memory in the widest pieces.
fn store_words(b: &mut Builder, words: &[R32], address: R32, offset: u32) {
    let width = piece(words.len() as u32);
    for (chunk, i) in words.chunks(width as usize).zip((0..).step_by(4 * width as usize)) {
        b.store_shared(chunk, address, offset + i);
    }
}
