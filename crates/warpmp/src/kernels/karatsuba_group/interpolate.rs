//! Going up a level: three products of halves into the product of the numbers.
//!
//! computes   `z₀ + (z₀ + z₂ ∓ m)·X + z₂·X²`, `X = B^h`, each of `z₀`, `z₂`, `m` of `2h` limbs; by quarters of `h`:
//!
//! ```text
//! q₀ = z₀ˡ      q₁ = u + z₀ˡ ∓ mˡ      q₂ = u + z₂ʰ ∓ mʰ      q₃ = z₂ʰ,      u = z₀ʰ + z₂ˡ
//! ```
//!
//! with carries from quarter to quarter; `q₁`, `q₂`, `q₃` go where `z₀ʰ`, `z₂ˡ`, `z₂ʰ` stood, `q₀` stays
//!
//! To the last product an addend `c₀ + c₁·X` may be added: `c₀` to `q₀`, `c₁` to `q₁`.
//!
//! lanes      the same run of limbs of every quarter, so that a lane overwrites what only it has read
//!
//! bound: to subtract, `m`'s complement is added and 1 at the bottom of `q₁`; over `q₁` and `q₂` that is `X² − m`,
//! so 1 is taken off the carry into `q₃`. That carry is not negative, because `z₀ʰ + z₂ˡ·X + z₀ + z₂ ∓ m` is not:
//! `z₀ + z₂ ∓ m = a₀b₁ + a₁b₀`. A square's `m` is always subtracted. A run sums at most four numbers: it carries at most 3, a quarter at most 4;
//! with an addend one more. Nothing leaves `q₃`: the product, and its sum with an addend of `2h` limbs, has `4h` limbs.

use warpmp_kernel::build::{Builder, Emit, R32, V32};
use warpmp_kernel::fragment::{Carries, all_ones, top_lane, wrapping_add_small};
use warpmp_kernel::ir::{Cmp, Shuffle};

use super::layout::{Layout, Share, divide_with_remainder, nodes};
use super::part::Addend;
use super::places::{Run, Spot};
use super::roles::{Role, for_numbers};
use super::vector;

/// Where a lane's runs are: of the quarters of the room of `z₀` and `z₂`, and of the halves of `m`.
struct Quarters {
    outer: [Spot; 4],
    middle: [Spot; 2],
}

impl Layout {
    /// Puts the products of a level together.
    pub(super) fn interpolate(self, b: &mut Builder, shared: R32, level: u32, share: Share, addend: Option<&Addend>) {
        for_numbers(b, self.warps, [share.nodes, share.lanes], |b, role| {
            self.interpolate_number(b, shared, level, share, role, addend);
        });
    }

    fn interpolate_number(
        self,
        b: &mut Builder,
        shared: R32,
        level: u32,
        share: Share,
        role: &Role,
        addend: Option<&Addend>,
    ) {
        let layout = self;
        let (product, number) = divide_with_remainder(b, role.node, nodes(level));
        let quarters = self.quarters(b, [shared, product, number, role.lane], level, share);
        let (mask, negative) = self.sign(b, [shared, product, number], level);
        let load = |b: &mut Builder, quarter: usize| layout.load_run(b, quarters.outer[quarter], share.limbs);
        let middle = |b: &mut Builder, half: usize| -> Vec<R32> {
            let limbs = layout.load_run(b, quarters.middle[half], share.limbs);
            limbs.iter().map(|&limb| b.xor(limb, mask)).collect()
        };
        let store = |b: &mut Builder, quarter: usize, limbs: &[R32]| {
            role.store(b, |b| layout.store_run(b, limbs, quarters.outer[quarter]));
        };
        // `u`, and `u + z₀ˡ ∓ mˡ` with what carries into it.
        let outer = |b: &mut Builder| {
            let (z0_high, z2_low) = (load(b, 1), load(b, 2));
            let mut common = Sum { limbs: z0_high, carry: None };
            common.add(b, &z2_low);
            common
        };
        let (mut common, sum, carry_in) = match addend {
            None => {
                let common = outer(b);
                let mut sum = common.clone();
                let (low, m) = (load(b, 0), middle(b, 0));
                sum.add(b, &low);
                sum.add(b, &m);
                (common, sum, negative)
            }
            // The quarter that stood still first, so that no more runs are in registers at a time.
            Some(addend) => {
                let low = load(b, 0);
                let mut sum = Sum { limbs: low.clone(), carry: None };
                let (m, high) = (middle(b, 0), addend.load(b, product, role.lane, share, layout.length() / 2));
                sum.add(b, &m);
                sum.add(b, &high);
                let mut lowest = Sum { limbs: low, carry: None };
                let low = addend.load(b, product, role.lane, share, 0);
                lowest.add(b, &low);
                let (limbs, carry) = lowest.resolve(b, role.lane, 0, share.lanes);
                store(b, 0, &limbs);
                let common = outer(b);
                sum.add_sum(b, &common);
                let carry_in = b.add(carry, negative);
                (common, sum, carry_in.into())
            }
        };
        let (limbs, carry) = sum.resolve(b, role.lane, carry_in, share.lanes);
        store(b, 1, &limbs);

        let (high, m) = (load(b, 3), middle(b, 1));
        common.add(b, &high);
        common.add(b, &m);
        let (limbs, carry) = common.resolve(b, role.lane, carry, share.lanes);
        store(b, 2, &limbs);

        let carry = b.sub(carry, negative);
        let (limbs, _) = Sum { limbs: high, carry: None }.resolve(b, role.lane, carry, share.lanes);
        store(b, 3, &limbs);
    }

    /// Is the middle product subtracted? As a mask, and as 0 or 1. Squares always are.
    fn sign(self, b: &mut Builder, [shared, product, number]: [R32; 3], level: u32) -> (V32, V32) {
        if self.operands == 1 {
            return (V32::Imm(u32::MAX), V32::Imm(1));
        }
        let sign = b.mad_lo(product, 4 * self.signs_each(), shared);
        let sign = b.mad_lo(number, 4, sign);
        let mask = b.load_shared(vector(1), sign, 4 * (self.signs() + (nodes(level) - 1) / 2))[0];
        (mask.into(), b.and(mask, 1).into())
    }

    /// Where a lane's runs are, for a number of a product.
    fn quarters(
        self,
        b: &mut Builder,
        [shared, product, number, lane]: [R32; 4],
        level: u32,
        share: Share,
    ) -> Quarters {
        let layout = self;
        // Chunks a quarter: 2^e. With one, the halves of a product are in different regions.
        let e = layout.levels - 1 - level;
        let [block, start] = layout.start(b, lane, share.limbs);
        let (base, block) = if e == 0 { (shared, block) } else { layout.alternating(b, shared, block) };
        let block = b.mad_lo(product, layout.blocks(), block);
        // Blocks a product of this level's halves takes in a region.
        let each = layout.group << e;
        let mut run = |multiple: u32| {
            let block = b.mad_lo(number, multiple, block);
            layout.run(b, base, [block, start])
        };
        let (outer, middle) = (run(2 * each), run(each));
        let mut halves = |run: &Run, blocks: u32| {
            let low = layout.further(b, run, blocks);
            let high = if e == 0 {
                (low.0, low.1 + 4 * layout.region())
            } else {
                layout.further(b, run, blocks + (layout.group << (e - 1)))
            };
            [low, high]
        };
        let [[z0_low, z0_high], [z2_low, z2_high]] = [halves(&outer, 0), halves(&outer, each)];
        let middle = halves(&middle, 2 * each * nodes(level));
        Quarters { outer: [z0_low, z0_high, z2_low, z2_high], middle }
    }
}

/// A sum in the making: each lane's limbs, and what its run has carried out (none: nothing yet).
#[derive(Clone)]
struct Sum {
    limbs: Vec<R32>,
    carry: Option<R32>,
}

impl Sum {
    fn add(&mut self, b: &mut Builder, y: &[R32]) {
        let mut chain = b.chain();
        self.limbs = self.limbs.iter().zip(y).map(|(&x, &y)| chain.add(x, y)).collect();
        let carry = chain.carry();
        self.carry = Some(match self.carry {
            None => carry,
            Some(before) => b.add(before, carry),
        });
    }

    fn add_sum(&mut self, b: &mut Builder, other: &Self) {
        self.add(b, &other.limbs);
        self.carry = match (self.carry, other.carry) {
            (Some(x), Some(y)) => Some(b.add(x, y)),
            (x, y) => x.or(y),
        };
    }

    /// Propagates all carries, with one into the first lane of the group; what the group carries out.
    fn resolve(self, b: &mut Builder, lane: R32, carry_in: impl Into<V32>, group: u32) -> (Vec<R32>, R32) {
        let carry_in = carry_in.into();
        let first = b.compare(Cmp::Eq, lane, 0);
        // What the run below has carried out.
        let below = match self.carry {
            None => b.select(carry_in, 0, first),
            Some(carry) => {
                let below = b.shuffle(Shuffle::Up, carry, 1, 32);
                b.select(carry_in, below, first)
            }
        };
        let addend = |k: usize| if k == 0 { V32::from(below) } else { V32::from(0) };
        let mut chain = b.chain();
        let limbs: Vec<R32> = self.limbs.iter().enumerate().map(|(k, &limb)| chain.add(limb, addend(k))).collect();
        let generated = chain.carry();
        let generated = b.compare(Cmp::Ne, generated, 0);
        let propagates = all_ones(b, &limbs);
        let carries = Carries::look_ahead(b, generated, propagates, group);
        let into_lane = carries.into_lane(b);
        let out = carries.out_of_group(b);
        let out = match self.carry {
            None => out,
            Some(carry) => {
                let top = top_lane(b, group);
                let carry = b.shuffle(Shuffle::Idx, carry, top, 32);
                b.add(out, carry)
            }
        };
        (wrapping_add_small(b, &limbs, into_lane), out)
    }
}
