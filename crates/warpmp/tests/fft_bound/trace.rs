//! What one thread of a kernel does with doubles: it follows the kernel's instructions with the thread's own integers.
//!
//! Integers are numbers where they follow from the thread's number, and unknown where they come from operands. Doubles
//! are constants (of the text or the table), digits, or the results of operations, in the order of their execution.

use std::collections::HashMap;

use warpmp_kernel::ir::{
    Carry, Class, Cmp, Elem, Half, Inst, Int, Item, Kernel, Logic, Op, Operand, Space, Special, Width,
};

/// A pretended address of the table.
const TABLE: u64 = 1 << 40;

/// Doubles from here on are integers.
const TWO_52: f64 = 4_503_599_627_370_496.0;

/// With a digit comes 2²⁰, or 2.5·2ᵇ for a balanced digit of `b` bits, 11 to 18.
const OFFSETS: [f64; 9] =
    [1_048_576.0, 5120.0, 10_240.0, 20_480.0, 40_960.0, 81_920.0, 163_840.0, 327_680.0, 655_360.0];

/// A double in the trace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Double {
    /// A constant, and the bound on its distance from the number that it stands for.
    Constant { value: f64, error: f64 },
    /// The value of this number.
    Value(usize),
}

/// How a value arises.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Origin {
    /// An exact digit.
    Digit,
    /// A double of memory, not of the table.
    Loaded,
    /// `±a ± b`, rounded once.
    Sum([Double; 2], [f64; 2]),
    /// `a·b`, rounded once.
    Product(Double, Double),
    /// `a·b + c`, rounded once.
    Fused(Double, Double, Double),
    /// `−a`, exact.
    Minus(Double),
    /// `a·b`, rounded to the nearest integer by a sum with a great double.
    Rounded(Double, Double),
}

/// A value of the trace.
#[derive(Clone, Debug)]
pub(crate) struct Value {
    pub(crate) origin: Origin,
    /// The number of its run of instructions without labels, branches and new sections.
    pub(crate) run: usize,
    /// Is it stored in memory?
    pub(crate) stored: bool,
}

/// What a thread did.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    pub(crate) values: Vec<Value>,
    /// The section of each run.
    pub(crate) runs: Vec<String>,
}

/// The error of a constant that is the nearest double of its number: powers of two and zero are exact.
fn rounding_of(value: f64) -> f64 {
    if value.to_bits() << 12 == 0 { 0.0 } else { half_spacing(value) }
}

/// Half the distance of doubles of this magnitude.
pub(crate) fn half_spacing(value: f64) -> f64 {
    let bits = value.abs().to_bits();
    (f64::from_bits(bits + 1) - f64::from_bits(bits)) / 2.0
}

/// The number of a class.
fn slot(class: Class) -> usize {
    Class::ALL.iter().position(|&it| it == class).expect("a class")
}

struct Thread<'k> {
    kernel: &'k Kernel,
    number: u64,
    block: u64,
    /// By class and number, where they are known.
    integers: [Vec<Option<u64>>; 4],
    doubles: Vec<Option<Double>>,
    /// The error of a root of the table, in units of the half distance between doubles.
    root_error: f64,
    trace: Trace,
}

/// Follows a thread, by the numbers of its block and its own, as long as it computes with doubles. `root_error`: the error of a root of the table, in
/// units of the half distance between doubles.
pub(crate) fn follow(kernel: &Kernel, [block, number]: [u32; 2], root_error: f64) -> Trace {
    let mut thread = Thread {
        kernel,
        number: number.into(),
        block: block.into(),
        integers: kernel.registers.map(|count| vec![None; count as usize]),
        doubles: vec![None; kernel.registers[slot(Class::F64)] as usize],
        root_error,
        trace: Trace::default(),
    };
    let labels = kernel.body.iter().enumerate().filter_map(|(i, item)| match item {
        Item::Label(label) => Some((*label, i)),
        _ => None,
    });
    let labels: HashMap<_, _> = labels.collect();
    let (mut at, mut section) = (0, String::new());
    while at < kernel.body.len() {
        match &kernel.body[at] {
            Item::Section(name) => {
                if name == "carry" {
                    break;
                }
                section.clone_from(name);
                thread.trace.runs.push(section.clone());
            }
            Item::Label(_) => thread.trace.runs.push(section.clone()),
            Item::Branch { guard, target } => {
                thread.trace.runs.push(section.clone());
                let taken = guard.is_none_or(|guard| {
                    let value = thread.integers[slot(Class::Pred)][guard.pred as usize]
                        .expect("branches do not depend on operands");
                    (value != 0) != guard.negated
                });
                if taken {
                    at = labels[target];
                }
            }
            Item::Inst(inst) => thread.execute(inst),
        }
        at += 1;
    }
    thread.trace
}

impl Thread<'_> {
    fn integer(&self, operand: Operand) -> Option<u64> {
        match operand {
            Operand::Imm(bits) => Some(bits),
            Operand::Reg(reg) => self.integers[slot(reg.class)][reg.index as usize],
        }
    }

    fn double(&self, operand: Operand) -> Double {
        match operand {
            Operand::Imm(bits) => {
                let value = f64::from_bits(bits);
                Double::Constant { value, error: rounding_of(value) }
            }
            Operand::Reg(reg) => self.doubles[reg.index as usize].expect("a double is written before it is read"),
        }
    }

    fn new_value(&mut self, origin: Origin) -> Double {
        let run = self.trace.runs.len() - 1;
        self.trace.values.push(Value { origin, run, stored: false });
        Double::Value(self.trace.values.len() - 1)
    }

    fn execute(&mut self, inst: &Inst) {
        let operands = &inst.operands;
        match inst.op {
            Op::Ld(space, vector, Elem::F64) => {
                for (i, &target) in operands[..vector.len()].iter().enumerate() {
                    let value = if space == Space::GlobalConst {
                        self.of_table(inst, i)
                    } else {
                        self.new_value(Origin::Loaded)
                    };
                    self.define(target, value);
                }
            }
            Op::St(_, _, Elem::F64) => {
                for &operand in &operands[2..] {
                    if let Double::Value(number) = self.double(operand) {
                        self.trace.values[number].stored = true;
                    }
                }
            }
            Op::F64OfBits => {
                let digit = self.new_value(Origin::Digit);
                self.define(operands[0], digit);
            }
            Op::AddF64 | Op::SubF64 | Op::MulF64 | Op::Fma | Op::NegF64 | Op::Mov(Class::F64) => {
                let sources: Vec<Double> = operands[1..].iter().map(|&it| self.double(it)).collect();
                let value = self.compute(inst.op, &sources);
                self.define(operands[0], value);
            }
            _ => self.execute_integer(inst),
        }
    }

    fn define(&mut self, operand: Operand, value: Double) {
        let Operand::Reg(reg) = operand else { panic!("a destination is a register") };
        self.doubles[reg.index as usize] = Some(value);
    }

    /// Element `i` of a load from the table.
    fn of_table(&self, inst: &Inst, i: usize) -> Double {
        let [.., base, offset] = inst.operands[..] else { panic!("a load has an address") };
        let address = self.integer(base).zip(self.integer(offset)).expect("the table is known");
        let value = f64::from_bits(self.kernel.table[((address.0 + address.1 - TABLE) / 8) as usize + i]);
        Double::Constant { value, error: self.root_error * rounding_of(value) }
    }

    fn compute(&mut self, op: Op, sources: &[Double]) -> Double {
        let constants: Option<Vec<(f64, f64)>> = sources
            .iter()
            .map(|it| match *it {
                Double::Constant { value, error } => Some((value, error)),
                Double::Value(_) => None,
            })
            .collect();
        match (op, &constants) {
            (Op::Mov(_), _) => return sources[0],
            (Op::NegF64, Some(c)) => return Double::Constant { value: -c[0].0, error: c[0].1 },
            (Op::MulF64 | Op::Fma, Some(c)) => return product_of_constants(c),
            (Op::AddF64, Some(c)) => return product_of_constants(&[c[0], (1.0, 0.0), c[1]]),
            _ => {}
        }
        // A digit comes with an offset, and the difference is exact.
        if let (Op::SubF64, &[Double::Value(digit), Double::Constant { value, .. }]) = (op, sources)
            && matches!(self.trace.values[digit].origin, Origin::Digit)
        {
            assert!(OFFSETS.contains(&value), "an offset is subtracted: {value}");
            return self.new_value(Origin::Digit);
        }
        // A product takes the offset away, too.
        if let (Op::Fma, &[Double::Value(digit), factor, Double::Constant { value: minus, .. }]) = (op, sources)
            && let Double::Constant { value: factor, error } = factor
            && matches!(self.trace.values[digit].origin, Origin::Digit)
        {
            let rests = OFFSETS.map(|offset| (factor.mul_add(offset, minus).abs(), offset));
            let (rest, offset) = rests.into_iter().min_by(|(x, _), (y, _)| x.total_cmp(y)).expect("there are offsets");
            assert!(rest <= half_spacing(minus), "an offset is subtracted: {minus}");
            // The bounds on the norms have digits of at least 2¹⁵, or 2ᵇ⁻¹ if `b` is 17 or 18.
            let least = if [327_680.0, 655_360.0].contains(&offset) { offset / 5.0 } else { 32768.0 };
            let error = error + rest / least;
            return self.new_value(Origin::Product(Double::Value(digit), Double::Constant { value: factor, error }));
        }
        let rounded = match (op, sources) {
            (Op::AddF64, &[x, Double::Constant { value, .. }]) => {
                Some((x, Double::Constant { value: 1.0, error: 0.0 }, value))
            }
            (Op::Fma, &[x, factor, Double::Constant { value, .. }]) => Some((x, factor, value)),
            _ => None,
        };
        if let Some((x, factor, value)) = rounded
            && value >= TWO_52
        {
            let value = self.new_value(Origin::Rounded(x, factor));
            if let Double::Value(number) = value {
                self.trace.values[number].stored = true;
            }
            return value;
        }
        let origin = match op {
            Op::AddF64 => Origin::Sum([sources[0], sources[1]], [1.0, 1.0]),
            Op::SubF64 => Origin::Sum([sources[0], sources[1]], [1.0, -1.0]),
            Op::MulF64 => Origin::Product(sources[0], sources[1]),
            Op::Fma => Origin::Fused(sources[0], sources[1], sources[2]),
            _ => Origin::Minus(sources[0]),
        };
        self.new_value(origin)
    }

    fn execute_integer(&mut self, inst: &Inst) {
        let operands = &inst.operands;
        let Some(&Operand::Reg(target)) = operands.first() else { return };
        let value = self.integer_result(inst.op, &operands[1..]);
        // A guarded instruction may not change its target.
        let value = value.filter(|_| inst.guard.is_none());
        self.integers[slot(target.class)][target.index as usize] = value;
    }

    fn integer_result(&self, op: Op, sources: &[Operand]) -> Option<u64> {
        let word = |bits: u64| bits & u64::from(u32::MAX);
        let a = || self.integer(sources[0]);
        let b = || self.integer(sources[1]);
        let both = || a().zip(b());
        Some(match op {
            Op::Special(Special::Tid) => self.number,
            Op::Special(Special::Lane) => self.number % 32,
            Op::Special(Special::Ctaid) => self.block,
            Op::Special(_) | Op::SharedBase => 0,
            Op::TableBase => TABLE,
            Op::LdParam(_) => 1 << 50,
            Op::Mov(_) => a()?,
            Op::Add(width, Carry::None) => {
                let (a, b) = both()?;
                if width == Width::W32 { word(a + b) } else { a.wrapping_add(b) }
            }
            Op::Sub(width, Carry::None) => {
                let (a, b) = both()?;
                if width == Width::W32 { word(a.wrapping_sub(b)) } else { a.wrapping_sub(b) }
            }
            Op::Mul(Half::Lo, width) => {
                let (a, b) = both()?;
                if width == Width::W32 { word(a.wrapping_mul(b)) } else { a.wrapping_mul(b) }
            }
            Op::Mul(Half::Hi, Width::W32) => {
                let (a, b) = both()?;
                (a * b) >> 32
            }
            Op::Brev => u64::from((a()? as u32).reverse_bits()),
            Op::Mad(Half::Lo, Carry::None) => {
                let (a, b) = both()?;
                word(a * b + self.integer(sources[2])?)
            }
            Op::MadWide(Int::U32) => {
                let (a, b) = both()?;
                a * b + self.integer(sources[2])?
            }
            Op::Shl(Width::W32) => word(a()? << b()?),
            Op::Shr(Int::U32) => a()? >> b()?,
            Op::Logic(logic, _) => {
                let (a, b) = both()?;
                match logic {
                    Logic::And => a & b,
                    Logic::Or => a | b,
                    Logic::Xor => a ^ b,
                }
            }
            Op::Bfe => {
                let (a, b) = both()?;
                a >> b & ((1 << self.integer(sources[2])?) - 1)
            }
            Op::Selp(_) => {
                if self.integer(sources[2])? == 0 {
                    b()?
                } else {
                    a()?
                }
            }
            Op::Setp(cmp, Int::U32) => {
                let (a, b) = both()?;
                u64::from(match cmp {
                    Cmp::Eq => a == b,
                    Cmp::Ne => a != b,
                    Cmp::Lt => a < b,
                    Cmp::Le => a <= b,
                    Cmp::Gt => a > b,
                    Cmp::Ge => a >= b,
                })
            }
            _ => return None,
        })
    }
}

/// `a·b (+ c)` of constants, rounded once.
fn product_of_constants(c: &[(f64, f64)]) -> Double {
    let (a, b) = (c[0], c[1]);
    let addend = c.get(2).copied().unwrap_or_default();
    let value = a.0.mul_add(b.0, addend.0);
    let carried = a.0.abs() * b.1 + b.0.abs() * a.1 + a.1 * b.1 + addend.1;
    Double::Constant { value, error: (carried + half_spacing(value)) * (1.0 + 1e-12) }
}
