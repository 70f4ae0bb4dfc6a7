//! The settings that are worth measuring, for the ideas that several registers share.
//!
//! Each list begins with the default. It need not avoid what comes to the same kernel, or to one that a GPU
//! cannot launch: [`Plan::candidates`](crate::plan::Plan::candidates) leaves that out. Every
//! kernel more is up to a second of the driver's compiler, so what never won is not here.

use super::Settings;
use super::mul_thread::Input;

const DEFAULT: Settings = Settings { warps: None, glue: None, input: None, block: None, levels: None, products: None };

/// There is nothing to choose.
pub(super) fn default_alone<S>(_: S) -> Vec<Settings> {
    vec![DEFAULT]
}

/// Only the size of the blocks of threads is free.
pub(super) fn warps<S>(_: S) -> Vec<Settings> {
    let some = [2, 4, 8, 16].map(|warps| Settings { warps: Some(warps), ..DEFAULT });
    [DEFAULT].into_iter().chain(some).collect()
}

/// One thread a lane; `limbs`: of the longest operand.
pub(super) fn thread(limbs: u32) -> Vec<Settings> {
    // Direct operands stand in registers as a whole; staging rows of a few sectors gains nothing.
    let mut inputs = Vec::new();
    if limbs <= 24 {
        inputs.push(Input::Direct);
    }
    if limbs > 4 {
        inputs.push(Input::Staged);
    }
    let mut settings = vec![DEFAULT];
    for input in inputs {
        for glue in [1, 2, 3] {
            let all =
                [2, 4, 8].map(|warps| Settings { input: Some(input), glue: Some(glue), warps: Some(warps), ..DEFAULT });
            settings.extend(all);
        }
    }
    settings
}

/// A group of lanes of a warp a lane of the batch; `limbs`: of the longest operand.
pub(super) fn group(limbs: u32) -> Vec<Settings> {
    let mut settings = vec![DEFAULT];
    // The shorter the block, the more lanes work on one product: few products fill the machine so.
    for block in [32, 16, 8, 4, 2, 1] {
        if limbs <= 64 * block {
            settings.extend([2, 4].map(|warps| Settings { block: Some(block), warps: Some(warps), ..DEFAULT }));
        }
    }
    settings.extend([Input::Direct, Input::Staged].map(|input| Settings { input: Some(input), ..DEFAULT }));
    settings
}

/// Karatsuba's method in shared memory: a block of threads one product or several.
pub(super) fn karatsuba_group<S>(_: S) -> Vec<Settings> {
    let mut settings = vec![DEFAULT];
    for levels in [1, 2, 3] {
        let level = Settings { levels: Some(levels), ..DEFAULT };
        settings.push(level);
        settings.extend([16, 24].map(|block| Settings { block: Some(block), ..level }));
        settings.extend([4, 8].map(|warps| Settings { warps: Some(warps), ..level }));
        // Few products: all warps of a block on one of them.
        settings.extend([4, 8, 12].map(|warps| Settings { products: Some(1), warps: Some(warps), ..level }));
    }
    settings
}

/// One thread a square of this many limbs.
pub(super) fn square_thread(limbs: u32) -> Vec<Settings> {
    // Halves save little below 24 limbs, and take registers.
    let levels: &[Option<u32>] = if limbs >= 24 && limbs.is_multiple_of(2) { &[Some(0), Some(1)] } else { &[None] };
    let vary = |settings: Settings| levels.iter().map(move |&levels| Settings { levels, ..settings });
    let mut settings = thread(limbs);
    settings.retain(|it| it.glue != Some(3) && it.warps != Some(8));
    settings.into_iter().flat_map(vary).collect()
}

/// A group of lanes a square.
pub(super) fn square_group<S>(_: S) -> Vec<Settings> {
    let blocks = [16, 24, 32].map(|block| Settings { block: Some(block), ..DEFAULT });
    let warps = [2, 4].map(|warps| Settings { warps: Some(warps), ..DEFAULT });
    [DEFAULT].into_iter().chain(blocks).chain(warps).collect()
}

/// Karatsuba's method over squares of this many limbs.
pub(super) fn square_karatsuba(limbs: u32) -> Vec<Settings> {
    let mut settings = vec![DEFAULT];
    // Leaves of 12 to 256 limbs.
    for levels in (1..=5).filter(|levels| (12..=256).contains(&(limbs >> levels))) {
        let level = Settings { levels: Some(levels), ..DEFAULT };
        settings.push(level);
        settings.extend([2, 4, 8].map(|warps| Settings { warps: Some(warps), ..level }));
        settings.extend([1, 4, 8].map(|warps| Settings { products: Some(1), warps: Some(warps), ..level }));
        settings.push(Settings { glue: Some(8), ..level });
    }
    settings
}
