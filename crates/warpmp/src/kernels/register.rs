//! Algorithms: what a row of a register says, and the register that a session chooses from.

use std::collections::HashSet;
use std::fmt;

use warpmp_device::DeviceInfo;

use super::{Geometry, OperationShape, OwnSettings, Settings, SettingsFault, Spec};
use crate::batch::Shape;
use crate::error::Result;
use crate::operation::{Group, Operation};
use crate::tuning::Candidate;

/// An algorithm for one operation or several.
#[derive(Clone, Copy, Debug)]
pub struct Algorithm {
    /// The name on the command line, in tables and in reports.
    pub name: &'static str,
    /// What it does, in a line.
    pub summary: &'static str,
    /// What it accepts, in words.
    pub accepts: &'static str,
    /// The order in which its kernels want the first two operands.
    pub order: Order,
    /// Does it take these operands, in its order?
    pub fits: fn(OperationShape) -> bool,
    /// How operands and settings become kernels: a [`With`].
    pub recipe: &'static dyn Recipe,
}

/// How operands and settings become kernels, for an algorithm whose settings are `S`.
#[derive(Debug)]
pub struct With<S> {
    /// The kernels for these operands, in the algorithm's order, and settings.
    pub spec: fn(OperationShape, &S, Abilities) -> Box<dyn Spec>,
    /// The settings that are worth measuring for these operands, the usual ones first.
    pub candidates: fn(OperationShape) -> Vec<S>,
}

/// Asynchronous copies to shared memory begin with this compute capability, times ten.
const ASYNC_COPIES_FROM: u32 = 80;

/// What kernels may use of a GPU where they can do without it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Abilities {
    /// Asynchronous copies to shared memory.
    pub async_copies: bool,
}

impl Abilities {
    /// Those of a GPU of this compute capability, times ten.
    pub fn of(capability: u32) -> Self {
        Self { async_copies: capability >= ASYNC_COPIES_FROM }
    }
}

/// The GPUs that an algorithm is for. Compute capabilities are given times ten.
#[derive(Clone, Copy, Debug)]
pub struct Gpus {
    /// The least compute capability that runs the kernels.
    pub from: u32,
    /// The greatest one, if later GPUs do not run them.
    pub to: Option<u32>,
    /// Do the kernels compute with doubles? Then rows of other GPUs' tables do not choose them on a GPU that is slow with
    /// doubles.
    pub use_doubles: bool,
}

/// A [`With`] that is not for all GPUs.
#[derive(Debug)]
pub struct On<S>(pub Gpus, pub With<S>);

/// The GPUs, by compute capability times ten, that have at least a quarter as many units for doubles as for singles.
const FAST_DOUBLES: [u32; 3] = [80, 90, 100];

impl Gpus {
    /// All GPUs that this crate supports.
    pub const ALL: Self = Self::from(DeviceInfo::LEAST_CAPABILITY);

    /// All GPUs from this compute capability on.
    pub const fn from(capability: u32) -> Self {
        Self { from: capability, to: None, use_doubles: false }
    }

    /// Does a GPU of this compute capability run the kernels?
    pub(crate) fn run_on(self, capability: u32) -> bool {
        capability >= self.from && self.to.is_none_or(|to| capability <= to)
    }

    /// Do measurements on another GPU say anything about a GPU of this compute capability?
    pub(crate) fn are_comparable_with(self, capability: u32) -> bool {
        !self.use_doubles || FAST_DOUBLES.contains(&capability)
    }
}

/// A [`With`] whose type of settings is not named.
pub trait Recipe: fmt::Debug + Sync {
    /// The kernels for these operands and the settings of a row, for an algorithm of this name.
    ///
    /// # Errors
    /// [`SettingsFault`] if the algorithm has no such settings.
    fn spec(
        &self,
        algorithm: &'static str,
        shape: OperationShape,
        settings: &Settings,
        abilities: Abilities,
    ) -> Result<Box<dyn Spec>, SettingsFault>;

    /// The settings that are worth measuring for these operands, the usual ones first.
    fn candidates(&self, shape: OperationShape) -> Vec<Settings>;

    /// Has an algorithm of this name such settings?
    ///
    /// # Errors
    /// [`SettingsFault`] if not.
    fn check(&self, algorithm: &'static str, settings: &Settings) -> Result<(), SettingsFault>;

    /// The names of its settings.
    fn setting_names(&self) -> &'static [&'static str];

    /// The GPUs that it is for.
    fn gpus(&self) -> Gpus {
        Gpus::ALL
    }
}

impl<S: OwnSettings + fmt::Debug> Recipe for With<S> {
    fn spec(
        &self,
        algorithm: &'static str,
        shape: OperationShape,
        settings: &Settings,
        abilities: Abilities,
    ) -> Result<Box<dyn Spec>, SettingsFault> {
        Ok((self.spec)(shape, &settings.read(algorithm)?, abilities))
    }

    fn candidates(&self, shape: OperationShape) -> Vec<Settings> {
        (self.candidates)(shape).into_iter().map(S::to_row).collect()
    }

    fn check(&self, algorithm: &'static str, settings: &Settings) -> Result<(), SettingsFault> {
        settings.read::<S>(algorithm).map(|_| ())
    }

    fn setting_names(&self) -> &'static [&'static str] {
        S::NAMES
    }
}

impl<S: OwnSettings + fmt::Debug> Recipe for On<S> {
    fn spec(
        &self,
        algorithm: &'static str,
        shape: OperationShape,
        settings: &Settings,
        abilities: Abilities,
    ) -> Result<Box<dyn Spec>, SettingsFault> {
        self.1.spec(algorithm, shape, settings, abilities)
    }

    fn candidates(&self, shape: OperationShape) -> Vec<Settings> {
        Recipe::candidates(&self.1, shape)
    }

    fn check(&self, algorithm: &'static str, settings: &Settings) -> Result<(), SettingsFault> {
        self.1.check(algorithm, settings)
    }

    fn setting_names(&self) -> &'static [&'static str] {
        S::NAMES
    }

    fn gpus(&self) -> Gpus {
        self.0
    }
}

/// The order in which an algorithm wants the first two operands of an operation.
///
/// The plan exchanges the factors of products and of parts of products; other operations keep the order of the caller.
/// The last two orders put a common factor second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The order of the caller.
    Given,
    /// The longer one first.
    LongerFirst,
    /// The shorter one first.
    ShorterFirst,
}

impl Order {
    /// Does the algorithm want the first two operands in the other order? Only factors change places.
    fn swaps(self, shape: OperationShape) -> bool {
        if !matches!(shape.operation.group(), Group::Product | Group::ProductPart) {
            return false;
        }
        let [a, b] = match (self, shape.operands()) {
            (Self::LongerFirst, &[a, b, ..]) => [a, b],
            (Self::ShorterFirst, &[a, b, ..]) => [b, a],
            _ => return false,
        };
        let first = shape.operands()[0];
        if a.common == b.common { a.bits < b.bits } else { first.common }
    }
}

impl Algorithm {
    /// The kernels for these operands, in its order, and settings, on a GPU with these abilities.
    ///
    /// # Errors
    /// [`SettingsFault`] if the algorithm has no such settings.
    pub fn spec(
        &self,
        shape: OperationShape,
        settings: &Settings,
        abilities: Abilities,
    ) -> Result<Box<dyn Spec>, SettingsFault> {
        self.recipe.spec(self.name, shape, settings, abilities)
    }

    /// Has it such settings?
    ///
    /// # Errors
    /// [`SettingsFault`] if not.
    pub fn check(&self, settings: &Settings) -> Result<(), SettingsFault> {
        self.recipe.check(self.name, settings)
    }

    /// The operation with its operands in the order of this algorithm: the kernel's operand `i` is the caller's
    /// operand `order[i]`.
    pub(crate) fn ordered(&self, shape: OperationShape) -> (Vec<usize>, OperationShape) {
        let mut order: Vec<usize> = (0..shape.operands().len()).collect();
        if !self.order.swaps(shape) {
            return (order, shape);
        }
        order.swap(0, 1);
        (order, shape.swapped())
    }

    /// Does it take these operands, in any order?
    pub(crate) fn takes(&self, shape: OperationShape) -> bool {
        (self.fits)(self.ordered(shape).1)
    }

    /// Does a GPU of this compute capability, times ten, run its kernels?
    pub(crate) fn runs_on(&self, capability: u32) -> bool {
        self.recipe.gpus().run_on(capability)
    }
}

/// The algorithms that a session chooses from: those of this crate, and those that were added.
#[derive(Clone, Debug, Default)]
pub struct Register {
    added: Vec<(Operation, &'static [Algorithm])>,
}

impl Register {
    /// The algorithms of this crate alone.
    pub const fn shipped() -> Self {
        Self { added: Vec::new() }
    }

    /// Adds algorithms for an operation. The plan chooses an added algorithm where a tuning table says so, or where
    /// the caller asks for it by name.
    #[must_use]
    pub fn with(mut self, operation: Operation, algorithms: &'static [Algorithm]) -> Self {
        self.added.push((operation, algorithms));
        self
    }

    /// The algorithms for an operation, those of this crate first.
    pub fn of(&self, operation: Operation) -> impl Iterator<Item = &'static Algorithm> {
        let added = self.added.iter().filter(move |(it, _)| it.name() == operation.name());
        super::register(operation).iter().chain(added.flat_map(|(_, algorithms)| *algorithms))
    }

    /// The algorithm of this name.
    pub fn find(&self, operation: Operation, name: &str) -> Option<&'static Algorithm> {
        self.of(operation).find(|it| it.name == name)
    }

    /// The names of an operation's algorithms.
    pub fn names(&self, operation: Operation) -> Vec<&'static str> {
        self.of(operation).map(|it| it.name).collect()
    }

    /// The names of the algorithms that take these operands.
    ///
    /// # Errors
    /// As [`Operation::results`].
    pub fn fitting(&self, operation: Operation, operands: &[Shape]) -> Result<Vec<&'static str>> {
        let shape = OperationShape::new(operation, operands)?;
        Ok(self.of(operation).filter(|it| it.takes(shape)).map(|it| it.name).collect())
    }

    /// The candidates that are worth measuring for these operands on a device: every algorithm that takes them, with
    /// every setting that may make a difference. Each candidate has a kernel of its own, and the device can launch
    /// it. The default settings of all algorithms come first.
    ///
    /// # Errors
    /// As [`Operation::results`].
    pub fn candidates(&self, operation: Operation, operands: &[Shape], device: &DeviceInfo) -> Result<Vec<Candidate>> {
        let shape = OperationShape::new(operation, operands)?;
        let abilities = Abilities::of(device.capability);
        let mut known = HashSet::new();
        let mut found = Vec::new();
        for algorithm in self.of(operation).filter(|it| it.takes(shape) && it.runs_on(device.capability)) {
            let (_, shape) = algorithm.ordered(shape);
            for settings in algorithm.recipe.candidates(shape) {
                let Ok(spec) = algorithm.spec(shape, &settings, abilities) else { continue };
                let kernel = spec.name();
                if is_possible(&*spec, device) && known.insert(kernel.clone()) {
                    found.push(Candidate { algorithm: algorithm.name, settings, kernel });
                }
            }
        }
        found.sort_by_key(|candidate| candidate.settings != Settings::default());
        Ok(found)
    }
}

/// Can the device launch it?
fn is_possible(spec: &dyn Spec, device: &DeviceInfo) -> bool {
    let fits =
        |it: &Geometry| it.shared_bytes <= device.shared_bytes_per_block && it.threads <= device.threads_per_block;
    spec.stages().iter().all(|stage| fits(&stage.geometry))
}
