//! The second stage on a device.

use std::collections::VecDeque;
use std::ops::Range;

use warpmp_device::Buffer;
use warpmp_launch::At;

use super::chunk::Chunk;
use super::kernels::{Job, state};
use crate::error::Result;
use crate::factor::lane::Line;
use crate::factor::meter::Meter;
use crate::factor::pairing::{BABIES, GIANTS, Pairing, Section};

/// The slots of a lane's points: `x` of the baby steps and of a block of giant steps, then `Z` and products of the points that are normalised. Values
/// of a sequence are not.
#[derive(Clone, Copy)]
pub(super) struct Slots {
    babies: u32,
    /// Are points normalised?
    normal: bool,
}

impl Slots {
    pub(super) fn of(line: Line, pairing: &Pairing) -> Self {
        Self { babies: pairing.babies.len() as u32, normal: line == Line::Curve }
    }

    pub(super) fn all(self) -> u32 {
        self.points() + if self.normal { 2 * self.normalised() } else { 0 }
    }

    /// The slots for `x`.
    fn points(self) -> u32 {
        self.babies + GIANTS as u32
    }

    /// The most points that are normalised together.
    fn normalised(self) -> u32 {
        self.babies.min(BABIES as u32).max(GIANTS as u32)
    }

    /// The control words for some points, from a slot on. `last`: the last word.
    fn control(self, count: usize, x: u32, last: u32) -> [u32; 6] {
        [self.all(), count as u32, x, self.points(), self.points() + self.normalised(), last]
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
    /// The giant steps that are not done, and the baby steps that each meets. The first of them is `next`.
    waiting: VecDeque<Vec<u32>>,
    next: u64,
}

/// A block of giant steps.
#[derive(Clone, Copy)]
struct Block {
    length: usize,
    /// The first word of its pairs.
    start: usize,
}

impl<'c, 'g> Walk<'c, 'g> {
    /// The baby steps, and the first giant steps.
    fn new(chunk: &'c Chunk<'g>, pairing: &Pairing) -> Result<Self> {
        let slots = Slots::of(chunk.class.line, pairing);
        let before = [&1].into_iter().chain(&pairing.babies);
        let gaps: Vec<u32> = before.zip(&pairing.babies).map(|(one, other)| ((other - one) / 2) as u32).collect();
        let words = chunk.upload(&gaps)?;
        for first in (0..gaps.len()).step_by(BABIES) {
            let control = slots.control(BABIES.min(gaps.len() - first), first as u32, 0);
            let [all, count, x, z, ..] = control;
            let begins = chunk.upload(&[all, count, x, z, u32::from(first == 0)])?;
            let [constants, begins, columns, state] =
                [&*chunk.constants, &begins, &chunk.columns, &chunk.state].map(At::from);
            chunk.launch(Job::Babies, &[constants, begins, At::word(&words, first), columns, state])?;
            let lanes = 0..chunk.lanes;
            chunk.normalise(&lanes, &*chunk.turn_control(&lanes, [control; 2])?)?;
        }
        // Sections begin with the giant step below their first prime.
        let first = pairing.first_giant();
        // Each ladder leaves two points, and the next one takes the place of the second.
        let ladders = [(state::HERE, first), (state::AFTER, first + 1), (state::STEP, 1)];
        for (number, giant) in ladders {
            let multiple = giant * pairing.width;
            let exponent = chunk.upload(&[multiple as u32, (multiple >> 32) as u32])?;
            let bits = u64::BITS - multiple.leading_zeros();
            let control = chunk.turn_control(&(0..chunk.lanes), [[bits, bits, 1]; 2])?;
            let [constants, control, exponent] = [&*chunk.constants, &control, &exponent].map(At::from);
            chunk.launch(Job::Ladder, &[constants, control, exponent, chunk.state_from(number)])?;
            chunk.device.synchronize(&chunk.stream)?;
        }
        Ok(Self { chunk, slots, waiting: VecDeque::new(), next: first })
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
        for &length in lengths {
            blocks.push(Block { length, start: words.len() });
            for babies in self.waiting.drain(..length) {
                words.push(babies.len() as u32);
                words.extend(babies);
            }
            self.next += length as u64;
        }
        let pairs = self.chunk.upload(&words)?;
        let mut first = 0;
        for (here, next) in blocks.iter().zip(blocks.iter().skip(1).map(Some).chain([None])) {
            while first < self.chunk.lanes {
                meter.check()?;
                let lanes = self.chunk.turn(first, next.is_some());
                self.turn(&lanes, [*here, *next.unwrap_or(here)], &pairs)?;
                first = lanes.end;
            }
            first -= self.chunk.lanes;
        }
        Ok(())
    }

    /// The giant steps of a block and their pairs for the lanes of a turn, and those of the next block for the lanes after the last lane.
    fn turn(&self, lanes: &Range<u32>, blocks: [Block; 2], pairs: &Buffer) -> Result<()> {
        let Self { chunk, slots, .. } = self;
        let control = |block: Block| slots.control(block.length, slots.babies, block.start as u32);
        let control = chunk.turn_control(lanes, blocks.map(control))?;
        let count = lanes.end - lanes.start;
        let giants = [&*chunk.constants, &control, &chunk.columns, &chunk.state].map(At::from);
        chunk.launch_lanes(Job::Giants, count, &giants)?;
        chunk.normalise(lanes, &control)?;
        // In turns the control words say where the pairs begin.
        let first = if chunk.class.is_few() { 0 } else { blocks[0].start };
        let [constants, words, columns, state] = giants;
        chunk.launch_lanes(Job::Pairs, count, &[constants, words, At::word(pairs, first), columns, state])?;
        Ok(chunk.device.synchronize(&chunk.stream)?)
    }

    /// A divisor of each modulus.
    fn divisors(self) -> Result<()> {
        let chunk = self.chunk;
        chunk.launch(Job::Product, &[&*chunk.constants, &chunk.state, &chunk.total].map(At::from))?;
        chunk.invert()
    }
}

impl Chunk<'_> {
    /// `X/Z` of the points that control words name, for the lanes of a turn, with one inversion; nothing for values of a sequence.
    fn normalise(&self, lanes: &Range<u32>, control: &Buffer) -> Result<()> {
        if self.class.line != Line::Curve {
            return Ok(());
        }
        let count = lanes.end - lanes.start;
        let [constants, control, columns, total, state] =
            [&*self.constants, control, &self.columns, &self.total, &self.state].map(At::from);
        self.launch_lanes(Job::Denominators, count, &[constants, control, columns, total])?;
        self.invert_lanes(lanes)?;
        self.launch_lanes(Job::Normalise, count, &[constants, control, columns, total, state])
    }
}
