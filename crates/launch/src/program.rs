//! Specifications on a device.

use std::sync::Arc;

use warpmp_device::{Buffer, Device, Module, Result, Stream};

use crate::{Arguments as _, At, Entry, Geometry, RowArguments, Spec};

/// The rows of an operand or of a result on a device.
#[derive(Clone, Copy, Debug)]
pub struct RowBuffer<'a> {
    /// The buffer: whole tiles of 32 rows, or the one row of a common operand.
    pub buffer: &'a Buffer,
    /// Words from the row of a lane to the row of the next; 0 if all lanes have one row.
    pub stride: usize,
}

/// The kernels of a specification, loaded on a device.
#[derive(Debug)]
pub struct Program {
    stages: Vec<(Arc<Module>, Geometry)>,
    /// The most lanes of a launch.
    most: usize,
}

impl Program {
    /// Loads the kernels. A launch takes at most `most` lanes, and at most the specification's number. `most` is a multiple of 32
    /// if a stage has whole tiles.
    ///
    /// # Errors
    /// As [`Device::load`].
    pub fn load(device: &dyn Device, spec: &dyn Spec, most: usize) -> Result<Self> {
        let stages = spec.stages();
        let loaded = stages.iter().map(|stage| Ok((device.load(&stage.write(&Entry::default()))?, stage.geometry)));
        Ok(Self { stages: loaded.collect::<Result<_>>()?, most: most.min(spec.max_lanes() as usize) })
    }

    /// Launches all stages for `lanes` lanes; `rows`: operands, then results. More lanes than a launch takes are several
    /// launches, which share the scratch memory.
    ///
    /// # Errors
    /// As [`Device::launch`].
    pub fn launch(
        &self,
        device: &dyn Device,
        stream: &Stream,
        rows: &[RowBuffer<'_>],
        scratch: Option<&Buffer>,
        lanes: usize,
    ) -> Result<()> {
        for first in (0..lanes).step_by(self.most) {
            let rows = rows.iter().map(|rows| At::word(rows.buffer, first * rows.stride)).collect();
            let lanes = (lanes - first).min(self.most) as u32;
            let arguments = RowArguments { rows, lanes, scratch: scratch.map(At::from) };
            for (module, geometry) in &self.stages {
                arguments.launch(device, stream, module, geometry.grid(lanes))?;
            }
        }
        Ok(())
    }
}
