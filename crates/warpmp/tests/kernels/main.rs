//! Every kernel of this crate on the simulator, against other libraries, and the counts that are its performance. One program: it is linked once, and the long
//! tests of one kernel run beside those of another.
//!
//! ```text
//! mul.rs                products to 2048 bits; packed.rs, karatsuba_group.rs, toom.rs: others
//! sqr.rs, sqr_group.rs  squares
//! parts.rs              halves of products, sums with an addend, products of two's complements
//! tensor.rs             products on tensor cores; warpgroup.rs: by four warps
//! fft/                  products by transforms
//! linear.rs             sums, shifts, comparisons, logic
//! montgomery.rs         Montgomery's arithmetic; tensor_montgomery.rs, common.rs: on tensor cores
//! power.rs, strong.rs   powers and strong tests
//! division.rs, sqrt.rs, gcd.rs, theory.rs  quotients, roots, greatest common divisors, symbols
//! block.rs              numbers in all threads of a block
//! long.rs               numbers of any length; long_modular.rs: modulo such numbers
//! ```

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod block;
mod common;
mod division;
mod fft;
mod gcd;
mod karatsuba_group;
mod linear;
mod long;
mod long_modular;
mod montgomery;
mod mul;
mod packed;
mod parts;
mod power;
mod sqr;
mod sqr_group;
mod sqrt;
mod strong;
mod tensor;
mod tensor_montgomery;
mod theory;
mod toom;
mod warpgroup;
