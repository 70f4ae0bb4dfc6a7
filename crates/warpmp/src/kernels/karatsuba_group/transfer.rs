//! Operands from global to shared memory, products back: in the order of addresses of global memory, in the
//! widest pieces that the lengths allow.

use warpmp_kernel::build::{Builder, Emit, Pred, R32, R64};
use warpmp_kernel::ir::{Cmp, Space};

use super::layout::{Layout, divide_with_remainder};
use super::part::Part;
use super::roles::both;
use super::{Place, piece, vector};

/// Pieces a thread has on the way at a time.
const IN_FLIGHT: u32 = 8;

/// Rows of global memory and their place in shared memory.
struct Rows {
    address: R64,
    /// Limbs a row.
    limbs: u32,
    /// Limbs from row to row.
    between: u32,
    /// Blocks that a row takes in shared memory.
    blocks: u32,
    /// Are they a product, whose chunks alternate between the regions?
    alternating: bool,
    /// What part of the product they are; none: all of it.
    part: Option<Part>,
}

/// A piece of a row: where it is in global and in shared memory, and whether there is such a piece.
struct Piece {
    global: R64,
    shared: R32,
    /// Is it one of the block's? None: always.
    exists: Option<Pred>,
    /// Is it in global memory too? None: always.
    inside: Option<Pred>,
    /// Where the next limb of the product is in shared memory, if the piece is cut from two.
    above: Option<R32>,
    /// Does it have bits above the result? None: never.
    cut: Option<Pred>,
}

impl Layout {
    /// Copies operands to shared memory, padded by zeros, one to each region: the address of the block's first
    /// row, limbs a row, limbs from row to row.
    pub(super) fn load(self, b: &mut Builder, place: &Place, operands: &[(R64, u32, u32)]) {
        let blocks = self.group << self.levels;
        for (&(address, limbs, between), i) in operands.iter().zip(0..) {
            let rows = Rows { address, limbs, between, blocks, alternating: false, part: None };
            let region = 4 * self.region() * i;
            self.for_pieces(b, place, &rows, |b, pieces, width| {
                let words: Vec<Vec<R32>> = pieces.iter().map(|piece| load(b, piece, width)).collect();
                for (piece, words) in pieces.iter().zip(&words) {
                    match piece.exists {
                        None => b.store_shared(words, piece.shared, region),
                        Some(p) => b.guarded(p, true, |g| g.store_shared(words, piece.shared, region)),
                    }
                }
            });
        }
    }

    /// Copies the products, or a part of each, to global memory, `limbs` a row.
    pub(super) fn store(self, b: &mut Builder, place: &Place, address: R64, limbs: u32, part: Option<Part>) {
        let blocks = self.group << (self.levels + 1);
        let rows = Rows { address, limbs, between: limbs, blocks, alternating: true, part };
        self.for_pieces(b, place, &rows, |b, pieces, width| {
            // A piece that does not exist is read where the first one is.
            let mut read = |piece: &Piece| {
                let existing = |b: &mut Builder, at: R32| piece.exists.map_or(at, |it| b.select(at, place.shared, it));
                let address = existing(b, piece.shared);
                let mut words = b.load_shared(vector(width), address, 0);
                let (Some(part), Some(top)) = (part, words.last_mut()) else { return words };
                if let Some(above) = piece.above {
                    let above = existing(b, above);
                    let above = b.load_shared(vector(1), above, 0)[0];
                    *top = b.funnel_right(*top, above, part.skip % 32);
                }
                if let Some(cut) = piece.cut {
                    let low = b.and(*top, (1 << (part.bits % 32)) - 1);
                    *top = b.select(low, *top, cut);
                }
                words
            };
            let words: Vec<Vec<R32>> = pieces.iter().map(&mut read).collect();
            for (piece, words) in pieces.iter().zip(&words) {
                match both(b, [piece.exists, piece.inside]) {
                    None => b.store_global(Space::Global, words, piece.global, 0),
                    Some(p) => b.guarded(p, true, |g| g.store_global(Space::Global, words, piece.global, 0)),
                }
            }
        });
    }

    /// The piece with this number, in the order of rows, of `width` limbs.
    fn piece(self, b: &mut Builder, place: &Place, rows: &Rows, number: R32, width: u32) -> Piece {
        let layout = self;
        let (block, part) = divide_with_remainder(b, number, layout.block / width);
        let start = b.mul_lo(part, width);
        let (product, block) = divide_with_remainder(b, block, rows.blocks);
        let (base, place_of_block) =
            if rows.alternating { layout.alternating(b, place.shared, block) } else { (place.shared, block) };
        let place_of_block = b.mad_lo(product, layout.blocks(), place_of_block);
        let shared = layout.block_address(b, base, place_of_block);
        let shared = b.mad_lo(start, 4, shared);
        let limb = b.mad_lo(block, layout.block, start);
        let padded = rows.limbs < rows.blocks * layout.block;
        let in_row = padded.then(|| b.compare(Cmp::Lt, limb, rows.limbs));
        let present = place.present.map(|present| b.compare(Cmp::Lt, product, present));
        let inside = both(b, [in_row, present]);
        let word = b.mad_lo(product, rows.between, limb);
        Piece { global: b.mad_wide(word, 4, rows.address), shared, exists: None, inside, above: None, cut: None }
    }

    /// The piece with this number of the parts of products.
    fn piece_of_part(self, b: &mut Builder, place: &Place, rows: &Rows, part: Part, number: R32, width: u32) -> Piece {
        let (product, piece) = divide_with_remainder(b, number, rows.limbs / width);
        let in_row = b.mul_lo(piece, width);
        let limb = b.add(in_row, part.skip / 32);
        let shared = self.limb_of_product(b, place, product, limb);
        let above = (!part.skip.is_multiple_of(32)).then(|| {
            // Nobody needs what would be above the highest.
            let next = b.add(limb, 1);
            let next = b.min(next, 2 * self.length() - 1);
            self.limb_of_product(b, place, product, next)
        });
        let cut = (!part.bits.is_multiple_of(32)).then(|| b.compare(Cmp::Eq, piece, rows.limbs / width - 1));
        let inside = place.present.map(|present| b.compare(Cmp::Lt, product, present));
        let word = b.mad_lo(product, rows.between, in_row);
        Piece { global: b.mad_wide(word, 4, rows.address), shared, exists: None, inside, above, cut }
    }

    /// The address of a limb of a product.
    fn limb_of_product(self, b: &mut Builder, place: &Place, product: R32, limb: R32) -> R32 {
        let (block, start) = divide_with_remainder(b, limb, self.block);
        let (base, block) = self.alternating(b, place.shared, block);
        let block = b.mad_lo(product, self.blocks(), block);
        let address = self.block_address(b, base, block);
        b.mad_lo(start, 4, address)
    }

    /// Gives this thread its share of the pieces, in the widest that the lengths allow, some at a time.
    fn for_pieces(
        self,
        b: &mut Builder,
        place: &Place,
        rows: &Rows,
        mut body: impl FnMut(&mut Builder, &[Piece], u32),
    ) {
        let mut width = piece(self.block).min(piece(rows.limbs));
        let mut count = self.products * rows.blocks * self.block / width;
        if let Some(part) = rows.part {
            width = if part.skip.is_multiple_of(32) { width.min(piece(part.skip / 32)) } else { 1 };
            count = self.products * rows.limbs / width;
        }
        let threads = self.threads();
        let rounds = count.div_ceil(threads);
        let at_once = rounds.div_ceil(rounds.div_ceil(IN_FLIGHT));
        let mut some = |b: &mut Builder, first: R32, all_exist: u32| {
            let mut one = |i: u32| {
                let number = b.add(first, i * threads);
                let exists = (i >= all_exist).then(|| b.compare(Cmp::Lt, number, count));
                let piece = match rows.part {
                    None => self.piece(b, place, rows, number, width),
                    Some(part) => self.piece_of_part(b, place, rows, part, number, width),
                };
                Piece { exists, ..piece }
            };
            let pieces: Vec<Piece> = (0..at_once).map(&mut one).collect();
            body(b, &pieces, width);
        };
        if rounds == at_once {
            some(b, place.thread, count / threads);
            return;
        }
        let first = b.copy(place.thread);
        b.do_while(|b| {
            some(b, first, if count.is_multiple_of(at_once * threads) { at_once } else { 0 });
            let next = b.add(first, at_once * threads);
            b.set(first, next);
            // The same for all threads: whether there is another round is told by its first piece.
            let round = b.sub(next, place.thread);
            b.compare(Cmp::Lt, round, count)
        });
    }
}

/// Loads a piece; zeros where there is none.
fn load(b: &mut Builder, piece: &Piece, width: u32) -> Vec<R32> {
    let Some(p) = both(b, [piece.exists, piece.inside]) else {
        return b.load_global(Space::GlobalConst, vector(width), piece.global, 0);
    };
    let words: Vec<R32> = (0..width).map(|_| b.copy(0)).collect();
    b.guarded(p, true, |g| g.load_into(Space::GlobalConst, vector(width), &words, piece.global, 0));
    words
}
