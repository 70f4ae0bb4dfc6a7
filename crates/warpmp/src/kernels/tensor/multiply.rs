//! The matrix products: every byte column of the result, as sums in registers.
//!
//! A step takes one block of `a`, as the 32×32 matrix `T(q, k) = a[32e + q − k]` of its bytes, and multiplies it by
//! every block of `b`: block `j − e` adds to block `j` of the result. Blocks of the result are columns, and columns are
//! counted modulo their number, so no column of a step is wasted: a column whose `j − e` is negative adds to block
//! `j + columns`. Column `j` has all of its low block after step `j`; the sums are copied then.
//!
//! Lane `4g + t` has rows `4g … 4g + 3` of columns `2t` and `2t + 1`: four bytes of the same limb. With entries the first matrix product has rows
//! `4g` and `4g + 3`, the second rows `4g + 1` and `4g + 2`: what an entry holds is what the first one takes. Without entries rows are in order.

use warpmp_kernel::build::{Builder, Emit, Pred, R32};
use warpmp_kernel::ir::{Cmp, Vector};

use super::layout::{BLOCK_BYTES, BLOCK_LIMBS, COLUMNS, Layout};
use super::operands::ending_with;
use super::strip::StripSums;
use super::warps::Place;

/// The sums of a panel in a lane: two matrix products of two rows and two columns each.
pub(super) type Sums = [[R32; 4]; 2];

/// The sums of a panel of half of a product, or of a strip: those of its two matrix products, or of the only one.
pub(super) type HalfSums = Vec<[R32; 4]>;

/// All sums of a product.
pub(super) enum ProductSums {
    Panels(Vec<PanelSums>),
    /// Those of strips, and what is added to digits.
    Strips(Vec<StripSums>, Option<Vec<R32>>),
}

/// The sums of a panel: those of the low blocks of the result, and those of both.
pub(super) struct PanelSums {
    pub(super) low: Sums,
    pub(super) both: Sums,
}

impl Layout {
    /// What matrices are made of: the entries of the `a` at this address, made anew, or its words.
    pub(super) fn source(self, b: &mut Builder, place: &Place, a: R32) -> Source {
        if !self.has_entries {
            return Source::Words(a);
        }
        self.enter(b, place, a);
        Source::Entries(b.add(place.shared, self.entries()))
    }

    /// Multiplies `a` by the columns at `work`. Each `fence` steps end with a barrier.
    pub(super) fn product_sums(self, b: &mut Builder, place: &Place, a: Source, fence: u32) -> ProductSums {
        match self.strips {
            None => ProductSums::Panels(self.multiply(b, place, a, fence)),
            Some(strips) => {
                let sums = self.multiply_strips(b, place, (a, strips), fence);
                ProductSums::Strips(sums, self.words_of_highest_byte(b, place, (a, strips)))
            }
        }
    }

    /// Multiplies `a` by the columns at `work`: the sums of each panel.
    /// Modulo `B^n − 1` there are no halves. Each `fence` steps end with a barrier.
    pub(super) fn multiply(self, b: &mut Builder, place: &Place, a: Source, fence: u32) -> Vec<PanelSums> {
        let operands = Operands::of(b, place, a, self.work, fence);
        let here = [0, 1, 2, 3].map(|number| b.compare(Cmp::Eq, place.member, number));
        let zeros = zeros(b);
        if self.is_cyclic {
            let sums = self.multiply_cyclically(b, &operands, zeros, self.blocks + 1, |_, _, _| {});
            return sums.into_iter().map(|sums| PanelSums { low: sums, both: sums }).collect();
        }
        let mut low = vec![zeros; self.panels as usize];
        let steps = self.blocks + 1;
        let both = self.multiply_cyclically(b, &operands, zeros, steps, |b, both, step| {
            self.snapshot(b, &mut low, both, &here, step);
        });
        for step in steps..self.columns() {
            self.snapshot(b, &mut low, &both, &here, step);
        }
        low.into_iter().zip(both).map(|(low, both)| PanelSums { low, both }).collect()
    }

    /// The sums of columns modulo their number. After each step, `done` gets the sums so far.
    ///
    /// There is a step for each block of `a`, and one more for what its last block adds to the first columns. Where the words before `a` are those at
    /// its end, step 0 has that.
    pub(super) fn multiply_cyclically(
        self,
        b: &mut Builder,
        operands: &Operands,
        zeros: Sums,
        steps: u32,
        mut done: impl FnMut(&mut Builder, &[Sums], u32),
    ) -> Vec<Sums> {
        let mut sums = vec![zeros; self.panels as usize];
        let load = |b: &mut Builder, s, step| self.load_columns(b, operands, s, step);
        self.in_steps(b, (self.panels, steps, operands.fence), load, |b, blocks, step| {
            let halves = operands.matrix(b, step);
            for (sums, block) in sums.iter_mut().zip(blocks) {
                add_products(b, halves, block, sums);
            }
            done(b, &sums, step);
        });
        sums
    }

    /// Steps in which a matrix meets the columns of each panel or strip, `count` of them. `load` loads those that meet one in a step. `meet` gets those of all. Each `fence` steps end with a barrier.
    pub(super) fn in_steps(
        self,
        b: &mut Builder,
        (count, steps, fence): (u32, u32, u32),
        load: impl Fn(&mut Builder, u32, u32) -> Vec<R32>,
        mut meet: impl FnMut(&mut Builder, &[Vec<R32>], u32),
    ) {
        // The blocks that meet panel s in this step; in the next they meet panel s + 1.
        let mut blocks: Vec<Vec<R32>> = (1..count).map(|s| load(b, s, 0)).collect();
        for step in 0..steps {
            self.fence(b, step, fence);
            blocks.insert(0, load(b, 0, step));
            blocks.truncate(count as usize);
            meet(b, &blocks, step);
        }
    }

    /// Keeps the loads of later steps behind: `ptxas` moves the loads of many steps to the front and spills registers. It moves none
    /// across a barrier.
    pub(super) fn fence(self, b: &mut Builder, step: u32, every: u32) {
        if self.panels > 1 && step > 0 && step.is_multiple_of(every) {
            b.warp_barrier();
        }
    }

    /// This lane's eight bytes of the block that meets its column of panel `s` in a step.
    fn load_columns(self, b: &mut Builder, operands: &Operands, s: u32, step: u32) -> Vec<R32> {
        // Block panels·column + s − step: its panel, and how many columns it is further.
        let distance = s + self.columns() - step;
        let (panel, shift) = (distance % self.panels, distance / self.panels);
        operands.load(b, panel * self.panel_bytes() + shift * BLOCK_BYTES)
    }

    /// Copies the sums of the column whose low block is complete after this step.
    fn snapshot(self, b: &mut Builder, low: &mut [Sums], both: &[Sums], here: &[Pred; 4], step: u32) {
        if step >= self.columns() {
            return;
        }
        let panel = (step % self.panels) as usize;
        snapshot(b, &mut low[panel], &both[panel], here, step / self.panels);
    }
}

/// Copies the sums of a column.
pub(super) fn snapshot(b: &mut Builder, low: &mut Sums, both: &Sums, here: &[Pred; 4], column: u32) {
    let (member, parity) = (column / 2, column as usize % 2);
    for (low, &both) in low.iter_mut().flatten().zip(both.iter().flatten()).skip(parity).step_by(2) {
        copy_in_lanes(b, low, both, here, member);
    }
}

/// Copies a sum in the lanes with this member. The first ones need no selection: other lanes get theirs later.
pub(super) fn copy_in_lanes(b: &mut Builder, low: &mut R32, both: R32, here: &[Pred; 4], member: u32) {
    *low = if member == 0 { both } else { b.select(both, *low, here[member as usize]) };
}

/// The rows of the two matrix products, of a lane's four.
pub(super) const fn rows(has_entries: bool) -> [[usize; 2]; 2] {
    if has_entries { [[0, 3], [1, 2]] } else { [[0, 1], [2, 3]] }
}

/// The first factor of a step's matrix products, at an address.
#[derive(Clone, Copy)]
pub(super) enum Source {
    /// Its words, after a block of zeros.
    Words(R32),
    /// Its entries, after those of a block of zeros.
    Entries(R32),
}

/// Where a lane finds its part of the operands.
pub(super) struct Operands {
    /// In `a`, the first of its words or entries.
    window: Source,
    /// In the columns.
    columns: R32,
    /// Where the columns begin.
    begin: u32,
    /// Steps between barriers.
    fence: u32,
}

impl Operands {
    /// The columns begin `begin` bytes after the warp's memory, and each `fence` steps end with a barrier.
    pub(super) fn of(b: &mut Builder, place: &Place, a: Source, begin: u32, fence: u32) -> Self {
        // Word p − 2, p = 8e + g − 2t, is 8 − 2 + g − 2t words from the beginning of a.
        let mut window = |first: R32, bytes: u32| {
            let window = b.mad_lo(place.group, bytes, first);
            b.mad_lo(place.member, (2 * bytes).wrapping_neg(), window)
        };
        let window = match a {
            Source::Words(first) => Source::Words(window(first, 4)),
            Source::Entries(first) => Source::Entries(window(first, 8)),
        };
        Self { window, columns: b.mad_lo(place.lane, 8, place.shared), begin, fence }
    }

    /// The matrix of block `step` of `a`, as the two matrix products take it.
    ///
    /// Byte `i` of half `r` of row `x` is `a[4·(p − r) + x − 3 + i]`, `p = 8·step + g − 2t`: the place of digit
    /// `k = 8t + 4r + 3 − i` of a column, whose words have their bytes reversed.
    pub(super) fn matrix(&self, b: &mut Builder, step: u32) -> [[R32; 4]; 2] {
        let first = 6 + BLOCK_LIMBS * step;
        match self.window {
            Source::Words(window) => {
                let words = [0, 1, 2].map(|word| b.load_shared(Vector::V1, window, 4 * (first + word))[0]);
                matrix_of_words(b, words)
            }
            Source::Entries(window) => {
                let windows = [1, 2].map(|word| {
                    let entry = b.load_shared(Vector::V2, window, 8 * (first + word));
                    let [zero, three] = [entry[0], entry[1]];
                    [zero, b.prmt(zero, three, 0x5321), b.prmt(zero, three, 0x6532), three]
                });
                matrix_of_windows(windows, rows(true))
            }
        }
    }

    /// The matrices of block `step` of `a` that meet a panel or a strip.
    pub(super) fn matrices(&self, b: &mut Builder, step: u32, in_strips: bool) -> Vec<[R32; 4]> {
        if in_strips { vec![self.strip_matrix(b, step)] } else { self.matrix(b, step).to_vec() }
    }

    /// The matrix of block `step` of `a` for strips: its rows with bytes 3 and 1 of each limb.
    pub(super) fn strip_matrix(&self, b: &mut Builder, step: u32) -> [R32; 4] {
        let first = 6 + BLOCK_LIMBS * step;
        match self.window {
            Source::Words(window) => {
                let words = [0, 1, 2].map(|word| b.load_shared(Vector::V1, window, 4 * (first + word))[0]);
                let [lower, upper] = [0, 1].map(|i| ending_with(b, words[i], words[i + 1], 1));
                [words[2], upper, words[1], lower]
            }
            Source::Entries(window) => {
                let [lower, upper] = [1, 2].map(|word| b.load_shared(Vector::V2, window, 8 * (first + word)));
                [upper[0], upper[1], lower[0], lower[1]]
            }
        }
    }

    /// This lane's eight bytes of a block of columns.
    pub(super) fn load(&self, b: &mut Builder, offset: u32) -> Vec<R32> {
        b.load_shared(Vector::V2, self.columns, self.begin + offset)
    }
}

/// The same matrix from words `p − 2`, `p − 1` and `p` of `a`, its rows in order.
pub(in crate::kernels) fn matrix_of_words(b: &mut Builder, words: [R32; 3]) -> [[R32; 4]; 2] {
    let windows = [0, 1].map(|i| [0, 1, 2, 3].map(|x| ending_with(b, words[i], words[i + 1], x)));
    matrix_of_windows(windows, rows(false))
}

/// The same from the windows that end with bytes 0 to 3 of words `p − 1` and `p`.
fn matrix_of_windows([lower, upper]: [[R32; 4]; 2], rows: [[usize; 2]; 2]) -> [[R32; 4]; 2] {
    rows.map(|[x, y]| [upper[x], upper[y], lower[x], lower[y]])
}

/// No sums of half of a product yet: of each panel or strip.
pub(super) fn zeros_of_half(b: &mut Builder, layout: Layout) -> Vec<HalfSums> {
    let zero = b.copy(0);
    let sums = vec![[zero; 4]; if layout.strips.is_some() { 1 } else { 2 }];
    vec![sums; layout.panels_or_strips() as usize]
}

/// No sums yet.
pub(super) fn zeros(b: &mut Builder) -> Sums {
    let zero = b.copy(0);
    [[zero; 4]; 2]
}

/// The differences of sums.
pub(super) fn difference(b: &mut Builder, sums: &Sums, less: &Sums) -> Sums {
    [0, 1].map(|product| [0, 1, 2, 3].map(|i| b.sub(sums[product][i], less[product][i])))
}

/// Adds the products of a matrix and a block.
pub(super) fn add_products(b: &mut Builder, [low, high]: [[R32; 4]; 2], block: &[R32], sums: &mut Sums) {
    let block = [block[0], block[1]];
    *sums = [b.mma_u8(low, block, sums[0]), b.mma_u8(high, block, sums[1])];
}

const _: () = assert!(COLUMNS == 8, "a lane has two columns of four");
