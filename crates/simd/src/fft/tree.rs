//! The steps by four: a part of `4^k` vectors, down the tree and back.
//!
//! A long part goes depth first: after a step its quarters are finished one after the other, in the cache.

use super::butterfly::four;
use super::doubles::{Complex, ComplexDoubles, Doubles};
use super::table::Node;

/// Vectors of a block that is finished step by step: it stays in the first-level cache.
const LEAF: usize = 256;

/// The tables of the steps, the first step first, and how many vectors the part has.
pub(super) type Levels<'t, S> = &'t [&'t [Node<<S as Doubles>::Vector>]];

/// Down the tree: `block` is node `node` of step 0 of `levels`.
pub(super) fn forward<S: Doubles>(s: S, block: &mut [Complex<S::Vector>], levels: Levels<'_, S>, node: usize) {
    if block.len() <= LEAF {
        return s.compiled(
            #[inline(always)]
            || {
                let mut nodes = 1;
                for table in levels {
                    let roots = &table[node * nodes..][..nodes];
                    step_forward(s, block, roots);
                    nodes *= 4;
                }
            },
        );
    }
    let Some((table, below)) = levels.split_first() else { return };
    s.compiled(
        #[inline(always)]
        || step_forward(s, block, &table[node..=node]),
    );
    let quarter = block.len() / 4;
    for (child, block) in block.chunks_exact_mut(quarter).enumerate() {
        forward(s, block, below, 4 * node + child);
    }
}

/// Up the tree, the inverse of [`forward`] but for a factor.
pub(super) fn backward<S: Doubles>(s: S, block: &mut [Complex<S::Vector>], levels: Levels<'_, S>, node: usize) {
    if block.len() <= LEAF {
        return s.compiled(
            #[inline(always)]
            || {
                let mut nodes = block.len() / 4;
                for table in levels.iter().rev() {
                    let roots = &table[node * nodes..][..nodes];
                    step_backward(s, block, roots);
                    nodes /= 4;
                }
            },
        );
    }
    let Some((table, below)) = levels.split_first() else { return };
    let quarter = block.len() / 4;
    for (child, block) in block.chunks_exact_mut(quarter).enumerate() {
        backward(s, block, below, 4 * node + child);
    }
    s.compiled(
        #[inline(always)]
        || step_backward(s, block, &table[node..=node]),
    );
}

/// Each node of a block to its four children.
#[inline(always)]
fn step_forward<S: Doubles>(s: S, block: &mut [Complex<S::Vector>], roots: &[Node<S::Vector>]) {
    let size = block.len() / roots.len();
    if size == 4 {
        for (x, roots) in block.as_chunks_mut::<4>().0.iter_mut().zip(roots) {
            let products = [x[0], s.product(x[1], roots[0]), s.product(x[2], roots[1]), s.product(x[3], roots[2])];
            *x = four::<S, false>(s, products);
        }
        return;
    }
    for (block, roots) in block.chunks_exact_mut(size).zip(roots) {
        let (low, high) = block.split_at_mut(size / 2);
        let (x0, x1) = low.split_at_mut(size / 4);
        let (x2, x3) = high.split_at_mut(size / 4);
        let [c1, c2, c3] = *roots;
        for (((x0, x1), x2), x3) in x0.iter_mut().zip(x1).zip(x2).zip(x3) {
            let products = [*x0, s.product(*x1, c1), s.product(*x2, c2), s.product(*x3, c3)];
            [*x0, *x1, *x2, *x3] = four::<S, false>(s, products);
        }
    }
}

/// Four children each to their node.
#[inline(always)]
fn step_backward<S: Doubles>(s: S, block: &mut [Complex<S::Vector>], roots: &[Node<S::Vector>]) {
    let size = block.len() / roots.len();
    if size == 4 {
        for (x, roots) in block.as_chunks_mut::<4>().0.iter_mut().zip(roots) {
            let [y0, y1, y2, y3] = four::<S, true>(s, *x);
            *x = [
                y0,
                s.product_conjugate(y1, roots[0]),
                s.product_conjugate(y2, roots[1]),
                s.product_conjugate(y3, roots[2]),
            ];
        }
        return;
    }
    for (block, roots) in block.chunks_exact_mut(size).zip(roots) {
        let (low, high) = block.split_at_mut(size / 2);
        let (x0, x1) = low.split_at_mut(size / 4);
        let (x2, x3) = high.split_at_mut(size / 4);
        let [c1, c2, c3] = *roots;
        for (((x0, x1), x2), x3) in x0.iter_mut().zip(x1).zip(x2).zip(x3) {
            let [y0, y1, y2, y3] = four::<S, true>(s, [*x0, *x1, *x2, *x3]);
            *x0 = y0;
            *x1 = s.product_conjugate(y1, c1);
            *x2 = s.product_conjugate(y2, c2);
            *x3 = s.product_conjugate(y3, c3);
        }
    }
}
