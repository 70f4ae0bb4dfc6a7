//! The digits of numbers of `N` limbs in shared memory: from the lanes that have their sums to those that finish their limbs.
//!
//! Each lane finishes a *chunk* of `N/32` limbs. Products have two numbers of `N` limbs, one after the other, their halves.
//!
//! With one or two panels `swizzled` gives the place of a limb's digit, and no access waits for banks. All banks hold 16 digits. Half of a warp puts 16 digits at a
//! time: the numbers of their limbs differ in bits 0 and 1 and in two of bits 4 to 6. A quarter of a warp reads 8 pairs at a time: these differ in three successive bits, from
//! bit 1 or 2 on. Both times the lowest four bits of the places are all different.
//! With more panels a digit of padding follows each two chunks.

use warpmp_kernel::build::{Builder, Emit, R32};
use warpmp_kernel::ir::Vector;
use warpmp_launch::{divide, vector};

use super::room::{ALIGNMENT, PANEL_LIMBS};
use crate::kernels::tensor::layout::{BLOCK_LIMBS, Layout};
use crate::kernels::tensor::multiply::{PanelSums, Sums};
use crate::kernels::tensor::warps::Place;

/// Most panels whose digits are swizzled.
const MOST_SWIZZLED: u32 = 2;

/// Digits in all banks.
const DIGITS: u32 = ALIGNMENT / 8;

/// Where a lane puts digits, and where it finds those of its chunk.
pub(super) struct Digits<'p> {
    layout: Layout,
    place: &'p Place,
    /// None: they are padded.
    swizzle: Option<Swizzle>,
}

struct Swizzle {
    /// The address of the digit of the lane's first block: in products, and where panels have neighbouring blocks. The addresses of its other digits have
    /// some bits flipped.
    products: R32,
    neighbours: R32,
    /// The address of the first pair of the lane's chunk. The other pair is beside it, before or after.
    pair: R32,
}

impl<'p> Digits<'p> {
    /// The places for a lane.
    pub(super) fn new(b: &mut Builder, layout: Layout, place: &'p Place) -> Self {
        let swizzle = (layout.panels <= MOST_SWIZZLED).then(|| {
            let [products, neighbours] = [2 * layout.panels, 2].map(|blocks| {
                let limb = b.mad_lo(place.member, BLOCK_LIMBS * blocks, place.group);
                address(b, place, limb)
            });
            let limb = b.mul_lo(place.lane, chunk(layout));
            Swizzle { products, neighbours, pair: address(b, place, limb) }
        });
        Self { layout, place, swizzle }
    }

    /// Puts the digits of a product.
    pub(super) fn put_product(&self, b: &mut Builder, panels: &[PanelSums]) {
        let Self { layout, place, ref swizzle } = *self;
        if let Some(swizzle) = swizzle {
            layout.put_digits(b, place, panels, 2, |b, block, digit| {
                self.put_swizzled(b, swizzle.products, BLOCK_LIMBS * block, digit);
            });
        } else {
            let padded = layout.padded(b, place);
            layout.put_digits(b, place, panels, 2, |b, block, digit| layout.put(b, &padded, block, digit));
        }
    }

    /// Puts the digits of a number whose panel `p` has blocks `8p` to `8p + 7`: lane `4g + t` has limb `g` of blocks `8p + 2t` and `8p + 2t + 1`.
    pub(super) fn put_neighbours(&self, b: &mut Builder, panels: &[Sums]) {
        let Self { layout, place, ref swizzle } = *self;
        if let Some(swizzle) = swizzle {
            for (sums, p) in panels.iter().zip(0..) {
                for parity in [0, 1] {
                    let digit = layout.fold(b, place, sums, parity);
                    self.put_swizzled(b, swizzle.neighbours, PANEL_LIMBS * p + BLOCK_LIMBS * parity, digit);
                }
            }
            return;
        }
        let first = b.mad_lo(place.member, 2 * BLOCK_LIMBS, place.group);
        // Where a panel has whole chunks of products, all panels are alike.
        let whole = PANEL_LIMBS.is_multiple_of(layout.chunk());
        let mut places: [Option<R32>; 2] = [None; 2];
        for (sums, p) in panels.iter().zip(0..) {
            for parity in [0, 1] {
                let known = &mut places[parity as usize];
                let panel = if whole { 0 } else { p };
                let to = match *known {
                    Some(to) if whole => to,
                    _ => {
                        let limb = b.add(first, BLOCK_LIMBS * parity + PANEL_LIMBS * panel);
                        let chunk = divide(b, limb, layout.chunk(), PANEL_LIMBS * layout.panels);
                        let digit = b.add(limb, chunk);
                        b.mad_lo(digit, 8, place.shared)
                    }
                };
                *known = Some(to);
                let limb = PANEL_LIMBS * (p - panel);
                let digit = layout.fold(b, place, sums, parity);
                b.store_shared(&digit, to, layout.work + 8 * (limb + limb / layout.chunk()));
            }
        }
    }

    /// Puts the digit of the lane's limb in a block that begins `limb` limbs after its first one, whose digit's address is `first`.
    fn put_swizzled(&self, b: &mut Builder, first: R32, limb: u32, digit: [R32; 2]) {
        let flips = swizzled(limb % (PANEL_LIMBS * self.layout.panels)) % DIGITS;
        let to = if flips == 0 { first } else { b.xor(first, 8 * flips) };
        b.store_shared(&digit, to, self.layout.work + 8 * (limb / DIGITS * DIGITS));
    }

    /// The digits of the lane's chunk of half 0 or 1, low words and high words in turn.
    pub(super) fn get(&self, b: &mut Builder, half: u32) -> Vec<R32> {
        let Self { layout, place, ref swizzle } = *self;
        if let Some(Swizzle { pair, .. }) = *swizzle {
            let at = layout.work + 8 * PANEL_LIMBS * layout.panels * half;
            return (0..layout.panels)
                .flat_map(|i| {
                    let pair = if i == 0 { pair } else { b.xor(pair, 16) };
                    b.load_shared(Vector::V4, pair, at)
                })
                .collect();
        }
        let [double, upper] = [b.shr(place.lane, 1), b.and(place.lane, 1)];
        let from = b.mad_lo(double, layout.digit_bytes(), place.shared);
        let from = b.mad_lo(upper, 8 * chunk(layout), from);
        let at = layout.work + 16 * layout.digit_bytes() * half;
        (0..chunk(layout)).flat_map(|i| b.load_shared(vector(2), from, at + 8 * i)).collect()
    }
}

/// Limbs of a chunk.
pub(super) const fn chunk(layout: Layout) -> u32 {
    2 * layout.panels
}

/// Which bits of a limb's number flip which bits of its digit's place: bit 3 flips bit 1, bit 5 bit 2, and bits 4 and 6 flip bit 3. A shift to the right, and the bits that are
/// flipped.
const FLIPS: [(u32, u32); 3] = [(2, 0b10), (3, 0b1100), (1, 0b1000)];

/// The place of a limb's digit.
fn swizzled(limb: u32) -> u32 {
    FLIPS.into_iter().fold(limb, |place, (bits, mask)| place ^ (limb >> bits & mask))
}

/// The address of the digit of a limb below 128 that only the kernel knows.
fn address(b: &mut Builder, place: &Place, limb: R32) -> R32 {
    let mut digit = limb;
    for (bits, mask) in FLIPS {
        let flips = b.shr(limb, bits);
        let flips = b.and(flips, mask);
        digit = b.xor(digit, flips);
    }
    b.mad_lo(digit, 8, place.shared)
}

#[cfg(test)]
mod tests {
    use super::swizzled;

    /// Accesses of half and of a quarter of a warp.
    #[test]
    fn no_access_waits_for_banks() {
        for panels in [1, 2] {
            // Blocks of products, and neighbouring ones.
            for blocks in [2 * panels, 2] {
                for first in (0..64 * panels).filter(|limb| limb % 4 == 0 && limb & (blocks * 8 * 3) == 0) {
                    let mut places: Vec<u32> =
                        (0..16).map(|i| swizzled(first + i % 4 + blocks * 8 * (i / 4)) % 16).collect();
                    places.sort_unstable();
                    assert!(places.into_iter().eq(0..16), "{panels} panels, limb {first}");
                }
            }
            for (quarter, pair) in (0..4).flat_map(|quarter| (0..panels).map(move |pair| (quarter, pair))) {
                let mut places: Vec<u32> =
                    (0..8).map(|i| swizzled(2 * panels * (8 * quarter + i) + 2 * pair) / 2 % 8).collect();
                places.sort_unstable();
                assert!(places.into_iter().eq(0..8), "{panels} panels, quarter {quarter}");
            }
        }
    }

    #[test]
    fn places_are_different() {
        let mut places: Vec<u32> = (0..128).map(swizzled).collect();
        places.sort_unstable();
        assert!(places.into_iter().eq(0..128));
    }
}
