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
    let mut loaded = [[0; WARP]; N];
    for lane in lanes(mask) {
        let by = Accessor { warp: warp.index, lane, order: &warp.order };
        for (index, words) in (first[lane] as usize..).zip(&mut loaded) {
            words[lane] = cx.shared.read(index, by).map_err(|kind| Cause::at(lane, kind))?;
        }
    }
    put(warp, elem, step, mask, &loaded);
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
    let mut loaded = [[0; WARP]; N];
    for lane in lanes(mask) {
        let place = locate(cx, &addresses, lane, 4 * N as u64, &mut hint)?;
        let values = cx.memory.load::<N>(place, path).map_err(|kind| Cause::at(lane, kind))?;
        for (words, value) in loaded.iter_mut().zip(values) {
            words[lane] = value;
        }
    }
    put(warp, elem, step, mask, &loaded);
    Ok(Traffic::loads(banks::sectors(&addresses, mask, 4 * N as u32)))
}

/// `ld.shared.u16`: zero-extended.
pub(super) fn load_half(warp: &mut Warp, cx: &mut Context<'_>, step: &Step, mask: u32) -> Result<Traffic, Cause> {
    let halves = shared_halves(warp, &cx.shared, (step.src[0], step.imm[0]), mask)?;
    let mut loaded = [0; WARP];
    for lane in lanes(mask) {
        let by = Accessor { warp: warp.index, lane, order: &warp.order };
        let half = halves[lane] as usize;
        loaded[lane] = cx.shared.read_half(half, by).map_err(|kind| Cause::at(lane, kind))?;
    }
    warp.registers.set(step.dst[0], mask, &loaded);
    Ok(Traffic::passes(banks::passes(&halves.map(|half| half / 2), mask, 1)))
}

/// `st.shared.u16`: the low half of the source.
pub(super) fn store_half(warp: &mut Warp, cx: &mut Context<'_>, step: &Step, mask: u32) -> Result<Traffic, Cause> {
    let halves = shared_halves(warp, &cx.shared, (step.src[0], step.imm[0]), mask)?;
    let stored = *warp.registers.get::<u32>(step.src[1]);
    for lane in lanes(mask) {
        let by = Accessor { warp: warp.index, lane, order: &warp.order };
        cx.shared.write_half(halves[lane] as usize, stored[lane], by).map_err(|kind| Cause::at(lane, kind))?;
    }
    Ok(Traffic::passes(banks::passes(&halves.map(|half| half / 2), mask, 1)))
}

/// Writes loaded words into the destinations.
fn put(warp: &mut Warp, elem: Elem, step: &Step, mask: u32, loaded: &[[u32; WARP]]) {
    if elem == Elem::U32 {
        for (&slot, words) in step.targets().iter().zip(loaded) {
            warp.registers.set(slot, mask, words);
        }
    } else {
        for (&slot, pair) in step.targets().iter().zip(loaded.chunks_exact(2)) {
            let values: [u64; WARP] = std::array::from_fn(|lane| join([pair[0][lane], pair[1][lane]]));
            warp.registers.set(slot, mask, &values);
        }
    }
}

/// The words that the lanes store, at most four each.
fn take(warp: &Warp, elem: Elem, sources: &[u32]) -> [[u32; WARP]; 4] {
    let mut stored = [[0; WARP]; 4];
    if elem == Elem::U32 {
        for (words, &slot) in stored.iter_mut().zip(sources) {
            *words = *warp.registers.get::<u32>(slot);
        }
    } else {
        for (pair, &slot) in stored.chunks_exact_mut(2).zip(sources) {
            let values = warp.registers.get::<u64>(slot);
            pair[0] = values.map(|value| value as u32);
            pair[1] = values.map(|value| (value >> 32) as u32);
        }
    }
    stored
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
    let stored = take(warp, elem, sources);
    if space == Space::Shared {
        let first = shared_words(warp, &cx.shared, address, mask, count)?;
        for lane in lanes(mask) {
            let by = Accessor { warp: warp.index, lane, order: &warp.order };
            for (index, words) in (first[lane] as usize..).zip(&stored[..count]) {
                cx.shared.write(index, words[lane], by).map_err(|kind| Cause::at(lane, kind))?;
            }
        }
        return Ok(Traffic::passes(banks::passes(&first, mask, count as u32)));
    }
    let addresses = global_addresses(warp, address, mask, 4 * count as u32)?;
    let mut hint = 0;
    for lane in lanes(mask) {
        let place = locate(cx, &addresses, lane, 4 * count as u64, &mut hint)?;
        let words = stored.map(|words| words[lane]);
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
    match width {
        Width::W32 => atomic_add_words::<1>(warp, cx, (space, Elem::U32), step, mask),
        Width::W64 => atomic_add_words::<2>(warp, cx, (space, Elem::U64), step, mask),
    }
}

fn atomic_add_words<const N: usize>(
    warp: &mut Warp,
    cx: &mut Context<'_>,
    (space, elem): (Space, Elem),
    step: &Step,
    mask: u32,
) -> Result<Traffic, Cause> {
    let address = (step.src[0], step.imm[0]);
    let addends = take(warp, elem, &step.sources()[1..]);
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
        let first = shared_words(warp, &cx.shared, address, mask, N)?;
        for lane in lanes(mask) {
            let by = Accessor { warp: warp.index, lane, order: &warp.order };
            let mut words = [0; N];
            for (index, word) in (first[lane] as usize..).zip(&mut words) {
                *word = cx.shared.read_atomic(index, by).map_err(|kind| Cause::at(lane, kind))?;
            }
            for (index, word) in (first[lane] as usize..).zip(add(lane, words)) {
                cx.shared.write_atomic(index, word, by);
            }
        }
        Traffic::passes(banks::atomic_passes(&first, mask, N as u32))
    } else {
        let addresses = global_addresses(warp, address, mask, 4 * N as u32)?;
        let mut hint = 0;
        for lane in lanes(mask) {
            let fault = |kind| Cause::at(lane, kind);
            let place = locate(cx, &addresses, lane, 4 * N as u64, &mut hint)?;
            let old = cx.memory.load::<N>(place, Path::Atomic).map_err(fault)?;
            cx.memory.store(place, &add(lane, old)).map_err(fault)?;
        }
        Traffic::stores(banks::sectors(&addresses, mask, 4 * N as u32))
    };
    put(warp, elem, step, mask, &loaded);
    Ok(traffic)
}

fn join([lo, hi]: [u32; 2]) -> u64 {
    u64::from(hi) << 32 | u64::from(lo)
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
    address: (u32, u32),
    mask: u32,
    count: usize,
) -> Result<[u32; WARP], Cause> {
    Ok(shared_offsets(warp, shared, address, mask, 4 * count as u32)?.map(|offset| offset / 4))
}

/// The number of each lane's half word in shared memory.
fn shared_halves(warp: &Warp, shared: &Shared, address: (u32, u32), mask: u32) -> Result<[u32; WARP], Cause> {
    Ok(shared_offsets(warp, shared, address, mask, 2)?.map(|offset| offset / 2))
}

/// Where each lane's access of so many bytes lies in shared memory.
fn shared_offsets(
    warp: &Warp,
    shared: &Shared,
    (slot, offset): (u32, u32),
    mask: u32,
    bytes: u32,
) -> Result<[u32; WARP], Cause> {
    let size = shared.bytes();
    let offsets = warp.registers.get::<u32>(slot).map(|a| a.wrapping_add(offset).wrapping_sub(SHARED_BASE));
    // The size of an access is a power of two.
    let misaligned = |offset: u32| offset & (bytes - 1) != 0;
    let outside = |offset: u32| size < bytes || offset > size - bytes;
    let wrong = |(lane, &offset): (usize, &u32)| u32::from(misaligned(offset) | outside(offset)) << lane;
    let wrong = mask & offsets.iter().enumerate().map(wrong).fold(0, |lanes, lane| lanes | lane);
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

/// The address of each lane's access to global memory, aligned.
fn global_addresses(warp: &Warp, (slot, offset): (u32, u32), mask: u32, bytes: u32) -> Result<[u64; WARP], Cause> {
    // The offset is a signed 32-bit number.
    let offset = i64::from(offset.cast_signed());
    let addresses = warp.registers.get::<u64>(slot).map(|a| a.wrapping_add_signed(offset));
    // The size of an access is a power of two.
    match lanes(mask).find(|&lane| addresses[lane] & u64::from(bytes - 1) != 0) {
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
