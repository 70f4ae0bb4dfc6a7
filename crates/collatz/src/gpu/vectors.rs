//! The look-ahead's bit vectors, made on the device.

use warpmp_device::{Buffer, Device, Stream};
use warpmp_launch::Arguments as _;

use super::leaves::upload;
use crate::{
    error::Result,
    kernels::vector::{Arguments, BitVector},
    power::min_odd,
};

/// Words behind a vector's end that repeat its first.
const OVERLAP_WORDS: usize = 64;
/// Steps of the vector that filters for longer ones.
const FILTER_STEPS: u32 = 24;

/// The vector for leaves of L bits with c odd steps, `steps` ahead.
///
/// # Errors
/// The device's: 2^`steps` bits.
pub fn vector(device: &dyn Device, stream: &Stream, leaf_bits: u32, odd: u32, steps: u32) -> Result<Buffer> {
    let (filter, filter_words) = if steps > FILTER_STEPS {
        let filter = vector(device, stream, leaf_bits, odd, FILTER_STEPS)?;
        (filter, BitVector { steps: FILTER_STEPS }.words())
    } else {
        (upload(device, stream, &[u32::MAX])?, 1)
    };
    let spec = BitVector { steps };
    let words = spec.words() as usize;
    let vector = device.alloc(4 * (words + OVERLAP_WORDS) as u64)?;
    let needs: Vec<u32> = (leaf_bits..=leaf_bits + steps).map(|i| min_odd(i as usize) as u32).collect();
    let needs = upload(device, stream, &needs)?;
    let arguments = Arguments {
        vector: (&vector).into(),
        filter: (&filter).into(),
        filter_mask: filter_words - 1,
        needs: (&needs).into(),
        odd_steps: odd,
        power: 3_u64.pow(odd),
    };
    arguments.launch(device, stream, &*device.load(&spec.build())?, spec.grid())?;
    let piece = words.min(OVERLAP_WORDS);
    for at in (0..OVERLAP_WORDS).step_by(piece) {
        device.copy(stream, &vector, 0, &vector, words + at, piece)?;
    }
    device.synchronize(stream)?;
    Ok(vector)
}
