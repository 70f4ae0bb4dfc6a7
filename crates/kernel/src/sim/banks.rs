//! How an access of a warp falls on the banks of shared memory and the sectors of global memory.

use super::WARP;
use super::memory::SECTOR;
use super::order::lanes;

/// Passes over shared memory: the number that an access takes, and the number without bank conflicts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Passes {
    pub(super) taken: u64,
    pub(super) minimum: u64,
}

/// The passes of an access in which each lane of the mask touches `words` words from `first[lane]` on.
/// 64-bit accesses are served half a warp at a time, 128-bit ones a quarter. Lanes that touch the same
/// word share it.
pub(super) fn passes(first: &[u32; WARP], mask: u32, words: u32) -> Passes {
    let mut passes = Passes::default();
    let group = WARP / words as usize;
    for start in (0..WARP).step_by(group) {
        let members = mask & (u32::MAX >> (WARP - group)) << start;
        if members != 0 {
            passes.minimum += 1;
            passes.taken += group_passes(first, members, words);
        }
    }
    passes
}

/// The passes of one group: the most different words that fall on one bank.
fn group_passes(first: &[u32; WARP], members: u32, words: u32) -> u64 {
    // Most often every word has a bank of its own.
    let banks = |lane: usize| ones(words).rotate_left(first[lane] % 32);
    let (taken, sum) =
        lanes(members).map(banks).fold((0, 0), |(taken, sum), bits| (taken | bits, sum + bits.count_ones()));
    if taken.count_ones() == sum {
        return 1;
    }
    let mut holder = [0; WARP];
    let mut taken = 0_u32;
    for word in lanes(members).flat_map(|lane| (0..words).map(move |i| first[lane] + i)) {
        let bank = word % 32;
        if taken >> bank & 1 == 0 {
            taken |= 1 << bank;
            holder[bank as usize] = word;
        } else if holder[bank as usize] != word {
            return conflicting_passes(first, members, words);
        }
    }
    1
}

/// The same where banks do hold several words.
fn conflicting_passes(first: &[u32; WARP], members: u32, words: u32) -> u64 {
    let mut touched: Vec<u32> = lanes(members).flat_map(|lane| (0..words).map(move |i| first[lane] + i)).collect();
    touched.sort_unstable();
    touched.dedup();
    most_on_a_bank(touched.into_iter())
}

/// The passes of atomic operations: lanes of the same bank take turns, also on the same word.
pub(super) fn atomic_passes(first: &[u32; WARP], mask: u32, words: u32) -> Passes {
    let group = WARP / words as usize;
    let groups = (0..WARP).step_by(group).map(|start| mask & (u32::MAX >> (WARP - group)) << start);
    groups.filter(|&members| members != 0).fold(Passes::default(), |sum, members| Passes {
        taken: sum.taken + most_on_a_bank(lanes(members).map(|lane| first[lane])),
        minimum: sum.minimum + 1,
    })
}

/// The low `n` bits set; `n` is at most 4.
fn ones(n: u32) -> u32 {
    (1 << n) - 1
}

fn most_on_a_bank(words: impl Iterator<Item = u32>) -> u64 {
    let mut load = [0_u64; WARP];
    words.for_each(|word| load[word as usize % 32] += 1);
    load.into_iter().max().unwrap_or_default()
}

/// The sectors of global memory that an access takes, and the fewest that hold as many bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sectors {
    pub(super) taken: u64,
    pub(super) minimum: u64,
}

/// The sectors of an aligned access of `bytes` bytes by each lane of the mask. None lies across
/// two sectors.
pub(super) fn sectors(addresses: &[u64; WARP], mask: u32, bytes: u32) -> Sectors {
    let mut touched = [0; WARP];
    let mut count = 0;
    let mut ascending = true;
    for lane in lanes(mask) {
        let sector = addresses[lane] / SECTOR;
        match count {
            0 => {}
            n if touched[n - 1] == sector => continue,
            n => ascending &= touched[n - 1] < sector,
        }
        touched[count] = sector;
        count += 1;
    }
    if !ascending {
        let touched = &mut touched[..count];
        touched.sort_unstable();
        count = touched.chunk_by(|a, b| a == b).count();
    }
    let taken = count as u64;
    let needed = u64::from(mask.count_ones() * bytes).div_ceil(SECTOR);
    Sectors { taken, minimum: taken.min(needed) }
}
