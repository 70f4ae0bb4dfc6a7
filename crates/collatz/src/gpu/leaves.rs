//! Survivors of the rules, made on the device level by level, and grouped by their odd steps.

use std::iter;

use warpmp_device::{Buffer, Device, Stream};
use warpmp_launch::{Arguments as _, At};

use super::tables;
use crate::{
    error::Result,
    kernels::leaves::{Count, CountArguments, Expand, ExpandArguments, GROUPS, Scatter, ScatterArguments, grid},
    power::min_odd,
};

/// Survivors of one depth, in no order.
#[derive(Debug)]
pub struct Nodes {
    /// B and v = Tᵏ(B), 64 bits each.
    pub values: Buffer,
    /// A word each, the odd steps in its low byte.
    pub states: Buffer,
    /// How many there are.
    pub count: u32,
}

/// Leaves grouped by their odd steps.
#[derive(Debug)]
pub struct Leaves {
    /// 16 bytes each, see [`Scatter::build`]; two more behind the last.
    pub records: Buffer,
    /// B, 64 bits each.
    pub residues: Buffer,
    /// By odd steps: where the group begins, and its size.
    pub groups: Vec<(u32, u32)>,
}

impl Nodes {
    /// The survivors of `bits` bits: by rules 1, 3, 4, or by rule 1 alone.
    ///
    /// # Errors
    /// The device's: 20 bytes a node, and twice as many for its children.
    pub fn new(device: &dyn Device, stream: &Stream, bits: u32, merges: bool) -> Result<Self> {
        let module = device.load(&Expand { merges }.build())?;
        let powers = upload(device, stream, &tables::powers())?;
        let mut nodes =
            Self { values: upload(device, stream, &[0; 4])?, states: upload(device, stream, &[0])?, count: 1 };
        let counter = upload(device, stream, &[0])?;
        for level in 0..bits {
            let room = 2 * u64::from(nodes.count);
            let (values, states) = (device.alloc(16 * room)?, device.alloc(4 * room)?);
            device.fill(stream, &counter, 0, 0, 1)?;
            let need = |level| min_odd(level as usize) as u32;
            let arguments = ExpandArguments {
                nodes: (&nodes.values).into(),
                states: (&nodes.states).into(),
                count: nodes.count,
                children: (&values).into(),
                child_states: (&states).into(),
                counter: (&counter).into(),
                level,
                need_here: need(level),
                need_next: need(level + 1),
                powers: (&powers).into(),
            };
            arguments.launch(device, stream, &module, grid(nodes.count))?;
            let mut count = [0];
            device.download(stream, &counter, 0, &mut count)?;
            nodes = Self { values, states, count: count[0] };
        }
        Ok(nodes)
    }

    /// Groups them; `vector_bits`: S by odd steps.
    ///
    /// # Errors
    /// The device's.
    pub fn group(self, device: &dyn Device, stream: &Stream, vector_bits: impl Fn(u32) -> u32) -> Result<Leaves> {
        let histogram = upload(device, stream, &[0; GROUPS as usize])?;
        let module = device.load(&Count.build())?;
        let [states, counts] = [&self.states, &histogram].map(At::from);
        let arguments = CountArguments { states, count: self.count, histogram: counts };
        arguments.launch(device, stream, &module, grid(self.count))?;
        let mut sizes = [0; GROUPS as usize];
        device.download(stream, &histogram, 0, &mut sizes)?;
        let starts: Vec<u32> =
            sizes.iter().scan(0, |next, &size| Some(std::mem::replace(next, *next + size))).collect();
        let masks = tables::words((0..GROUPS).map(|odd| (1_u64 << vector_bits(odd)) - 1));
        let cursors = upload(device, stream, &starts)?;
        let (inverses, masks) = (upload(device, stream, &tables::inverses())?, upload(device, stream, &masks)?);
        let records = device.alloc(16 * (u64::from(self.count) + 2))?;
        device.fill(stream, &records, 4 * self.count as usize, 0, 8)?;
        let residues = device.alloc(8 * u64::from(self.count).max(1))?;
        let arguments = ScatterArguments {
            nodes: (&self.values).into(),
            states: (&self.states).into(),
            count: self.count,
            cursors: (&cursors).into(),
            inverses: (&inverses).into(),
            masks: (&masks).into(),
            records: (&records).into(),
            residues: (&residues).into(),
        };
        arguments.launch(device, stream, &*device.load(&Scatter.build())?, grid(self.count))?;
        device.synchronize(stream)?;
        Ok(Leaves { records, residues, groups: iter::zip(starts, sizes).collect() })
    }
}

/// A buffer with these words.
pub(super) fn upload(device: &dyn Device, stream: &Stream, words: &[u32]) -> Result<Buffer> {
    let buffer = device.alloc(4 * words.len() as u64)?;
    device.upload(stream, words, &buffer, 0)?;
    Ok(buffer)
}
