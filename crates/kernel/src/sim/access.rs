//! Loads, stores, atomic operations and asynchronous copies.

use super::WARP;
use super::banks::{self, Passes, Sectors};
use super::convert::SHARED_BASE;
use super::counters::Traffic;
use super::execution::Execution;
use super::fault::{Cause, FaultKind};
use super::memory::{Path, Place};
use super::order::lanes;
use super::shared::Accessor;
use crate::ir::{Elem, Space, Vector, Width};

impl Traffic {
    fn passes(Passes { taken, minimum }: Passes) -> Self {
        Self { wavefronts: taken, minimum_wavefronts: minimum, ..Self::default() }
    }

    fn loads(Sectors { taken, minimum }: Sectors) -> Self {
        Self { load_sectors: taken, minimum_load_sectors: minimum, ..Self::default() }
    }

    fn stores(Sectors { taken, minimum }: Sectors) -> Self {
        Self { store_sectors: taken, minimum_store_sectors: minimum, ..Self::default() }
    }
}

impl Execution<'_, '_> {
    /// `ld`.
    pub(super) fn load(&mut self, space: Space, vector: Vector, elem: Elem) -> Result<(), Cause> {
        match (space, elem.bytes() * vector.len() as u32) {
            (Space::Shared, 4) => self.load_shared::<1>(elem),
            (Space::Shared, 8) => self.load_shared::<2>(elem),
            (Space::Shared, _) => self.load_shared::<4>(elem),
            (_, 4) => self.load_global::<1>(space, elem),
            (_, 8) => self.load_global::<2>(space, elem),
            (_, _) => self.load_global::<4>(space, elem),
        }
    }

    fn load_shared<const N: usize>(&mut self, elem: Elem) -> Result<(), Cause> {
        let first = self.shared_words(0, N)?;
        let mut loaded = [[0; WARP]; N];
        for lane in lanes(self.mask) {
            for (index, words) in (first[lane] as usize..).zip(&mut loaded) {
                let by = Accessor { warp: self.warp.index, lane, order: &self.warp.order };
                words[lane] = self.cx.shared.read(index, by).map_err(|kind| Cause::at(lane, kind))?;
            }
        }
        self.put(elem, &loaded);
        self.note(Traffic::passes(banks::passes(&first, self.mask, N as u32)));
        Ok(())
    }

    fn load_global<const N: usize>(&mut self, space: Space, elem: Elem) -> Result<(), Cause> {
        let path = if space == Space::GlobalConst { Path::ReadOnly } else { Path::Plain };
        let addresses = self.global_addresses(0, 4 * N as u32)?;
        let mut hint = 0;
        let mut loaded = [[0; WARP]; N];
        for lane in lanes(self.mask) {
            let place = self.locate(&addresses, lane, 4 * N as u64, &mut hint)?;
            let values = self.cx.memory.load::<N>(place, path).map_err(|kind| Cause::at(lane, kind))?;
            for (words, value) in loaded.iter_mut().zip(values) {
                words[lane] = value;
            }
        }
        self.put(elem, &loaded);
        self.note(Traffic::loads(banks::sectors(&addresses, self.mask, 4 * N as u32)));
        Ok(())
    }

    /// `ld.shared.u16`: zero-extended.
    pub(super) fn load_half(&mut self) -> Result<(), Cause> {
        let halves = self.shared_halves()?;
        let mut loaded = [0; WARP];
        for lane in lanes(self.mask) {
            let by = Accessor { warp: self.warp.index, lane, order: &self.warp.order };
            let half = halves[lane] as usize;
            loaded[lane] = self.cx.shared.read_half(half, by).map_err(|kind| Cause::at(lane, kind))?;
        }
        self.set(&loaded);
        self.note(Traffic::passes(banks::passes(&halves.map(|half| half / 2), self.mask, 1)));
        Ok(())
    }

    /// `st.shared.u16`: the low half of the source.
    pub(super) fn store_half(&mut self) -> Result<(), Cause> {
        let halves = self.shared_halves()?;
        let stored = *self.source::<u32>(1);
        for lane in lanes(self.mask) {
            let by = Accessor { warp: self.warp.index, lane, order: &self.warp.order };
            let half = halves[lane] as usize;
            self.cx.shared.write_half(half, stored[lane], by).map_err(|kind| Cause::at(lane, kind))?;
        }
        self.note(Traffic::passes(banks::passes(&halves.map(|half| half / 2), self.mask, 1)));
        Ok(())
    }

    /// Writes loaded words into the destinations.
    fn put(&mut self, elem: Elem, loaded: &[[u32; WARP]]) {
        if elem == Elem::U32 {
            for (&slot, words) in self.step.targets().iter().zip(loaded) {
                self.warp.registers.set(slot, self.mask, words);
            }
        } else {
            for (&slot, pair) in self.step.targets().iter().zip(loaded.chunks_exact(2)) {
                let join = |lane: usize| u64::from(pair[1][lane]) << 32 | u64::from(pair[0][lane]);
                let values: [u64; WARP] = std::array::from_fn(join);
                self.warp.registers.set(slot, self.mask, &values);
            }
        }
    }

    /// The words that the lanes store, at most four each: the sources after the address.
    fn take(&self, elem: Elem) -> [[u32; WARP]; 4] {
        let sources = &self.step.sources()[1..];
        let mut stored = [[0; WARP]; 4];
        if elem == Elem::U32 {
            for (words, &slot) in stored.iter_mut().zip(sources) {
                *words = *self.warp.registers.get::<u32>(slot);
            }
        } else {
            for (pair, &slot) in stored.chunks_exact_mut(2).zip(sources) {
                let values = self.warp.registers.get::<u64>(slot);
                pair[0] = values.map(|value| value as u32);
                pair[1] = values.map(|value| (value >> 32) as u32);
            }
        }
        stored
    }

    /// `st`.
    pub(super) fn store(&mut self, space: Space, vector: Vector, elem: Elem) -> Result<(), Cause> {
        let count = (elem.bytes() / 4) as usize * vector.len();
        let stored = self.take(elem);
        if space == Space::Shared {
            let first = self.shared_words(0, count)?;
            for lane in lanes(self.mask) {
                for (index, words) in (first[lane] as usize..).zip(&stored[..count]) {
                    let by = Accessor { warp: self.warp.index, lane, order: &self.warp.order };
                    self.cx.shared.write(index, words[lane], by).map_err(|kind| Cause::at(lane, kind))?;
                }
            }
            self.note(Traffic::passes(banks::passes(&first, self.mask, count as u32)));
            return Ok(());
        }
        let addresses = self.global_addresses(0, 4 * count as u32)?;
        let mut hint = 0;
        for lane in lanes(self.mask) {
            let place = self.locate(&addresses, lane, 4 * count as u64, &mut hint)?;
            let words = stored.map(|words| words[lane]);
            self.cx.memory.store(place, &words[..count]).map_err(|kind| Cause::at(lane, kind))?;
        }
        self.note(Traffic::stores(banks::sectors(&addresses, self.mask, 4 * count as u32)));
        Ok(())
    }

    /// `atom.add` and `red.add`, lane after lane.
    pub(super) fn atomic_add(&mut self, space: Space, width: Width) -> Result<(), Cause> {
        match width {
            Width::W32 => self.atomic_add_words::<1>(space, Elem::U32),
            Width::W64 => self.atomic_add_words::<2>(space, Elem::U64),
        }
    }

    fn atomic_add_words<const N: usize>(&mut self, space: Space, elem: Elem) -> Result<(), Cause> {
        let addends = self.take(elem);
        let mut loaded = [[0; WARP]; N];
        let mut add = |lane: usize, old: [u32; N]| {
            let mut carry = 0;
            std::array::from_fn::<u32, N, _>(|i| {
                loaded[i][lane] = old[i];
                let sum = u64::from(old[i]) + u64::from(addends[i][lane]) + carry;
                carry = sum >> 32;
                sum as u32
            })
        };
        let traffic = if space == Space::Shared {
            let first = self.shared_words(0, N)?;
            for lane in lanes(self.mask) {
                let by = Accessor { warp: self.warp.index, lane, order: &self.warp.order };
                let mut words = [0; N];
                for (index, word) in (first[lane] as usize..).zip(&mut words) {
                    *word = self.cx.shared.read_atomic(index, by).map_err(|kind| Cause::at(lane, kind))?;
                }
                for (index, word) in (first[lane] as usize..).zip(add(lane, words)) {
                    self.cx.shared.write_atomic(index, word, by);
                }
            }
            Traffic::passes(banks::atomic_passes(&first, self.mask, N as u32))
        } else {
            let addresses = self.global_addresses(0, 4 * N as u32)?;
            let mut hint = 0;
            for lane in lanes(self.mask) {
                let fault = |kind| Cause::at(lane, kind);
                let place = self.locate(&addresses, lane, 4 * N as u64, &mut hint)?;
                let old = self.cx.memory.load::<N>(place, Path::Atomic).map_err(fault)?;
                self.cx.memory.store(place, &add(lane, old)).map_err(fault)?;
            }
            Traffic::stores(banks::sectors(&addresses, self.mask, 4 * N as u32))
        };
        self.put(elem, &loaded);
        self.note(traffic);
        Ok(())
    }

    /// `prefetch`: nothing moves, and no sector is counted. An address outside of all buffers is a fault here; a GPU ignores it.
    pub(super) fn prefetch(&mut self) -> Result<(), Cause> {
        let addresses = self.global_addresses(0, 4)?;
        let mut hint = 0;
        lanes(self.mask).try_for_each(|lane| self.locate(&addresses, lane, 4, &mut hint).map(drop))
    }

    /// `cp.async`: the source is read now, the target is written when the thread has waited.
    pub(super) fn start_copy(&mut self, bytes: u8) -> Result<(), Cause> {
        let count = bytes / 4;
        let first = self.shared_words(0, count.into())?;
        let addresses = self.global_addresses(1, bytes.into())?;
        let mut hint = 0;
        for lane in lanes(self.mask) {
            let fault = |kind| Cause::at(lane, kind);
            let place = self.locate(&addresses, lane, bytes.into(), &mut hint)?;
            let data = self.cx.memory.load_words(place, count.into()).map_err(fault)?;
            let by = Accessor { warp: self.warp.index, lane, order: &self.warp.order };
            for index in first[lane]..first[lane] + u32::from(count) {
                self.cx.shared.issue(index as usize, by).map_err(fault)?;
            }
            self.warp.copies.issue(lane, first[lane], count, data);
        }
        let mut traffic = Traffic::passes(banks::passes(&first, self.mask, count.into()));
        traffic += Traffic::loads(banks::sectors(&addresses, self.mask, bytes.into()));
        self.note(traffic);
        Ok(())
    }

    /// `cp.async.commit_group`.
    pub(super) fn close_copies(&mut self) {
        self.warp.copies.commit(self.mask);
    }

    /// `cp.async.wait_group`.
    pub(super) fn land_groups(&mut self) {
        self.land(Some(self.step.imm[0]));
    }

    /// `cp.async.wait_all`.
    pub(super) fn land_all(&mut self) {
        self.land(None);
    }

    /// The copies that the lanes of the mask waited for arrive.
    fn land(&mut self, in_flight: Option<u32>) {
        for copy in self.warp.copies.wait(self.mask, in_flight) {
            let by = Accessor { warp: self.warp.index, lane: copy.lane.into(), order: &self.warp.order };
            for (index, &word) in (copy.first as usize..).zip(&copy.data[..copy.words.into()]) {
                self.cx.shared.complete(index, word, by);
            }
        }
    }

    /// The number of the first word of each lane's access to shared memory.
    fn shared_words(&self, address: usize, count: usize) -> Result<[u32; WARP], Cause> {
        Ok(self.shared_offsets(address, 4 * count as u32)?.map(|offset| offset / 4))
    }

    /// The number of each lane's half word in shared memory.
    fn shared_halves(&self) -> Result<[u32; WARP], Cause> {
        Ok(self.shared_offsets(0, 2)?.map(|offset| offset / 2))
    }

    /// Where each lane's access of this many bytes lies in shared memory, by the address of this number.
    fn shared_offsets(&self, address: usize, bytes: u32) -> Result<[u32; WARP], Cause> {
        let (size, offset) = (self.cx.shared.bytes(), self.step.imm[address]);
        let offsets = self.source::<u32>(address).map(|a| a.wrapping_add(offset).wrapping_sub(SHARED_BASE));
        // The size of an access is a power of two.
        let misaligned = |offset: u32| offset & (bytes - 1) != 0;
        let outside = |offset: u32| size < bytes || offset > size - bytes;
        let wrong = |(lane, &offset): (usize, &u32)| u32::from(misaligned(offset) | outside(offset)) << lane;
        let wrong = self.mask & offsets.iter().enumerate().map(wrong).fold(0, |lanes, lane| lanes | lane);
        if wrong == 0 {
            return Ok(offsets);
        }
        let offset = offsets[wrong.trailing_zeros() as usize];
        let address = offset.wrapping_add(SHARED_BASE).into();
        Err(Cause::first(
            wrong,
            if misaligned(offset) {
                FaultKind::Misaligned { address, bytes }
            } else {
                FaultKind::SharedOutOfBounds { offset, bytes, size }
            },
        ))
    }

    /// The aligned address of each lane's access to global memory, by the address of this number.
    fn global_addresses(&self, address: usize, bytes: u32) -> Result<[u64; WARP], Cause> {
        // The offset is a signed 32-bit number.
        let offset = i64::from(self.step.imm[address].cast_signed());
        let addresses = self.source::<u64>(address).map(|a| a.wrapping_add_signed(offset));
        // The size of an access is a power of two.
        match lanes(self.mask).find(|&lane| addresses[lane] & u64::from(bytes - 1) != 0) {
            Some(lane) => Err(Cause::at(lane, FaultKind::Misaligned { address: addresses[lane], bytes })),
            None => Ok(addresses),
        }
    }

    /// Where a lane's access to global memory lies. The hint is the place of the lane before.
    fn locate(&self, addresses: &[u64; WARP], lane: usize, bytes: u64, hint: &mut usize) -> Result<Place, Cause> {
        let address = addresses[lane];
        let place = self.cx.memory.locate(address, bytes, *hint);
        let place = place.ok_or_else(|| Cause::at(lane, FaultKind::GlobalOutOfBounds { address, bytes }))?;
        *hint = place.hint();
        Ok(place)
    }
}
