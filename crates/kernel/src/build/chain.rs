//! The carry as a value that is used once.
//!
//! A [`Chain`] borrows the builder while a carry is alive: nothing but the chain can emit code
//! meanwhile, and a chain knows no labels, branches or guards, so no carry can be lost, read twice
//! or cross a label. The borrow checker sees to it.
//!
//! # Glue
//!
//! With several independent chains in flight `ptxas` interleaves them, runs out of predicate
//! registers and spills carries. A chain that is known to end without a carry can instead leave a
//! zero flag behind for the next chain to start from, so that one serial chain remains.
//! [`Glue`] says how often; the code that uses chains is the same either way.

use super::emit::{Code, Emit};
use super::value::{R32, R64, V32, V64, Value};
use super::{Builder, Glue};
use crate::ir::{Carry, Guard, Half, Op, Operand, Width};

/// A run of additions or subtractions linked by the carry flag.
///
/// Links come in order of significance. The first has no carry in, every other one takes the carry
/// of the link before.
///
/// Addition of two numbers of 128 bits, as text and on the simulator:
///
/// ```
/// use warpmp_kernel::build::{Builder, Emit, Glue};
/// use warpmp_kernel::ir::{Space, Vector};
/// use warpmp_kernel::sim::{Grid, Memory, Program};
///
/// let mut b = Builder::new("add_128", Glue::None);
/// let [x, y, sum] = ["x", "y", "sum"].map(|name| b.param_u64(name));
/// let x = b.load_global(Space::Global, Vector::V4, x, 0);
/// let y = b.load_global(Space::Global, Vector::V4, y, 0);
/// let mut chain = b.chain();
/// let mut limbs: Vec<_> = x.iter().zip(&y).map(|(&x, &y)| chain.add(x, y)).collect();
/// limbs.push(chain.carry());
/// b.store_global(Space::Global, &limbs[..4], sum, 0);
/// b.store_global(Space::Global, &limbs[4..], sum, 16);
/// let text = b.finish().to_string();
/// for line in ["add.cc.u32 %r8, %r0, %r4;", "addc.cc.u32 %r11, %r3, %r7;", "addc.u32 %r12, 0, 0;"] {
///     assert!(text.contains(line), "{text}");
/// }
///
/// let mut memory = Memory::new(1 << 20);
/// let [x, y, sum] = [16, 16, 20].map(|bytes| memory.alloc(bytes).expect("there is room"));
/// memory.write(x, &[u32::MAX; 4])?;
/// memory.write(y, &[2, 0, 0, 0])?;
/// let one_thread = Grid { blocks: 1, threads: 1, shared_bytes: 0 };
/// Program::parse(&text)?.launch(one_thread, &[x, y, sum], &mut memory)?;
/// let mut words = [0; 5];
/// memory.read(sum, &mut words)?;
/// assert_eq!(words, [1, 0, 0, 0, 1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// While a chain is alive there is no other:
///
/// ```compile_fail,E0499
/// # use warpmp_kernel::build::{Builder, Glue};
/// # let mut b = Builder::new("two", Glue::None);
/// # let (x, y) = (b.param_u32("x"), b.param_u32("y"));
/// let mut first = b.chain();
/// first.add(x, y);
/// let mut second = b.chain(); // `b` is borrowed by `first`
/// second.add(x, y);
/// first.carry();
/// # second.carry();
/// ```
///
/// No label and no branch:
///
/// ```compile_fail,E0499
/// # use warpmp_kernel::build::{Builder, Emit, Glue};
/// # use warpmp_kernel::ir::Cmp;
/// # let mut b = Builder::new("branch", Glue::None);
/// # let (x, y) = (b.param_u32("x"), b.param_u32("y"));
/// # let p = b.compare(Cmp::Ne, x, 0);
/// let mut chain = b.chain();
/// chain.add(x, y);
/// b.if_(p, |_| {}); // `b` is borrowed by `chain`
/// chain.carry();
/// ```
///
/// And its end consumes it, so that a carry is used once:
///
/// ```compile_fail,E0382
/// # use warpmp_kernel::build::{Builder, Glue};
/// # let mut b = Builder::new("twice", Glue::None);
/// # let (x, y) = (b.param_u32("x"), b.param_u32("y"));
/// let mut chain = b.chain();
/// chain.add(x, y);
/// let carry = chain.carry();
/// let again = chain.carry(); // `chain` was moved
/// ```
#[derive(Debug)]
#[must_use = "a chain that is dropped loses its carry: say how it ends"]
pub struct Chain<'b> {
    builder: &'b mut Builder,
    /// Is the flag this chain's carry (or the glue's zero)?
    live: bool,
    /// Has it no link yet?
    fresh: bool,
}

impl Emit for Chain<'_> {
    fn code(&mut self) -> (&mut Code, Option<Guard>) {
        self.builder.code()
    }
}

macro_rules! links {
    ($($(#[$doc:meta])* $name:ident, $into:ident, $end:ident, $wrap:ident: ($($arg:ident: $kind:ty),*) -> $result:ty = $op:expr;)*) => { $(
        $(#[$doc])*
        pub fn $name(&mut self $(, $arg: impl Into<$kind>)*) -> $result {
            let d: $result = self.register();
            self.link($op, &[d.operand() $(, $arg.into().operand())*], true);
            d
        }

        #[doc = concat!("As [`", stringify!($name), "`](Self::", stringify!($name), "), written to `d`.")]
        pub fn $into(&mut self, d: $result $(, $arg: impl Into<$kind>)*) {
            self.link($op, &[d.operand() $(, $arg.into().operand())*], true);
        }

        #[doc = concat!("The last [`", stringify!($name), "`](Self::", stringify!($name), "), of which the caller knows that nothing carries out.")]
        pub fn $end(mut self, d: $result $(, $arg: impl Into<$kind>)*) -> &'b mut Builder {
            self.last($op, &[d.operand() $(, $arg.into().operand())*]);
            self.builder
        }

        #[doc = concat!("The last [`", stringify!($name), "`](Self::", stringify!($name), "), whose carry is dropped: arithmetic modulo a power of two.")]
        pub fn $wrap(mut self, d: $result $(, $arg: impl Into<$kind>)*) {
            self.link($op, &[d.operand() $(, $arg.into().operand())*], false);
        }
    )* };
}

impl<'b> Chain<'b> {
    pub(super) fn new(builder: &'b mut Builder) -> Self {
        let live = builder.take_glue();
        Self { builder, live, fresh: true }
    }

    links! {
        /// `a + b + carry` of words.
        add, add_into, end_add, wrap_add: (a: V32, b: V32) -> R32 = |c| Op::Add(Width::W32, c);
        /// `a + b + carry` of 64-bit values.
        add64, add64_into, end_add64, wrap_add64: (a: V64, b: V64) -> R64 = |c| Op::Add(Width::W64, c);
        /// `a − b − borrow` of words.
        sub, sub_into, end_sub, wrap_sub: (a: V32, b: V32) -> R32 = |c| Op::Sub(Width::W32, c);
        /// `a − b − borrow` of 64-bit values.
        sub64, sub64_into, end_sub64, wrap_sub64: (a: V64, b: V64) -> R64 = |c| Op::Sub(Width::W64, c);
        /// The low word of `a·b`, plus `c` and the carry.
        mad_lo, mad_lo_into, end_mad_lo, wrap_mad_lo: (a: V32, b: V32, c: V32) -> R32 = |c| Op::Mad(Half::Lo, c);
        /// The high word of `a·b`, plus `c` and the carry.
        mad_hi, mad_hi_into, end_mad_hi, wrap_mad_hi: (a: V32, b: V32, c: V32) -> R32 = |c| Op::Mad(Half::Hi, c);
    }

    /// Ends the chain of additions; the carry out as a word, 0 or 1.
    pub fn carry(mut self) -> R32 {
        let d: R32 = self.register();
        self.last(|c| Op::Add(Width::W32, c), &[d.operand(), Operand::Imm(0), Operand::Imm(0)]);
        d
    }

    /// Ends the chain of subtractions; the borrow as a mask, 0 or all ones.
    pub fn borrow_mask(mut self) -> R32 {
        let d: R32 = self.register();
        self.link(|c| Op::Sub(Width::W32, c), &[d.operand(), Operand::Imm(0), Operand::Imm(0)], false);
        d
    }

    fn link(&mut self, op: impl Fn(Carry) -> Op, operands: &[Operand], out: bool) {
        // The zero that an addition leaves is no borrow: see below.
        let live = self.live && !(self.fresh && is_subtraction(&op));
        self.fresh = false;
        let carry = match (live, out) {
            (false, false) => Carry::None,
            (false, true) => Carry::Out,
            (true, false) => Carry::In,
            (true, true) => Carry::InOut,
        };
        self.instruction(op(carry), operands);
        self.live = out;
    }

    /// The last link: leaves a zero flag for the next chain if that one is to be glued.
    fn last(&mut self, op: impl Fn(Carry) -> Op, operands: &[Operand]) {
        let glue = self.builder.next_is_glued() && !is_subtraction(&op);
        self.link(op, operands, glue);
        self.builder.leave_glue(glue);
    }
}

/// A chain of subtractions is never glued to one of additions, nor the other way round: the machine keeps
/// borrows inverted, and `ptxas` does not convert the flag (measured: such a chain began with a borrow).
fn is_subtraction(op: &impl Fn(Carry) -> Op) -> bool {
    matches!(op(Carry::None), Op::Sub(..))
}

impl Glue {
    /// Is the chain with this number, from 0, glued to the one before?
    pub(super) const fn joins(self, number: u32) -> bool {
        match self {
            Self::None | Self::Every(0) => false,
            Self::Every(n) => number.is_multiple_of(n),
        }
    }
}
