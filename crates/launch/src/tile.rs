//! Tiles of 32 rows of a warp, on their way between global and shared memory.
//!
//! A tile is contiguous in global memory whatever the length of its rows: the warp copies it in pieces of 16 bytes in the
//! order of addresses. In shared memory it lies as in global memory, unless the length of its rows is a multiple of
//! 8 limbs. Then the pieces of each aligned group of `g` change places: piece `p` of row `r` goes to `p xor x`,
//! `x = r·g/8 mod g`, where `g` is the largest of 2, 4 and 8 that divides the pieces of a row.
//!
//! banks: a row is accessed in the widest pieces that its length allows. The stride of rows is an odd multiple of the
//! piece, so a phase of the access touches every bank once; or the stride is a multiple of `g` pieces, and rows
//! that begin at the same bank have different `x`. A phase of a copy has one line of 128 bytes, its pieces in
//! another order. (Padding costs asynchronous copies of short rows a fifth.)

use warpmp_kernel::build::{Builder, Emit, R32, R64};
use warpmp_kernel::ir::{Cmp, Space};

use crate::{divide, piece, vector};

/// A tile in shared memory.
#[derive(Clone, Copy, Debug)]
pub struct Tile {
    /// Limbs a row.
    limbs: u32,
    /// Pieces that change places; 1 if all stay.
    mixed: u32,
}

impl Tile {
    /// A tile of rows of this many limbs.
    pub const fn new(limbs: u32) -> Self {
        let mixed = match limbs % 32 {
            0 => 8,
            16 => 4,
            8 | 24 => 2,
            _ => 1,
        };
        Self { limbs, mixed }
    }

    /// Bytes of shared memory.
    pub const fn bytes(self) -> u32 {
        128 * self.limbs
    }

    /// The bytes `16·x` that the places of a row's pieces are turned by.
    fn turn(self, b: &mut Builder, row: R32) -> R32 {
        let turn = b.shr(row, (8 / self.mixed).trailing_zeros());
        let turn = b.and(turn, self.mixed - 1);
        b.shl(turn, 4)
    }

    /// A lane's row in the region of shared memory.
    pub fn row(self, b: &mut Builder, lane: R32, region: R32) -> TileRow {
        let start = b.mad_lo(lane, 4 * self.limbs, region);
        if self.mixed == 1 {
            return TileRow { tile: self, pieces: vec![start] };
        }
        let turn = self.turn(b, lane);
        let piece = |k: u32| {
            let place = b.xor(turn, 16 * k);
            b.add(start, place)
        };
        TileRow { tile: self, pieces: (0..self.mixed).map(piece).collect() }
    }

    /// Pieces of 16 bytes.
    const fn pieces(self) -> u32 {
        8 * self.limbs
    }

    /// The addresses in shared memory of piece `lane + 32k`, less 512·k bytes, for the first steps `k`; then they
    /// repeat.
    fn places(self, b: &mut Builder, lane: R32, region: R32) -> Vec<R32> {
        if self.mixed == 1 {
            return vec![b.mad_lo(lane, 16, region)];
        }
        let flat = b.shl(lane, 4);
        let columns = self.limbs / 4;
        // A step of 32 pieces is a multiple of `g` turns, or half of one.
        let steps = if columns == self.mixed { columns.div_ceil(4) } else { self.steps() };
        let place = |k: u32| {
            let piece = b.add(lane, 32 * k);
            let row = divide(b, piece, columns, self.pieces());
            let turn = self.turn(b, row);
            let place = b.xor(flat, turn);
            b.add(region, place)
        };
        (0..steps).map(place).collect()
    }

    /// The lanes that have a piece in step `k`: none if all have.
    fn inside(self, b: &mut Builder, lane: R32, k: u32) -> Option<warpmp_kernel::build::Pred> {
        (32 * (k + 1) > self.pieces()).then(|| b.compare(Cmp::Lt, lane, self.pieces() - 32 * k))
    }

    const fn steps(self) -> u32 {
        self.pieces().div_ceil(32)
    }

    /// Copies the tile to a region of shared memory; `source` is the tile's address. The caller waits for asynchronous
    /// copies.
    pub fn copy_in(self, b: &mut Builder, lane: R32, source: R64, region: R32, asynchronous: bool) {
        let from = b.mad_wide(lane, 16, source);
        let places = self.places(b, lane, region);
        let place = |k: u32| places[k as usize % places.len()];
        let mut loaded = Vec::new();
        for k in 0..self.steps() {
            let inside = self.inside(b, lane, k);
            if asynchronous {
                let (to, offset) = (place(k), 512 * k);
                match inside {
                    None => b.copy_async(16, to, offset, from, offset),
                    Some(inside) => b.guarded(inside, true, |g| g.copy_async(16, to, offset, from, offset)),
                }
            } else {
                let words: Vec<R32> = match inside {
                    None => b.load_global(Space::GlobalConst, vector(4), from, 512 * k),
                    Some(inside) => {
                        let words: Vec<R32> = (0..4).map(|_| b.copy(0)).collect();
                        b.guarded(inside, true, |g| {
                            g.load_into(Space::GlobalConst, vector(4), &words, from, 512 * k);
                        });
                        words
                    }
                };
                loaded.push(words);
            }
        }
        for (k, words) in loaded.into_iter().enumerate() {
            let (to, offset) = (place(k as u32), 512 * k as u32);
            match self.inside(b, lane, k as u32) {
                None => b.store_shared(&words, to, offset),
                Some(inside) => b.guarded(inside, true, |g| g.store_shared(&words, to, offset)),
            }
        }
    }

    /// Copies the tile from a region of shared memory; `target` is the tile's address.
    pub fn copy_out(self, b: &mut Builder, lane: R32, target: R64, region: R32) {
        let to = b.mad_wide(lane, 16, target);
        let places = self.places(b, lane, region);
        for k in 0..self.steps() {
            let (from, offset) = (places[k as usize % places.len()], 512 * k);
            match self.inside(b, lane, k) {
                None => {
                    let words = b.load_shared(vector(4), from, offset);
                    b.store_global(Space::GlobalStream, &words, to, 512 * k);
                }
                Some(inside) => b.guarded(inside, true, |g| {
                    let words = g.load_shared(vector(4), from, offset);
                    g.store_global(Space::GlobalStream, &words, to, 512 * k);
                }),
            }
        }
    }
}

/// A row of a tile in shared memory.
#[derive(Debug)]
pub struct TileRow {
    tile: Tile,
    /// The addresses of its first pieces; the others follow in the same order.
    pieces: Vec<R32>,
}

impl TileRow {
    /// Address and offset of a limb that begins a piece.
    fn place(&self, limb: u32) -> (R32, u32) {
        let mixed = 4 * self.pieces.len() as u32;
        if mixed == 4 {
            return (self.pieces[0], 4 * limb);
        }
        (self.pieces[(limb % mixed / 4) as usize], 4 * (limb / mixed * mixed))
    }

    /// The piece that begins at a limb.
    pub fn read_piece(&self, b: &mut Builder, limb: u32) -> Vec<R32> {
        let (address, offset) = self.place(limb);
        b.load_shared(vector(piece(self.tile.limbs)), address, offset)
    }

    /// Writes the piece that begins at a limb.
    pub fn write_piece(&self, b: &mut Builder, limb: u32, words: &[R32]) {
        let (address, offset) = self.place(limb);
        b.store_shared(words, address, offset);
    }

    /// All limbs.
    pub fn read(&self, b: &mut Builder) -> Vec<R32> {
        let width = piece(self.tile.limbs);
        (0..self.tile.limbs).step_by(width as usize).flat_map(|limb| self.read_piece(b, limb)).collect()
    }

    /// Writes all limbs.
    pub fn write(&self, b: &mut Builder, limbs: &[R32]) {
        let width = piece(self.tile.limbs);
        for (i, words) in limbs.chunks(width as usize).enumerate() {
            self.write_piece(b, i as u32 * width, words);
        }
    }
}
