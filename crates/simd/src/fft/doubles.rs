//! The instructions that the transform is written in: vectors of doubles.

use std::fmt::Debug;

use super::digits::Window;
use super::table::Tables;
use crate::simd::{MAX_LANES, sealed::Sealed};

/// An instruction set for doubles, with fused multiply-add: a value of the type proves that the processor has it.
///
/// Every method rounds once, to the nearest double.
pub trait Doubles: Copy + Debug + Send + Sync + Sealed + 'static {
    /// One double for each lane.
    type Vector: Copy + Debug + Send + Sync + 'static;

    /// Lanes of a vector: 4 or 8.
    const LANES: usize;

    /// A proof, if this processor has the instructions.
    fn find() -> Option<Self>;

    /// The tables of roots for vectors of this set.
    fn tables() -> &'static Tables<Self>;

    /// Calls a function that is compiled with the instructions. Only a closure marked `#[inline(always)]` gains by it.
    fn compiled<R>(self, function: impl FnOnce() -> R) -> R;

    /// The same double in every lane.
    fn all(self, x: f64) -> Self::Vector;
    /// One double for each lane; doubles beyond the last lane are dropped.
    fn lanes_of(self, x: [f64; MAX_LANES]) -> Self::Vector;
    /// The bits of all lanes, and zeros beyond the last lane.
    fn bits(self, x: Self::Vector) -> [u64; MAX_LANES];

    /// `a + b`.
    fn plus(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// `a − b`.
    fn minus(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// `a·b`.
    fn times(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// `a·b + c`.
    fn times_plus(self, a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector;
    /// `a·b − c`.
    fn times_minus(self, a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector;
    /// `c − a·b`.
    fn minus_times(self, a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector;

    /// Rows become columns.
    ///
    /// # Panics
    /// With fewer than [`LANES`](Self::LANES) vectors.
    fn transpose(self, rows: &mut [Self::Vector]);

    /// As many balanced digits as there are lanes, one after the other, as doubles: see [`Window`]. `odd`: the second
    /// half of eight digits, for sets of four lanes.
    fn digits(self, bytes: &[u8; 32], window: &Window, odd: bool) -> Self::Vector;
}

/// A complex number for each lane.
#[derive(Clone, Copy, Debug)]
pub(super) struct Complex<V> {
    pub(super) re: V,
    pub(super) im: V,
}

/// Arithmetic on complex numbers. Products are `fl(fl(…) ± …)` with one fused operation a part.
pub(super) trait ComplexDoubles: Doubles {
    #[inline(always)]
    fn sum(self, x: Complex<Self::Vector>, y: Complex<Self::Vector>) -> Complex<Self::Vector> {
        Complex { re: self.plus(x.re, y.re), im: self.plus(x.im, y.im) }
    }

    #[inline(always)]
    fn difference(self, x: Complex<Self::Vector>, y: Complex<Self::Vector>) -> Complex<Self::Vector> {
        Complex { re: self.minus(x.re, y.re), im: self.minus(x.im, y.im) }
    }

    /// `x + i·y`.
    #[inline(always)]
    fn plus_i(self, x: Complex<Self::Vector>, y: Complex<Self::Vector>) -> Complex<Self::Vector> {
        Complex { re: self.minus(x.re, y.im), im: self.plus(x.im, y.re) }
    }

    /// `x − i·y`.
    #[inline(always)]
    fn minus_i(self, x: Complex<Self::Vector>, y: Complex<Self::Vector>) -> Complex<Self::Vector> {
        Complex { re: self.plus(x.re, y.im), im: self.minus(x.im, y.re) }
    }

    /// `x·w`.
    #[inline(always)]
    fn product(self, x: Complex<Self::Vector>, w: Complex<Self::Vector>) -> Complex<Self::Vector> {
        Complex {
            re: self.times_minus(x.re, w.re, self.times(x.im, w.im)),
            im: self.times_plus(x.re, w.im, self.times(x.im, w.re)),
        }
    }

    /// `x·w̄`.
    #[inline(always)]
    fn product_conjugate(self, x: Complex<Self::Vector>, w: Complex<Self::Vector>) -> Complex<Self::Vector> {
        Complex {
            re: self.times_plus(x.re, w.re, self.times(x.im, w.im)),
            im: self.times_minus(x.im, w.re, self.times(x.re, w.im)),
        }
    }

    #[inline(always)]
    fn nothing(self) -> Complex<Self::Vector> {
        let zero = self.all(0.0);
        Complex { re: zero, im: zero }
    }
}

impl<S: Doubles> ComplexDoubles for S {}
