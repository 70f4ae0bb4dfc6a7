//! Residues of a lane: reduced, or lazy where the limbs have bits to spare.
//!
//! A *residue* is what [`mul`](Residues::mul), [`square`](Residues::square) and [`fold`](Residues::fold) give, a *sum* what
//! [`add`](Residues::add) and [`sub`](Residues::sub) give. Both may be factors; a sum is never a term of a sum.
//!
//! bound: reduced, all are below `N`. Lazy, `R ≥ 32N`: residues are below `2N`, sums below `4N`, [`by_word`](Residues::by_word) of a sum
//! is below `5N` and its sum with a residue below `7N`; so a product is below `4N·7N/R + N < 2N`.

use warpmp_kernel::build::{Builder, Emit, R32};
use warpmp_kernel::fragment::{Montgomery, Spread};
use warpmp_kernel::ir::{Space, Vector};
use warpmp_launch::Frame;

use super::{Class, constant, load};

pub(super) struct Residues {
    pub(super) ring: Montgomery,
    lazy: bool,
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
        Self { ring, lazy: class.lazy, twice }
    }

    pub(super) fn mul(&self, b: &mut Builder, x: &[R32], y: &[R32]) -> Vec<R32> {
        if self.lazy { self.ring.mul_lazy(b, x, y).0 } else { self.ring.mul(b, x, y) }
    }

    pub(super) fn square(&self, b: &mut Builder, x: &[R32]) -> Vec<R32> {
        if self.lazy { self.ring.sqr_lazy(b, x).0 } else { self.ring.sqr(b, x) }
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

/// How a curve's kernels multiply by `d` and by the start.
pub(super) struct Parameters {
    d: Coefficient,
    /// None: 2.
    start: Option<Vec<R32>>,
}

/// `d`.
enum Coefficient {
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
