//! Every kernel of this crate on the simulator, against other libraries, and the counts that are its performance. All are one test program: it is linked once,
//! and long tests of one kernel run beside those of another.
//!
//! ```text
//! mul.rs                  products to 2048 bits by a thread, a group of lanes or a warp; packed.rs: the papers' to 1024 bits
//! karatsuba_group.rs      products by Karatsuba's method; toom.rs: by Toom-k
//! tensor.rs               products on tensor cores; warpgroup.rs: by four warps
//! fft/                    products by transforms
//! sqr.rs, sqr_group.rs    squares
//! parts.rs                halves of products, sums with an addend, products of two's complements
//! linear.rs               sums, shifts, comparisons, logic
//! montgomery.rs           Montgomery's arithmetic; tensor_montgomery.rs, tensor_common.rs: on tensor cores
//! power.rs, strong.rs     powers, strong tests
//! division.rs, sqrt.rs    quotients, roots
//! gcd.rs, theory.rs       greatest common divisors and inverses; symbols, common multiples
//! block.rs                numbers in all threads of a block
//! long.rs                 numbers of any length; long_modular.rs: modulo such numbers
//! ```

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod block;
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
mod tensor_common;
mod tensor_montgomery;
mod theory;
mod toom;
mod warpgroup;
