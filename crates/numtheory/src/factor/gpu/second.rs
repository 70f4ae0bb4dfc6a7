//! The second stage on a device.

use std::collections::VecDeque;

use warpmp_launch::At;

use super::chunk::{Chunk, Common};
use super::kernels::{Job, state};
use crate::error::Result;
use crate::factor::lane::Line;
use crate::factor::meter::Meter;
use crate::factor::pairing::{Pairing, Section};

/// Giant steps that share an inversion.
const BLOCK: usize = 64;

/// The slots of a lane's points: `x` of the baby steps, then `X`, `Z` and products of the points that are normalised. Values of a sequence
/// are not.
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
        let block = BLOCK as u32;
        self.babies + if self.normal { (2 * self.babies).max(3 * block) } else { block }
    }

    /// The control row for the baby steps.
    fn of_babies(self) -> [u32; 5] {
        [self.all(), self.babies, 0, self.babies, 2 * self.babies]
    }

    /// The control row for a block of giant steps.
    fn of_giants(self, count: u32) -> [u32; 5] {
        let block = BLOCK as u32;
        [self.all(), count, self.babies, self.babies + block, self.babies + 2 * block]
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
    /// The control row of a whole block.
    control: Common<'c>,
    /// The giant steps that are not done, and the baby steps that each meets. The first of them is `next`.
    waiting: VecDeque<Vec<u32>>,
    next: u64,
}

impl<'c, 'g> Walk<'c, 'g> {
    /// The baby steps, and the first giant steps.
    fn new(chunk: &'c Chunk<'g>, pairing: &Pairing) -> Result<Self> {
        let slots = Slots::of(chunk.class.line, pairing);
        let before = [&1].into_iter().chain(&pairing.babies);
        let gaps: Vec<u32> = before.zip(&pairing.babies).map(|(one, other)| ((other - one) / 2) as u32).collect();
        let (control, gaps) = (chunk.control(slots.of_babies())?, chunk.upload(&gaps)?);
        let rows = [&*chunk.constants, &control, &gaps, &chunk.columns, &chunk.state].map(At::from);
        chunk.launch(Job::Babies, &rows)?;
        chunk.normalise(&control)?;
        // Sections begin with the giant step below their first prime.
        let first = pairing.first_giant();
        // Each ladder leaves two points, and the next one takes the place of the second.
        let ladders = [(state::HERE, first), (state::AFTER, first + 1), (state::STEP, 1)];
        for (number, giant) in ladders {
            let multiple = giant * pairing.width;
            let exponent = chunk.upload(&[multiple as u32, (multiple >> 32) as u32])?;
            let bits = u64::BITS - multiple.leading_zeros();
            let control = chunk.control([bits, bits, 1, 0, 0])?;
            let [constants, control, exponent] = [&*chunk.constants, &control, &exponent].map(At::from);
            chunk.launch(Job::Ladder, &[constants, control, exponent, chunk.state_from(number)])?;
            chunk.device.synchronize(&chunk.stream)?;
        }
        let control = chunk.control(slots.of_giants(BLOCK as u32))?;
        Ok(Self { chunk, slots, control, waiting: VecDeque::new(), next: first })
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
        let blocks = end.saturating_sub(2) / BLOCK;
        self.blocks(&vec![BLOCK; blocks], meter)
    }

    /// The products that are left after the last section.
    fn rest(&mut self, meter: &Meter<'_>) -> Result<()> {
        let mut blocks = vec![BLOCK; self.waiting.len() / BLOCK];
        blocks.extend(Some(self.waiting.len() % BLOCK).filter(|rest| *rest > 0));
        self.blocks(&blocks, meter)
    }

    /// Blocks of the giant steps that wait.
    fn blocks(&mut self, lengths: &[usize], meter: &Meter<'_>) -> Result<()> {
        let mut words = Vec::new();
        let mut starts = Vec::new();
        for &length in lengths {
            starts.push(words.len());
            for babies in self.waiting.drain(..length) {
                words.push(babies.len() as u32);
                words.extend(babies);
            }
            self.next += length as u64;
        }
        let pairs = self.chunk.upload(&words)?;
        for (&start, &length) in starts.iter().zip(lengths) {
            meter.check()?;
            if length == BLOCK {
                self.block(&self.control, At::word(&pairs, start))?;
            } else {
                let control = self.chunk.control(self.slots.of_giants(length as u32))?;
                self.block(&control, At::word(&pairs, start))?;
            }
        }
        Ok(())
    }

    /// A block of giant steps and their pairs.
    fn block(&self, control: &Common<'_>, pairs: At<'_>) -> Result<()> {
        let chunk = self.chunk;
        chunk.launch(Job::Giants, &[&*chunk.constants, control, &chunk.columns, &chunk.state].map(At::from))?;
        chunk.normalise(control)?;
        let [constants, words, columns, state] =
            [&*chunk.constants, control, &chunk.columns, &chunk.state].map(At::from);
        chunk.launch(Job::Pairs, &[constants, words, pairs, columns, state])?;
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
    /// `X/Z` of the points that a control row names, with one inversion; nothing for values of a sequence.
    fn normalise(&self, control: &Common<'_>) -> Result<()> {
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
