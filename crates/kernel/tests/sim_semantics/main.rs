//! The semantics of every operation against plain Rust, on operands where things go wrong: 0, 1, the
//! sign bit, all ones, shift amounts around the width.
#![allow(clippy::unwrap_used, reason = "a test that fails says where")]
#![allow(clippy::needless_range_loop, reason = "a lane or thread is an index into several tables at once")]
#![allow(clippy::float_cmp, reason = "rounding is exact or wrong")]

mod exchange;
mod harness;
mod lanes;
mod memory;
mod warpgroup;

use warpmp_kernel::ir::Op;

#[test]
fn every_operation_does_what_the_reference_says() {
    for op in Op::all() {
        check(op);
    }
}

/// Holds one operation against its oracle. No arm stands for "all others": a new operation does not
/// compile before it has one.
fn check(op: Op) {
    match op {
        Op::Add(..)
        | Op::Sub(..)
        | Op::Mul(..)
        | Op::MulWide(_)
        | Op::Mad(..)
        | Op::MadWide(_)
        | Op::Dp4a
        | Op::Min
        | Op::Max
        | Op::Logic(..)
        | Op::Not(_)
        | Op::Prmt
        | Op::Shl(_)
        | Op::Shr(_)
        | Op::Shf(_)
        | Op::Bfe
        | Op::Popc
        | Op::Clz
        | Op::Bfind
        | Op::Brev
        | Op::Selp(_)
        | Op::Setp(..)
        | Op::SetpF64(_)
        | Op::Mov(_)
        | Op::Pack
        | Op::Unpack
        | Op::BitsOfF64
        | Op::F64OfBits
        | Op::ZeroExtend
        | Op::SignExtend
        | Op::Truncate
        | Op::IntToF64(_)
        | Op::F64ToInt(..)
        | Op::AddF64
        | Op::SubF64
        | Op::MulF64
        | Op::Fma
        | Op::NegF64
        | Op::IntToF32
        | Op::ReciprocalF32
        | Op::FmaF32 => lanes::check(op, None),
        Op::Lop3 => {
            for table in [0x00, 0x01, 0x96, 0xE8, 0xCA, 0x80, 0xF0, 0xFF] {
                lanes::check(op, Some(table));
            }
        }
        Op::Shfl(mode) => exchange::shuffle(mode),
        Op::Vote(_) | Op::Ballot => exchange::vote(op),
        Op::ReduxAdd => exchange::sum_of_lanes(),
        Op::MmaU8 => exchange::matrix_product(),
        Op::Wgmma(columns) => warpgroup::product(columns),
        // What a warpgroup's product needs around it.
        Op::WgmmaFence | Op::WgmmaCommit | Op::WgmmaWait | Op::FenceProxyAsync => warpgroup::product(8),
        Op::Special(special) => exchange::special(special),
        Op::LdParam(width) => memory::parameter(width),
        Op::Ld(space, vector, elem) => memory::load(space, vector, elem),
        Op::St(space, vector, elem) => memory::store(space, vector, elem),
        Op::LdSharedHalf | Op::StSharedHalf => memory::halves(),
        Op::AtomAdd(space, width) => memory::atomic(space, width, true),
        Op::RedAdd(space, width) => memory::atomic(space, width, false),
        Op::Prefetch => memory::prefetch(),
        Op::CpAsync(bytes) => memory::copy(bytes),
        // The address of shared memory, the groups of copies, barriers, the end of the thread: in every test
        // of shared memory.
        Op::SharedBase | Op::CpAsyncCommit | Op::CpAsyncWaitAll | Op::BarSync | Op::Ret => memory::exchange_by_block(),
        Op::TableBase => memory::table(),
        Op::CpAsyncWait => memory::groups(),
        Op::BarWarpSync => memory::exchange_by_warp(),
    }
}
