//! Rows of points on the processor or on a device, and their sums.

use std::sync::Arc;

use rayon::prelude::*;
use warpmp_device::{Buffer, Device, Module, Stream};
use warpmp_launch::{Arguments as _, At};

use crate::affine::Group;
use crate::error::Result;
use crate::field::{Field, Residue};
use crate::kernels::Constants;
use crate::kernels::sums::{self, FAULTY, INFINITY};
use crate::search::{Engine, limbs_of};
use crate::walk::limbs;
use crate::walk::points::{Spot, add};

/// Sums that share an inversion on the processor.
const SHARE: usize = 256;

/// What makes sums of points of one curve.
#[derive(Clone, Debug)]
pub(super) struct Machine {
    limbs: u32,
    place: Place,
}

#[derive(Clone, Debug)]
enum Place {
    Host(Arc<dyn Adder>),
    Device(Arc<dyn Device>, Arc<Module>),
}

/// Rows of points that sums are made of.
pub(super) struct Memory {
    limbs: u32,
    rows: Rows,
}

enum Rows {
    Host { adder: Arc<dyn Adder>, rows: Vec<u32> },
    Device(OnDevice),
}

struct OnDevice {
    device: Arc<dyn Device>,
    module: Arc<Module>,
    stream: Stream,
    rows: Buffer,
    pairs: Option<Buffer>,
    scratch: Option<Buffer>,
}

impl Machine {
    pub(super) fn new(group: &Group, engine: &Engine) -> Result<Self> {
        let limbs = limbs(&group.p);
        let place = match engine {
            Engine::Cpu | Engine::Cores(_) => Place::Host(match limbs.div_ceil(2) {
                2 => Arc::new(Words::<2>::new(group, limbs)),
                3 => Arc::new(Words::<3>::new(group, limbs)),
                4 => Arc::new(Words::<4>::new(group, limbs)),
                _ => Arc::new(Words::<5>::new(group, limbs)),
            }),
            Engine::Device(device) => {
                let a = (&group.a << (32 * limbs)) % &group.p;
                let module = device.load(&sums::build(&Constants::new(group.p.clone(), a, limbs)))?;
                Place::Device(device.clone(), module)
            }
        };
        Ok(Self { limbs, place })
    }

    /// A memory that holds these rows, and room for more rows after them.
    pub(super) fn memory(&self, rows: &[&[u32]], room: usize) -> Result<Memory> {
        let mut words = rows.concat();
        let all = words.len() + room * 2 * self.limbs as usize;
        let rows = match &self.place {
            Place::Host(adder) => {
                words.resize(all, 0);
                Rows::Host { adder: adder.clone(), rows: words }
            }
            Place::Device(device, module) => {
                let stream = device.stream()?;
                let rows = device.alloc(4 * all.max(1) as u64)?;
                if !words.is_empty() {
                    device.upload(&stream, &words, &rows, 0)?;
                }
                let (device, module) = (device.clone(), module.clone());
                Rows::Device(OnDevice { device, module, stream, rows, pairs: None, scratch: None })
            }
        };
        Ok(Memory { limbs: self.limbs, rows })
    }
}

impl Memory {
    /// Writes the sums of pairs of rows to the rows from `target` on, `times` times. No sum reads a row that another sum writes.
    pub(super) fn add(&mut self, target: u32, pairs: &[[u32; 2]], times: u32) -> Result<()> {
        let words = 2 * self.limbs as usize;
        let first = target as usize * words;
        if pairs.is_empty() {
            return Ok(());
        }
        match &mut self.rows {
            Rows::Host { adder, rows } => {
                for _ in 0..times {
                    let sums: Vec<Vec<u32>> = pairs.par_chunks(SHARE).map(|pairs| adder.sums(rows, pairs)).collect();
                    let sums = sums.concat();
                    rows[first..first + sums.len()].copy_from_slice(&sums);
                }
            }
            Rows::Device(OnDevice { device, module, stream, rows, pairs: numbers, scratch }) => {
                let flat = pairs.as_flattened();
                let numbers = grown(&**device, numbers, flat.len())?;
                let scratch = grown(&**device, scratch, pairs.len() * words / 2)?;
                device.upload(stream, flat, numbers, 0)?;
                let grid = sums::grid(pairs.len() as u32);
                let arguments = sums::Arguments {
                    rows: (&*rows).into(),
                    target: At::word(rows, first),
                    pairs: numbers.into(),
                    scratch: scratch.into(),
                    sums: pairs.len() as u32,
                    threads: grid.blocks * grid.threads,
                };
                for _ in 0..times {
                    arguments.launch(&**device, stream, module, grid)?;
                }
            }
        }
        Ok(())
    }

    /// Some rows.
    pub(super) fn rows(&self, first: u32, count: usize) -> Result<Vec<u32>> {
        let words = 2 * self.limbs as usize;
        let (first, length) = (first as usize * words, count * words);
        match &self.rows {
            Rows::Device(OnDevice { device, stream, rows, .. }) => {
                let mut words = vec![0; length];
                if length > 0 {
                    device.download(stream, rows, first, &mut words)?;
                }
                Ok(words)
            }
            Rows::Host { rows, .. } => Ok(rows[first..first + length].to_vec()),
        }
    }
}

/// The row of the point at infinity, of so many words.
pub(super) fn infinity(words: usize) -> Vec<u32> {
    let mut row = vec![0; words];
    row[words - 1] = INFINITY;
    row
}

/// The buffer, or a new one if it has not this many words.
fn grown<'b>(device: &dyn Device, buffer: &'b mut Option<Buffer>, words: usize) -> Result<&'b Buffer> {
    let known = buffer.take().filter(|buffer| buffer.words() >= words);
    let found = match known {
        Some(buffer) => buffer,
        None => device.alloc(4 * words.next_power_of_two() as u64)?,
    };
    Ok(buffer.insert(found))
}

/// Sums of rows on the processor.
trait Adder: std::fmt::Debug + Send + Sync {
    /// The rows of the sums of pairs, with one inversion.
    fn sums(&self, rows: &[u32], pairs: &[[u32; 2]]) -> Vec<u32>;
}

/// Sums by words of 64 bits.
#[derive(Debug)]
struct Words<const W: usize> {
    field: Field<W>,
    a: Residue<W>,
    limbs: u32,
}

impl<const W: usize> Words<W> {
    fn new(group: &Group, limbs: u32) -> Self {
        let field = Field::new(&group.p, limbs);
        Self { a: field.residue(&group.a), field, limbs }
    }

    fn row<'r>(&self, rows: &'r [u32], number: u32) -> &'r [u32] {
        let words = 2 * self.limbs as usize;
        &rows[number as usize * words..][..words]
    }

    fn spot(&self, row: &[u32]) -> Spot<W> {
        let (x, y) = row.split_at(self.limbs as usize);
        let word = |limbs: &[u32], i: usize| limbs.get(i).map_or(0, |limb| u64::from(*limb));
        let words = |limbs: &[u32]| std::array::from_fn(|i| word(limbs, 2 * i) | word(limbs, 2 * i + 1) << 32);
        Spot { x: words(x), y: words(y) }
    }
}

impl<const W: usize> Adder for Words<W> {
    fn sums(&self, rows: &[u32], pairs: &[[u32; 2]]) -> Vec<u32> {
        let zero = [0; W];
        let mut sums: Vec<Vec<u32>> = Vec::with_capacity(pairs.len());
        let mut chords: Vec<(usize, Spot<W>, Spot<W>)> = Vec::new();
        for (i, [s, t]) in pairs.iter().enumerate() {
            let [s, t] = [*s, *t].map(|number| self.row(rows, number));
            let marks = [s, t].map(|row| row[row.len() - 1]);
            sums.push(match marks {
                [FAULTY, _] => s.to_vec(),
                [_, FAULTY] | [INFINITY, _] => t.to_vec(),
                [_, INFINITY] => s.to_vec(),
                _ => {
                    let (s, t) = (self.spot(s), self.spot(t));
                    let opposite = s.x == t.x && (s.y != t.y || s.y == zero);
                    if !opposite {
                        chords.push((i, s, t));
                    }
                    infinity(2 * self.limbs as usize)
                }
            });
        }
        let (s, t): (Vec<Spot<W>>, Vec<Spot<W>>) = chords.iter().map(|(_, s, t)| (*s, *t)).unzip();
        for ((i, ..), Spot { x, y }) in chords.iter().zip(add(&self.field, &self.a, &s, &t)) {
            sums[*i] = limbs_of(&x, self.limbs).chain(limbs_of(&y, self.limbs)).collect();
        }
        sums.concat()
    }
}
