//! The search: walks report distinguished points, and two walks that meet tell the logarithm.

mod memory;

use std::sync::Arc;

use warpmp_device::Device;

use crate::cpu::{self, Instructions};
use crate::error::{Error, Result};
use crate::gpu::{self, Layout};
use crate::meetings::{Distinguished, Meeting};
use crate::problem::Problem;
use crate::walk::{End, Settings, Walk, limbs};
pub use memory::{Progress, Solution, solve};

/// A hash of a residue, by words of 32 bits.
pub(crate) fn hash_of(limbs: impl IntoIterator<Item = u32>) -> u64 {
    limbs.into_iter().fold(0x9e37_79b9_7f4a_7c15, |hash: u64, limb| {
        let mixed = (hash ^ u64::from(limb)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        mixed ^ mixed >> 32
    })
}

/// The limbs of a residue.
pub(crate) fn limbs_of<const W: usize>(x: &[u64; W], limbs: u32) -> impl Iterator<Item = u32> + '_ {
    x.iter().flat_map(|word| [*word as u32, (word >> 32) as u32]).take(limbs as usize)
}

/// The residue of so many limbs or fewer.
pub(crate) fn residue_of<const W: usize>(limbs: &[u32]) -> [u64; W] {
    let mut words = [0; W];
    for (i, &limb) in limbs.iter().enumerate() {
        words[i / 2] |= u64::from(limb) << (32 * (i % 2));
    }
    words
}

/// Words of a walk that [`Walks::suspend`] shows.
pub(crate) const fn suspended_words(limbs: u32) -> usize {
    2 + 2 * limbs as usize
}

/// Many walks of one engine.
pub trait Walks: Send {
    /// Rounds of all walks; the distinguished points that they reached. `meanwhile` runs beside the rounds where the engine
    /// can do so.
    ///
    /// # Errors
    /// The device's.
    fn advance(&mut self, rounds: u32, meanwhile: &mut dyn FnMut()) -> Result<Vec<Distinguished>>;

    /// Steps of all walks so far.
    fn steps(&self) -> u64;

    /// Walks at once.
    fn walks(&self) -> u64;

    /// Blocks of starts from this one on were never used.
    fn next_block(&self) -> u64;

    /// Shows `each` every walk between two reports, in words: its start (2), `x` and `y` of its state.
    ///
    /// # Errors
    /// The device's.
    fn suspend(&mut self, each: &mut dyn FnMut(&[u32])) -> Result<()>;

    /// Walks that [`Walks::suspend`] has shown, one after the other, go on in place of the first walks of this engine. The number of
    /// those that found a place.
    ///
    /// # Errors
    /// The device's.
    fn resume(&mut self, walks: &[u32]) -> Result<usize>;
}

/// Where the walks are made.
#[derive(Clone, Debug)]
pub enum Engine {
    /// All cores of the processor, with the fastest instructions that it has.
    Cpu,
    /// All cores of the processor, with these instructions. Words serve where they are missing.
    Cores(Instructions),
    /// A GPU or the simulator.
    Device(Arc<dyn Device>),
}

/// The walk of a problem: what it computes, whichever engine makes the steps.
#[derive(Clone, Debug)]
pub struct Definition {
    words: Words,
}

/// The walk by the words of its residues.
#[derive(Clone, Debug)]
enum Words {
    Two(Arc<Walk<2>>),
    Three(Arc<Walk<3>>),
    Four(Arc<Walk<4>>),
    Five(Arc<Walk<5>>),
}

macro_rules! of_any_length {
    ($words:expr, $walk:ident => $body:expr) => {
        match $words {
            Words::Two($walk) => $body,
            Words::Three($walk) => $body,
            Words::Four($walk) => $body,
            Words::Five($walk) => $body,
        }
    };
}

impl Definition {
    /// The walk of a problem: tables and constants.
    ///
    /// # Errors
    /// [`Error::Setting`].
    pub fn new(problem: &Problem, settings: Settings) -> Result<Self> {
        let words = match limbs(&problem.group.p).div_ceil(2) {
            2 => Words::Two(Arc::new(Walk::new(problem, settings)?)),
            3 => Words::Three(Arc::new(Walk::new(problem, settings)?)),
            4 => Words::Four(Arc::new(Walk::new(problem, settings)?)),
            _ => Words::Five(Arc::new(Walk::new(problem, settings)?)),
        };
        Ok(Self { words })
    }

    /// Walks on an engine, from block `first` of the starts on.
    ///
    /// # Errors
    /// The device's.
    pub fn walks(&self, engine: &Engine, plan: &Plan, first: u64) -> Result<Box<dyn Walks>> {
        of_any_length!(&self.words, walk => Ok(match engine {
            Engine::Cpu => Box::new(cpu::Engine::new(walk, None, plan.layout.walks(), first)),
            Engine::Cores(instructions) => {
                Box::new(cpu::Engine::new(walk, Some(*instructions), plan.layout.walks(), first))
            }
            Engine::Device(device) => Box::new(gpu::Engine::new(device, walk, plan.layout, first)?),
        }))
    }

    /// What fixes the walk.
    pub fn settings(&self) -> Settings {
        of_any_length!(&self.words, walk => walk.settings)
    }

    /// A checksum of the walk's table and of its first starts: it changes with the walk.
    pub fn checksum(&self) -> String {
        of_any_length!(&self.words, walk => walk.checksum())
    }

    /// Words of a walk that [`Walks::suspend`] shows.
    pub fn suspended_words(&self) -> usize {
        of_any_length!(&self.words, walk => suspended_words(walk.limbs))
    }

    /// Makes the walk of a reported point again.
    ///
    /// # Errors
    /// [`Error::Replay`] if it does not lead to the point.
    pub fn check(&self, point: Distinguished) -> Result<()> {
        of_any_length!(&self.words, walk => end(walk, point, &|| true)?.map(|_| ()).ok_or(Error::Replay { start: point.start }))
    }

    /// What two reports of one hash tell. Both walks are made again, which takes long where distinguished points are rare;
    /// `go_on` is asked now and then.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub fn meet(
        &self,
        problem: &Problem,
        points: [Distinguished; 2],
        go_on: &(dyn Fn() -> bool + Sync),
    ) -> Result<Meeting> {
        if points[0].start == points[1].start {
            return Ok(Meeting::Repeated);
        }
        of_any_length!(&self.words, walk => {
            let (one, other) = rayon::join(|| end(walk, points[0], go_on), || end(walk, points[1], go_on));
            Ok(match (one?, other?) {
                (None, _) => Meeting::Wrong { start: points[0].start },
                (_, None) => Meeting::Wrong { start: points[1].start },
                (Some(one), Some(other)) if one.x != other.x => Meeting::Coincidence,
                (Some(one), Some(other)) => {
                    let k = one.coefficients.solve(&other.coefficients, &problem.n, |k| problem.is_solution(k));
                    k.map_or(Meeting::Useless, Meeting::Solved)
                }
            })
        })
    }
}

/// The end of a reported walk; none if it is another point.
fn end<const W: usize>(
    walk: &Walk<W>,
    point: Distinguished,
    go_on: &(dyn Fn() -> bool + Sync),
) -> Result<Option<End<W>>> {
    // One walk in e^64 is longer.
    let most = (64 << walk.settings.distinguished_bits) + (1 << 16);
    let end = walk.replay(point.start, most, go_on);
    if !go_on() {
        return Err(Error::Stopped);
    }
    Ok(end.filter(|end| hash_of(limbs_of(&end.x, walk.limbs)) == point.hash))
}

/// How a search is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// What fixes the walk.
    pub settings: Settings,
    /// How the walks are laid out.
    pub layout: Layout,
    /// Rounds of a launch.
    pub rounds: u32,
}

/// An inversion takes as long as this many steps. Measured on an H200: with 36 points a thread a field of three limbs makes 0.9 times as
/// many steps a second as with 256.
const INVERSION: f64 = 4.0;

impl Plan {
    /// The usual plan. Walks that have not reported when two have met are lost, so there are as many walks as lose at
    /// most a tenth of the expected steps with distinguished points that are rare enough to be stored. `engines` is the number of
    /// engines like this one that search together.
    pub fn new(problem: &Problem, engine: &Engine, engines: usize, seed: u64) -> Self {
        let expected = problem.expected_steps() / engines as f64;
        let layout = match engine {
            Engine::Cpu | Engine::Cores(_) => Layout::cpu(expected),
            // A walk of 2^14 steps or more reports no faster than a processor stores.
            Engine::Device(device) => {
                Layout::on(device.info(), limbs(&problem.group.p), |columns| 0.1 * expected / columns / 16384.0)
            }
        };
        let walks = layout.walks() as f64;
        let bits = problem.group.p.bits() as u32;
        let most = if bits <= 43 { bits - 11 } else { 32 };
        let distinguished_bits = (0.1 * expected / walks).log2().floor().clamp(0.0, 30.0) as u32;
        let branch_bits = if limbs(&problem.group.p) == 3 { 11 } else { 10 };
        Self::of(Settings { branch_bits, distinguished_bits: distinguished_bits.min(most), seed }, layout)
    }

    /// The plan for a walk whose settings are given. More points a thread share an inversion, and leave more unfinished walks in the
    /// end: the number of points makes both together least. `engines` is the number of engines like this one that search together.
    pub fn with_settings(problem: &Problem, engine: &Engine, engines: usize, settings: Settings) -> Self {
        let expected = problem.expected_steps() / engines as f64;
        let layout = match engine {
            Engine::Cpu | Engine::Cores(_) => Layout::cpu(expected),
            Engine::Device(device) => Layout::on(device.info(), limbs(&problem.group.p), |columns| {
                (INVERSION * expected / columns / f64::from(settings.distinguished_bits).exp2()).sqrt()
            }),
        };
        Self::of(settings, layout)
    }

    fn of(settings: Settings, layout: Layout) -> Self {
        // Each walk reports once in four launches, or a launch makes a thousand rounds.
        let rounds = (1_u32 << settings.distinguished_bits.min(12)) / 4;
        Self { settings, layout: layout.with_room(rounds, settings.distinguished_bits), rounds: rounds.clamp(2, 1024) }
    }

    /// The same with other points a thread.
    #[must_use]
    pub fn with_points(self, points: u32) -> Self {
        Self::of(self.settings, Layout { points, ..self.layout })
    }
}
