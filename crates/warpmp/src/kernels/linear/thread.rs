//! `thread`: a row a thread, all limbs in its registers.
//!
//! requires   operands and results of at most 97 limbs (3072 bits and a carry), of modular sums and products 48; buffers padded to whole tiles of 32 lanes
//! launch     32·warps threads a block; a warp takes a tile of 32 lanes, of rows of 1 limb four, of 2 limbs two; shared memory for the longer of its
//!            operands and its results, 128 bytes a limb
//! cost       the limbs' additions, one each; every sector of global memory once
//! registers  the limbs of all operands and about 24
//!
//! Rows of 1, 2 or 4 limbs are read and written where they lie: a warp's access is contiguous. Longer ones,
//! and those of 3, are copied tile by tile through shared memory (`tile.rs`). A common operand is read by every
//! thread at the same address. No barrier is wider than a warp.
//!
//! bound: see `operations.rs`; a carry is one chain from limb 0 to the top.
//! source: Carlessi and Kashani 2013, 3.6.4 to 3.6.7, for the chains; the staging is ours.

use warpmp_kernel::build::{Builder, Emit, R32, R64};
use warpmp_kernel::fragment::Rows;
use warpmp_kernel::ir::{Bounds, Cmp, Kernel, Space};
use warpmp_launch::{Entry, Tile, TileLane, TileRow, piece, vector};

use super::frame::{Frame, Number};
use super::{Linear, OperandShape};
use crate::kernels::OperationShape;
use crate::operation::{Group, Operation};

/// Longest row, in limbs. Sums and the like hold two operands; modular sums hold three, products rows of
/// accumulators.
fn max_limbs(operation: Operation) -> u32 {
    if matches!(operation.group(), Group::Linear) { 97 } else { 48 }
}

/// Does the kernel take these operands?
pub(super) fn fits(shape: OperationShape) -> bool {
    Linear::new(shape, None, true).longest() <= max_limbs(shape.operation)
}

/// The kernel with so many warps a block, if their shared memory is there.
pub(super) fn spec(shape: OperationShape, warps: u32, asynchronous: bool) -> Linear {
    let spec = Linear::new(shape, None, asynchronous);
    Linear { warps: spec.warps_that_fit(warps), ..spec }
}

/// Shared memory of a block of threads that every GPU has.
pub(super) const MAX_SHARED_BYTES: u32 = 48 << 10;

/// Does a row of this many limbs go through shared memory? Else a warp's accesses are contiguous as they are.
pub(super) const fn is_staged(limbs: u32) -> bool {
    !matches!(limbs, 1 | 2 | 4)
}

/// Shared memory of rows that lie one after the other.
fn staged_bytes(limbs: impl Iterator<Item = u32>) -> u32 {
    limbs.filter(|&limbs| is_staged(limbs)).map(|limbs| Tile::new(limbs).bytes()).sum()
}

impl Linear {
    /// Does operand `i` go through shared memory?
    fn is_staged(&self, i: usize, operand: OperandShape) -> bool {
        !operand.common && !self.is_bit(i) && is_staged(operand.limbs())
    }

    /// Shared memory of a warp.
    pub(super) fn warp_bytes(&self) -> u32 {
        let operands = self.operands().into_iter().enumerate();
        let staged = operands.filter(|(i, operand)| self.is_staged(*i, *operand)).map(|(_, operand)| operand.limbs());
        staged_bytes(staged).max(staged_bytes(self.result_limbs()))
    }

    /// Tiles a warp. Of one tile of rows of a limb or two, which lie where they are, a block of threads would have so
    /// little to do that launching blocks takes longer; with twice as many it is slower again (measured).
    pub(super) fn tiles(&self) -> u32 {
        if self.warp_bytes() == 0 { (4 / self.longest()).max(1) } else { 1 }
    }

    /// The most warps a block, of so many, whose shared memory every GPU has.
    fn warps_that_fit(&self, wanted: u32) -> u32 {
        match MAX_SHARED_BYTES / self.warp_bytes().max(1) {
            most if most < wanted => most.max(1),
            _ => wanted,
        }
    }

    /// The kernel, a row a thread.
    pub(super) fn by_threads(&self, entry: &Entry) -> Kernel {
        let (mut b, [operands, results], lanes) = self.open(entry);
        // Left alone, ptxas would rather spill a product's limbs than give up a block of threads.
        let short_product = self.shape.operation.group() == Group::ProductPart && self.longest() <= 32;
        let min_blocks = short_product.then(|| (16 / self.warps).max(1));
        b.bounds(Bounds { max_threads: Some(32 * self.warps), min_blocks, max_registers: None });
        let entered = TileLane::enter(&mut b, lanes, self.warps, self.tiles());
        let shared = (self.warp_bytes() > 0).then(|| entered.shared(&mut b, self.warp_bytes()));
        let TileLane { lane, tile: first_tile, first_lane, .. } = entered;
        b.section("load");
        let mut loaded = Vec::new();
        for number in 0..self.tiles() {
            let tile = tile_of_warp(&mut b, first_tile, number, lanes);
            let row = if number == 0 { b.add(first_lane, lane) } else { b.mad_lo(tile, 32, lane) };
            let place = Place { lane, tile, row, shared };
            let limbs = self.load_rows(&mut b, &place, &operands);
            loaded.push((place, limbs));
        }
        b.section("arithmetic");
        for (number, (place, operands)) in loaded.into_iter().enumerate() {
            if number > 0 {
                let first_lane = b.add(first_lane, 32 * number as u32);
                let outside = b.compare(Cmp::Ge, first_lane, lanes);
                b.return_if(outside);
            }
            let results = results.clone();
            let mut frame =
                Thread { spec: self, b, place, results, operands, product: None, offset: 0, staged: Vec::new() };
            super::operations::write(&mut frame, &self.shape);
            frame.copy_out();
            b = frame.b;
        }
        b.finish()
    }
}

/// The warp's tile of this number; what would be beyond the last one is that, and only read.
fn tile_of_warp(b: &mut Builder, first: R32, number: u32, lanes: R32) -> R32 {
    if number == 0 {
        return first;
    }
    let tile = b.add(first, number);
    let last = b.sub(lanes, 1);
    let last = b.shr(last, 5);
    b.min(tile, last)
}

/// Where the thread is.
struct Place {
    lane: R32,
    tile: R32,
    row: R32,
    /// The warp's part of shared memory.
    shared: Option<R32>,
}

impl Linear {
    /// The limbs of the thread's operands; of a bit, limb 0.
    fn load_rows(&self, b: &mut Builder, place: &Place, addresses: &[R64]) -> Vec<Vec<R32>> {
        let operands = self.operands();
        let mut offset = 0;
        let mut rows: Vec<Option<TileRow>> = operands.iter().map(|_| None).collect();
        for (i, ((&operand, &address), row)) in operands.iter().zip(addresses).zip(&mut rows).enumerate() {
            let (true, Some(shared)) = (self.is_staged(i, operand), place.shared) else { continue };
            let tile = Tile::new(operand.limbs());
            let region = b.add(shared, offset);
            offset += tile.bytes();
            let source = b.mad_wide(place.tile, 128 * operand.limbs(), address);
            tile.copy_in(b, place.lane, source, region, self.asynchronous);
            *row = Some(tile.row(b, place.lane, region));
        }
        // Rows that are read where they lie: issued before the wait for the others.
        let direct = |b: &mut Builder, i: usize, operand: &OperandShape, address: R64| {
            let limbs = if self.is_bit(i) { 1 } else { operand.limbs() };
            let row = if operand.common { address } else { b.mad_wide(place.row, 4 * operand.limbs(), address) };
            let width = if self.is_bit(i) { 1 } else { piece(limbs) };
            let load = |i: u32| b.load_global(Space::GlobalConst, vector(width), row, 4 * i);
            (0..limbs).step_by(width as usize).flat_map(load).collect::<Vec<R32>>()
        };
        let mut limbs: Vec<Vec<R32>> = Vec::new();
        for (i, ((operand, &address), row)) in operands.iter().zip(addresses).zip(&rows).enumerate() {
            limbs.push(if row.is_some() { Vec::new() } else { direct(b, i, operand, address) });
        }
        if rows.iter().any(Option::is_some) {
            if self.asynchronous {
                b.copy_commit();
                b.copy_wait(0);
            }
            b.warp_barrier();
        }
        for (row, limbs) in rows.into_iter().zip(&mut limbs) {
            if let Some(row) = row {
                *limbs = row.read(b);
            }
        }
        if offset > 0 && self.result_limbs().any(is_staged) {
            // Results take the place of operands, which all threads have read by then.
            b.warp_barrier();
        }
        limbs
    }
}

/// The frame of a thread.
struct Thread<'k> {
    spec: &'k Linear,
    b: Builder,
    place: Place,
    /// The addresses of the results.
    results: Vec<R64>,
    operands: Vec<Vec<R32>>,
    product: Option<Vec<R32>>,
    /// Where the next staged result goes in the warp's part of shared memory.
    offset: u32,
    /// The results that are there.
    staged: Vec<(usize, u32)>,
}

impl Thread<'_> {
    /// Limbs from limb `from` on, `fill` above them.
    fn window(&mut self, limbs: &[R32], from: i32, fill: R32) -> Number {
        let zero = self.b.copy(0);
        let limb = |i: i32| match usize::try_from(i) {
            Ok(i) => limbs.get(i).copied().unwrap_or(fill),
            Err(_) => zero,
        };
        Number((0..self.capacity() as i32).map(|k| limb(from + k)).collect())
    }

    /// Copies the results that are in shared memory to global memory.
    fn copy_out(&mut self) {
        let (false, Some(shared)) = (self.staged.is_empty(), self.place.shared) else { return };
        self.b.section("store");
        self.b.warp_barrier();
        let limbs: Vec<u32> = self.spec.result_limbs().collect();
        for &(result, offset) in &self.staged {
            let region = self.b.add(shared, offset);
            let target = self.b.mad_wide(self.place.tile, 128 * limbs[result], self.results[result]);
            Tile::new(limbs[result]).copy_out(&mut self.b, self.place.lane, target, region);
        }
    }
}

impl Frame for Thread<'_> {
    fn builder(&mut self) -> &mut Builder {
        &mut self.b
    }

    fn capacity(&self) -> u32 {
        self.spec.longest()
    }

    fn registers(&self) -> usize {
        self.capacity() as usize
    }

    fn operand(&mut self, i: usize, from: i32) -> Number {
        let zero = self.b.copy(0);
        let limbs = self.operands[i].clone();
        self.window(&limbs, from, zero)
    }

    fn signed_operand(&mut self, i: usize) -> Number {
        let sign = self.sign(i);
        let mut limbs = self.operands[i].clone();
        let (bits, top) = (self.spec.shape.operands()[i].bits, limbs.len() - 1);
        if !bits.is_multiple_of(32) {
            let above = self.b.shl(sign, bits % 32);
            limbs[top] = self.b.or(limbs[top], above);
        }
        self.window(&limbs, 0, sign)
    }

    fn sign(&mut self, i: usize) -> R32 {
        let bits = self.spec.shape.operands()[i].bits;
        let top = self.operands[i][self.operands[i].len() - 1];
        let aligned = self.b.shl(top, 31 - (bits - 1) % 32);
        self.b.shr_signed(aligned, 31)
    }

    fn low_word(&mut self, i: usize) -> R32 {
        self.operands[i][0]
    }

    fn product(&mut self, from: i32) -> Number {
        let limbs = if let Some(limbs) = &self.product {
            limbs.clone()
        } else {
            let mut rows = Rows::new(&self.operands[0]);
            let mut limbs: Vec<R32> = self.operands[1].iter().map(|&y| rows.row(&mut self.b, y)).collect();
            limbs.extend(rows.finish(&mut self.b));
            self.product = Some(limbs.clone());
            limbs
        };
        let zero = self.b.copy(0);
        self.window(&limbs, from, zero)
    }

    fn add(&mut self, x: &Number, y: &Number, carry: Option<R32>) -> (Number, R32) {
        let mut chain = self.b.chain();
        if let Some(carry) = carry {
            // The flag is set exactly if the carry is.
            chain.add(carry, u32::MAX);
        }
        let sum = x.0.iter().zip(&y.0).map(|(&x, &y)| chain.add(x, y)).collect();
        (Number(sum), chain.carry())
    }

    fn sub(&mut self, x: &Number, y: &Number, borrow: Option<R32>) -> (Number, R32) {
        let mut chain = self.b.chain();
        if let Some(borrow) = borrow {
            chain.sub(0, borrow);
        }
        let difference = x.0.iter().zip(&y.0).map(|(&x, &y)| chain.sub(x, y)).collect();
        (Number(difference), chain.borrow_mask())
    }

    fn limb(&mut self, x: &Number, index: u32) -> R32 {
        x.0[index as usize]
    }

    fn any(&mut self, x: &Number) -> R32 {
        let union = x.0.iter().skip(1).fold(x.0[0], |all, &limb| self.b.or(all, limb));
        let found = self.b.compare(Cmp::Ne, union, 0);
        self.b.select(u32::MAX, 0, found)
    }

    fn change(&mut self, x: &mut Number, index: u32, change: impl FnOnce(&mut Builder, R32) -> R32) {
        x.0[index as usize] = change(&mut self.b, x.0[index as usize]);
    }

    fn store(&mut self, result: usize, x: &Number) {
        let bits = self.spec.shape.results()[result];
        let mut limbs = x.0[..bits.div_ceil(32) as usize].to_vec();
        if let (false, Some(top)) = (bits.is_multiple_of(32), limbs.last_mut()) {
            *top = self.b.and(*top, (1 << (bits % 32)) - 1);
        }
        let count = limbs.len() as u32;
        match self.place.shared {
            Some(shared) if is_staged(count) => {
                let tile = Tile::new(count);
                let region = self.b.add(shared, self.offset);
                let row = tile.row(&mut self.b, self.place.lane, region);
                row.write(&mut self.b, &limbs);
                self.staged.push((result, self.offset));
                self.offset += tile.bytes();
            }
            _ => {
                let row = self.b.mad_wide(self.place.row, 4 * count, self.results[result]);
                self.b.store_global(Space::GlobalStream, &limbs, row, 0);
            }
        }
    }

    fn store_word(&mut self, result: usize, word: R32) {
        let row = self.b.mad_wide(self.place.row, 4, self.results[result]);
        self.b.store_global(Space::GlobalStream, &[word], row, 0);
    }
}
