//! From halves in planes to limbs, and to global memory.
//!
//! **Groups** are neighbouring limbs, a piece in each lane. A group has pieces of four limbs; the last one has pieces of two or one, if those hold what is left.
//!
//! **Shifts.** A row may begin between two places of four words in global memory. Then the warp puts the halves of the product that many words further in their planes. So the pieces of
//! lanes are whole places in memory, but for those at the ends of the row, which belong to two products: of them a lane stores what is its own, a word or two at a time.

use std::ops::Range;

use warpmp_kernel::build::{Builder, Emit, R32, R64, V32};
use warpmp_kernel::ir::{Cmp, Space, Vote};
use warpmp_launch::{piece, vector};

use super::{BLOCK_LIMBS, Carry, PAIR_LIMBS, Quads, sum};
use crate::kernels::tensor::layout::PIECE_LIMBS;
use crate::kernels::tensor::part::{Addends, Pieces};
use crate::kernels::tensor::result::{digit_of_halves, resolve_pieces, store_pieces};
use crate::kernels::tensor::warps::Place;

/// Bytes of the places in global memory that pieces of four limbs fill.
const PLACE_BYTES: u32 = 4 * PIECE_LIMBS;

/// Neighbouring limbs, `width` in each lane; with a shift, the places of limbs in planes.
#[derive(Clone, Copy)]
struct Group {
    first: u32,
    width: u32,
}

/// Where the limbs of a product go.
#[derive(Clone, Copy)]
pub(super) struct Row {
    /// The address of its limb 0.
    address: R64,
    /// Bytes from the place in memory that has limb 0 to this limb. None: rows begin at places.
    pub(super) shift: Option<R32>,
}

/// An address that groups of pieces of the same width have in common: groups with the same width are neighbours.
struct OfWidth<R>(Option<(u32, R)>);

impl<R: Copy> OfWidth<R> {
    /// The address for this width, made if the group before has another one.
    fn get(&mut self, width: u32, make: impl FnOnce() -> R) -> R {
        match self.0 {
            Some((known, address)) if known == width => address,
            _ => self.0.insert((width, make())).1,
        }
    }
}

impl Group {
    /// Limbs that it has room for.
    const fn limbs(self) -> u32 {
        32 * self.width
    }

    /// The pieces of its lanes.
    fn pieces(self, place: &Place) -> Pieces {
        let Self { first, width } = self;
        Pieces { thread: place.lane, threads: 32, stride: 1, first: first / width, width }
    }
}

impl Row {
    /// The row at this address.
    pub(super) fn new(b: &mut Builder, quads: Quads, address: R64) -> Self {
        let shift = quads.are_shifted().then(|| {
            let (low, _) = b.unpack(address);
            b.and(low, PLACE_BYTES - 1)
        });
        Self { address, shift }
    }

    /// The address of the lane's piece of a group that begins at place 0, with pieces of `width` limbs.
    fn pieces(self, b: &mut Builder, place: &Place, width: u32) -> R64 {
        let mut row = self.address;
        if self.shift.is_some() {
            let (low, high) = b.unpack(row);
            let low = b.and(low, PLACE_BYTES.wrapping_neg());
            row = b.pack(low, high);
        }
        b.mad_wide(place.lane, 4 * width, row)
    }
}

impl Quads {
    /// Can halves be shifted? Rows of pieces of four limbs begin where such pieces begin.
    fn are_shifted(self) -> bool {
        self.shifted_limbs() > 0
    }

    /// Limbs by which halves are shifted at most.
    pub(super) fn shifted_limbs(self) -> u32 {
        PIECE_LIMBS - piece(self.limbs[2])
    }

    /// Words beyond the last window that pieces of shifted limbs may have.
    pub(super) fn beyond_windows(self) -> u32 {
        if self.are_shifted() { PIECE_LIMBS } else { 0 }
    }

    /// The groups of the result.
    fn groups(self) -> Vec<Group> {
        let places = self.limbs[2] + self.shifted_limbs();
        let mut groups: Vec<Group> = vec![];
        let mut first = 0;
        while first < places {
            let width = (places - first).div_ceil(32).next_power_of_two().min(PIECE_LIMBS);
            groups.push(Group { first, width });
            first += 32 * width;
        }
        groups
    }

    /// Lanes whose piece of a group may have limbs of the result.
    fn lanes(self, group: Group) -> u32 {
        (self.limbs[2] + self.shifted_limbs() - group.first).div_ceil(group.width).min(32)
    }

    /// Where a group begins in a plane.
    fn group_in_plane(self, group: Group, plane: u32) -> u32 {
        self.first_half() + 4 * group.first + plane * self.plane_bytes() - 4 * limbs_further(plane)
    }

    /// The limbs of this lane's piece of each group.
    pub(super) fn resolve(
        self,
        b: &mut Builder,
        place: &Place,
        (carries, shift): (&[Carry], Option<R32>),
        addends: &Addends,
    ) -> Vec<Vec<R32>> {
        let groups = self.groups();
        let own = own_pieces(b, place, &groups);
        let digits = groups.iter().zip(&own).map(|(&group, &own)| {
            let planes = (0..self.plane_count()).map(|plane| {
                let from = (own, self.group_in_plane(group, plane));
                load_in_lanes(b, place, 0..self.lanes(group), from, group.width)
            });
            let planes: Vec<Vec<R32>> = planes.collect();
            let digits = (0..group.width as usize).flat_map(|i| {
                let [low, high] = [0, 1].map(|plane| planes[plane][i]);
                if !self.are_exchanged() {
                    digit_of_pairs(b, [low, planes[2][i]], [high, planes[3][i]])
                } else if self.carrying().is_empty() {
                    digit_of_halves(b, [low, high], place.bytes)
                } else {
                    digit_of_words(b, [low, high], None)
                }
            });
            digits.collect()
        });
        let mut digits: Vec<Vec<R32>> = digits.collect();
        self.add_carries(b, place, (carries, shift), &groups, &digits);
        let pieces = groups.iter().map(|group| group.pieces(place));
        addends.add(b, pieces.zip(digits.iter_mut().map(Vec::as_mut_slice)));
        resolve_pieces(b, place, &digits)
    }

    /// Adds the carries of halves to the digits of this lane's pieces, if any lane has a carry.
    fn add_carries(
        self,
        b: &mut Builder,
        place: &Place,
        (carries, shift): (&[Carry], Option<R32>),
        groups: &[Group],
        digits: &[Vec<R32>],
    ) {
        let Some(any) = carries.iter().map(|it| it.carry).reduce(|any, carry| b.or(any, carry)) else {
            return;
        };
        let any = b.compare(Cmp::Ne, any, 0);
        let any = b.vote(Vote::Any, any);
        b.if_(any, |b| {
            // The halves have been read.
            b.warp_barrier();
            // A carry of a lower half is 1, one of an upper half 2¹⁶ in the high word of a digit.
            let half = b.and(place.member, 1);
            let places = b.shl(half, 4);
            let own = self.own_halves(b, place);
            let own = shift.map_or(own, |shift| b.add(own, shift));
            for &Carry { carry, at } in carries {
                let carry = b.shl(carry, places);
                b.store_shared(&[carry], own, self.first_half() + at);
            }
            for at in self.beside_carries() {
                let zero = b.copy(0);
                b.store_shared(&[zero], own, self.first_half() + at);
            }
            b.warp_barrier();
            let own = own_pieces(b, place, groups);
            for ((&group, &own), digits) in groups.iter().zip(&own).zip(digits) {
                for plane in 0..self.plane_count() {
                    let lanes = self.carrying_lanes(group, plane);
                    if lanes.is_empty() {
                        continue;
                    }
                    let words = load_in_lanes(b, place, lanes, (own, self.group_in_plane(group, plane)), group.width);
                    for (word, digit) in words.into_iter().zip(digits.chunks(2)) {
                        b.increase(digit[1], word);
                    }
                }
            }
        });
    }

    /// Halves without carries, before and after those with carries: a shifted piece may have both. Where the lane's are, counted from its first one.
    fn beside_carries(self) -> Vec<u32> {
        if !self.are_shifted() {
            return vec![];
        }
        let Range { start, end } = self.carrying();
        let windows = start.checked_sub(1).into_iter().chain((end < self.windows()).then_some(end));
        windows.flat_map(|window| self.halves_of_window(window)).collect()
    }

    /// The lanes whose piece of a group may be in windows of a plane that carry.
    fn carrying_lanes(self, group: Group, plane: u32) -> Range<u32> {
        let Range { start, end } = self.carrying();
        let [start, end] = [start, end].map(|window| PAIR_LIMBS * window + limbs_further(plane));
        let start = start.saturating_sub(group.first) / group.width;
        let end = (end + self.shifted_limbs()).saturating_sub(group.first).div_ceil(group.width);
        start..end.min(self.lanes(group))
    }

    /// Stores the limbs of this lane's pieces, of which `kept` are kept.
    pub(super) fn store(self, b: &mut Builder, place: &Place, (row, pieces): (Row, &[Vec<R32>]), kept: &Range<u32>) {
        let groups = self.groups();
        let mut to = OfWidth(None);
        for (&group, limbs) in groups.iter().zip(pieces) {
            let to = to.get(group.width, || row.pieces(b, place, group.width));
            match row.shift {
                None => store_pieces(b, place, (to, kept), group.first / group.width, limbs),
                Some(shift) => self.store_shifted(b, place, (group, shift), limbs, to),
            }
        }
    }

    /// Stores the shifted limbs of a group: whole pieces at once, the others a word or two at a time.
    fn store_shifted(self, b: &mut Builder, place: &Place, (group, shift): (Group, R32), limbs: &[R32], to: R64) {
        let Group { first, width } = group;
        let all = self.limbs[2];
        let [begins, ends] = [first == 0, first + group.limbs() > all];
        if !begins && !ends {
            b.store_global(Space::Global, limbs, to, 4 * first);
            return;
        }
        // Bytes from limb 0 to the piece. Before limb 0 the number wraps around.
        let from = b.mad_lo(place.lane, 4 * width, 4 * first);
        let from = b.sub(from, shift);
        let is_part = b.compare(Cmp::Ge, from, 4 * (all - width) + 1);
        b.guarded(is_part, false, |g| g.store_global(Space::Global, limbs, to, 4 * first));
        let unit = piece(all).min(width);
        if width == unit {
            return;
        }
        let store = |b: &mut Builder, word: u32, is_own| {
            let words = &limbs[word as usize..][..unit as usize];
            b.guarded(is_own, true, |g| g.store_global(Space::Global, words, to, 4 * (first + word)));
        };
        if !ends && width == 2 * unit {
            // The only part is that at the beginning. Its first half is before limb 0.
            store(b, unit, is_part);
            return;
        }
        b.if_(is_part, |b| {
            // The first words of the part at the beginning are before limb 0.
            for word in (if ends { 0 } else { unit }..width).step_by(unit as usize) {
                let from = b.add(from, 4 * word);
                let is_own = b.compare(Cmp::Lt, from, 4 * all);
                store(b, word, is_own);
            }
        });
    }
}

/// How many limbs further the halves of a plane are: those of the upper block eight.
const fn limbs_further(plane: u32) -> u32 {
    if plane < 2 { 0 } else { BLOCK_LIMBS }
}

/// Where the lane's piece of each group is, counted from the group.
fn own_pieces(b: &mut Builder, place: &Place, groups: &[Group]) -> Vec<R32> {
    let mut own = OfWidth(None);
    let of_group = |group: &Group| {
        let width = group.width;
        own.get(width, || b.mad_lo(place.lane, 4 * width, place.shared))
    };
    groups.iter().map(of_group).collect()
}

/// A piece of shared memory, `width` words, in each of these lanes, zeros in the others.
fn load_in_lanes(b: &mut Builder, place: &Place, lanes: Range<u32>, (from, at): (R32, u32), width: u32) -> Vec<R32> {
    if lanes == (0..32) {
        return b.load_shared(vector(width), from, at);
    }
    let words: Vec<R32> = (0..width).map(|_| b.copy(0)).collect();
    // Before the first lane the number wraps around.
    let number = if lanes.start > 0 { b.sub(place.lane, lanes.start) } else { place.lane };
    let inside = b.compare(Cmp::Lt, number, lanes.end - lanes.start);
    b.guarded(inside, true, |g| g.load_into(Space::Shared, vector(width), &words, from, at));
    words
}

/// The digit of two lower and two upper halves of a limb.
fn digit_of_pairs(b: &mut Builder, low: [R32; 2], high: [R32; 2]) -> [R32; 2] {
    let [(low, carry), (high, over)] = [low, high].map(|[x, y]| sum(b, x, y, true));
    digit_of_words(b, [low, high], carry.zip(over))
}

/// The digit of a lower and an upper half of a limb; `beyond` are their carries.
fn digit_of_words(b: &mut Builder, [low, high]: [R32; 2], beyond: Option<(R32, R32)>) -> [R32; 2] {
    let up = b.shl(high, 16);
    let (carry, rest) = match beyond {
        Some((carry, over)) => (V32::from(carry), b.prmt(high, over, 0x5432)),
        None => (V32::from(0), b.shr(high, 16)),
    };
    let top = b.register();
    let mut chain = b.chain();
    let word = chain.add(low, up);
    chain.end_add(top, rest, carry);
    [word, top]
}
