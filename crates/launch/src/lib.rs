//! From a launch to a lane and back: what kernels of rows have in common.
//!
//! ```text
//! Spec      an operation with every parameter fixed: stages, and each stage's Geometry (its launch)
//! Entry     how a kernel begins: its parameters, or rows of an operation that it is a stage of (Sequence)
//! lanes     the row of a thread: a row a thread (TileLane), or a row a group of lanes (GroupLane)
//! Frame     numbers spread over a group of lanes as a Layout says: rows in and out, statuses, scratch memory
//! Tile      tiles of rows between global and shared memory
//! Field     residues with operators, for formulas
//! Program   a specification loaded on a device, and its launches
//! parameters!  typed parameters and arguments of kernels that do not work on rows
//! ```
//!
//! A *row* is one integer in memory: limbs of 32 bits, the least significant first. Lane `i` of a batch is row `i` of each
//! buffer. Buffers hold whole *tiles* of 32 rows, so kernels need no code for a last tile that is not full.
//!
//! # Example
//!
//! An algorithm writes only its own part. This one doubles points of a Montgomery curve: from `x`, `z`, the constant
//! `a24` and the odd modulus `m`, the last two common to all lanes, it makes the new `x` and `z`. All residues are in
//! Montgomery's form.
//!
//! ```
//! use warpmp_kernel::fragment::Montgomery;
//! use warpmp_launch::{Field, Layout, Program, RowBuffer, Rows, Signature, Spec, Stage};
//!
//! #[derive(Debug)]
//! struct Double {
//!     limbs: u32,
//! }
//!
//! impl Spec for Double {
//!     fn name(&self) -> String {
//!         format!("double_{}", self.limbs)
//!     }
//!
//!     fn stages(&self) -> Vec<Stage<'_>> {
//!         let Self { limbs } = *self;
//!         let operands = [Rows::each(limbs), Rows::each(limbs), Rows::common(limbs), Rows::common(limbs)];
//!         let stage = Layout::of(limbs).stage(self.name(), Signature::new(operands, [limbs, limbs]), move |b, frame| {
//!             let [x, z, a24, m] = [0, 1, 2, 3].map(|i| frame.load(b, i));
//!             let ring = Montgomery::new(b, frame.spread, &m, limbs as usize);
//!             let field = Field::new(b, &ring);
//!             let [x, z, a24] = [x, z, a24].map(|limbs| field.element(limbs));
//!             let (plus, minus) = ((&x + &z).square(), (&x - &z).square());
//!             let difference = &plus - &minus;
//!             let z = &difference * (&minus + &a24 * &difference);
//!             let x = plus * minus;
//!             let [x, z] = [x, z].map(|element| element.into_limbs());
//!             frame.store(b, 0, &x);
//!             frame.store(b, 1, &z);
//!         });
//!         vec![stage]
//!     }
//! }
//!
//! // Two lanes on the simulator, one limb: R = 2³².
//! const M: u64 = 1_000_003;
//! let residue = |n: u64| ((n << 32) % M) as u32;
//! let device = warpmp_device::open_sim();
//! let (stream, spec) = (device.stream()?, Double { limbs: 1 });
//! let program = Program::load(&*device, &spec, 1 << 20)?;
//! let upload = |numbers: &[u64]| {
//!     let words: Vec<u32> = (0..32).map(|i| residue(*numbers.get(i).unwrap_or(&0))).collect();
//!     let buffer = device.alloc(128)?;
//!     device.upload(&stream, &words, &buffer, 0).map(|()| buffer)
//! };
//! let buffers = [upload(&[3, 5])?, upload(&[1, 2])?, upload(&[121_666])?, upload(&[])?, upload(&[])?, upload(&[])?];
//! device.upload(&stream, &[M as u32], &buffers[3], 0)?;
//! let strides = [1, 1, 0, 0, 1, 1];
//! let rows: Vec<RowBuffer> =
//!     buffers.iter().zip(strides).map(|(buffer, stride)| RowBuffer { buffer, stride }).collect();
//! program.launch(&*device, &stream, &rows, None, 2)?;
//!
//! let mut doubled = [[0; 2]; 2];
//! for (words, buffer) in doubled.iter_mut().zip(&buffers[4..]) {
//!     device.download(&stream, buffer, 0, words)?;
//! }
//! let expected = |x: u64, z: u64| {
//!     let (plus, minus) = ((x + z).pow(2) % M, (x + M - z).pow(2) % M);
//!     let difference = (plus + M - minus) % M;
//!     [plus * minus % M, difference * (minus + 121_666 * difference % M) % M]
//! };
//! for (lane, [x, z]) in [expected(3, 1), expected(5, 2)].into_iter().enumerate() {
//!     assert_eq!([doubled[0][lane], doubled[1][lane]], [residue(x), residue(z)]);
//! }
//! # Ok::<(), warpmp_device::Error>(())
//! ```
//!
//! Longer numbers need no other code: [`Layout::of`] spreads them over the lanes of a group, or over several warps.
//! Operations of several kernels are a [`Sequence`]: each part is a [`Spec`] that is made for itself, and its rows
//! are [bound](Binding) to operands, results and scratch memory of the whole while its text is written.

#![forbid(unsafe_code)]

mod access;
mod entry;
mod field;
mod frame;
mod lanes;
mod layout;
mod parameters;
mod program;
mod spec;
mod tile;

pub use access::{divide, fill_shared, piece, prefetch_row, vector};
pub use entry::{Binding, Entry, Ports, RowArguments, TILE_LANES};
pub use field::{Element, Field};
pub use frame::{Frame, Rows, Signature};
pub use lanes::{GroupLane, TileLane, thread_number};
pub use layout::{Layout, name_suffix};
pub use parameters::{Address, Arguments, At, Long, Parameter, Word};
pub use program::{Program, RowBuffer};
pub use spec::{Geometry, Part, Sequence, Spec, Stage};
pub use tile::{Tile, TileRow};

#[doc(hidden)]
pub use warpmp_device::Arg;
#[doc(hidden)]
pub use warpmp_kernel::build::Builder;
