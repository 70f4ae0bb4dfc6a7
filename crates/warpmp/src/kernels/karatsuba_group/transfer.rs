//! Operands from global to shared memory, products back: in the order of addresses of global memory, in the
//! widest pieces that the lengths allow.

use warpmp_kernel::build::{Builder, Emit, Pred, R32, R64};
use warpmp_kernel::ir::{Cmp, Space};

use super::layout::divide_with_remainder;
use super::roles::both;
use super::{KaratsubaGroup, Place, piece, vector};

/// Pieces a thread has on the way at a time.
const IN_FLIGHT: u32 = 8;

/// A piece of a row: where it is in global and in shared memory, and whether there is such a piece.
struct Piece {
    global: R64,
    shared: R32,
    /// Is it one of the block's? None: always.
    exists: Option<Pred>,
    /// Is it in global memory too? None: always.
    inside: Option<Pred>,
}

impl KaratsubaGroup {
    /// Copies the operands to shared memory, padded by zeros, and writes the block of zeros.
    pub(super) fn load(&self, b: &mut Builder, place: &Place) {
        let layout = self.layout;
        let [la, lb, _] = self.shape.limbs;
        let first = b.compare(Cmp::Lt, place.thread, layout.block);
        let address = b.mad_lo(place.thread, 4, place.shared);
        let zero = b.copy(0);
        b.guarded(first, true, |g| g.store_shared(&[zero], address, 4 * layout.zeros()));
        for (region, row, limbs) in [(0, place.a, la), (layout.region(), place.b, lb)] {
            let width = piece(layout.block).min(piece(limbs));
            let between = if region > 0 && self.shape.common_b { 0 } else { limbs };
            self.for_pieces(b, place, layout.products * layout.length() / width, |b, numbers| {
                let pieces: Vec<Piece> = numbers
                    .iter()
                    .map(|&(number, exists)| {
                        let (block, start) = self.within(b, number, width);
                        let (product, block) = divide_with_remainder(b, block, layout.group << layout.levels);
                        let shared = b.mad_lo(product, 4 * layout.product(), place.shared);
                        let shared = b.mad_lo(block, 4 * layout.stride(), shared);
                        let shared = b.mad_lo(start, 4, shared);
                        let limb = b.mad_lo(block, layout.block, start);
                        let inside = inside(b, place, [product, limb], [limbs, layout.length()]);
                        let word = b.mad_lo(product, between, limb);
                        Piece { global: b.mad_wide(word, 4, row), shared, exists, inside }
                    })
                    .collect();
                let words: Vec<Vec<R32>> = pieces.iter().map(|piece| load(b, piece, width)).collect();
                for (piece, words) in pieces.iter().zip(&words) {
                    match piece.exists {
                        None => b.store_shared(words, piece.shared, 4 * region),
                        Some(p) => b.guarded(p, true, |g| g.store_shared(words, piece.shared, 4 * region)),
                    }
                }
            });
        }
    }

    /// Copies the products to global memory.
    pub(super) fn store(&self, b: &mut Builder, place: &Place) {
        let layout = self.layout;
        let lc = self.shape.limbs[2];
        let width = piece(layout.block).min(piece(lc));
        self.for_pieces(b, place, 2 * layout.products * layout.length() / width, |b, numbers| {
            let pieces: Vec<Piece> = numbers
                .iter()
                .map(|&(number, exists)| {
                    let (block, start) = self.within(b, number, width);
                    let (product, block) = divide_with_remainder(b, block, layout.group << (layout.levels + 1));
                    let shared = layout.chunked_block_address(b, place.shared, block);
                    let shared = b.mad_lo(product, 4 * layout.product(), shared);
                    let shared = b.mad_lo(start, 4, shared);
                    let limb = b.mad_lo(block, layout.block, start);
                    let inside = inside(b, place, [product, limb], [lc, 2 * layout.length()]);
                    let word = b.mad_lo(product, lc, limb);
                    Piece { global: b.mad_wide(word, 4, place.c), shared, exists, inside }
                })
                .collect();
            let words: Vec<Vec<R32>> = pieces
                .iter()
                .map(|piece| {
                    // A piece that does not exist is read where the first one is.
                    let address = piece.exists.map_or(piece.shared, |it| b.select(piece.shared, place.shared, it));
                    b.load_shared(vector(width), address, 0)
                })
                .collect();
            for (piece, words) in pieces.iter().zip(&words) {
                match both(b, [piece.exists, piece.inside]) {
                    None => b.store_global(Space::Global, words, piece.global, 0),
                    Some(p) => b.guarded(p, true, |g| g.store_global(Space::Global, words, piece.global, 0)),
                }
            }
        });
    }

    /// The block of a piece, and the piece's first limb in it.
    fn within(&self, b: &mut Builder, number: R32, width: u32) -> (R32, R32) {
        let (block, piece) = divide_with_remainder(b, number, self.layout.block / width);
        (block, b.mul_lo(piece, width))
    }

    /// Gives this thread its share of `count` pieces, some at a time: their numbers, and whether they exist.
    fn for_pieces(
        &self,
        b: &mut Builder,
        place: &Place,
        count: u32,
        mut body: impl FnMut(&mut Builder, &[(R32, Option<Pred>)]),
    ) {
        let threads = self.layout.threads();
        let rounds = count.div_ceil(threads);
        let at_once = rounds.div_ceil(rounds.div_ceil(IN_FLIGHT));
        let mut some = |b: &mut Builder, first: R32, all_exist: u32| {
            let numbers: Vec<_> = (0..at_once)
                .map(|i| {
                    let number = b.add(first, i * threads);
                    let exists = (i >= all_exist).then(|| b.compare(Cmp::Lt, number, count));
                    (number, exists)
                })
                .collect();
            body(b, &numbers);
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

/// Is there a limb in global memory? Not every block of threads has all its products, and rows of
/// `limbs` limbs may be shorter than the `padded` ones. None: always.
fn inside(b: &mut Builder, place: &Place, [product, limb]: [R32; 2], [limbs, padded]: [u32; 2]) -> Option<Pred> {
    let in_row = (limbs < padded).then(|| b.compare(Cmp::Lt, limb, limbs));
    let present = place.present.map(|present| b.compare(Cmp::Lt, product, present));
    both(b, [in_row, present])
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
