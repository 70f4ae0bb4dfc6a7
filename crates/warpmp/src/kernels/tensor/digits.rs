//! The digits of numbers of `N` limbs in shared memory: from the lanes that have their sums to those that finish their limbs.
//!
//! Each lane finishes a *chunk* of `N/32` limbs. Products have two numbers of `N` limbs, one after the other, their halves.
//!
//! All banks together hold 16 digits. Half of a warp stores 16 digits at a time, and a quarter of a warp loads 8 pairs at a time. An access has no bank conflict if the lowest four
//! bits of the 16 places differ. So some bits of a limb's number flip others:
//!
//! * With one or two panels, `FLIPS` serve products and half products. The limbs of digits that are stored together differ in bits 0 and 1 and in two of bits 4 to 6, those of pairs
//!   that are loaded together in three successive bits, from bit 1 or 2 on. There is no conflict.
//! * `FLIPS_OF_HALF_PRODUCTS` serve half products with any number of panels. The limbs of digits that are stored together differ in bits 0, 1, 4 and 5, so stores have no
//!   conflict. Squares have these flips, too: with groups of two panels their limbs differ in bits 0, 1, 5 and 6. Loads have none if the number of panels is a power of two; with others they take 2.2 to 3.2 times as long on average.
//! * With more than two panels, a digit of padding follows each two chunks of a product.
//! * An odd number of strips has chunks of an odd number of limbs, and single digits are loaded. In products four digits of padding follow each 16 chunks of a half, as in `strip`, and there is no conflict.
//! * In half products with strips the limbs of digits that are stored together differ in bits 0, 1, 3 and 4. `FLIPS_OF_STRIPS` serve: stores have no conflict, loads take up to twice as long.

use warpmp_kernel::build::{Builder, Emit, R32};
use warpmp_kernel::ir::Vector;

use super::layout::{BLOCK_LIMBS, Layout, PANEL_LIMBS};
use super::multiply::{HalfSums, ProductSums, Sums};
use super::part::add;
use super::result::{digit, doubled_digit};
use super::strip::{self, DIGITS_PADDING, STRIP_BLOCKS, first_own_place};
use super::warps::{ALIGNMENT, Place};

/// Most panels for which [`FLIPS`] serve.
const MOST_SWIZZLED: u32 = 2;

/// Most addresses of pairs, or of single digits, that a lane keeps.
const MOST_KEPT_PAIRS: u32 = 8;

/// Digits in all banks.
const DIGITS: u32 = ALIGNMENT / 8;

/// Where a lane puts the digits of products and of half products, and where it finds those of its chunk.
pub(super) struct Digits<'p> {
    layout: Layout,
    place: &'p Place,
    places: Places,
}

enum Places {
    Swizzled(Swizzle),
    /// Those of products are padded.
    Padded,
    OfStrips(PlacesOfStrips),
}

/// The places of an odd number of strips.
struct PlacesOfStrips {
    /// The address of the digit of the lane's first block of a product.
    products: R32,
    /// The address of the first digit of the lane's chunk of the low half of a product.
    chunk: R32,
    puts: Puts,
    gets: Gets,
}

struct Swizzle {
    /// The address of the digit of the lane's first block: in products, and in half products. The addresses of its other digits have some bits flipped.
    products: R32,
    half_products: R32,
    /// The address of the first pair of the lane's chunk. The other pair is beside it, before or after.
    pair: R32,
}

impl<'p> Digits<'p> {
    /// The places for a lane.
    pub(super) fn new(b: &mut Builder, layout: Layout, place: &'p Place) -> Self {
        let limbs = PANEL_LIMBS * layout.panels;
        if let Some(strips) = layout.strips {
            return Self { layout, place, places: Places::OfStrips(PlacesOfStrips::new(b, layout, place, strips)) };
        }
        let swizzle = (layout.panels <= MOST_SWIZZLED).then(|| {
            let [products, half_products] = [2 * layout.panels, 2].map(|blocks| {
                let limb = b.mad_lo(place.member, BLOCK_LIMBS * blocks, place.group);
                address(b, place, (limb, limbs), &FLIPS)
            });
            let limb = b.mul_lo(place.lane, chunk(layout));
            Swizzle { products, half_products, pair: address(b, place, (limb, limbs), &FLIPS) }
        });
        Self { layout, place, places: swizzle.map_or(Places::Padded, Places::Swizzled) }
    }

    /// Puts the digits of a product.
    pub(super) fn put_product(&self, b: &mut Builder, sums: &ProductSums) {
        let Self { layout, place, ref places } = *self;
        match places {
            Places::Swizzled(swizzle) => layout.put_digits(b, place, sums, |b, block, digit| {
                layout.put_flipped(b, (swizzle.products, &FLIPS), BLOCK_LIMBS * block, digit);
            }),
            Places::Padded => {
                let padded = layout.padded(b, place);
                layout.put_digits(b, place, sums, |b, block, digit| layout.put(b, &padded, block, digit));
            }
            Places::OfStrips(strips) => layout.put_digits(b, place, sums, |b, block, digit| {
                b.store_shared(&digit, strips.products, layout.work + layout.own_place(block));
            }),
        }
    }

    /// Puts the digits of a half product. No sum is above `greatest`.
    pub(super) fn put_half_product(&self, b: &mut Builder, panels: &[HalfSums], greatest: u64) {
        let Self { layout, place, ref places } = *self;
        match places {
            Places::Swizzled(swizzle) => layout.fold_half_product(b, place, (panels, greatest), |b, limb, digit| {
                layout.put_flipped(b, (swizzle.half_products, &FLIPS), limb, digit);
            }),
            Places::Padded => Puts::new(b, layout, place).put(b, place, panels, greatest),
            Places::OfStrips(strips) => strips.puts.put(b, place, panels, greatest),
        }
    }

    /// The digits of the lane's chunk of a half product, low words and high words in turn.
    pub(super) fn get_half_product(&self, b: &mut Builder) -> Vec<R32> {
        let Self { layout, place, ref places } = *self;
        match places {
            Places::Swizzled(_) => self.get(b, 0),
            Places::Padded => Gets::new(b, layout, place).get(b, place),
            Places::OfStrips(strips) => strips.gets.get(b, place),
        }
    }

    /// The digits of the lane's chunk of half 0 or 1, low words and high words in turn.
    pub(super) fn get(&self, b: &mut Builder, half: u32) -> Vec<R32> {
        let Self { layout, place, ref places } = *self;
        let pairs = |b: &mut Builder, from: R32, at: u32| {
            (0..chunk(layout)).flat_map(|i| b.load_shared(Vector::V2, from, at + 8 * i)).collect()
        };
        match *places {
            Places::Swizzled(Swizzle { pair, .. }) => {
                let at = layout.work + 8 * PANEL_LIMBS * layout.panels * half;
                let pairs = (0..layout.panels).flat_map(|i| {
                    let pair = flipped(b, (pair, &FLIPS), 2 * i);
                    b.load_shared(Vector::V4, pair, at)
                });
                pairs.collect()
            }
            Places::Padded => {
                let [double, upper] = [b.shr(place.lane, 1), b.and(place.lane, 1)];
                let from = b.mad_lo(double, layout.digit_bytes(), place.shared);
                let from = b.mad_lo(upper, 8 * chunk(layout), from);
                pairs(b, from, layout.work + 16 * layout.digit_bytes() * half)
            }
            Places::OfStrips(ref strips) => {
                pairs(b, strips.chunk, layout.work + layout.own_place(layout.columns() * half))
            }
        }
    }
}

impl PlacesOfStrips {
    fn new(b: &mut Builder, layout: Layout, place: &Place, strips: u32) -> Self {
        let half = b.shr(place.lane, 4);
        let own = b.mad_lo(half, DIGITS_PADDING, place.shared);
        Self {
            products: first_own_place(b, place, strips),
            chunk: b.mad_lo(place.lane, 8 * chunk(layout), own),
            puts: Puts::new(b, layout, place),
            gets: Gets::new(b, layout, place),
        }
    }
}

impl Layout {
    /// Puts the digit of the lane's limb in a block that begins `limb` limbs after its first one, whose digit's address is `first`. Both halves of a product have the same flips.
    fn put_flipped(self, b: &mut Builder, (first, flips): (R32, &Flips), limb: u32, digit: [R32; 2]) {
        let to = flipped(b, (first, flips), limb % (PANEL_LIMBS * self.panels));
        b.store_shared(&digit, to, self.work + 8 * (limb / DIGITS * DIGITS));
    }

    /// Makes the digits of a half product. Panel `p` has blocks `8p` to `8p + 7`: lane `4g + t` has limb `g` of blocks `8p + 2t` and `8p + 2t + 1`. Strip `p` has blocks `4p` to `4p + 3`, and
    /// the lane limb `g` of block `4p + t`. `put` gets each digit, and how many limbs it is after the first one.
    fn fold_half_product(
        self,
        b: &mut Builder,
        place: &Place,
        (panels, greatest): (&[HalfSums], u64),
        mut put: impl FnMut(&mut Builder, u32, [R32; 2]),
    ) {
        for (sums, p) in panels.iter().zip(0..) {
            if self.strips.is_some() {
                let digit = strip::digit_of(b, place, sums[0], greatest);
                put(b, BLOCK_LIMBS * STRIP_BLOCKS * p, digit);
                continue;
            }
            for parity in [0, 1] {
                let digit = digit(b, self.of_limb(sums, parity), place.bytes, greatest);
                put(b, PANEL_LIMBS * p + BLOCK_LIMBS * parity, digit);
            }
        }
    }
}

/// Where a lane puts digits of a half product, with any number of panels, or with an odd number of strips.
pub(super) struct Puts {
    layout: Layout,
    /// The address of the digit of the lane's first block.
    first: R32,
    flips: &'static Flips,
    /// Blocks from a column to the next.
    apart: u32,
}

impl Puts {
    pub(super) fn new(b: &mut Builder, layout: Layout, place: &Place) -> Self {
        if layout.strips.is_none() {
            return Self::of_panels(b, layout, place, 1);
        }
        let limb = b.mad_lo(place.member, BLOCK_LIMBS, place.group);
        let flips = &FLIPS_OF_STRIPS;
        Self { layout, first: address(b, place, (limb, BLOCK_LIMBS * STRIP_BLOCKS), flips), flips, apart: 1 }
    }

    /// The same where the blocks of a panel are `apart` blocks apart.
    pub(super) fn of_panels(b: &mut Builder, layout: Layout, place: &Place, apart: u32) -> Self {
        let first = b.mad_lo(place.member, 2 * BLOCK_LIMBS * apart, place.group);
        let flips = &FLIPS_OF_HALF_PRODUCTS;
        Self { layout, first: address(b, place, (first, PANEL_LIMBS * apart), flips), flips, apart }
    }

    /// Puts the doubled digits of a panel that begins with this block. `addends` are added to those of the lane's even and odd column.
    pub(super) fn put_doubled(
        &self,
        b: &mut Builder,
        place: &Place,
        block: u32,
        sums: &Sums,
        addends: Option<[R32; 2]>,
    ) {
        let Self { layout, first, flips, apart } = *self;
        for parity in [0, 1] {
            let values = layout.of_limb(sums, parity);
            let mut digit = doubled_digit(b, values, place.bytes);
            if let Some(addends) = addends {
                add(b, &mut digit, addends[parity as usize]);
            }
            let limb = BLOCK_LIMBS * (block + apart * parity);
            layout.put_flipped(b, (first, flips), limb, digit);
        }
    }

    /// Puts the digits. No sum is above `greatest`.
    pub(super) fn put(&self, b: &mut Builder, place: &Place, panels: &[HalfSums], greatest: u64) {
        let Self { layout, first, flips, .. } = *self;
        layout.fold_half_product(b, place, (panels, greatest), |b, limb, digit| {
            layout.put_flipped(b, (first, flips), limb, digit);
        });
    }
}

/// Where a lane finds the digits of its chunk of a half product.
pub(super) struct Gets {
    layout: Layout,
    pairs: Pairs,
}

/// The addresses of the pairs of a chunk.
enum Pairs {
    /// That of the first one. The others' have some bits flipped.
    Flipped(R32),
    All(Vec<R32>),
    /// They are computed anew, from the first limb of the chunk.
    Computed(R32),
    /// Those of single digits: with strips there are no pairs.
    Single(Vec<R32>),
    /// Those of single digits, which are computed anew, from the first limb of the chunk.
    SingleComputed(R32),
}

impl Gets {
    pub(super) fn new(b: &mut Builder, layout: Layout, place: &Place) -> Self {
        let limb = b.mul_lo(place.lane, chunk(layout));
        let pairs = if layout.strips.is_some() {
            if chunk(layout) <= MOST_KEPT_PAIRS {
                Pairs::Single((0..chunk(layout)).map(|i| single_address(b, place, layout, limb, i)).collect())
            } else {
                Pairs::SingleComputed(limb)
            }
        } else if layout.panels.is_power_of_two() {
            Pairs::Flipped(address(b, place, (limb, PANEL_LIMBS * layout.panels), &FLIPS_OF_HALF_PRODUCTS))
        } else if layout.panels <= MOST_KEPT_PAIRS {
            Pairs::All((0..layout.panels).map(|i| pair_address(b, place, layout, limb, i)).collect())
        } else {
            Pairs::Computed(limb)
        };
        Self { layout, pairs }
    }

    /// The digits, low words and high words in turn.
    pub(super) fn get(&self, b: &mut Builder, place: &Place) -> Vec<R32> {
        let layout = self.layout;
        let single = |b: &mut Builder, from: R32| b.load_shared(Vector::V2, from, layout.work);
        (0..if layout.strips.is_some() { chunk(layout) } else { layout.panels })
            .flat_map(|i| {
                let (from, at) = match &self.pairs {
                    Pairs::Flipped(pair) => {
                        (flipped(b, (*pair, &FLIPS_OF_HALF_PRODUCTS), 2 * i), 8 * (2 * i / DIGITS * DIGITS))
                    }
                    Pairs::All(pairs) => (pairs[i as usize], 0),
                    Pairs::Computed(limb) => (pair_address(b, place, layout, *limb, i), 0),
                    Pairs::Single(digits) => return single(b, digits[i as usize]),
                    Pairs::SingleComputed(limb) => {
                        let from = single_address(b, place, layout, *limb, i);
                        return single(b, from);
                    }
                };
                b.load_shared(Vector::V4, from, layout.work + at)
            })
            .collect()
    }
}

/// `first` is the address of the digit of a limb. The address of the digit that is `limbs` limbs further, without the bytes of whole groups of 16 digits. The two numbers of limbs have no
/// bit in common.
fn flipped(b: &mut Builder, (first, flips): (R32, &Flips), limbs: u32) -> R32 {
    let flips = swizzled(limbs, flips) % DIGITS;
    if flips == 0 { first } else { b.xor(first, 8 * flips) }
}

/// The address of pair `i` of a chunk that begins with this limb.
fn pair_address(b: &mut Builder, place: &Place, layout: Layout, limb: R32, i: u32) -> R32 {
    let limb = b.add(limb, 2 * i);
    address(b, place, (limb, PANEL_LIMBS * layout.panels), &FLIPS_OF_HALF_PRODUCTS)
}

/// The address of digit `i` of a chunk that begins with this limb, with strips.
fn single_address(b: &mut Builder, place: &Place, layout: Layout, limb: R32, i: u32) -> R32 {
    let limb = b.add(limb, i);
    address(b, place, (limb, BLOCK_LIMBS * layout.columns()), &FLIPS_OF_STRIPS)
}

/// Limbs of a chunk.
pub(super) const fn chunk(layout: Layout) -> u32 {
    layout.columns() / 4
}

/// Which bits of a limb's number flip which bits of its digit's place: a shift to the right, and the bits that are flipped.
type Flips = [(u32, u32)];

/// In products: bit 3 flips bit 1, bit 5 bit 2, and bits 4 and 6 flip bit 3.
const FLIPS: [(u32, u32); 3] = [(2, 0b10), (3, 0b1100), (1, 0b1000)];

/// In half products and squares: bit 4 flips bits 1 and 2, bit 5 bits 1 and 3, bit 6 bit 2, bit 7 bit 1.
const FLIPS_OF_HALF_PRODUCTS: [(u32, u32); 4] = [(2, 0b1100), (3, 0b10), (4, 0b110), (6, 0b10)];

/// In half products with strips: bit 4 flips bit 2.
const FLIPS_OF_STRIPS: [(u32, u32); 1] = [(2, 0b100)];

/// The place of a limb's digit.
fn swizzled(limb: u32, flips: &Flips) -> u32 {
    flips.iter().fold(limb, |place, (bits, mask)| place ^ (limb >> bits & mask))
}

/// The address of the digit of a limb whose number, below `end`, is in a register.
fn address(b: &mut Builder, place: &Place, (limb, end): (R32, u32), flips: &Flips) -> R32 {
    let ones = end.next_power_of_two() - 1;
    let mut digit = limb;
    for &(bits, mask) in flips.iter().filter(|(bits, mask)| ones >> bits & mask != 0) {
        let flips = b.shr(limb, bits);
        let flips = b.and(flips, mask);
        digit = b.xor(digit, flips);
    }
    b.mad_lo(digit, 8, place.shared)
}

#[cfg(test)]
mod tests {
    use super::{FLIPS, FLIPS_OF_HALF_PRODUCTS, FLIPS_OF_STRIPS, Flips, swizzled};

    /// How long accesses to these places at the same time wait for banks that hold `all` of them.
    fn waits(places: impl Iterator<Item = u32>, all: u32) -> u32 {
        let mut counts = [0; 16];
        places.for_each(|place| counts[(place % all) as usize] += 1);
        counts.into_iter().max().unwrap_or(0) - 1
    }

    /// The waits of puts of limbs, four members with `blocks` blocks between them, and of gets.
    fn waits_of(panels: u32, blocks: u32, flips: &Flips) -> [u32; 2] {
        let limbs = 64 * panels;
        let puts = (0..limbs)
            .filter(|limb| limb % 4 == 0 && (limb / (8 * blocks)).is_multiple_of(4))
            .map(|first| waits((0..16).map(|i| swizzled(first + i % 4 + blocks * 8 * (i / 4), flips)), 16));
        let gets = (0..4).flat_map(|quarter| (0..panels).map(move |pair| (quarter, pair))).map(|(quarter, pair)| {
            waits((0..8).map(|i| swizzled(2 * panels * (8 * quarter + i) + 2 * pair, flips) / 2), 8)
        });
        [puts.sum(), gets.sum()]
    }

    #[test]
    fn no_access_waits_for_banks() {
        for panels in [1, 2] {
            assert_eq!(waits_of(panels, 2 * panels, &FLIPS), [0, 0], "{panels} panels");
        }
        for panels in 1..=20 {
            let [puts, gets] = waits_of(panels, 2, &FLIPS_OF_HALF_PRODUCTS);
            assert_eq!(puts, 0, "{panels} panels");
            // Waits beyond the four accesses of a load.
            let most = if panels.is_power_of_two() { 0 } else { 4 * panels * 9 / 4 };
            assert!(gets <= most, "{panels} panels: {gets}");
        }
        // Squares have a power of two of panels.
        for panels in [8, 16] {
            assert_eq!(waits_of(panels, 4, &FLIPS_OF_HALF_PRODUCTS), [0, 0], "{panels} panels of a square");
        }
    }

    /// Strips: four members have neighbouring blocks, and a lane has as many limbs as there are strips.
    #[test]
    fn stores_of_strips_do_not_wait() {
        for strips in (3..=13).step_by(2) {
            let firsts = (0..32 * strips).filter(|limb: &u32| limb.is_multiple_of(4) && (limb / 8).is_multiple_of(4));
            let puts =
                firsts.map(|first| waits((0..16).map(|i| swizzled(first + i % 4 + 8 * (i / 4), &FLIPS_OF_STRIPS)), 16));
            assert_eq!(puts.sum::<u32>(), 0, "{strips} strips");
            for (half, digit) in (0..2).flat_map(|half| (0..strips).map(move |digit| (half, digit))) {
                let gets = (0..16).map(|lane| swizzled(strips * (16 * half + lane) + digit, &FLIPS_OF_STRIPS));
                assert!(waits(gets, 16) <= 1, "{strips} strips");
            }
        }
    }

    #[test]
    fn places_are_different() {
        for flips in [&FLIPS[..], &FLIPS_OF_HALF_PRODUCTS, &FLIPS_OF_STRIPS] {
            let mut places: Vec<u32> = (0..1280).map(|limb| swizzled(limb, flips)).collect();
            places.sort_unstable();
            assert!(places.into_iter().eq(0..1280));
        }
    }
}
