//! A kernel as PTX text. Printing is the only way from a kernel to a device: devices and simulator run the text, and
//! [`parse`](crate::parse) reads the same text back.

use std::fmt::{self, Display, Formatter};

use crate::ir::{Class, Guard, Inst, Item, Kernel, Label, Operand, Param, Part};

/// The name of the block's dynamic shared memory in the text.
pub(crate) const SHARED_NAME: &str = "smem";
/// The name of the kernel's table of constants in the text.
pub(crate) const TABLE_NAME: &str = "table";
/// Constants on a line of the table.
const TABLE_COLUMNS: usize = 4;
/// The start of a section line.
pub(crate) const SECTION_MARK: &str = "//# ";

impl Display for Kernel {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let target = self.target();
        writeln!(f, ".version {}\n.target {}\n.address_size 64\n", target.version(), target.name())?;
        if self.shared {
            writeln!(f, ".extern .shared .align 16 .b8 {SHARED_NAME}[];\n")?;
        }
        if !self.table.is_empty() {
            writeln!(f, ".global .align 16 .b64 {TABLE_NAME}[{}] = {{", self.table.len())?;
            for (row, constants) in self.table.chunks(TABLE_COLUMNS).enumerate() {
                let end = if (row + 1) * TABLE_COLUMNS < self.table.len() { "," } else { "" };
                let constants: Vec<String> = constants.iter().map(|bits| format!("0x{bits:016X}")).collect();
                writeln!(f, "    {}{end}", constants.join(", "))?;
            }
            writeln!(f, "}};\n")?;
        }
        write!(f, ".visible .entry {}(", self.name)?;
        for (i, Param { name, width }) in self.params.iter().enumerate() {
            let comma = if i == 0 { "" } else { "," };
            write!(f, "{comma}\n    .param .u{} {name}", width.bits())?;
        }
        writeln!(f, "\n)")?;
        if let Some(n) = self.bounds.max_threads {
            writeln!(f, ".maxntid {n}, 1, 1")?;
        }
        if let Some(n) = self.bounds.min_blocks {
            writeln!(f, ".minnctapersm {n}")?;
        }
        if let Some(n) = self.bounds.max_registers {
            writeln!(f, ".maxnreg {n}")?;
        }
        writeln!(f, "{{")?;
        for (class, &count) in Class::ALL.iter().zip(&self.registers) {
            if count > 0 {
                writeln!(f, "    .reg .{class} {}<{count}>;", class.prefix())?;
            }
        }
        for item in &self.body {
            match item {
                Item::Inst(inst) => writeln!(f, "    {}", Statement { inst, params: &self.params })?,
                Item::Label(label) => writeln!(f, "{label}:")?,
                Item::Branch { guard, target } => writeln!(f, "    {}bra {target};", Prefix(*guard))?,
                Item::Section(name) => writeln!(f, "    {SECTION_MARK}{name}")?,
            }
        }
        writeln!(f, "}}")
    }
}

impl Display for Label {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "$L{}", self.0)
    }
}

/// `@%p3 `, `@!%p3 ` or nothing.
struct Prefix(Option<Guard>);

impl Display for Prefix {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => Ok(()),
            Some(Guard { pred, negated }) => write!(f, "@{}%p{pred} ", if negated { "!" } else { "" }),
        }
    }
}

/// An instruction with its parameters' names at hand.
struct Statement<'k> {
    inst: &'k Inst,
    params: &'k [Param],
}

impl Display for Statement<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", Prefix(self.inst.guard), self.inst.op.mnemonic())?;
        for (i, (part, operands)) in self.inst.parts().enumerate() {
            f.write_str(if i == 0 { " " } else { ", " })?;
            let mut operands = operands.iter().copied();
            let mut next = || operands.next().unwrap_or(Operand::Imm(0));
            match part {
                Part::Dst(class) | Part::Src(class) | Part::SrcUpTo(class, _) => write_operand(f, next(), class)?,
                Part::Const(_) => write_operand(f, next(), Class::B32)?,
                Part::DstVec(class, n) | Part::SrcVec(class, n) | Part::Matrix(class, n) | Part::Sums(class, n) => {
                    for j in 0..n {
                        f.write_str(if j == 0 { "{" } else { ", " })?;
                        write_operand(f, next(), class)?;
                    }
                    f.write_str("}")?;
                }
                Part::Addr(class) => {
                    f.write_str("[")?;
                    write_operand(f, next(), class)?;
                    match next() {
                        Operand::Imm(0) => f.write_str("]")?,
                        offset => {
                            f.write_str("+")?;
                            write_operand(f, offset, Class::B32)?;
                            f.write_str("]")?;
                        }
                    }
                }
                Part::Param => {
                    let Operand::Imm(index) = next() else { return Err(fmt::Error) };
                    let param = self.params.get(index as usize).ok_or(fmt::Error)?;
                    write!(f, "[{}]", param.name)?;
                }
                Part::Fixed(text) => f.write_str(text)?,
            }
        }
        f.write_str(";")
    }
}

fn write_operand(f: &mut Formatter<'_>, operand: Operand, class: Class) -> fmt::Result {
    match (operand, class) {
        (Operand::Reg(reg), _) => write!(f, "{reg}"),
        (Operand::Imm(bits), Class::F64) => write!(f, "0d{bits:016X}"),
        (Operand::Imm(bits), _) if bits < 10 => write!(f, "{bits}"),
        (Operand::Imm(bits), _) => write!(f, "0x{bits:X}"),
    }
}
