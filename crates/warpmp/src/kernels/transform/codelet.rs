//! Codelets: transforms of 2 to 16 points in registers.
//!
//! A butterfly computes `a + w·b` and `a − w·b`. Forward codelets go down a tree: `x^{2h} − c² = (x^h − c)(x^h + c)`. Inverse
//! codelets take the points in the order of the leaves and give coefficients in their own order (decimation in time).

use warpmp_kernel::build::Builder;

use super::ring::Ring;

/// The remainders of a polynomial of 2, 4, 8 or 16 terms modulo the leaves below a node. `roots`: see
/// [`tree_roots`](super::angle::tree_roots).
pub(in crate::kernels) fn forward<R: Ring>(b: &mut Builder, ring: R, x: &mut [R::Point], roots: &[R::Root]) {
    for level in 0..x.len().ilog2() {
        forward_level(b, ring, x, roots, level);
    }
}

/// A level of [`forward`], with the roots of all levels.
pub(in crate::kernels) fn forward_level<R: Ring>(
    b: &mut Builder,
    ring: R,
    x: &mut [R::Point],
    roots: &[R::Root],
    level: u32,
) {
    let first = roots_of_level(level).0 as usize;
    let half = x.len() >> (level + 1);
    for (node, points) in x.chunks_mut(2 * half).enumerate() {
        let root = roots[first + node / 2];
        let root = if node % 2 == 0 { root } else { ring.times_i(root) };
        for i in 0..half {
            [points[i], points[i + half]] = ring.butterfly(b, root, [points[i], points[i + half]]);
        }
    }
}

/// Joins 2, 4, 8 or 16 transforms, of which it takes a coefficient each. `roots`: see
/// [`inverse_roots`](super::angle::inverse_roots).
pub(in crate::kernels) fn inverse<R: Ring>(b: &mut Builder, ring: R, x: &mut [R::Point], roots: &[R::Root]) {
    for level in 0..x.len().ilog2() {
        let (before, count) = roots_of_level(level);
        inverse_level(b, ring, x, &roots[before as usize..(before + count) as usize], level);
    }
}

/// How many roots a codelet has for the levels before this one, and for this one.
pub(in crate::kernels) const fn roots_of_level(level: u32) -> (u32, u32) {
    if level == 0 { (0, 1) } else { (1 << (level - 1), 1 << (level - 1)) }
}

/// A level of [`inverse`], with its own roots.
pub(in crate::kernels) fn inverse_level<R: Ring>(
    b: &mut Builder,
    ring: R,
    x: &mut [R::Point],
    roots: &[R::Root],
    level: u32,
) {
    join_pairs(x, level, |i, pair| ring.butterfly(b, inverse_root(ring, roots, i), pair));
}

/// Replaces the points of a level of [`inverse`] by what `join` makes of each two of them. Its first argument is the number of the root.
pub(in crate::kernels) fn join_pairs<P: Copy>(x: &mut [P], level: u32, mut join: impl FnMut(usize, [P; 2]) -> [P; 2]) {
    let pairs = 1_usize << level;
    for points in x.chunks_mut(2 * pairs) {
        for i in 0..pairs {
            [points[i], points[i + pairs]] = join(i, [points[i], points[i + pairs]]);
        }
    }
}

/// Root `i` of a level of [`inverse`], by the roots of the level's first half.
pub(in crate::kernels) fn inverse_root<R: Ring>(ring: R, roots: &[R::Root], i: usize) -> R::Root {
    match roots.get(i) {
        Some(root) => *root,
        None => ring.over_i(roots[i - roots.len()]),
    }
}
