//! What the operations are written with: numbers in registers, wherever a kernel keeps them.

use warpmp_kernel::build::{Builder, R32};

/// A number in the registers of a thread, or of the lanes of a group: as many limbs as its frame's capacity.
/// Which register holds which limb is the frame's business.
#[derive(Clone, Debug)]
pub(super) struct Number(pub(super) Vec<R32>);

/// A kernel under construction, for one row a thread or one row a group of lanes.
///
/// All numbers are modulo `2^(32·capacity)`; a *word* is the same in all lanes of the row.
pub(super) trait Frame {
    /// The builder.
    fn builder(&mut self) -> &mut Builder;

    /// Limbs of a number: at least those of every operand and result.
    fn capacity(&self) -> u32;

    /// Limbs of operand `i` from limb `from` on (zeros below limb 0), with zeros above it.
    fn operand(&mut self, i: usize, from: i32) -> Number;

    /// Operand `i` as a two's complement.
    fn signed_operand(&mut self, i: usize) -> Number;

    /// All ones if operand `i` is negative as a two's complement, else zero.
    fn sign(&mut self, i: usize) -> R32;

    /// Limb 0 of operand `i`.
    fn low_word(&mut self, i: usize) -> R32;

    /// The product of the first two operands.
    fn product(&mut self, from: i32) -> Number;

    /// `x + y + carry`, the carry 0 or 1; the sum, and the carry out as 0 or 1.
    fn add(&mut self, x: &Number, y: &Number, carry: Option<R32>) -> (Number, R32);

    /// `x − y − borrow`, the borrow 0 or 1; the difference, and the borrow out as 0 or all ones.
    fn sub(&mut self, x: &Number, y: &Number, borrow: Option<R32>) -> (Number, R32);

    /// A limb of a number, as a word.
    fn limb(&mut self, x: &Number, index: u32) -> R32;

    /// All ones if any limb is not zero, else zero.
    fn any(&mut self, x: &Number) -> R32;

    /// Replaces one limb.
    fn change(&mut self, x: &mut Number, index: u32, change: impl FnOnce(&mut Builder, R32) -> R32);

    /// Stores a number, without the bits that the result does not have.
    fn store(&mut self, result: usize, x: &Number);

    /// Stores a word as a result of one limb.
    fn store_word(&mut self, result: usize, word: R32);

    /// Zero.
    fn zero(&mut self) -> Number {
        let count = self.registers();
        Number((0..count).map(|_| warpmp_kernel::build::Emit::copy(self.builder(), 0)).collect())
    }

    /// Registers of a number in each thread.
    fn registers(&self) -> usize;

    /// Limb by limb.
    fn map(&mut self, x: &Number, mut f: impl FnMut(&mut Builder, R32) -> R32) -> Number {
        Number(x.0.iter().map(|&x| f(self.builder(), x)).collect())
    }

    /// Limb by limb of two numbers.
    fn zip(&mut self, x: &Number, y: &Number, mut f: impl FnMut(&mut Builder, R32, R32) -> R32) -> Number {
        Number(x.0.iter().zip(&y.0).map(|(&x, &y)| f(self.builder(), x, y)).collect())
    }
}
