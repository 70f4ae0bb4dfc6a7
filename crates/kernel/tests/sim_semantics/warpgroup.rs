//! The matrix product of a warpgroup, element by element, with the indices of the reference.

use warpmp_kernel::build::{Builder, Emit, Glue, R32};
use warpmp_kernel::ir::{Class, Cmp, Kernel, Space, Special, Vector};
use warpmp_kernel::sim::{Grid, Memory, Program};

use crate::harness::Source;

/// Threads of a warpgroup.
const THREADS: usize = 128;
/// Bytes of shared memory.
const SHARED: usize = 6144;
/// Where `B` begins in it.
const START: usize = 48;

/// From the first 16 rows of `B` to the others, and from 8 columns of `B` to the next 8.
fn strides(columns: usize) -> [usize; 2] {
    [columns / 8 * 144 + 32, 144]
}

/// `D = A·B`, then `D = A·B + D`: a row of memory a thread, with four registers of `A` and later all of `D`.
fn kernel(columns: usize) -> Kernel {
    let mut b = Builder::new("product", Glue::None);
    let (image, rows) = (b.param_u64("image"), b.param_u64("rows"));
    let thread = b.special(Special::Tid);
    let shared = b.shared_base();
    let (from, to) = (b.mad_wide(thread, 16, image), b.mad_lo(thread, 16, shared));
    for offset in (0..SHARED as u32).step_by(16 * THREADS) {
        let words = b.load_global(Space::Global, Vector::V4, from, offset);
        b.store_shared(&words, to, offset);
    }
    b.proxy_fence();
    b.barrier();
    let row = b.mad_wide(thread, 16 + 2 * columns as u32, rows);
    let a: Vec<R32> = (0..4).map(|i| b.load_global(Space::Global, Vector::V1, row, 4 * i)[0]).collect();
    let [along, across] = strides(columns).map(|bytes| bytes as u32 / 16);
    let start = b.add(shared, START as u32);
    let start = b.shr(start, 4);
    let start = b.add(start, along << 16);
    let descriptor = b.pack(start, across);
    let [never, always] = [Cmp::Ne, Cmp::Eq].map(|cmp| b.compare(cmp, 0, 0));
    let d: Vec<R32> = (0..columns / 2).map(|_| b.register()).collect();
    b.wgmma_fence();
    for accumulate in [never, always] {
        b.wgmma_u8(&d, [a[0], a[1], a[2], a[3]], descriptor, accumulate);
    }
    b.wgmma_commit();
    b.wgmma_wait(0);
    for (&d, i) in d.iter().zip((16..).step_by(4)) {
        b.store_global(Space::Global, &[d], row, i);
    }
    b.finish()
}

pub(crate) fn product(columns: u8) {
    let columns = usize::from(columns);
    let program = Program::new(&kernel(columns)).unwrap();
    let row_words = 4 + columns / 2;
    let mut source = Source(0x2222);
    for round in 0..4 {
        let mut bytes = |n: usize| -> Vec<u8> {
            (0..n).map(|_| if round == 0 { 255 } else { source.edge(Class::B32) as u8 }).collect()
        };
        let (a, b, mut image) = (bytes(64 * 32), bytes(32 * columns), bytes(SHARED));
        let [along, across] = strides(columns);
        for column in 0..columns {
            for k in 0..32 {
                let place = START + k / 16 * along + column / 8 * across + column % 8 * 16 + k % 16;
                image[place] = b[32 * column + k];
            }
        }
        let mut rows = vec![0; THREADS * row_words];
        for thread in 0..THREADS {
            for i in 0..16 {
                let (group, member) = ((thread % 32) >> 2, thread % 4);
                let row = 16 * (thread / 32) + if i < 4 || (8..12).contains(&i) { group } else { group + 8 };
                let column = member * 4 + (i & 3) + if i < 8 { 0 } else { 16 };
                rows[thread * row_words + i / 4] |= u32::from(a[32 * row + column]) << (8 * (i % 4));
            }
        }
        let mut memory = Memory::new(1 << 20);
        let image: Vec<u32> = image.chunks(4).map(|it| u32::from_le_bytes(it.try_into().unwrap())).collect();
        let [image, place] = [&image, &rows].map(|words| {
            let address = memory.alloc(4 * words.len() as u64).unwrap();
            memory.write(address, words).unwrap();
            address
        });
        let grid = Grid { blocks: 1, threads: THREADS as u32, shared_bytes: SHARED as u32 };
        program.launch(grid, &[image, place], &mut memory).unwrap_or_else(|fault| panic!("{fault}"));
        memory.read(place, &mut rows).unwrap();
        for thread in 0..THREADS {
            for i in 0..columns / 2 {
                let row = 16 * (thread / 32) + ((thread % 32) >> 2) + if i & 2 == 0 { 0 } else { 8 };
                let column = i / 4 * 8 + thread % 4 * 2 + (i & 1);
                let sum: u32 = (0..32).map(|k| u32::from(a[32 * row + k]) * u32::from(b[32 * column + k])).sum();
                assert_eq!(rows[thread * row_words + 4 + i], 2 * sum, "{columns} columns: row {row}, column {column}");
            }
        }
    }
}
