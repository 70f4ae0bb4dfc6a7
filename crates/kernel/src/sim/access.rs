//! Loads, stores, atomic operations and asynchronous copies.

use super::WARP;
use super::banks::{self, Passes, Sectors};
use super::compute::SHARED_BASE;
use super::counters::Traffic;
use super::fault::{Cause, FaultKind};
use super::memory::{Path, Place};
use super::order::lanes;
use super::program::Step;
use super::shared::{Accessor, Shared};
use super::warp::{Context, Warp};
use crate::ir::{Elem, Space, Vector, Width};

/// State space, number of elements, kind of element.
type Shape = (Space, Vector, Elem);

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

/// `ld`.
pub(super) fn load(
    warp: &mut Warp,
    cx: &mut Context<'_>,
    (space, vector, elem): Shape,
    step: &Step,
    mask: u32,
) -> Result<Traffic, Cause> {
    let bytes = elem.bytes() * vector.len() as u32;
    match (space, bytes) {
        (Space::Shared, 4) => load_shared::<1>(warp, cx, elem, step, mask),
        (Space::Shared, 8) => load_shared::<2>(warp, cx, elem, step, mask),
        (Space::Shared, _) => load_shared::<4>(warp, cx, elem, step, mask),
        (_, 4) => load_global::<1>(warp, cx, (space, elem), step, mask),
        (_, 8) => load_global::<2>(warp, cx, (space, elem), step, mask),
        (_, _) => load_global::<4>(warp, cx, (space, elem), step, mask),
    }
}

fn load_shared<const N: usize>(
    warp: &mut Warp,
    cx: &mut Context<'_>,
    elem: Elem,
    step: &Step,
    mask: u32,
) -> Result<Traffic, Cause> {
    let first = shared_words(warp, &cx.shared, (step.src[0], step.imm[0]), mask, N)?;
    for lane in lanes(mask) {
        let mut words = [0; N];
        for (i, word) in words.iter_mut().enumerate() {
            let by = Accessor { warp: warp.index, lane, order: &warp.order };
            let index = first[lane] as usize + i;
            *word = cx.shared.read(index, by).map_err(|kind| Cause::at(lane, kind))?;
        }
        put(warp, elem, step, lane, &words);
    }
    Ok(Traffic::passes(banks::passes(&first, mask, N as u32)))
}

fn load_global<const N: usize>(
    warp: &mut Warp,
    cx: &mut Context<'_>,
    (space, elem): (Space, Elem),
    step: &Step,
    mask: u32,
) -> Result<Traffic, Cause> {
    let path = if space == Space::GlobalConst { Path::ReadOnly } else { Path::Plain };
    let addresses = global_addresses(warp, (step.src[0], step.imm[0]), mask, 4 * N as u32)?;
    let mut hint = 0;
    for lane in lanes(mask) {
        let place = locate(cx, &addresses, lane, 4 * N as u64, &mut hint)?;
        let words = cx.memory.load::<N>(place, path).map_err(|kind| Cause::at(lane, kind))?;
        put(warp, elem, step, lane, &words);
    }
    Ok(Traffic::loads(banks::sectors(&addresses, mask, 4 * N as u32)))
}

/// Writes the words of a load into the destinations of one lane.
fn put(warp: &mut Warp, elem: Elem, step: &Step, lane: usize, words: &[u32]) {
    if elem == Elem::U32 {
        for (&slot, &word) in step.targets().iter().zip(words) {
            warp.registers.set_lane(slot, lane, word);
        }
    } else {
        for (&slot, pair) in step.targets().iter().zip(words.chunks_exact(2)) {
            warp.registers.set_lane(slot, lane, u64::from(pair[1]) << 32 | u64::from(pair[0]));
        }
    }
}

/// The words that one lane stores, at most four.
fn take(warp: &Warp, elem: Elem, sources: &[u32], lane: usize) -> [u32; 4] {
    let mut words = [0; 4];
    if elem == Elem::U32 {
        for (word, &slot) in words.iter_mut().zip(sources) {
            *word = warp.registers.get::<u32>(slot)[lane];
        }
    } else {
        for (pair, &slot) in words.chunks_exact_mut(2).zip(sources) {
            let value = warp.registers.get::<u64>(slot)[lane];
            (pair[0], pair[1]) = (value as u32, (value >> 32) as u32);
        }
    }
    words
}

/// `st`.
pub(super) fn store(
    warp: &mut Warp,
    cx: &mut Context<'_>,
    (space, vector, elem): Shape,
    step: &Step,
    mask: u32,
) -> Result<Traffic, Cause> {
    let count = (elem.bytes() / 4) as usize * vector.len();
    let sources = &step.sources()[1..];
    let address = (step.src[0], step.imm[0]);
    if space == Space::Shared {
        let first = shared_words(warp, &cx.shared, address, mask, count)?;
        for lane in lanes(mask) {
            let by = Accessor { warp: warp.index, lane, order: &warp.order };
            for (index, &word) in (first[lane] as usize..).zip(&take(warp, elem, sources, lane)[..count]) {
                cx.shared.write(index, word, by).map_err(|kind| Cause::at(lane, kind))?;
            }
        }
        return Ok(Traffic::passes(banks::passes(&first, mask, count as u32)));
    }
    let addresses = global_addresses(warp, address, mask, 4 * count as u32)?;
    let mut hint = 0;
    for lane in lanes(mask) {
        let place = locate(cx, &addresses, lane, 4 * count as u64, &mut hint)?;
        let words = take(warp, elem, sources, lane);
        cx.memory.store(place, &words[..count]).map_err(|kind| Cause::at(lane, kind))?;
    }
    Ok(Traffic::stores(banks::sectors(&addresses, mask, 4 * count as u32)))
}

/// `atom.add` and `red.add`, lane after lane.
pub(super) fn atomic_add(
    warp: &mut Warp,
    cx: &mut Context<'_>,
    (space, width): (Space, Width),
    step: &Step,
    mask: u32,
) -> Result<Traffic, Cause> {
    let (elem, count) = match width {
        Width::W32 => (Elem::U32, 1),
        Width::W64 => (Elem::U64, 2),
    };
    let (address, sources) = ((step.src[0], step.imm[0]), &step.sources()[1..]);
    let add = |old: [u32; 2], addend: [u32; 4]| match width {
        Width::W32 => [old[0].wrapping_add(addend[0]), 0],
        Width::W64 => split(join(old).wrapping_add(join([addend[0], addend[1]]))),
    };
    if space == Space::Shared {
        let first = shared_words(warp, &cx.shared, address, mask, count)?;
        for lane in lanes(mask) {
            let by = Accessor { warp: warp.index, lane, order: &warp.order };
            let index = first[lane] as usize;
            let mut old = [0; 2];
            for (i, word) in old[..count].iter_mut().enumerate() {
                *word = cx.shared.read_atomic(index + i, by).map_err(|kind| Cause::at(lane, kind))?;
            }
            let new = add(old, take(warp, elem, sources, lane));
            for (i, &word) in new[..count].iter().enumerate() {
                cx.shared.write_atomic(index + i, word, by);
            }
            put(warp, elem, step, lane, &old);
        }
        return Ok(Traffic::passes(banks::atomic_passes(&first, mask, count as u32)));
    }
    let addresses = global_addresses(warp, address, mask, 4 * count as u32)?;
    let mut hint = 0;
    for lane in lanes(mask) {
        let place = locate(cx, &addresses, lane, 4 * count as u64, &mut hint)?;
        let fault = |kind| Cause::at(lane, kind);
        let mut old = [0; 2];
        match width {
            Width::W32 => old[..1].copy_from_slice(&cx.memory.load::<1>(place, Path::Atomic).map_err(fault)?),
            Width::W64 => old = cx.memory.load::<2>(place, Path::Atomic).map_err(fault)?,
        }
        let new = add(old, take(warp, elem, sources, lane));
        cx.memory.store(place, &new[..count]).map_err(fault)?;
        put(warp, elem, step, lane, &old);
    }
    Ok(Traffic::stores(banks::sectors(&addresses, mask, 4 * count as u32)))
}

fn join([lo, hi]: [u32; 2]) -> u64 {
    u64::from(hi) << 32 | u64::from(lo)
}

fn split(value: u64) -> [u32; 2] {
    [value as u32, (value >> 32) as u32]
}

/// `cp.async`: the source is read now, the target is written when the thread has waited.
pub(super) fn copy(
    warp: &mut Warp,
    cx: &mut Context<'_>,
    bytes: u32,
    step: &Step,
    mask: u32,
) -> Result<Traffic, Cause> {
    let count = bytes as usize / 4;
    let first = shared_words(warp, &cx.shared, (step.src[0], step.imm[0]), mask, count)?;
    let addresses = global_addresses(warp, (step.src[1], step.imm[1]), mask, bytes)?;
    let sizes = match step.sources().get(2) {
        Some(&slot) => *warp.registers.get::<u32>(slot),
        None => [bytes; WARP],
    };
    let mut hint = 0;
    let mut readers = 0;
    for lane in lanes(mask) {
        let fault = |kind| Cause::at(lane, kind);
        if sizes[lane] > bytes {
            return Err(fault(FaultKind::CopySize { bytes, source_bytes: sizes[lane] }));
        }
        let mut data = [0; 4];
        if sizes[lane] > 0 {
            readers |= 1 << lane;
            let place = locate(cx, &addresses, lane, sizes[lane].into(), &mut hint)?;
            cx.memory.load_bytes(place, sizes[lane], &mut data).map_err(fault)?;
        }
        let by = Accessor { warp: warp.index, lane, order: &warp.order };
        for index in first[lane] as usize..first[lane] as usize + count {
            cx.shared.issue(index, by).map_err(fault)?;
        }
        warp.copies.issue(lane, first[lane], count as u8, data);
    }
    let mut traffic = Traffic::passes(banks::passes(&first, mask, count as u32));
    traffic += Traffic::loads(banks::sectors(&addresses, readers, bytes));
    Ok(traffic)
}

/// `cp.async.wait_group` and `wait_all`: copies that the lanes of the mask waited for arrive.
pub(super) fn land(warp: &mut Warp, cx: &mut Context<'_>, in_flight: Option<u32>, mask: u32) {
    for copy in warp.copies.wait(mask, in_flight) {
        let by = Accessor { warp: warp.index, lane: copy.lane.into(), order: &warp.order };
        for (index, &word) in (copy.first as usize..).zip(&copy.data[..copy.words.into()]) {
            cx.shared.complete(index, word, by);
        }
    }
}

/// The number of the first word of each lane's access to shared memory.
fn shared_words(
    warp: &Warp,
    shared: &Shared,
    (slot, offset): (u32, u32),
    mask: u32,
    count: usize,
) -> Result<[u32; WARP], Cause> {
    let bytes = 4 * count as u32;
    let size = shared.bytes();
    let offsets = warp.registers.get::<u32>(slot).map(|a| a.wrapping_add(offset).wrapping_sub(SHARED_BASE));
    for lane in lanes(mask) {
        let offset = offsets[lane];
        if !offset.is_multiple_of(bytes) {
            let address = offset.wrapping_add(SHARED_BASE).into();
            return Err(Cause::at(lane, FaultKind::Misaligned { address, bytes }));
        }
        if offset > size || size - offset < bytes {
            return Err(Cause::at(lane, FaultKind::SharedOutOfBounds { offset, bytes, size }));
        }
    }
    Ok(offsets.map(|offset| offset / 4))
}

/// The address of each lane's access to global memory, aligned.
fn global_addresses(warp: &Warp, (slot, offset): (u32, u32), mask: u32, bytes: u32) -> Result<[u64; WARP], Cause> {
    // The offset is a signed 32-bit number.
    let offset = i64::from(offset.cast_signed());
    let addresses = warp.registers.get::<u64>(slot).map(|a| a.wrapping_add_signed(offset));
    match lanes(mask).find(|&lane| !addresses[lane].is_multiple_of(bytes.into())) {
        Some(lane) => Err(Cause::at(lane, FaultKind::Misaligned { address: addresses[lane], bytes })),
        None => Ok(addresses),
    }
}

/// Where a lane's access to global memory lies; the hint is where the lane before it was.
fn locate(
    cx: &Context<'_>,
    addresses: &[u64; WARP],
    lane: usize,
    bytes: u64,
    hint: &mut usize,
) -> Result<Place, Cause> {
    let address = addresses[lane];
    let place = cx.memory.locate(address, bytes, *hint);
    let place = place.ok_or_else(|| Cause::at(lane, FaultKind::GlobalOutOfBounds { address, bytes }))?;
    *hint = place.hint();
    Ok(place)
}
