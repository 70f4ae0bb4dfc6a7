//! The numbers that are transformed.

use warpmp_kernel::build::{Builder, R32, R64};

use super::Place;
use super::layout::Layout;

/// A ring in which 2, 4, 8 … points have transforms. It writes the instructions for its numbers.
pub(in crate::kernels) trait Ring: Copy {
    /// A number in registers.
    type Point: Copy;
    /// A root of unity, with what its products need, and its multiple by `i`, the root of a quarter of a turn.
    type Root: Copy;

    /// Bytes of a point in memory.
    const POINT_BYTES: u32;

    /// Loads neighbouring points from shared memory, whose number is a power of two.
    fn load(self, b: &mut Builder, address: R32, offset: u32, count: u32) -> Vec<Self::Point>;

    /// Stores neighbouring points to shared memory.
    fn store(self, b: &mut Builder, address: R32, offset: u32, points: &[Self::Point]);

    /// Loads `count` roots of the table that are `stride` roots apart.
    fn load_roots(self, b: &mut Builder, from: R64, first: u32, stride: u32, count: u32) -> Vec<Self::Root>;

    /// `i` times a root.
    fn times_i(self, root: Self::Root) -> Self::Root;

    /// `−i` times a root.
    fn over_i(self, root: Self::Root) -> Self::Root;

    /// `(x + w·y, x − w·y)`.
    fn butterfly(self, b: &mut Builder, w: Self::Root, points: [Self::Point; 2]) -> [Self::Point; 2];

    /// The products of two pairs of points that are neighbours, as [`inverse_of_points`](Self::inverse_of_points) takes them.
    fn products(self, b: &mut Builder, factors: [[Self::Point; 2]; 2]) -> [Self::Point; 2];

    /// As [`products`](Self::products), the squares of two points.
    fn squares(self, b: &mut Builder, points: [Self::Point; 2]) -> [Self::Point; 2];

    /// The inverse transform of the 16 neighbouring points of a thread, from their products.
    fn inverse_of_points(self, b: &mut Builder, layout: Layout, place: &Place, x: &mut [Self::Point]);
}
