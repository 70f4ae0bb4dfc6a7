//! Residues of a lane: reduced, or lazy where the limbs have bits to spare.
//!
//! A *residue* is what [`mul`](Residues::mul), [`square`](Residues::square) and [`fold`](Residues::fold) give, a *sum* what
//! [`add`](Residues::add) and [`sub`](Residues::sub) give. Both may be factors; a sum is never a term of a sum.
//!
//! bound: reduced, all are below `N`. Lazy, `R ≥ 32N`: residues are below `2N`, sums below `4N`, [`by_word`](Residues::by_word) of a sum
//! is below `5N` and its sum with a residue below `7N`; so a product is below `4N·7N/R + N < 2N`.

use warpmp_kernel::build::{Builder, Emit, R32};
use warpmp_kernel::fragment::{Montgomery, Spread, Sum, Term};
use warpmp_kernel::ir::{Space, Vector};
use warpmp_launch::Frame;

use super::{Class, constant, load};

pub(super) struct Residues {
    pub(super) ring: Montgomery,
    lazy: bool,
    /// Products that are made together.
    together: usize,
    /// `2N`, if it stays in registers: in a group of lanes registers are short.
    twice: Option<Vec<R32>>,
}

impl Residues {
    /// The residues of a kernel whose first operand are the constants.
    pub(super) fn new(b: &mut Builder, frame: &Frame, class: Class) -> Self {
        let modulus = load(b, frame, class, 0, constant::MODULUS);
        Self::modulo(b, frame.spread, &modulus, class)
    }

    /// The residues of a modulus.
    pub(super) fn modulo(b: &mut Builder, spread: Spread, modulus: &[R32], class: Class) -> Self {
        let ring = Montgomery::new(b, spread, modulus, class.limbs as usize);
        let ring = Montgomery { spare: class.lazy && spread.group == 1, ..ring };
        let kept = class.lazy && spread.group == 1;
        let twice = kept.then(|| spread.double(b, modulus).0);
        Self { ring, lazy: class.lazy, together: class.form.together, twice }
    }

    pub(super) fn mul(&self, b: &mut Builder, x: &[R32], y: &[R32]) -> Vec<R32> {
        if self.lazy { self.ring.mul_lazy(b, x, y).0 } else { self.ring.mul(b, x, y) }
    }

    pub(super) fn square(&self, b: &mut Builder, x: &[R32]) -> Vec<R32> {
        if self.lazy { self.ring.sqr_lazy(b, x).0 } else { self.ring.sqr(b, x) }
    }

    /// Several products and squares, as many together as the class's form says.
    pub(super) fn all<const COUNT: usize>(&self, b: &mut Builder, terms: [Term<'_>; COUNT]) -> [Vec<R32>; COUNT] {
        let mut all = Vec::new();
        for terms in terms.chunks(self.together) {
            if self.lazy {
                all.extend(self.ring.all_lazy(b, terms).into_iter().map(|(limbs, _)| limbs));
            } else {
                all.extend(self.ring.all(b, terms));
            }
        }
        array(all)
    }

    /// Several sums, in turns.
    pub(super) fn sums<const COUNT: usize>(&self, b: &mut Builder, sums: [Sum<'_>; COUNT]) -> [Vec<R32>; COUNT] {
        if !self.lazy {
            return array(self.ring.sums(b, &sums));
        }
        let spread = &self.ring.spread;
        let twice = self.twice(b);
        let raised = sums.map(|sum| match sum {
            Sum::Add(..) => sum,
            Sum::Sub(x, _) => Sum::Add(x, &twice),
        });
        let raised = spread.sums(b, &raised);
        let differences: Vec<Sum<'_>> = raised
            .iter()
            .zip(&sums)
            .filter_map(|((raised, _), sum)| match *sum {
                Sum::Add(..) => None,
                Sum::Sub(_, y) => Some(Sum::Sub(raised, y)),
            })
            .collect();
        let mut differences = spread.sums(b, &differences).into_iter();
        let all = raised.iter().zip(&sums).map(|((raised, _), sum)| match sum {
            Sum::Add(..) => raised.clone(),
            Sum::Sub(..) => differences.next().map(|(limbs, _)| limbs).unwrap_or_default(),
        });
        array(all.collect())
    }

    /// `x·word/2³²`: one row of a product.
    pub(super) fn by_word(&self, b: &mut Builder, x: &[R32], word: R32) -> Vec<R32> {
        let row = Montgomery { rows: 1, ..self.ring.clone() };
        let factor: Vec<R32> = x.iter().map(|_| word).collect();
        if self.lazy { row.mul_lazy(b, x, &factor).0 } else { row.mul(b, x, &factor) }
    }

    pub(super) fn add(&self, b: &mut Builder, x: &[R32], y: &[R32]) -> Vec<R32> {
        if self.lazy { self.ring.spread.add(b, x, y).0 } else { self.ring.add(b, x, y) }
    }

    pub(super) fn sub(&self, b: &mut Builder, x: &[R32], y: &[R32]) -> Vec<R32> {
        if !self.lazy {
            return self.ring.sub(b, x, y);
        }
        let twice = self.twice(b);
        let raised = self.ring.spread.add(b, x, &twice).0;
        self.ring.spread.sub(b, &raised, y).0
    }

    /// A sum becomes a residue.
    pub(super) fn fold(&self, b: &mut Builder, x: &[R32]) -> Vec<R32> {
        if !self.lazy {
            return x.to_vec();
        }
        let twice = self.twice(b);
        self.below(b, x, &twice)
    }

    /// `2N`.
    fn twice(&self, b: &mut Builder) -> Vec<R32> {
        self.twice.clone().unwrap_or_else(|| self.ring.spread.double(b, &self.ring.modulus).0)
    }

    /// The number below the modulus that a residue stands for.
    pub(super) fn plain(&self, b: &mut Builder, x: &[R32]) -> Vec<R32> {
        self.ring.redc(b, x, None)
    }

    /// A residue, below the modulus.
    pub(super) fn canonical(&self, b: &mut Builder, x: &[R32]) -> Vec<R32> {
        if self.lazy { self.below(b, x, &self.ring.modulus) } else { x.to_vec() }
    }

    fn below(&self, b: &mut Builder, x: &[R32], modulus: &[R32]) -> Vec<R32> {
        let none = b.copy(0);
        self.ring.spread.reduce_once(b, x, none, modulus)
    }
}

/// As many numbers as the array has.
fn array<const COUNT: usize>(numbers: Vec<Vec<R32>>) -> [Vec<R32>; COUNT] {
    let mut numbers = numbers.into_iter();
    std::array::from_fn(|_| numbers.next().unwrap_or_default())
}

/// How a curve's kernels multiply by `d` and by the start.
pub(super) struct Parameters {
    pub(super) d: Coefficient,
    /// None: 2.
    pub(super) start: Option<Vec<R32>>,
}

/// `d`.
pub(super) enum Coefficient {
    Residue(Vec<R32>),
    /// `σ/2³²`.
    Word(R32),
}

impl Parameters {
    pub(super) fn new(b: &mut Builder, frame: &Frame, class: Class) -> Self {
        let d = if class.word {
            let row = frame.operand_row(b, 0);
            let at = 4 * constant::WORD * class.limbs;
            Coefficient::Word(b.load_global(Space::Global, Vector::V1, row, at)[0])
        } else {
            Coefficient::Residue(load(b, frame, class, 0, constant::D))
        };
        Self { d, start: (!class.two).then(|| load(b, frame, class, 0, constant::START)) }
    }

    /// `d·x` for a sum, to be added to a residue.
    pub(super) fn by_d(&self, b: &mut Builder, residues: &Residues, x: &[R32]) -> Vec<R32> {
        match &self.d {
            Coefficient::Residue(d) => residues.mul(b, x, d),
            Coefficient::Word(word) => residues.by_word(b, x, *word),
        }
    }

    /// The start's `x` times a residue.
    pub(super) fn by_start(&self, b: &mut Builder, residues: &Residues, x: &[R32]) -> Vec<R32> {
        if let Some(start) = &self.start {
            return residues.mul(b, x, start);
        }
        let twice = residues.add(b, x, x);
        residues.fold(b, &twice)
    }
}
