//! The operations in which the lanes of a warp meet: shuffles, votes, the warp's barrier, the matrix
//! product.

use super::WARP;
use super::execution::Execution;
use super::fault::{Cause, FaultKind};
use super::order::lanes;
use crate::ir::{Shuffle, Vote};

impl Execution<'_, '_> {
    /// Checks the member masks of an instruction executed by the lanes of `mask`: each lane names itself,
    /// and every lane it names takes part with the same mask, or has ended.
    fn check_members(&self, members: &[u32; WARP]) -> Result<(), Cause> {
        let mask = self.mask;
        // Most often the whole warp takes part.
        if mask == u32::MAX && members.iter().all(|&own| own == u32::MAX) {
            return Ok(());
        }
        for lane in lanes(mask) {
            let own = members[lane];
            if own >> lane & 1 == 0 {
                return Err(Cause::at(lane, FaultKind::NotAMember { mask: own }));
            }
            if own & self.warp.live & !mask != 0 {
                return Err(Cause::at(lane, FaultKind::InactiveMember { mask: own, active: mask }));
            }
            // All lanes agreeing is the rule; then this is the only lane that needs looking at.
            let differing = lanes(own & mask).find(|&other| members[other] != own);
            if let Some(other) = differing {
                return Err(Cause::at(lane, FaultKind::MaskMismatch { mask: own, other: members[other] }));
            }
            if own & mask == mask {
                break;
            }
        }
        Ok(())
    }

    /// `bar.warp.sync`.
    pub(super) fn warp_barrier(&mut self) -> Result<(), Cause> {
        let members = *self.source::<u32>(0);
        self.check_members(&members)?;
        let mask = self.mask;
        let mut rest = mask;
        while rest != 0 {
            let group = members[rest.trailing_zeros() as usize] & mask;
            self.warp.order.synchronise(group, self.warp.live);
            rest &= !group;
        }
        Ok(())
    }

    /// `shfl.sync`. A lane that reads from one that takes no part gets an undefined value.
    pub(super) fn shuffle(&mut self, mode: Shuffle) -> Result<(), Cause> {
        let members = *self.source::<u32>(3);
        self.check_members(&members)?;
        let (a, b, c) = (self.source::<u32>(0), self.source::<u32>(1), self.source::<u32>(2));
        let from: [u32; WARP] = match mode {
            Shuffle::Up => std::array::from_fn(|lane| source(Shuffle::Up, lane, b, c)),
            Shuffle::Down => std::array::from_fn(|lane| source(Shuffle::Down, lane, b, c)),
            Shuffle::Bfly => std::array::from_fn(|lane| source(Shuffle::Bfly, lane, b, c)),
            Shuffle::Idx => std::array::from_fn(|lane| source(Shuffle::Idx, lane, b, c)),
        };
        let result = from.map(|lane| a[lane as usize % WARP]);
        let (mask, mut undefined) = (self.mask, 0);
        if mask != u32::MAX || members != [u32::MAX; WARP] {
            for lane in lanes(mask) {
                undefined |= u32::from(members[lane] & mask & 1 << from[lane] == 0) << lane;
            }
        }
        self.set(&result);
        self.warp.registers.poison(self.step.dst[0], undefined);
        Ok(())
    }

    /// `vote.sync`.
    pub(super) fn vote(&mut self, vote: Vote) -> Result<(), Cause> {
        let members = *self.source::<u32>(1);
        self.check_members(&members)?;
        let votes = self.condition(0);
        let (mask, mut result) = (self.mask, 0);
        for lane in lanes(mask) {
            let group = members[lane] & mask;
            let verdict = match vote {
                Vote::All => votes & group == group,
                Vote::Any => votes & group != 0,
            };
            result |= u32::from(verdict) << lane;
        }
        self.set_pred(result);
        Ok(())
    }

    /// `vote.sync.ballot`.
    pub(super) fn ballot(&mut self) -> Result<(), Cause> {
        let members = *self.source::<u32>(1);
        self.check_members(&members)?;
        let votes = self.condition(0);
        self.set(&members.map(|group| votes & group & self.mask));
        Ok(())
    }

    /// `redux.sync.add`.
    pub(super) fn sum_of_lanes(&mut self) -> Result<(), Cause> {
        let members = *self.source::<u32>(1);
        self.check_members(&members)?;
        let a = self.source::<u32>(0);
        let mask = self.mask;
        let sum = |group: u32| lanes(group & mask).fold(0, |sum: u32, lane| sum.wrapping_add(a[lane]));
        let sums = members.map(sum);
        self.set(&sums);
        Ok(())
    }

    /// `mma.sync.m16n8k32` of unsigned bytes. Lane `4g + t` holds, of `A` the columns `4t…4t+3` and
    /// `16+4t…16+4t+3` of rows `g` and `g+8`, of `B` the same rows of column `g`, of `C` and `D` the columns
    /// `2t` and `2t+1` of rows `g` and `g+8`.
    pub(super) fn matrix_product(&mut self) -> Result<(), Cause> {
        if self.mask != u32::MAX {
            return Err(FaultKind::Divergent { active: self.mask, expected: u32::MAX }.into());
        }
        let r = &self.warp.registers;
        let (mut a, mut b) = ([[0_u8; 32]; 16], [[0_u8; 32]; 8]);
        for lane in 0..WARP {
            let (g, t) = (lane / 4, lane % 4);
            for (register, &slot) in self.step.src[..4].iter().enumerate() {
                let (row, column) = (g + 8 * (register % 2), 4 * t + 16 * (register / 2));
                a[row][column..column + 4].copy_from_slice(&r.get::<u32>(slot)[lane].to_le_bytes());
            }
            for (register, &slot) in self.step.src[4..6].iter().enumerate() {
                let row = 4 * t + 16 * register;
                b[g][row..row + 4].copy_from_slice(&r.get::<u32>(slot)[lane].to_le_bytes());
            }
        }
        let mut d = [[0; WARP]; 4];
        for lane in 0..WARP {
            let (g, t) = (lane / 4, lane % 4);
            for (register, sums) in d.iter_mut().enumerate() {
                let (row, column) = (g + 8 * (register / 2), 2 * t + register % 2);
                let products = a[row].iter().zip(&b[column]).map(|(&x, &y)| u32::from(x) * u32::from(y));
                sums[lane] = r.get::<u32>(self.step.src[6 + register])[lane].wrapping_add(products.sum());
            }
        }
        for (&slot, sums) in self.step.dst.iter().zip(&d) {
            self.warp.registers.set(slot, self.mask, sums);
        }
        Ok(())
    }
}

/// The lane from which a lane reads: within its segment, and within the clamp; else itself.
#[inline]
fn source(mode: Shuffle, lane: usize, b: &[u32; WARP], c: &[u32; WARP]) -> u32 {
    let (lane, b, c) = (lane as u32, b[lane], c[lane]);
    let (distance, clamp, segment) = (b & 31, c & 31, c >> 8 & 31);
    let lowest = lane & segment;
    let limit = lowest | clamp & !segment;
    let (from, inside) = match mode {
        Shuffle::Up => {
            let from = lane.wrapping_sub(distance);
            (from, from.cast_signed() >= limit.cast_signed())
        }
        Shuffle::Down => (lane + distance, lane + distance <= limit),
        Shuffle::Bfly => (lane ^ distance, lane ^ distance <= limit),
        Shuffle::Idx => {
            let from = lowest | distance & !segment;
            (from, from <= limit)
        }
    };
    if inside { from } else { lane }
}
