//! Writing kernels: a [`Builder`] whose registers are typed, whose carry is a value
//! ([`Chain`]), and whose control flow is structured.

mod chain;
mod emit;
mod value;

pub use chain::Chain;
pub use emit::{Code, Emit};
pub use value::{F64, Offset, Pred, R32, R64, Register, V32, V64, VF64, Value};

use crate::ir::{Bounds, Guard, Item, Kernel, Label, Op, Operand, Param, Width};

/// How carry chains are joined into longer ones; see [`Chain`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Glue {
    /// Each chain starts afresh.
    #[default]
    None,
    /// Every n-th chain continues the one before where that one ended without a carry.
    Every(u32),
}

/// Writes one kernel.
#[derive(Debug)]
pub struct Builder {
    name: String,
    params: Vec<Param>,
    bounds: Bounds,
    code: Code,
    table: Vec<u64>,
    labels: u32,
    glue: Glue,
    /// Chains started so far.
    chains: u32,
    /// Is the flag known to be zero here?
    zero_flag: bool,
}

impl Emit for Builder {
    fn code(&mut self) -> (&mut Code, Option<Guard>) {
        (&mut self.code, None)
    }
}

/// Instructions under a condition; no chains, no branches.
#[derive(Debug)]
pub struct Guarded<'b> {
    code: &'b mut Code,
    guard: Guard,
}

impl Emit for Guarded<'_> {
    fn code(&mut self) -> (&mut Code, Option<Guard>) {
        (self.code, Some(self.guard))
    }
}

impl Builder {
    /// An empty kernel. `name` is a letter followed by letters, digits and `_`.
    pub fn new(name: &str, glue: Glue) -> Self {
        Self {
            name: name.into(),
            params: Vec::new(),
            bounds: Bounds::default(),
            code: Code::default(),
            table: Vec::new(),
            labels: 0,
            glue,
            chains: 0,
            zero_flag: false,
        }
    }

    /// Sets the launch hints.
    pub fn bounds(&mut self, bounds: Bounds) {
        self.bounds = bounds;
    }

    /// Adds a 32-bit parameter and loads it.
    pub fn param_u32(&mut self, name: &str) -> R32 {
        let number = self.declare(Param::u32(name));
        self.load_param_u32(number)
    }

    /// Adds a 64-bit parameter or pointer and loads it.
    pub fn param_u64(&mut self, name: &str) -> R64 {
        let number = self.declare(Param::u64(name));
        self.load_param_u64(number)
    }

    /// Adds a parameter without loading it. Returns the parameter's number.
    pub fn declare(&mut self, param: Param) -> usize {
        self.params.push(param);
        self.params.len() - 1
    }

    /// Loads the 32-bit parameter with this number.
    pub fn load_param_u32(&mut self, number: usize) -> R32 {
        self.load_param(Width::W32, number)
    }

    /// Loads the 64-bit parameter with this number.
    pub fn load_param_u64(&mut self, number: usize) -> R64 {
        self.load_param(Width::W64, number)
    }

    fn load_param<R: Register>(&mut self, width: Width, number: usize) -> R {
        let d: R = self.register();
        self.instruction(Op::LdParam(width), &[d.operand(), Operand::Imm(number as u64)]);
        d
    }

    /// Gives the kernel its table of constants, which is not empty, and returns the table's address, a multiple of 16.
    /// A kernel has one table at most.
    pub fn table(&mut self, constants: Vec<u64>) -> R64 {
        debug_assert!(!constants.is_empty() && self.table.is_empty());
        self.table = constants;
        let d: R64 = self.register();
        self.instruction(Op::TableBase, &[d.operand()]);
        d
    }

    /// Starts a section: the instructions after it are counted under this name.
    pub fn section(&mut self, name: &str) {
        self.code.body.push(Item::Section(name.into()));
    }

    /// Opens a carry chain.
    pub fn chain(&mut self) -> Chain<'_> {
        Chain::new(self)
    }

    /// Emits the body's instructions under the condition that `p` is `value`.
    pub fn guarded(&mut self, p: Pred, value: bool, body: impl FnOnce(&mut Guarded<'_>)) {
        let guard = Guard { pred: p.0, negated: !value };
        body(&mut Guarded { code: &mut self.code, guard });
    }

    /// The lanes where `p` holds execute `then`.
    pub fn if_(&mut self, p: Pred, then: impl FnOnce(&mut Self)) {
        let end = self.label();
        self.branch(Some(Guard { pred: p.0, negated: true }), end);
        then(self);
        self.place(end);
    }

    /// The lanes where `p` holds execute `then`, the others `otherwise`.
    pub fn if_else(&mut self, p: Pred, then: impl FnOnce(&mut Self), otherwise: impl FnOnce(&mut Self)) {
        let (middle, end) = (self.label(), self.label());
        self.branch(Some(Guard { pred: p.0, negated: true }), middle);
        then(self);
        self.branch(None, end);
        self.place(middle);
        otherwise(self);
        self.place(end);
    }

    /// Executes the body once, and again as long as the predicate it returns is true.
    ///
    /// The loop is closed at the bottom: that is the only form which `ptxas` does not duplicate.
    pub fn do_while(&mut self, body: impl FnOnce(&mut Self) -> Pred) {
        let start = self.label();
        self.place(start);
        let again = body(self);
        self.branch(Some(Guard { pred: again.0, negated: false }), start);
    }

    /// Executes the body as long as the condition is true, perhaps never. Its instructions stand before the loop and at its end.
    pub fn while_(&mut self, condition: impl Fn(&mut Self) -> Pred, body: impl FnOnce(&mut Self)) {
        let first = condition(self);
        self.if_(first, |b| {
            b.do_while(|b| {
                body(b);
                condition(b)
            });
        });
    }

    /// Ends the threads where `p` holds.
    pub fn return_if(&mut self, p: Pred) {
        self.guarded(p, true, |g| g.instruction(Op::Ret, &[]));
    }

    /// The kernel, ended by a return.
    pub fn finish(mut self) -> Kernel {
        self.instruction(Op::Ret, &[]);
        Kernel {
            name: self.name,
            params: self.params,
            bounds: self.bounds,
            registers: self.code.registers,
            shared: self.code.shared,
            table: self.table,
            body: self.code.body,
        }
    }

    fn label(&mut self) -> Label {
        self.labels += 1;
        Label(self.labels - 1)
    }

    fn place(&mut self, label: Label) {
        self.zero_flag = false;
        self.code.body.push(Item::Label(label));
    }

    fn branch(&mut self, guard: Option<Guard>, target: Label) {
        self.zero_flag = false;
        self.code.body.push(Item::Branch { guard, target });
    }

    /// Starts a chain: may it begin with the zero flag left by the last one?
    fn take_glue(&mut self) -> bool {
        let glued = self.zero_flag && self.glue.joins(self.chains);
        self.chains += 1;
        self.zero_flag = false;
        glued
    }

    const fn next_is_glued(&self) -> bool {
        self.glue.joins(self.chains)
    }

    const fn leave_glue(&mut self, zero: bool) {
        self.zero_flag = zero;
    }
}
