//! The second stage on a device.

use std::collections::VecDeque;
use std::ops::Range;

use warpmp_device::Buffer;
use warpmp_launch::At;

use super::chunk::{Chunk, Common};
use super::kernels::{Class, Job, state};
use crate::error::Result;
use crate::factor::lane::Line;
use crate::factor::meter::Meter;
use crate::factor::pairing::{BABIES, GIANTS, Pairing, Section};

/// The slots of a lane's points: `x` of the baby steps, then `x` of a block or two of giant steps, then `Z` and products of the points that are
/// normalised. Values of a sequence are not.
#[derive(Clone, Copy)]
pub(super) struct Slots {
    babies: u32,
    /// Blocks of giant steps: where lanes take turns, some are a block ahead of the others.
    blocks: u32,
    /// Are points normalised?
    normal: bool,
}

impl Slots {
    pub(super) fn of(class: Class, pairing: &Pairing) -> Self {
        let blocks = if class.is_few() { 2 } else { 1 };
        Self { babies: pairing.babies.len() as u32, blocks, normal: class.line == Line::Curve }
    }

    pub(super) fn all(self) -> u32 {
        let normalised = if self.normal { 2 * self.normalised() } else { 0 };
        self.points() + normalised
    }

    /// The slots for `x`.
    fn points(self) -> u32 {
        self.babies + self.blocks * GIANTS as u32
    }

    /// The most points that are normalised together.
    fn normalised(self) -> u32 {
        self.babies.min(BABIES as u32).max(GIANTS as u32)
    }

    /// The control words for some points, from a slot on.
    fn control(self, count: usize, x: u32) -> [u32; 5] {
        [self.all(), count as u32, x, self.points(), self.points() + self.normalised()]
    }

    /// The slot of a block of giant steps.
    fn giants(self, block: usize) -> u32 {
        self.babies + (block as u32 % self.blocks) * GIANTS as u32
    }
}

impl Chunk<'_> {
    /// The second stage after the first one; divisors are noted. `each` gets the number of sections that are done.
    pub(super) fn second_stage(
        &mut self,
        pairing: &Pairing,
        meter: &Meter<'_>,
        mut each: impl FnMut(u64) -> Result<()>,
    ) -> Result<()> {
        self.restart()?;
        let mut walk = Walk::new(self, pairing)?;
        let mut section = pairing.section(0);
        for number in 0..pairing.sections() {
            let more = number + 1 < pairing.sections();
            // The next section's pairs are made beside the products of this one.
            let next = || if more { pairing.section(number + 1) } else { Section::default() };
            let (made, done) = rayon::join(next, || walk.section(&section, meter));
            done?;
            section = made;
            if !more {
                walk.rest(meter)?;
            }
            each(number + 1)?;
        }
        walk.divisors()
    }
}

/// The giant steps of a chunk.
struct Walk<'c, 'g> {
    chunk: &'c Chunk<'g>,
    slots: Slots,
    /// The control words of whole blocks.
    controls: Vec<Common<'c>>,
    /// The giant steps that are not done, and the baby steps that each meets. The first of them is `next`.
    waiting: VecDeque<Vec<u32>>,
    next: u64,
}

/// A block of giant steps.
#[derive(Clone, Copy)]
struct Block {
    number: usize,
    length: usize,
    /// The first word of its pairs.
    start: usize,
}

impl<'c, 'g> Walk<'c, 'g> {
    /// The baby steps, and the first giant steps.
    fn new(chunk: &'c Chunk<'g>, pairing: &Pairing) -> Result<Self> {
        let slots = Slots::of(chunk.class, pairing);
        let before = [&1].into_iter().chain(&pairing.babies);
        let gaps: Vec<u32> = before.zip(&pairing.babies).map(|(one, other)| ((other - one) / 2) as u32).collect();
        let words = chunk.upload(&gaps)?;
        for first in (0..gaps.len()).step_by(BABIES) {
            let points = slots.control(BABIES.min(gaps.len() - first), first as u32);
            let [all, count, x, z, _] = points;
            let begins = chunk.upload(&[all, count, x, z, u32::from(first == 0)])?;
            let [constants, begins, columns, state] =
                [&*chunk.constants, &begins, &chunk.columns, &chunk.state].map(At::from);
            chunk.launch(Job::Babies, &[constants, begins, At::word(&words, first), columns, state])?;
            chunk.normalise(&*chunk.upload(&points)?)?;
        }
        // Sections begin with the giant step below their first prime.
        let first = pairing.first_giant();
        // Each ladder leaves two points, and the next one takes the place of the second.
        let ladders = [(state::HERE, first), (state::AFTER, first + 1), (state::STEP, 1)];
        for (number, giant) in ladders {
            let multiple = giant * pairing.width;
            let exponent = chunk.upload(&[multiple as u32, (multiple >> 32) as u32])?;
            let bits = u64::BITS - multiple.leading_zeros();
            let rows = [At::from(&*chunk.constants), At::from(&*exponent), chunk.state_from(number)];
            chunk.launch_turn(Job::Ladder, 0..chunk.lanes, [[bits, bits, 1]; 2], &rows)?;
        }
        let control = |block| chunk.upload(&slots.control(GIANTS, slots.giants(block)));
        let controls = (0..slots.blocks as usize).map(control).collect::<Result<Vec<Common<'_>>>>()?;
        Ok(Self { chunk, slots, controls, waiting: VecDeque::new(), next: first })
    }

    /// The products of a section's pairs, as far as its giant steps are whole blocks that no later section meets.
    fn section(&mut self, section: &Section, meter: &Meter<'_>) -> Result<()> {
        let offset = (section.first - self.next) as usize;
        let end = offset + section.giants.len();
        if self.waiting.len() < end {
            self.waiting.resize(end, Vec::new());
        }
        for (waiting, babies) in self.waiting.range_mut(offset..).zip(&section.giants) {
            waiting.extend(babies);
        }
        // The last two giant steps of a section are the first ones of the next.
        let blocks = end.saturating_sub(2) / GIANTS;
        self.blocks(&vec![GIANTS; blocks], meter)
    }

    /// The products that are left after the last section.
    fn rest(&mut self, meter: &Meter<'_>) -> Result<()> {
        let mut blocks = vec![GIANTS; self.waiting.len() / GIANTS];
        blocks.extend(Some(self.waiting.len() % GIANTS).filter(|rest| *rest > 0));
        self.blocks(&blocks, meter)
    }

    /// Blocks of the giant steps that wait.
    fn blocks(&mut self, lengths: &[usize], meter: &Meter<'_>) -> Result<()> {
        let mut words = Vec::new();
        let mut blocks = Vec::new();
        for (number, &length) in lengths.iter().enumerate() {
            blocks.push(Block { number, length, start: words.len() });
            for babies in self.waiting.drain(..length) {
                words.push(babies.len() as u32);
                words.extend(babies);
            }
            self.next += length as u64;
        }
        let pairs = self.chunk.upload(&words)?;
        let chunk = self.chunk;
        let mut ready = 0;
        let mut first = 0;
        for (here, next) in blocks.iter().zip(blocks.iter().skip(1).map(Some).chain([None])) {
            loop {
                meter.check()?;
                let end = first + chunk.turn(first, next.is_some());
                let next = next.filter(|_| end > chunk.lanes);
                for block in [here].into_iter().chain(next) {
                    if block.number == ready {
                        self.giants(block)?;
                        ready += 1;
                    }
                }
                self.pairs(first..end, [*here, *next.unwrap_or(here)], &pairs)?;
                first = end;
                if end >= chunk.lanes {
                    first = end - chunk.lanes;
                    break;
                }
            }
        }
        Ok(())
    }

    /// The giant steps of a block.
    fn giants(&self, block: &Block) -> Result<()> {
        let short;
        let control: &Buffer = if block.length == GIANTS {
            &self.controls[block.number % self.controls.len()]
        } else {
            short = self.chunk.upload(&self.slots.control(block.length, self.slots.giants(block.number)))?;
            &short
        };
        let chunk = self.chunk;
        chunk.launch(Job::Giants, &[&*chunk.constants, control, &chunk.columns, &chunk.state].map(At::from))?;
        chunk.normalise(control)
    }

    /// The products of the pairs of a block, for some lanes, and of the next block for the lanes after the last lane.
    fn pairs(&self, lanes: Range<u32>, blocks: [Block; 2], pairs: &Buffer) -> Result<()> {
        let Self { chunk, slots, .. } = self;
        // In turns the control words say where the pairs begin.
        let first = if chunk.class.is_few() { 0 } else { blocks[0].start };
        let [constants, columns, state] = [&*chunk.constants, &chunk.columns, &chunk.state].map(At::from);
        let rows = [constants, At::word(pairs, first), columns, state];
        let words = |block: Block| [slots.all(), block.length as u32, slots.giants(block.number), block.start as u32];
        chunk.launch_turn(Job::Pairs, lanes, blocks.map(words), &rows)
    }

    /// A divisor of each modulus.
    fn divisors(self) -> Result<()> {
        let chunk = self.chunk;
        chunk.launch(Job::Product, &[&*chunk.constants, &chunk.state, &chunk.total].map(At::from))?;
        chunk.invert()
    }
}

impl Chunk<'_> {
    /// `X/Z` of the points that a control row names, with one inversion; nothing for values of a sequence.
    fn normalise(&self, control: &Buffer) -> Result<()> {
        if self.class.line != Line::Curve {
            return Ok(());
        }
        let rows = [&*self.constants, control, &self.columns, &self.total].map(At::from);
        self.launch(Job::Denominators, &rows)?;
        self.invert()?;
        let rows = [&*self.constants, control, &self.columns, &self.total, &self.state].map(At::from);
        self.launch(Job::Normalise, &rows)
    }
}
