//! Loads, stores, atomic operations, asynchronous copies, parameters, and the barriers between them.

use warpmp_kernel::ir::{Carry, Class, Cmp, Elem, Half, Int, Logic, Op, Reg, Space, Vector, Width};
use warpmp_kernel::sim::Grid;

use super::harness::{Arg, Maker, Source};

const THREADS: u32 = 64;
const GRID: Grid = Grid { blocks: 1, threads: THREADS, shared_bytes: 16 * THREADS };

/// Random operands for every thread.
fn cells(count: usize) -> Vec<Vec<u64>> {
    let mut source = Source(0xCE11);
    (0..count).map(|_| (0..THREADS).map(|_| source.next()).collect()).collect()
}

impl Maker {
    /// The address of the thread's 16 bytes in shared memory.
    fn shared_address(&mut self) -> Reg {
        let (base, address) = (self.fresh(Class::B32), self.fresh(Class::B32));
        self.inst(Op::SharedBase, &[base.into()]);
        let operands = [address.into(), self.thread.into(), 16.into(), base.into()];
        self.inst(Op::Mad(Half::Lo, Carry::None), &operands);
        address
    }

    /// An address of 16 bytes for each thread in global memory: 16 bytes apart from `base` on.
    fn apart(&mut self, base: Reg) -> Reg {
        // The base lies 8 bytes apart from thread to thread.
        let address = self.fresh(Class::B64);
        self.inst(Op::MadWide(Int::U32), &[address.into(), self.thread.into(), 8.into(), base.into()]);
        address
    }

    fn load(&mut self, space: Space, vector: Vector, elem: Elem, address: Reg, offset: u32) -> Vec<Reg> {
        let targets: Vec<Reg> = (0..vector.len()).map(|_| self.fresh(elem.class())).collect();
        let mut operands: Vec<Arg> = targets.iter().map(|&reg| reg.into()).collect();
        operands.extend([Arg::from(address), Arg::from(offset)]);
        self.inst(Op::Ld(space, vector, elem), &operands);
        targets
    }

    fn store(&mut self, space: Space, vector: Vector, elem: Elem, address: Reg, sources: &[Reg]) {
        let mut operands: Vec<Arg> = vec![address.into(), 0.into()];
        operands.extend(sources.iter().map(|&reg| Arg::from(reg)));
        self.inst(Op::St(space, vector, elem), &operands);
    }
}

/// Two neighbouring cells are the 16 bytes of a thread.
fn pairs(cells: &[Vec<u64>]) -> Vec<[u64; 2]> {
    let flat: Vec<u64> = cells.concat();
    flat.chunks(2).map(|pair| [pair[0], pair[1]]).collect()
}

/// The first elements of 16 bytes.
fn elements(pair: [u64; 2], vector: Vector, elem: Elem) -> Vec<u64> {
    let words = pair.into_iter().flat_map(|cell| [cell & 0xFFFF_FFFF, cell >> 32]);
    match elem {
        Elem::U32 => words.take(vector.len()).collect(),
        Elem::U64 | Elem::F64 => pair.into_iter().take(vector.len()).collect(),
    }
}

pub(crate) fn load(space: Space, vector: Vector, elem: Elem) {
    let cells = cells(2);
    let mut maker = Maker::new(THREADS);
    let source = maker.apart(maker.input);
    let address = if space == Space::Shared {
        let address = maker.shared_address();
        for offset in [0, 4, 8, 12] {
            let word = maker.load(Space::Global, Vector::V1, Elem::U32, source, offset)[0];
            maker.inst(Op::St(Space::Shared, Vector::V1, Elem::U32), &[address.into(), offset.into(), word.into()]);
        }
        address
    } else {
        source
    };
    let loaded = maker.load(space, vector, elem, address, 0);
    for reg in loaded {
        maker.result(reg);
    }
    let results = maker.run(GRID, &cells);
    for (thread, &pair) in pairs(&cells).iter().enumerate() {
        let got: Vec<u64> = results.iter().map(|result| result[thread]).collect();
        assert_eq!(got, elements(pair, vector, elem), "{space:?} {vector:?} {elem:?}, thread {thread}");
    }
}

pub(crate) fn store(space: Space, vector: Vector, elem: Elem) {
    let cells = cells(vector.len());
    let mut maker = Maker::new(THREADS);
    let values: Vec<Reg> = (0..vector.len()).map(|i| maker.operand(i as u32, elem.class())).collect();
    let words = vector.len() as u32 * elem.bytes() / 4;
    if space == Space::Shared {
        let address = maker.shared_address();
        maker.store(space, vector, elem, address, &values);
        for i in 0..words {
            let word = maker.load(Space::Shared, Vector::V1, Elem::U32, address, 4 * i)[0];
            maker.result(word);
        }
    } else {
        // Over the operands, which every thread has read by then: the launch has one warp's turn each.
        let address = maker.apart(maker.input);
        maker.inst(Op::BarSync, &[0.into()]);
        maker.store(space, vector, elem, address, &values);
        for i in 0..words {
            let word = maker.load(Space::Global, Vector::V1, Elem::U32, address, 4 * i)[0];
            maker.result(word);
        }
    }
    // Room for 16 bytes a thread.
    let mut operands = cells.clone();
    operands.resize(2.max(cells.len()), vec![0; THREADS as usize]);
    let results = maker.run(GRID, &operands);
    for thread in 0..THREADS as usize {
        let words: Vec<u64> = cells
            .iter()
            .flat_map(|cell| {
                let (low, high) = (cell[thread] & 0xFFFF_FFFF, cell[thread] >> 32);
                if elem == Elem::U32 { vec![low] } else { vec![low, high] }
            })
            .collect();
        let got: Vec<u64> = results.iter().map(|result| result[thread]).collect();
        assert_eq!(got, words, "{space:?} {vector:?} {elem:?}, thread {thread}");
    }
}

pub(crate) fn parameter(width: Width) {
    // The maker's own parameters are 64-bit addresses; the low word of one is a 32-bit parameter's value.
    let mut maker = Maker::new(THREADS);
    let (value, whole) = (maker.fresh(width.class()), maker.fresh(Class::B64));
    maker.inst(Op::LdParam(width), &[value.into(), 1.into()]);
    maker.inst(Op::LdParam(Width::W64), &[whole.into(), 1.into()]);
    maker.result(value);
    maker.result(whole);
    let results = maker.run(GRID, &[]);
    let cut = if width == Width::W32 { 0xFFFF_FFFF } else { u64::MAX };
    for thread in 0..THREADS as usize {
        assert_ne!(results[1][thread], 0);
        assert_eq!(results[0][thread], results[1][thread] & cut);
    }
}

/// Every thread adds to one cell; `returns`: and gets what was there before.
pub(crate) fn atomic(space: Space, width: Width, returns: bool) {
    let addends = cells(1);
    let mut maker = Maker::new(THREADS);
    let addend = maker.operand(0, width.class());
    let elem = if width == Width::W32 { Elem::U32 } else { Elem::U64 };
    let cell = if space == Space::Shared {
        let base = maker.fresh(Class::B32);
        maker.inst(Op::SharedBase, &[base.into()]);
        base
    } else {
        // The second operand of thread 0.
        let (base, cell) = (maker.fresh(Class::B64), maker.fresh(Class::B64));
        maker.inst(Op::LdParam(Width::W64), &[base.into(), 0.into()]);
        let none = Carry::None;
        maker.inst(Op::Add(Width::W64, none), &[cell.into(), base.into(), (8 * u64::from(THREADS)).into()]);
        cell
    };
    if space == Space::Shared {
        // The first thread's operand of all threads is 0 in the second row: it is the start value.
        let start = maker.operand(1, width.class());
        let (zero, first) = (maker.fresh(Class::B32), maker.fresh(Class::Pred));
        maker.inst(Op::Mov(Class::B32), &[zero.into(), 0.into()]);
        let equal = Op::Setp(Cmp::Eq, Int::U32);
        maker.inst(equal, &[first.into(), maker.thread.into(), zero.into()]);
        maker.guarded(first, Op::St(space, Vector::V1, elem), &[cell.into(), 0.into(), start.into()]);
    }
    maker.inst(Op::BarSync, &[0.into()]);
    if returns {
        let before = maker.fresh(width.class());
        maker.inst(Op::AtomAdd(space, width), &[before.into(), cell.into(), 0.into(), addend.into()]);
        maker.result(before);
    } else {
        maker.inst(Op::RedAdd(space, width), &[cell.into(), 0.into(), addend.into()]);
    }
    maker.inst(Op::BarSync, &[0.into()]);
    let after = maker.load(space, Vector::V1, elem, cell, 0)[0];
    maker.result(after);
    let start = vec![7; THREADS as usize];
    let results = maker.run(GRID, &[addends[0].clone(), start]);
    let cut = if width == Width::W32 { 0xFFFF_FFFF } else { u64::MAX };
    let sum = addends[0].iter().fold(7_u64, |sum, &addend| sum.wrapping_add(addend)) & cut;
    assert!(results.last().unwrap().iter().all(|&after| after == sum));
    if returns {
        // In some order, every thread saw the sum of those before it.
        let mut left: Vec<usize> = (0..THREADS as usize).collect();
        let mut reached = 7;
        while let Some(place) = left.iter().position(|&thread| results[0][thread] == reached) {
            reached = reached.wrapping_add(addends[0][left.swap_remove(place)]) & cut;
        }
        assert!(left.is_empty(), "{space:?} {width:?}");
        assert_eq!(reached, sum);
    }
}

/// Every thread reads its constant of the table by the read-only path.
pub(crate) fn table() {
    let mut maker = Maker::new(THREADS);
    maker.table = (0..u64::from(THREADS)).map(|i| i * 0x0123_4567_89AB_CDEF).collect();
    let [base, own, value] = std::array::from_fn(|_| maker.fresh(Class::B64));
    maker.inst(Op::TableBase, &[base.into()]);
    maker.inst(Op::MadWide(Int::U32), &[own.into(), maker.thread.into(), 8.into(), base.into()]);
    maker.inst(Op::Ld(Space::GlobalConst, Vector::V1, Elem::U64), &[value.into(), own.into(), 0.into()]);
    maker.result(value);
    let expected = maker.table.clone();
    assert_eq!(maker.run(GRID, &cells(1))[0], expected);
}

/// Every thread stores 16 bits beside its neighbour's; then all read what another has written, and the
/// even ones the word of both.
pub(crate) fn halves() {
    let mut maker = Maker::new(THREADS);
    let value = maker.operand(0, Class::B32);
    let [base, own, other, word, even] = std::array::from_fn(|_| maker.fresh(Class::B32));
    let [half, whole] = std::array::from_fn(|_| maker.fresh(Class::B32));
    let offset = maker.fresh(Class::B32);
    maker.inst(Op::SharedBase, &[base.into()]);
    maker.inst(Op::Shl(Width::W32), &[offset.into(), maker.thread.into(), 1.into()]);
    maker.inst(Op::Add(Width::W32, Carry::None), &[own.into(), base.into(), offset.into()]);
    maker.inst(Op::Sub(Width::W32, Carry::None), &[other.into(), base.into(), offset.into()]);
    maker.inst(Op::Logic(Logic::And, Class::B32), &[even.into(), offset.into(), 0xFFFC_u32.into()]);
    maker.inst(Op::Add(Width::W32, Carry::None), &[word.into(), base.into(), even.into()]);
    maker.inst(Op::StSharedHalf, &[own.into(), 0.into(), value.into()]);
    maker.inst(Op::BarSync, &[0.into()]);
    maker.inst(Op::LdSharedHalf, &[half.into(), other.into(), (2 * (THREADS - 1)).into()]);
    maker.inst(Op::Ld(Space::Shared, Vector::V1, Elem::U32), &[whole.into(), word.into(), 0.into()]);
    maker.result(half);
    maker.result(whole);
    let cells = cells(1);
    let results = maker.run(GRID, &cells);
    let stored = |thread: usize| cells[0][thread] & 0xFFFF;
    for thread in 0..THREADS as usize {
        assert_eq!(results[0][thread], stored(THREADS as usize - 1 - thread));
        assert_eq!(results[1][thread], stored(thread & !1) | stored(thread | 1) << 16);
    }
}

/// A prefetch changes nothing.
pub(crate) fn prefetch() {
    let cells = cells(2);
    let mut maker = Maker::new(THREADS);
    let source = maker.apart(maker.input);
    maker.inst(Op::Prefetch, &[source.into(), 4.into()]);
    let word = maker.load(Space::Global, Vector::V1, Elem::U32, source, 4)[0];
    maker.result(word);
    let results = maker.run(GRID, &cells);
    for (thread, pair) in pairs(&cells).iter().enumerate() {
        assert_eq!(results[0][thread], pair[0] >> 32);
    }
}

/// 16 bytes of each thread travel through shared memory.
pub(crate) fn copy(bytes: u8) {
    let cells = cells(2);
    let mut maker = Maker::new(THREADS);
    let source = maker.apart(maker.input);
    let target = maker.shared_address();
    maker.inst(Op::CpAsync(bytes), &[target.into(), 0.into(), source.into(), 0.into()]);
    maker.inst(Op::CpAsyncWaitAll, &[]);
    for offset in (0..bytes.into()).step_by(4) {
        let word = maker.load(Space::Shared, Vector::V1, Elem::U32, target, offset)[0];
        maker.result(word);
    }
    let results = maker.run(GRID, &cells);
    for (thread, pair) in pairs(&cells).iter().enumerate() {
        let expected: Vec<u8> = pair.iter().flat_map(|cell| cell.to_le_bytes()).collect();
        for (i, result) in results.iter().enumerate() {
            assert_eq!((result[thread] as u32).to_le_bytes(), expected[4 * i..4 * i + 4], "{bytes}");
        }
    }
}

/// Two groups; after waiting for all but one the first has arrived.
pub(crate) fn groups() {
    let cells = cells(2);
    let mut maker = Maker::new(THREADS);
    let source = maker.apart(maker.input);
    let target = maker.shared_address();
    for offset in [0, 4] {
        let operands = [target.into(), offset.into(), source.into(), offset.into()];
        maker.inst(Op::CpAsync(4), &operands);
        maker.inst(Op::CpAsyncCommit, &[]);
    }
    for (pending, offset) in [(1, 0), (0, 4)] {
        maker.inst(Op::CpAsyncWait, &[Arg::from(pending)]);
        let word = maker.load(Space::Shared, Vector::V1, Elem::U32, target, offset)[0];
        maker.result(word);
    }
    let results = maker.run(GRID, &cells);
    for (thread, pair) in pairs(&cells).iter().enumerate() {
        assert_eq!([results[0][thread], results[1][thread]], [pair[0] & 0xFFFF_FFFF, pair[0] >> 32]);
    }
}

/// Every thread stores a word, waits, and loads the word of the thread on the other end.
fn mirrored(barrier: Op, operands: &[Arg], threads: u32) {
    let mut maker = Maker::new(threads);
    let value = maker.operand(0, Class::B32);
    let (base, own, other, offset) =
        (maker.fresh(Class::B32), maker.fresh(Class::B32), maker.fresh(Class::B32), maker.fresh(Class::B32));
    let none = Carry::None;
    maker.inst(Op::SharedBase, &[base.into()]);
    maker.inst(Op::Shl(Width::W32), &[offset.into(), maker.thread.into(), 2.into()]);
    maker.inst(Op::Add(Width::W32, none), &[own.into(), base.into(), offset.into()]);
    maker.inst(Op::Sub(Width::W32, none), &[other.into(), base.into(), offset.into()]);
    maker.store(Space::Shared, Vector::V1, Elem::U32, own, &[value]);
    maker.inst(barrier, operands);
    let mirror = maker.load(Space::Shared, Vector::V1, Elem::U32, other, 4 * (threads - 1))[0];
    maker.result(mirror);
    let values: Vec<u64> = (100..100 + u64::from(threads)).collect();
    let results = maker.run(Grid { blocks: 1, threads, shared_bytes: 4 * threads }, std::slice::from_ref(&values));
    assert!(results[0].iter().eq(values.iter().rev()));
}

pub(crate) fn exchange_by_block() {
    mirrored(Op::BarSync, &[0.into()], 1024);
    mirrored(Op::BarSync, &[0.into()], 40);
}

pub(crate) fn exchange_by_warp() {
    mirrored(Op::BarWarpSync, &[0xFFFF_FFFF_u32.into()], 32);
}
