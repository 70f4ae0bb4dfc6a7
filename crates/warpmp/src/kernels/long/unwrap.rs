//! A product from its lower limbs and from the product modulo `Bⁿ + 1`.
//!
//! computes   `P` of `n + h` limbs from `S = P` modulo `Bⁿ + 1`, a signed number of `n + 1` limbs at the beginning of the same row, and from the lower
//!            `h` limbs of `P`; or of `P` only the limbs of a row of at most `n` limbs, at whose beginning are those of `S`
//! requires   `h ≤ n`
//! launch     a warp a lane, four lanes a block
//! cost       `h` limbs of both rows read, twice as many written; then 128 limbs of the row for each turn that a carry takes: seldom more than one
//! registers  at most 48
//!
//! The transform computes with coefficients. Let those of `P` that come back make the number `H`, and the others `L + t·Bⁿ` with `0 ≤ L < Bⁿ`. So
//! `P = L + (H + t)·Bⁿ` and `S = L + t·Bⁿ − H`.
//!
//! bound: `−2²⁹ < H < Bʰ + 2²⁹`, and `0 ≤ H < Bʰ` where digits have no signs. The lower limbs of `L` are those of `P`, so `H = P − S` modulo `Bʰ`, and
//! `L = S + H` modulo `Bⁿ`. Let `t′` be limb `n` of `S`, `|t′| < 2²⁹`. The sum of `H` modulo `Bʰ` and `t′` is a number `u` of `h` limbs and a multiple `κ` of `Bʰ`, −1, 0 or 1.
//! Without a carry that leaves `L`, `t = t′`, and as `0 ≤ H + t < Bʰ`, `H` itself is less by `κ·Bʰ`. So the carry from the lower limbs of `S + H` to the others
//! is `c − κ` for a borrow `c` of `P − S`: from −1 to 2. With a carry that leaves `L` that is right, too, unless `u` is `Bʰ − 1` and the carry 1, or `u = 0` and the carry
//! −1. In the first case `H + t = 0`, `t < 0` and `P = L < 2²⁹`, but factors with coefficients that come back have a greater product. In the second case
//! `H + t = Bʰ − 1`, but `H < 0`, as the carry says. Without limb `n` of `S`, one more limb of `H` has its sign.
//!
//! An addend of at most `n` limbs joins `P` and `L`: it is in `S`, and here it is added to the lower limbs. All this stays true, as `P` does not get less and
//! has no limb more.
//!
//! A product of two's complements is at most a quarter of `Bⁿ⁺ʰ` in magnitude, so `H + t` and `H + t′` are between `−Bʰ/2` and `Bʰ/2`. Then the highest bit `σ` of
//! `u` is the sign: `H + t′ = u − σ·Bʰ`, `H` is its remainder modulo `Bʰ` less `(κ + σ)·Bʰ`, and the carry is `c − κ − σ`.

use warpmp_kernel::build::{Builder, Emit, Glue, Pred, R32, R64};
use warpmp_kernel::fragment::{Carries, add_carry_to_row};
use warpmp_kernel::ir::{Bounds, Cmp, Kernel, Space, Special, Vector};
use warpmp_launch::{Entry, Geometry, Ports, Spec, Stage};

use super::source::Number;

/// Warps of a block.
const WARPS: u32 = 4;

/// Limbs that a thread has in a turn, at most: as many loads of a row are under way.
const LIMBS: u32 = 8;

/// The same where a carry runs on, which seldom takes more than one turn.
const LIMBS_OF_CARRY: u32 = 4;

/// Parameters of the kernel. Those of its launch: the lower limbs of the product, the row of the result; lanes.
#[derive(Clone, Debug)]
pub(super) struct Unwrap {
    /// The lower limbs of the product, `h` at least.
    pub(super) low: Number,
    /// The result: in the beginning the product modulo `Bⁿ + 1`.
    pub(super) result: Number,
    /// The limbs `n`.
    pub(super) modulus: u32,
    /// The limbs `h`.
    pub(super) above: u32,
    /// Has `H` a sign? Then `h` is greater by one limb where limb `n` of `S` does not tell it.
    pub(super) is_signed: bool,
    /// Is the product, which is whole, of two's complements?
    pub(super) of_complements: bool,
    /// A row that is added: `S` has it already.
    pub(super) addend: Option<Number>,
}

/// The limbs of a lane.
struct Lane {
    /// Where the row of the result begins.
    row: R64,
    /// The number of the thread in the warp that has the lane.
    member: R32,
}

impl Unwrap {
    /// The rows in the order of the parameters.
    pub(super) fn rows(&self) -> Vec<Number> {
        self.addend.into_iter().chain([self.low, self.result]).collect()
    }

    /// Has the result all limbs of the product?
    const fn is_whole(&self) -> bool {
        self.result.limbs > self.modulus
    }

    /// Does the highest of the limbs above `n` tell a sign?
    const fn needs_sign(&self) -> bool {
        if self.is_whole() { self.of_complements } else { self.is_signed }
    }

    fn kernel(&self, entry: &Entry) -> Kernel {
        let names = ["addend", "low", "product"];
        let names = &names[names.len() - self.rows().len()..];
        let (mut b, Ports { addresses, lanes }) = entry.open(&self.name(), Glue::None, names, false);
        b.bounds(Bounds { max_threads: Some(32 * WARPS), ..Bounds::default() });
        b.section("setup");
        let block = b.special(Special::Ctaid);
        let thread = b.special(Special::Tid);
        let warp = b.shr(thread, 5);
        let number = b.mad_lo(block, WARPS, warp);
        let outside = b.compare(Cmp::Ge, number, lanes);
        b.return_if(outside);
        let member = b.special(Special::Lane);
        let rows = self.rows().into_iter().zip(addresses);
        let rows: Vec<R64> = rows.map(|(row, address)| row.row(&mut b, address, number)).collect();
        let [addend @ .., low, row] = &rows[..] else { unreachable!("two rows at least") };
        let (addend, low, row) = (addend.first().copied(), *low, *row);
        let top = self.is_whole().then(|| {
            let top = b.load_global(Space::Global, Vector::V1, row, 4 * self.modulus)[0];
            // It is read before it is overwritten.
            b.warp_barrier();
            top
        });
        let lane = Lane { row, member };
        let carry = self.difference(&mut b, &lane, low, addend, top);
        b.section("carry");
        let carries = b.compare(Cmp::Ne, carry, 0);
        b.if_(carries, |b| {
            // The complement of a row takes a carry of −1 as one of 1.
            let mask = b.shr_signed(carry, 31);
            let sign = b.or(mask, 1);
            b.do_while(|b| {
                let leaving = b.copy(1);
                lane.add(b, [self.above, self.modulus.min(self.result.limbs)], mask, leaving);
                if self.is_whole() {
                    let leaves = b.compare(Cmp::Ne, leaving, 0);
                    b.if_(leaves, |b| lane.add(b, [self.modulus, self.result.limbs], mask, leaving));
                }
                let rest = b.sub(carry, sign);
                b.set(carry, rest);
                b.compare(Cmp::Ne, carry, 0)
            });
        });
        b.finish()
    }

    /// Writes the lower limbs of the product and, if it is whole, `H` and limb `n` of `S` above limb `n`. Returns the carry into the limbs after the lower ones.
    fn difference(&self, b: &mut Builder, lane: &Lane, low: R64, addend: Option<R64>, top: Option<R32>) -> R32 {
        b.section("difference");
        let [borrow, carry, highest] = [(); 3].map(|()| b.copy(0));
        // The row, its lower limbs, and the carry of the sum.
        let addend = addend.zip(self.addend).map(|(row, it)| (row, it.limbs.min(self.above), b.copy(0)));
        let sign = top.map(|top| b.shr_signed(top, 31));
        let count = LIMBS.min(self.above.div_ceil(32));
        lane.turns(b, count, [0, self.above], |b, first, inside| {
            let own = b.add(first, lane.member);
            let [low, row] = [low, lane.row].map(|row| b.mad_wide(own, 4, row));
            let [known, wrapped] = [low, row].map(|row| load(b, row, inside));
            let added = addend.map(|(row, limbs, _)| {
                let row = b.mad_wide(own, 4, row);
                let inside = inside_of(b, own, count, limbs);
                load(b, row, &inside)
            });
            // Without a barrier `ptxas` moves each load to its first use, and they wait one after the other.
            b.warp_barrier();
            let known = match addend.zip(added) {
                None => known,
                Some(((.., carry), added)) => add(b, [&known, &added], carry, inside),
            };
            for ((&known, &limb), (&inside, i)) in known.iter().zip(&wrapped).zip(inside.iter().zip(0..)) {
                let generates = b.compare(Cmp::Lt, known, limb);
                let passes = b.compare(Cmp::Eq, known, limb);
                let enters = through(b, generates, passes, borrow);
                let difference = b.sub(known, limb);
                let difference = b.sub(difference, enters);
                b.guarded(inside, true, |g| g.store_global(Space::Global, &[known], row, 128 * i));
                let number = b.add(own, 32 * i);
                let mark_highest = |b: &mut Builder, limb: R32| {
                    if self.needs_sign() {
                        let is_highest = b.compare(Cmp::Eq, number, self.above - 1);
                        b.guarded(is_highest, true, |g| g.set(highest, limb));
                    }
                };
                let Some((top, sign)) = top.zip(sign) else {
                    mark_highest(b, difference);
                    continue;
                };
                // `H` and limb `n` of `S`, a number with a sign. A limb outside passes the carry on.
                let is_lowest = b.compare(Cmp::Eq, number, 0);
                let added = b.select(top, sign, is_lowest);
                let sum = b.add(difference, added);
                let sum = b.select(sum, u32::MAX, inside);
                let generates = b.compare(Cmp::Lt, sum, added);
                let passes = b.compare(Cmp::Eq, sum, u32::MAX);
                let enters = through(b, generates, passes, carry);
                let sum = b.add(sum, enters);
                mark_highest(b, sum);
                let stays = b.compare(Cmp::Lt, number, self.result.limbs - self.modulus);
                b.guarded(stays, true, |g| {
                    g.store_global(Space::Global, &[sum], row, 4 * (self.modulus + 32 * i));
                });
            }
            None
        });
        let borrow = match sign {
            Some(sign) => {
                let multiple = b.add(carry, sign);
                b.sub(borrow, multiple)
            }
            None => borrow,
        };
        if !self.needs_sign() {
            return borrow;
        }
        let is_negative = b.compare_signed(Cmp::Lt, highest, 0);
        let is_negative = b.ballot(is_negative);
        let is_negative = b.compare(Cmp::Ne, is_negative, 0);
        let less = b.sub(borrow, 1);
        b.select(less, borrow, is_negative)
    }
}

/// The carry into this lane's limb of 32. `carry`, the carry into the lowest lane, becomes that out of the highest one.
fn through(b: &mut Builder, generates: Pred, passes: Pred, carry: R32) -> R32 {
    let carries = Carries::look_ahead(b, generates, passes, 32).entered(b, carry);
    let leaves = carries.leaving(b);
    b.set(carry, leaves);
    carries.into_lane(b)
}

impl Lane {
    /// Turns of the warp over the limbs from `from` to `end`, `count` of them a thread. `turn`: from a turn's first limb, without that of the thread, and where the thread's limbs
    /// are inside; it tells whether there is more to do.
    fn turns(
        &self,
        b: &mut Builder,
        count: u32,
        [from, end]: [u32; 2],
        turn: impl FnOnce(&mut Builder, R32, &[Pred]) -> Option<Pred>,
    ) {
        let first = b.copy(from);
        b.do_while(|b| {
            let own = b.add(first, self.member);
            let inside = inside_of(b, own, count, end);
            let goes_on = turn(b, first, &inside);
            b.increase(first, 32 * count);
            let more = b.compare(Cmp::Lt, first, end);
            goes_on.map_or(more, |goes_on| b.and_pred(more, goes_on))
        });
    }

    /// Adds a carry to the limbs from `from` to `end`, or subtracts it where the mask is all ones. `carry` becomes the one that leaves them.
    fn add(&self, b: &mut Builder, limbs: [u32; 2], mask: R32, carry: R32) {
        self.turns(b, LIMBS_OF_CARRY, limbs, |b, first, inside| {
            let own = b.add(first, self.member);
            let row = b.mad_wide(own, 4, self.row);
            let limbs = load(b, row, inside);
            for ((&limb, &inside), i) in limbs.iter().zip(inside).zip(0..) {
                // A limb outside passes the carry on.
                let limb = b.xor(limb, mask);
                let limb = b.select(limb, u32::MAX, inside);
                let limb = add_carry_to_row(b, limb, carry, self.member);
                let limb = b.xor(limb, mask);
                b.guarded(inside, true, |g| g.store_global(Space::Global, &[limb], row, 128 * i));
            }
            Some(b.compare(Cmp::Ne, carry, 0))
        });
    }
}

/// Where the limbs of a thread, from `own` on and 32 apart, are below `end`.
fn inside_of(b: &mut Builder, own: R32, count: u32, end: u32) -> Vec<Pred> {
    let inside = |i| {
        let limb = b.add(own, 32 * i);
        b.compare(Cmp::Lt, limb, end)
    };
    (0..count).map(inside).collect()
}

/// The sums of limbs of two rows, 0 where they are outside. `carry` enters, and becomes the carry that leaves them where all are inside.
fn add(b: &mut Builder, [first, second]: [&[R32]; 2], carry: R32, inside: &[Pred]) -> Vec<R32> {
    let sum = |((&first, &second), &inside): ((&R32, &R32), &Pred)| {
        let sum = b.add(first, second);
        let generates = b.compare(Cmp::Lt, sum, second);
        let passes = b.compare(Cmp::Eq, sum, u32::MAX);
        let enters = through(b, generates, passes, carry);
        let sum = b.add(sum, enters);
        b.select(sum, 0, inside)
    };
    first.iter().zip(second).zip(inside).map(sum).collect()
}

/// The limbs of a thread, 0 where they are outside.
fn load(b: &mut Builder, row: R64, inside: &[Pred]) -> Vec<R32> {
    let load = |(&inside, i): (&Pred, u32)| {
        let limb = b.copy(0);
        b.guarded(inside, true, |g| g.load_into(Space::Global, Vector::V1, &[limb], row, 128 * i));
        limb
    };
    inside.iter().zip(0..).map(load).collect()
}

impl Spec for Unwrap {
    fn name(&self) -> String {
        let Self { low, result, modulus, above, addend, .. } = self;
        let sign = if self.needs_sign() { "_signed" } else { "" };
        let added = addend.map_or_else(String::new, |it| format!("_plus_{}", it.row_limbs));
        format!("unwrap_{}_{}_{modulus}_{above}{sign}{added}", low.row_limbs, result.row_limbs)
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        vec![Stage::new(Geometry::of_groups(WARPS, 32), |entry| self.kernel(entry))]
    }
}

#[cfg(test)]
mod tests {
    use num_bigint::{BigInt, Sign};
    use warpmp_kernel::sim::{Memory, Program};
    use warpmp_launch::Binding;

    use super::*;

    /// `Bᵏ`.
    fn power(k: u32) -> BigInt {
        BigInt::from(1) << (32 * k)
    }

    /// The lowest limbs of a number, as a two's complement.
    fn limbs(number: &BigInt, count: u32) -> Vec<u32> {
        let (sign, mut limbs) = ((number % power(count) + power(count)) % power(count)).to_u32_digits();
        assert_ne!(sign, Sign::Minus);
        limbs.resize(count as usize, 0);
        limbs
    }

    /// The kernel for products modulo `Bⁿ + 1` with `h` limbs above `n`, with these limbs of the lower ones and of the result.
    fn unwrap([n, h]: [u32; 2], [low, result]: [u32; 2], is_signed: bool) -> Unwrap {
        Unwrap {
            low: Number::row_of(Binding::Parameter(0), low, false),
            result: Number::row_of(Binding::Parameter(1), result, false),
            modulus: n,
            above: h,
            is_signed,
            of_complements: false,
            addend: None,
        }
    }

    /// Runs the kernel over the rows of all lanes, one after the other, and compares the results. The rows are those that it reads, then the results.
    fn check(unwrap: &Unwrap, rows: &[&[u32]], expected: &[u32]) {
        let width = unwrap.result.limbs as usize;
        let lanes = expected.len() / width;
        let mut memory = Memory::new(1 << 24);
        let mut args: Vec<u64> = rows
            .iter()
            .map(|words| {
                let address = memory.alloc(4 * words.len() as u64).unwrap();
                memory.write(address, words).unwrap();
                address
            })
            .collect();
        let result = args[args.len() - 1];
        args.push(lanes as u64);
        let program = Program::parse(&unwrap.build(0).to_string()).unwrap();
        program.launch(unwrap.grid(0, lanes as u32), &args, &mut memory).unwrap();
        let mut words = vec![0; expected.len()];
        memory.read(result, &mut words).unwrap();
        for (lane, (found, expected)) in words.chunks(width).zip(expected.chunks(width)).enumerate() {
            assert_eq!(found, expected, "{unwrap:?}, lane {lane}");
        }
    }

    /// Numbers of so many limbs, whose carries run far or not at all.
    fn numbers(count: u32) -> Vec<BigInt> {
        let all = power(count);
        let small = |k: u32| BigInt::from(k);
        let mixed = (0..count).fold(small(0), |x, i| (x << 32) + small(0x9E37_79B9_u32.wrapping_mul(i + 1)));
        vec![small(0), small(7), small(1 << 30), &all - 1, &all - 8, &all - small(1 << 30), &all >> 1, mixed]
    }

    /// Every `S` that a transform may have: coefficients that come back make a number that may be negative or too long, and what is above the others
    /// has either sign.
    #[test]
    fn what_comes_back_has_any_sign() {
        for (n, h) in [(3, 1), (5, 3), (40, 33), (130, 64), (300, 257)] {
            let (row, low_limbs) = (n + h, h + 2);
            let unwrap = unwrap([n, h], [low_limbs, row], true);
            let (mut lows, mut rows, mut expected) = (Vec::new(), Vec::new(), Vec::new());
            for lower in numbers(n) {
                for upper in numbers(h) {
                    for t in [0, 1, -1, 3, -3, 1 << 28, -(1 << 28)] {
                        // Factors with coefficients that come back have a greater product.
                        if upper == BigInt::from(0) && t < 0 && lower < BigInt::from(1 << 29) {
                            continue;
                        }
                        let s = &lower + power(n) * t - (&upper - t);
                        lows.extend(limbs(&lower, h));
                        lows.extend([0xDEAD_BEEF; 2]);
                        rows.extend(limbs(&s, n + 1));
                        rows.extend(vec![0xDEAD_BEEF_u32; h as usize - 1]);
                        expected.extend(limbs(&(&lower + power(n) * &upper), row));
                    }
                }
            }
            check(&unwrap, &[&lows, &rows], &expected);
        }
    }

    /// A product of two's complements is at most a quarter of `Bⁿ⁺ʰ` in magnitude.
    #[test]
    fn complements() {
        for (n, h) in [(3, 1), (5, 3), (40, 33), (130, 64), (300, 257)] {
            let unwrap = Unwrap { of_complements: true, ..unwrap([n, h], [h, n + h], true) };
            let (mut lows, mut rows, mut expected) = (Vec::new(), Vec::new(), Vec::new());
            for lower in numbers(n) {
                for upper in numbers(h).into_iter().map(|it| (it - (power(h) >> 1_u32)) >> 1_u32) {
                    for t in [0, 1, -1, 3, -3, 1 << 28, -(1 << 28)] {
                        let product = &lower + power(n) * &upper;
                        let s = &lower + power(n) * t - (&upper - t);
                        lows.extend(limbs(&product, h));
                        rows.extend(limbs(&s, n + 1));
                        rows.extend(vec![0xDEAD_BEEF_u32; h as usize - 1]);
                        expected.extend(limbs(&product, n + h));
                    }
                }
            }
            check(&unwrap, &[&lows, &rows], &expected);
        }
    }

    /// The addend is in the product modulo `Bⁿ + 1`, but not in the lower limbs. It is shorter than those, or longer.
    #[test]
    fn an_addend() {
        for (n, h, count) in [(3, 1, 3), (40, 33, 32), (130, 64, 130), (300, 257, 5), (300, 257, 280)] {
            let addend = Number::row_of(Binding::Parameter(0), count, false);
            let unwrap = Unwrap { addend: Some(addend), ..unwrap([n, h], [h, n + h], false) };
            let [mut addends, mut lows, mut rows, mut expected] = [(); 4].map(|()| Vec::new());
            for (lower, added) in numbers(n).into_iter().zip(numbers(count).into_iter().rev()) {
                for upper in numbers(h) {
                    for t in [0, 1, -1, 3, -3] {
                        if upper == BigInt::from(0) && t < 0 && lower < BigInt::from(1 << 29) {
                            continue;
                        }
                        let sum = &lower + power(n) * &upper;
                        addends.extend(limbs(&added, count));
                        lows.extend(limbs(&(&sum - &added), h));
                        rows.extend(limbs(&(&lower + power(n) * t - (&upper - t)), n + 1));
                        rows.extend(vec![0xDEAD_BEEF_u32; h as usize - 1]);
                        expected.extend(limbs(&sum, n + h));
                    }
                }
            }
            check(&unwrap, &[&addends, &lows, &rows], &expected);
        }
    }

    /// Of a low half the limbs above the lower ones get a carry alone, with either sign if one more limb tells it.
    #[test]
    fn a_low_half() {
        for (n, h, row) in [(5, 2, 4), (40, 33, 39), (130, 64, 100), (300, 140, 300)] {
            for is_signed in [false, true] {
                let above = h + u32::from(is_signed);
                let unwrap = unwrap([n, above], [above, row], is_signed);
                let (mut lows, mut rows, mut expected) = (Vec::new(), Vec::new(), Vec::new());
                for lower in numbers(row) {
                    for upper in numbers(h) {
                        let changes: &[i32] = if is_signed { &[0, 1, -1, 1 << 28, -(1 << 28)] } else { &[0] };
                        for &t in changes {
                            lows.extend(limbs(&lower, above));
                            rows.extend(limbs(&(&lower - (&upper - t)), row));
                            expected.extend(limbs(&lower, row));
                        }
                    }
                }
                check(&unwrap, &[&lows, &rows], &expected);
            }
        }
    }
}
