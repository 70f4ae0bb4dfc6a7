//! Collatz: convergence, delays, records, and certificates that others can check.
//!
//! The map is `T(n) = n/2` for even `n` and `(3n+1)/2` for odd `n`. A start `n` *converges* if its trajectory
//! reaches a number below `n`; if all numbers below `n` reach 1, so does `n`.
//!
//! ```text
//! expression   "2^64-2^40" as a number
//! number       the map, step by step, as wide as it takes: the path that everything else is compared with
//! power        powers of three, the comparisons 3^c < 2^i, log2(3)
//! rules        which residues mod 2^k need no test, with proofs
//! tables       B, C, J, A and S of the dissertation; S cached on disk
//! scheme       the trait of the three schemes
//! dfs          the default scheme: leaves, look-ahead bits, thresholds
//! honda        the dissertation's convergence scheme
//! alpha        the published checksum scheme
//! window       ranges of starts
//! heights      how high tested starts climb
//! engine       the seam: the task of an engine, and its report
//! team         engines that share a window
//! cpu          the engine on all cores
//! kernels      the kernels for GPUs, as values
//! gpu          the engine on GPUs, and on the simulator
//! reference    the independent path: the same figures from the rules' words alone
//! certificate  the result of a window, checkable by others
//! records      searches for delay and path records
//! campaign     a range in a directory of certificates, resumed, checked, summed
//! ```
//!
//! # The seam between engines
//!
//! A window's work has two factors that know nothing of each other: *leaves*, which depend on the low `L` bits only
//! ([`dfs::Leaf`]: residue, state `T^L(residue)`, odd steps), and *upper numbers* `a`: the start is
//! `n = residue + a·2^L` and its state `T^L(n) = state + a·3^c`. An [`engine::Engine`] is given the plan
//! ([`dfs::Plan`]: `L`, the look-ahead bits of each class) and a [`window::Window`]; it makes the leaves once, keeps
//! them and runs through `a`. [`window::Window::units`] cuts a window into whole blocks of starts for engines that
//! need alignment; [`cpu::Cpu`] does the rest at both ends with the *same plan*. Because every figure of
//! [`engine::Outcome`] is a sum over starts, the parts add up.
//!
//! The plan alone decides which starts are tested, not the engine: `n` is tested if its leaf survives the rules to
//! depth `L`, its state survives the rules for `plan.lookahead(c)` further steps, started afresh, and `n mod 9` is
//! none of 2, 4, 5, 8. So two engines agree in every count, and in the checksum `Σ T^L(n) mod 2^64` over all tested `n`.
#![deny(unsafe_code)]

pub mod alpha;
pub mod campaign;
pub mod certificate;
pub mod cpu;
pub mod dfs;
pub mod engine;
pub mod error;
pub mod expression;
pub mod gpu;
pub mod heights;
pub mod honda;
pub mod kernels;
pub mod number;
pub mod power;
pub mod records;
pub mod reference;
pub mod rules;
pub mod scheme;
pub mod tables;
pub mod team;
pub mod window;

pub use error::{Allowed, Error, Result};
