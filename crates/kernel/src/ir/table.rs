//! The instruction set, an operation a row.
//!
//! ```text
//! /// The formula.
//! Name(modifier: Type = its values, …) {
//!     "its text", …; its operands in the order of the text; its pipe; its semantics; its carry; its target
//! } {
//!     /// The method.
//!     method[modifiers from the caller](operands) -> result = (values of the modifiers);
//! }
//! ```
//!
//! * The text is a format string, in which a modifier stands for its own text. Two operations may share a text; then
//!   their operands tell them apart.
//! * The values of a modifier are all that its type has, unless the row lists them.
//! * The semantics is a method of the simulator's `Execution`; `unary`, `binary` and `ternary` apply a function to each lane.
//! * `carry c` names the modifier for the carry flag, `since` the first target. Both may be left out.
//! * The methods belong to [`Emit`](crate::build::Emit). A method that does more than list operands is written there by hand.
//!
//! The table is a macro that hands its rows to another macro: `ir::op` makes the type from them, `build::emit` the methods, and
//! `sim::execution` the interpreter.

macro_rules! instruction_table {
    ($use:ident) => { $use! {

// Integer arithmetic.

/// `d = a + b (+ CF)`.
Add(w: Width, c: Carry) {
    "add{c}{}.u{w}", c.suffix(); dst(w), src(w), src(w); Alu; sum(w, c); carry c
} {
    /// `a + b`, modulo 2³².
    add(a: V32, b: V32) -> R32 = (Width::W32, Carry::None);
    /// `a + b`, modulo 2⁶⁴.
    add64(a: V64, b: V64) -> R64 = (Width::W64, Carry::None);
}
/// `d = a − b (− CF)`; the flag is the borrow.
Sub(w: Width, c: Carry) {
    "sub{c}{}.u{w}", c.suffix(); dst(w), src(w), src(w); Alu; difference(w, c); carry c
} {
    /// `a − b`, modulo 2³².
    sub(a: V32, b: V32) -> R32 = (Width::W32, Carry::None);
    /// `a − b`, modulo 2⁶⁴.
    sub64(a: V64, b: V64) -> R64 = (Width::W64, Carry::None);
}
/// `d = half(a·b)`, unsigned.
Mul(h: Half, w: Width) {
    "mul.{h}.u{w}"; dst(w), src(w), src(w); Mul; product(h, w)
} {
    /// The low word of `a·b`.
    mul_lo(a: V32, b: V32) -> R32 = (Half::Lo, Width::W32);
    /// The high word of `a·b`, unsigned.
    mul_hi(a: V32, b: V32) -> R32 = (Half::Hi, Width::W32);
    /// The low half of `a·b` of 64-bit values.
    mul_lo64(a: V64, b: V64) -> R64 = (Half::Lo, Width::W64);
}
/// `d = a·b`, 32×32 → 64 bits.
MulWide(t: Int = Int::NARROW) {
    "mul.wide.{t}"; dst(B64), src(B32), src(B32); WideMul; wide_product(t)
} {
    /// `a·b`, the whole product, unsigned.
    mul_wide(a: V32, b: V32) -> R64 = (Int::U32);
    /// `a·b`, the whole product, signed.
    mul_wide_signed(a: V32, b: V32) -> R64 = (Int::S32);
}
/// `d = half(a·b) + c (+ CF)`, unsigned words.
Mad(h: Half, c: Carry) {
    "mad{c}.{h}{}.u32", c.suffix(); dst(B32), src(B32), src(B32), src(B32); Mul; product_sum(h, c); carry c
} {
    /// The low word of `a·b`, plus `c`.
    mad_lo(a: V32, b: V32, c: V32) -> R32 = (Half::Lo, Carry::None);
    /// The high word of `a·b`, plus `c`.
    mad_hi(a: V32, b: V32, c: V32) -> R32 = (Half::Hi, Carry::None);
}
/// `d = a·b + c`, 32×32 + 64 → 64 bits.
MadWide(t: Int = Int::NARROW) {
    "mad.wide.{t}"; dst(B64), src(B32), src(B32), src(B64); WideMul; wide_product_sum(t)
} {
    /// `a·b + c` with a 64-bit `c`, modulo 2⁶⁴.
    mad_wide(a: V32, b: V32, c: V64) -> R64 = (Int::U32);
    /// `a·b + c` of signed words with a 64-bit `c`, modulo 2⁶⁴.
    mad_wide_signed(a: V32, b: V32, c: V64) -> R64 = (Int::S32);
}
/// `d = a₀b₀ + a₁b₁ + a₂b₂ + a₃b₃ + c`, the bytes of `a` and `b`, unsigned.
Dp4a { "dp4a.u32.u32"; dst(B32), src(B32), src(B32), src(B32); Mul; ternary(byte_products) } {
    /// The products of the bytes of `a` by those of `b`, unsigned, plus `c`.
    dp4a(a: V32, b: V32, c: V32) -> R32;
}
/// The smaller, unsigned.
Min { "min.u32"; dst(B32), src(B32), src(B32); Alu; binary(u32::min) } {
    /// The smaller, unsigned.
    min(a: V32, b: V32) -> R32;
}
/// The larger, unsigned.
Max { "max.u32"; dst(B32), src(B32), src(B32); Alu; binary(u32::max) } {
    /// The larger, unsigned.
    max(a: V32, b: V32) -> R32;
}

// Logic, shifts, bits.

/// `d = a ∘ b`.
Logic(l: Logic, k: Class = Class::BITS) { "{l}.{k}"; dst(k), src(k), src(k); Alu; logic(l, k) } {
    /// Bitwise and.
    and(a: V32, b: V32) -> R32 = (Logic::And, Class::B32);
    /// Bitwise or.
    or(a: V32, b: V32) -> R32 = (Logic::Or, Class::B32);
    /// Bitwise exclusive or.
    xor(a: V32, b: V32) -> R32 = (Logic::Xor, Class::B32);
    /// Bitwise and of 64 bits.
    and64(a: V64, b: V64) -> R64 = (Logic::And, Class::B64);
    /// Bitwise or of 64 bits.
    or64(a: V64, b: V64) -> R64 = (Logic::Or, Class::B64);
    /// Both.
    and_pred(a: Pred, b: Pred) -> Pred = (Logic::And, Class::Pred);
    /// Either.
    or_pred(a: Pred, b: Pred) -> Pred = (Logic::Or, Class::Pred);
}
/// `d = ¬a`.
Not(k: Class = Class::BITS) { "not.{k}"; dst(k), src(k); Alu; complement(k) } {
    /// Bitwise complement.
    not(a: V32) -> R32 = (Class::B32);
    /// The opposite.
    not_pred(a: Pred) -> Pred = (Class::Pred);
}
/// Any function of three words, given by its truth table: the fourth source, a constant.
Lop3 { "lop3.b32"; dst(B32), src(B32), src(B32), src(B32), Const(255); Alu; lookup() } {}
/// Four bytes picked from `{b, a}` by the nibbles of `c`.
Prmt { "prmt.b32"; dst(B32), src(B32), src(B32), src(B32); Alu; ternary(permute_bytes) } {
    /// Four bytes picked from `{b, a}` by the low nibbles of `selector`.
    prmt(a: V32, b: V32, selector: V32) -> R32;
}
/// `d = a << b`, zero from the width on.
Shl(w: Width) { "shl.b{w}"; dst(w), src(w), src(B32); Alu; shift_left(w) } {
    /// `a << n`, zero from 32 on.
    shl(a: V32, n: V32) -> R32 = (Width::W32);
    /// `a << n` of 64 bits, zero from 64 on.
    shl64(a: V64, n: V32) -> R64 = (Width::W64);
}
/// `d = a >> b`, arithmetic for signed types, saturating at the width.
Shr(t: Int) { "shr.{t}"; dst(t), src(t), src(B32); Alu; shift_right(t) } {
    /// `a >> n`, zero from 32 on.
    shr(a: V32, n: V32) -> R32 = (Int::U32);
    /// `a >> n`, arithmetic.
    shr_signed(a: V32, n: V32) -> R32 = (Int::S32);
    /// `a >> n` of 64 bits, zero from 64 on.
    shr64(a: V64, n: V32) -> R64 = (Int::U64);
}
/// Funnel shift of `{b, a}` (`a` is the low word) by `c`, modulo 32.
Shf(f: Funnel) { "shf.{f}.wrap.b32"; dst(B32), src(B32), src(B32), src(B32); Alu; funnel_shift(f) } {
    /// The high word of `{hi, lo} << n`, `n` modulo 32.
    funnel_left(lo: V32, hi: V32, n: V32) -> R32 = (Funnel::Left);
    /// The low word of `{hi, lo} >> n`, `n` modulo 32.
    funnel_right(lo: V32, hi: V32, n: V32) -> R32 = (Funnel::Right);
}
/// Extracts the field at `b` of length `c`, both modulo 256.
Bfe { "bfe.u32"; dst(B32), src(B32), SrcUpTo(B32, 255), SrcUpTo(B32, 255); Alu; ternary(extract_field) } {
    /// The field of `a` at bit `start` of `length` bits.
    bfe(a: V32, start: V32, length: V32) -> R32;
}
/// Number of ones.
Popc { "popc.b32"; dst(B32), src(B32); Alu; unary(u32::count_ones) } {
    /// The number of ones.
    popc(a: V32) -> R32;
}
/// Number of leading zeros.
Clz { "clz.b32"; dst(B32), src(B32); Alu; unary(u32::leading_zeros) } {
    /// The number of leading zeros.
    clz(a: V32) -> R32;
}
/// Number of the highest one, all ones if there is none.
Bfind { "bfind.u32"; dst(B32), src(B32); Alu; unary(|a: u32| 31_u32.wrapping_sub(a.leading_zeros())) } {
    /// The number of the highest one, all ones if there is none.
    bfind(a: V32) -> R32;
}
/// Bits in reverse order.
Brev { "brev.b32"; dst(B32), src(B32); Alu; unary(u32::reverse_bits) } {
    /// The bits in reverse order.
    brev(a: V32) -> R32;
}

// Comparison and selection.

/// `d = p ? a : b`.
Selp(k: Class = Class::NUMBERS) { "selp.{k}"; dst(k), src(k), src(k), src(Pred); Alu; select(k) } {
    /// `p ? a : b`.
    select(a: V32, b: V32, p: Pred) -> R32 = (Class::B32);
    /// `p ? a : b` of 64 bits.
    select64(a: V64, b: V64, p: Pred) -> R64 = (Class::B64);
    /// `p ? a : b` of doubles.
    select_f64(a: VF64, b: VF64, p: Pred) -> F64 = (Class::F64);
}
/// `p = a ∘ b`.
Setp(o: Cmp, t: Int) { "setp.{o}.{t}"; dst(Pred), src(t), src(t); Alu; compare_integers(o, t) } {
    /// Compares unsigned words.
    compare[cmp: Cmp](a: V32, b: V32) -> Pred = (cmp, Int::U32);
    /// Compares unsigned 64-bit values.
    compare64[cmp: Cmp](a: V64, b: V64) -> Pred = (cmp, Int::U64);
    /// Compares signed words.
    compare_signed[cmp: Cmp](a: V32, b: V32) -> Pred = (cmp, Int::S32);
}
/// `p = a ∘ b` of doubles, false if either is NaN.
SetpF64(o: Cmp) { "setp.{o}.f64"; dst(Pred), src(F64), src(F64); Alu; compare_doubles(o) } {
    /// Compares doubles.
    compare_f64[cmp: Cmp](a: VF64, b: VF64) -> Pred = (cmp);
}

// Moves and conversions.

/// `d = a`.
Mov(k: Class) { "mov.{k}"; dst(k), src(k); Move; copy(k) } {
    /// A copy.
    copy(a: V32) -> R32 = (Class::B32);
    /// A copy of 64 bits.
    copy64(a: V64) -> R64 = (Class::B64);
    /// A copy of a double.
    copy_f64(a: VF64) -> F64 = (Class::F64);
}
/// `d = {lo, hi}`.
Pack { "mov.b64"; dst(B64), SrcVec(B32, 2); Move; binary(|lo: u32, hi: u32| u64::from(hi) << 32 | u64::from(lo)) } {
    /// The pair `{hi, lo}` as 64 bits.
    pack(lo: V32, hi: V32) -> R64;
}
/// `{lo, hi} = a`.
Unpack { "mov.b64"; DstVec(B32, 2), src(B64); Move; unpack() } {}
/// A double's bits.
BitsOfF64 { "mov.b64"; dst(B64), src(F64); Move; copy(Class::F64) } {
    /// A double's bits.
    bits_of_f64(a: VF64) -> R64;
}
/// The double of these bits.
F64OfBits { "mov.b64"; dst(F64), src(B64); Move; copy(Class::B64) } {
    /// The double of these bits.
    f64_of_bits(a: V64) -> F64;
}
/// Zero extension, 32 to 64 bits.
ZeroExtend { "cvt.u64.u32"; dst(B64), src(B32); Move; unary(|a: u32| u64::from(a)) } {
    /// Zero extension.
    widen(a: V32) -> R64;
}
/// Sign extension, 32 to 64 bits.
SignExtend { "cvt.s64.s32"; dst(B64), src(B32); Alu; unary(|a: i32| i64::from(a)) } {
    /// Sign extension.
    widen_signed(a: V32) -> R64;
}
/// The low 32 of 64 bits.
Truncate { "cvt.u32.u64"; dst(B32), src(B64); Move; unary(|a: u64| a as u32) } {
    /// The low word.
    truncate(a: V64) -> R32;
}
/// A special register.
Special(s: Special) { "mov.u32"; dst(B32), Fixed(s.text()); Move; special(s) } {
    /// Reads a special register.
    special[special: Special]() -> R32 = (special);
}
/// The address of the block's dynamic shared memory.
SharedBase { "mov.u32"; dst(B32), Fixed(SHARED_NAME); Move; shared_base() } {}
/// The address of the kernel's table of constants, in global memory.
TableBase { "mov.u64"; dst(B64), Fixed(TABLE_NAME); Move; table_base() } {}
/// Kernel parameter number `imm`.
LdParam(w: Width) { "ld.param.u{w}"; dst(w), Param; Move; parameter(w) } {}

// Doubles, rounded to nearest even.

/// An integer as a double.
IntToF64(t: Int) { "cvt.rn.f64.{t}"; dst(F64), src(t); Fp64; integer_to_double(t) } {
    /// An unsigned word as a double, exactly.
    u32_to_f64(a: V32) -> F64 = (Int::U32);
    /// A signed word as a double, exactly.
    s32_to_f64(a: V32) -> F64 = (Int::S32);
    /// An unsigned 64-bit value as a double, rounded to nearest.
    u64_to_f64(a: V64) -> F64 = (Int::U64);
    /// A signed 64-bit value as a double, rounded to nearest.
    s64_to_f64(a: V64) -> F64 = (Int::S64);
}
/// A double as an integer, saturating; NaN gives the top bit alone.
F64ToInt(r: Round, t: Int) { "cvt.{r}.{t}.f64"; dst(t), src(F64); Fp64; double_to_integer(r, t) } {
    /// A double rounded to the nearest signed 64-bit value, saturating.
    f64_to_s64(a: VF64) -> R64 = (Round::Nearest, Int::S64);
    /// A double rounded to the nearest unsigned word, saturating.
    f64_to_u32(a: VF64) -> R32 = (Round::Nearest, Int::U32);
}
/// `d = a + b`.
AddF64 { "add.rn.f64"; dst(F64), src(F64), src(F64); Fp64; binary(|a: f64, b: f64| a + b) } {
    /// `a + b` of doubles.
    add_f64(a: VF64, b: VF64) -> F64;
}
/// `d = a − b`.
SubF64 { "sub.rn.f64"; dst(F64), src(F64), src(F64); Fp64; binary(|a: f64, b: f64| a - b) } {
    /// `a − b` of doubles.
    sub_f64(a: VF64, b: VF64) -> F64;
}
/// `d = a·b`.
MulF64 { "mul.rn.f64"; dst(F64), src(F64), src(F64); Fp64; binary(|a: f64, b: f64| a * b) } {
    /// `a·b` of doubles.
    mul_f64(a: VF64, b: VF64) -> F64;
}
/// `d = a·b + c`, rounded once.
Fma { "fma.rn.f64"; dst(F64), src(F64), src(F64), src(F64); Fp64; ternary(f64::mul_add) } {
    /// `a·b + c` of doubles, rounded once.
    fma(a: VF64, b: VF64, c: VF64) -> F64;
}
/// `d = −a`.
NegF64 { "neg.f64"; dst(F64), src(F64); Fp64; unary(|a: f64| -a) } {
    /// `−a` of a double.
    neg_f64(a: VF64) -> F64;
}

// Floats, as the bits of words.

/// A signed integer as a float, rounded to nearest even.
IntToF32 { "cvt.rn.f32.s32"; dst(B32), src(B32); Alu; unary(|a: i32| (a as f32).to_bits()) } {
    /// The bits of the float nearest to a signed word.
    s32_to_f32(a: V32) -> R32;
}
/// The reciprocal of a float to about one unit in the last place; subnormal floats count as zero. Hardware and simulator may
/// differ in the last place, so a kernel must be right for either.
ReciprocalF32 { "rcp.approx.ftz.f32"; dst(B32), src(B32); Alu; unary(reciprocal_float) } {
    /// The bits of about `1/a`, for the bits of a float.
    reciprocal_f32(a: R32) -> R32;
}
/// `d = a·b + c` of floats, rounded once towards zero.
FmaF32 { "fma.rz.f32"; dst(B32), src(B32), src(B32), src(B32); Alu; ternary(fused_floats) } {
    /// The bits of `a·b + c`, rounded once towards zero, for the bits of floats.
    fma_f32(a: R32, b: R32, c: R32) -> R32;
}

// Memory.

/// `vector = [address + offset]`.
Ld(s: Space, v: Vector, e: Elem = v.elements()) {
    "ld{s}{v}.{e}"; loaded(v, e), Addr(s.address()); memory(s); load(s, v, e)
} {
    /// Loads 64 bits from global memory at `address + offset` bytes.
    load_global64[space: Space](address: R64, offset: Offset) -> R64 = (space, Vector::V1, Elem::U64);
}
/// `[address + offset] = vector`.
St(s: Space = Space::WRITABLE, v: Vector, e: Elem = v.elements()) {
    "st{s}{v}.{e}"; Addr(s.address()), stored(v, e); memory(s); store(s, v, e)
} {}
/// `d = [address + offset]`, 16 bits of shared memory, zero-extended.
LdSharedHalf { "ld.shared.u16"; dst(B32), Addr(B32); Shared; load_half() } {
    /// Loads 16 bits from shared memory at `address + offset` bytes, zero-extended.
    load_shared_half(address: R32, offset: Offset) -> R32;
}
/// `[address + offset] = a`, the low 16 bits, to shared memory.
StSharedHalf { "st.shared.u16"; Addr(B32), src(B32); Shared; store_half() } {}
/// `d = [address + offset]; [address + offset] += a`, atomically.
AtomAdd(s: Space = Space::ATOMIC, w: Width) {
    "atom{s}.add.u{w}"; dst(w), Addr(s.address()), src(w); memory(s); atomic_add(s, w)
} {
    /// Atomic `*address += a` in global memory; returns the old value.
    atomic_add_global(address: R64, offset: Offset, a: V32) -> R32 = (Space::Global, Width::W32);
}
/// `[address + offset] += a`, atomically.
RedAdd(s: Space = Space::ATOMIC, w: Width) {
    "red{s}.add.u{w}"; Addr(s.address()), src(w); memory(s); atomic_add(s, w)
} {}
/// Asks the second-level cache to load the line of a global address. Nothing waits for it.
Prefetch { "prefetch.global.L2"; Addr(B64); Async; prefetch() } {}
/// Asynchronous copy, global to shared, of 4, 8 or 16 bytes.
CpAsync(n: u8 = [4, 8, 16]) {
    "cp.async.{}.shared.global", if n == 16 { "cg" } else { "ca" };
    Addr(B32), Addr(B64), Fixed(byte_count(n)); Async; start_copy(n); since Target::Sm80
} {}
/// Closes this thread's group of asynchronous copies.
CpAsyncCommit { "cp.async.commit_group"; ; Async; close_copies(); since Target::Sm80 } {}
/// Waits until at most `imm` of this thread's groups are pending.
CpAsyncWait { "cp.async.wait_group"; Const(ANY); Async; land_groups(); since Target::Sm80 } {}
/// Waits for all of this thread's asynchronous copies.
CpAsyncWaitAll { "cp.async.wait_all"; ; Async; land_all(); since Target::Sm80 } {}

// Lanes together.

/// Warp shuffle: `a` of another lane; `b` the lane or distance, `c` clamp and segment mask, then the member mask.
Shfl(m: Shuffle) {
    "shfl.sync.{m}.b32"; dst(B32), src(B32), src(B32), src(B32), src(B32); Shuffle; shuffle(m)
} {}
/// Warp vote on a predicate.
Vote(v: Vote) { "vote.sync.{v}.pred"; dst(Pred), src(Pred), src(B32); Shuffle; vote(v) } {}
/// The lanes whose predicate is true, as a mask.
Ballot { "vote.sync.ballot.b32"; dst(B32), src(Pred), src(B32); Shuffle; ballot() } {}
/// The sum of `a` over the lanes, modulo 2³².
ReduxAdd { "redux.sync.add.u32"; dst(B32), src(B32), src(B32); Shuffle; sum_of_lanes(); since Target::Sm80 } {}
/// `mma.sync.m16n8k32`, unsigned bytes, 32-bit sums: `D = A·B + C`.
MmaU8 {
    "mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32";
    DstVec(B32, 4), Matrix(B32, 4), Matrix(B32, 2), Matrix(B32, 4); Tensor; matrix_product(); since Target::Sm80
} {}
/// `wgmma.mma_async.m64nNk32`, unsigned bytes, 32-bit sums, a warpgroup: `D = A·B (+ D)`. `B` is in shared memory, where its
/// descriptor says; the predicate says whether `D` is added.
Wgmma(n: u8 = WGMMA_COLUMNS) {
    "wgmma.mma_async.sync.aligned.m64n{n}k32.s32.u8.u8";
    Sums(B32, n as usize / 2), Matrix(B32, 4), src(B64), src(Pred); Tensor; warpgroup_product(n); since Target::Sm90a
} {}
/// Orders accesses to registers before the matrix products of the warpgroup that follow.
WgmmaFence { "wgmma.fence.sync.aligned"; ; Control; warpgroup_fence(); since Target::Sm90a } {}
/// Closes the group of the warpgroup's matrix products.
WgmmaCommit { "wgmma.commit_group.sync.aligned"; ; Control; commit_products(); since Target::Sm90a } {}
/// Waits until at most `imm` groups of the warpgroup's matrix products are pending.
WgmmaWait { "wgmma.wait_group.sync.aligned"; Const(7); Control; await_products(); since Target::Sm90a } {}
/// Orders this thread's accesses to shared memory before those of matrix products.
FenceProxyAsync { "fence.proxy.async.shared::cta"; ; Control; proxy_fence(); since Target::Sm90a } {}
/// Barrier number `imm` of the block.
BarSync { "bar.sync"; Const(15); Control; block_barrier() } {}
/// Barrier of the lanes in the mask, with memory ordering among them.
BarWarpSync { "bar.warp.sync"; src(B32); Control; warp_barrier() } {}
/// Ends the thread.
Ret { "ret"; ; Control; end() } {}

    } };
}

pub(crate) use instruction_table;
