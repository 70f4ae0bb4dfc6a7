//! The kernels of both stages on a device, one job each, for curves (`ecm`), powers (`power`: P−1) and Lucas' sequences (`lucas`: P+1, and the
//! second stage of P−1).
//!
//! ```text
//! enter.rs    plain numbers become residues: the constants of a lane
//! suyama.rs   Suyama's curves from their parameters
//! ladder.rs   some bits of a ladder
//! power.rs    some bits of a power
//! leave.rs    numbers leave their form: the check of a ladder, the quotient X/Z
//! restart.rs  the residues of a first stage become the starts of the second one
//! invert.rs   inverses, and the divisors that have none
//! points.rs   baby steps and giant steps
//! batch.rs    many denominators with one inversion
//! pairs.rs    the products of pairs
//! verdict.rs  the end of a lane as a word
//! residues.rs residues of a lane, reduced or lazy
//! columns.rs  where the points of a second stage lie in memory
//! ```
//!
//! A lane has one row of each buffer. All lanes of a launch have moduli of as many limbs, a [`Class`].

mod batch;
mod columns;
mod enter;
mod invert;
mod ladder;
mod leave;
mod pairs;
mod points;
mod power;
mod residues;
mod restart;
mod suyama;
mod verdict;

use warpmp_kernel::build::{Builder, Emit, R32, R64};
use warpmp_kernel::ir::{Space, Vector};
use warpmp_launch::{Frame, Layout, Rows, Signature, Spec, Stage, piece};

use crate::factor::lane::Line;

pub(in crate::factor) use columns::SLOT_WORDS;
pub(in crate::factor) use enter::Given;

/// The numbers of a lane that stay.
///
/// | number | constant |
/// |---|---|
/// | 0 | `N` |
/// | 1 | the start's `x` |
/// | 2 | `d = (A + 2)/4` |
/// | 3 | `R² mod N` |
/// | 4 | 1 |
/// | 5 | the word `σ` |
///
/// Numbers 1, 2 and 4 are residues.
pub(in crate::factor) mod constant {
    pub(in crate::factor) const MODULUS: u32 = 0;
    pub(in crate::factor) const START: u32 = 1;
    pub(in crate::factor) const D: u32 = 2;
    pub(in crate::factor) const SQUARE: u32 = 3;
    pub(in crate::factor) const ONE: u32 = 4;
    pub(in crate::factor) const WORD: u32 = 5;
    pub(in crate::factor) const COUNT: u32 = 6;
}

/// The numbers of a lane that change: residues.
///
/// A ladder has its two points `(X : Z)` in four numbers that follow one another. A second stage has three points: the giant step
/// that is next, the one after it, and the distance; then the product. A point that is one number `V` leaves the second number of its two
/// unused.
pub(in crate::factor) mod state {
    pub(in crate::factor) const HERE: u32 = 0;
    pub(in crate::factor) const AFTER: u32 = 2;
    pub(in crate::factor) const STEP: u32 = 4;
    pub(in crate::factor) const PRODUCT: u32 = 8;
    pub(in crate::factor) const COUNT: u32 = 9;
}

/// The end of a lane: a word.
pub(in crate::factor) mod mark {
    pub(in crate::factor) const NOTHING: u32 = 0;
    /// The parameter gives no curve, or has shown a divisor.
    pub(in crate::factor) const FAULT: u32 = 1;
    /// The ladder did not pass its check.
    pub(in crate::factor) const SLIP: u32 = 2;
    /// A divisor by the first stage.
    pub(in crate::factor) const FIRST: u32 = 3;
    /// A divisor by the second stage alone.
    pub(in crate::factor) const SECOND: u32 = 4;
}

/// What lanes of a launch have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::factor) struct Class {
    /// Limbs of the modulus.
    pub(in crate::factor) limbs: u32,
    /// Have the moduli [`SPARE_BITS`] or more above them in their limbs? Then residues are not reduced.
    pub(in crate::factor) lazy: bool,
    /// Are the curves of the third family, `d = σ/2³²` with a word `σ`?
    pub(in crate::factor) word: bool,
    /// Do they start at 2?
    pub(in crate::factor) two: bool,
    /// The group. A second stage of powers is one of Lucas' sequences.
    pub(in crate::factor) line: Line,
    pub(in crate::factor) form: Form,
}

/// How the threads of a device compute a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::factor) struct Form {
    /// Threads of a warp that compute a lane together.
    pub(in crate::factor) threads: u32,
    /// Independent products that are made together, row by row. With several, a warp waits less for its own results, and takes the registers
    /// of several warps.
    pub(in crate::factor) together: usize,
}

impl Form {
    /// The form that takes the fewest instructions, for as many lanes as fill a device.
    pub(in crate::factor) const fn full(limbs: u32) -> Self {
        let usual = Self::usual(limbs);
        // Two threads of 16 limbs were faster than four threads of 8 limbs, on one H200 by 9 %.
        if limbs > Layout::THREAD_LIMBS && limbs <= 2 * Layout::THREAD_LIMBS {
            Self { threads: 2, ..usual }
        } else {
            usual
        }
    }

    /// The form of the usual layout.
    const fn usual(limbs: u32) -> Self {
        Self { threads: Layout::of(limbs).group, together: 1 }
    }

    pub(in crate::factor) const fn interleaves(self) -> bool {
        self.together > 1
    }

    /// Half warps that a scheduler needs to be busy: while one waits for its products, another makes its own. With fewer, more threads a lane are
    /// faster.
    ///
    /// On one H200, curves modulo 1024 bits: 8448 curves take 2.39 s with 4 threads each, two warps a scheduler. With 8 threads each, 4480 curves take
    /// 2.26 s, three warps on some schedulers, and 8447 curves 2.93 s, four warps. So 4 threads are faster from one and a half warps on. 2111 curves
    /// take 1.11 s with 16 threads each.
    pub(in crate::factor) const fn busy_half_warps(self, limbs: u32) -> u32 {
        // With more threads, or where one thread could hold the number, the exchange between threads takes the gain of a second warp.
        if limbs <= Layout::THREAD_LIMBS || limbs.div_ceil(self.threads) <= 4 {
            2
        } else if self.interleaves() {
            3
        } else {
            4
        }
    }

    /// The full form, then forms with ever more threads a lane, for fewer lanes.
    pub(in crate::factor) fn all(limbs: u32) -> impl Iterator<Item = Self> {
        let least = limbs.div_ceil(INTERLEAVED_LIMBS).next_power_of_two();
        let threads = std::iter::successors(Some(least), |threads| Some(2 * threads));
        let has_few = limbs > INTERLEAVED_LIMBS && limbs <= 2 * Layout::THREAD_LIMBS;
        let few = threads.take_while(move |threads| has_few && *threads <= limbs / LEAST_LIMBS);
        std::iter::once(Self::full(limbs)).chain(few.map(|threads| Self { threads, together: TOGETHER }))
    }
}

/// Fewest limbs of a thread where several compute a lane. Below, the exchange between threads takes longer than the products.
const LEAST_LIMBS: u32 = 2;
/// Products that are made together at the most.
const TOGETHER: usize = 4;
/// Most limbs of a thread whose products are interleaved: four products take about 22 registers for each limb.
const INTERLEAVED_LIMBS: u32 = 8;

/// Bits that lazy residues need above the modulus; see `residues.rs`.
const SPARE_BITS: u32 = 5;

impl Class {
    /// The longest moduli: a group of 32 lanes holds them.
    pub(in crate::factor) const MOST_BITS: u64 = 16_384;

    /// The class of curves modulo integers of so many bits.
    pub(in crate::factor) const fn of(bits: u64, word: bool, two: bool) -> Self {
        let limbs = (bits as u32).div_ceil(32);
        let lazy = 32 * limbs >= bits as u32 + SPARE_BITS;
        Self { limbs, lazy, word, two, line: Line::Curve, form: Form::full(limbs) }
    }

    /// The class of a group modulo integers of so many bits.
    pub(in crate::factor) const fn of_line(bits: u64, line: Line) -> Self {
        Self { line, ..Self::of(bits, false, false) }
    }

    /// The class in the second stage: curves start at the residues of the first stage, and powers become sequences of Lucas.
    pub(in crate::factor) const fn after(self) -> Self {
        let line = match self.line {
            Line::Curve => Line::Curve,
            Line::Lucas | Line::Power => Line::Lucas,
        };
        Self { two: false, line, ..self }
    }

    /// Wide products of a product, about.
    pub(in crate::factor) fn product(self) -> f64 {
        2.0 * f64::from(self.limbs).powi(2)
    }

    /// Has it the form of fewer lanes than fill a device? Then launches take turns, see [`turned_control`].
    pub(in crate::factor) fn is_few(self) -> bool {
        self.form != Form::full(self.limbs)
    }

    /// How the numbers lie in the lanes of a group.
    pub(in crate::factor) fn layout(self) -> Layout {
        let layout = Layout::of_group(self.form.threads).of_lanes(self.limbs, Layout::LANE_LIMBS);
        // Blocks of one warp: few of them divide more evenly among the schedulers.
        if self.is_few() { Layout { warps: 1, ..layout } } else { layout }
    }

    /// The same for inversions, which need a limb more. It does not depend on the form.
    const fn inversion_layout(self) -> Layout {
        Layout::of(self.limbs + 1)
    }

    /// The rows that a lane has of each kind.
    fn rows(self, numbers: u32) -> Rows {
        Rows::each(numbers * self.limbs)
    }

    /// The end of a kernel's name.
    fn name(self) -> String {
        let Self { limbs, lazy, word, two, line: _, form } = self;
        let part = |holds: bool, name: &'static str| if holds { name } else { "" };
        let class = format!("_{limbs}{}{}{}", part(lazy, "_lazy"), part(word, "_word"), part(two, "_two"));
        if form == Form::usual(limbs) {
            return class;
        }
        format!(
            "{class}_t{}{}",
            form.threads,
            if form.interleaves() { format!("_i{}", form.together) } else { String::new() }
        )
    }
}

/// The kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::factor) enum Job {
    /// `plain (N, x and d or a word σ) → constants, state, found`.
    Enter,
    /// `plain (N, σ) → constants, state, found`: of Suyama's curves.
    SuyamaEnter,
    /// `constants → total`: the denominators of Suyama's curves, from the parameter in the place of `d`.
    SuyamaBottom,
    /// `total, found → constants, status`: `d` and the start from the inverse of the denominators; is there no curve?
    SuyamaStart,
    /// `constants, control (bit, bits, begins), exponent → state`. Launches take turns.
    Ladder,
    /// `constants, state → total, status`: the denominator of the first point, plain; does the ladder pass its check?
    Check,
    /// `constants → total, found`: the inverse of the total; 1 and a divisor if there is none.
    Invert,
    /// `constants, state, total → residue`: `X·total`.
    Quotient,
    /// `residue, total → constants, found`: the start of the second stage; nothing found.
    Restart,
    /// `constants, control (slots, points, x, z, begins), gaps, columns → state`: the next baby steps.
    Babies,
    /// `constants, control (slots, points, x, z, before, first word of the pairs), columns → state`: giant steps. These and the next three kernels
    /// have the same control words, and take turns together.
    Giants,
    /// `constants, control, columns → total`: the product of denominators.
    Denominators,
    /// `constants, control, columns, total → state`: the points' `x`.
    Normalise,
    /// `constants, control, pairs, columns → state`.
    Pairs,
    /// `constants, state → total`: the product, plain.
    Product,
    /// `found (first), found (second), status (curve), status (check) → mark`.
    Verdict,
}

impl Job {
    /// The kernels of a first stage, and of the change to the second one.
    pub(in crate::factor) const fn first(line: Line) -> &'static [Self] {
        match line {
            Line::Curve => &[
                Self::Enter,
                Self::SuyamaEnter,
                Self::SuyamaBottom,
                Self::SuyamaStart,
                Self::Ladder,
                Self::Check,
                Self::Invert,
                Self::Quotient,
                Self::Restart,
                Self::Verdict,
            ],
            Line::Lucas | Line::Power => {
                &[Self::Enter, Self::Ladder, Self::Check, Self::Invert, Self::Quotient, Self::Restart, Self::Verdict]
            }
        }
    }

    /// The kernels of a second stage, for the class [after](Class::after) the first one.
    pub(in crate::factor) const fn second(line: Line) -> &'static [Self] {
        match line {
            Line::Curve => &[
                Self::Ladder,
                Self::Invert,
                Self::Babies,
                Self::Giants,
                Self::Denominators,
                Self::Normalise,
                Self::Pairs,
                Self::Product,
                Self::Verdict,
            ],
            Line::Lucas | Line::Power => {
                &[Self::Ladder, Self::Invert, Self::Babies, Self::Giants, Self::Pairs, Self::Product, Self::Verdict]
            }
        }
    }

    /// The kernels that only Suyama's curves need.
    pub(in crate::factor) const OF_SUYAMA: &[Self] = &[Self::SuyamaEnter, Self::SuyamaBottom, Self::SuyamaStart];
}

/// A kernel for a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::factor) struct Kernel {
    job: Job,
    class: Class,
}

impl Spec for Kernel {
    fn name(&self) -> String {
        let line = match self.class.line {
            Line::Curve => "ecm",
            Line::Lucas => "lucas",
            Line::Power => "power",
        };
        let job = match self.job {
            Job::Enter => "enter",
            Job::SuyamaEnter => "suyama_enter",
            Job::SuyamaBottom => "suyama_bottom",
            Job::SuyamaStart => "suyama_start",
            Job::Ladder => "ladder",
            Job::Check => "check",
            Job::Invert => "invert",
            Job::Quotient => "quotient",
            Job::Restart => "restart",
            Job::Babies => "babies",
            Job::Giants => "giants",
            Job::Denominators => "denominators",
            Job::Normalise => "normalise",
            Job::Pairs => "pairs",
            Job::Product => "product",
            Job::Verdict => "verdict",
        };
        format!("{line}_{job}{}", self.class.name())
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        let class = self.class;
        let [one, constants, state] = [1, constant::COUNT, state::COUNT].map(|numbers| class.rows(numbers));
        let word = Rows::common(1);
        let (operands, results) = match self.job {
            Job::Enter | Job::SuyamaEnter => {
                let row = self.given().row_limbs(class.limbs);
                (vec![Rows::each(row)], vec![constants.limbs, state.limbs, one.limbs])
            }
            Job::SuyamaBottom => (vec![constants], vec![one.limbs]),
            Job::SuyamaStart => (vec![one, one], vec![constants.limbs]),
            Job::Ladder | Job::Giants => (vec![constants, word, word], vec![state.limbs]),
            Job::Check | Job::Product => (vec![constants, state], vec![one.limbs]),
            Job::Invert => (vec![constants], vec![one.limbs, one.limbs]),
            Job::Quotient => (vec![constants, state, one], vec![one.limbs]),
            Job::Restart => (vec![one, one], vec![constants.limbs, one.limbs]),
            Job::Babies | Job::Pairs => (vec![constants, word, word, word], vec![state.limbs]),
            Job::Denominators => (vec![constants, word, word], vec![one.limbs]),
            Job::Normalise => (vec![constants, word, word, one], vec![state.limbs]),
            Job::Verdict => (vec![one, one, Rows::each(1), Rows::each(1)], vec![]),
        };
        let signature = Signature::new(operands, results);
        let has_status = matches!(self.job, Job::Check | Job::SuyamaStart | Job::Verdict);
        let signature = if has_status { signature.with_status() } else { signature };
        let layout = if self.job == Job::Invert { class.inversion_layout() } else { class.layout() };
        vec![layout.stage(self.name(), signature, move |b, frame| self.body(b, frame))]
    }
}

impl Kernel {
    /// The kernel of a job. Inversions have one form.
    pub(in crate::factor) const fn new(job: Job, class: Class) -> Self {
        let form = if matches!(job, Job::Invert) { Form::usual(class.limbs) } else { class.form };
        Self { job, class: Class { form, ..class } }
    }

    pub(in crate::factor) const fn job(self) -> Job {
        self.job
    }

    /// What the rows of lanes have that enter.
    fn given(&self) -> Given {
        match (self.job, self.class.word) {
            (Job::SuyamaEnter, _) => Given::Sigma,
            (_, true) => Given::Word,
            (_, false) => Given::Point,
        }
    }

    fn body(&self, b: &mut Builder, frame: &Frame) {
        let class = self.class;
        match self.job {
            Job::Enter | Job::SuyamaEnter => enter::body(b, frame, class, self.given()),
            Job::SuyamaBottom => suyama::bottom(b, frame, class),
            Job::SuyamaStart => suyama::start(b, frame, class),
            Job::Ladder if class.line == Line::Power => power::body(b, frame, class),
            Job::Ladder => ladder::body(b, frame, class),
            Job::Check => leave::check(b, frame, class),
            Job::Invert => invert::body(b, frame, class),
            Job::Quotient => leave::quotient(b, frame, class),
            Job::Restart => restart::body(b, frame, class),
            Job::Babies => points::babies(b, frame, class),
            Job::Giants => points::giants(b, frame, class),
            Job::Denominators => batch::denominators(b, frame, class),
            Job::Normalise => batch::normalise(b, frame, class),
            Job::Pairs => pairs::body(b, frame, class),
            Job::Product => leave::product(b, frame, class),
            Job::Verdict => verdict::body(b, frame),
        }
    }
}

/// A number of an operand's row.
fn load(b: &mut Builder, frame: &Frame, class: Class, operand: usize, number: u32) -> Vec<R32> {
    frame.load_part(b, operand, number * class.limbs, class.limbs)
}

/// A number of a row that this kernel also writes.
fn load_number(b: &mut Builder, frame: &Frame, class: Class, row: R64, number: u32) -> Vec<R32> {
    frame.read(b, row, number * class.limbs, class.limbs, piece(class.limbs))
}

/// Stores a number of a row.
fn store_number(b: &mut Builder, frame: &Frame, class: Class, row: R64, number: u32, value: &[R32]) {
    let at = b.add64(row, u64::from(4 * number * class.limbs));
    frame.write(b, at, class.limbs, piece(class.limbs), value);
}

/// The control words of a launch, in an operand.
fn control<const WORDS: usize>(b: &mut Builder, frame: &Frame, operand: usize) -> [R32; WORDS] {
    let row = frame.operand_row(b, operand);
    words(b, row)
}

fn words<const WORDS: usize>(b: &mut Builder, address: R64) -> [R32; WORDS] {
    std::array::from_fn(|i| b.load_global(Space::GlobalConst, Vector::V1, address, 4 * i as u32)[0])
}

/// The control words of a launch that may take its turn, and its frame. In turns, the first lane and the number of lanes stand before them, and
/// after them the words for the lanes after the last lane.
fn turned_control<const WORDS: usize>(b: &mut Builder, frame: &Frame, class: Class) -> (Frame, [R32; WORDS]) {
    if !class.is_few() {
        return (frame.clone(), control(b, frame, 1));
    }
    let [first, lanes] = control(b, frame, 1);
    let (frame, turn) = class.layout().turned(b, frame, first, lanes);
    let row = frame.operand_row(b, 1);
    let row = b.mad_wide(turn, 4 * WORDS as u32, row);
    let row = b.add64(row, 8_u64);
    (frame, words(b, row))
}
