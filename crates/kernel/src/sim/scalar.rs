//! The operations of one lane that Rust has no name for, as the PTX reference defines them.

/// `bfe`: the field of `a` at `start` of this length, both modulo 256. Bits beyond the word are zero.
pub(super) fn extract_field(a: u32, start: u32, length: u32) -> u32 {
    let (start, length) = (start & 0xff, length & 0xff);
    let shifted = a.checked_shr(start).unwrap_or(0);
    if length < 32 { shifted & ((1 << length) - 1) } else { shifted }
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
