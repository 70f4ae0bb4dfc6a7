//! The table of operations: mnemonics, layouts, the list of all.

use crate::ir::{
    Bits, Carry, Class, Cmp, CmpType, Elem, Float, Funnel, FunnelMode, Half, Int, Logic, Op, Part, Round, Shuffle,
    Space, Special, Target, Vector, Vote, Width,
};

const WIDTHS: [Width; 2] = [Width::W32, Width::W64];
const HALVES: [Half; 2] = [Half::Lo, Half::Hi];
const NARROW: [Int; 2] = [Int::U32, Int::S32];

impl Op {
    /// The text of the opcode. Different operations may share it (`mov.b64`); the operands tell them
    /// apart.
    pub fn mnemonic(self) -> String {
        let bits = |w: Width| w.bits();
        match self {
            Self::Add(w, c) => format!("add{}{}.u{}", c.letter(), c.suffix(), bits(w)),
            Self::Sub(w, c) => format!("sub{}{}.u{}", c.letter(), c.suffix(), bits(w)),
            Self::Mul(h, t) => format!("mul.{}.{}", half(h), t.name()),
            Self::MulWide(t) => format!("mul.wide.{}", t.name()),
            Self::Mad(h, w, c) => format!("mad{}.{}{}.u{}", c.letter(), half(h), c.suffix(), bits(w)),
            Self::MadWide(t) => format!("mad.wide.{}", t.name()),
            Self::Min(t) => format!("min.{}", t.name()),
            Self::Max(t) => format!("max.{}", t.name()),
            Self::Logic(l, b) => format!("{}.{}", logic(l), bits_name(b)),
            Self::Not(b) => format!("not.{}", bits_name(b)),
            Self::Lop3 => "lop3.b32".into(),
            Self::Prmt => "prmt.b32".into(),
            Self::Shl(w) => format!("shl.b{}", bits(w)),
            Self::Shr(t) => format!("shr.{}", t.name()),
            Self::Shf(d, m) => format!("shf.{}.{}.b32", funnel(d), funnel_mode(m)),
            Self::Bfe(t) => format!("bfe.{}", t.name()),
            Self::Bfi(w) => format!("bfi.b{}", bits(w)),
            Self::Popc(w) => format!("popc.b{}", bits(w)),
            Self::Clz(w) => format!("clz.b{}", bits(w)),
            Self::Bfind(w) => format!("bfind.u{}", bits(w)),
            Self::Brev(w) => format!("brev.b{}", bits(w)),
            Self::Selp(c) => format!("selp{}", c.declared()),
            Self::Setp(c, t) => format!("setp.{}.{}", cmp(c), cmp_type(t)),
            Self::Mov(c) => format!("mov{}", c.declared()),
            Self::Pack | Self::Unpack | Self::BitsOfF64 | Self::F64OfBits => "mov.b64".into(),
            Self::ZeroExtend => "cvt.u64.u32".into(),
            Self::SignExtend => "cvt.s64.s32".into(),
            Self::Truncate => "cvt.u32.u64".into(),
            Self::IntToF64(t) => format!("cvt.rn.f64.{}", t.name()),
            Self::F64ToInt(r, t) => format!("cvt.{}.{}.f64", round(r), t.name()),
            Self::Special(_) | Self::SharedBase => "mov.u32".into(),
            Self::LdParam(w) => format!("ld.param.u{}", bits(w)),
            Self::Ld(s, v, e) => format!("ld{}{}.{}", load_space(s), v.infix(), elem(e)),
            Self::St(s, v, e) => format!("st{}{}.{}", store_space(s), v.infix(), elem(e)),
            Self::LdSharedHalf => "ld.shared.u16".into(),
            Self::StSharedHalf => "st.shared.u16".into(),
            Self::CpAsync(16) | Self::CpAsyncZfill(16) => "cp.async.cg.shared.global".into(),
            Self::CpAsync(_) | Self::CpAsyncZfill(_) => "cp.async.ca.shared.global".into(),
            Self::CpAsyncCommit => "cp.async.commit_group".into(),
            Self::CpAsyncWait => "cp.async.wait_group".into(),
            Self::CpAsyncWaitAll => "cp.async.wait_all".into(),
            Self::AtomAdd(s, w) => format!("atom{}.add.u{}", store_space(s), bits(w)),
            Self::RedAdd(s, w) => format!("red{}.add.u{}", store_space(s), bits(w)),
            Self::Shfl(m) => format!("shfl.sync.{}.b32", shuffle(m)),
            Self::Vote(v) => format!("vote.sync.{}.pred", vote(v)),
            Self::Ballot => "vote.sync.ballot.b32".into(),
            Self::BarSync => "bar.sync".into(),
            Self::BarWarpSync => "bar.warp.sync".into(),
            Self::Float(f) => float(f).into(),
            Self::MmaU8 => "mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32".into(),
            Self::Ret => "ret".into(),
        }
    }

    /// The operands in the order of the text.
    pub fn layout(self) -> Vec<Part> {
        use Part::{Addr, Const, Dst, DstVec, Fixed, Param, Src, SrcVec};
        const R: Class = Class::B32;
        const RD: Class = Class::B64;
        const FD: Class = Class::F64;
        const P: Class = Class::Pred;
        match self {
            Self::Add(w, _) | Self::Sub(w, _) => same(w.class(), 2),
            Self::Mul(_, t) | Self::Min(t) | Self::Max(t) => same(t.width().class(), 2),
            Self::MulWide(_) => vec![Dst(RD), Src(R), Src(R)],
            Self::Mad(_, w, _) => same(w.class(), 3),
            Self::MadWide(_) => vec![Dst(RD), Src(R), Src(R), Src(RD)],
            Self::Logic(_, b) => same(b.class(), 2),
            Self::Not(b) => same(b.class(), 1),
            Self::Lop3 => vec![Dst(R), Src(R), Src(R), Src(R), Const],
            Self::Prmt | Self::Shf(..) => same(R, 3),
            Self::Shl(w) => vec![Dst(w.class()), Src(w.class()), Src(R)],
            Self::Shr(t) => vec![Dst(t.width().class()), Src(t.width().class()), Src(R)],
            Self::Bfe(t) => vec![Dst(t.width().class()), Src(t.width().class()), Src(R), Src(R)],
            Self::Bfi(w) => vec![Dst(w.class()), Src(w.class()), Src(w.class()), Src(R), Src(R)],
            Self::Popc(w) | Self::Clz(w) | Self::Bfind(w) => vec![Dst(R), Src(w.class())],
            Self::Brev(w) => same(w.class(), 1),
            Self::Selp(c) => vec![Dst(c), Src(c), Src(c), Src(P)],
            Self::Setp(_, t) => vec![Dst(P), Src(compared(t)), Src(compared(t))],
            Self::Mov(c) => same(c, 1),
            Self::Pack => vec![Dst(RD), SrcVec(R, 2)],
            Self::Unpack => vec![DstVec(R, 2), Src(RD)],
            Self::BitsOfF64 => vec![Dst(RD), Src(FD)],
            Self::F64OfBits => vec![Dst(FD), Src(RD)],
            Self::ZeroExtend | Self::SignExtend => vec![Dst(RD), Src(R)],
            Self::Truncate => vec![Dst(R), Src(RD)],
            Self::IntToF64(t) => vec![Dst(FD), Src(t.width().class())],
            Self::F64ToInt(_, t) => vec![Dst(t.width().class()), Src(FD)],
            Self::Special(s) => vec![Dst(R), Fixed(s.name())],
            Self::SharedBase => vec![Dst(R), Fixed("smem")],
            Self::LdParam(w) => vec![Dst(w.class()), Param],
            Self::Ld(s, Vector::V1, e) => vec![Dst(e.class()), Addr(s.address())],
            Self::Ld(s, v, e) => vec![DstVec(e.class(), v.len()), Addr(s.address())],
            Self::St(s, Vector::V1, e) => vec![Addr(s.address()), Src(e.class())],
            Self::St(s, v, e) => vec![Addr(s.address()), SrcVec(e.class(), v.len())],
            Self::LdSharedHalf => vec![Dst(R), Addr(R)],
            Self::StSharedHalf => vec![Addr(R), Src(R)],
            Self::CpAsync(n) => vec![Addr(R), Addr(RD), Fixed(byte_count(n))],
            Self::CpAsyncZfill(n) => vec![Addr(R), Addr(RD), Fixed(byte_count(n)), Src(R)],
            Self::CpAsyncCommit | Self::CpAsyncWaitAll | Self::Ret => vec![],
            Self::CpAsyncWait | Self::BarSync => vec![Const],
            Self::AtomAdd(s, w) => vec![Dst(w.class()), Addr(s.address()), Src(w.class())],
            Self::RedAdd(s, w) => vec![Addr(s.address()), Src(w.class())],
            Self::Shfl(_) => vec![Dst(R), Src(R), Src(R), Src(R), Src(R)],
            Self::Vote(_) => vec![Dst(P), Src(P), Src(R)],
            Self::Ballot => vec![Dst(R), Src(P), Src(R)],
            Self::BarWarpSync => vec![Src(R)],
            Self::Float(Float::Neg) => same(FD, 1),
            Self::Float(Float::Fma) => same(FD, 3),
            Self::Float(_) => same(FD, 2),
            Self::MmaU8 => vec![DstVec(R, 4), SrcVec(R, 4), SrcVec(R, 2), SrcVec(R, 4)],
        }
    }

    /// The lowest target that has the operation.
    pub const fn target(self) -> Target {
        match self {
            Self::CpAsync(_)
            | Self::CpAsyncZfill(_)
            | Self::CpAsyncCommit
            | Self::CpAsyncWait
            | Self::CpAsyncWaitAll
            | Self::MmaU8 => Target::Sm80,
            _ => Target::Sm70,
        }
    }

    /// What the operation does with the carry flag.
    pub const fn carry(self) -> Carry {
        match self {
            Self::Add(_, c) | Self::Sub(_, c) | Self::Mad(_, _, c) => c,
            _ => Carry::None,
        }
    }

    /// Every operation of the set, each once.
    pub fn all() -> Vec<Self> {
        let mut ops = Vec::new();
        for w in WIDTHS {
            for c in Carry::ALL {
                ops.extend([Self::Add(w, c), Self::Sub(w, c)]);
                ops.extend(HALVES.map(|h| Self::Mad(h, w, c)));
            }
            ops.extend([
                Self::Shl(w),
                Self::Bfi(w),
                Self::Popc(w),
                Self::Clz(w),
                Self::Bfind(w),
                Self::Brev(w),
                Self::LdParam(w),
            ]);
            for s in [Space::Global, Space::Shared] {
                ops.extend([Self::AtomAdd(s, w), Self::RedAdd(s, w)]);
            }
        }
        for t in Int::ALL {
            ops.extend(HALVES.map(|h| Self::Mul(h, t)));
            ops.extend([Self::Min(t), Self::Max(t), Self::Shr(t), Self::Bfe(t), Self::IntToF64(t)]);
            ops.extend([Round::Nearest, Round::Zero].map(|r| Self::F64ToInt(r, t)));
        }
        ops.extend(NARROW.map(Self::MulWide));
        ops.extend(NARROW.map(Self::MadWide));
        for b in Bits::ALL {
            ops.extend([Logic::And, Logic::Or, Logic::Xor].map(|l| Self::Logic(l, b)));
            ops.push(Self::Not(b));
        }
        for f in [Funnel::Left, Funnel::Right] {
            ops.extend([FunnelMode::Wrap, FunnelMode::Clamp].map(|m| Self::Shf(f, m)));
        }
        for c in [Cmp::Eq, Cmp::Ne, Cmp::Lt, Cmp::Le, Cmp::Gt, Cmp::Ge] {
            ops.extend(Int::ALL.map(|t| Self::Setp(c, CmpType::Int(t))));
            ops.push(Self::Setp(c, CmpType::F64));
        }
        ops.extend([Class::B32, Class::B64, Class::F64].map(Self::Selp));
        ops.extend(Class::ALL.map(Self::Mov));
        ops.extend([Self::Lop3, Self::Prmt, Self::Pack, Self::Unpack, Self::BitsOfF64, Self::F64OfBits]);
        ops.extend([Self::ZeroExtend, Self::SignExtend, Self::Truncate, Self::SharedBase]);
        ops.extend(Special::ALL.map(Self::Special));
        for e in [Elem::U32, Elem::U64, Elem::F64] {
            for v in [Vector::V1, Vector::V2, Vector::V4] {
                if v.len() as u32 * e.bytes() > 16 {
                    continue;
                }
                let stores = [Space::Global, Space::GlobalStream, Space::Shared];
                ops.extend(stores.map(|s| Self::St(s, v, e)));
                ops.extend(stores.map(|s| Self::Ld(s, v, e)));
                ops.push(Self::Ld(Space::GlobalConst, v, e));
            }
        }
        ops.extend([Self::LdSharedHalf, Self::StSharedHalf]);
        for n in [4, 8, 16] {
            ops.extend([Self::CpAsync(n), Self::CpAsyncZfill(n)]);
        }
        ops.extend([Self::CpAsyncCommit, Self::CpAsyncWait, Self::CpAsyncWaitAll]);
        ops.extend([Shuffle::Up, Shuffle::Down, Shuffle::Bfly, Shuffle::Idx].map(Self::Shfl));
        ops.extend([Vote::All, Vote::Any, Vote::Uni].map(Self::Vote));
        ops.extend([Self::Ballot, Self::BarSync, Self::BarWarpSync, Self::MmaU8, Self::Ret]);
        ops.extend([Float::Add, Float::Sub, Float::Mul, Float::Fma, Float::Neg].map(Self::Float));
        ops
    }
}

/// One destination and `sources` sources of the same class.
fn same(class: Class, sources: usize) -> Vec<Part> {
    std::iter::once(Part::Dst(class)).chain(std::iter::repeat_n(Part::Src(class), sources)).collect()
}

const fn compared(t: CmpType) -> Class {
    match t {
        CmpType::Int(i) => i.width().class(),
        CmpType::F64 => Class::F64,
    }
}

const fn byte_count(n: u8) -> &'static str {
    match n {
        4 => "4",
        8 => "8",
        _ => "16",
    }
}

const fn half(h: Half) -> &'static str {
    match h {
        Half::Lo => "lo",
        Half::Hi => "hi",
    }
}

const fn logic(l: Logic) -> &'static str {
    match l {
        Logic::And => "and",
        Logic::Or => "or",
        Logic::Xor => "xor",
    }
}

const fn bits_name(b: Bits) -> &'static str {
    match b {
        Bits::Pred => "pred",
        Bits::B32 => "b32",
        Bits::B64 => "b64",
    }
}

const fn funnel(f: Funnel) -> &'static str {
    match f {
        Funnel::Left => "l",
        Funnel::Right => "r",
    }
}

const fn funnel_mode(m: FunnelMode) -> &'static str {
    match m {
        FunnelMode::Wrap => "wrap",
        FunnelMode::Clamp => "clamp",
    }
}

const fn cmp(c: Cmp) -> &'static str {
    match c {
        Cmp::Eq => "eq",
        Cmp::Ne => "ne",
        Cmp::Lt => "lt",
        Cmp::Le => "le",
        Cmp::Gt => "gt",
        Cmp::Ge => "ge",
    }
}

const fn cmp_type(t: CmpType) -> &'static str {
    match t {
        CmpType::Int(i) => i.name(),
        CmpType::F64 => "f64",
    }
}

const fn round(r: Round) -> &'static str {
    match r {
        Round::Nearest => "rni",
        Round::Zero => "rzi",
    }
}

const fn elem(e: Elem) -> &'static str {
    match e {
        Elem::U32 => "u32",
        Elem::U64 => "u64",
        Elem::F64 => "f64",
    }
}

const fn load_space(s: Space) -> &'static str {
    match s {
        Space::Global => ".global",
        Space::GlobalStream => ".global.cs",
        Space::GlobalConst => ".global.nc",
        Space::Shared => ".shared",
    }
}

const fn store_space(s: Space) -> &'static str {
    match s {
        Space::Shared => ".shared",
        Space::GlobalStream => ".global.cs",
        Space::Global | Space::GlobalConst => ".global",
    }
}

const fn shuffle(s: Shuffle) -> &'static str {
    match s {
        Shuffle::Up => "up",
        Shuffle::Down => "down",
        Shuffle::Bfly => "bfly",
        Shuffle::Idx => "idx",
    }
}

const fn vote(v: Vote) -> &'static str {
    match v {
        Vote::All => "all",
        Vote::Any => "any",
        Vote::Uni => "uni",
    }
}

const fn float(f: Float) -> &'static str {
    match f {
        Float::Add => "add.rn.f64",
        Float::Sub => "sub.rn.f64",
        Float::Mul => "mul.rn.f64",
        Float::Fma => "fma.rn.f64",
        Float::Neg => "neg.f64",
    }
}
