//! Every operation from text to text; and what the parser refuses.
#![allow(clippy::unwrap_used, reason = "a test that fails says where")]

use warpmp_kernel::ir::{
    Bounds, Carry, Class, Cmp, Elem, Funnel, Guard, Half, Inst, Int, Item, Kernel, Label, Logic, Op, Operand, Param,
    Part, Reg, Round, Shuffle, Space, Vector, Vote, Width,
};
use warpmp_kernel::parse::parse;

const REGISTERS: u32 = 100;

/// Reproducible numbers.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    fn register(&mut self, class: Class) -> Operand {
        Operand::Reg(Reg { class, index: self.below(REGISTERS.into()) as u32 })
    }

    fn constant(&mut self, class: Class) -> Operand {
        let bits = match self.below(5) {
            0 => self.below(12),
            1 => u64::MAX,
            2 => 1 << 31,
            _ => self.below(1 << 31) << 33 | self.below(1 << 31) << 8 | self.below(256),
        };
        Operand::Imm(match class {
            Class::Pred => bits & 1,
            Class::B32 => bits & u64::from(u32::MAX),
            Class::B64 | Class::F64 => bits,
        })
    }

    fn source(&mut self, class: Class) -> Operand {
        if self.below(2) == 0 { self.register(class) } else { self.constant(class) }
    }

    fn operands(&mut self, op: Op) -> Vec<Operand> {
        let mut operands = Vec::new();
        for part in op.layout() {
            match part {
                Part::DstVec(class, n) | Part::Sums(class, n) => operands.extend((0..n).map(|_| self.register(class))),
                Part::Src(class) => operands.push(self.source(class)),
                Part::SrcVec(class, n) => operands.extend((0..n).map(|_| self.source(class))),
                Part::SrcUpTo(_, limit) if self.below(2) == 0 => operands.push(self.constant_up_to(limit)),
                Part::Dst(class) | Part::SrcUpTo(class, _) => operands.push(self.register(class)),
                Part::Const(limit) => operands.push(self.constant_up_to(limit)),
                Part::Matrix(class, n) => operands.extend((0..n).map(|_| self.register(class))),
                Part::Addr(class) => operands.extend([self.register(class), self.constant(Class::B32)]),
                Part::Param => operands.push(Operand::Imm(1)),
                Part::Fixed(_) => {}
            }
        }
        operands
    }

    fn constant_up_to(&mut self, limit: u64) -> Operand {
        Operand::Imm(self.below(limit + 1))
    }
}

fn kernel(body: Vec<Item>) -> Kernel {
    Kernel {
        name: "test".into(),
        params: vec![Param::u32("n"), Param::u64("data")],
        bounds: Bounds { max_threads: Some(128), min_blocks: Some(2), max_registers: None },
        registers: [REGISTERS; 4],
        shared: true,
        table: vec![0, 1, u64::MAX, 0x3FF0_0000_0000_0000, 5],
        body,
    }
}

#[test]
fn every_operation_is_read_back_as_it_was() {
    let mut dice = Dice(1);
    for op in Op::all() {
        for round in 0..20 {
            let guard = (round % 3 > 0).then(|| Guard { pred: dice.below(100) as u32, negated: round % 3 == 1 });
            let kernel = kernel(vec![Item::Inst(Inst { guard, op, operands: dice.operands(op) })]);
            let text = kernel.to_string();
            assert_eq!(parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}")), kernel, "{text}");
        }
    }
}

#[test]
fn operations_are_told_apart() {
    let mut all = Op::all();
    let count = all.len();
    all.sort_by_key(|op| format!("{op:?}"));
    all.dedup();
    assert_eq!(all.len(), count, "an operation is listed twice");
    let mut shapes: Vec<String> = all.iter().map(|op| format!("{} {:?}", op.mnemonic(), op.layout())).collect();
    shapes.sort_unstable();
    shapes.dedup();
    assert_eq!(shapes.len(), count, "two operations have the same text");
}

#[test]
fn mnemonics_are_those_of_the_reference() {
    // Checked against the reference and the assembler: what round trips could still be misspelt.
    let expected: Vec<&str> = include_str!("sim_mnemonics.txt").split_whitespace().collect();
    let mut own: Vec<String> = Op::all().into_iter().map(Op::mnemonic).collect();
    own.sort_unstable();
    own.dedup();
    assert_eq!(own, expected);
    // Modifiers that a swap of two names would not show in the list.
    for (op, mnemonic) in [
        (Op::Shf(Funnel::Left), "shf.l.wrap.b32"),
        (Op::Shf(Funnel::Right), "shf.r.wrap.b32"),
        (Op::F64ToInt(Round::Nearest, Int::U32), "cvt.rni.u32.f64"),
        (Op::F64ToInt(Round::Zero, Int::S64), "cvt.rzi.s64.f64"),
        (Op::Mad(Half::Lo, Carry::Out), "mad.lo.cc.u32"),
        (Op::Mad(Half::Hi, Carry::In), "madc.hi.u32"),
        (Op::Add(Width::W64, Carry::InOut), "addc.cc.u64"),
        (Op::Sub(Width::W32, Carry::In), "subc.u32"),
        (Op::Shfl(Shuffle::Up), "shfl.sync.up.b32"),
        (Op::Shfl(Shuffle::Down), "shfl.sync.down.b32"),
        (Op::Shfl(Shuffle::Bfly), "shfl.sync.bfly.b32"),
        (Op::Vote(Vote::Any), "vote.sync.any.pred"),
        (Op::Vote(Vote::All), "vote.sync.all.pred"),
        (Op::Setp(Cmp::Le, Int::S32), "setp.le.s32"),
        (Op::Setp(Cmp::Ge, Int::U64), "setp.ge.u64"),
        (Op::SetpF64(Cmp::Lt), "setp.lt.f64"),
        (Op::SetpF64(Cmp::Gt), "setp.gt.f64"),
        (Op::SetpF64(Cmp::Ne), "setp.ne.f64"),
        (Op::Logic(Logic::Or, Class::B32), "or.b32"),
        (Op::Logic(Logic::Xor, Class::B32), "xor.b32"),
        (Op::SubF64, "sub.rn.f64"),
        (Op::Fma, "fma.rn.f64"),
        (Op::Ld(Space::GlobalStream, Vector::V2, Elem::U64), "ld.global.cs.v2.u64"),
        (Op::Ld(Space::GlobalConst, Vector::V4, Elem::U32), "ld.global.nc.v4.u32"),
    ] {
        assert_eq!(op.mnemonic(), mnemonic);
    }
}

#[test]
fn labels_branches_sections_and_hints_are_read_back() {
    let guard = Some(Guard { pred: 3, negated: true });
    let label = Label(7);
    let body = vec![
        Item::Section("load, then: go".into()),
        Item::Branch { guard, target: label },
        Item::Branch { guard: None, target: label },
        Item::Label(label),
        Item::Inst(Inst { guard: None, op: Op::Ret, operands: vec![] }),
    ];
    for max_registers in [None, Some(64)] {
        let mut kernel = kernel(body.clone());
        kernel.bounds.max_registers = max_registers;
        kernel.shared = false;
        assert_eq!(parse(&kernel.to_string()), Ok(kernel));
    }
    let mut empty = kernel(vec![]);
    (empty.params, empty.registers, empty.bounds) = (vec![], [0; 4], Bounds::default());
    assert_eq!(parse(&empty.to_string()), Ok(empty));
}

/// A text with this line in its body, which is line 12.
fn text(line: &str) -> String {
    format!(
        ".version 6.3
.target sm_70
.address_size 64
.visible .entry test(
    .param .u32 n,
    .param .u64 data
)
{{
    .reg .pred %p<2>;
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    {line}
    ret;
}}
"
    )
}

/// The line that is refused, and why.
fn refused(text: &str) -> (usize, String) {
    let error = parse(text).expect_err("the text was taken");
    (error.line, error.reason)
}

#[test]
fn what_is_not_ours_is_refused_with_its_line() {
    assert!(parse(&text("add.u32 %r0, %r1, 0x10;")).is_ok());
    for (line, reason) in [
        ("add.u16 %r0, %r1, %r2;", "unknown operation `add.u16`"),
        ("call foo;", "unknown operation `call`"),
        ("add.u32 %r0, %r1, %r2", "a statement ends in `;`"),
        ("add.u32 %r0, %r1, %r4;", "`%r4` is not declared"),
        ("add.u32 %r0, %r1, %rd1;", "`%rd1` is no .b32 register"),
        ("add.u32 7, %r1, %r1;", "`7` is no .b32 register"),
        ("add.u32 %r0, %r1;", "2 operands where 3 are due"),
        ("add.u32 %r0, %r1, 0x100000000;", "does not fit in 32 bits"),
        ("add.u32 %r0, %r1, 0d0;", "is no constant"),
        ("@%p2 add.u32 %r0, %r1, %r2;", "`%p2` is not declared"),
        ("@%r1 add.u32 %r0, %r1, %r2;", "`%r1` is no .pred register"),
        ("ld.param.u32 %r0, [m];", "unknown parameter `m`"),
        ("ld.param.u64 %rd0, [n];", "32 bits"),
        ("ld.global.u32 %r0, [%r1];", "`%r1` is no .b64 register"),
        ("ld.global.v2.u32 {%r0}, [%rd1];", "1 elements where 2 are due"),
        ("ld.global.u32 %r0, %rd1;", "is no address"),
        ("ld.global.u32 %r0, [%rd1;", "unbalanced"),
        ("mov.u32 %r0, %tid.y;", ""),
        ("mov.u32 %r0, smem;", "smem"),
        ("bra $L1;", "no label $L1"),
        ("bra L1;", "`L1` is no label"),
        ("$L1:\n$L1:", "$L1"),
        (".reg .b32 %r<9>;", "declared twice"),
        (".reg .b16 %h<9>;", "unknown register declaration"),
        ("add.u32 %r01, %r1, %r2;", "%r01"),
        ("add.u32 %r0, %r1, +1;", "is no constant"),
        ("bar.sync 0x10;", "16 is more than 15"),
        ("lop3.b32 %r0, %r1, %r2, %r3, 0x100;", "256 is more than 255"),
        ("bfe.u32 %r0, %r1, 0x100, 4;", "256 is more than 255"),
        (
            "mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%r0, %r0, %r0, %r0}, {%r0, %r0, %r0, 0}, {%r0, %r0}, {0, 0, 0, 0};",
            "a matrix is held in registers",
        ),
    ] {
        let (at, why) = refused(&text(line));
        assert!(why.contains(reason), "{line}: {why}");
        let expected = if line.starts_with("$L1:") { 13 } else { 12 };
        assert_eq!(at, expected, "{line}: {why}");
    }
}

#[test]
fn a_table_that_does_not_fit_is_refused() {
    let with = |table: &str| text("mov.u64 %rd0, table;").replace(".visible", &format!("{table}\n.visible"));
    let one = "0x0000000000000001";
    assert_eq!(parse(&with(&format!(".global .align 16 .b64 table[1] = {{\n{one}\n}};"))).unwrap().table, [1]);
    for (table, reason) in [
        (String::new(), "`table` is not declared"),
        (format!(".global .align 16 .b64 table[2] = {{\n{one}\n}};"), "1 constants where 2 are due"),
        (format!(".global .align 16 .b64 table[1] = {{\n{one},\n{one}\n}};"), "2 constants where 1 are due"),
        (".global .align 16 .b64 table[0] = {\n};".into(), "expected one table"),
        (".global .align 16 .b64 table[1] = {\n0x1\n};".into(), "no constant of the table"),
        (".global .align 8 .b64 table[1] = {".into(), "unknown directive"),
    ] {
        let (_, why) = refused(&with(&table));
        assert!(why.contains(reason), "{table}: {why}");
    }
}

#[test]
fn a_header_that_does_not_fit_is_refused() {
    let good = text("");
    assert!(parse(&good).is_ok());
    let (_, why) = refused(&good.replace("6.3", "7.0").replace("sm_70", "sm_80"));
    assert!(why.contains("the header asks for"), "{why}");
    let (_, why) = refused(&text("cp.async.wait_all;"));
    assert!(why.contains("the header asks for"), "{why}");
    assert_eq!(refused(&good.replace("test(", "test (x")).0, 4);
    assert_eq!(refused(&good.replace(".address_size 64", ".address_size 32")).0, 3);
    assert!(refused(&good.replace(".address_size 64", "")).1.contains("address_size"));
    assert_eq!(refused(&good.replace(".param .u32 n", ".param .f32 n")).0, 5);
    assert_eq!(refused(&good.replace(".u64 data", ".u64 n")).0, 6);
    assert_eq!(refused(&format!("{good}\nmore")).0, 16);
    assert!(refused(good.trim_end().trim_end_matches('}')).1.contains("ends inside"));
    assert!(parse("").is_err());
}
