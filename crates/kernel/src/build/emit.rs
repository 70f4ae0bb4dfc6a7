//! The instructions that leave the carry flag alone, as methods of [`Emit`]. The table of instructions gives most of them;
//! the methods written here have fixed constants, several results or a vector.

use super::value::{F64, Offset, Pred, R32, R64, Register, V32, V64, VF64, Value};
use crate::ir::{
    Carry, Class, Cmp, Elem, Funnel, Guard, Half, Inst, Int, Item, Logic, Op, Operand, Round, Shuffle, Space, Special,
    Vector, Vote, Width, instruction_table,
};

/// The body under construction.
#[derive(Debug, Default)]
pub struct Code {
    pub(super) registers: [u32; 4],
    pub(super) body: Vec<Item>,
    pub(super) shared: bool,
}

impl Code {
    fn fresh<R: Register>(&mut self) -> R {
        let slot = Class::ALL.iter().position(|&class| class == R::CLASS).unwrap_or_default();
        let index = self.registers[slot];
        self.registers[slot] += 1;
        R::of(index)
    }

    pub(super) fn push(&mut self, guard: Option<Guard>, op: Op, operands: &[Operand]) {
        self.body.push(Item::Inst(Inst { guard, op, operands: operands.to_vec() }));
    }
}

/// The methods of the table's rows: each returns a fresh register.
macro_rules! methods {
    ($($(#[$doc:meta])* $name:ident $(($($modifier:tt)*))? { $($fact:tt)* } {
        $($(#[$method_doc:meta])* $method:ident $([$($given:ident: $type:ty),*])? ($($operand:ident: $kind:ty),*) -> $result:ty
            $(= ($($value:expr),*))?;)*
    })*) => { $($(
        $(#[$method_doc])*
        fn $method(&mut self $($(, $given: $type)*)? $(, $operand: impl Into<$kind>)*) -> $result {
            let d: $result = self.register();
            self.instruction(Op::$name $(($($value),*))?, &[d.operand() $(, $operand.into().operand())*]);
            d
        }
    )*)* };
}

/// Emits straight-line code. The carry flag passes through every method unharmed, so a
/// [`Chain`](super::Chain) offers them all while it is open.
pub trait Emit {
    /// The code it appends to, and the guard that its instructions get.
    #[doc(hidden)]
    fn code(&mut self) -> (&mut Code, Option<Guard>);

    #[doc(hidden)]
    fn instruction(&mut self, op: Op, operands: &[Operand]) {
        let (code, guard) = self.code();
        code.push(guard, op, operands);
    }

    /// A fresh register, not yet written.
    fn register<R: Register>(&mut self) -> R {
        self.code().0.fresh()
    }

    instruction_table!(methods);

    /// Any function of three words, by its truth table (`a` = 0xF0, `b` = 0xCC, `c` = 0xAA).
    fn lop3(&mut self, a: impl Into<V32>, b: impl Into<V32>, c: impl Into<V32>, table: u8) -> R32 {
        let d: R32 = self.register();
        let [a, b, c] = [a.into(), b.into(), c.into()].map(Value::operand);
        self.instruction(Op::Lop3, &[d.operand(), a, b, c, Operand::Imm(u64::from(table))]);
        d
    }

    /// The two words of 64 bits, low first.
    fn unpack(&mut self, a: impl Into<V64>) -> (R32, R32) {
        let (lo, hi): (R32, R32) = (self.register(), self.register());
        self.instruction(Op::Unpack, &[lo.operand(), hi.operand(), a.into().operand()]);
        (lo, hi)
    }

    /// Overwrites `d`: the variable of a loop or branch.
    fn set(&mut self, d: R32, value: impl Into<V32>) {
        self.instruction(Op::Mov(Class::B32), &[d.operand(), value.into().operand()]);
    }

    /// Overwrites a 64-bit `d`.
    fn set64(&mut self, d: R64, value: impl Into<V64>) {
        self.instruction(Op::Mov(Class::B64), &[d.operand(), value.into().operand()]);
    }

    /// Adds to a variable in place.
    fn increase(&mut self, d: R32, by: impl Into<V32>) {
        let sum = self.add(d, by);
        self.set(d, sum);
    }

    /// Adds to a 64-bit variable in place.
    fn increase64(&mut self, d: R64, by: impl Into<V64>) {
        let sum = self.add64(d, by);
        self.set64(d, sum);
    }

    /// Subtracts from a variable in place.
    fn decrease(&mut self, d: R32, by: impl Into<V32>) {
        let rest = self.sub(d, by);
        self.set(d, rest);
    }

    /// Bit `place` of a word, 0 or 1; 0 from place 32 on.
    fn bit(&mut self, word: R32, place: impl Into<V32>) -> R32 {
        self.field(word, place, 1)
    }

    /// The field of a word at bit `place` of 1 to 32 bits. Of a [`bfe`](Self::bfe) whose place is in a register the assembler makes four instructions,
    /// of this two.
    fn field(&mut self, word: R32, place: impl Into<V32>, bits: u32) -> R32 {
        let shifted = self.shr(word, place);
        self.and(shifted, u32::MAX >> (32 - bits))
    }

    /// Overwrites a 64-bit `d` by the pair `{hi, lo}`.
    fn set_pair(&mut self, d: R64, lo: impl Into<V32>, hi: impl Into<V32>) {
        self.instruction(Op::Pack, &[d.operand(), lo.into().operand(), hi.into().operand()]);
    }

    /// Overwrites a double.
    fn set_f64(&mut self, d: F64, value: impl Into<VF64>) {
        self.instruction(Op::Mov(Class::F64), &[d.operand(), value.into().operand()]);
    }

    /// The address of the block's dynamic shared memory.
    fn shared_base(&mut self) -> R32 {
        self.code().0.shared = true;
        let d: R32 = self.register();
        self.instruction(Op::SharedBase, &[d.operand()]);
        d
    }

    /// Loads `vector` words from global memory at `address + offset` bytes.
    fn load_global(&mut self, space: Space, vector: Vector, address: R64, offset: u32) -> Vec<R32> {
        self.load(space, vector, Elem::U32, address.operand(), offset)
    }

    /// Loads `vector` words from shared memory at `address + offset` bytes.
    fn load_shared(&mut self, vector: Vector, address: R32, offset: u32) -> Vec<R32> {
        self.load(Space::Shared, vector, Elem::U32, address.operand(), offset)
    }

    #[doc(hidden)]
    fn load<R: Register>(&mut self, space: Space, vector: Vector, elem: Elem, address: Operand, offset: u32) -> Vec<R> {
        let registers: Vec<R> = (0..vector.len()).map(|_| self.register()).collect();
        let mut operands: Vec<Operand> = registers.iter().map(|r| r.operand()).collect();
        operands.extend([address, Operand::Imm(u64::from(offset))]);
        self.instruction(Op::Ld(space, vector, elem), &operands);
        registers
    }

    /// Loads `vector` doubles from memory at `address + offset` bytes.
    fn load_f64(&mut self, space: Space, vector: Vector, address: impl Value, offset: u32) -> Vec<F64> {
        self.load(space, vector, Elem::F64, address.operand(), offset)
    }

    /// Loads words into registers that already exist (so that a guard leaves the others as they were).
    fn load_into(&mut self, space: Space, vector: Vector, registers: &[R32], address: impl Value, offset: u32) {
        debug_assert_eq!(registers.len(), vector.len());
        let mut operands: Vec<Operand> = registers.iter().map(|r| r.operand()).collect();
        operands.extend([address.operand(), Operand::Imm(u64::from(offset))]);
        self.instruction(Op::Ld(space, vector, Elem::U32), &operands);
    }

    /// Stores 1, 2 or 4 words to global memory at `address + offset` bytes.
    fn store_global(&mut self, space: Space, words: &[R32], address: R64, offset: u32) {
        self.store(space, Elem::U32, words, address.operand(), offset);
    }

    /// Stores 1, 2 or 4 words to shared memory at `address + offset` bytes.
    fn store_shared(&mut self, words: &[R32], address: R32, offset: u32) {
        self.store(Space::Shared, Elem::U32, words, address.operand(), offset);
    }

    /// Stores 1 or 2 doubles to memory at `address + offset` bytes.
    fn store_f64(&mut self, space: Space, values: &[F64], address: impl Value, offset: u32) {
        self.store(space, Elem::F64, values, address.operand(), offset);
    }

    #[doc(hidden)]
    fn store<R: Register>(&mut self, space: Space, elem: Elem, values: &[R], address: Operand, offset: u32) {
        let vector = match values.len() {
            1 => Vector::V1,
            2 => Vector::V2,
            _ => Vector::V4,
        };
        debug_assert_eq!(values.len(), vector.len());
        let mut operands = vec![address, Operand::Imm(u64::from(offset))];
        operands.extend(values.iter().map(|value| value.operand()));
        self.instruction(Op::St(space, vector, elem), &operands);
    }

    /// Stores the low 16 bits to shared memory at `address + offset` bytes.
    fn store_shared_half(&mut self, value: R32, address: R32, offset: u32) {
        let offset = Operand::Imm(u64::from(offset));
        self.instruction(Op::StSharedHalf, &[address.operand(), offset, value.operand()]);
    }

    /// Asks the second-level cache to load the line of `address + offset` bytes. The address must be within a buffer.
    fn prefetch(&mut self, address: R64, offset: u32) {
        self.instruction(Op::Prefetch, &[address.operand(), Operand::Imm(u64::from(offset))]);
    }

    /// Starts copying `bytes` (4, 8, 16) from global to shared memory; ordered by the waits.
    fn copy_async(&mut self, bytes: u8, to: R32, to_offset: u32, from: R64, from_offset: u32) {
        let [to_offset, from_offset] = [to_offset, from_offset].map(|o| Operand::Imm(u64::from(o)));
        self.instruction(Op::CpAsync(bytes), &[to.operand(), to_offset, from.operand(), from_offset]);
    }

    /// Closes this thread's group of asynchronous copies.
    fn copy_commit(&mut self) {
        self.instruction(Op::CpAsyncCommit, &[]);
    }

    /// Waits until at most `pending` of this thread's groups are under way.
    fn copy_wait(&mut self, pending: u32) {
        self.instruction(Op::CpAsyncWait, &[Operand::Imm(u64::from(pending))]);
    }

    /// Atomic `*address += a` in global memory.
    fn reduce_add_global(&mut self, address: R64, offset: u32, a: impl Into<V32>) {
        let offset = Operand::Imm(u64::from(offset));
        self.instruction(Op::RedAdd(Space::Global, Width::W32), &[address.operand(), offset, a.into().operand()]);
    }

    /// Atomic `*address += a` of 64 bits in global memory.
    fn reduce_add64_global(&mut self, address: R64, offset: u32, a: impl Into<V64>) {
        let offset = Operand::Imm(u64::from(offset));
        self.instruction(Op::RedAdd(Space::Global, Width::W64), &[address.operand(), offset, a.into().operand()]);
    }

    /// Warp shuffle among all 32 lanes, in segments of `width` lanes (a power of two).
    ///
    /// In `Up` and `Down` a lane whose source lies outside its segment keeps its own value.
    fn shuffle(&mut self, mode: Shuffle, a: R32, b: impl Into<V32>, width: u32) -> R32 {
        let clamp = match mode {
            Shuffle::Up => 0,
            _ => 31,
        };
        let control = ((32 - width) << 8) | clamp;
        let d: R32 = self.register();
        let (control, mask) = (Operand::Imm(u64::from(control)), Operand::Imm(u64::from(u32::MAX)));
        self.instruction(Op::Shfl(mode), &[d.operand(), a.operand(), b.into().operand(), control, mask]);
        d
    }

    /// Mask of the lanes of the whole warp whose `p` is true.
    fn ballot(&mut self, p: Pred) -> R32 {
        let d: R32 = self.register();
        self.instruction(Op::Ballot, &[d.operand(), p.operand(), Operand::Imm(u64::from(u32::MAX))]);
        d
    }

    /// The sum of `a` over the whole warp, modulo 2³².
    fn sum_of_lanes(&mut self, a: R32) -> R32 {
        let d: R32 = self.register();
        self.instruction(Op::ReduxAdd, &[d.operand(), a.operand(), Operand::Imm(u64::from(u32::MAX))]);
        d
    }

    /// Vote of the whole warp.
    fn vote(&mut self, vote: Vote, p: Pred) -> Pred {
        let d: Pred = self.register();
        self.instruction(Op::Vote(vote), &[d.operand(), p.operand(), Operand::Imm(u64::from(u32::MAX))]);
        d
    }

    /// Barrier of the block.
    fn barrier(&mut self) {
        self.instruction(Op::BarSync, &[Operand::Imm(0)]);
    }

    /// Barrier of the whole warp, ordering its memory accesses.
    fn warp_barrier(&mut self) {
        self.instruction(Op::BarWarpSync, &[Operand::Imm(u64::from(u32::MAX))]);
    }

    /// Starts `D = A·B + D` of the warpgroup: 64×32 by 32×N unsigned bytes, 32-bit sums. `d` are the `N/2` sums of this thread, `a` its
    /// bytes of `A`. `b` describes the place of `B` in shared memory. Without `accumulate` it is `D = A·B`.
    fn wgmma_u8(&mut self, d: &[R32], a: [R32; 4], b: R64, accumulate: Pred) {
        let mut operands: Vec<Operand> = d.iter().chain(&a).map(|r| r.operand()).collect();
        operands.extend([b.operand(), accumulate.operand()]);
        self.instruction(Op::Wgmma(2 * d.len() as u8), &operands);
    }

    /// Orders this warpgroup's accesses to registers before the matrix products that follow.
    fn wgmma_fence(&mut self) {
        self.instruction(Op::WgmmaFence, &[]);
    }

    /// Closes the group of this warpgroup's matrix products.
    fn wgmma_commit(&mut self) {
        self.instruction(Op::WgmmaCommit, &[]);
    }

    /// Waits until at most `pending` groups of this warpgroup's matrix products are under way.
    fn wgmma_wait(&mut self, pending: u32) {
        self.instruction(Op::WgmmaWait, &[Operand::Imm(u64::from(pending))]);
    }

    /// Orders this thread's accesses to shared memory before those of matrix products, which a barrier must follow.
    fn proxy_fence(&mut self) {
        self.instruction(Op::FenceProxyAsync, &[]);
    }

    /// `D = A·B + C` on tensor cores: 16×32 by 32×8 unsigned bytes, 32-bit sums.
    fn mma_u8(&mut self, a: [R32; 4], b: [R32; 2], c: [R32; 4]) -> [R32; 4] {
        let d: [R32; 4] = std::array::from_fn(|_| self.register());
        let operands: Vec<Operand> = [&d[..], &a, &b, &c].concat().into_iter().map(Value::operand).collect();
        self.instruction(Op::MmaU8, &operands);
        d
    }
}
