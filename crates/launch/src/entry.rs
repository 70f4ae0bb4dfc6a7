//! Where a kernel of rows finds its addresses: its own parameters, or places in an operation of several stages.

use warpmp_device::Arg;
use warpmp_kernel::build::{Builder, Emit, Glue, R32, R64};
use warpmp_kernel::ir::{Cmp, Param, Space, Vector};

use crate::{Arguments, At};

/// Lanes of a tile. Buffers hold whole tiles.
pub const TILE_LANES: u32 = 32;

/// Where a stage finds the rows that its kernel calls operand, result or scratch memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binding {
    /// In the operand or result of the whole operation with this number. Results follow operands.
    Parameter(usize),
    /// In the operation's scratch memory, after this many limbs a lane.
    Scratch(u32),
}

/// How a kernel begins: alone, or as a stage of an operation.
///
/// A generator opens its kernel with the rows that it needs and gets their addresses. It does not know whether they
/// are parameters of its own or [bound](Binding) to the rows of an operation.
#[derive(Clone, Debug, Default)]
pub struct Entry {
    stage: Option<Stage>,
}

/// A stage of an operation.
#[derive(Clone, Debug)]
struct Stage {
    /// The beginning of the kernel's name.
    prefix: String,
    /// Operands and results of the operation.
    rows: usize,
    /// Where the stage finds its own operands and results, and its scratch memory after them.
    bindings: Vec<Binding>,
    /// Words for all lanes: where one of them is 0, the kernel ends at once.
    conditions: Vec<Binding>,
    /// Do the stages read and write whole tiles?
    whole_tiles: bool,
}

/// The addresses that a kernel of rows begins with, and its number of lanes.
#[derive(Clone, Debug)]
pub struct Ports {
    /// Of the operands, of the results, and of the scratch memory if there is any.
    pub addresses: Vec<R64>,
    /// Lanes of the launch.
    pub lanes: R32,
}

impl Ports {
    /// The first `N` addresses.
    pub fn first<const N: usize>(&self) -> [R64; N] {
        std::array::from_fn(|i| self.addresses[i])
    }
}

impl Entry {
    /// Begins the kernel `name` that takes these rows: operands, then results; and scratch memory if `scratch` is true.
    ///
    /// The parameters of a kernel alone are the addresses of the rows under the given names, `lanes`, and the
    /// address `scratch`.
    pub fn open(&self, name: &str, glue: Glue, rows: &[&str], scratch: bool) -> (Builder, Ports) {
        let Some(stage) = &self.stage else {
            let mut b = Builder::new(name, glue);
            let mut addresses: Vec<R64> = rows.iter().map(|name| b.param_u64(name)).collect();
            let lanes = b.param_u32("lanes");
            addresses.extend(scratch.then(|| b.param_u64("scratch")));
            return (b, Ports { addresses, lanes });
        };
        let mut b = Builder::new(&format!("{}{name}", stage.prefix), glue);
        for i in 0..stage.rows {
            b.declare(Param::u64(&format!("address{i}")));
        }
        b.declare(Param::u32("lanes"));
        b.declare(Param::u64("scratch"));
        let mut addresses: Vec<R64> =
            stage.bindings[..rows.len()].iter().map(|it| stage.address(&mut b, *it)).collect();
        let lanes = stage.lanes(&mut b);
        addresses.extend(scratch.then(|| stage.address(&mut b, stage.bindings[rows.len()])));
        for &condition in &stage.conditions {
            let address = stage.address(&mut b, condition);
            let word = b.load_global(Space::Global, Vector::V1, address, 0)[0];
            let is_zero = b.compare(Cmp::Eq, word, 0);
            b.return_if(is_zero);
        }
        (b, Ports { addresses, lanes })
    }

    /// The same entry, of a kernel that ends at once where a word is 0. The word is the first one of the row with the last binding, one for
    /// all lanes.
    #[must_use]
    pub fn conditional(&self) -> Self {
        let mut entry = self.clone();
        if let Some(stage) = &mut entry.stage {
            stage.conditions.extend(stage.bindings.pop());
        }
        entry
    }

    /// The entry of a stage whose kernel's name begins with `prefix` and whose rows are bound to those of an operation
    /// with `rows` operands and results, which has this entry.
    pub(crate) fn stage(&self, prefix: &str, rows: usize, bindings: &[Binding], whole_tiles: bool) -> Self {
        let stage = match &self.stage {
            None => {
                Stage { prefix: prefix.into(), rows, bindings: bindings.to_vec(), conditions: Vec::new(), whole_tiles }
            }
            Some(outer) => Stage {
                prefix: format!("{}{prefix}", outer.prefix),
                rows: outer.rows,
                bindings: bindings.iter().map(|it| outer.resolve(*it, rows)).collect(),
                conditions: outer.conditions.clone(),
                whole_tiles: outer.whole_tiles,
            },
        };
        Self { stage: Some(stage) }
    }
}

impl Stage {
    /// What a binding of an inner operation with `rows` operands and results is in the outer one.
    fn resolve(&self, inner: Binding, rows: usize) -> Binding {
        match inner {
            Binding::Parameter(i) => self.bindings[i],
            Binding::Scratch(limbs) => match self.bindings[rows] {
                Binding::Scratch(before) => Binding::Scratch(before + limbs),
                parameter @ Binding::Parameter(_) => parameter,
            },
        }
    }

    fn address(&self, b: &mut Builder, binding: Binding) -> R64 {
        match binding {
            Binding::Parameter(i) => b.load_param_u64(i),
            Binding::Scratch(limbs) => {
                let lanes = self.lanes(b);
                let scratch = b.load_param_u64(self.rows + 1);
                b.mad_wide(lanes, 4 * limbs, scratch)
            }
        }
    }

    /// The lanes of the rows in scratch memory: of whole tiles if the next stage may read all of them.
    fn lanes(&self, b: &mut Builder) -> R32 {
        let lanes = b.load_param_u32(self.rows);
        if !self.whole_tiles {
            return lanes;
        }
        let up = b.add(lanes, TILE_LANES - 1);
        b.and(up, TILE_LANES.wrapping_neg())
    }
}

/// The arguments of a launch of a kernel of rows.
#[derive(Clone, Debug)]
pub struct RowArguments<'a> {
    /// Operands, then results.
    pub rows: Vec<At<'a>>,
    /// Lanes of the launch.
    pub lanes: u32,
    /// Scratch memory, if the kernel takes any.
    pub scratch: Option<At<'a>>,
}

impl<'a> Arguments<'a> for RowArguments<'a> {
    fn list(&self) -> Vec<Arg<'a>> {
        let address = |at: &At<'a>| Arg::Buffer(at.buffer, at.first);
        let rows = self.rows.iter().map(address);
        rows.chain([Arg::U32(self.lanes)]).chain(self.scratch.iter().map(address)).collect()
    }
}
