//! Tables of roots: for each split and each step by four, made when they are first needed and kept.
//!
//! A node's angle `a` means the polynomial `x^n − e^(2πi·a)`. Its `r` children have the angles `(a + j)/r`. The tree begins at
//! a quarter of a turn, `x^d − i`. Lane `l` of a part is a child of the part's node.

use std::sync::OnceLock;

use super::doubles::{Complex, Doubles};
use super::plan::Plan;
use super::roots::Roots;
use crate::simd::MAX_LANES;

/// Steps by four, at most.
const MAX_FOURS: usize = 9;

/// The roots of a node with four children: `c`, `c²`, `c³` with the node's root `c⁴`.
pub(super) type Node<V> = [Complex<V>; 3];

/// The roots of a step before the lanes, or the step to them: `r − 1` for each node, the same in all lanes.
pub(super) type Steps<V> = Vec<Vec<Complex<V>>>;

/// The roots of a step by four.
type Level<S> = OnceLock<Vec<Node<<S as Doubles>::Vector>>>;

/// All tables of an instruction set.
#[derive(Debug)]
pub struct Tables<S: Doubles> {
    steps: [OnceLock<Steps<S::Vector>>; Plan::SPLITS],
    fours: [[Level<S>; MAX_FOURS]; Plan::SPLITS],
}

impl<S: Doubles> Tables<S> {
    pub(crate) const fn new() -> Self {
        Self {
            steps: [const { OnceLock::new() }; Plan::SPLITS],
            fours: [const { [const { OnceLock::new() }; MAX_FOURS] }; Plan::SPLITS],
        }
    }

    /// The roots of the steps of the split and of the step to the lanes, step by step and node by node.
    pub(super) fn steps(&self, s: S, plan: &Plan) -> &Steps<S::Vector> {
        self.steps[plan.number].get_or_init(|| {
            let radices = plan.split.iter().copied().chain([plan.lane_radix()]);
            let mut steps = Vec::new();
            let mut nodes = Angles::root();
            for radix in radices {
                let radix = radix.size() as u64;
                let roots = Roots::new(nodes.of * radix);
                let of_node =
                    |node: &u64| (1..radix).map(|power| splat(s, roots.get(node * power))).collect::<Vec<_>>();
                steps.push(nodes.numbers.iter().flat_map(of_node).collect());
                nodes = nodes.children(radix);
            }
            steps
        })
    }

    /// The roots of a step by four, part by part and node by node.
    pub(super) fn fours(&self, s: S, plan: &Plan, step: usize) -> &[Node<S::Vector>] {
        self.fours[plan.number][step].get_or_init(|| {
            let mut lanes = Angles::root();
            for radix in plan.split.iter().copied().chain([plan.lane_radix()]) {
                lanes = lanes.children(radix.size() as u64);
            }
            let roots = Roots::new((4 * lanes.of) << (2 * step));
            let mut table = Vec::with_capacity(plan.parts() << (2 * step));
            for part in lanes.numbers.chunks(S::LANES) {
                for node in 0..1_u64 << (2 * step) {
                    let turn = Angles::path(node, step as u32, lanes.of);
                    table.push([1, 2, 3].map(|power| {
                        let mut parts = [[0.0; MAX_LANES]; 2];
                        for (lane, number) in part.iter().enumerate() {
                            [parts[0][lane], parts[1][lane]] = roots.get((number + turn) * power);
                        }
                        Complex { re: s.lanes_of(parts[0]), im: s.lanes_of(parts[1]) }
                    }));
                }
            }
            table
        })
    }
}

fn splat<S: Doubles>(s: S, [re, im]: [f64; 2]) -> Complex<S::Vector> {
    Complex { re: s.all(re), im: s.all(im) }
}

/// The angles of nodes in their order: `numbers[i]/of` turns.
struct Angles {
    numbers: Vec<u64>,
    of: u64,
}

impl Angles {
    /// A quarter of a turn.
    fn root() -> Self {
        Self { numbers: vec![1], of: 4 }
    }

    fn children(&self, radix: u64) -> Self {
        let children = |number: &u64| (0..radix).map(|j| number + j * self.of).collect::<Vec<_>>();
        Self { numbers: self.numbers.iter().flat_map(children).collect(), of: self.of * radix }
    }

    /// What is added to a number on the way down to a node: child `j` of a step adds `j` times the unit there.
    fn path(node: u64, steps: u32, of: u64) -> u64 {
        (0..steps).map(|step| (node >> (2 * (steps - 1 - step)) & 3) * (of << (2 * step))).sum()
    }
}
