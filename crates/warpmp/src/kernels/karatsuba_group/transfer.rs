//! Operands from global to shared memory, products back: in the order of addresses of global memory, in the
//! widest pieces that the lengths allow.

use warpmp_kernel::build::{Builder, Emit, Pred, R32, R64};
use warpmp_kernel::ir::{Cmp, Space};

use super::layout::{Layout, divide_with_remainder};
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
}

/// A piece of a row: where it is in global and in shared memory, and whether there is such a piece.
struct Piece {
    global: R64,
    shared: R32,
    /// Is it one of the block's? None: always.
    exists: Option<Pred>,
    /// Is it in global memory too? None: always.
    inside: Option<Pred>,
}

impl Layout {
    /// Copies operands to shared memory, padded by zeros, one to each region: the address of the block's first
    /// row, limbs a row, limbs from row to row.
    pub(super) fn load(self, b: &mut Builder, place: &Place, operands: &[(R64, u32, u32)]) {
        let blocks = self.group << self.levels;
        for (&(address, limbs, between), i) in operands.iter().zip(0..) {
            let rows = Rows { address, limbs, between, blocks, alternating: false };
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

    /// Copies the products to global memory, `limbs` a row.
    pub(super) fn store(self, b: &mut Builder, place: &Place, address: R64, limbs: u32) {
        let blocks = self.group << (self.levels + 1);
        let rows = Rows { address, limbs, between: limbs, blocks, alternating: true };
        self.for_pieces(b, place, &rows, |b, pieces, width| {
            // A piece that does not exist is read where the first one is.
            let mut read = |piece: &Piece| {
                let address = piece.exists.map_or(piece.shared, |it| b.select(piece.shared, place.shared, it));
                b.load_shared(vector(width), address, 0)
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
        Piece { global: b.mad_wide(word, 4, rows.address), shared, exists: None, inside }
    }

    /// Gives this thread its share of the pieces, in the widest that the lengths allow, some at a time.
    fn for_pieces(
        self,
        b: &mut Builder,
        place: &Place,
        rows: &Rows,
        mut body: impl FnMut(&mut Builder, &[Piece], u32),
    ) {
        let width = piece(self.block).min(piece(rows.limbs));
        let count = self.products * rows.blocks * self.block / width;
        let threads = self.threads();
        let rounds = count.div_ceil(threads);
        let at_once = rounds.div_ceil(rounds.div_ceil(IN_FLIGHT));
        let mut some = |b: &mut Builder, first: R32, all_exist: u32| {
            let mut one = |i: u32| {
                let number = b.add(first, i * threads);
                let exists = (i >= all_exist).then(|| b.compare(Cmp::Lt, number, count));
                Piece { exists, ..self.piece(b, place, rows, number, width) }
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
