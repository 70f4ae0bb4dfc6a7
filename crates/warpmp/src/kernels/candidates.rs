//! The settings that are worth measuring, for the ideas that several registers share.
//!
//! Each list begins with the default. Several settings may come to the same kernel, or to one that a GPU cannot
//! launch: [`Register::candidates`](super::Register::candidates) leaves them out. Each kernel takes up to a second of
//! the driver's compiler, so a setting that never won is not here.

use std::ops::RangeInclusive;

use warpmp_kernel::build::Glue;

use super::OperationShape;
use super::mul_thread::Input;
use super::settings::{
    CommonSettings, FftSettings, GroupSettings, KaratsubaSettings, LongSettings, OwnSettings, SharedGroupSettings,
    TensorSettings, ThreadSettings, ThreadSquareSettings, WarpSettings, WarpgroupSettings,
};
use crate::operation::Operation;

/// Sizes of a block of threads.
pub(super) const WARPS: [Option<u32>; 5] = [None, Some(1), Some(2), Some(4), Some(8)];

/// There is nothing to choose.
pub fn default_alone<S: OwnSettings>(_: OperationShape) -> Vec<S> {
    vec![S::default()]
}

/// The usual settings alone, for operands that no group of lanes takes. Shorter ones are not worth measuring.
pub fn beyond_groups<S: OwnSettings>(shape: OperationShape) -> Vec<S> {
    if shape.is_within_group() { Vec::new() } else { default_alone(shape) }
}

/// Only the size of the blocks of threads is free.
pub fn warps(_: OperationShape) -> Vec<WarpSettings> {
    WARPS.map(|warps| WarpSettings { warps }).to_vec()
}

/// One thread a lane; `limbs`: of the longest operand.
pub(super) fn thread(limbs: u32) -> Vec<ThreadSettings> {
    // Direct operands stand in registers as a whole; staging rows of a few sectors gains nothing.
    let inputs = [(Input::Direct, limbs <= 24), (Input::Staged, limbs > 4)];
    let mut settings = vec![ThreadSettings::default()];
    for (input, _) in inputs.into_iter().filter(|(_, sensible)| *sensible) {
        for glue in [1, 2, 3].map(Glue::Every) {
            let all =
                [2, 4, 8].map(|warps| ThreadSettings { input: Some(input), glue: Some(glue), warps: Some(warps) });
            settings.extend(all);
        }
    }
    settings
}

/// As [`thread`], for squares: whole or by halves.
pub(super) fn thread_by_halves(limbs: u32) -> Vec<ThreadSquareSettings> {
    const DEFAULT: ThreadSquareSettings = ThreadSquareSettings { warps: None, glue: None, input: None, halves: None };
    let whole = thread(limbs).into_iter();
    let mut settings: Vec<_> = whole
        .map(|ThreadSettings { warps, glue, input }| ThreadSquareSettings { warps, glue, input, halves: None })
        .collect();
    // Halves save little below 24 limbs, and take registers.
    if limbs >= 24 && limbs.is_multiple_of(2) {
        for halves in [false, true] {
            let way = ThreadSquareSettings { halves: Some(halves), ..DEFAULT };
            settings.extend([2, 4].map(|warps| ThreadSquareSettings { warps: Some(warps), ..way }));
            let glue = Some(Glue::Every(2));
            settings.extend([2, 4].map(|warps| ThreadSquareSettings { warps: Some(warps), glue, ..way }));
        }
    }
    settings
}

const GROUP: GroupSettings = GroupSettings { warps: None, glue: None, input: None, block: None };

/// A group of lanes of a warp a lane of the batch; `limbs`: of the longest operand.
pub(super) fn group(limbs: u32) -> Vec<GroupSettings> {
    let mut settings = vec![GROUP];
    // Shorter blocks let more lanes work on one product, and so few products fill the machine.
    for block in [32, 16, 8, 4, 2, 1] {
        if limbs <= 64 * block {
            settings.extend([2, 4].map(|warps| GroupSettings { block: Some(block), warps: Some(warps), ..GROUP }));
        }
    }
    settings.extend([Input::Direct, Input::Staged].map(|input| GroupSettings { input: Some(input), ..GROUP }));
    settings
}

/// A group of lanes of a warp a part of a product; `limbs`: of the longest operand.
pub(super) fn part_group(limbs: u32) -> Vec<GroupSettings> {
    let mut settings = vec![GROUP];
    for block in [32, 16, 8, 4] {
        if limbs <= 64 * block {
            settings.push(GroupSettings { block: Some(block), ..GROUP });
        }
    }
    settings.extend([Input::Direct, Input::Staged].map(|input| GroupSettings { input: Some(input), ..GROUP }));
    // Low halves by columns have chains of their own length.
    settings.extend([1, 2].map(|glue| GroupSettings { glue: Some(Glue::Every(glue)), ..GROUP }));
    settings.push(GroupSettings { warps: Some(4), ..GROUP });
    settings
}

const KARATSUBA: KaratsubaSettings =
    KaratsubaSettings { warps: None, glue: None, block: None, levels: None, products: None };

/// Karatsuba's method for a part of a product: of what is worth measuring for products, the kinds.
pub(super) fn part_karatsuba(_: OperationShape) -> Vec<KaratsubaSettings> {
    let mut settings = vec![KARATSUBA, KaratsubaSettings { block: Some(16), ..KARATSUBA }];
    settings.extend([1, 2, 3].map(|levels| KaratsubaSettings { levels: Some(levels), ..KARATSUBA }));
    settings.extend([4, 8].map(|warps| KaratsubaSettings { warps: Some(warps), levels: Some(3), ..KARATSUBA }));
    settings.extend([4, 8].map(|warps| KaratsubaSettings { warps: Some(warps), products: Some(1), ..KARATSUBA }));
    settings
}

/// A group of lanes a lane of the batch, with sums in shared memory: a block of threads one or several.
pub(super) fn shared_group() -> Vec<SharedGroupSettings> {
    const SHARED: SharedGroupSettings = SharedGroupSettings { warps: None, glue: None, block: None, products: None };
    let mut settings = vec![SHARED];
    settings.extend([32, 24, 16, 8, 4].map(|block| SharedGroupSettings { block: Some(block), ..SHARED }));
    settings.extend([2, 4, 8].map(|warps| SharedGroupSettings { warps: Some(warps), ..SHARED }));
    settings.extend([16, 8, 4].map(|block| SharedGroupSettings { products: Some(1), block: Some(block), ..SHARED }));
    settings
}

/// Squares by Karatsuba's method in shared memory: leaves of single lanes, whose chains may be joined or not. Not
/// joined, kernels of some widths have one to three `P2R` and spill a few bytes; where that matters, measuring finds
/// it.
pub(super) fn square_karatsuba_group(levels: RangeInclusive<u32>) -> Vec<KaratsubaSettings> {
    let loose = levels.clone().map(|levels| KaratsubaSettings {
        levels: Some(levels),
        glue: Some(Glue::Every(8)),
        ..KARATSUBA
    });
    let mut settings = karatsuba_group(levels);
    settings.extend(loose);
    settings
}

/// Karatsuba's method in shared memory: a block of threads one product or several.
pub(super) fn karatsuba_group(levels: RangeInclusive<u32>) -> Vec<KaratsubaSettings> {
    let mut settings = vec![KARATSUBA];
    for levels in levels {
        let level = KaratsubaSettings { levels: Some(levels), ..KARATSUBA };
        settings.push(level);
        settings.extend([16, 24].map(|block| KaratsubaSettings { block: Some(block), ..level }));
        settings.extend([4, 8].map(|warps| KaratsubaSettings { warps: Some(warps), ..level }));
        // Few products: all warps of a block on one of them.
        settings.extend([4, 8, 12].map(|warps| KaratsubaSettings { products: Some(1), warps: Some(warps), ..level }));
    }
    settings
}

/// A warp a product on tensor cores: many products a warp amortise its beginning, few fill the machine.
pub(super) fn tensor() -> Vec<TensorSettings> {
    let mut settings = vec![TensorSettings::default()];
    for warps in [1, 2, 4] {
        let of = |products| TensorSettings { warps: Some(warps), products: Some(products) };
        settings.extend([warps, 4 * warps, 8 * warps].map(of));
    }
    settings
}

/// Four warps a product on tensor cores: many products a block amortise its beginning, few fill the machine.
pub(super) fn warpgroup() -> Vec<WarpgroupSettings> {
    [None, Some(1), Some(4), Some(8), Some(32)].map(|products| WarpgroupSettings { products }).to_vec()
}

/// One modulus for all lanes on tensor cores: many turns amortise the matrices of the modulus, few fill the machine.
/// Powers have no turns.
pub(super) fn common(operation: Operation) -> Vec<CommonSettings> {
    let turns: &[_] =
        if operation == Operation::PowMod { &[None] } else { &[None, Some(1), Some(2), Some(4), Some(16)] };
    turns.iter().map(|&turns| CommonSettings { turns }).collect()
}

/// A block a product by transforms: whole, or in two parts. Above 65536 bits: four steps, or a block.
pub(super) fn fft() -> Vec<FftSettings> {
    [None, Some(0), Some(1)].map(|levels| FftSettings { levels }).to_vec()
}

/// Long numbers by products: above 65536 bits in four steps, or to 196608 bits by a block. Where a product of these lengths
/// cannot occur, there is nothing to choose.
pub(super) fn long(shape: OperationShape) -> Vec<LongSettings> {
    let choices: &[_] = if shape.is_within_group() { &[None] } else { &[None, Some(true)] };
    choices.iter().map(|&blocks| LongSettings { blocks }).collect()
}
