//! The operations of one lane that Rust has no name for, as the PTX reference defines them.

/// `bfe`: the field of `a` at `start` of this length, both modulo 256. Bits beyond the word are zero.
pub(super) fn extract_field(a: u32, start: u32, length: u32) -> u32 {
    let (start, length) = (start & 0xff, length & 0xff);
    let shifted = a.checked_shr(start).unwrap_or(0);
    if length < 32 { shifted & ((1 << length) - 1) } else { shifted }
}

/// `dp4a`: the sum of the products of bytes, and `c`.
pub(super) fn byte_products(a: u32, b: u32, c: u32) -> u32 {
    a.to_le_bytes()
        .into_iter()
        .zip(b.to_le_bytes())
        .fold(c, |sum, (x, y)| sum.wrapping_add(u32::from(x) * u32::from(y)))
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

/// `rcp.approx.ftz.f32` of a float's bits: the nearest float. Subnormal floats count as zero.
pub(super) fn reciprocal_float(a: u32) -> u32 {
    let flushed = |x: f32| if x.is_subnormal() { 0_f32.copysign(x) } else { x };
    flushed(1.0 / flushed(f32::from_bits(a))).to_bits()
}

/// `fma.rz.f32` of floats' bits. The product is exact as a double, and so are the sum and its error together.
pub(super) fn fused_floats(a: u32, b: u32, c: u32) -> u32 {
    let [a, b, c] = [a, b, c].map(|bits| f64::from(f32::from_bits(bits)));
    let product = a * b;
    let sum = product + c;
    let part = sum - product;
    let error = (product - (sum - part)) + (c - part);
    let nearest = sum as f32;
    let excess = f64::from(nearest).abs() - sum.abs();
    let beyond = excess > 0.0 || (excess == 0.0 && error != 0.0 && (error < 0.0) == (sum > 0.0));
    if beyond { nearest.to_bits() - 1 } else { nearest.to_bits() }
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
