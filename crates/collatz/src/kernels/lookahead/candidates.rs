//! From a leaf to candidates in the first queue.

use warpmp_kernel::build::{Builder, Emit, R32, R64};
use warpmp_kernel::ir::{Cmp, Shuffle, Space, Vector};

use super::{Ahead, CANDIDATE_BITS, FACTOR_WORDS, RING, Warp};

impl Warp {
    /// Loads for the first leaf of a chunk: its record and words, and the second's record.
    pub(super) fn first_leaf(&self, b: &mut Builder, record: R64) -> Ahead {
        let loaded = Self::record(b, record, 0);
        let record: [R32; 4] = std::array::from_fn(|i| b.copy(loaded[i]));
        let words = self.words(b, loaded[2]);
        Ahead { record, words: words.map(|word| b.copy(word)) }
    }

    /// This lane's two words of the vector for a leaf.
    fn words(&self, b: &mut Builder, position: R32) -> [R32; 2] {
        let word = b.add(position, self.inputs.word_offset);
        let word = b.and(word, self.inputs.word_mask);
        let address = b.mad_wide(word, 4, self.own_words);
        [0, 4].map(|offset| b.load_global(Space::GlobalConst, Vector::V1, address, offset)[0])
    }

    /// Puts a leaf's candidates into the first queue, and its value into the ring; loads ahead for the next leaf.
    pub(super) fn collect(&self, b: &mut Builder, leaf: R32, record: R64, residues: R64, ahead: &Ahead) {
        let spec = &self.spec;
        let layout = spec.layout();
        // The funnel shift takes the amount modulo 32: the bit within the word.
        let alive = b.funnel_right(ahead.words[0], ahead.words[1], ahead.record[3]);
        let nine = b.shr(ahead.record[3], 28);
        let nine = b.add(nine, self.inputs.nine);
        let column = b.mad_lo(self.lane, 4, self.base);
        let row = b.mad_lo(nine, 128, column);
        let pattern = b.load_shared(Vector::V1, row, (6 << spec.jump_bits) + 4 * FACTOR_WORDS)[0];
        let left = b.and(alive, pattern);
        let left = b.copy(left);
        if let Some(range) = self.inputs.range {
            let row = b.mad_wide(leaf, 8, residues);
            let residue = b.load_global64(Space::GlobalConst, row, 0);
            // Bits from the first candidate that is not below the range, less those from the first that is not below its end.
            let [from, end] = range.map(|bound| self.bits_from(b, bound, residue));
            let inside = b.lop3(left, from, end, 0x40);
            b.set(left, inside);
        }
        let slot = b.and(leaf, RING - 1);

        // The value at a = 0, by one lane.
        let value = self.value(b, ahead);
        let leader = b.compare(Cmp::Eq, self.lane, 0);
        let place = b.mad_lo(slot, 16, self.queues);
        b.guarded(leader, true, |g| g.store_shared(&value, place, layout.ring));

        b.increase64(record, 16);
        let loaded = Self::record(b, record, 0);
        for (&old, &new) in ahead.record.iter().zip(&loaded) {
            b.set(old, new);
        }
        let words = self.words(b, loaded[2]);
        for (&old, &new) in ahead.words.iter().zip(&words) {
            b.set(old, new);
        }

        let own = b.popc(left);
        let sum = self.prefix_sum(b, own);
        let before = b.sub(sum, own);
        let all = b.shuffle(Shuffle::Idx, sum, 31, 32);
        let place = b.add(self.first, before);
        let place = b.mad_lo(place, 2, self.queues);
        let place = b.copy(place);
        let tag = b.shl(self.lane, 5);
        let slot_bits = b.shl(slot, CANDIDATE_BITS);
        let tag = b.or(tag, slot_bits);
        let some = b.compare(Cmp::Ne, left, 0);
        b.section("queue");
        b.if_(some, |b| {
            b.do_while(|b| {
                let bit = b.bfind(left);
                let candidate = b.or(tag, bit);
                b.store_shared_half(candidate, place, layout.first);
                b.increase(place, 2);
                let mask = b.shl(1, bit);
                let rest = b.xor(left, mask);
                b.set(left, rest);
                b.compare(Cmp::Ne, left, 0)
            });
        });
        b.section("leaf");
        b.increase(self.first, all);
        b.increase(self.total, all);
        b.warp_barrier();
    }

    /// The bits of this lane's word whose starts are at least W + `bound`: a ≥ ⌈(bound − B)/2ᴸ⌉.
    fn bits_from(&self, b: &mut Builder, bound: R64, residue: R64) -> R32 {
        let leaf_bits = self.spec.leaf_bits;
        let round = b.add64(bound, (1 << leaf_bits) - 1);
        let above = b.compare64(Cmp::Ge, bound, residue);
        let distance = b.sub64(round, residue);
        let distance = b.shr64(distance, leaf_bits);
        let first = b.truncate(distance);
        let first = b.select(first, 0, above);
        // In this word from bit `first` − 32·lane on; all below, none at 32 and above.
        let word = b.shl(self.lane, 5);
        let before = b.compare(Cmp::Le, first, word);
        let place = b.sub(first, word);
        let bits = b.shl(u32::MAX, place);
        b.select(u32::MAX, bits, before)
    }

    /// Tᴸ(W + B): the leaf's value and the window's offset, in four words.
    fn value(&self, b: &mut Builder, ahead: &Ahead) -> Vec<R32> {
        let [low, high] = self.inputs.offset;
        let (o0, o1) = b.unpack(low);
        let (o2, o3) = b.unpack(high);
        let mut chain = b.chain();
        let v0 = chain.add(ahead.record[0], o0);
        let v1 = chain.add(ahead.record[1], o1);
        let (v2, v3) = if self.spec.limbs > 3 {
            let v2 = chain.add(o2, 0);
            let v3 = chain.register();
            chain.wrap_add(v3, o3, 0);
            (v2, v3)
        } else {
            let v2 = chain.register();
            chain.wrap_add(v2, o2, 0);
            (v2, o3)
        };
        vec![v0, v1, v2, v3]
    }

    /// The sum of this lane's and the lower lanes'.
    fn prefix_sum(&self, b: &mut Builder, own: R32) -> R32 {
        let sum = b.copy(own);
        for distance in [1, 2, 4, 8, 16] {
            let other = b.shuffle(Shuffle::Up, sum, distance, 32);
            let inside = b.compare(Cmp::Ge, self.lane, distance);
            let more = b.add(sum, other);
            b.guarded(inside, true, |g| g.set(sum, more));
        }
        sum
    }
}
