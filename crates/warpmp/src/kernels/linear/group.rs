//! `group`: a row a group of lanes, for rows of any length.
//!
//! requires   buffers padded to whole tiles of 32 lanes
//! launch     32·warps threads a block, 32/group rows a warp; no shared memory
//! cost       about 12 + 3·block instructions a lane and pass for a sum, a pass being `group·block` limbs
//! registers  about the limbs of three operands over `group`, and 40
//!
//! Limb `n` is with lane `n/block mod group`, in pass `n / (group·block)`: a pass of a group is one contiguous
//! access. Each block of `block` limbs is one carry chain; carries run from block to block of a pass in constant
//! time (`warpmp_kernel::fragment::Carries`), and from pass to pass as a mask of the groups' lowest lanes.
//!
//! bound: a pass generates and passes on as `Carries` has it, since what enters it is not in its blocks yet.
//! source: carry look-ahead by ballots, as in `group` of multiplication; ours.

use warpmp_kernel::build::{Builder, Emit, Pred, R32, R64};
use warpmp_kernel::fragment::{Carries, all_ones, all_zeros, wrapping_add_small, wrapping_sub_small};
use warpmp_kernel::ir::{Bounds, Cmp, Kernel, Shuffle, Space, Special};
use warpmp_launch::{Entry, GroupLane, piece, vector};

use super::Linear;
use super::frame::{Frame, Number};

/// How the limbs of a row are with the lanes of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Split {
    /// Lanes a row: a power of two, at most 32.
    pub group: u32,
    /// Limbs a lane and pass: 1, 2 or 4, a divisor of the lengths of all rows.
    pub block: u32,
}

/// The longest rows whose blocks have more than a limb.
const MAX_BLOCKED_LIMBS: u32 = 512;

impl Linear {
    /// The split that suits these rows: the widest accesses, and no more lanes than limbs need.
    pub(super) fn usual_split(&self) -> Split {
        let shifted = self.shifts();
        let rows = self.number_limbs().chain(self.result_limbs().filter(|&limbs| limbs > 1));
        // Many chains of several limbs at once would move their carries out of the predicate registers.
        let most = if self.longest() > MAX_BLOCKED_LIMBS { 1 } else { 4 };
        let block = if shifted { 1 } else { rows.map(piece).min().unwrap_or(1).min(most) };
        Split { group: self.longest().div_ceil(block).next_power_of_two().min(32), block }
    }

    /// The kernel, a row a group of lanes.
    pub(super) fn by_groups(&self, entry: &Entry, split: Split) -> Kernel {
        let (mut b, [operands, results], lanes) = self.open(entry);
        b.bounds(Bounds { max_threads: Some(32 * self.warps), ..Bounds::default() });
        let GroupLane { number, row, .. } = GroupLane::enter(&mut b, lanes, split.group, self.warps);
        let member = b.and(number, split.group - 1);
        b.section("arithmetic");
        let shapes = self.operands();
        let rows = shapes.iter().zip(operands).map(|(operand, address)| {
            if operand.common { address } else { b.mad_wide(row, 4 * operand.limbs(), address) }
        });
        let operands = rows.collect();
        let mut frame = Group { spec: self, split, b, row, member, operands, results };
        super::operations::write(&mut frame, &self.shape);
        frame.b.finish()
    }
}

/// The frame of a group.
struct Group<'k> {
    spec: &'k Linear,
    split: Split,
    b: Builder,
    row: R32,
    /// The lane's number in its group.
    member: R32,
    /// The addresses of the row's operands.
    operands: Vec<R64>,
    /// The addresses of the results.
    results: Vec<R64>,
}

/// Which lanes of a pass have limbs of a row.
enum Inside {
    All,
    None,
    Some(Pred),
}

impl Group<'_> {
    /// Limbs a pass.
    const fn pass(&self) -> u32 {
        self.split.group * self.split.block
    }

    /// The lanes whose limbs, those of pass `pass` moved up by `from`, are in a row of `limbs`.
    fn inside(&mut self, pass: u32, from: i32, limbs: u32) -> Inside {
        let block = self.split.block as i32;
        // In blocks: lane `m` has block `first + m`, the row has those from 0 to `count`. `from` is no fraction.
        let first = (pass * self.split.group) as i32 + from / block;
        let (count, group) = ((limbs / self.split.block) as i32, self.split.group as i32);
        let (low, high) = ((-first).max(0), (count - first).min(group));
        if low >= high {
            return Inside::None;
        }
        let below = (high < group).then(|| self.b.compare(Cmp::Lt, self.member, high as u32));
        let above = (low > 0).then(|| self.b.compare(Cmp::Ge, self.member, low as u32));
        match (below, above) {
            (None, None) => Inside::All,
            (Some(one), None) | (None, Some(one)) => Inside::Some(one),
            (Some(one), Some(other)) => Inside::Some(self.b.and_pred(one, other)),
        }
    }

    /// The limbs of a row, moved by `from`, `fill` above them.
    fn load(&mut self, i: usize, from: i32, fill: Option<R32>) -> Number {
        let operand = self.spec.operands()[i];
        let block = self.split.block;
        let mut limbs = Vec::new();
        let start = self.b.mad_wide(self.member, 4 * block, self.operands[i]);
        // Offsets of accesses are not negative.
        let start = if from < 0 { self.b.add64(start, (4 * i64::from(from)) as u64) } else { start };
        let ahead = if from > 0 { 4 * from as u32 } else { 0 };
        for pass in 0..self.passes() {
            let offset = 4 * pass * self.pass() + ahead;
            match self.inside(pass, from, operand.limbs()) {
                Inside::All => limbs.extend(self.b.load_global(Space::GlobalConst, vector(block), start, offset)),
                Inside::None => {
                    let above = (pass * self.pass()) as i32 + from >= operand.limbs() as i32;
                    for _ in 0..block {
                        limbs.push(match fill {
                            Some(fill) if above => fill,
                            _ => self.b.copy(0),
                        });
                    }
                }
                Inside::Some(inside) => {
                    let words: Vec<R32> = (0..block)
                        .map(|_| match fill {
                            Some(fill) => self.b.copy(fill),
                            None => self.b.copy(0),
                        })
                        .collect();
                    self.b.guarded(inside, true, |g| {
                        g.load_into(Space::GlobalConst, vector(block), &words, start, offset);
                    });
                    limbs.extend(words);
                }
            }
        }
        Number(limbs)
    }

    fn passes(&self) -> u32 {
        self.spec.longest().div_ceil(self.pass())
    }

    /// The register of a limb, and the lane that has it.
    const fn place(&self, index: u32) -> (usize, u32) {
        let Split { group, block } = self.split;
        let (pass, within) = (index / self.pass(), index % block);
        ((pass * block + within) as usize, index / block % group)
    }

    /// The sum or difference of two blocks, and whether it carries or borrows.
    fn block(&mut self, x: &[R32], y: &[R32], subtract: bool) -> (Vec<R32>, Pred) {
        let b = &mut self.b;
        if let ([x], [y]) = (x, y) {
            // Without the flag, of which there is one.
            let result = if subtract { b.sub(*x, *y) } else { b.add(*x, *y) };
            let carries = if subtract { b.compare(Cmp::Lt, *x, *y) } else { b.compare(Cmp::Lt, result, *x) };
            return (vec![result], carries);
        }
        let mut chain = b.chain();
        let limbs = x.iter().zip(y);
        let (result, carry) = if subtract {
            (limbs.map(|(&x, &y)| chain.sub(x, y)).collect(), chain.borrow_mask())
        } else {
            (limbs.map(|(&x, &y)| chain.add(x, y)).collect(), chain.carry())
        };
        (result, b.compare(Cmp::Ne, carry, 0))
    }

    /// A sum or difference, pass by pass: the blocks first, then the carries between them. What leaves the top
    /// is 0 or 1.
    fn resolve(&mut self, x: &Number, y: &Number, incoming: Option<R32>, subtract: bool) -> (Number, R32) {
        let Split { group, block } = self.split;
        let mut incoming = incoming.map(|word| {
            let enters = self.b.compare(Cmp::Ne, word, 0);
            Carries::mask_of(&mut self.b, enters, group)
        });
        let mut limbs = Vec::new();
        let mut last = None;
        for (x, y) in x.0.chunks(block as usize).zip(y.0.chunks(block as usize)) {
            if let Some(carries) = last {
                incoming = Some(Carries::leaving(&carries, &mut self.b));
            }
            let (block, generates) = self.block(x, y, subtract);
            let b = &mut self.b;
            let propagates = if subtract { all_zeros(b, &block) } else { all_ones(b, &block) };
            let mut carries = Carries::look_ahead(b, generates, propagates, group);
            if let Some(mask) = incoming {
                carries = carries.entered(b, mask);
            }
            let into = carries.into_lane(b);
            let resolved = if subtract { wrapping_sub_small } else { wrapping_add_small };
            limbs.extend(resolved(b, &block, into));
            last = Some(carries);
        }
        let out = last.map(|carries| carries.out_of_group(&mut self.b));
        (Number(limbs), out.unwrap_or_else(|| self.b.copy(0)))
    }
}

impl Frame for Group<'_> {
    fn builder(&mut self) -> &mut Builder {
        &mut self.b
    }

    fn capacity(&self) -> u32 {
        self.passes() * self.pass()
    }

    fn registers(&self) -> usize {
        (self.passes() * self.split.block) as usize
    }

    fn operand(&mut self, i: usize, from: i32) -> Number {
        self.load(i, from, None)
    }

    fn signed_operand(&mut self, i: usize) -> Number {
        let sign = self.sign(i);
        let mut number = self.load(i, 0, Some(sign));
        let bits = self.spec.shape.operands()[i].bits;
        if !bits.is_multiple_of(32) {
            let above = self.b.shl(sign, bits % 32);
            self.change(&mut number, bits / 32, |b, limb| b.or(limb, above));
        }
        number
    }

    fn sign(&mut self, i: usize) -> R32 {
        let bits = self.spec.shape.operands()[i].bits;
        let top = self.b.load_global(Space::GlobalConst, vector(1), self.operands[i], 4 * ((bits - 1) / 32))[0];
        let aligned = self.b.shl(top, 31 - (bits - 1) % 32);
        self.b.shr_signed(aligned, 31)
    }

    fn low_word(&mut self, i: usize) -> R32 {
        self.b.load_global(Space::GlobalConst, vector(1), self.operands[i], 0)[0]
    }

    fn product(&mut self, from: i32) -> Number {
        // An earlier stage left it where the last operand is.
        self.load(self.operands.len() - 1, from, None)
    }

    fn add(&mut self, x: &Number, y: &Number, carry: Option<R32>) -> (Number, R32) {
        self.resolve(x, y, carry, false)
    }

    fn sub(&mut self, x: &Number, y: &Number, borrow: Option<R32>) -> (Number, R32) {
        let (difference, borrow) = self.resolve(x, y, borrow, true);
        let mask = self.b.sub(0, borrow);
        (difference, mask)
    }

    fn limb(&mut self, x: &Number, index: u32) -> R32 {
        let (register, member) = self.place(index);
        self.b.shuffle(Shuffle::Idx, x.0[register], member, self.split.group)
    }

    fn any(&mut self, x: &Number) -> R32 {
        let union = x.0.iter().skip(1).fold(x.0[0], |all, &limb| self.b.or(all, limb));
        let found = self.b.compare(Cmp::Ne, union, 0);
        let all = self.b.ballot(found);
        let lane = self.b.special(Special::Lane);
        let first = self.b.and(lane, (self.split.group - 1) ^ u32::MAX);
        let own = self.b.field(all, first, self.split.group);
        let found = self.b.compare(Cmp::Ne, own, 0);
        self.b.select(u32::MAX, 0, found)
    }

    fn change(&mut self, x: &mut Number, index: u32, change: impl FnOnce(&mut Builder, R32) -> R32) {
        let (register, member) = self.place(index);
        let changed = change(&mut self.b, x.0[register]);
        let own = self.b.compare(Cmp::Eq, self.member, member);
        x.0[register] = self.b.select(changed, x.0[register], own);
    }

    fn store(&mut self, result: usize, x: &Number) {
        let bits = self.spec.shape.results()[result];
        let (limbs, block) = (bits.div_ceil(32), self.split.block);
        let mut x = x.clone();
        if !bits.is_multiple_of(32) {
            self.change(&mut x, limbs - 1, |b, limb| b.and(limb, (1 << (bits % 32)) - 1));
        }
        if limbs == 1 {
            // Rows of one limb are no multiples of a block.
            let own = self.b.compare(Cmp::Eq, self.member, 0);
            let row = self.b.mad_wide(self.row, 4, self.results[result]);
            self.b.guarded(own, true, |g| g.store_global(Space::GlobalStream, &x.0[..1], row, 0));
            return;
        }
        let row = self.b.mad_wide(self.row, 4 * limbs, self.results[result]);
        let start = self.b.mad_wide(self.member, 4 * block, row);
        for (pass, words) in x.0.chunks(block as usize).enumerate() {
            let offset = 4 * pass as u32 * self.pass();
            match self.inside(pass as u32, 0, limbs) {
                Inside::All => self.b.store_global(Space::GlobalStream, words, start, offset),
                Inside::None => {}
                Inside::Some(inside) => {
                    self.b.guarded(inside, true, |g| g.store_global(Space::GlobalStream, words, start, offset));
                }
            }
        }
    }

    fn store_word(&mut self, result: usize, word: R32) {
        let own = self.b.compare(Cmp::Eq, self.member, 0);
        let row = self.b.mad_wide(self.row, 4, self.results[result]);
        self.b.guarded(own, true, |g| g.store_global(Space::GlobalStream, &[word], row, 0));
    }
}
