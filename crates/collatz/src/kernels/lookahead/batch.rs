//! Batches of 32: the jumps that all candidates take, and the tail.

use warpmp_kernel::build::{Builder, Emit, Pred, R32, R64};
use warpmp_kernel::ir::{Cmp, Vector};

use super::super::common::{Jump, jump};
use super::{CANDIDATE_BITS, Lookahead, RING, Warp};

/// Where lanes are on their way.
struct State {
    z: Vec<R32>,
    /// ρ, and the tag below it.
    tag: R32,
}

impl Warp {
    /// A batch from entry `from` of the first queue on: all 32, or the first `some` lanes.
    pub(super) fn batch(&self, b: &mut Builder, from: R32, some: Option<R32>, residues: R64) {
        b.section("batch");
        let spec = &self.spec;
        let layout = spec.layout();
        let (entry, mine) = self.members(b, some);
        let at = b.add(from, entry);
        let at = b.mad_lo(at, 2, self.queues);
        let candidate = b.load_shared_half(at, layout.first);
        // 16 bytes a slot: the slot is above bit 10.
        let slot = b.shr(candidate, CANDIDATE_BITS - 4);
        let slot = b.and(slot, 0x1F0);
        let slot = b.add(slot, self.queues);
        let value = b.load_shared(Vector::V4, slot, layout.ring);
        let a = b.and(candidate, (1 << CANDIDATE_BITS) - 1);
        // ρ of the leaves, and the leaf's number in the chunk.
        let block = b.and(self.leaf, !(RING - 1));
        let tag = b.mad_lo(block, 1 << CANDIDATE_BITS, self.inputs.rho);
        let tag = b.or(tag, candidate);
        let state = State { z: self.add_multiple(b, &value, a), tag: b.copy(tag) };
        let low = b.pack(state.z[0], state.z[1]);
        match mine {
            None => self.add_to_checksum(b, low),
            Some(count) => {
                let inside = b.compare(Cmp::Lt, self.lane, count);
                let low = b.select64(low, 0, inside);
                self.add_to_checksum(b, low);
            }
        }
        let over = b.copy(0);
        for _ in 0..spec.sure_jumps {
            self.jump(b, &state);
            if spec.watched {
                let passed = b.compare(Cmp::Gt, state.tag, self.inputs.limit);
                b.guarded(passed, true, |g| g.set(over, 1));
            }
        }
        let over = spec.watched.then_some(over);
        self.sift(b, &state, mine, over, residues);
    }

    fn add_to_checksum(&self, b: &mut Builder, value: R64) {
        b.increase64(self.checksum, value);
    }

    /// A jump of a batch of the second queue: of 32, or of all there are.
    pub(super) fn tail(&self, b: &mut Builder, full: bool, residues: R64) {
        b.section("tail");
        let count = if full { None } else { Some(b.min(self.second, 32)) };
        let rest = match count {
            None => b.sub(self.second, 32),
            Some(count) => b.sub(self.second, count),
        };
        b.set(self.second, rest);
        let (entry, mine) = self.members(b, count);
        let at = b.add(rest, entry);
        let state = self.pop(b, at);
        b.warp_barrier();
        self.jump(b, &state);
        let over = b.copy(0);
        let passed = b.compare(Cmp::Gt, state.tag, self.inputs.limit);
        b.guarded(passed, true, |g| g.set(over, 1));
        self.sift(b, &state, mine, Some(over), residues);
    }

    /// This lane's number in the batch (0 for those that are not in it), and whether it is, if that is a question.
    fn members(&self, b: &mut Builder, some: Option<R32>) -> (R32, Option<R32>) {
        let Some(some) = some else { return (self.lane, None) };
        let inside = b.compare(Cmp::Lt, self.lane, some);
        (b.select(self.lane, 0, inside), Some(some))
    }

    /// `value + a·3ᶜ`.
    fn add_multiple(&self, b: &mut Builder, value: &[R32], a: R32) -> Vec<R32> {
        let (p0, p1) = b.unpack(self.inputs.power);
        let mut chain = b.chain();
        let z0 = chain.mad_lo(p0, a, value[0]);
        let low = chain.mad_hi(p0, a, value[1]);
        if self.spec.limbs > 3 {
            let above = chain.add(value[2], 0);
            let top = chain.register();
            chain.wrap_add(top, value[3], 0);
            let mut chain = b.chain();
            let z1 = chain.mad_lo(p1, a, low);
            let z2 = chain.mad_hi(p1, a, above);
            let z3 = chain.register();
            chain.wrap_add(z3, top, 0);
            return vec![b.copy(z0), b.copy(z1), b.copy(z2), b.copy(z3)];
        }
        let above = chain.register();
        chain.wrap_add(above, value[2], 0);
        let sum = b.pack(low, above);
        let sum = b.mad_wide(p1, a, sum);
        let (z1, z2) = b.unpack(sum);
        vec![b.copy(z0), z1, z2]
    }

    fn low_bits(&self, b: &mut Builder, z: &[R32]) -> R32 {
        b.and(z[0], (1 << self.spec.jump_bits) - 1)
    }

    fn jump(&self, b: &mut Builder, state: &State) {
        let bits = self.spec.jump_bits;
        let low = self.low_bits(b, &state.z);
        let at = b.mad_lo(low, 4, self.base);
        let entry = b.load_shared(Vector::V1, at, 0)[0];
        let rest = b.shr(entry, 32 - Lookahead::rest_bits(bits));
        let factor = b.and(entry, 0x78);
        let factor = b.add(factor, self.base);
        let factor = b.load_shared(Vector::V2, factor, 6 << bits);
        jump(b, &state.z, bits, Jump { power: factor[0], rest });
        b.increase(state.tag, factor[1]);
    }

    /// Reports the lanes that are over; puts those into the second queue whose next d steps no rule ends.
    fn sift(&self, b: &mut Builder, state: &State, members: Option<R32>, over: Option<R32>, residues: R64) {
        let low = self.low_bits(b, &state.z);
        let at = b.mad_lo(low, 2, self.base);
        let threshold = b.load_shared_half(at, 4 << self.spec.jump_bits);
        let threshold = b.shl(threshold, 16);
        let mut alive = b.compare(Cmp::Ge, state.tag, threshold);
        if let Some(count) = members {
            let mine = b.compare(Cmp::Lt, self.lane, count);
            alive = b.and_pred(alive, mine);
        }
        if let Some(over) = over {
            let mut passed = b.compare(Cmp::Ne, over, 0);
            let within = b.compare(Cmp::Eq, over, 0);
            alive = b.and_pred(alive, within);
            if let Some(count) = members {
                let mine = b.compare(Cmp::Lt, self.lane, count);
                passed = b.and_pred(passed, mine);
            }
            self.report_start(b, passed, state.tag, residues);
        }
        self.push(b, state, alive);
    }

    /// Puts the living lanes at the end of the second queue.
    fn push(&self, b: &mut Builder, state: &State, alive: Pred) {
        let layout = self.spec.layout();
        let mask = b.ballot(alive);
        let mine = b.and(mask, self.below);
        let mine = b.popc(mine);
        let at = b.add(self.second, mine);
        let place = b.mad_lo(at, 16, self.queues);
        if self.spec.limbs > 3 {
            let tags = b.mad_lo(at, 4, self.queues);
            b.guarded(alive, true, |g| {
                g.store_shared(&state.z, place, 0);
                g.store_shared(&[state.tag], tags, layout.second_tags);
            });
        } else {
            let words = [state.z[0], state.z[1], state.z[2], state.tag];
            b.guarded(alive, true, |g| g.store_shared(&words, place, 0));
        }
        let count = b.popc(mask);
        b.increase(self.second, count);
        b.warp_barrier();
    }

    /// Entry `at` of the second queue.
    fn pop(&self, b: &mut Builder, at: R32) -> State {
        let place = b.mad_lo(at, 16, self.queues);
        let words = b.load_shared(Vector::V4, place, 0);
        if self.spec.limbs > 3 {
            let tags = b.mad_lo(at, 4, self.queues);
            let tag = b.load_shared(Vector::V1, tags, self.spec.layout().second_tags)[0];
            return State { z: words.iter().map(|&word| b.copy(word)).collect(), tag: b.copy(tag) };
        }
        State { z: words[..3].iter().map(|&word| b.copy(word)).collect(), tag: b.copy(words[3]) }
    }
}
