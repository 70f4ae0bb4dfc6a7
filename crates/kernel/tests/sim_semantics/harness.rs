//! Kernels around one operation: operands come from memory, results go back.

use warpmp_kernel::ir::{
    Bounds, Carry, Class, Cmp, Elem, Guard, Half, Inst, Int, Item, Kernel, Logic, Op, Operand, Param, Part, Reg, Space,
    Special, Vector, Width,
};
use warpmp_kernel::sim::{Counters, Fault, Grid, Memory, Program};

/// Bytes of an operand in memory, whatever its class.
const CELL: u32 = 8;

/// Writes a kernel of two parameters: where the operands are, and where the results go.
pub(crate) struct Maker {
    body: Vec<Item>,
    registers: [u32; 4],
    /// The table of constants.
    pub(crate) table: Vec<u64>,
    /// The addresses of this thread's first operand and first result.
    pub(crate) input: Reg,
    pub(crate) output: Reg,
    /// The thread's number in the grid.
    pub(crate) thread: Reg,
    stride: u32,
    results: u32,
}

impl Maker {
    /// A kernel for so many threads.
    pub(crate) fn new(threads: u32) -> Self {
        let none = Reg { class: Class::Pred, index: 0 };
        let mut maker = Self {
            body: Vec::new(),
            registers: [0; 4],
            table: Vec::new(),
            input: none,
            output: none,
            thread: none,
            stride: CELL * threads,
            results: 0,
        };
        let (tid, block, size) = (maker.fresh(Class::B32), maker.fresh(Class::B32), maker.fresh(Class::B32));
        maker.thread = maker.fresh(Class::B32);
        maker.inst(Op::Special(Special::Tid), &[tid.into()]);
        maker.inst(Op::Special(Special::Ctaid), &[block.into()]);
        maker.inst(Op::Special(Special::Ntid), &[size.into()]);
        let thread: Arg = maker.thread.into();
        maker.inst(Op::Mad(Half::Lo, Carry::None), &[thread, block.into(), size.into(), tid.into()]);
        [maker.input, maker.output] = [0, 1].map(|parameter| {
            let (base, address) = (maker.fresh(Class::B64), maker.fresh(Class::B64));
            maker.inst(Op::LdParam(Width::W64), &[base.into(), parameter.into()]);
            maker.inst(Op::MadWide(Int::U32), &[address.into(), thread, CELL.into(), base.into()]);
            address
        });
        maker
    }

    pub(crate) fn fresh(&mut self, class: Class) -> Reg {
        let slot = Class::ALL.iter().position(|&c| c == class).unwrap();
        self.registers[slot] += 1;
        Reg { class, index: self.registers[slot] - 1 }
    }

    pub(crate) fn inst(&mut self, op: Op, operands: &[Arg]) {
        let operands = operands.iter().map(|arg| arg.0).collect();
        self.body.push(Item::Inst(Inst { guard: None, op, operands }));
    }

    /// An instruction for the threads in which the predicate holds.
    pub(crate) fn guarded(&mut self, pred: Reg, op: Op, operands: &[Arg]) {
        self.inst(op, operands);
        if let Some(Item::Inst(inst)) = self.body.last_mut() {
            inst.guard = Some(Guard { pred: pred.index, negated: false });
        }
    }

    /// Loads the thread's operand of this number.
    pub(crate) fn operand(&mut self, number: u32, class: Class) -> Reg {
        let (whole, value) = (self.fresh(Class::B64), self.fresh(class));
        let address = [whole.into(), self.input.into(), (number * self.stride).into()];
        self.inst(Op::Ld(Space::Global, Vector::V1, Elem::U64), &address);
        match class {
            Class::B64 => return whole,
            Class::B32 => self.inst(Op::Truncate, &[value.into(), whole.into()]),
            Class::F64 => self.inst(Op::F64OfBits, &[value.into(), whole.into()]),
            Class::Pred => {
                let compare = Op::Setp(Cmp::Ne, Int::U64);
                self.inst(compare, &[value.into(), whole.into(), 0.into()]);
            }
        }
        value
    }

    /// Stores the thread's next result.
    pub(crate) fn result(&mut self, value: Reg) {
        let whole = if value.class == Class::B64 { value } else { self.fresh(Class::B64) };
        match value.class {
            Class::B64 => {}
            Class::B32 => self.inst(Op::ZeroExtend, &[whole.into(), value.into()]),
            Class::F64 => self.inst(Op::BitsOfF64, &[whole.into(), value.into()]),
            Class::Pred => self.inst(Op::Selp(Class::B64), &[whole.into(), 1.into(), 0.into(), value.into()]),
        }
        let offset = self.results * self.stride;
        self.results += 1;
        self.inst(Op::St(Space::Global, Vector::V1, Elem::U64), &[self.output.into(), offset.into(), whole.into()]);
    }

    /// Loads operands for all that the operation reads, executes it, stores all that it writes. The constant
    /// is for an operation that has one. A carry comes from the last operand and goes to the last result.
    pub(crate) fn around(&mut self, op: Op, constant: Option<u32>) {
        let (mut operands, mut results, mut number) = (Vec::new(), Vec::new(), 0);
        for part in op.layout() {
            if let Some((class, n)) = part.written() {
                results.extend((0..n).map(|_| self.push(class, &mut operands)));
            } else if let Some((class, n)) = part.read() {
                for _ in 0..n {
                    operands.push(self.operand(number, class).into());
                    number += 1;
                }
            } else {
                assert!(matches!(part, Part::Const(_)), "{op:?} has {part:?}");
                operands.push(constant.unwrap().into());
            }
        }
        // A borrow is set and read by subtractions.
        let borrows = matches!(op, Op::Sub(..));
        if op.carry().reads() {
            let (flag, unused) = (self.operand(number, Class::B32), self.fresh(Class::B32));
            if borrows {
                self.inst(Op::Sub(Width::W32, Carry::Out), &[unused.into(), 0.into(), flag.into()]);
            } else {
                self.inst(Op::Add(Width::W32, Carry::Out), &[unused.into(), flag.into(), u32::MAX.into()]);
            }
        }
        self.inst(op, &operands);
        if op.carry().writes() {
            let flag = self.fresh(Class::B32);
            let read = if borrows { Op::Sub(Width::W32, Carry::In) } else { Op::Add(Width::W32, Carry::In) };
            self.inst(read, &[flag.into(), 0.into(), 0.into()]);
            if borrows {
                // A mask becomes a bit.
                self.inst(Op::Logic(Logic::And, Class::B32), &[flag.into(), flag.into(), 1.into()]);
            }
            results.push(flag);
        }
        for result in results {
            self.result(result);
        }
    }

    fn push(&mut self, class: Class, operands: &mut Vec<Arg>) -> Reg {
        let reg = self.fresh(class);
        operands.push(reg.into());
        reg
    }

    pub(crate) fn finish(mut self) -> Kernel {
        self.inst(Op::Ret, &[]);
        Kernel {
            name: "test".into(),
            params: vec![Param::u64("input"), Param::u64("output")],
            bounds: Bounds::default(),
            registers: self.registers,
            shared: self.body.iter().any(|item| matches!(item, Item::Inst(Inst { op: Op::SharedBase, .. }))),
            table: self.table,
            body: self.body,
        }
    }

    /// Runs the kernel on operands `cases[operand][thread]`; gives `results[result][thread]`.
    pub(crate) fn run(self, grid: Grid, cases: &[Vec<u64>]) -> Vec<Vec<u64>> {
        self.try_run(grid, cases).unwrap_or_else(|fault| panic!("{fault}")).0
    }

    pub(crate) fn try_run(self, grid: Grid, cases: &[Vec<u64>]) -> Result<(Vec<Vec<u64>>, Counters), Fault> {
        let (stride, results) = (self.stride as usize, self.results as usize);
        let program = Program::new(&self.finish()).unwrap_or_else(|error| panic!("{error}"));
        let mut memory = Memory::new(1 << 30);
        let input = memory.alloc((cases.len().max(1) * stride) as u64).unwrap();
        let output = memory.alloc((results.max(1) * stride) as u64).unwrap();
        for (number, cells) in cases.iter().enumerate() {
            let words: Vec<u32> = cells.iter().flat_map(|&cell| [cell as u32, (cell >> 32) as u32]).collect();
            memory.write(input + (number * stride) as u64, &words)?;
        }
        let counters = program.launch(grid, &[input, output], &mut memory)?;
        let mut words = vec![0; results * stride / 4];
        memory.read(output, &mut words)?;
        let cells: Vec<u64> = words.chunks(2).map(|pair| u64::from(pair[1]) << 32 | u64::from(pair[0])).collect();
        Ok((cells.chunks(stride / CELL as usize).map(<[u64]>::to_vec).collect(), counters))
    }
}

/// An operand: from a register or a number.
#[derive(Clone, Copy)]
pub(crate) struct Arg(Operand);

impl From<Reg> for Arg {
    fn from(reg: Reg) -> Self {
        Self(Operand::Reg(reg))
    }
}

impl From<u32> for Arg {
    fn from(bits: u32) -> Self {
        Self(Operand::Imm(bits.into()))
    }
}

impl From<u64> for Arg {
    fn from(bits: u64) -> Self {
        Self(Operand::Imm(bits))
    }
}

impl From<i32> for Arg {
    fn from(bits: i32) -> Self {
        Self(Operand::Imm(bits as u64))
    }
}

/// Reproducible operands (splitmix64).
pub(crate) struct Source(pub(crate) u64);

impl Source {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    /// A number likely to be on an edge, cut to the class.
    pub(crate) fn edge(&mut self, class: Class) -> u64 {
        match class {
            Class::Pred => self.below(2),
            Class::B32 => self.bits(32) & u64::from(u32::MAX),
            Class::B64 => self.bits(64),
            Class::F64 => self.double(),
        }
    }

    fn bits(&mut self, width: u32) -> u64 {
        match self.below(8) {
            0 => 0,
            1 => u64::MAX,
            2 => 1 << (width - 1),
            3 => (1 << (width - 1)) - 1,
            4 => self.below(70),
            5 => 1 << self.below(width.into()),
            6 => (1_u64 << self.below(width.into())).wrapping_sub(1),
            _ => self.next(),
        }
    }

    fn double(&mut self) -> u64 {
        const EDGES: [f64; 26] = [
            0.0,
            0.5,
            1.0,
            1.5,
            2.5,
            0.1,
            3.0,
            2_147_483_647.0,
            2_147_483_647.5,
            2_147_483_648.0,
            4_294_967_295.0,
            4_294_967_295.5,
            4_294_967_296.0,
            9_007_199_254_740_991.0,
            9_007_199_254_740_993.0,
            4_503_599_627_370_497.5,
            9_223_372_036_854_775_808.0,
            18_446_744_073_709_551_616.0,
            1e300,
            f64::MAX,
            f64::MIN_POSITIVE,
            5e-324,
            f64::INFINITY,
            f64::NAN,
            f64::EPSILON,
            1.0 + f64::EPSILON,
        ];
        let value = match self.below(4) {
            0 => f64::from_bits(self.next()),
            1 => self.next() as f64 / 1024.0,
            _ => EDGES[self.below(EDGES.len() as u64) as usize],
        };
        if self.below(2) == 0 { value.to_bits() } else { (-value).to_bits() }
    }
}
