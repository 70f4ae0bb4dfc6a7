//! `leaves`: the residues that survive the rules, a bit more at each launch; then grouped by their odd steps.
//!
//! computes   [`Expand`]: from the survivors B of k bits, as nodes {B, v = Tᵏ(B)} with their state, those of
//!            k + 1 bits; in any order. [`Count`]: how many have each number of odd steps. [`Scatter`]:
//!            their records {v, index, …} in the group of their number of odd steps, and B beside them
//! requires   k < 40: then v < 3ᶜ ≤ 3⁴⁰ < 2⁶⁴; fewer than 2³² nodes
//! launch     [`THREADS`] threads a block, a node a thread
//! cost       a level: about 70 instructions and 60 bytes of traffic a node; about 3 nodes a leaf over all levels
//!
//! The two children of a node are B (bit k is 0) and B + 2ᵏ, whose values after k steps are v and v + 3ᶜ:
//! one is even, one odd. With `need(i)` the least c with 3ᶜ ≥ 2ⁱ:
//!
//! * rule 1: the child is dead if c < need(k + 1): its numbers have fallen below themselves;
//! * rule 3: after an even number of halvings since an odd step y ≡ 2 mod 3, and (2y − 1)/3 joins: dead if
//!   c − 1 < need(k);
//! * rule 4: an odd run starting at y and then two halvings join (y − 1)/2: dead if c < need(i + 1) at an odd y of
//!   the run, i steps in. The state keeps whether the run has such a y, and whether a halving has followed.
//!
//! The dissertation's table S is rule 1 alone ([`Expand::merges`] off).
//! source: rules 1, 3, 4: the book; level by level with positions by ballots: ours.

use warpmp_device::Grid;
use warpmp_kernel::build::{Builder, Emit, Glue, Pred, R32, R64};
use warpmp_kernel::ir::{Bounds, Cmp, Kernel, Shuffle, Space, Special, Vector};
use warpmp_launch::{Address, Word, parameters, thread_number};

use super::common::modulo_nine;

/// Threads a block.
pub const THREADS: u32 = 256;
/// Groups that there can be: c < 64.
pub const GROUPS: u32 = 64;
/// Where a node's state says that an odd y of the run is below twice its start.
const RUN: u32 = 8;
/// Where it says that the number of halvings since the last odd step is odd.
const PARITY: u32 = 16;

/// The grid for so many nodes.
pub const fn grid(nodes: u32) -> Grid {
    Grid { blocks: if nodes == 0 { 1 } else { nodes.div_ceil(THREADS) }, threads: THREADS, shared_bytes: 0 }
}

parameters! {
    /// The parameters of [`Expand`].
    pub(crate) struct ExpandInputs, ExpandArguments {
        /// B and v, 64 bits each.
        nodes: Address,
        /// A word each.
        states: Address,
        /// Nodes.
        count: Word,
        /// The children, as the nodes.
        children: Address,
        /// A word each.
        child_states: Address,
        /// A word, zero at first: the number of children.
        counter: Address,
        /// k.
        level: Word,
        /// need(k).
        need_here: Word,
        /// need(k + 1).
        need_next: Word,
        /// Powers of three, 64 bits each.
        powers: Address,
    }
}

parameters! {
    /// The parameters of [`Count`].
    pub(crate) struct CountInputs, CountArguments {
        /// A word each.
        states: Address,
        /// Nodes.
        count: Word,
        /// [`GROUPS`] words, zero at first.
        histogram: Address,
    }
}

parameters! {
    /// The parameters of [`Scatter`].
    pub(crate) struct ScatterInputs, ScatterArguments {
        /// B and v, 64 bits each.
        nodes: Address,
        /// A word each.
        states: Address,
        /// Nodes.
        count: Word,
        /// [`GROUPS`] words: where each group begins. The kernel moves them on.
        cursors: Address,
        /// 3⁻ᶜ mod 2⁶⁴, 64 bits each.
        inverses: Address,
        /// 2ˢ − 1 of each group's vector, 64 bits each.
        masks: Address,
        /// 16 bytes each.
        records: Address,
        /// 64 bits each.
        residues: Address,
    }
}

/// One level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Expand {
    /// Rules 3 and 4 too.
    pub merges: bool,
}

/// Counts the nodes of each number of odd steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Count;

/// Makes the records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Scatter;

fn begin(name: &str) -> Builder {
    let mut b = Builder::new(name, Glue::None);
    b.bounds(Bounds { max_threads: Some(THREADS), ..Bounds::default() });
    b
}

/// This thread's number, and whether it is below `count`.
fn place(b: &mut Builder, count: R32) -> (R32, Pred) {
    let index = thread_number(b, THREADS);
    (index, b.compare(Cmp::Lt, index, count))
}

impl Expand {
    /// The kernel. There is room for twice as many children as nodes.
    pub fn build(self) -> Kernel {
        let mut builder = begin(if self.merges { "collatz_leaves_merging" } else { "collatz_leaves_descent" });
        let b = &mut builder;
        let inputs = ExpandInputs::of(b, false);
        let ExpandInputs { nodes, states, count, children, child_states, counter, level, need_here, need_next, powers } =
            inputs;
        let (index, inside) = place(b, count);
        // Threads beyond the end look at the first node and keep no child.
        let from = b.select(index, 0, inside);
        let row = b.mad_wide(from, 16, nodes);
        let node = b.load_global(Space::Global, Vector::V4, row, 0);
        let state = b.mad_wide(from, 4, states);
        let state = b.load_global(Space::Global, Vector::V1, state, 0)[0];
        let (residue, value) = (b.pack(node[0], node[1]), b.pack(node[2], node[3]));
        let odd_steps = b.and(state, 0xFF);
        let power = b.mad_wide(odd_steps, 8, powers);
        let power = b.load_global64(Space::GlobalConst, power, 0);

        let odd = b.and(node[2], 1);
        let is_odd = b.compare(Cmp::Ne, odd, 0);
        let other = b.add64(value, power);
        let bit = b.shl64(1, level);
        let with_bit = b.or64(residue, bit);
        // The even child: B, or B + 2ᵏ if v is odd.
        let even_value = b.select64(other, value, is_odd);
        let even_residue = b.select64(with_bit, residue, is_odd);
        let odd_value = b.select64(value, other, is_odd);
        let odd_residue = b.select64(residue, with_bit, is_odd);

        let even_value = b.shr64(even_value, 1);
        let half = b.shr64(odd_value, 1);
        let odd_value = b.add64(odd_value, half);
        let odd_value = b.add64(odd_value, 1);

        let more = b.add(odd_steps, 1);
        let alive = b.compare(Cmp::Ge, odd_steps, need_next);
        let mut even_alive = b.and_pred(alive, inside);
        let grown = b.compare(Cmp::Ge, more, need_next);
        let odd_alive = b.and_pred(grown, inside);
        let (mut even_state, mut odd_state) = (odd_steps, more);
        if self.merges {
            let flags = b.shr(state, RUN);
            let run = b.and(flags, 3);
            let first_halving = b.compare(Cmp::Lt, run, 2);
            even_alive = b.and_pred(even_alive, first_halving);
            // Rule 3 at the halving that makes their number even: c − 1 ≥ need(k), or the number is odd.
            let parity = b.shr(state, PARITY);
            let was_even = b.compare(Cmp::Eq, parity, 0);
            let above = b.compare(Cmp::Gt, odd_steps, need_here);
            let third = b.or_pred(was_even, above);
            even_alive = b.and_pred(even_alive, third);
            let run = b.and(run, 1);
            let halved = b.shl(run, RUN + 1);
            let parity = b.xor(parity, 1);
            let parity = b.shl(parity, PARITY);
            even_state = b.add(even_state, halved);
            even_state = b.add(even_state, parity);
            let below_twice = b.compare(Cmp::Lt, odd_steps, need_next);
            let run = b.select(1, run, below_twice);
            let run = b.shl(run, RUN);
            odd_state = b.add(odd_state, run);
        }
        let to = Positions::of(b, counter, even_alive, odd_alive);
        store_node(b, even_alive, to.first, (children, child_states), (even_residue, even_value, even_state));
        store_node(b, odd_alive, to.second, (children, child_states), (odd_residue, odd_value, odd_state));
        builder.finish()
    }
}

/// Where the lanes of a warp put what they keep, of two things each.
struct Positions {
    first: R32,
    second: R32,
}

impl Positions {
    /// Takes as many places as the warp needs.
    fn of(b: &mut Builder, counter: R64, first: Pred, second: Pred) -> Self {
        let (one, two) = (b.ballot(first), b.ballot(second));
        let (ones, twos) = (b.popc(one), b.popc(two));
        let total = b.add(ones, twos);
        let lane = b.special(Special::Lane);
        let leader = b.compare(Cmp::Eq, lane, 0);
        let base = b.copy(0);
        b.if_(leader, |b| {
            let old = b.atomic_add_global(counter, 0, total);
            b.set(base, old);
        });
        let base = b.shuffle(Shuffle::Idx, base, 0, 32);
        let below = b.special(Special::LaneMaskLt);
        let mine = b.and(one, below);
        let mine = b.popc(mine);
        let other = b.and(two, below);
        let other = b.popc(other);
        let first = b.add(base, mine);
        let second = b.add(base, ones);
        Self { first, second: b.add(second, other) }
    }
}

fn store_node(
    b: &mut Builder,
    alive: Pred,
    at: R32,
    (nodes, states): (R64, R64),
    (residue, value, state): (R64, R64, R32),
) {
    b.if_(alive, |b| {
        let row = b.mad_wide(at, 16, nodes);
        let ((r0, r1), (v0, v1)) = (b.unpack(residue), b.unpack(value));
        b.store_global(Space::Global, &[r0, r1, v0, v1], row, 0);
        let row = b.mad_wide(at, 4, states);
        b.store_global(Space::Global, &[state], row, 0);
    });
}

impl Count {
    /// The kernel.
    pub fn build(self) -> Kernel {
        let mut builder = begin("collatz_leaves_count");
        let b = &mut builder;
        let CountInputs { states, count, histogram } = CountInputs::of(b, false);
        let (index, inside) = place(b, count);
        b.if_(inside, |b| {
            let state = b.mad_wide(index, 4, states);
            let state = b.load_global(Space::GlobalConst, Vector::V1, state, 0)[0];
            let group = b.and(state, GROUPS - 1);
            let cell = b.mad_wide(group, 4, histogram);
            b.reduce_add_global(cell, 0, 1);
        });
        builder.finish()
    }
}

impl Scatter {
    /// The kernel.
    ///
    /// A record: v (64 bits); the word of the vector at which the leaf's candidates begin, of a window at 0 (32 bits);
    /// then the bit within the word, and B mod 9 from bit 28 on.
    pub fn build(self) -> Kernel {
        let mut builder = begin("collatz_leaves_scatter");
        let b = &mut builder;
        let inputs = ScatterInputs::of(b, false);
        let ScatterInputs { nodes, states, count, cursors, inverses, masks, records, residues } = inputs;
        let (index, inside) = place(b, count);
        b.if_(inside, |b| {
            let row = b.mad_wide(index, 16, nodes);
            let node = b.load_global(Space::GlobalConst, Vector::V4, row, 0);
            let state = b.mad_wide(index, 4, states);
            let state = b.load_global(Space::GlobalConst, Vector::V1, state, 0)[0];
            let group = b.and(state, GROUPS - 1);
            let [inverse, mask] = [inverses, masks].map(|table| {
                let cell = b.mad_wide(group, 8, table);
                b.load_global64(Space::GlobalConst, cell, 0)
            });
            let value = b.pack(node[2], node[3]);
            let position = b.mul_lo64(value, inverse);
            let position = b.and64(position, mask);
            let word = b.shr64(position, 5);
            let word = b.truncate(word);
            let bit = b.truncate(position);
            let bit = b.and(bit, 31);
            let nine = modulo_nine(b, node[0], node[1]);
            let nine = b.shl(nine, 28);
            let last = b.or(bit, nine);
            let cell = b.mad_wide(group, 4, cursors);
            let at = b.atomic_add_global(cell, 0, 1);
            let record = b.mad_wide(at, 16, records);
            b.store_global(Space::Global, &[node[2], node[3], word, last], record, 0);
            let residue = b.mad_wide(at, 8, residues);
            b.store_global(Space::Global, &[node[0], node[1]], residue, 0);
        });
        builder.finish()
    }
}
