//! The settings that are worth measuring, for the ideas that several registers share.
//!
//! Each list begins with the default. It need not avoid what comes to the same kernel, or to one that a GPU
//! cannot launch: [`Plan::candidates`](crate::plan::Plan::candidates) leaves that out. Every
//! kernel more is up to a second of the driver's compiler, so what never won is not here.

use std::ops::RangeInclusive;

use super::Settings;
use super::mul_thread::Input;

const DEFAULT: Settings = Settings { warps: None, glue: None, input: None, block: None, levels: None, products: None };

/// There is nothing to choose.
pub(super) fn default_alone<S>(_: S) -> Vec<Settings> {
    vec![DEFAULT]
}

/// Only the size of the blocks of threads is free.
pub(super) fn warps<S>(_: S) -> Vec<Settings> {
    let some = [1, 2, 4, 8].map(|warps| Settings { warps: Some(warps), ..DEFAULT });
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

/// As [`thread`], at once (no levels) or by halves (one).
pub(super) fn thread_by_halves(limbs: u32) -> Vec<Settings> {
    let mut settings = thread(limbs);
    // Halves save little below 24 limbs, and take registers.
    if limbs >= 24 && limbs.is_multiple_of(2) {
        for levels in [0, 1] {
            let level = Settings { levels: Some(levels), ..DEFAULT };
            settings.extend([2, 4].map(|warps| Settings { warps: Some(warps), ..level }));
            settings.extend([2, 4].map(|warps| Settings { warps: Some(warps), glue: Some(2), ..level }));
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

/// A group of lanes of a warp a part of a product; `limbs`: of the longest operand.
pub(super) fn part_group(limbs: u32) -> Vec<Settings> {
    let mut settings = vec![DEFAULT];
    for block in [32, 16, 8, 4] {
        if limbs <= 64 * block {
            settings.push(Settings { block: Some(block), ..DEFAULT });
        }
    }
    settings.extend([Input::Direct, Input::Staged].map(|input| Settings { input: Some(input), ..DEFAULT }));
    // Low halves by columns have chains of their own length.
    settings.extend([1, 2].map(|glue| Settings { glue: Some(glue), ..DEFAULT }));
    settings.push(Settings { warps: Some(4), ..DEFAULT });
    settings
}

/// Karatsuba's method for a part of a product: of what is worth measuring for products, the kinds.
pub(super) fn part_karatsuba<S>(_: S) -> Vec<Settings> {
    let mut settings = vec![DEFAULT, Settings { block: Some(16), ..DEFAULT }];
    settings.extend([1, 2, 3].map(|levels| Settings { levels: Some(levels), ..DEFAULT }));
    settings.extend([4, 8].map(|warps| Settings { warps: Some(warps), levels: Some(3), ..DEFAULT }));
    settings.extend([4, 8].map(|warps| Settings { warps: Some(warps), products: Some(1), ..DEFAULT }));
    settings
}

/// A group of lanes a lane of the batch, with sums in shared memory: a block of threads one or several.
pub(super) fn shared_group() -> Vec<Settings> {
    let mut settings = vec![DEFAULT];
    settings.extend([32, 24, 16, 8, 4].map(|block| Settings { block: Some(block), ..DEFAULT }));
    settings.extend([2, 4, 8].map(|warps| Settings { warps: Some(warps), ..DEFAULT }));
    settings.extend([16, 8, 4].map(|block| Settings { products: Some(1), block: Some(block), ..DEFAULT }));
    settings
}

/// Squares by Karatsuba's method in shared memory: leaves of single lanes, whose chains may be joined or not. Not
/// joined, kernels of some widths have one to three `P2R` and spill a few bytes; where that matters, measuring finds
/// it.
pub(super) fn square_karatsuba_group(levels: RangeInclusive<u32>) -> Vec<Settings> {
    let loose = levels.clone().map(|levels| Settings { levels: Some(levels), glue: Some(8), ..DEFAULT });
    let mut settings = karatsuba_group(levels);
    settings.extend(loose);
    settings
}

/// Karatsuba's method in shared memory: a block of threads one product or several.
pub(super) fn karatsuba_group(levels: RangeInclusive<u32>) -> Vec<Settings> {
    let mut settings = vec![DEFAULT];
    for levels in levels {
        let level = Settings { levels: Some(levels), ..DEFAULT };
        settings.push(level);
        settings.extend([16, 24].map(|block| Settings { block: Some(block), ..level }));
        settings.extend([4, 8].map(|warps| Settings { warps: Some(warps), ..level }));
        // Few products: all warps of a block on one of them.
        settings.extend([4, 8, 12].map(|warps| Settings { products: Some(1), warps: Some(warps), ..level }));
    }
    settings
}
