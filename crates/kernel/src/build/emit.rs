//! Every instruction that leaves the carry flag alone, as a method that returns a fresh register.

use super::value::{F64, Pred, R32, R64, Register, V32, V64, VF64, Value};
use crate::ir::{
    Bits, Carry, Class, Cmp, CmpType, Elem, Float, Funnel, FunnelMode, Guard, Half, Inst, Int, Item, Logic, Op,
    Operand, Round, Shuffle, Space, Special, Vector, Vote, Width,
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

macro_rules! instructions {
    ($($(#[$doc:meta])* $name:ident($($arg:ident: $kind:ty),*) -> $result:ty = $op:expr;)*) => { $(
        $(#[$doc])*
        fn $name(&mut self $(, $arg: impl Into<$kind>)*) -> $result {
            let d: $result = self.register();
            self.instruction($op, &[d.operand() $(, $arg.into().operand())*]);
            d
        }
    )* };
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

    instructions! {
        /// `a + b`, modulo 2³².
        add(a: V32, b: V32) -> R32 = Op::Add(Width::W32, Carry::None);
        /// `a + b`, modulo 2⁶⁴.
        add64(a: V64, b: V64) -> R64 = Op::Add(Width::W64, Carry::None);
        /// `a − b`, modulo 2³².
        sub(a: V32, b: V32) -> R32 = Op::Sub(Width::W32, Carry::None);
        /// `a − b`, modulo 2⁶⁴.
        sub64(a: V64, b: V64) -> R64 = Op::Sub(Width::W64, Carry::None);
        /// The low word of `a·b`.
        mul_lo(a: V32, b: V32) -> R32 = Op::Mul(Half::Lo, Int::U32);
        /// The high word of `a·b`, unsigned.
        mul_hi(a: V32, b: V32) -> R32 = Op::Mul(Half::Hi, Int::U32);
        /// The low half of `a·b` of 64-bit values.
        mul_lo64(a: V64, b: V64) -> R64 = Op::Mul(Half::Lo, Int::U64);
        /// The high half of `a·b` of 64-bit values, unsigned.
        mul_hi64(a: V64, b: V64) -> R64 = Op::Mul(Half::Hi, Int::U64);
        /// `a·b`, the whole product, unsigned.
        mul_wide(a: V32, b: V32) -> R64 = Op::MulWide(Int::U32);
        /// `a·b`, the whole product, signed.
        mul_wide_signed(a: V32, b: V32) -> R64 = Op::MulWide(Int::S32);
        /// The low word of `a·b`, plus `c`.
        mad_lo(a: V32, b: V32, c: V32) -> R32 = Op::Mad(Half::Lo, Width::W32, Carry::None);
        /// The high word of `a·b`, plus `c`.
        mad_hi(a: V32, b: V32, c: V32) -> R32 = Op::Mad(Half::Hi, Width::W32, Carry::None);
        /// The low half of `a·b`, plus `c`, of 64-bit values.
        mad_lo64(a: V64, b: V64, c: V64) -> R64 = Op::Mad(Half::Lo, Width::W64, Carry::None);
        /// `a·b + c` with a 64-bit `c`, modulo 2⁶⁴.
        mad_wide(a: V32, b: V32, c: V64) -> R64 = Op::MadWide(Int::U32);
        /// The smaller, unsigned.
        min(a: V32, b: V32) -> R32 = Op::Min(Int::U32);
        /// The larger, unsigned.
        max(a: V32, b: V32) -> R32 = Op::Max(Int::U32);
        /// Bitwise and.
        and(a: V32, b: V32) -> R32 = Op::Logic(Logic::And, Bits::B32);
        /// Bitwise or.
        or(a: V32, b: V32) -> R32 = Op::Logic(Logic::Or, Bits::B32);
        /// Bitwise exclusive or.
        xor(a: V32, b: V32) -> R32 = Op::Logic(Logic::Xor, Bits::B32);
        /// Bitwise and of 64 bits.
        and64(a: V64, b: V64) -> R64 = Op::Logic(Logic::And, Bits::B64);
        /// Bitwise or of 64 bits.
        or64(a: V64, b: V64) -> R64 = Op::Logic(Logic::Or, Bits::B64);
        /// Bitwise exclusive or of 64 bits.
        xor64(a: V64, b: V64) -> R64 = Op::Logic(Logic::Xor, Bits::B64);
        /// Both.
        and_pred(a: Pred, b: Pred) -> Pred = Op::Logic(Logic::And, Bits::Pred);
        /// Either.
        or_pred(a: Pred, b: Pred) -> Pred = Op::Logic(Logic::Or, Bits::Pred);
        /// Exactly one.
        xor_pred(a: Pred, b: Pred) -> Pred = Op::Logic(Logic::Xor, Bits::Pred);
        /// Bitwise complement.
        not(a: V32) -> R32 = Op::Not(Bits::B32);
        /// Bitwise complement of 64 bits.
        not64(a: V64) -> R64 = Op::Not(Bits::B64);
        /// The opposite.
        not_pred(a: Pred) -> Pred = Op::Not(Bits::Pred);
        /// Four bytes picked from `{b, a}` by the low nibbles of `selector`.
        prmt(a: V32, b: V32, selector: V32) -> R32 = Op::Prmt;
        /// `a << n`, zero from 32 on.
        shl(a: V32, n: V32) -> R32 = Op::Shl(Width::W32);
        /// `a >> n`, zero from 32 on.
        shr(a: V32, n: V32) -> R32 = Op::Shr(Int::U32);
        /// `a >> n`, arithmetic.
        shr_signed(a: V32, n: V32) -> R32 = Op::Shr(Int::S32);
        /// `a << n` of 64 bits, zero from 64 on.
        shl64(a: V64, n: V32) -> R64 = Op::Shl(Width::W64);
        /// `a >> n` of 64 bits, zero from 64 on.
        shr64(a: V64, n: V32) -> R64 = Op::Shr(Int::U64);
        /// The high word of `{hi, lo} << n`, `n` modulo 32.
        funnel_left(lo: V32, hi: V32, n: V32) -> R32 = Op::Shf(Funnel::Left, FunnelMode::Wrap);
        /// The low word of `{hi, lo} >> n`, `n` modulo 32.
        funnel_right(lo: V32, hi: V32, n: V32) -> R32 = Op::Shf(Funnel::Right, FunnelMode::Wrap);
        /// The high word of `{hi, lo} << n`, `n` at most 32.
        funnel_left_clamp(lo: V32, hi: V32, n: V32) -> R32 = Op::Shf(Funnel::Left, FunnelMode::Clamp);
        /// The low word of `{hi, lo} >> n`, `n` at most 32.
        funnel_right_clamp(lo: V32, hi: V32, n: V32) -> R32 = Op::Shf(Funnel::Right, FunnelMode::Clamp);
        /// The field of `a` at bit `start` of `length` bits.
        bfe(a: V32, start: V32, length: V32) -> R32 = Op::Bfe(Int::U32);
        /// `b` with the low `length` bits of `a` at bit `start`.
        bfi(a: V32, b: V32, start: V32, length: V32) -> R32 = Op::Bfi(Width::W32);
        /// The number of ones.
        popc(a: V32) -> R32 = Op::Popc(Width::W32);
        /// The number of ones of 64 bits.
        popc64(a: V64) -> R32 = Op::Popc(Width::W64);
        /// The number of the highest one, all ones if there is none.
        bfind(a: V32) -> R32 = Op::Bfind(Width::W32);
        /// The number of leading zeros.
        clz(a: V32) -> R32 = Op::Clz(Width::W32);
        /// The number of leading zeros of 64 bits.
        clz64(a: V64) -> R32 = Op::Clz(Width::W64);
        /// The bits in reverse order.
        brev(a: V32) -> R32 = Op::Brev(Width::W32);
        /// The 64 bits in reverse order.
        brev64(a: V64) -> R64 = Op::Brev(Width::W64);
        /// `p ? a : b`.
        select(a: V32, b: V32, p: Pred) -> R32 = Op::Selp(Class::B32);
        /// `p ? a : b` of 64 bits.
        select64(a: V64, b: V64, p: Pred) -> R64 = Op::Selp(Class::B64);
        /// `p ? a : b` of doubles.
        select_f64(a: VF64, b: VF64, p: Pred) -> F64 = Op::Selp(Class::F64);
        /// A copy.
        copy(a: V32) -> R32 = Op::Mov(Class::B32);
        /// A copy of 64 bits.
        copy64(a: V64) -> R64 = Op::Mov(Class::B64);
        /// A copy of a double.
        copy_f64(a: VF64) -> F64 = Op::Mov(Class::F64);
        /// The pair `{hi, lo}` as 64 bits.
        pack(lo: V32, hi: V32) -> R64 = Op::Pack;
        /// Zero extension.
        widen(a: V32) -> R64 = Op::ZeroExtend;
        /// Sign extension.
        widen_signed(a: V32) -> R64 = Op::SignExtend;
        /// The low word.
        truncate(a: V64) -> R32 = Op::Truncate;
        /// A double's bits.
        bits_of_f64(a: VF64) -> R64 = Op::BitsOfF64;
        /// The double of these bits.
        f64_of_bits(a: V64) -> F64 = Op::F64OfBits;
        /// An unsigned word as a double, exactly.
        u32_to_f64(a: V32) -> F64 = Op::IntToF64(Int::U32);
        /// A signed word as a double, exactly.
        s32_to_f64(a: V32) -> F64 = Op::IntToF64(Int::S32);
        /// An unsigned 64-bit value as a double, rounded to nearest.
        u64_to_f64(a: V64) -> F64 = Op::IntToF64(Int::U64);
        /// A signed 64-bit value as a double, rounded to nearest.
        s64_to_f64(a: V64) -> F64 = Op::IntToF64(Int::S64);
        /// A double rounded to the nearest signed 64-bit value, saturating.
        f64_to_s64(a: VF64) -> R64 = Op::F64ToInt(Round::Nearest, Int::S64);
        /// A double rounded to the nearest unsigned word, saturating.
        f64_to_u32(a: VF64) -> R32 = Op::F64ToInt(Round::Nearest, Int::U32);
        /// `a + b` of doubles.
        add_f64(a: VF64, b: VF64) -> F64 = Op::Float(Float::Add);
        /// `a − b` of doubles.
        sub_f64(a: VF64, b: VF64) -> F64 = Op::Float(Float::Sub);
        /// `a·b` of doubles.
        mul_f64(a: VF64, b: VF64) -> F64 = Op::Float(Float::Mul);
        /// `a·b + c` of doubles, rounded once.
        fma(a: VF64, b: VF64, c: VF64) -> F64 = Op::Float(Float::Fma);
        /// `−a` of a double.
        neg_f64(a: VF64) -> F64 = Op::Float(Float::Neg);
    }

    /// Any function of three words, by its truth table (`a` = 0xF0, `b` = 0xCC, `c` = 0xAA).
    fn lop3(&mut self, a: impl Into<V32>, b: impl Into<V32>, c: impl Into<V32>, table: u8) -> R32 {
        let d: R32 = self.register();
        let [a, b, c] = [a.into(), b.into(), c.into()].map(Value::operand);
        self.instruction(Op::Lop3, &[d.operand(), a, b, c, Operand::Imm(u64::from(table))]);
        d
    }

    /// Compares unsigned words.
    fn compare(&mut self, cmp: Cmp, a: impl Into<V32>, b: impl Into<V32>) -> Pred {
        self.compare_as(cmp, CmpType::Int(Int::U32), a.into(), b.into())
    }

    /// Compares unsigned 64-bit values.
    fn compare64(&mut self, cmp: Cmp, a: impl Into<V64>, b: impl Into<V64>) -> Pred {
        self.compare_as(cmp, CmpType::Int(Int::U64), a.into(), b.into())
    }

    /// Compares signed words.
    fn compare_signed(&mut self, cmp: Cmp, a: impl Into<V32>, b: impl Into<V32>) -> Pred {
        self.compare_as(cmp, CmpType::Int(Int::S32), a.into(), b.into())
    }

    /// Compares doubles.
    fn compare_f64(&mut self, cmp: Cmp, a: impl Into<VF64>, b: impl Into<VF64>) -> Pred {
        self.compare_as(cmp, CmpType::F64, a.into(), b.into())
    }

    #[doc(hidden)]
    fn compare_as(&mut self, cmp: Cmp, kind: CmpType, a: impl Value, b: impl Value) -> Pred {
        let d: Pred = self.register();
        self.instruction(Op::Setp(cmp, kind), &[d.operand(), a.operand(), b.operand()]);
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

    /// Overwrites a 64-bit `d` by the pair `{hi, lo}`.
    fn set_pair(&mut self, d: R64, lo: impl Into<V32>, hi: impl Into<V32>) {
        self.instruction(Op::Pack, &[d.operand(), lo.into().operand(), hi.into().operand()]);
    }

    /// Overwrites a double.
    fn set_f64(&mut self, d: F64, value: impl Into<VF64>) {
        self.instruction(Op::Mov(Class::F64), &[d.operand(), value.into().operand()]);
    }

    /// Reads a special register.
    fn special(&mut self, special: Special) -> R32 {
        let d: R32 = self.register();
        self.instruction(Op::Special(special), &[d.operand()]);
        d
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

    /// Loads words into registers that already exist (so that a guard leaves the others as they were).
    fn load_into(&mut self, space: Space, vector: Vector, registers: &[R32], address: impl Value, offset: u32) {
        debug_assert_eq!(registers.len(), vector.len());
        let mut operands: Vec<Operand> = registers.iter().map(|r| r.operand()).collect();
        operands.extend([address.operand(), Operand::Imm(u64::from(offset))]);
        self.instruction(Op::Ld(space, vector, Elem::U32), &operands);
    }

    /// Stores 1, 2 or 4 words to global memory at `address + offset` bytes.
    fn store_global(&mut self, space: Space, words: &[R32], address: R64, offset: u32) {
        self.store(space, words, address.operand(), offset);
    }

    /// Stores 1, 2 or 4 words to shared memory at `address + offset` bytes.
    fn store_shared(&mut self, words: &[R32], address: R32, offset: u32) {
        self.store(Space::Shared, words, address.operand(), offset);
    }

    #[doc(hidden)]
    fn store(&mut self, space: Space, words: &[R32], address: Operand, offset: u32) {
        let vector = match words.len() {
            1 => Vector::V1,
            2 => Vector::V2,
            _ => Vector::V4,
        };
        debug_assert_eq!(words.len(), vector.len());
        let mut operands = vec![address, Operand::Imm(u64::from(offset))];
        operands.extend(words.iter().map(|w| w.operand()));
        self.instruction(Op::St(space, vector, Elem::U32), &operands);
    }

    /// Loads 16 bits from shared memory at `address + offset` bytes, zero-extended.
    fn load_shared_half(&mut self, address: R32, offset: u32) -> R32 {
        let d: R32 = self.register();
        self.instruction(Op::LdSharedHalf, &[d.operand(), address.operand(), Operand::Imm(u64::from(offset))]);
        d
    }

    /// Stores the low 16 bits to shared memory at `address + offset` bytes.
    fn store_shared_half(&mut self, value: R32, address: R32, offset: u32) {
        let offset = Operand::Imm(u64::from(offset));
        self.instruction(Op::StSharedHalf, &[address.operand(), offset, value.operand()]);
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

    /// Atomic `*address += a` in global memory; returns the old value.
    fn atomic_add_global(&mut self, address: R64, offset: u32, a: impl Into<V32>) -> R32 {
        let d: R32 = self.register();
        let offset = Operand::Imm(u64::from(offset));
        self.instruction(
            Op::AtomAdd(Space::Global, Width::W32),
            &[d.operand(), address.operand(), offset, a.into().operand()],
        );
        d
    }

    /// Atomic `*address += a` in global memory.
    fn reduce_add_global(&mut self, address: R64, offset: u32, a: impl Into<V32>) {
        let offset = Operand::Imm(u64::from(offset));
        self.instruction(Op::RedAdd(Space::Global, Width::W32), &[address.operand(), offset, a.into().operand()]);
    }

    /// Atomic `*address += a` of 64 bits in global memory; returns the old value.
    fn atomic_add64_global(&mut self, address: R64, offset: u32, a: impl Into<V64>) -> R64 {
        let d: R64 = self.register();
        let offset = Operand::Imm(u64::from(offset));
        self.instruction(
            Op::AtomAdd(Space::Global, Width::W64),
            &[d.operand(), address.operand(), offset, a.into().operand()],
        );
        d
    }

    /// Atomic `*address += a` of 64 bits in global memory.
    fn reduce_add64_global(&mut self, address: R64, offset: u32, a: impl Into<V64>) {
        let offset = Operand::Imm(u64::from(offset));
        self.instruction(Op::RedAdd(Space::Global, Width::W64), &[address.operand(), offset, a.into().operand()]);
    }

    /// Loads 64 bits from global memory at `address + offset` bytes.
    fn load_global64(&mut self, space: Space, address: R64, offset: u32) -> R64 {
        let d: R64 = self.register();
        let operands = [d.operand(), address.operand(), Operand::Imm(u64::from(offset))];
        self.instruction(Op::Ld(space, Vector::V1, Elem::U64), &operands);
        d
    }

    /// Stores 64 bits to global memory at `address + offset` bytes.
    fn store_global64(&mut self, space: Space, value: impl Into<V64>, address: R64, offset: u32) {
        let operands = [address.operand(), Operand::Imm(u64::from(offset)), value.into().operand()];
        self.instruction(Op::St(space, Vector::V1, Elem::U64), &operands);
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

    /// `D = A·B + C` on tensor cores: 16×32 by 32×8 unsigned bytes, 32-bit sums.
    fn mma_u8(&mut self, a: [R32; 4], b: [R32; 2], c: [R32; 4]) -> [R32; 4] {
        let d: [R32; 4] = std::array::from_fn(|_| self.register());
        let operands: Vec<Operand> = [&d[..], &a, &b, &c].concat().into_iter().map(Value::operand).collect();
        self.instruction(Op::MmaU8, &operands);
        d
    }
}
