//! The operations of one lane that Rust has no name for, as the PTX reference defines them.

use crate::ir::{Funnel, FunnelMode, Round};

/// The low `n` bits set.
fn ones(n: u32) -> u64 {
    if n >= 64 { u64::MAX } else { (1 << n) - 1 }
}

/// How many bits of a field of length `len` at `pos` lie within `bits`.
fn inside(pos: u32, len: u32, bits: u32) -> u32 {
    len.min(bits.saturating_sub(pos))
}

/// `bfe`: the field of `a` at `pos` of length `len`, both modulo 256. Beyond the field, and where
/// the field reaches beyond the top bit, stands the sign: the field's top bit, or the word's if the field
/// ends beyond it.
pub(super) fn extract_field(a: u64, pos: u32, len: u32, bits: u32, signed: bool) -> u64 {
    let (pos, len) = (pos & 0xff, len & 0xff);
    let kept = inside(pos, len, bits);
    let negative = signed && len > 0 && a >> (pos + len - 1).min(bits - 1) & 1 == 1;
    let field = if kept == 0 { 0 } else { a >> pos & ones(kept) };
    let fill = if negative { !ones(kept) } else { 0 };
    (field | fill) & ones(bits)
}

/// `bfi`: `b` with the field at `pos` of length `len`, both modulo 256, replaced by `a`.
pub(super) fn insert_field(a: u64, b: u64, pos: u32, len: u32, bits: u32) -> u64 {
    let (pos, len) = (pos & 0xff, len & 0xff);
    let kept = inside(pos, len, bits);
    if kept == 0 {
        return b;
    }
    let mask = ones(kept) << pos;
    b & !mask | a << pos & mask
}

/// `prmt`: each nibble of `c` picks one of the eight bytes of `{b, a}`, or spreads its sign.
pub(super) fn permute_bytes(a: u32, b: u32, c: u32) -> u32 {
    let bytes = (u64::from(b) << 32 | u64::from(a)).to_le_bytes();
    let picked: [u8; 4] = std::array::from_fn(|i| {
        let selector = c >> (4 * i) & 0xf;
        let byte = bytes[selector as usize & 7];
        if selector & 8 == 0 { byte } else { ((byte as i8) >> 7) as u8 }
    });
    u32::from_le_bytes(picked)
}

/// `lop3`: bit `4a + 2b + c` of the table, bit by bit.
pub(super) fn lookup(a: u32, b: u32, c: u32, table: u32) -> u32 {
    let mut result = 0;
    for entry in 0..8 {
        let chosen = 0_u32.wrapping_sub(table >> entry & 1);
        let wanted = |bit: u32, word: u32| if entry & bit == 0 { !word } else { word };
        result |= chosen & wanted(4, a) & wanted(2, b) & wanted(1, c);
    }
    result
}

/// `shf`: the funnel shift of `{b, a}`.
pub(super) fn funnel_shift(a: u32, b: u32, c: u32, direction: Funnel, mode: FunnelMode) -> u32 {
    let amount = match mode {
        FunnelMode::Wrap => c & 31,
        FunnelMode::Clamp => c.min(32),
    };
    let both = u64::from(b) << 32 | u64::from(a);
    match direction {
        Funnel::Left => (both << amount >> 32) as u32,
        Funnel::Right => (both >> amount) as u32,
    }
}

/// Rounds a double to an integer's value.
pub(super) fn rounded(a: f64, round: Round) -> f64 {
    match round {
        Round::Nearest => a.round_ties_even(),
        Round::Zero => a.trunc(),
    }
}
